"""Helpers of ops that arrange the elements of tensors anew; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport (
    Int, IntList, OptionalInt, OptionalStr, Str, Tensor, TensorList, Bool,
)

cpdef Int from_end(Int dim, Int ndim)
cpdef TensorList with_dims(TensorList tensors, Int ndim, Str op)
cpdef Int side_dim(TensorList tensors)
cpdef TensorList as_columns(TensorList tensors)
cpdef Tensor block_diagonal(TensorList tensors)
cpdef TensorList broadcast_together(TensorList tensors)
cpdef TensorList mesh(TensorList tensors, OptionalStr indexing)
cpdef Tensor cartesian_rows(TensorList tensors)
cpdef Tensor combination_rows(Tensor self, Int r, Bool with_replacement)
cpdef IntList section_ends(Tensor self, Int sections, Int dim)
cpdef IntList even_ends(Tensor self, Int sections, Int dim, Str op, Int least)
cpdef Int second_dim(Tensor self)
cpdef Tensor of_dims(Tensor self, Str op, Int least)
cpdef TensorList pieces(Tensor self, IntList ends, Int dim, Str op)
cpdef Tensor embedded_diagonal(Tensor self, Int offset, Int dim1, Int dim2)
cpdef Tensor diag_of_vector_or_matrix(Tensor self, Int diagonal)
cpdef Tensor powers_of(Tensor self, OptionalInt count, Bool increasing)
cpdef Tensor rotated(Tensor self, Int k, IntList dims)
cpdef Tensor repeated(Tensor self, IntList repeats, Str op)
cpdef IntList padded_repeats(Tensor self, IntList dims)
cpdef Tensor interleaved(Tensor self, Int repeats, OptionalInt dim, OptionalInt output_size)
cpdef Tensor repeats_along(Tensor repeats, IntList shape, OptionalInt dim)
cpdef IntList unflattened_sizes(IntList shape, Int dim, IntList sizes)
