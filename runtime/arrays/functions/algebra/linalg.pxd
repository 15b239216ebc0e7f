cdef int check_ndim(str op, object a, object b, int ndim_a, int ndim_b) except -1

cpdef object matmul_of(object a, object b)
cpdef object product_of(object a, object b)
cpdef object matmul_of_transpose_of(object a, object b)
cpdef object mm_of(object a, object b)
cpdef object bmm_of(object a, object b)
cpdef object mv_of(object a, object b)
cpdef object dot_of(object a, object b)
cpdef object outer_of(object a, object b)
cpdef object cross_product_of(object a, object b)
cpdef object linear_of(object x, object weight, object bias)
cpdef object chain_of(list matrices)

# a = beta * a + alpha * x @ y, of matrices or of batches of them; False, and nothing written, of what does not fit
cdef bint add_product(object a, object x, object y, object beta, object alpha, int ndim) except -1
