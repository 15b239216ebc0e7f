"""The dtype of every result, for inputs of every dtype. The tables say what PyTorch gives; they were read off it."""

import numpy as np
import pytest
from table import CASES

import gradsmith as gs
from gradsmith.verify.calls import call, outputs_of
from gradsmith.verify.references.expected import expected_results
from gradsmith.verify.samples import as_tensors, key_of, places_of, replaced

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
PRECISION = {"float16": 1e-2, "float64": 1e-12, "complex128": 1e-12}
REAL_OF = {"complex64": "float32", "complex128": "float64"}

# Results of bool, integer, floating and complex inputs: "=" the same dtype, "-" refused, "real" the dtype of the parts,
# "" nothing that PyTorch would settle.
RULES = {
    ("=", "=", "=", "="): """
        add mul sgn conj conj_physical where reshape view view_as reshape_as flatten transpose permute t T
        mT squeeze squeeze.dim swapaxes movedim unsqueeze expand broadcast_to expand_as as_strided cat stack
        split split.sizes chunk unbind flip select narrow gather scatter scatter.value scatter.src_reduce
        scatter.value_reduce scatter_add index_select ravel index_add masked_fill masked_select outer clone
        detach contiguous to.other fill_ zero_ copy_ basic_index index nan_to_num adjoint mH H diff diagonal
        inner atleast_3d diag_embed rot90 repeat_interleave index_fill slice_scatter kron linalg_multi_dot
        fft_fftshift fft_ifftshift atleast_2d hstack dstack combinations diagonal_scatter diag diagflat tril
        triu roll tile unflatten unfold take put matvec vecmat atleast_1d vstack column_stack block_diag
        cartesian_prod fliplr flipud repeat index_copy select_scatter masked_scatter constant_pad_nd
        matrix_transpose chain_matmul vdot signal_convolve signal_correlate scatter_reduce convolve
        correlate linalg_diagonal ediff1d narrow_copy as_strided_scatter""",
    ("-", "=", "=", "="): "sub neg pow rsub",
    ("", "=", "=", "="): "add.alpha sub.alpha positive matmul mm bmm mv dot einsum",
    ("float32", "float32", "=", "="): """
        div div.mode reciprocal exp expm1 log log1p sqrt rsqrt sin cos tan sinh cosh tanh sigmoid logsumexp
        asin acos atan asinh acosh atanh exp2 log2 log10 ldexp signal_fftconvolve""",
    ("-", "=", "=", "-"): "floor_divide remainder floor ceil trunc round fmod ptp index_reduce",
    ("", "=", "=", "real"): "abs",
    ("=", "=", "=", "-"): """
        sign maximum minimum amax amin max max.other min min.other fmax fmin heaviside msort median
        nanmedian nanmax nanmin""",
    ("int64", "=", "=", "="): "square",
    ("float32", "float32", "=", "-"): """
        clamp clamp.open clamp_min clamp_max erf erfinv atan2 deg2rad rad2deg logit copysign xlogy
        xlogy.number special_chebyshev_polynomial_t special_chebyshev_polynomial_u
        special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t
        special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
        special_shifted_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he
        special_laguerre_polynomial_l special_legendre_polynomial_p polygamma special_beta special_betaln
        special_xlog1py special_rel_entr special_kl_div special_spherical_jn special_zeta mvlgamma
        special_hyp0f1 special_hyp1f1.numbers special_hyp2f1.numbers special_expn lgamma digamma
        special_gamma special_rgamma erfc special_erfcx special_erfi special_ndtr special_log_ndtr
        special_dawsn special_log_expit special_wrightomega special_hyp1f1 special_hyp2f1 special_bessel_j0
        special_bessel_j1 special_bessel_y0 special_bessel_y1 i0 special_i0e special_i1 special_i1e
        special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0
        special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_airy_ai special_exp1
        special_expi special_spence igamma igammac special_erfcinv special_ndtri special_entr special_ellipk
        special_jv special_yv special_yn special_iv special_kv special_ive special_kve
        special_spherical_yn special_spherical_in special_spherical_kn
        special_betainc special_betainc.numbers special_betaincc
        special_betaincinv special_betaincinv.numbers special_betainccinv special_betainccinv.numbers
        special_gammaincinv special_gammainccinv special_stdtr special_stdtrit
        special_betaincc.numbers special_exprel special_boxcox
        special_boxcox1p special_inv_boxcox special_inv_boxcox1p special_exp10 special_cosm1
        special_owens_t special_ellipe special_ellipkm1 unwrap cbrt""",
    ("float32", "float32", "=", "real"): "angle nanvar nanstd",
    ("float64", "float64", "float64", "complex128"): "float_power float_power.number",
    ("", "", "=", "="): "lerp addcmul addcdiv logaddexp",
    ("", "=", "=", "-"): "relu relu6",
    ("", "", "=", "-"): """
        softplus gelu frac logaddexp2 hypot nextafter hardsigmoid hardswish elu celu selu leaky_relu prelu
        smooth_l1_loss huber_loss soft_margin_loss binary_cross_entropy_with_logits
        logsigmoid mish softshrink hardshrink glu""",
    ("", "", "=", ""): "silu sinc",
    ("", "float32", "=", "="): "softsign tanhshrink",
    ("", "float32", "=", "-"): "hinge_embedding_loss",
    ("bool", "bool", "bool", "bool"): """
        isnan isinf isfinite isreal isclose eq ne logical_and logical_or logical_xor logical_not""",
    ("bool", "bool", "bool", "-"): "lt le gt ge signbit isposinf isneginf",
    ("int64", "int64", "=", "="): "sum sum.dim prod prod.dim cumsum",
    ("-", "-", "=", "="): "mean mean.dim nanmean renorm logcumsumexp",
    ("-", "-", "=", "real"): """
        var var.all var.dim std std.all std.dim linalg_matrix_norm linalg_norm linalg_vector_norm norm dist l1_loss""",
    ("", "int64", "int64", "-"): "argmax argmin",
    ("-", "-", "=", "-"): """
        softmax log_softmax softmin mse_loss round.decimals cdist pdist""",
    ("=", "=", "-", "-"): "bitwise_and bitwise_or bitwise_xor bitwise_not",
    ("-", "=", "-", "-"): "bitwise_left_shift bitwise_right_shift",
    ("=", "=", "=", "real"): "real",
    ("-", "-", "-", "real"): "imag view_as_real istft",
    ("-", "float32", "=", "="): "cov corrcoef",
}
KINDS = ({"bool"}, set(INTEGERS), set(FLOATS), set(COMPLEX))
# Of several results, of several dtypes; of one dtype only; told by an argument; bool whatever comes in, or uint8.
ELSEWHERE = {
    "var_mean.all", "var_mean.dim", "std_mean.all", "std_mean.dim",
    "addbmm", "addmm", "addmv", "all", "aminmax", "any", "argsort", "argwhere", "average", "baddbmm",
    "bernoulli_", "bincount", "broadcast_tensors", "bucketize", "cauchy_", "cholesky", "cholesky_inverse",
    "cholesky_solve", "copy_to", "count_nonzero", "cross", "cross_entropy", "cummax",
    "cummin", "cumprod", "cumulative_prod", "cumulative_sum", "cumulative_trapezoid", "cumulative_trapezoid.dx",
    "det", "dsplit", "dsplit.indices", "embedding", "exponential_", "fft_dct", "fft_dctn", "fft_dst", "fft_dstn",
    "fft_fft", "fft_fft2", "fft_fftn", "fft_hfft", "fft_hfft2", "fft_hfftn", "fft_idct", "fft_idctn", "fft_idst",
    "fft_idstn", "fft_ifft", "fft_ifft2", "fft_ifftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn", "fft_irfft",
    "fft_irfft2", "fft_irfftn", "fft_rfft", "fft_rfft2", "fft_rfftn", "frexp", "gcd", "geometric_",
    "histc", "hsplit", "hsplit.indices", "index_put", "inverse", "isin", "isin.Scalar_Tensor",
    "isin.Tensor_Scalar", "kthvalue", "lcm", "linalg_cholesky", "linalg_cholesky_ex", "linalg_cond", "linalg_cross",
    "linalg_eig", "linalg_eigh", "linalg_eigvals", "linalg_eigvalsh", "linalg_inv_ex", "linalg_ldl_factor",
    "linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_logm", "linalg_lstsq", "linalg_lu", "linalg_lu_factor",
    "linalg_lu_factor_ex", "linalg_lu_solve", "linalg_matrix_rank", "linalg_pinv", "linalg_qr", "linalg_solve",
    "linalg_solve_banded", "linalg_solve_continuous_lyapunov", "linalg_solve_discrete_lyapunov",
    "linalg_solve_continuous_are", "linalg_solve_discrete_are", "where.condition", "linalg_solve_ex",
    "linalg_solve_sylvester", "linalg_solve_toeplitz", "linalg_solve_toeplitz.pair", "linalg_solve_triangular",
    "linalg_sqrtm", "linalg_svd", "linalg_svdvals", "linalg_tensorinv", "linalg_tensorsolve", "linalg_vander",
    "linalg_vecdot",
    "linear", "log_normal_", "logdet", "lu_solve", "lu_unpack",
    "matrix_exp", "matrix_power", "max.dim", "median.dim", "meshgrid",
    "min.dim", "mode", "nancumprod", "nancumsum", "nanmedian.dim", "nanpercentile", "nanprod", "nanquantile",
    "nansum", "nll_loss", "normal_", "orgqr", "ormqr", "percentile", "pinverse", "qr", "quantile", "random_",
    "repeat_interleave.tensor", "searchsorted", "slogdet", "sort", "special_airy", "special_fresnel",
    "special_lambertw", "special_shichi", "special_sici", "split_with_sizes", "std_mean", "stft", "sum_to_size",
    "svd", "take_along_axis", "take_along_dim", "tensor_split", "tensor_split.indices", "tensordot", "to",
    "to.device", "to_copy", "topk", "trace", "trapezoid", "trapezoid.dx", "uniform_", "vander", "var_mean",
    "view.dtype", "view_as_complex", "vsplit", "vsplit.indices",
    "atleast_1d.several", "atleast_2d.several", "atleast_3d.several", "bernoulli_.Tensor", "choose", "divmod",
    "float_power.base", "interp", "modf", "pad", "polar", "put_along_dim", "repeat_interleave.places",
    "tensor_split.tensor", "hardtanh", "threshold", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d",
    "max_pool3d_with_indices",
    "contiguous.format", "conv_transpose2d", "conv_transpose3d", "native_channel_shuffle", "to.format", "bilinear",
    "binary_cross_entropy", "channel_shuffle", "clone.format",
    "cosine_embedding_loss", "cosine_similarity", "group_norm", "kl_div", "layer_norm", "local_response_norm",
    "margin_ranking_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "multinomial",
    "normalize", "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss",
    "triplet_margin_loss",
    "addr", "alias_copy", "fill", "geqrf", "native_group_norm", "native_layer_norm", "nonzero_static", "slice_copy",
    "to.device_format", "to.other_format", "triangular_solve", "unsafe_chunk", "unsafe_split",
    "unsafe_split_with_sizes",
}  # fmt: skip


