"""Images of other sizes, and images at the points of grids, against values by hand and against each other."""

import math

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck, gradgradcheck
from gradsmith.generated.interpolation import resampled, sampled, spread_samples, weigh_samples

RNG = np.random.default_rng(11)
LINES = {1: "linear", 2: "bilinear", 3: "trilinear"}
SHAPES = {1: (2, 3, 7), 2: (2, 3, 5, 6), 3: (1, 2, 4, 5, 3)}


def row(*values):
    return gs.tensor([[[float(v) for v in values]]])


# ---- interpolate


def test_nearest_elements():
    x = row(10, 20, 30)
    assert F.interpolate(x, 6).tolist() == [[[10, 10, 20, 20, 30, 30]]]
    assert F.interpolate(x, 5).tolist() == [[[10, 10, 20, 20, 30]]]
    assert F.interpolate(x, 2).tolist() == [[[10, 20]]]
    assert F.interpolate(x, 2, mode="nearest-exact").tolist() == [[[10, 30]]]
    assert F.interpolate(x, scale_factor=0.7).tolist() == [[[10, 20]]]
    assert F.interpolate(gs.arange(3).reshape(1, 1, 3), 6).tolist() == [[[0, 0, 1, 1, 2, 2]]]


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int64", "bool"])
def test_nearest_elements_are_copied_to_the_bit(mode, dtype):
    values = np.array([-0.0, np.inf, 0.0, np.nan, -1.0 / 3, 1e-40, 7.0])
    x = (np.arange(7) % 4 - 1 if dtype in ("int64", "bool") else values).astype(dtype)
    line = np.clip(np.floor((np.arange(20) + (mode != "nearest") / 2) * np.float32(7 / 20)), 0, 6).astype(int)
    found = F.interpolate(gs.tensor(x).reshape(1, 1, 7), 20, mode=mode)
    assert found.numpy().tobytes() == x[line].tobytes()
    image = F.interpolate(gs.tensor(x).reshape(1, 1, 7, 1), (20, 3), mode=mode)
    assert image.numpy().tobytes() == np.repeat(x[line], 3).tobytes()


def test_lines_between_elements():
    x = row(0, 4)
    assert F.interpolate(x, 4, mode="linear").tolist() == [[[0, 1, 3, 4]]]
    assert F.interpolate(x, 5, mode="linear", align_corners=True).tolist() == [[[0, 1, 2, 3, 4]]]
    assert F.interpolate(x, 1, mode="linear", align_corners=True).tolist() == [[[0]]]
    assert F.interpolate(x, 1, mode="linear").tolist() == [[[2]]]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("align_corners", [False, True])
def test_lines_are_numpys(dims, align_corners):
    """NumPy's `interp` along one dimension after the other, with its constant ends."""
    x = RNG.standard_normal(SHAPES[dims])
    sizes = (9, 4, 5)[:dims]
    expected = x
    for axis, m in enumerate(sizes, 2):
        n = x.shape[axis]
        at = np.arange(m) * (n - 1) / (m - 1) if align_corners else (np.arange(m) + 0.5) * n / m - 0.5
        expected = np.apply_along_axis(lambda y, at=at, n=n: np.interp(at, np.arange(n), y), axis, expected)
    found = F.interpolate(gs.tensor(x), sizes, mode=LINES[dims], align_corners=align_corners)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-13)


