"""Forms of ops that PyTorch has besides the usual ones, with the values and gradients that it gives, or should give."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad


def values(*tensors):
    return [tensor.tolist() for tensor in tensors]


# ---- diagonals, views with strides


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 4), (7, 3), (4, 3), (0, 3), (3, 3, 3)])
def test_filled_diagonals(shape, wrap):
    expected = np.arange(float(np.prod(shape))).reshape(shape)
    x = gs.tensor(expected.copy())
    if expected.size:
        np.fill_diagonal(expected, -1.0, wrap)
    assert x.fill_diagonal_(-1.0, wrap=wrap) is x
    np.testing.assert_array_equal(x.numpy(), expected)


def test_what_is_filled_has_no_gradient():
    x = gs.ones(2, 2, requires_grad=True)
    (found,) = grad((x * 3).fill_diagonal_(5).sum(), x)
    assert found.tolist() == [[0.0, 3.0], [3.0, 0.0]]
    batch = gs.vmap(lambda m: m.clone().fill_diagonal_(7.0))(gs.zeros(2, 2, 2))
    assert batch.tolist() == [[[7.0, 0.0], [0.0, 7.0]]] * 2


def test_elements_of_a_strided_view_replaced():
    x = gs.tensor(np.arange(16.0).reshape(4, 4))[::2, ::2]  # only some of its memory is its own
    src = gs.tensor([[100.0, 101.0], [102.0, 103.0]], dtype=gs.float64)
    assert gs.as_strided_scatter(x, src, (2, 2), (4, 2), 2).tolist() == [[0.0, 100.0], [103.0, 10.0]]


def test_gradients_of_what_a_strided_view_replaces():
    """PyTorch gives zeros for all that stays."""
    x, src = gs.zeros(2, 3, requires_grad=True), gs.ones(2, requires_grad=True)
    found = gs.as_strided_scatter(x, src, (2,), (2,), 1) * gs.arange(6.0).reshape(2, 3)
    assert values(*grad(found.sum(), (x, src))) == [[[0.0, 0.0, 2.0], [0.0, 4.0, 5.0]], [1.0, 3.0]]


@pytest.mark.parametrize("dtype", [gs.float64, gs.float32])
@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [((2, 3), (6, 2), None), ((2, 3), (2, 4), 9), ((3, 2), (1, 6), 8), ((), (), 10), ((1, 2), (0, 3), 8)],
)
def test_strided_views_of_a_part_of_the_memory_replaced(size, stride, offset, dtype):
    whole = gs.arange(32.0, dtype=gs.float64).requires_grad_()
    x = (whole * 1)[8:24].reshape(4, 4)
    src = (gs.arange(float(np.prod(size)), dtype=dtype).reshape(size) + 100).requires_grad_()
    numbers = np.arange(32.0)
    places = np.zeros(size, int) + (8 if offset is None else offset)
    for axis, (length, step) in enumerate(zip(size, stride, strict=True)):
        places = places + (np.arange(length) * step).reshape([-1 if d == axis else 1 for d in range(len(size))])
    numbers[places] = src.detach().numpy()
    found = x.as_strided_scatter(src, size, stride, offset)
    assert found.dtype == gs.float64
    assert found.tolist() == numbers[8:24].reshape(4, 4).tolist()
    weights = gs.arange(32.0, dtype=gs.float64)
    of_whole, of_src = grad((found * weights[8:24].reshape(4, 4)).sum(), (whole, src))
    expected = np.zeros(32)
    expected[8:24] = np.arange(8.0, 24)
    expected[places] = 0
    assert of_whole.tolist() == expected.tolist()
    assert of_src.tolist() == places.astype(float).tolist()


def test_of_values_for_one_place_the_last_stays():
    x, src = gs.zeros(3), gs.tensor([1.0, 2.0], requires_grad=True)
    found = x.as_strided_scatter(src, (2,), (0,), 1)
    assert found.tolist() == [0.0, 2.0, 0.0]
    assert grad(found.sum(), src)[0].tolist() == [0.0, 1.0]


def test_copies_of_consecutive_slices():
    x = gs.arange(6).reshape(3, 2)
    found = x.narrow_copy(0, 1, 2)
    assert found.tolist() == [[2, 3], [4, 5]] and found._base is None and found.is_contiguous()
    assert x.t().narrow_copy(0, 0, 1).is_contiguous()


# ---- several tensors, tensors of numbers


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d"])
def test_several_tensors_at_once(name):
    arrays = [np.array(1.5), np.arange(2.0), np.ones((2, 3))]
    expected = [found.tolist() for found in getattr(np, name)(*arrays)]
    op, tensors = getattr(gs, name), [gs.tensor(array) for array in arrays]
    assert values(*op(*tensors)) == values(*op(tensors)) == expected
    assert isinstance(op(tensors), tuple) and op([]) == ()
    assert op(tensors[0]).tolist() == expected[0]


@pytest.mark.parametrize("places", [[1, 4], [-2], [3, 1], [9]])
def test_split_at_the_values_of_a_tensor(places):
    array = np.arange(12.0).reshape(6, 2)
    found = gs.tensor_split(gs.tensor(array), gs.tensor(places))
    assert values(*found) == [piece.tolist() for piece in np.array_split(array, places)]


def test_split_into_as_many_as_a_tensor_says():
    x = gs.arange(5)
    assert values(*x.tensor_split(gs.tensor(2))) == [[0, 1, 2], [3, 4]]
    with pytest.raises(RuntimeError, match="dtype of int64, but got float32"):
        x.tensor_split(gs.tensor(2.0))
    with pytest.raises(RuntimeError, match="one-dimensional tensor, but got a tensor with 2 dims"):
        x.tensor_split(gs.ones(1, 1, dtype=gs.int64))
    with pytest.raises(RuntimeError, match="differs from slice to slice"):
        gs.vmap(lambda places: x.tensor_split(places))(gs.tensor([[1], [2]]))
    parts = gs.vmap(lambda row: row.tensor_split(gs.tensor([1])))(gs.ones(2, 3))
    assert [tuple(part.shape) for part in parts] == [(2, 1), (2, 2)]


def test_numbers_of_elements_repeated():
    repeats = gs.tensor([2, 0, 3])
    assert gs.repeat_interleave(repeats).tolist() == [0, 0, 2, 2, 2]
    assert gs.repeat_interleave(repeats=repeats, output_size=5).tolist() == [0, 0, 2, 2, 2]
    assert gs.repeat_interleave(gs.tensor([4, 5]), 2).tolist() == [4, 4, 5, 5]
    with pytest.raises(RuntimeError, match="output_size is 4"):
        gs.repeat_interleave(repeats, output_size=4)


# ---- elementwise


def test_powers_of_one_number():
    exponent = gs.tensor([0.0, 1.0, 2.0], requires_grad=True)
    found = gs.float_power(3, exponent)
    assert found.dtype == gs.float64 and found.tolist() == [1.0, 3.0, 9.0]
    np.testing.assert_allclose(grad(found.sum(), exponent)[0].numpy(), np.log(3) * found.detach().numpy(), rtol=1e-6)
    assert gs.float_power(2, gs.tensor([3])).tolist() == [8.0]
    assert gs.float_power(1j, gs.tensor([2.0])).dtype == gs.complex128


def test_polygamma_in_place():
    x = gs.tensor([0.5, 1.0], dtype=gs.float64)
    expected = x.polygamma(1).tolist()
    assert x.clone().polygamma_(1).tolist() == expected
    batch = gs.vmap(lambda row: row.clone().polygamma_(1), in_dims=1)(gs.stack([x, x, x], 1))
    assert batch.tolist() == [expected] * 3


def test_polar():
    r, angle = gs.tensor([1.0, -2.0], requires_grad=True), gs.tensor([0.5, 3.0], requires_grad=True)
    found = gs.polar(r, angle)
    assert found.dtype == gs.complex64
    np.testing.assert_allclose(
        found.detach().numpy(), r.detach().numpy() * np.exp(1j * angle.detach().numpy()), rtol=1e-6
    )
    np.testing.assert_allclose(grad(found.real.sum(), angle)[0].numpy(), [-np.sin(0.5), 2 * np.sin(3)], rtol=1e-5)
    with pytest.raises(RuntimeError, match="both must have one dtype"):
        gs.polar(r, angle.double())
    with pytest.raises(RuntimeError, match="int64"):
        gs.polar(gs.tensor([1]), gs.tensor([1]))


def test_complex_logaddexp():
    a = gs.tensor([1000 + 2j, -np.inf + 1j, np.inf + 1j, complex(np.nan, 0), 1 + 1j])
    b = gs.tensor([1000.0, -np.inf, 3.0, 1.0, -np.inf])
    found = gs.logaddexp(a, b).numpy()
    np.testing.assert_allclose(found[0], 1000 + np.log(1 + np.exp(2j)), rtol=1e-6)
    assert found[1].real == -np.inf and found[2].real == np.inf
    assert np.isnan(found[3].real) and np.isnan(found[3].imag) and found[4] == 1 + 1j
    x = gs.tensor([0.3 + 2j, -1j], dtype=gs.complex128, requires_grad=True)
    y = gs.tensor([1 - 1j, 0.5 + 0.1j], dtype=gs.complex128, requires_grad=True)
    assert gs.autograd.gradcheck(gs.logaddexp, (x, y))


def test_complex_sinc():
    x = gs.tensor([0j, 1e-3j, 0.1 + 0.1j, 2 + 1j, 0.16 + 0j], dtype=gs.complex128, requires_grad=True)
    np.testing.assert_allclose(gs.sinc(x).detach().numpy(), np.sinc(x.detach().numpy()), rtol=1e-14)
    assert gs.autograd.gradcheck(gs.sinc, (x,))


# ---- arguments


@pytest.mark.parametrize(("op", "root"), [("var_mean", np.asarray), ("std_mean", np.sqrt)])
def test_unbiased_statistics_with_their_mean(op, root):
    x = np.arange(12.0).reshape(3, 4) ** 2
    spread, mean = getattr(gs, op)(gs.tensor(x), False)
    np.testing.assert_allclose([spread, mean], [root(x.var()), x.mean()])
    for found in (getattr(gs, op)(gs.tensor(x), 1, True), getattr(gs, op)(gs.tensor(x), dim=1, unbiased=True)):
        np.testing.assert_allclose(found.mean, x.mean(1))
        np.testing.assert_allclose(found[0], root(x.var(1, ddof=1)))
    assert getattr(gs, op)(gs.tensor(x), 0, unbiased=False, keepdim=True).mean.shape == (1, 4)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x, out: gs.var_mean(x, out=(out(0), out(0))), (1.0, 2.0)),
        (lambda x, out: gs.std_mean(x, 0, correction=1, out=(out(0), out(0))), (1.0, 2.0)),
        (lambda x, out: gs.aminmax(x, out=(out(0), out(0))), (1.0, 3.0)),
        (lambda x, out: gs.quantile(x, 0.75, out=out(0)), 2.5),
        (lambda x, out: gs.nanquantile(x, 0.75, out=out(0)), 2.5),
        (lambda x, out: gs.norm(x, 1, out=out(0)), 6.0),
        (lambda x, out: gs.signbit(-x, out=out(0, bool)), [True, True, True]),
        (lambda x, out: gs.nonzero(x - 2, out=out(0, gs.int64)), [[0], [2]]),
        (lambda x, out: gs.fft.fftfreq(4, 0.5, out=out(4)), [0.0, 0.5, -1.0, -0.5]),
        (lambda x, out: gs.fft.rfftfreq(4, 0.5, out=out(0)), [0.0, 0.5, 1.0]),
    ],
)
def test_results_are_written_to_out(call, expected):
    given = []

    def out(size, dtype=gs.float64):
        given.append(gs.empty(size, dtype=dtype))
        return given[-1]

    found = call(gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64), out)
    assert all(a is b for a, b in zip(found if len(given) == 2 else (found,), given, strict=True))
    assert values(*given) == (list(expected) if len(given) == 2 else [expected])


def test_places_as_vectors_are_not_written_to_out():
    with pytest.raises(RuntimeError, match="does not support the out kwarg when as_tuple is True"):
        gs.nonzero(gs.ones(2), out=gs.empty(0, dtype=gs.int64), as_tuple=True)


def test_drivers_of_singular_values_change_nothing():
    a = gs.tensor([[2.0, 0.0], [0.0, 1.0]])
    assert gs.linalg.svd(a, driver="gesvdj").S.tolist() == gs.linalg.svdvals(a, driver="gesvd").tolist() == [2.0, 1.0]
    with pytest.raises(
        RuntimeError, match=r"driver must be one of gesvd, gesvdj, gesvda, or None, but got driver = 'qr'$"
    ):
        gs.linalg.svd(a, driver="qr")


# ---- what PyTorch takes in a corner


def test_no_difference_leaves_out_what_stands_beside():
    x = gs.tensor([1.0, 4.0], requires_grad=True)
    found = x.diff(0, prepend=gs.zeros(1), append=gs.zeros(2))
    assert values(found, *grad(found.sum(), x)) == [[1, 4], [1, 1]]


def test_places_counted_from_the_end():
    x = gs.tensor([[1.0, 2, 3], [4, 5, 6]], requires_grad=True)
    found = gs.take_along_dim(x, gs.tensor([[-1], [-3]]), 1)
    assert values(found, *grad(found.sum(), x)) == [[[3], [4]], [[0, 0, 1], [1, 0, 0]]]
    with pytest.raises(RuntimeError, match="out of bounds"):
        gs.take_along_dim(x, gs.tensor([[-4], [0]]), 1)


def test_nuclear_norm_by_its_name():
    matrix = np.random.default_rng(0).standard_normal((2, 3, 4))
    np.testing.assert_allclose(
        gs.norm(gs.tensor(matrix), p="nuc", dim=(1, 2)).numpy(), np.linalg.norm(matrix, "nuc", (1, 2))
    )
    np.testing.assert_allclose(gs.tensor(matrix[0]).norm("nuc").item(), np.linalg.norm(matrix[0], "nuc"))
    with pytest.raises(RuntimeError, match="name two dimensions"):
        gs.tensor(matrix).norm("nuc")


@pytest.mark.parametrize("op", [gs.nn.functional.max_pool2d, gs.nn.functional.avg_pool2d])
def test_a_list_of_one_number_is_that_number_for_all(op):
    x = gs.randn(1, 2, 8, 8)
    np.testing.assert_array_equal(op(x, (2,), [2], (1,)).numpy(), op(x, 2, 2, 1).numpy())
    np.testing.assert_array_equal(op(x, 2, ()).numpy(), op(x, 2).numpy())


def test_spacing_left_out():
    assert values(*gs.gradient(gs.tensor([0.0, 1, 4]), spacing=None, dim=None)) == [[1, 2, 3]]


def test_a_product_of_reflections_reads_no_further_columns():
    rng = np.random.default_rng(1)
    a, tau, other = (gs.tensor(rng.standard_normal(shape)) for shape in ((2, 5), (2,), (2, 3)))
    np.testing.assert_array_equal(gs.ormqr(a, tau, other).numpy(), gs.ormqr(a[:, :2], tau, other).numpy())


def test_one_class_of_one_row_as_a_vector():
    scores = gs.tensor([0.5, 1.0, 0.0])
    loss = gs.nn.functional.multi_margin_loss
    assert loss(scores, gs.tensor([1])).item() == loss(scores, gs.tensor(1)).item()


def test_complex_distances():
    x, y = (np.array(one) for one in ([[3 + 4j, 1]], [[0j, 1]]))
    a, b = gs.tensor(x), gs.tensor(y)
    assert gs.nn.functional.l1_loss(a, b).item() == 2.5
    np.testing.assert_allclose(gs.nn.functional.pairwise_distance(a, b, eps=0).tolist(), [5])
    np.testing.assert_allclose(gs.nn.functional.normalize(a).numpy(), x / np.sqrt(26))


def test_feature_dropout_of_vectors_when_nothing_is_dropped():
    x = gs.ones(5)
    assert gs.nn.functional.feature_alpha_dropout(x, 0.5, training=False).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        gs.nn.functional.feature_alpha_dropout(x, 0.5, training=True)


@pytest.mark.parametrize(
    "op", [gs.linalg.svdvals, lambda x: gs.linalg.svd(x).S, lambda x: gs.linalg.eigh(x).eigenvalues]
)
def test_decompositions_of_empty_complex_matrices(op):
    x = gs.zeros(0, 0, dtype=gs.complex128, requires_grad=True)
    (found,) = grad(op(x).sum(), x)
    assert found.shape == (0, 0)


def test_nothing_searched_in_empty_rows():
    assert gs.searchsorted(gs.zeros(0, 0), gs.zeros(0, 0)).shape == (0, 0)
    assert gs.searchsorted(gs.zeros(0, 3), gs.zeros(0, 2)).shape == (0, 2)


def test_extremes_of_all_dimensions_by_none():
    x = gs.tensor([[1.0, 4.0], [3.0, 2.0]], requires_grad=True)
    assert gs.amax(x, None).item() == x.amax(dim=None).item() == 4.0
    assert x.amin(dim=None, keepdim=True).tolist() == [[1.0]]
    assert gs.autograd.grad(x.amin(None), x)[0].tolist() == [[1.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64"])
def test_the_number_of_xlogy_is_not_cut_to_the_size_of_integers(dtype):
    x = gs.tensor([0, 3], dtype=dtype)
    found = gs.xlogy(x, 300)
    assert found.dtype == gs.float32
    np.testing.assert_allclose(found.numpy(), [0, 3 * np.log(300)], rtol=1e-6)
    assert gs.xlogy(x, -1).isnan().tolist() == [False, True]


def test_padding_that_a_dtype_cannot_hold():
    for x, value in ((gs.tensor([1, 3], dtype=gs.uint8), 300), (gs.ones(2, dtype=gs.float16), 1e6)):
        with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
            gs.nn.functional.pad(x, (1, 1), value=value)
    assert gs.nn.functional.pad(gs.ones(1), (1, 0), value=float("inf")).tolist() == [float("inf"), 1.0]


def test_rolled_without_dimensions():
    x = gs.arange(6).reshape(2, 3)
    expected = np.roll(np.arange(6).reshape(2, 3), 1).tolist()
    assert values(x.roll(1), x.roll(1, None), gs.roll(x, 1, dims=None), x.roll(1, ())) == [expected] * 4


def test_copied_slices_count_from_the_start():
    x = gs.zeros(3, 2)
    for copy in (gs.index_copy, gs.Tensor.index_copy_):
        with pytest.raises(IndexError, match=r"index_copy\(\): index -1 is out of bounds for dimension 0 with size 3"):
            copy(x, 0, gs.tensor([0, -1]), gs.ones(2, 2))
    assert not x.any()


def test_a_tensor_that_lies_like_another_one():
    x = gs.arange(6.0).reshape(2, 3)
    assert x.is_set_to(x) and x.is_set_to(x.view(2, 3)) and x.is_set_to(x.detach())
    assert (
        not x.is_set_to(x.clone())
        and not x.is_set_to(x.view(3, 2))
        and not x.is_set_to(x.T)
        and not x[0].is_set_to(x[1])
    )
    meta = gs.empty(2, device="meta")
    assert meta.is_set_to(meta) and not meta.is_set_to(gs.empty(2, device="meta"))


def test_memory_formats_of_other_dimensions_are_not_those_of_a_tensor():
    assert not gs.zeros(10, 3, 1, 1).is_contiguous(memory_format=gs.channels_last_3d)
    assert not gs.zeros(3).is_contiguous(memory_format=gs.channels_last)


def test_fractional_pools_of_no_windows():
    x = gs.ones(1, 2, 8, 8, requires_grad=True)
    found, places = gs.nn.functional.fractional_max_pool2d(x, 2, output_size=(0, 1), return_indices=True)
    assert found.shape == places.shape == (1, 2, 0, 1)
    found.sum().backward()
    assert not x.grad.any()


def test_the_old_name_of_reflected_division():
    x = gs.tensor([2.0, 4.0], requires_grad=True)
    assert x.__rdiv__(1.0).tolist() == gs.Tensor.__rdiv__(x, gs.ones(2)).tolist() == [0.5, 0.25]
