cpdef object basic_index_of(object a, object index)
cpdef object basic_index_backward_of(object a, object shape, object index)
