"""Sums of many or large numbers: the precision they are added in, and no converted copies. Expected as in PyTorch."""

import tracemalloc

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.nn import functional as F

INTEGERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"]


def integers(dtype, shape):
    drawn = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 100, shape)
    return (-drawn if dtype.startswith("int") else drawn).astype(dtype)


# ---- running sums


@pytest.mark.parametrize("dtype", [gs.float32, gs.complex64], ids=str)
@pytest.mark.parametrize("shape", [(10**6,), (10**6, 2), (2, 10**6)])
def test_a_running_sum_of_single_precision_is_added_in_double(shape, dtype):
    dim = shape.index(10**6)
    x = gs.full(shape, 0.1, dtype=dtype, requires_grad=True)
    last = x.cumsum(dim).select(dim, -1)
    assert last.detach().numpy().ravel() == pytest.approx(1e5, rel=1e-7)
    weights = gs.full(shape, 0.1, dtype=dtype)
    x.cumsum(dim).backward(weights)
    assert x.grad.select(dim, 0).numpy().ravel() == pytest.approx(1e5, rel=1e-7)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", *INTEGERS])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 0), (3, 4), (2, 300, 2), (2, 40, 3), (2, 40, 4), (4, 3, 300)])
def test_running_sums_of_every_dtype(shape, dtype):
    x = integers("uint8", shape).astype(dtype)
    wide = np.int64 if dtype in INTEGERS else x.dtype
    for dim in range(-1, max(x.ndim - 1, 0)):
        expected = np.cumsum(x.astype("c16" if x.dtype.kind == "c" else "f8"), dim) if x.ndim else x
        found = gs.from_numpy(x).cumsum(dim)
        assert found.dtype == wide
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3 if dtype == "float16" else 1e-6)
        swapped = gs.from_numpy(np.asfortranarray(x)).cumsum(dim)
        np.testing.assert_array_equal(swapped.numpy(), found.numpy())


# ---- half precision


def test_halves_are_added_in_float32():
    x = gs.full((30000,), 4.0, dtype=gs.float16)
    assert x.mean().item() == 4.0  # the sum is beyond the largest half
    assert gs.full((30000,), 1.0, dtype=gs.float16).cumsum(0)[-1].item() == 30000.0
    wide = gs.tensor([-1000.0, 1000.0] * 500, dtype=gs.float16)
    assert wide.std().item() == 1000.5  # its square is beyond the largest half
    assert gs.isinf(wide.var())
    assert F.mse_loss(wide / 8, wide * 0).item() == 15624.0
    assert gs.full((2000,), 1.0, dtype=gs.float16).prod().item() == 1.0


def test_gradients_of_halves():
    x = gs.tensor([-1000.0, 1000.0] * 500, dtype=gs.float16, requires_grad=True)
    (gradient,) = gs.autograd.grad(x.std(), x)
    assert gradient[1].item() == pytest.approx(0.001, rel=2e-3)
    many = gs.ones(100000, dtype=gs.float16, requires_grad=True)
    (gradient,) = gs.autograd.grad(many.mean(), many)
    assert gradient[0].item() == pytest.approx(1e-5, rel=1e-2)  # 100000 is no half


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda x: x * 1e-8, 0.00060033798),
        (lambda x: 1e-8 * x, 0.00060033798),
        (lambda x: x / 1e6, 0.059997559),
        (lambda x: x * gs.tensor(1e-8, dtype=gs.float64), 0.00060033798),
        (lambda x: gs.sub(x, x, alpha=2), -60000.0),
        (lambda x: x + 0.1, 60000.0),
    ],
)
def test_arithmetic_of_halves_and_numbers(compute, expected):
    x = gs.tensor([60000.0], dtype=gs.float16)
    assert compute(x).dtype == gs.float16
    assert compute(x).item() == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("compute", "values", "expected", "gradient"),
    [
        (F.softplus, [12.0, 19.0, -20.0], [12.0, 19.0, 0.0], [1.0, 1.0, 0.0]),
        (lambda x: F.gelu(x, approximate="tanh"), [60.0, 300.0, -300.0], [60.0, 300.0, 0.0], [1.0, 1.0, 0.0]),
        (F.gelu, [60.0, 300.0, -300.0], [60.0, 300.0, 0.0], [1.0, 1.0, 0.0]),
        (F.silu, [60.0, 300.0, -300.0], [60.0, 300.0, 0.0], [1.0, 1.0, 0.0]),
        (gs.sigmoid, [60.0, 300.0, -300.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
    ],
)
def test_activations_of_halves_do_not_overflow_on_the_way(compute, values, expected, gradient):
    x = gs.tensor(values, dtype=gs.float16, requires_grad=True)
    y = compute(x)
    y.sum().backward()
    assert y.tolist() == pytest.approx(expected, abs=1e-6)
    assert x.grad.tolist() == pytest.approx(gradient, abs=1e-6)


def test_classes_of_halves():
    scores = gs.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]], dtype=gs.float16, requires_grad=True)
    loss = F.cross_entropy(scores, gs.tensor([2, 0]))
    loss.backward()
    assert loss.dtype == scores.grad.dtype == gs.float16
    assert loss.item() == pytest.approx(0.505859375, rel=1e-3)
    expected = [0.04498, 0.12244, -0.16736, -0.22681, 0.16565, 0.06088]
    assert scores.grad.numpy().ravel() == pytest.approx(expected, abs=1e-3)


