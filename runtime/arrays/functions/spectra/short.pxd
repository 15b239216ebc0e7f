cimport numpy as cnp

# None of many numbers, of layouts other than that in order, and where there is no loop.
cdef object few_along(object loop, cnp.ndarray a, int dim, cnp.npy_intp size, int type_number, object factor)