def is_plain(case):
    """Do the tensors alone tell the dtype of the result?"""
    return case.values().get("dtype") is None


FIRST = {key_of(case.row): case for case in sorted(CASES, key=lambda case: (is_plain(case), -case.number))}
INTERNAL = {key for key, case in FIRST.items() if "internal" in case.row.forms}


def rule_of(key):
    return next(rule for rule, keys in RULES.items() if key in keys.split())


def expected_dtype(key, dtype):
    word = next(word for word, kind in zip(rule_of(key), KINDS) if dtype in kind)
    return {"=": dtype, "real": REAL_OF.get(dtype)}.get(word, word)


def converted(array, dtype):
    """Values of that dtype which every op takes: no zeros, nothing negative as an integer."""
    whole = np.abs(np.rint(np.real(array) * 1.3)) + 1
    return np.asarray(whole if dtype.startswith(("int", "uint", "bool")) else array.real).astype(dtype)


def inputs_of(case, dtype):
    """The case's arguments with that dtype for all of its numbers, or for its integers where it has no others."""
    values = case.values()
    if "alpha" in values:
        values["alpha"] = 2
    arrays = dict(places_of(values))
    chosen = {p: a for p, a in arrays.items() if a.dtype.kind in "fc"} or arrays
    return replaced(values, {place: converted(array, dtype) for place, array in chosen.items()})


