from numpy cimport npy_intp

# How elements that come to one place are combined.
cdef enum Reduction:
    REDUCED_SUM
    REDUCED_PROD
    REDUCED_AMAX
    REDUCED_AMIN

cdef object int64_index(object index)
cdef bint is_within(object index, npy_intp low, npy_intp high, npy_intp *wrong) noexcept
cdef object wrapped_index(object index, npy_intp size)
cdef object gather_places(object a, int axis, object index)
cdef int scatter_places(object target, int axis, object index, object src) except -1
cdef int reduce_places(object target, int axis, object index, object src, Reduction how) except -1
# Sizes of a[..., index, ...], and their number.
cdef int row_sizes(object a, int first, int count, object index, npy_intp *sizes) except -1
cdef object take_rows(object a, int first, int count, object index)
cdef int put_rows(object target, int first, int count, object index, object src) except -1
cdef int add_rows(object target, int first, int count, object index, object src) except -1
cdef int reduce_rows(object target, int axis, object index, object src, Reduction how) except -1
cdef tuple products_of_others(object a, int axis, object index, object src)
cdef int add_at_places(object sums, object places, object values) except -1
cdef bint is_addable(object a) noexcept
cdef object sum_dtype(object a)
