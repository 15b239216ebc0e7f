cpdef object searchsorted_of(object sequence, object a, bint out_int32, bint right, object side, object sorter)
