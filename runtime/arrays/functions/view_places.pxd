cpdef object geometry_slice_of(object a, object geometry)
cpdef object geometry_scatter_of(object a, object geometry)