@pytest.mark.parametrize("align_corners", [False, True])
def test_cubic_polynomials(align_corners):
    """Keys's kernel, written out for each place."""

    def kernel(x, a=-0.75):
        x = abs(x)
        if x < 1:
            return (a + 2) * x**3 - (a + 3) * x**2 + 1
        return a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0

    x, n, m = RNG.standard_normal(5), 5, 8
    expected = np.zeros(m)
    for i in range(m):
        at = i * (n - 1) / (m - 1) if align_corners else (i + 0.5) * n / m - 0.5
        for k in range(math.floor(at) - 1, math.floor(at) + 3):
            expected[i] += kernel(at - k) * x[min(max(k, 0), n - 1)]
    image = gs.tensor(np.broadcast_to(x, (1, 1, 3, 5)).copy())
    found = F.interpolate(image, (3, m), mode="bicubic", align_corners=align_corners)
    np.testing.assert_allclose(found.numpy()[0, 0], np.broadcast_to(expected, (3, m)), atol=1e-12)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_smaller_images_without_aliases(mode):
    """A pattern of ones and zeros becomes grey, and what is constant stays so."""
    board = gs.tensor(np.indices((16, 16)).sum(0) % 2 * 1.0).reshape(1, 1, 16, 16)
    found = F.interpolate(board, 4, mode=mode, antialias=True).numpy()
    np.testing.assert_allclose(found, 0.5, atol=0.02)
    flat = F.interpolate(gs.full((1, 1, 7, 9), 3.0), (3, 4), mode=mode, antialias=True)
    np.testing.assert_allclose(flat.numpy(), 3.0, rtol=1e-6)
    line = F.interpolate(row(0, 1, 2, 3).reshape(1, 1, 1, 4), (1, 2), mode="bilinear", antialias=True)
    np.testing.assert_allclose(line.numpy().reshape(-1), [5 / 7, 16 / 7], rtol=1e-6)


def covering_weights(mode, size, length):
    """A kernel as wide as a place of the result, or as an element where those are wider, at the middles of elements."""
    width = max(size / length, 1)
    x = np.abs(np.arange(size) + 0.5 - (np.arange(length)[:, None] + 0.5) * size / length) / width
    if mode == "bilinear":
        weights = np.maximum(1 - x, 0)
    else:
        weights = np.where(x < 1, 1.5 * x**3 - 2.5 * x**2 + 1, np.where(x < 2, -0.5 * (x**3 - 5 * x**2 + 8 * x - 4), 0))
    return weights / weights.sum(1, keepdims=True)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("channels", [1, 3, 33])