# ---- integers


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_of_integers(dtype):
    x = integers(dtype, (7, 300, 50))
    for view in (x, x.swapaxes(0, 2), x[:, ::2, 1:], x[::-1]):
        for axes in (None, 0, 1, 2, (0, 1), (0, 2), (1, 2)):
            found = gs.from_numpy(view.copy("K") if (np.array(view.strides) < 0).any() else view).sum(axes)
            assert found.dtype == gs.int64
            np.testing.assert_array_equal(found.numpy(), view.sum(axis=axes, dtype=np.int64))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("shape", [(1,), (3, 1), (200001,), (200001, 3), (3, 70000), (2, 70000, 2), (5, 700)])
def test_long_sums_of_integers(shape, dtype):
    x = integers(dtype, shape)
    for axis in (None, *range(x.ndim)):
        np.testing.assert_array_equal(gs.from_numpy(x).sum(axis).numpy(), x.sum(axis=axis, dtype=np.int64))


def test_sums_of_integers_wrap_around():
    greatest = gs.tensor([2**63 - 1, 1])
    assert greatest.sum().item() == -(2**63)
    assert greatest.sum(dtype=gs.int8).item() == 0


@pytest.mark.parametrize("reduce", ["sum", "prod", "any", "all"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int32"])
def test_reductions_of_integers_make_no_converted_copy(dtype, reduce):
    x = gs.ones(2000, 1000, dtype=dtype)
    for tensor in (x, x.t()):
        tracemalloc.start()
        getattr(tensor, reduce)()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200_000


def test_means_of_integers():
    x = gs.full((3000,), 100, dtype=gs.int8)
    for dtype in (gs.float16, gs.float32, gs.float64, gs.complex64):
        assert x.mean(dtype=dtype).dtype == dtype
        assert x.mean(dtype=dtype).item() == 100


# ---- complex numbers


@pytest.mark.parametrize("dtype", [gs.complex64, gs.complex128], ids=str)
@pytest.mark.parametrize("shape", [(100001,), (7, 1000), (1000, 7), (5, 7, 11), (40000, 2)])
def test_sums_of_complex_numbers(shape, dtype):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    for axis in (None, *range(len(shape))):
        expected = x.astype(np.complex128).sum(axis=axis)
        np.testing.assert_allclose(gs.from_numpy(x).sum(axis).numpy(), expected, rtol=1e-4, atol=1e-3)


def test_a_long_sum_of_complex64_keeps_its_digits():
    assert gs.full((10**6, 2), 0.1, dtype=gs.complex64).sum(0).tolist() == pytest.approx([1e5, 1e5], rel=1e-6)


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64], ids=str)
@pytest.mark.parametrize("dim", [None, 0])
def test_a_mean_in_float16_is_converted_after_the_sum(dtype, dim):
    """A number, or a sum, that float16 cannot hold is no mean that it cannot hold."""

    def mean(*numbers):
        x = gs.tensor(numbers, dtype=dtype, requires_grad=True)
        found = x.mean(dtype=gs.float16) if dim is None else x.mean(dim, dtype=gs.float16)
        found.backward()
        assert found.dtype == gs.float16 and x.grad.dtype == dtype
        assert x.grad.tolist() == pytest.approx([1 / len(numbers)] * len(numbers), rel=1e-3)
        return found.item()

    assert mean(1e5, -1e5) == 0.0
    assert mean(-1e5, 1e5, 3.0) == 1.0
    assert mean(1e30, -np.inf) == -np.inf
    assert mean(3e4, 3e4, 3e4) == 3e4
    assert np.isnan(mean(np.inf, -np.inf))
