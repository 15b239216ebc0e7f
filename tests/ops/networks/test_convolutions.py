"""Convolutions against sums written out with NumPy, and their derivatives against differences and transposes."""

import itertools

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck, gradgradcheck
from gradsmith.runtime.arrays import array

RNG = np.random.default_rng(7)
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def convolved(x, w, stride, padding, dilation, groups):
    """Every sum of a convolution, position by position."""
    dims = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    sizes = [
        (n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation, strict=True)
    ]
    y = np.zeros((len(x), len(w), *sizes))
    inputs, outputs = w.shape[1], len(w) // groups
    for place in np.ndindex(*sizes):
        window = tuple(
            slice(p * s, p * s + d * (k - 1) + 1, d)
            for p, s, d, k in zip(place, stride, dilation, w.shape[2:], strict=True)
        )
        for group in range(groups):
            seen = x[:, group * inputs : (group + 1) * inputs][(slice(None), slice(None), *window)]
            axes = list(range(1, dims + 2))
            chosen = slice(group * outputs, (group + 1) * outputs)
            y[(slice(None), chosen, *place)] = np.tensordot(seen, w[chosen], (axes, axes))
    return y


def drawn_case(seed):
    """Sizes, and the settings of a convolution, of one to three dimensions."""
    draw = np.random.default_rng(seed)
    dims = int(draw.integers(1, 4))
    groups, inputs, outputs = (int(draw.choice(sizes)) for sizes in ([1, 1, 2, 3], [1, 2, 5], [1, 3, 7]))
    window = draw.integers(1, 4, dims)
    dilation, stride, padding = draw.integers(1, 4, dims), draw.integers(1, 4, dims), draw.integers(0, 3, dims)
    sizes = dilation * (window - 1) + 1 + draw.integers(0, 9 if dims == 3 else 20, dims)
    x = draw.standard_normal((int(draw.integers(1, 4)), groups * inputs, *sizes))
    w = draw.standard_normal((groups * outputs, inputs, *window))
    return x, w, *(tuple(map(int, setting)) for setting in (stride, padding, dilation)), groups


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_over_windows(seed, dtype):
    x, w, stride, padding, dilation, groups = drawn_case(seed)
    expected = convolved(x, w, stride, padding, dilation, groups)
    found = CONV[w.ndim - 2](
        gs.tensor(x.astype(dtype)), gs.tensor(w.astype(dtype)), None, stride, padding, dilation, groups
    )
    assert found.dtype == dtype
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance * 10)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8"])
def test_sums_of_integers_wrap(seed, dtype):
    x, w, *settings = drawn_case(seed)
    x, w = ((50 * part).astype(np.int64).astype(dtype) for part in (x, w))
    bias = np.arange(len(w)).astype(dtype)
    exact = convolved(x.astype(float), w.astype(float), *settings) + np.arange(len(w)).reshape(-1, *[1] * (w.ndim - 2))
    found = CONV[w.ndim - 2](gs.tensor(x), gs.tensor(w), gs.tensor(bias), *settings)
    assert found.numpy().dtype == dtype
    np.testing.assert_array_equal(found.numpy(), exact.astype(np.int64).astype(dtype))


