"""Padding against NumPy's, patches against convolutions, and the transposes of both."""

import itertools

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck

RNG = np.random.default_rng(5)
NUMPYS = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", NUMPYS)
@pytest.mark.parametrize(
    ("shape", "amounts"),
    [((2, 3, 7), (1, 2)), ((3, 7), (0, 4)), ((2, 3, 5, 6), (1, 2, 3, 4)), ((2, 2, 4, 5, 3), (1, 2, 3, 1, 2, 1))],
)
def test_padding_is_numpys(mode, shape, amounts):
    x = RNG.standard_normal(shape)
    pairs = [(0, 0)] * (len(shape) - len(amounts) // 2) + [*zip(amounts[::2], amounts[1::2])][::-1]
    expected = np.pad(x, pairs, mode=NUMPYS[mode])
    np.testing.assert_array_equal(F.pad(gs.tensor(x), amounts, mode).numpy(), expected)
    assert gradcheck(lambda x: F.pad(x, amounts, mode), (gs.tensor(x, requires_grad=True),), check_forward_ad=True)


def test_elements_that_are_taken_away():
    x = gs.arange(6.0).reshape(1, 6)
    assert F.pad(x, (-1, 2), value=9.0).tolist() == [[1, 2, 3, 4, 5, 9, 9]]
    assert F.pad(x, (-1, 2), "reflect").tolist() == [[1, 2, 3, 4, 5, 4, 3]]
    assert F.pad(x, (2, -4), "replicate").tolist() == [[0, 0, 0, 1]]
    assert F.pad(x, (-1, 2), "circular").tolist() == [[1, 2, 3, 4, 5, 1, 2]]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "int32", "float64", "complex128"])
def test_wide_and_narrow_fillings_of_all_item_sizes(dtype):
    """Also where a dimension is cut off on one side, or of no size."""
    for shape in [(5,), (3, 70), (2, 3, 4), (0, 3), (3, 0)]:
        x = RNG.integers(0, 2, shape).astype(dtype)
        for before, after in [(0, 0), (1, 0), (3, 9), (40, 31), (-1, 6)]:
            pairs = [(max(before, -n), after) for n in shape]
            kept = x[tuple(slice(max(-before, 0), None) for before, _ in pairs)]
            expected = np.pad(kept, [(max(before, 0), after) for before, after in pairs], constant_values=1)
            found = F.pad(gs.tensor(x), [n for pair in reversed(pairs) for n in pair], value=1).numpy()
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_paddings_that_leave_nothing():
    for mode in ("reflect", "replicate", "circular"):
        assert F.pad(gs.ones(1, 2), (0, -2), mode).shape == (1, 0)
    with pytest.raises(RuntimeError, match="circular"):
        F.pad(gs.ones(1, 1), (1, -1), "circular")
    with pytest.raises(TypeError):
        F.pad(gs.ones(1, 2), (1.5, 0))


def test_paddings_that_are_refused():
    x = gs.zeros(2, 3, 4)
    for amounts, settings, error, message in (
        ((1, 2, 3), {}, RuntimeError, "divisible by 2"),
        ((1,) * 8, {}, RuntimeError, "two times the input dimension"),
        ((4, 0), {"mode": "reflect"}, RuntimeError, "does not go with dimension 2 of size 4"),
        ((5, 0), {"mode": "circular"}, RuntimeError, "does not go with dimension 2 of size 4"),
        ((-3, -2), {"mode": "replicate"}, RuntimeError, "does not go with dimension 2 of size 4"),
        ((1, 1), {"mode": "reflect", "value": 2.0}, RuntimeError, "doesn't take in value"),
        ((1, 1), {"mode": "symmetric"}, NotImplementedError, "Unrecognised padding mode symmetric"),
        ((1, 1, 1, 1, 1, 1), {"mode": "reflect"}, NotImplementedError, "last 1, 2 or 3 dimensions"),
    ):
        with pytest.raises(error, match=message):
            F.pad(x, amounts, **settings)


SETTINGS = list(itertools.product((2, (3, 2)), (1, 2), (0, (1, 2)), (1, (2, 3))))


@pytest.mark.parametrize(("kernel", "dilation", "padding", "stride"), SETTINGS)
def test_a_convolution_is_a_product_with_patches(kernel, dilation, padding, stride):
    x, height, width = RNG.standard_normal((2, 3, 7, 8)), *np.broadcast_to(kernel, 2)
    w = RNG.standard_normal((4, 3, height, width))
    columns = F.unfold(gs.tensor(x), kernel, dilation, padding, stride)
    expected = F.conv2d(gs.tensor(x), gs.tensor(w), None, stride, padding, dilation).numpy()
    np.testing.assert_allclose(w.reshape(4, -1) @ columns.numpy(), expected.reshape(2, 4, -1), atol=1e-12)


@pytest.mark.parametrize(("kernel", "dilation", "padding", "stride"), SETTINGS)
def test_fold_is_the_transpose_of_unfold(kernel, dilation, padding, stride):
    x = gs.tensor(RNG.standard_normal((2, 3, 7, 8)), requires_grad=True)
    columns = F.unfold(x, kernel, dilation, padding, stride)
    y = gs.tensor(RNG.standard_normal(columns.shape), requires_grad=True)
    back = F.fold(y, (7, 8), kernel, dilation, padding, stride)
    np.testing.assert_allclose((columns * y).sum().item(), (x * back).sum().item())
    np.testing.assert_allclose(gs.autograd.grad((columns * y.detach()).sum(), x)[0].numpy(), back.detach().numpy())
    one = F.fold(y[0], (7, 8), kernel, dilation, padding, stride)
    np.testing.assert_array_equal(one.detach().numpy(), back[0].detach().numpy())


def test_patches_that_are_refused():
    for call, message in (
        (lambda: F.unfold(gs.zeros(7, 8), 2), "Expected 3D or 4D"),
        (lambda: F.unfold(gs.zeros(3, 2, 2), 5), "no patch fits"),
        (lambda: F.unfold(gs.zeros(3, 4, 4), 2, stride=0), "greater than zero"),
        (lambda: F.unfold(gs.zeros(3, 4, 4), (1, 2, 3)), "a number or a pair"),
        (lambda: F.fold(gs.zeros(2, 12, 5), (7, 8), 2), "42 patches of 4 elements"),
        (lambda: F.fold(gs.zeros(2, 11, 42), (7, 8), 2), "42 patches of 4 elements"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()
