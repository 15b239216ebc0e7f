cdef object transformed_lines(object a, int dim, bint inverse, object factor, bint in_place)