@pytest.mark.parametrize("seed", range(20))
def test_transposed_sums_of_integers(seed):
    """Those of the same numbers as floating ones, which are exact. Nothing rounds integers that no float64 holds."""
    x, w, stride, _, dilation, groups = drawn_case(seed)
    x, w = ((9 * part).astype(np.int64) for part in (x, w))
    w = w.reshape(groups * w.shape[1], len(w) // groups, *w.shape[2:])
    settings = (None, stride, 0, 0, groups, dilation)
    transposed = TRANSPOSED[w.ndim - 2]
    found = transposed(gs.tensor(x), gs.tensor(w), *settings)
    assert found.dtype == gs.int64
    np.testing.assert_array_equal(found.numpy(), transposed(*(gs.tensor(a * 1.0) for a in (x, w)), *settings).numpy())
    large = gs.tensor([[2**60 + 1, 3]])
    assert F.conv1d(large, gs.ones(1, 1, 1, dtype=gs.int64)).tolist() == large.tolist()
    assert F.conv_transpose1d(large, gs.ones(1, 1, 1, dtype=gs.int64)).tolist() == large.tolist()


def test_integers_of_no_elements_and_of_batches():
    x, w = gs.ones(0, 2, 4, dtype=gs.int64), gs.ones(3, 2, 2, dtype=gs.int64)
    assert F.conv1d(x, w).shape == (0, 3, 3) and F.conv1d(x.to("meta"), w.to("meta")).dtype == gs.int64
    x = gs.tensor(RNG.integers(-9, 9, (5, 1, 2, 4)))
    one_by_one = [F.conv1d(part, w).tolist() for part in x]
    assert gs.vmap(lambda part: F.conv1d(part, w))(x).tolist() == one_by_one


@pytest.mark.parametrize("seed", range(40))
def test_gradients_are_transposes(seed):
    """<g, conv(x, w)> is linear in x and in w, and its gradients are what multiplies them."""
    x, w, *settings = drawn_case(seed)
    tx, tw = gs.tensor(x, requires_grad=True), gs.tensor(w, requires_grad=True)
    y = CONV[w.ndim - 2](tx, tw, None, *settings)
    g = RNG.standard_normal(y.shape)
    (y * gs.tensor(g)).sum().backward()
    dx, dw = RNG.standard_normal(x.shape), RNG.standard_normal(w.shape)
    assert np.vdot(tx.grad.numpy(), dx) == pytest.approx(np.vdot(g, convolved(dx, w, *settings)), rel=1e-9, abs=1e-9)
    assert np.vdot(tw.grad.numpy(), dw) == pytest.approx(np.vdot(g, convolved(x, dw, *settings)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_transposed_convolutions_are_transposes(seed):
    x, w, stride, padding, dilation, groups = drawn_case(seed)
    y = convolved(x, w, stride, padding, dilation, groups)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    sizes = [(n - 1) * s - 2 * p + r for n, s, p, r in zip(y.shape[2:], stride, padding, reach, strict=True)]
    more = [n - m for n, m in zip(x.shape[2:], sizes, strict=True)]
    if any(n >= max(s, d) for n, s, d in zip(more, stride, dilation, strict=True)) or min(sizes) < 1:
        pytest.skip("PyTorch refuses so much output padding")
    g = RNG.standard_normal(y.shape)
    found = TRANSPOSED[w.ndim - 2](gs.tensor(g), gs.tensor(w), None, stride, padding, more, groups, dilation)
    assert found.shape == x.shape
    assert np.vdot(found.numpy(), x) == pytest.approx(np.vdot(g, y), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_bias_and_images_without_a_batch(dims):
    x, w, b = (RNG.standard_normal(shape) for shape in ((2, *[5] * dims), (3, 2, *[2] * dims), (3,)))
    expected = convolved(x[None], w, [1] * dims, [0] * dims, [1] * dims, 1)[0] + b.reshape((-1, *[1] * dims))
    np.testing.assert_allclose(CONV[dims](*map(gs.tensor, (x, w, b))).numpy(), expected, rtol=1e-12, atol=1e-12)
    g = RNG.standard_normal(expected.shape)
    plain, biased = (TRANSPOSED[dims](gs.tensor(g), gs.tensor(w), bias).numpy() for bias in (None, gs.tensor(b[:2])))
    np.testing.assert_allclose(
        biased - plain, np.broadcast_to(b[:2].reshape((-1, *[1] * dims)), plain.shape), rtol=1e-12
    )


@pytest.mark.parametrize(("window", "dilation"), list(itertools.product([1, 2, 3, 4, 5], [1, 2, 3])))
def test_same_padding_has_the_odd_zero_last(window, dilation):
    x, w = RNG.standard_normal((1, 2, 9)), RNG.standard_normal((2, 2, window))
    lacking = dilation * (window - 1)
    around = np.pad(x, [(0, 0), (0, 0), (lacking // 2, lacking - lacking // 2)])
    found = F.conv1d(gs.tensor(x), gs.tensor(w), padding="same", dilation=dilation)
    assert found.shape == x.shape
    np.testing.assert_allclose(found.numpy(), convolved(around, w, [1], [0], [dilation], 1), rtol=1e-12, atol=1e-12)


LAYOUTS = {
    "channels last": lambda a: np.ascontiguousarray(a.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
    "by columns": np.asfortranarray,
    "backwards": lambda a: a[::-1, :, ::-1].copy()[::-1, :, ::-1],
    "every other": lambda a: np.repeat(a, 2, axis=3)[..., ::2],
    "one image, twice": lambda a: np.lib.stride_tricks.as_strided(a, a.shape, (0, *a.strides[1:])),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(layout):
    x, w = RNG.standard_normal((2, 3, 6, 5)), RNG.standard_normal((4, 3, 2, 3))
    found = F.conv2d(gs.from_numpy(layout(x)), gs.tensor(w), padding=1).numpy()
    np.testing.assert_allclose(found, convolved(layout(x), w, (1, 1), (1, 1), (1, 1), 1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers(dtype):
    x, w = (RNG.standard_normal((*shape, 2)).view(np.complex128)[..., 0] for shape in ((2, 2, 6), (3, 2, 3)))
    parts = [[convolved(a, b, [2], [1], [1], 1) for b in (w.real, w.imag)] for a in (x.real, x.imag)]
    expected = parts[0][0] - parts[1][1] + 1j * (parts[0][1] + parts[1][0])
    found = F.conv1d(gs.tensor(x.astype(dtype)), gs.tensor(w.astype(dtype)), stride=2, padding=1)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4 if dtype == np.complex64 else 1e-12)


def test_half_precision_is_computed_in_single():
    x, w = (RNG.standard_normal(shape).astype(np.float16) for shape in ((1, 2, 8), (3, 2, 3)))
    found = F.conv1d(gs.tensor(x), gs.tensor(w))
    expected = convolved(x.astype(float), w.astype(float), [1], [0], [1], 1)
    assert found.dtype == gs.float16
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("channels", [1, 5, 6, 7, 12, 13, 24, 25, 50])
def test_panels_of_any_height(channels):
    x, w = RNG.standard_normal((1, 3, 4, 21)), RNG.standard_normal((channels, 3, 3, 3))
    expected = convolved(x, w, (1, 1), (1, 1), (1, 1), 1)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-4)):
        found = F.conv2d(gs.tensor(x.astype(dtype)), gs.tensor(w.astype(dtype)), padding=1).numpy()
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_sums_of_many_terms():
    x, w = RNG.standard_normal((1, 150, 7)), RNG.standard_normal((2, 150, 5))
    found = F.conv1d(gs.tensor(x), gs.tensor(w)).numpy()
    np.testing.assert_allclose(found, convolved(x, w, [1], [0], [1], 1), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("outputs", "inputs", "window"), [(8, 9, 3), (17, 3, 3), (33, 31, 1), (40, 10, 2), (5, 30, 3)])
@pytest.mark.parametrize("sizes", [(7, 6), (3, 150)])
def test_gradients_of_weights_of_many_channels(outputs, inputs, window, sizes):
    x, w = RNG.standard_normal((3, inputs, *sizes)), RNG.standard_normal((outputs, inputs, window, window))
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-5)):
        tw = gs.tensor(w.astype(dtype), requires_grad=True)
        y = F.conv2d(gs.tensor(x.astype(dtype)), tw)
        g = RNG.standard_normal(y.shape).astype(dtype)
        y.backward(gs.tensor(g))
        seen = np.lib.stride_tricks.sliding_window_view(x, (window, window), (2, 3))
        expected = np.tensordot(g.astype(np.float64), seen, ((0, 2, 3), (0, 2, 3)))
        np.testing.assert_allclose(tw.grad.numpy(), expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


# Many channels and few positions: products of matrices, of some images each, some of them turned around.
FEW_POSITIONS = {
    "an image is a matrix": ((3, 96, 5, 6), (80, 96, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "of some positions": ((5, 128, 2, 1), (64, 128, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "patches": ((2, 3, 17, 25), (50, 3, 8, 8), (8, 8), (0, 0), (1, 1), 1),
    "patches with a gap": ((3, 64, 9, 8), (70, 64, 2, 1), (3, 2), (0, 1), (1, 1), 1),
    "one position": ((2, 100, 2, 2), (64, 100, 2, 2), (2, 2), (0, 0), (1, 1), 1),
    "padded": ((4, 64, 4, 4), (65, 64, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "padded and dilated": ((3, 64, 5, 7), (40, 64, 3, 2), (2, 1), (2, 3), (2, 3), 1),
    "groups": ((2, 128, 4, 3), (96, 64, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    "many images": ((600, 64, 3, 3), (64, 64, 2, 2), (1, 1), (0, 0), (1, 1), 1),
    "a long window": ((2, 1, 700), (130, 1, 256), (64,), (0,), (1,), 1),
    "volumes": ((2, 48, 3, 2, 4), (64, 48, 2, 2, 3), (1, 2, 1), (0, 1, 1), (1, 1, 1), 1),
    "rows of an image": ((1, 128, 20, 9), (160, 128, 3, 3), (1, 1), (1, 1), (1, 1), 1),
}


@pytest.fixture(params=["auto", "blas"])
def products(request):
    array.set_matmul_backend(request.param)
    yield
    array.set_matmul_backend("auto")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", FEW_POSITIONS.values(), ids=FEW_POSITIONS)
def test_many_channels_of_few_positions(case, dtype, products):
    of_image, of_weight, *settings = case
    x, w, b, dx, dw = (RNG.standard_normal(s) for s in (of_image, of_weight, of_weight[:1], of_image, of_weight))
    tx, tw, tb = (gs.tensor(a.astype(dtype), requires_grad=True) for a in (x, w, b))
    expected = convolved(x, w, *settings) + b.reshape(-1, *[1] * (w.ndim - 2))
    y = CONV[w.ndim - 2](tx, tw, tb, *settings)
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(y.detach().numpy(), expected, rtol=tolerance, atol=tolerance * 100)
    g = RNG.standard_normal(y.shape)
    of_x, of_w = (a.numpy() for a in gs.autograd.grad(y, [tx, tw], gs.tensor(g.astype(dtype))))
    for found, direction, changed in ((of_x, dx, convolved(dx, w, *settings)), (of_w, dw, convolved(x, dw, *settings))):
        scale = tolerance * np.linalg.norm(g) * np.linalg.norm(changed)
        assert abs(np.vdot(found, direction) - np.vdot(g, changed)) < 10 * scale


def test_no_window_reaches_the_end_of_an_image():
    """Its gradient is zero there, in memory that held something else."""
    x = gs.tensor(RNG.standard_normal((2, 64, 7, 8)), requires_grad=True)
    w = gs.tensor(RNG.standard_normal((64, 64, 2, 2)))
    grad = gs.autograd.grad(F.conv2d(x, w, stride=3).sum(), x)[0].numpy()
    reached = np.zeros((7, 8), bool)
    reached[np.ix_([0, 1, 3, 4], [0, 1, 3, 4, 6, 7])] = True
    np.testing.assert_array_equal((grad != 0).all((0, 1)), reached)
    np.testing.assert_array_equal((grad == 0).all((0, 1)), ~reached)


def test_strides_of_many_phases():
    x, w = RNG.standard_normal((2, 2, 45, 50)), RNG.standard_normal((3, 2, 4, 4))
    tx = gs.tensor(x, requires_grad=True)
    y = F.conv2d(tx, gs.tensor(w), stride=(20, 21))
    g = RNG.standard_normal(y.shape)
    y.backward(gs.tensor(g))
    expected = np.zeros(x.shape)
    for row, column in np.ndindex(3, 3):
        seen = np.s_[:, :, row * 20 : row * 20 + 4, column * 21 : column * 21 + 4]
        expected[seen] += np.tensordot(g[:, :, row, column], w, (1, 0))
    np.testing.assert_allclose(tx.grad.numpy(), expected, rtol=1e-12, atol=1e-12)


def test_steps_that_are_never_taken():
    """With one place of the output, or one element of the window, no step is so long that it does not fit."""
    x, w = (
        gs.tensor(RNG.standard_normal((2, 3, 6, 5)), requires_grad=True),
        gs.tensor(RNG.standard_normal((2, 3, 2, 2))),
    )
    found, expected = F.conv2d(x, w, stride=2**62), F.conv2d(x, w)[:, :, :1, :1]
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-12)
    for one, other in zip(gs.autograd.grad(found.sum(), x), gs.autograd.grad(expected.sum(), x), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)
    points = w[:, :, :1, :1]
    assert F.conv2d(x, points, dilation=2**62).tolist() == F.conv2d(x, points).tolist()
    assert F.conv_transpose2d(gs.ones(1, 2, 1, 1), gs.ones(2, 1, 2, 2), stride=2**62).shape == (1, 1, 2, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, w: F.conv2d(x, w, padding=2**62),
        lambda x, w: F.conv_transpose2d(x, w, stride=2**62),
        lambda x, w: F.conv_transpose2d(x, w, dilation=10**30),
        lambda x, w: F.conv_transpose2d(x, w, stride=2**31),
    ],
)
def test_sizes_beyond_all_memory(call):
    with pytest.raises((RuntimeError, MemoryError)):
        call(gs.ones(1, 2, 3, 3), gs.ones(2, 2, 2, 2))


def test_what_is_a_padding():
    x, w = gs.ones(1, 1, 3, 3), gs.ones(1, 1, 2, 2)
    assert F.conv2d(x, w, padding=np.int64(1)).shape == F.conv2d(x, w, padding=gs.tensor(1)).shape == (1, 1, 4, 4)
    for wrong in (1.5, None, (1.5, 2), [None, 1], ((1, 2),)):
        with pytest.raises(TypeError, match="padding"):
            F.conv2d(x, w, padding=wrong)


def test_infinite_elements_reach_their_windows_alone():
    x = np.zeros((1, 1, 5, 5))
    x[0, 0, 0, 4] = np.inf
    found = F.conv2d(gs.tensor(x), gs.ones(1, 1, 2, 2, dtype=gs.float64)).numpy()
    assert np.isinf(found[0, 0, 0, 3]) and np.isfinite(np.delete(found.ravel(), 3)).all()
    tw = gs.ones(1, 1, 2, 2, dtype=gs.float64, requires_grad=True)
    cotangent = np.zeros((1, 1, 4, 4))
    cotangent[0, 0, 3, 0] = 1
    x[0, 0, 0, 4], x[0, 0, 4, 4] = 0, np.nan
    (F.conv2d(gs.tensor(x[..., :4, :]), tw)[:, :, :, :2]).sum().backward()
    assert np.isfinite(tw.grad.numpy()).all()


@pytest.mark.parametrize(("channels", "size"), [(16, 20), (128, 5)])
def test_results_do_not_depend_on_threads(channels, size):
    x = gs.tensor(RNG.standard_normal((8, channels, size, size)), requires_grad=True)
    w = gs.tensor(RNG.standard_normal((24, channels, 3, 3)), requires_grad=True)
    before = gs.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            gs.set_num_threads(threads)
            y = F.conv2d(x, w, padding=1)
            found.append((y.detach().numpy(), *(g.numpy() for g in gs.autograd.grad((y * y).sum(), [x, w]))))
    finally:
        gs.set_num_threads(before)
    for results in found[1:]:
        for one, other in zip(results, found[0], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_empty_batches(dims):
    x, w = gs.zeros(0, 2, *[4] * dims, requires_grad=True), gs.zeros(3, 2, *[2] * dims, requires_grad=True)
    y = CONV[dims](x, w)
    assert y.shape == (0, 3, *[3] * dims)
    y.sum().backward()
    assert x.grad.shape == x.shape and not w.grad.numpy().any()


def test_shapes_without_data():
    y = F.conv2d(gs.empty(2, 4, 9, 8, device="meta"), gs.empty(6, 2, 3, 3, device="meta"), stride=2, groups=2)
    assert y.is_meta and y.shape == (2, 6, 4, 3)


@pytest.mark.parametrize("groups", [1, 2])
def test_derivatives_of_both_orders(groups):
    x, w, b = (
        gs.tensor(RNG.standard_normal(shape), requires_grad=True)
        for shape in ((2, 4, 5, 4), (4, 4 // groups, 2, 3), (4,))
    )
    function = lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0), 1, groups)  # noqa: E731
    assert gradcheck(function, (x, w, b), check_forward_ad=True)
    assert gradgradcheck(function, (x, w, b))


def test_gradients_of_each_sample():
    x, w = gs.tensor(RNG.standard_normal((5, 2, 6, 6))), gs.tensor(RNG.standard_normal((3, 2, 3, 3)))
    loss = lambda w, x: (F.conv2d(x, w, padding=1) ** 2).sum()  # noqa: E731
    found = gs.func.vmap(gs.func.grad(loss), (None, 0))(w, x)
    for one, sample in zip(found, x, strict=True):
        np.testing.assert_allclose(one.numpy(), gs.func.grad(loss)(w, sample).numpy(), rtol=1e-12)


def test_weights_of_their_own():
    x, w = gs.tensor(RNG.standard_normal((2, 4, 6))), gs.tensor(RNG.standard_normal((3, 6, 2, 3)))
    found = gs.func.vmap(lambda w: F.conv1d(x, w, groups=2))(w)
    for one, weight in zip(found, w, strict=True):
        np.testing.assert_allclose(one.numpy(), F.conv1d(x, weight, groups=2).numpy(), rtol=1e-12)


X, W = gs.zeros(1, 4, 5, 5), gs.zeros(6, 2, 3, 3)
ERRORS = {
    "rank": (lambda: F.conv2d(gs.zeros(5, 5), W), r"Expected 3D \(unbatched\) or 4D \(batched\) input to conv2d"),
    "rank of the weight": (
        lambda: F.conv2d(X, gs.zeros(6, 2, 3)), "input to conv2d, but got|weight has 4 dimensions"
    ),
    "channels": (lambda: F.conv2d(X, W), r"weight of size \[6, 2, 3, 3\], expected input\[1, 4, 5, 5\]"),
    "groups": (
        lambda: F.conv2d(X, gs.zeros(5, 2, 3, 3), groups=2), "expected weight to be divisible by 2 at dimension 0"
    ),
    "no channels to make": (
        lambda: F.conv2d(X, gs.zeros(0, 4, 3, 3)), "Given groups=1, expected weight to be at least 1 at dimension 0"
    ),
    "no channels to make an image of": (
        lambda: F.conv_transpose2d(X, gs.zeros(4, 0, 3, 3)), "non-empty weight tensor expected"
    ),
    "no groups": (lambda: F.conv2d(X, W, groups=0), "non-positive groups is not supported"),
    "stride": (lambda: F.conv2d(X, W, stride=0, groups=2), "non-positive stride is not supported"),
    "dilation": (lambda: F.conv2d(X, W, dilation=0, groups=2), "dilation should be greater than zero"),
    "padding": (lambda: F.conv2d(X, W, padding=-1, groups=2), "negative padding is not supported"),
    "window": (
        lambda: F.conv2d(X, gs.zeros(6, 2, 7, 3), groups=2), "Kernel size can't be greater than actual input size"
    ),
    "same": (
        lambda: F.conv2d(X, W, stride=2, padding="same", groups=2), "padding='same' is not supported for strided"
    ),
    "bias": (lambda: F.conv2d(X, W, gs.zeros(5), groups=2), "expected bias to be 1-dimensional with 6 elements"),
    "dtype": (lambda: F.conv2d(X.double(), W, groups=2), "of a convolution have one dtype"),
    "bool": (lambda: F.conv2d(X.bool(), W.bool(), groups=2), "not implemented for bool"),
    "dtype of integers": (lambda: F.conv2d(X.long(), W.int(), groups=2), "of a convolution have one dtype"),
    "transposed channels": (lambda: F.conv_transpose2d(X, W), "Given transposed=True"),
    "output padding": (
        lambda: F.conv_transpose2d(X, gs.zeros(4, 2, 3, 3), output_padding=1), "output padding must be smaller than"
    ),
    "transposed bias": (
        lambda: F.conv_transpose2d(X, gs.zeros(4, 2, 3, 3), gs.zeros(3)), "expected bias to be 1-dimensional with 2"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "match"), ERRORS.values(), ids=ERRORS)
def test_errors(call, match):
    with pytest.raises(RuntimeError, match=match):
        call()


def test_a_word_that_is_no_padding():
    with pytest.raises(ValueError, match="'same' or 'valid', not 'full'"):
        F.conv2d(X, W, padding="full", groups=2)


def test_an_infinite_weight_stays_in_its_row():
    """Of one row the stride is never taken, and yet the rows between are not those that the first weight reaches."""
    x, weight = gs.ones(1, 1, 1, 3), gs.tensor([[[[np.inf], [1.0]]]])
    assert F.conv_transpose2d(x, weight, stride=(2, 1)).tolist() == [[[[np.inf] * 3, [1.0] * 3]]]
    volume, weight = gs.ones(1, 1, 1, 1, 3), gs.tensor([[[[[np.inf]], [[1.0]]]]])
    assert F.conv_transpose3d(volume, weight, stride=(2, 1, 1)).tolist() == [[[[[np.inf] * 3], [[1.0] * 3]]]]


@pytest.mark.parametrize("channels", [2, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_that_are_nan_meet_no_zeros_around_an_output(channels, dtype):
    """Whichever way is chosen by the sizes: only where an element of the output arrives, there is a NaN."""
    x, weight = np.ones((1, channels, 5), dtype), np.ones((channels, 2, 3), dtype)
    weight[0, 0, 2] = np.nan
    found = F.conv_transpose1d(gs.tensor(x), gs.tensor(weight)).numpy()
    assert np.isnan(found).tolist() == [[[False, False, True, True, True, True, True], [False] * 7]]
    assert found[0, 0, :2].tolist() == [channels, 2 * channels]
