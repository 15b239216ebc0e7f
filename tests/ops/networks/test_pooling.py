"""Pooling and its inverses against windows gone over one by one, and their gradients against differences."""

import itertools
import math

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck, gradgradcheck
from gradsmith.generated.pooling import window_means

RNG = np.random.default_rng(3)
SHAPES = {1: (2, 3, 11), 2: (2, 3, 9, 8), 3: (2, 2, 6, 7, 5)}
SETTINGS = list(itertools.product((2, 3), (None, 1, 2, 3), (0, 1), (1, 2), (False, True)))


def distinct(*shape):
    """Numbers of which no two are equal, nor near."""
    return RNG.permutation(math.prod(shape)).reshape(shape) / 7 - 3


def windows_of(size, kernel, stride, padding, dilation, ceil_mode):
    """The places that each window sees along a dimension, outside of it too."""
    stride = stride or kernel
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-reach // stride) if ceil_mode else reach // stride) + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return [np.arange(kernel) * dilation + i * stride - padding for i in range(count)]


def pooled(x, reduce, *settings):
    """`reduce(elements, places outside)` of each window, with the sizes (*x.shape[:2], ...)."""
    sizes = x.shape[2:]
    along = [windows_of(n, *settings) for n in sizes]
    found = np.zeros((*x.shape[:2], *map(len, along)))
    for place in np.ndindex(*found.shape[2:]):
        seen = [windows[i] for windows, i in zip(along, place)]
        inside = [w[(w >= 0) & (w < n)] for w, n in zip(seen, sizes)]
        elements = x[(slice(None), slice(None), *np.ix_(*inside))].reshape(*x.shape[:2], -1)
        found[(..., *place)] = reduce(elements, seen)
    return found


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_greatest_elements_of_windows(dims):
    x = distinct(*SHAPES[dims])
    pool = getattr(F, f"max_pool{dims}d")
    for kernel, stride, padding, dilation, ceil_mode in SETTINGS:
        expected = pooled(x, lambda found, _: found.max(-1), kernel, stride, padding, dilation, ceil_mode)
        t = gs.tensor(x, requires_grad=True)
        found, places = pool(t, kernel, stride, padding, dilation, ceil_mode, return_indices=True)
        np.testing.assert_array_equal(found.detach().numpy(), expected)
        flat = np.take_along_axis(x.reshape(*x.shape[:2], -1), places.numpy().reshape(*x.shape[:2], -1), -1)
        np.testing.assert_array_equal(flat.reshape(expected.shape), expected)
        cotangent = RNG.standard_normal(expected.shape)
        (found * gs.tensor(cotangent)).sum().backward()
        gradient = np.zeros(x.shape).reshape(x.shape[0] * x.shape[1], -1)
        numbers = places.numpy().reshape(len(gradient), -1)
        for row, at, shares in zip(gradient, numbers, cotangent.reshape(len(gradient), -1)):
            np.add.at(row, at, shares)
        np.testing.assert_allclose(t.grad.numpy(), gradient.reshape(x.shape))


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("with_padding", [True, False])
def test_means_of_integers_are_cut_off(dims, with_padding):
    """Towards zero, as C divides them; PyTorch knows those of int64 alone."""
    x = RNG.integers(-20, 20, SHAPES[dims])
    for kernel, stride, padding, _, ceil_mode in SETTINGS:

        def mean(found, seen, padding=padding):
            counted = [w[w < n + padding] if with_padding else w[(w >= 0) & (w < n)] for w, n in zip(seen, x.shape[2:])]
            return np.trunc(found.sum(-1) / math.prod(map(len, counted)))

        expected = pooled(x, mean, kernel, stride, padding, 1, ceil_mode)
        found = getattr(F, f"avg_pool{dims}d")(gs.tensor(x), kernel, stride, padding, ceil_mode, with_padding)
        assert found.dtype == gs.int64
        np.testing.assert_array_equal(found.numpy(), expected)


def test_means_of_large_integers_and_of_other_divisors():
    x = gs.tensor([[2**60 + 1, 2**60 + 3, -7, 2]])
    assert F.avg_pool1d(x, 2).tolist() == [[2**60 + 2, -2]]
    found = F.avg_pool2d(gs.tensor([[[-1, -2, 3], [4, -8, -7], [1, 1, 1]]]), 2, divisor_override=-2)
    assert found.tolist() == [[[3]]]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("with_padding", [True, False])