@pytest.mark.parametrize("sizes", [(5, 7), (90, 40), (40, 90), (31, 2), (37, 61)])
def test_antialias_is_two_products_with_matrices(mode, dtype, channels, sizes):
    """Forward, and back by the transposed matrices; channels one after the other or side by side."""
    x = RNG.standard_normal((2, channels, 37, 41)).astype(dtype)
    down, across = (covering_weights(mode, n, m) for n, m in zip(x.shape[2:], sizes))
    if sizes[0] == 37:
        down = np.eye(37)
    grad = RNG.standard_normal((2, channels, *sizes)).astype(dtype)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    for order in (gs.contiguous_format, gs.channels_last):
        image = gs.tensor(x).contiguous(memory_format=order).requires_grad_()
        found = F.interpolate(image, sizes, mode=mode, antialias=True)
        back = gs.autograd.grad(found, image, gs.tensor(grad).contiguous(memory_format=order))[0]
        assert found.dtype == back.dtype == x.dtype
        assert found.is_contiguous(memory_format=order) and back.is_contiguous(memory_format=order)
        np.testing.assert_allclose(found.detach().numpy(), down @ x @ across.T, **tolerance)
        np.testing.assert_allclose(back.numpy(), down.T @ grad @ across, **tolerance)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_derivatives_with_antialias(mode):
    def f(x):
        return F.interpolate(x, (3, 8), mode=mode, antialias=True)

    x = gs.tensor(RNG.standard_normal((2, 1, 7, 5)), requires_grad=True)
    assert gradcheck(f, (x,), check_forward_ad=True) and gradgradcheck(f, (x,))
    np.testing.assert_array_equal(gs.vmap(f)(gs.stack([x, 2 * x])).detach()[1].numpy(), 2 * f(x).detach().numpy())
    for dtype, tolerance in ((gs.float16, 1e-2), (gs.complex64, 1e-5), (gs.complex128, 1e-12)):
        found = f(x.detach().to(dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(found.numpy(), f(x).detach().numpy(), rtol=tolerance, atol=tolerance)
    meta = f(x.detach().to(device="meta"))
    assert meta.shape == (2, 1, 3, 8) and str(meta.device) == "meta"


@pytest.mark.parametrize("mode", ["linear", "bilinear", "bicubic", "trilinear"])
def test_sparse_jacobians_of_resizing(mode):
    """A place depends on the elements that it sees, and no others are looked at."""
    x = gs.tensor(RNG.standard_normal({"linear": (2, 1, 5), "trilinear": (1, 2, 3, 4, 5)}.get(mode, (2, 1, 4, 5))))

    def f(x):
        return F.interpolate(x, scale_factor=2, mode=mode)

    found = gs.func.sparse_jacobian(f)(x).toarray()
    dense = gs.func.jacrev(f)(x).numpy().reshape(found.shape)
    np.testing.assert_allclose(found, dense, atol=1e-15)


def test_resized_images_do_not_depend_on_threads():
    x = gs.tensor(RNG.standard_normal((3, 5, 90, 70)), requires_grad=True)
    before, found = gs.get_num_threads(), []
    try:
        for threads in (1, 3):
            gs.set_num_threads(threads)
            pairs = [F.interpolate(x, size, mode="bicubic", antialias=True) for size in ((200, 31), (31, 200))]
            found.append([*[y.detach() for y in pairs], *[gs.autograd.grad((y * y).sum(), x)[0] for y in pairs]])
    finally:
        gs.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_taps_that_are_refused():
    image, taps = gs.ones(2, 3), (3, ((0, 2),), ((1.0, 1.0),))
    for given, message in (
        ((4, *taps[1:]), "do not go with 1 spans and 3 elements"),
        ((3, ((0, 4),), ((1.0,) * 4,)), "weights for elements 0 to 4"),
        ((3, ((2, 1),), ((1.0, 1.0),)), "weights for elements 2 to 1"),
        ((3, ((0, 3),), ((1.0, 1.0),)), "2 weights for elements 0 to 3"),
        ((3, ((0, 2), (0, 2)), ((1.0, 1.0),)), "do not go with 2 spans"),
    ):
        with pytest.raises(RuntimeError, match=message):
            resampled(image, (None, given), (None, None))
    with pytest.raises(RuntimeError, match="2 dimensions"):
        resampled(image[0], (None, taps), (None, None))
    with pytest.raises(RuntimeError, match="not implemented for int64"):
        resampled(image.long(), (None, taps), (None, None))


def test_area_is_the_mean_of_what_is_covered():
    x = RNG.standard_normal((2, 3, 6, 4))
    found = F.interpolate(gs.tensor(x), (3, 2), mode="area")
    np.testing.assert_allclose(found.numpy(), x.reshape(2, 3, 3, 2, 2, 2).mean((3, 5)))


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "area", "bilinear", "bicubic"])
def test_derivatives_and_dtypes(mode):
    x = gs.tensor(RNG.standard_normal((1, 2, 4, 3)), requires_grad=True)
    assert gradcheck(lambda x: F.interpolate(x, (3, 5), mode=mode), (x,), check_forward_ad=True)
    for dtype in (gs.float32, gs.complex64, gs.complex128):
        assert F.interpolate(x.detach().to(dtype), 5, mode=mode).dtype == dtype
    assert gs.vmap(lambda x: F.interpolate(x, 5, mode=mode))(x[None]).shape == (1, 1, 2, 5, 5)