def widened(values):
    """Numbers in double precision, but for what says where."""
    places = {("condition",), ("mask",), ("index",), ("target",)}
    numbers = {place: array for place, array in places_of(values) if place not in places}
    return replaced(
        values, {p: a.astype("complex128" if a.dtype.kind == "c" else "float64") for p, a in numbers.items()}
    )


def cast(array, dtype):
    """Through int64 to the other integers, so that negative numbers wrap around."""
    return (array.astype(np.int64) if dtype in INTEGERS else array).astype(dtype)


def test_every_op_has_a_rule():
    listed = [key for keys in RULES.values() for key in keys.split()]
    assert len(listed) == len(set(listed))
    assert set(listed) | ELSEWHERE | INTERNAL == set(FIRST)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key", [key for keys in RULES.values() for key in keys.split()])
def test_dtype_of_the_result(key, dtype):
    """And its values: those of the reference, which computes in float64 and is cast."""
    expected = expected_dtype(key, dtype)
    values = inputs_of(FIRST[key], dtype)
    tensors = as_tensors(values)
    if expected == "-":
        with pytest.raises((RuntimeError, NotImplementedError)):
            call(FIRST[key].row, tensors)
    elif expected:
        results = outputs_of(call(FIRST[key].row, tensors))
        assert {str(r.dtype) for r in results} == {expected}
        references = expected_results(FIRST[key].row, values if key.startswith("bitwise") else widened(values))
        close = {"rtol": PRECISION.get(expected, 1e-5), "atol": 1e-3 if expected == "float16" else 0}
        for result, reference in zip(results, references):
            np.testing.assert_allclose(result.numpy(), cast(reference, expected), **close)


