cimport numpy as cnp


cpdef tuple standardized_of(cnp.ndarray a, cnp.ndarray weight, cnp.ndarray bias, object dim, double eps, bint centered)
cpdef object standardized_backward_of(
    cnp.ndarray grad, cnp.ndarray a, cnp.ndarray center, cnp.ndarray variance, cnp.ndarray weight, object dim, double eps,
    bint centered)
cpdef object standardized_sums_of(
    cnp.ndarray grad, cnp.ndarray a, cnp.ndarray center, cnp.ndarray variance, object size, object dim, double eps)
