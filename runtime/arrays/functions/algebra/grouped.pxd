cpdef object rows_of_groups_of(object a, object b)
cpdef object outers_of_groups_of(object a, object b)