def test_means_of_windows(dims, with_padding):
    x = RNG.standard_normal(SHAPES[dims])
    for kernel, stride, padding, _, ceil_mode in SETTINGS:

        def mean(found, seen, padding=padding):
            counted = [w[w < n + padding] if with_padding else w[(w >= 0) & (w < n)] for w, n in zip(seen, x.shape[2:])]
            return found.sum(-1) / math.prod(map(len, counted))

        expected = pooled(x, mean, kernel, stride, padding, 1, ceil_mode)
        pool = getattr(F, f"avg_pool{dims}d")
        found = pool(gs.tensor(x), kernel, stride, padding, ceil_mode, with_padding)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-14)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("output", [1, 2, 3, 5])
def test_windows_that_share_an_image_out(dims, output):
    x = distinct(*SHAPES[dims])
    means, maxima = (np.zeros((*x.shape[:2], *[output] * dims)) for _ in range(2))
    for place in np.ndindex(*means.shape[2:]):
        parts = [(i * n / output, (i + 1) * n / output) for i, n in zip(place, x.shape[2:])]
        window = [slice(math.floor(first), math.ceil(end)) for first, end in parts]
        seen = x[(..., *window)].reshape(*x.shape[:2], -1)
        means[(..., *place)], maxima[(..., *place)] = seen.mean(-1), seen.max(-1)
    t = gs.tensor(x)
    np.testing.assert_allclose(getattr(F, f"adaptive_avg_pool{dims}d")(t, output).numpy(), means, atol=1e-13)
    found, places = getattr(F, f"adaptive_max_pool{dims}d")(t, output, return_indices=True)
    np.testing.assert_array_equal(found.numpy(), maxima)
    assert places.dtype == gs.int64


@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (7, 7), (33, 40)], ids=str)
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_one_window_that_is_the_whole_image(dtype, sizes):
    x = gs.randn(2, 3, *sizes, dtype=dtype, requires_grad=True)
    exact = x.detach().numpy().astype(np.float64).mean((2, 3), keepdims=True)
    tolerance = 1e-6 if dtype == gs.float32 else 1e-14
    for means in (F.adaptive_avg_pool2d(x, 1), F.avg_pool2d(x, sizes)):
        np.testing.assert_allclose(means.detach().numpy(), exact, rtol=0, atol=tolerance)
        (grad,) = gs.autograd.grad((means * means).sum(), x)
        expected = np.broadcast_to(2 * exact / math.prod(sizes), x.shape)
        np.testing.assert_allclose(grad.numpy(), expected, rtol=0, atol=tolerance)
    thirds = F.avg_pool2d(x, sizes, divisor_override=3).detach().numpy()
    np.testing.assert_allclose(thirds, exact * math.prod(sizes) / 3, rtol=0, atol=tolerance * math.prod(sizes))


def test_sizes_that_are_kept():
    x = gs.tensor(RNG.standard_normal((2, 3, 9, 8)))
    assert F.adaptive_avg_pool2d(x, (None, 3)).shape == (2, 3, 9, 3)
    assert F.adaptive_max_pool2d(x, (4, None)).shape == (2, 3, 4, 8)
    assert gs.adaptive_avg_pool1d(x[0], 2).shape == (3, 9, 2)


@pytest.mark.parametrize("name", ["max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d"])
def test_derivatives(name):
    dims = int(name[-2])
    x = gs.tensor(distinct(*SHAPES[dims][:2], *[5, 4, 3][:dims]), requires_grad=True)
    settings = {"kernel_size": 2, "stride": 1, "padding": 1}
    assert gradcheck(lambda x: getattr(F, name)(x, **settings), (x,), check_forward_ad=True)
    assert gradgradcheck(lambda x: getattr(F, name)(x, **settings) ** 2, (x,))