def test_what_is_refused():
    x = gs.zeros(1, 2, 4, 3)
    for settings, error, message in (
        ({}, ValueError, "either size or scale_factor should be defined"),
        ({"size": 2, "scale_factor": 2.0}, ValueError, "only one of size or scale_factor"),
        ({"size": (2,) * 3}, ValueError, "Input and output must have the same number of spatial dimensions, but got"),
        ({"scale_factor": (2.0,) * 3}, ValueError, "Input and scale_factor must have the same number of spatial"),
        ({"size": 2, "mode": "linear"}, NotImplementedError, "Got 4D input, but linear mode needs 3D input"),
        ({"size": 2, "mode": "cubic"}, NotImplementedError, r"Only 3D, 4D and 5D input .* \(got cubic\)"),
        ({"size": 2, "align_corners": True}, ValueError, "align_corners option"),
        ({"size": 2, "antialias": True}, ValueError, "Anti-alias option is restricted to"),
        ({"size": 0}, RuntimeError, "greater than 0"),
        ({"size": 2, "recompute_scale_factor": True}, ValueError, "recompute_scale_factor"),
    ):
        with pytest.raises(error, match=message):
            F.interpolate(x, **settings)
    with pytest.raises(RuntimeError, match="not implemented for int64"):
        F.interpolate(x.long(), 2, mode="bilinear")


def test_older_names():
    x = gs.tensor(RNG.standard_normal((1, 2, 4, 3)))
    for name, settings in (
        ("upsample", {"mode": "nearest"}),
        ("upsample_nearest", {"mode": "nearest"}),
        ("upsample_bilinear", {"mode": "bilinear", "align_corners": True}),
    ):
        with pytest.warns(UserWarning, match="deprecated"):
            found = getattr(F, name)(x, 6)
        np.testing.assert_array_equal(found.numpy(), F.interpolate(x, 6, **settings).numpy())


# ---- grids


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_the_grid_of_the_identity_gives_the_image(dims, align_corners, mode):
    x = gs.tensor(RNG.standard_normal(SHAPES[dims]))
    theta = gs.eye(dims, dims + 1, dtype=gs.float64)[None].repeat(x.shape[0], 1, 1)
    grid = F.affine_grid(theta, x.shape, align_corners)
    found = F.grid_sample(x, grid, mode, align_corners=align_corners)
    np.testing.assert_allclose(found.numpy(), x.numpy(), atol=1e-12)


def test_a_grid_of_another_size_interpolates():
    x = gs.tensor(RNG.standard_normal((2, 3, 5, 6)))
    theta = gs.eye(2, 3, dtype=gs.float64)[None].repeat(2, 1, 1)
    for align_corners in (False, True):
        grid = F.affine_grid(theta, (2, 3, 7, 9), align_corners)
        for mode in ("bilinear", "bicubic"):
            found = F.grid_sample(x, grid, mode, "border", align_corners)
            expected = F.interpolate(x, (7, 9), mode=mode, align_corners=align_corners)
            np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("channels", [1, 3, 20])
@pytest.mark.parametrize("points", [1, 300, 600, 3000])  # fewer than elements of the image, and more
def test_the_nearest_elements_of_a_grid_are_copied(points, channels, dtype):
    x = RNG.standard_normal((2, channels, 20, 30)).astype(dtype)
    x[0, 0, 0, 0] = np.nan  # which does not get outside
    grid = (RNG.standard_normal((2, 1, points, 2)) * 0.7).astype(dtype)
    found = F.grid_sample(gs.tensor(x), gs.tensor(grid), "nearest", align_corners=True).numpy()
    at = np.rint((grid[:, 0] + 1) * np.array([14.5, 9.5], dtype)).astype(int)
    is_inside = ((at >= 0) & (at < [30, 20])).all(-1)
    column, row = np.where(is_inside[..., None], at, 0).transpose(2, 0, 1)
    for image in range(2):
        taken = np.where(is_inside[image], x[image][:, row[image], column[image]], 0)
        np.testing.assert_array_equal(found[image, :, 0], taken)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("channels", [1, 3, 20])
