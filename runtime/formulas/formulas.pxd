"""Every helper over tensors that a formula may call.

The generator reads their signatures here: see codegen/spec/helpers.py. A name that ends in ``_info``, ``_number`` or
``_mixed`` is that of an overload: ``where_number`` is called as `where` with a number for the condition.
"""

from gradsmith.runtime.formulas.schema_types cimport (
    Bool, Device, DType, Float, Int, IntList, OptionalInt, OptionalIntList, OptionalScalar, OptionalStr, OptionalTensor,
    OptionalTensors, Str, Tensor, TensorList, TensorOrScalar,
)

cpdef Tensor zeros_like(Tensor self)
cpdef Tensor zeros_like_info(IntList shape, DType dtype, Device device)
cpdef Tensor not_implemented(Str what)
cpdef Bool is_differentiable(DType dtype)
cpdef Tensor sgn_backward(Tensor gradient, Tensor self, Tensor value)
cpdef Tensor div_backward_self(Tensor gradient, TensorOrScalar other, OptionalStr mode)
cpdef Tensor div_backward_other(Tensor gradient, TensorOrScalar self, Tensor other, OptionalStr mode)
cpdef Tensor pow_backward_self(Tensor gradient, Tensor self, TensorOrScalar exponent)
cpdef Tensor pow_backward_exponent(Tensor gradient, TensorOrScalar self, Tensor exponent, Tensor value)
cpdef Tensor clamp_open(Tensor self, object min, object max)
cpdef Bool is_sum(Str reduce)
cpdef Bool is_tanh(Str approximate)
cpdef Bool fits_loop(Tensor self)
cpdef Tensor amax_backward(Tensor gradient, Tensor self, Tensor value, IntList dim, Bool keepdim)
cpdef Tensor selection_backward(Tensor gradient, Tensor indices, IntList shape, Int dim, Bool keepdim)
cpdef Tensor var_backward(Tensor gradient, Tensor self, OptionalIntList dim, OptionalScalar correction, Bool keepdim)
cpdef Tensor std_backward(
    Tensor gradient, Tensor self, Tensor value, OptionalIntList dim, OptionalScalar correction, Bool keepdim)
cpdef Tensor logsumexp_backward(Tensor gradient, Tensor self, Tensor value, IntList dim, Bool keepdim)
cpdef Tensor prod_backward(Tensor gradient, Tensor self, Tensor value)
cpdef Tensor prod_backward_dim(Tensor gradient, Tensor self, Tensor value, Int dim, Bool keepdim)
cpdef Tensor flattened(Tensor self, Int start_dim, Int end_dim)
cpdef TensorList cat_backward(Tensor gradient, object shapes, Int dim)
cpdef TensorList filled_parts(OptionalTensors gradients, IntList sizes, IntList shape, DType dtype, Int dim)
cpdef TensorList filled_slices(OptionalTensors gradients, IntList shape, DType dtype, Int dim)
cpdef Tensor gather_backward(Tensor gradient, IntList shape, Int dim, Tensor index)
cpdef Tensor scatter_backward_src(Tensor gradient, Int dim, Tensor index, IntList shape)
cpdef Tensor index_select_backward(Tensor gradient, IntList shape, Int dim, Tensor index)
cpdef Tensor masked_select_backward(Tensor gradient, IntList shape, Tensor mask)
cpdef object strided_geometry(Tensor self, IntList size, IntList stride, OptionalInt storage_offset)
cpdef Tensor strided_view_backward(Tensor gradient, object geometry)
cpdef Bool is_contiguous(Tensor self)
cpdef Tensor matmul_backward_self(Tensor gradient, Tensor other, IntList shape)
cpdef Tensor matmul_backward_other(Tensor gradient, Tensor self, IntList shape)
cpdef Tensor matmul_mixed(Tensor self, Tensor other)
cpdef Tensor mm_mixed(Tensor self, Tensor other)
cpdef Tensor bmm_mixed(Tensor self, Tensor other)
cpdef Tensor mv_mixed(Tensor self, Tensor other)
cpdef Tensor dot_mixed(Tensor self, Tensor other)
cpdef Tensor linear_mixed(Tensor self, Tensor weight, OptionalTensor bias)
cpdef Tensor einsum_mixed(Str equation, TensorList operands)
cpdef Tensor outer_backward(Tensor gradient, Tensor weight)
cpdef Tensor linear_backward_weight(Tensor gradient, Tensor self, Int weight_ndim)
cpdef Tensor einsum_of_products(Str equation, TensorList operands)
cpdef Tensor nll_backward_weight(
    Tensor gradient, Tensor self, Tensor target, OptionalTensor weight, Int ignore, Str reduction)
cpdef Float mse_scale(Str reduction, IntList shape, IntList target_shape)
cpdef Int class_dim(Int ndim)
cpdef Bool has_class_indices(Tensor self, Tensor target, Int ignore_index, Float label_smoothing)
cpdef Tensor soft_cross_entropy(
    Tensor self, Tensor target, OptionalTensor weight, Int ignore, Str reduction, Float smoothing)
cpdef Tensor where_number(Bool condition, TensorOrScalar self, TensorOrScalar other)
