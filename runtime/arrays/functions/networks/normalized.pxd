cpdef tuple standardized_of(object a, object weight, object bias, object dim, double eps, bint centered)
cpdef object standardized_backward_of(
    object grad, object a, object center, object variance, object weight, object dim, double eps, bint centered)
cpdef object standardized_sums_of(
    object grad, object a, object center, object variance, object size, object dim, double eps)