def test_a_few_points_of_a_grid_are_those_of_many(channels, mode, padding_mode, dtype):
    x = gs.tensor(RNG.standard_normal((2, channels, 30, 40)).astype(dtype))
    x[0, 0, 0, 0] = math.nan
    grid = gs.tensor((RNG.standard_normal((2, 1, 7, 2)) * 0.7).astype(dtype))
    few = F.grid_sample(x, grid, mode, padding_mode, False)
    many = F.grid_sample(x, grid.repeat(1, 1500, 1, 1), mode, padding_mode, False)
    np.testing.assert_allclose(many.numpy(), few.expand(many.shape).numpy(), rtol=1e-6 if dtype == "float32" else 1e-14)


def test_what_is_outside_of_an_image():
    x = gs.tensor([[[[1.0, 2.0, 3.0]]]], dtype=gs.float64)
    points = gs.tensor([-3.0, -2.0, 0.5, 2.0, 3.0], dtype=gs.float64)
    grid = gs.stack([points, gs.zeros(5, dtype=gs.float64)], -1).reshape(1, 1, 5, 2)
    for padding_mode, expected in (
        ("zeros", [0, 0, 2.5, 0, 0]),
        ("border", [1, 1, 2.5, 3, 3]),
        ("reflection", [3, 2, 2.5, 2, 1]),
    ):
        found = F.grid_sample(x, grid, padding_mode=padding_mode, align_corners=True)
        np.testing.assert_allclose(found.numpy().reshape(-1), expected)
    F.grid_sample(x, grid * math.nan)  # reads nothing outside


@pytest.mark.parametrize("padding_mode", ["border", "reflection"])
def test_gradients_on_the_border(padding_mode):
    """Of a ramp, a point between elements has the slope; one on the first or last has zero, as those outside have."""
    x = gs.arange(5.0, dtype=gs.float64).expand(1, 1, 3, 5)
    grid = F.affine_grid(gs.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=gs.float64), (1, 1, 3, 5), align_corners=True)
    grid = grid.clone().requires_grad_()
    found = F.grid_sample(x, grid, padding_mode=padding_mode, align_corners=True)
    assert found.tolist() == x.tolist()
    found.sum().backward()
    assert grid.grad[0, :, :, 0].tolist() == [[0, 2, 2, 2, 0]] * 3
    assert grid.grad[0, :, :, 1].tolist() == [[0] * 5] * 3


def test_an_image_of_one_element_is_its_own_mirror_image():
    grid = gs.tensor([-3.0, -1.0, 0.0, 0.5, 2.0]).unsqueeze(-1).expand(5, 2).reshape(1, 1, 5, 2).requires_grad_()
    for aligned in (True, False):
        found = F.grid_sample(gs.full((1, 1, 1, 1), 7.0), grid, padding_mode="reflection", align_corners=aligned)
        assert found.tolist() == [[[[7.0] * 5]]]
        found.sum().backward()
        assert not grid.grad.any()


def test_grids_without_points_and_batches_without_images():
    assert F.grid_sample(gs.ones(2, 3, 4, 4), gs.ones(2, 0, 5, 2)).shape == (2, 3, 0, 5)
    assert F.grid_sample(gs.ones(0, 3, 4, 4), gs.ones(0, 2, 5, 2), "bicubic").shape == (0, 3, 2, 5)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_images_without_channels(mode):
    x = gs.ones(2, 0, 6, 6, requires_grad=True)
    found = F.grid_sample(x, gs.zeros(2, 3, 4, 2), mode, align_corners=False)
    found.sum().backward()
    assert found.shape == (2, 0, 3, 4) and x.grad.shape == x.shape
    with pytest.raises(RuntimeError, match="non-empty spatial dimensions"):
        F.grid_sample(gs.ones(1, 1, 0, 6), gs.zeros(1, 3, 4, 2), mode, align_corners=False)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
def test_derivatives_in_image_and_grid(mode, padding_mode):
    x = gs.tensor(RNG.standard_normal((2, 2, 4, 3)), requires_grad=True)
    grid = gs.tensor(RNG.uniform(-1.6, 1.6, (2, 3, 2, 2)), requires_grad=True)
    assert gradcheck(lambda x, grid: F.grid_sample(x, grid, mode, padding_mode), (x, grid))


