"""Arrays of which several elements lie in one place of memory, as after `as_strided`."""
cimport numpy as cnp

cnp.import_array()


cdef bint may_overlap_itself(cnp.ndarray array) noexcept:
    """May two elements lie in one place? False of what slices and permutations give of one where none do."""
    cdef int i, j
    cdef cnp.npy_intp step, other, reach
    if cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_IS_F_CONTIGUOUS(array):
        return False
    for i in range(cnp.PyArray_NDIM(array)):
        step = abs(cnp.PyArray_STRIDE(array, i))
        reach = 0
        for j in range(cnp.PyArray_NDIM(array)):
            other = abs(cnp.PyArray_STRIDE(array, j))
            if j != i and (other < step or other == step and j < i):
                reach += other * (cnp.PyArray_DIM(array, j) - 1)
        if cnp.PyArray_DIM(array, i) > 1 and step <= reach:
            return cnp.PyArray_SIZE(array) > 0
    return False
