from numpy cimport npy_intp

cdef bint is_flag(object requires_grad) noexcept
cdef int type_of(object dtype, int otherwise) noexcept
cdef object made(tuple size, object value, int type_num, object device, bint requires_grad)
cdef object made_like(object like, object value, object dtype, object device, bint requires_grad)
cdef object new_tensor(
    int nd, const npy_intp *dims, object value, int type_num, object device, bint requires_grad
)