@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
def test_the_nearest_element_has_a_gradient_of_zeros_in_the_grid(padding_mode):
    x = gs.tensor(RNG.standard_normal((1, 2, 4, 4)), requires_grad=True)
    grid = gs.tensor([[[[0.3, -0.2], [1.4, np.nan]]]], dtype=gs.float64, requires_grad=True)
    found = F.grid_sample(x, grid, "nearest", padding_mode, False)
    alone = F.grid_sample(x.detach(), grid.detach(), "nearest", padding_mode, False)
    np.testing.assert_array_equal(found.detach().numpy(), alone.numpy())
    found.nansum().backward()
    assert grid.grad.tolist() == [[[[0.0, 0.0], [0.0, 0.0]]]] and x.grad.sum().item() in (2.0, 4.0)
    grid = gs.zeros(1, 2, 2, 2, requires_grad=True)
    F.grid_sample(gs.ones(1, 1, 4, 4), grid, mode="nearest", padding_mode=padding_mode).sum().backward()
    assert not grid.grad.any()


@pytest.mark.parametrize("dims", [2, 3])
def test_modes_by_number(dims):
    x = gs.tensor(RNG.standard_normal((2, 3, *[4] * dims)))
    grid = gs.tensor(RNG.uniform(-1.5, 1.5, (2, *[3] * dims, dims)))
    by_number = gs.grid_sampler_2d if dims == 2 else gs.grid_sampler_3d
    for mode, word in enumerate(("bilinear", "nearest", "bicubic")[: 5 - dims]):
        for padding, outside in enumerate(("zeros", "border", "reflection")):
            wanted = F.grid_sample(x, grid, word, outside, True).numpy()
            for sampler in (by_number, gs.grid_sampler):
                np.testing.assert_array_equal(sampler(x, grid, mode, padding, True).numpy(), wanted)
    with pytest.raises(RuntimeError, match="expected interpolation_mode to be 0, 1 or 2, but got 3"):
        by_number(x, grid, 3, 0, True)
    with pytest.raises(RuntimeError, match="padding_mode to be 0, 1 or 2, but got -1"):
        by_number(x, grid, 0, -1, True)
    with pytest.raises(RuntimeError, match=f"grid_sampler_{dims}d.*expected {dims + 2}D input"):
        by_number(x[0], grid, 0, 0, True)


def test_derivatives_of_an_affine_map():
    theta = gs.tensor(RNG.standard_normal((2, 2, 3)), requires_grad=True)
    assert gradcheck(lambda theta: F.affine_grid(theta, (2, 1, 3, 4)), (theta,))


