"""Every helper that a formula may call for a size, an index or a number; see codegen/spec/vocabulary.py for their types."""

cpdef object count_of(object shape, object dim)
cpdef object inverse_permutation(object dims)
cpdef object moved_dims(object ndim, object source, object destination)
cpdef object equal_parts(object shape, object size, object dim)
cpdef object chunk_sizes(object shape, object chunks, object dim)
cpdef object select_index(object shape, object dim, object index)
cpdef object narrow_index(object shape, object dim, object start, object length)
cpdef object conj_number(object self)
cpdef object real_number(object self)
cpdef object abs_number(object self)
cpdef object log_number(object self)
cpdef object exp_number(object self)
cpdef object sqrt_number(object self)
cpdef object sin_number(object self)
cpdef object cos_number(object self)

# Of a dimension and of several: counted from the front.
cdef object wrapped(object dim, object ndim)
cdef object reduced_axes(object dim, object ndim)
