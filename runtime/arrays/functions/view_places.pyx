"""Views as places in their base: the functions of `gradsmith.runtime.arrays.functions.view_geometry` as the language calls them."""

from gradsmith.runtime.arrays.functions.view_geometry import scatter_values, slice_values


cpdef object geometry_slice_of(object a, object geometry):
    return slice_values(a, geometry)


cpdef object geometry_scatter_of(object a, object geometry):
    return scatter_values(a, geometry)