@pytest.mark.parametrize("key", RULES["float32", "float32", "=", "="].split())
def test_integers_become_the_default_dtype(key):
    gs.set_default_dtype(gs.float64)
    try:
        result = call(FIRST[key].row, as_tensors(inputs_of(FIRST[key], "int32")))
    finally:
        gs.set_default_dtype(gs.float32)
    assert result.dtype == gs.float64


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_and_indices(dtype):
    x = gs.tensor(np.array([[1, 0], [0, 1]]).astype(dtype))
    for op in (gs.max, gs.min):
        if dtype in COMPLEX:
            with pytest.raises(NotImplementedError):
                op(x, 0)
        else:
            values, indices = op(x, 0)
            assert values.dtype == x.dtype and indices.dtype == gs.int64


@pytest.mark.parametrize("dtype", DTYPES)
def test_truth_is_bool_but_of_bytes(dtype):
    x = gs.tensor(np.array([1, 0]).astype(dtype))
    expected = gs.uint8 if dtype == "uint8" else gs.bool_
    assert x.all().dtype == x.any().dtype == x.all(0).dtype == expected
    assert (x.all().item(), x.any().item()) == (0, 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["sum", "mean", "prod", "cumsum", "softmax", "log_softmax"])
def test_dtype_argument_casts_first(op, dtype):
    if op in {"softmax", "log_softmax"} and dtype in COMPLEX:
        return
    x = gs.tensor(np.array([[200, 100], [3, 4]], np.uint8).astype(dtype))
    result = getattr(x, op)(0, dtype=gs.float64) if dtype not in COMPLEX else getattr(x, op)(0, dtype=gs.complex128)
    plain = getattr(x.to(result.dtype), op)(0)
    assert result.dtype == plain.dtype
    np.testing.assert_array_equal(result.numpy(), plain.numpy())


# ---- two operands

PROMOTED = {  # of two dtypes, the upper triangle in the order of DTYPES
    "bool": "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128",
    "uint8": "uint8 int16 int16 int32 int64 float16 float32 float64 complex64 complex128",
    "int8": "int8 int16 int32 int64 float16 float32 float64 complex64 complex128",
    "int16": "int16 int32 int64 float16 float32 float64 complex64 complex128",
    "int32": "int32 int64 float16 float32 float64 complex64 complex128",
    "int64": "int64 float16 float32 float64 complex64 complex128",
    "float16": "float16 float32 float64 complex64 complex128",
    "float32": "float32 float64 complex64 complex128",
    "float64": "float64 complex128 complex128",
    "complex64": "complex64 complex128",
    "complex128": "complex128",
}


def promoted(one, other):
    first, second = sorted((one, other), key=DTYPES.index)
    return PROMOTED[first].split()[DTYPES.index(second) - DTYPES.index(first)]


def promoted_with_weak(dtype, weak):
    """A tensor with dimensions beside one without: only a higher category of the latter counts."""
    if dtype in COMPLEX or (dtype in FLOATS and weak not in COMPLEX):
        return dtype
    if dtype in FLOATS:
        return "complex128" if dtype == "float64" else "complex64"
    return promoted(dtype, weak) if dtype == "bool" or weak in FLOATS + COMPLEX else dtype


def array(dtype, shape):
    return np.full(shape, 3).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["add", "mul", "where", "cat", "stack", "maximum"])
def test_two_dtypes(op, dtype):
    for other in DTYPES:
        if op == "maximum" and {dtype, other} & set(COMPLEX):
            continue
        for shape in ((2,), ()) if op not in {"cat", "stack"} else ((2,),):
            one, two = gs.tensor(array(dtype, shape)), gs.tensor(array(other, shape))
            result = combine(op, one, two)
            assert str(result.dtype) == promoted(dtype, other), (dtype, other, shape)


