"""Every helper that a formula may call for a size, an index or a number; the generator reads their signatures here.

``cos_number`` is called as `cos` of a number; see formulas.pxd.
"""

from gradsmith.runtime.formulas.schema_types cimport Int, IntList, OptionalIntList, Scalar

cpdef Int count_of(IntList shape, OptionalIntList dim)
cpdef IntList inverse_permutation(IntList dims)
cpdef IntList moved_dims(Int ndim, IntList source, IntList destination)
cpdef IntList equal_parts(IntList shape, Int size, Int dim)
cpdef IntList chunk_sizes(IntList shape, Int chunks, Int dim)
cpdef object select_index(IntList shape, Int dim, Int index)
cpdef object narrow_index(IntList shape, Int dim, Int start, Int length)
cpdef Scalar conj_number(Scalar self)
cpdef Scalar real_number(Scalar self)
cpdef Int prod_number(IntList self)
cpdef Scalar abs_number(Scalar self)
cpdef Scalar log_number(Scalar self)
cpdef Scalar exp_number(Scalar self)
cpdef Scalar sqrt_number(Scalar self)
cpdef Scalar sin_number(Scalar self)
cpdef Scalar cos_number(Scalar self)

# Of a dimension and of several: counted from the front.
cdef object wrapped(object dim, object ndim)
cdef object reduced_axes(object dim, object ndim)
