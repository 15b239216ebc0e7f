cimport numpy as cnp


cpdef object binary_entropies_of(cnp.ndarray p, cnp.ndarray target)
cpdef object variances_at_least_of(object variances, double eps)