def combine(op, one, two):
    if op == "where":
        return gs.where(gs.tensor([True, False]), one, two)
    return getattr(gs, op)([one, two]) if op in {"cat", "stack"} else getattr(gs, op)(one, two)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["add", "mul", "where"])
def test_operand_without_dimensions_is_weak(op, dtype):
    for other in DTYPES:
        if dtype == "float16" and other in COMPLEX:
            continue  # NumPy has no complex32
        strong, weak = gs.tensor(array(dtype, (2,))), gs.tensor(array(other, ()))
        for result in (combine(op, strong, weak), combine(op, weak, strong)):
            assert str(result.dtype) == promoted_with_weak(dtype, other), (dtype, other)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_logaddexp_of_a_complex_operand(dtype):
    for other in set(DTYPES) - {"float16"}:
        z = gs.tensor(array(dtype, (2,)))
        assert str(gs.logaddexp(z, gs.tensor(array(other, (2,)))).dtype) == promoted(dtype, other), other
        strong = gs.tensor(array(other, (2,)))
        for found in (gs.logaddexp(strong, z[0]), gs.logaddexp(z[0], strong)):
            assert str(found.dtype) == promoted_with_weak(other, dtype), other


NUMBERS = {True: "bool", 3: "int64", 2.5: "float32", 1 + 2j: "complex64"}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_number_is_weak(number, dtype):
    x = gs.tensor(array(dtype, (2,)))
    expected = promoted_with_weak(dtype, NUMBERS[number])
    for result in (x * number, number * x, x + number, gs.where(gs.tensor([True, False]), x, number)):
        assert str(result.dtype) == expected
    for result in (x == number, x != number, number == x):
        assert result.dtype == gs.bool_


@pytest.mark.parametrize("op", ["matmul", "mm", "dot", "linear", "bmm", "mv"])
def test_products_want_one_dtype(op):
    key = op
    values = FIRST[key].values()
    name = list(values)[1]
    tensors = as_tensors({**values, name: values[name].astype(np.float32)})
    with pytest.raises(RuntimeError, match="float32.*float64|float64.*float32"):
        call(FIRST[key].row, tensors)


# ---- gradients have the dtype of their tensor


@pytest.mark.parametrize("one", FLOATS + COMPLEX)
@pytest.mark.parametrize("other", FLOATS + COMPLEX)
@pytest.mark.parametrize("op", ["add", "mul", "div", "where", "cat"])
def test_gradient_has_the_dtype_of_its_tensor(op, one, other):
    x = gs.tensor(array(one, (2,)), requires_grad=True)
    y = gs.tensor(array(other, (2,)), requires_grad=True)
    result = combine(op, x, y)
    (result.real if result.is_complex() else result).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (x.dtype, y.dtype)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_casts(source, target):
    """Casts among floating dtypes are recorded, those to or from integers are not."""
    x = gs.tensor(array(source, (2,)))
    differentiable = source in FLOATS + COMPLEX
    if differentiable:
        x.requires_grad_()
    y = x.to(getattr(gs, target) if target != "bool" else gs.bool_)
    assert str(y.dtype) == target and (y is x) == (source == target)
    assert y.requires_grad == (differentiable and target in FLOATS + COMPLEX)
    if y.requires_grad and y is not x:
        gradient = gs.tensor(np.array([1, 2]).astype(target))
        y.backward(gradient)
        assert x.grad.dtype == x.dtype and x.grad.tolist() == [1, 2]


@pytest.mark.parametrize("op", [gs.add, gs.sub])
@pytest.mark.parametrize(
    ("left", "right", "alpha"),
    [
        (gs.tensor([0.5, 1.5], dtype=gs.float64), gs.tensor([97, 200], dtype=gs.uint8), -1),
        (gs.tensor([1, 2], dtype=gs.int32), gs.tensor([100, -100], dtype=gs.int8), 3),
        (gs.tensor([1, 2], dtype=gs.int8), gs.tensor(2.5), 0.5),
        (2.5, gs.tensor([100, -100], dtype=gs.int8), 3),
    ],
)
def test_every_step_of_a_loop_computes_in_the_dtype_of_the_result(op, left, right, alpha):
    """Not in that of one operand, in which `alpha * other` would wrap."""
    if op is gs.add and not isinstance(left, gs.Tensor):
        left, right = right, left
    result = op(left, right, alpha=alpha)
    one, other = (np.asarray(value, np.float64) for value in (left, right))
    expected = one + alpha * other if op is gs.add else one - alpha * other
    np.testing.assert_array_equal(result.numpy(), expected.astype(result.dtype))