def test_grids_that_are_refused():
    x, grid = gs.zeros(2, 3, 4, 4), gs.zeros(2, 5, 5, 2)
    for call, error, message in (
        (lambda: F.grid_sample(x, grid, "cubic"), ValueError, "expected mode"),
        (lambda: F.grid_sample(x, grid, padding_mode="wrap"), ValueError, "expected padding_mode"),
        (lambda: F.grid_sample(x, grid[:1]), RuntimeError, "grid with sizes"),
        (lambda: F.grid_sample(x, grid.double()), RuntimeError, "same floating dtype"),
        (
            lambda: F.grid_sample(gs.zeros(2, 3, 4, 4, 4), gs.zeros(2, 5, 5, 5, 3), "bicubic"),
            RuntimeError,
            "only supports 4D",
        ),
        (lambda: F.affine_grid(gs.zeros(2, 2, 3), (3, 1, 4, 4)), ValueError, "batch of 3 affine matrices"),
        (lambda: F.affine_grid(gs.zeros(2, 2, 3).long(), (2, 1, 4, 4)), ValueError, "floating point type"),
        (lambda: F.affine_grid(gs.zeros(2, 2, 3), (2, 1, 0, 4)), ValueError, "Expected non-zero"),
        (lambda: F.affine_grid(gs.zeros(2, 2, 3), (2, 1, 4)), NotImplementedError, "4D and 5D sizes"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("channels", [1, 3, 6, 18])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_of_many_channels(channels, dtype):
    """Sums of four elements written out, of more points than are taken at once."""
    x = RNG.standard_normal((2, channels, 5, 7)).astype(dtype)
    grid = RNG.uniform(-1.3, 1.3, (2, 70, 80, 2)).astype(dtype)
    at = ((grid.astype(np.float64) + 1) * (7, 5) - 1) / 2
    low = np.floor(at).astype(int)
    part = at - low
    expected = np.zeros((2, channels, 70, 80))
    for down, right in np.ndindex(2, 2):
        column, line = low[..., 0] + right, low[..., 1] + down
        inside = (column >= 0) & (column < 7) & (line >= 0) & (line < 5)
        weight = np.abs(1 - right - part[..., 0]) * np.abs(1 - down - part[..., 1]) * inside
        seen = [x[n][:, np.clip(line[n], 0, 4), np.clip(column[n], 0, 6)] for n in range(2)]
        expected += np.stack(seen) * weight[:, None]
    found = F.grid_sample(gs.tensor(x), gs.tensor(grid)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-12 if dtype == np.float64 else 1e-5)


def test_samples_do_not_depend_on_threads():
    x = gs.tensor(RNG.standard_normal((2, 20, 30, 30)), requires_grad=True)
    grid = gs.tensor(RNG.uniform(-1, 1, (2, 90, 90, 2)), requires_grad=True)
    before, found = gs.get_num_threads(), []
    try:
        for threads in (1, 3):
            gs.set_num_threads(threads)
            y = F.grid_sample(x, grid)
            found.append([y.detach(), *gs.autograd.grad((y * y).sum(), [x, grid])])
    finally:
        gs.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_infinite_elements_are_seen_by_their_points_alone():
    x = gs.tensor([[[[np.inf, 1.0, 2.0]]]])
    grid = gs.tensor([[[[0.0, 0.0], [0.9, 0.0], [5.0, 0.0], [np.nan, 0.0], [1e30, np.inf]]]])
    assert F.grid_sample(x, grid, align_corners=True)[0, 0, 0].tolist() == [1, pytest.approx(1.9), 0, 0, 0]


def test_places_outside_of_an_image():
    image, weights = gs.ones(1, 3), gs.ones(1, 1)
    for place, error in ((3, IndexError), (2**40, IndexError)):
        with pytest.raises(error, match="outside"):
            sampled(image, weights, gs.tensor([[place]]))
    assert sampled(image, weights, gs.tensor([[-1]])).tolist() == [[0]]
    assert sampled(gs.ones(2, 0), weights, gs.tensor([[-5]])).tolist() == [[0], [0]]
    with pytest.raises(RuntimeError, match="points"):
        sampled(image, gs.ones(2, 1), gs.tensor([[1]]))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_images_of_bytes_are_rounded_along_rows_and_columns(mode, antialias):
    image = gs.tensor(np.random.default_rng(0).integers(0, 256, (1, 2, 7, 9), dtype=np.uint8))
    found = F.interpolate(image, size=(11, 5), mode=mode, antialias=antialias)
    wide = F.interpolate(image.double(), size=(11, 5), mode=mode, antialias=antialias)
    assert found.dtype == gs.uint8
    assert (found.double() - wide.clamp(0, 255)).abs().max().item() <= 1.2
    assert F.interpolate(image, size=(7, 9), mode=mode).equal(image)
    rows = F.interpolate(image.float(), size=(7, 5), mode=mode, antialias=antialias)
    by_rows = F.interpolate(image, size=(7, 5), mode=mode, antialias=antialias)
    np.testing.assert_array_equal(by_rows.numpy(), np.clip(np.floor(rows.numpy() + 0.5), 0, 255))


SAMPLERS = {
    "sampled": lambda a, b, places: sampled(gs.zeros(2, 8, dtype=a.dtype), b, places),
    "spread_samples": lambda a, b, places: spread_samples(a, b, places, 8),
    "weigh_samples": lambda a, b, places: weigh_samples(a, gs.zeros(2, 8, dtype=b.dtype), places),
}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize(
    "dtypes",
    [
        ("float32", "float32", "int32"),
        ("float64", "float64", "float64"),
        ("float64", "float64", "uint8"),
        ("float16", "float16", "int32"),
        ("float32", "float64", "int64"),
        ("float64", "float32", "int64"),
        ("int64", "int64", "int64"),
        ("complex64", "complex64", "int64"),
    ],
)
def test_kernels_of_samples_read_only_what_has_their_dtypes(name, dtypes):
    a, b, places = (gs.zeros(shape, dtype=dtype) for shape, dtype in zip([(2, 5), (3, 5), (3, 5)], dtypes))
    with pytest.raises((RuntimeError, NotImplementedError), match=name):
        SAMPLERS[name](a, b, places)


@pytest.mark.parametrize("channels", [2, 3, 4, 5, 8, 9, 15, 16, 17, 33])
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_channels_side_by_side_are_sampled_as_alone(mode, dtype, channels):
    rng = np.random.default_rng(0)
    x = gs.tensor(rng.standard_normal((2, channels, 7, 13))).to(dtype).requires_grad_()
    grid = gs.tensor(rng.standard_normal((2, 9, 31, 2)) * 0.8).to(dtype).requires_grad_()
    weights = gs.tensor(rng.standard_normal((2, channels, 9, 31))).to(dtype)
    found = F.grid_sample(x, grid, mode, align_corners=False)
    of_x, of_grid = gs.autograd.grad((found * weights).sum(), (x, grid))
    sums = np.zeros(grid.shape)
    for channel in range(channels):
        one = x[:, channel : channel + 1]
        alone = F.grid_sample(one, grid, mode, align_corners=False)
        np.testing.assert_allclose(
            found[:, channel].detach().numpy(), alone[:, 0].detach().numpy(), rtol=1e-5, atol=1e-6
        )
        parts = gs.autograd.grad((alone * weights[:, channel : channel + 1]).sum(), (one, grid))
        np.testing.assert_allclose(of_x[:, channel].numpy(), parts[0][:, 0].numpy(), rtol=1e-4, atol=1e-4)
        sums += parts[1].numpy()
    np.testing.assert_allclose(of_grid.numpy(), sums, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligned", [False, True])
def test_points_without_a_history_and_in_batches(dtype, mode, padding_mode, aligned):
    """Taps are found in one pass, and by ops where slices, tangents or a graph need them: to the same bit."""
    rng = np.random.default_rng(0)
    for sizes, output in [((5, 7), (30, 11)), ((1, 6), (9, 2)), ((3, 4, 5), (4, 2, 9))]:
        x = gs.tensor(rng.standard_normal((2, 3, *sizes)), dtype=dtype)
        numbers = rng.standard_normal((2, *output, len(sizes))) * 1.5
        numbers.reshape(-1)[:8] = [1, -1, 0, math.nan, math.inf, -math.inf, 1e30, -3.5]
        for grid in (gs.tensor(numbers, dtype=dtype), gs.tensor(np.asfortranarray(numbers), dtype=dtype)):
            found = F.grid_sample(x, grid, mode, padding_mode, aligned)
            one = gs.vmap(lambda x, grid: F.grid_sample(x[None], grid[None], mode, padding_mode, aligned)[0])(x, grid)
            np.testing.assert_array_equal(found, one)
            recorded = F.grid_sample(x, grid.clone().requires_grad_(), mode, padding_mode, aligned)
            np.testing.assert_array_equal(found, recorded.detach())
