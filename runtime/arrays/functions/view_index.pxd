cpdef object basic_index_of(object a, object index)
cpdef object basic_index_backward_of(object a, object shape, object index)
# `total[index] += a`, of one dtype; False, and nothing is done, where the index is to be left to NumPy.
cdef bint add_at(object total, object a, object index) except -1
