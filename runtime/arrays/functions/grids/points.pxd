cdef tuple places_of_points(object grid, object sizes, bint nearest, int padding, bint aligned)
