"""Helpers of ops of matrices; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport (
    Float, Int, IntList, OptionalIntList, OptionalStr, Scalar, Str, Tensor, TensorList,
)

cpdef Str matrix_order(object order)
cpdef Float vector_order(object order)
cpdef Str kind_of_norm(object order, OptionalIntList dim, Int ndim)
cpdef Tensor contracted(Tensor a, Tensor b, object dims)
cpdef Int first_of_three(IntList shape)
cpdef TensorList as_matrices(TensorList tensors)
cpdef TensorList as_stacks(TensorList matrices)
cpdef IntList kron_factor_shape(IntList left, IntList right, Int side)
cpdef IntList kron_shape(IntList left, IntList right)
cpdef Int dividing_steps(IntList shape)
cpdef IntList square_sizes(Str op, IntList shape, Int count)
cpdef IntList with_last(Int ndim, IntList dims)
cpdef Tensor right_columns(Tensor a, Tensor b)
cpdef Tensor like_right(Tensor x, Tensor a, Tensor b)
cpdef Tensor of_matrices(Tensor x, Tensor a, Int ndim)
cpdef Tensor squares_left(Tensor a, Tensor b, Tensor x, Tensor rank, OptionalStr driver)
cpdef Tensor unless_driver(Tensor x, OptionalStr driver, Str without)
cpdef Tensor scaled_by(Tensor self, Scalar number)
cpdef Tensor scaled_term(Tensor self, Scalar number, Tensor other)
