"""Loops of our own over integers, against NumPy."""

import numpy as np
import pytest

import gradsmith as gs

TYPES = [f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")]


def numbers(dtype, shape, seed=0):
    """Among them the least and the greatest."""
    limits = np.iinfo(dtype)
    found = np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    found.flat[:2] = [limits.min, limits.max][: found.size]
    return found


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("shape", [(2,), (3, 5), (70, 1000)])
def test_bounds(name, dtype, shape):
    a, b = numbers(dtype, shape), numbers(dtype, shape, 1)
    of_tensors, of_arrays = getattr(gs, name), getattr(np, name)
    for x, y in [(a, b), (a[..., ::-1], b), (a.T, b.T), (a[..., :1], b), (a, b[..., 1].reshape(-1)[0])]:
        found = of_tensors(gs.tensor(x), gs.tensor(y))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, of_arrays(x, y))
    steps = gs.tensor(a)[..., ::2]
    np.testing.assert_array_equal(of_tensors(steps, gs.tensor(b)[..., ::2]), of_arrays(a[..., ::2], b[..., ::2]))
    np.testing.assert_array_equal(
        of_tensors(gs.tensor(7, dtype=gs.as_tensor(a).dtype), steps), of_arrays(a[..., ::2], 7)
    )
    low, high = 3, 90
    np.testing.assert_array_equal(gs.tensor(a).clamp(low, high), np.clip(a, low, high))
    x = gs.tensor(a)
    assert x.clamp_(low, high) is x
    np.testing.assert_array_equal(x, np.clip(a, low, high))
    np.testing.assert_array_equal(gs.tensor(a)[..., ::2].clamp_(min=low), np.maximum(a[..., ::2], low))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2,), (3, 5), (70, 1000)])
def test_numbers_between_two(dtype, shape):
    limits = np.iinfo(dtype)
    a = numbers(dtype, shape)
    signed = limits.min < 0
    most = min(limits.max, 2**63 - 1)
    for low, high in [(3, 90), (limits.min, most), (90, 3), (-7 * signed, 1), (most, most), (0, 0)]:
        expected = np.minimum(np.maximum(a, dtype_of(dtype, low)), dtype_of(dtype, high))
        for view in (np.s_[...], np.s_[..., ::-1], np.s_[..., ::2]) if shape else (np.s_[...],):
            x = gs.from_numpy(a[view].copy() if view is Ellipsis else a.copy()[view])
            before = x.numpy().copy()
            found = x.clamp(low, high)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, expected[view])
            np.testing.assert_array_equal(x, before)
            assert x.clamp_(low, high) is x
            np.testing.assert_array_equal(x, expected[view])


def dtype_of(dtype, number):
    return np.asarray(number, dtype)


def test_bounds_that_are_no_numbers_of_the_type():
    x = gs.tensor([1, 200], dtype=gs.uint8)
    for low, high in ((0, 256), (-(2**70), 5)):
        for call in (x.clamp, x.clamp_):
            with pytest.raises(RuntimeError, match="overflow"):
                call(low, high)
    assert x.tolist() == [1, 200]
    assert x.clamp(1.5, 4.0).tolist() == [1.5, 4.0]
    with pytest.raises(RuntimeError):
        x.clamp_(1.5, 4.0)
    top = gs.tensor([2**64 - 1, 5], dtype=gs.uint64)
    assert top.clamp(7, 2**64 - 2).tolist() == [2**64 - 2, 7]


def test_numbers_between_two_elsewhere():
    x = gs.arange(6).reshape(2, 3)
    assert gs.vmap(lambda x: x.clamp(1, 3))(x).tolist() == [[1, 1, 2], [3, 3, 3]]
    assert x.to("meta").clamp(1, 3).shape == (2, 3)
    rows = gs.zeros(1, 3, dtype=gs.int64).expand(2, 3)
    with pytest.raises(RuntimeError):
        rows.clamp_(1, 3)
    part = x[0, 1:]
    part.clamp_(2, 2)
    assert x.tolist() == [[0, 2, 2], [3, 4, 5]]


@pytest.mark.parametrize("dtype", TYPES)
def test_extremes(dtype):
    a = numbers(dtype, (7, 33, 5))
    for dim in (0, 1, 2, (0, 2), (0, 1, 2)):
        np.testing.assert_array_equal(gs.tensor(a).amax(dim), a.max(dim))
        np.testing.assert_array_equal(gs.tensor(a).amin(dim), a.min(dim))
    assert gs.tensor(a).max().item() == a.max() and gs.tensor(a)[::2, ::3].min().item() == a[::2, ::3].min()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4])
def test_powers_wrap(dtype, exponent):
    a = numbers(dtype, (70, 1000))
    expected = np.ones_like(a)
    for _ in range(exponent):
        expected = expected * a
    for found in (gs.tensor(a) ** exponent, gs.tensor(a).pow(exponent), gs.tensor(a).pow_(exponent)):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(gs.tensor(a)[:, ::2] ** exponent, expected[:, ::2])


def test_powers_of_integers_to_real_numbers_are_real():
    assert (gs.tensor([1, 2]) ** 2.0).dtype == gs.float32
    with pytest.raises(RuntimeError, match="negative"):
        gs.tensor([1, 2]) ** -2


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64, gs.int64, gs.complex64, gs.float16])
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (8, 3), (4, 4, 4), (1, 1)])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals(dtype, shape, wrap):
    x = gs.zeros(shape, dtype=dtype)
    expected = np.zeros(shape)
    np.fill_diagonal(expected, 7, wrap)
    version = x._version
    assert x.fill_diagonal_(7, wrap) is x and x._version == version + 1
    np.testing.assert_array_equal(x, expected)
    turned = gs.zeros(shape[::-1], dtype=dtype).permute(list(range(len(shape)))[::-1])
    np.testing.assert_array_equal(turned.fill_diagonal_(7, wrap), expected)
    assert gs.empty(shape, device="meta").fill_diagonal_(7.0).is_meta


def test_a_diagonal_with_a_history():
    x = gs.ones(3, 3, requires_grad=True)
    (x * 2).fill_diagonal_(5.0).sum().backward()
    np.testing.assert_array_equal(x.grad, 2 * (1 - np.eye(3)))
    with pytest.raises(RuntimeError, match="leaf"):
        gs.ones(3, 3, requires_grad=True).fill_diagonal_(5.0)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        gs.zeros(3).fill_diagonal_(1.0)
    saved = gs.ones(3, 3, requires_grad=True)
    y = saved.exp()
    with gs.no_grad():
        y.fill_diagonal_(0.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    each = gs.vmap(lambda one: one.clone().fill_diagonal_(1.0))(gs.zeros(2, 3, 3))
    np.testing.assert_array_equal(each, np.stack([np.eye(3)] * 2))


def test_what_is_written_is_not_held():
    """The values of an in-place op are given back when it has finished, and the next tensor may have their memory."""
    x = gs.tensor(numbers("int64", (300, 300)))
    expected = np.clip(x.numpy(), 0, 5)
    x.clamp_(0, 5)
    others = [gs.ones(300, 300, dtype=gs.int64) for _ in range(3)]
    np.testing.assert_array_equal(x, expected)
    assert all((other == 1).all() for other in others)
