cpdef object row_distances_of(object rows, object others, object p)
cpdef object weighted_row_steps_of(object weights, object rows, object others, object p)
