from gradsmith.runtime.graph.tensor cimport TensorBase

# What an op's Tensor argument may be, other than a tensor. See converted.pyx, Note [Arguments that are no tensors].
cdef bint is_convertible(object value) except -1                        # a number, an array, or a tensor of any class
cdef bint is_list_of_numbers(object value) except -1                    # as far as its first element tells
cdef object python_number(object value)
cdef TensorBase expect_tensor(object value, object beside)              # None, if it cannot be one
cdef TensorBase number_as_tensor(object number, object beside)
cdef int rank_of_data(object value) except -1                           # dimensions of the tensor that it would be