def test_of_equal_elements_the_first_and_of_nan_the_last():
    values, places = F.max_pool1d(gs.tensor([[1.0, 1.0, 0.0, 1.0]]), 2, 1, return_indices=True)
    assert places.tolist() == [[0, 1, 3]] and values.tolist() == [[1, 1, 1]]
    values, places = F.max_pool1d(gs.tensor([[1.0, math.nan, 2.0, math.nan, 3.0, 0.0]]), 3, 1, return_indices=True)
    assert places.tolist() == [[1, 3, 3, 3]] and np.isnan(values.numpy()).all()
    values, places = F.max_pool2d(gs.full((1, 4, 4), 2.0), 3, 1, return_indices=True)
    assert places.tolist() == [[[0, 1], [4, 5]]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8"])
def test_dtypes_of_maxima(dtype):
    x = RNG.integers(0, 100, (2, 6, 7)).astype(dtype)
    found = F.max_pool2d(gs.tensor(x), 2)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.numpy(), x[:, :6, :6].reshape(2, 3, 2, 3, 2).max((2, 4)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes_of_means(dtype):
    x = RNG.standard_normal((2, 6, 7)).astype(dtype)
    if dtype.startswith("complex"):
        x = x + 1j * x[:, ::-1]
    found = F.avg_pool2d(gs.tensor(x), 2)
    assert found.dtype == dtype
    tolerance = {"float16": 1e-3, "float32": 1e-6, "complex64": 1e-6}.get(dtype, 1e-14)
    np.testing.assert_allclose(found.numpy(), x[:, :6, :6].reshape(2, 3, 2, 3, 2).mean((2, 4)), atol=tolerance)


def test_strided_empty_and_meta_inputs():
    x = RNG.standard_normal((4, 6, 3)).transpose(2, 0, 1)
    np.testing.assert_array_equal(F.max_pool2d(gs.tensor(x), 2).numpy(), x.reshape(3, 2, 2, 3, 2).max((2, 4)))
    assert F.max_pool2d(gs.zeros(0, 3, 4, 4), 2).shape == (0, 3, 2, 2)
    assert F.avg_pool2d(gs.zeros(0, 3, 4, 4), 2).shape == (0, 3, 2, 2)
    found, places = F.max_pool2d(gs.empty(2, 3, 9, 8, device="meta"), 3, 2, 1, return_indices=True)
    assert found.is_meta and places.is_meta and found.shape == places.shape == (2, 3, 5, 4)
    assert F.adaptive_avg_pool2d(gs.empty(2, 3, 9, 8, device="meta"), 2).shape == (2, 3, 2, 2)


def test_batches():
    x = gs.tensor(distinct(5, 2, 3, 6, 4))
    for pool in (lambda x: F.max_pool2d(x, 2), lambda x: F.avg_pool2d(x, 3, 1, 1), lambda x: F.lp_pool2d(x, 2, 2)):
        np.testing.assert_array_equal(gs.vmap(pool)(x).numpy(), np.stack([pool(one).numpy() for one in x]))


def test_what_is_refused():
    x = gs.zeros(2, 3, 4, 4)
    for call, message in (
        (lambda: F.max_pool2d(gs.zeros(4, 4), 2), r"3D \(unbatched\) or 4D \(batched\) input to max_pool2d"),
        (lambda: F.max_pool2d(x, 2, 2, 2), "pad should be at most half of effective kernel size"),
        (lambda: F.max_pool2d(x, 2, 2, -1), "pad must be non-negative"),
        (lambda: F.max_pool2d(x, 5), "Output size is too small"),
        (lambda: F.max_pool2d(x, 2, 0), "stride should be 2 numbers greater than zero"),
        (lambda: F.max_pool2d(x, 0), "kernel_size should be 2 numbers greater than zero"),
        (lambda: F.max_pool2d(x, 2, dilation=0), "dilation should be 2 numbers greater than zero"),
        (lambda: F.max_pool1d(gs.zeros(1, 1), 2, 1, 2, 3, True), "sees nothing of a dimension of size 1"),
        (lambda: F.avg_pool2d(x, 2, divisor_override=0), "divisor must be not zero"),
        (lambda: F.avg_pool2d(x.int(), 2), "not implemented for int32"),
        (lambda: F.adaptive_avg_pool2d(x.long(), 2), "not implemented for int64"),
        (lambda: F.max_pool2d(x.bool(), 2), "not implemented for bool"),
        (lambda: F.adaptive_avg_pool2d(x, -1), "greater than or equal to 0"),
        (lambda: F.adaptive_avg_pool2d(x, (1, 2, 3)), "expected output_size to be an int or 2 of them"),
        (lambda: F.adaptive_avg_pool2d(gs.zeros(2, 3, 0, 4), 2), "non-zero size"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()
    with pytest.raises(TypeError, match="'output_size' must be int or None"):
        F.adaptive_avg_pool2d(x, "ab")


# ---- norms


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("p", [1, 2, 4, math.inf])
def test_norms_of_windows(dims, p):
    x = np.abs(RNG.standard_normal(SHAPES[dims]))
    found = getattr(F, f"lp_pool{dims}d")(gs.tensor(x), p, 2, 1)
    norms = pooled(x, lambda seen, _: np.linalg.norm(seen, p, -1), 2, 1, 0, 1, False)
    np.testing.assert_allclose(found.numpy(), norms, rtol=1e-12)


def test_norm_of_zeros_has_a_gradient():
    x = gs.tensor([[0.0, 0.0, 3.0, 4.0]], requires_grad=True)
    y = F.lp_pool1d(x, 2, 2)
    y.sum().backward()
    assert y.tolist() == [[0.0, 5.0]]
    np.testing.assert_allclose(x.grad.numpy(), [[0, 0, 0.6, 0.8]])


# ---- fractional windows


@pytest.mark.parametrize("dims", [2, 3])
def test_windows_that_are_drawn(dims):
    x = distinct(*SHAPES[dims])
    t = gs.tensor(x, requires_grad=True)
    pool = getattr(F, f"fractional_max_pool{dims}d")
    found, places = pool(t, 2, output_size=3, return_indices=True)
    assert found.shape == (*x.shape[:2], *[3] * dims)
    flat = x.reshape(*x.shape[:2], -1)
    np.testing.assert_array_equal(
        found.detach().numpy().reshape(*x.shape[:2], -1),
        np.take_along_axis(flat, places.numpy().reshape(*x.shape[:2], -1), -1),
    )
    found.sum().backward()
    assert t.grad.sum().item() == found.numel()
    # The last windows end with the image, so its last element is seen by the last of them.
    last = x[(..., *[slice(n - 2, n) for n in x.shape[2:]])].reshape(*x.shape[:2], -1).max(-1)
    np.testing.assert_array_equal(found.detach().numpy()[(..., *[-1] * dims)], last)
    gs.manual_seed(4)
    one = pool(gs.tensor(x), 2, output_ratio=(0.6,) * dims)
    gs.manual_seed(4)
    np.testing.assert_array_equal(one.numpy(), pool(gs.tensor(x), 2, output_ratio=0.6).numpy())


def test_starts_of_drawn_windows():
    """With the sample 0.5 and a step of 1.5: 0, int(2.25) - 0, and the last one at the end."""
    x = gs.arange(25.0).reshape(1, 5, 5)
    found = F.fractional_max_pool2d(x, 2, output_size=3, _random_samples=gs.full((1, 1, 2), 0.5))
    assert found.tolist() == [[[6, 8, 9], [16, 18, 19], [21, 23, 24]]]


@pytest.mark.parametrize("dims", [2, 3])
def test_drawn_windows_of_batches_and_without_data(dims):
    pool = getattr(F, f"fractional_max_pool{dims}d")
    x, samples = gs.from_numpy(distinct(4, 2, 3, *[6] * dims)), gs.rand(4, 2, 3, dims)
    together = gs.vmap(lambda x, s: pool(x, 2, output_size=3, return_indices=True, _random_samples=s))(x, samples)
    for i in range(4):
        one = pool(x[i], 2, output_size=3, return_indices=True, _random_samples=samples[i])
        assert all(np.array_equal(a[i].numpy(), b.numpy()) for a, b in zip(together, one))
    drawn = gs.vmap(lambda x: pool(x, 2, output_size=3), randomness="different")(x)
    assert drawn.shape == (4, 2, 3, *[3] * dims) and set(drawn.numpy().ravel()) <= set(x.numpy().ravel())
    found, places = pool(x[0].to("meta"), 2, output_ratio=0.5, return_indices=True)
    assert found.is_meta and places.is_meta and found.shape == places.shape == (2, 3, *[3] * dims)


def test_samples_of_more_images_are_left_over():
    x, samples = gs.from_numpy(distinct(2, 3, 6, 6)), gs.rand(4, 3, 2)
    for images, used in ((x, samples[:2]), (x[0], samples[:1])):
        found = F.fractional_max_pool2d(images, 2, output_size=3, _random_samples=samples)
        assert found.equal(F.fractional_max_pool2d(images, 2, output_size=3, _random_samples=used))


def test_fractions_that_are_refused():
    x = gs.zeros(1, 5, 5)
    for settings in ({}, {"output_size": 2, "output_ratio": 0.5}, {"output_ratio": 1.5}):
        with pytest.raises(ValueError, match="output_"):
            F.fractional_max_pool2d(x, 2, **settings)
    with pytest.raises(RuntimeError, match="do not fit an input"):
        F.fractional_max_pool2d(x, 3, output_size=5)
    for name, wrong in (
        ("kernel_size", ()),
        ("kernel_size", (2,)),
        ("output_size", (3,)),
        ("output_ratio", (0.5,) * 3),
    ):
        settings = {"kernel_size": 2, **({"output_size": 3} if name == "kernel_size" else {}), name: wrong}
        with pytest.raises(RuntimeError, match=rf"{name} must either be a single number or a tuple of 2, but got \("):
            F.fractional_max_pool2d(x, **settings)
    with pytest.raises(RuntimeError, match="expected 2 samples for each of 1 planes"):
        F.fractional_max_pool2d(x, 2, output_size=2, _random_samples=gs.zeros(1, 2, 2))


# ---- back to images


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_elements_go_back_to_their_places(dims):
    x = distinct(*SHAPES[dims])
    pooled_, places = getattr(F, f"max_pool{dims}d")(gs.tensor(x), 2, return_indices=True)
    unpool = getattr(F, f"max_unpool{dims}d")
    values = gs.tensor(pooled_.numpy(), requires_grad=True)
    found = unpool(values, places, 2, output_size=list(x.shape))
    expected = np.where(np.isin(x, pooled_.numpy()), x, 0)
    np.testing.assert_array_equal(found.detach().numpy(), expected)
    assert unpool(pooled_[0], places[0], 2, output_size=x.shape[2:]).shape == x.shape[1:]
    assert gradcheck(lambda v: unpool(v, places, 2, output_size=list(x.shape)), (values,))
    with pytest.raises(ValueError, match="output_size"):
        unpool(values, places, 2, output_size=[99] * dims)
    with pytest.raises(RuntimeError, match="outside of an output"):
        unpool(values, places + 10**6, 2)
    with pytest.raises(RuntimeError, match="int64 indices of its shape"):
        unpool(values, places[:1], 2)


def test_empty_batches_go_back():
    values, indices = F.max_pool2d(gs.zeros(0, 2, 4, 4), 2, return_indices=True)
    assert F.max_unpool2d(values, indices, 2).shape == (0, 2, 4, 4)
    assert F.fractional_max_pool2d(gs.zeros(0, 2, 5, 5), 2, output_size=3).shape == (0, 2, 3, 3)


def test_sizes_of_shared_windows():
    x = gs.arange(6.0).reshape(1, 1, 6)
    assert F.adaptive_avg_pool1d(x, np.int64(2)).tolist() == [[[1, 4]]]
    with pytest.raises(TypeError, match="output_size"):
        F.adaptive_max_pool2d(gs.zeros(1, 3, 3), 2.5)
    for size in (2**62, 10**30):
        with pytest.raises(RuntimeError, match="too large"):
            F.adaptive_avg_pool1d(x, size)


def test_long_signals():
    x = np.random.default_rng(5).standard_normal(100_000)
    found = F.avg_pool1d(gs.tensor(x.reshape(1, 1, -1)), 3, 2, 1).numpy().reshape(-1)
    padded = np.pad(x, 1)
    expected = (padded[:-2] + padded[1:-1] + padded[2:])[::2] / 3
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    shared = F.adaptive_max_pool1d(gs.tensor(x.reshape(1, 1, -1)), 10_000)
    np.testing.assert_array_equal(shared.numpy().reshape(-1), x.reshape(-1, 10).max(1))


def test_errors_have_the_name_that_was_called():
    with pytest.raises(TypeError, match=r"^max_pool2d\(\)"):
        F.max_pool2d(gs.zeros(1, 4, 4), "two")


def test_windows_have_divisors_along_each_dimension():
    spans = [np.array([[0, 2]])] * 3
    for divisors in ([], [np.ones(1, np.intp)] * 2):
        with pytest.raises(RuntimeError, match="windows have divisors along 3 dimensions"):
            window_means(gs.ones(1, 2, 2, 2), spans, divisors)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("name", ["avg_pool", "max_pool"])
def test_images_without_channels_are_refused(name, dims):
    pool, sizes = getattr(F, f"{name}{dims}d"), (4,) * dims
    for shape in ((0, *sizes), (2, 0, *sizes), (2, 3, 0, *sizes[1:])):
        with pytest.raises(RuntimeError, match="Expected an image of"):
            pool(gs.ones(shape), 1)
    assert pool(gs.ones(0, 3, *sizes), 2).shape == (0, 3, *[2] * dims)


def greatest_by_scan(window):
    """The place in a vector: of equal elements the first, of NaN the last."""
    missing = np.flatnonzero(window != window)
    return missing[-1] if len(missing) else int(np.argmax(window))


def scattered(shape, dtype, rng):
    """Few values that repeat themselves, with both zeros, infinities and, in one row of four, NaN."""
    x = rng.integers(-2, 3, shape).astype(dtype)
    if x.dtype.kind == "f":
        x[rng.random(shape) < 0.3] = -0.0
        x[rng.random(shape) < 0.05] = -np.inf
        x[..., ::4, :][rng.random(x[..., ::4, :].shape) < 0.1] = np.nan
    return x


LONG_ROWS = [
    # Windows abreast, with rims that padding cuts off; strides that have loads of their own, and others.
    (9, 150, (1, 2), (1, 2), (0, 1), (1, 1)), (9, 150, (1, 5), (1, 1), (0, 2), (1, 1)),
    (9, 150, (3, 3), (2, 3), (1, 1), (1, 1)), (9, 150, (2, 4), (1, 4), (1, 2), (2, 3)),
    (9, 150, (1, 7), (1, 5), (0, 3), (1, 1)), (9, 150, (2, 3), (2, 2), (0, 0), (1, 1)),
    # Long windows, whole rows, and rows that follow on each other.
    (9, 150, (1, 70), (1, 80), (0, 0), (1, 1)), (9, 150, (1, 40), (1, 37), (0, 20), (1, 1)),
    (9, 40, (1, 40), (1, 1), (0, 0), (1, 1)), (9, 40, (3, 40), (2, 1), (1, 0), (1, 1)),
    (9, 40, (9, 40), (1, 1), (0, 0), (1, 1)), (9, 40, (3, 40), (1, 1), (1, 0), (2, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("height, width, kernel, stride, padding, dilation", LONG_ROWS)
def test_places_in_long_rows(height, width, kernel, stride, padding, dilation, dtype):
    x = scattered((3, 4, height, width), dtype, np.random.default_rng(11))
    found, places = F.max_pool2d(gs.tensor(x), kernel, stride, padding, dilation, return_indices=True)
    along = [windows_of(*of, False) for of in zip((height, width), kernel, stride, padding, dilation)]
    numbers = np.arange(height * width).reshape(height, width)
    for i, rows in enumerate(along[0]):
        for j, columns in enumerate(along[1]):
            inside = np.ix_(rows[(rows >= 0) & (rows < height)], columns[(columns >= 0) & (columns < width)])
            for image in np.ndindex(3, 4):
                best = greatest_by_scan(x[image][inside].ravel())
                assert places[(*image, i, j)].item() == numbers[inside].ravel()[best]
    taken = np.take_along_axis(x.reshape(3, 4, -1), places.numpy().reshape(3, 4, -1), 2).reshape(found.shape)
    assert found.numpy().tobytes() == taken.tobytes()
