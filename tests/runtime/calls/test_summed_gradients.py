"""Gradients of what was broadcast are summed as they are computed: with the bits of the sum of an array of them."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import Tensor

# Shapes of an operand, and of what it is broadcast to. The second ones have more than 2**14 elements.
SHAPES = [
    ((7, 1), (7, 2500)), ((300, 1), (300, 70)), ((2100, 1), (2100, 9)), ((1,), (17_001,)), ((), (40_007,)),
    ((3, 1), (3, 40_003)), ((5001,), (4, 5001)), ((601,), (31, 601)), ((100,), (300, 100)), ((530,), (1100, 530)),
    ((7,), (2500, 7)), ((3,), (6001, 3)), ((20,), (900, 20)), ((25, 1, 41), (25, 31, 41)), ((25, 10, 1), (25, 10, 100)),
    ((2, 1, 1, 5), (2, 40, 50, 5)), ((600, 1, 7), (600, 6, 7)), ((1, 5, 1), (60, 5, 70)),
    ((64, 3, 1, 1), (64, 3, 10, 10)), ((), (130, 1, 127)),
]  # fmt: skip


def normal(shape: tuple[int, ...], seed: int, dtype: type) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def gradients(x: Tensor, y: Tensor, gradient: Tensor) -> list[tuple[Tensor, Tensor]]:
    """By `x` of some functions of `x` and `y`, each beside an array of the same terms."""
    terms = [(x * y, gradient * y), (y - x, -gradient), (x / y, gradient / y), (gs.tanh(y) * x, gradient * gs.tanh(y))]
    found = []
    for result, term in terms:
        (whole,) = gs.autograd.grad(result, x, gradient)
        found.append((whole, term.detach().sum_to_size(x.shape)))
    return found


@pytest.mark.parametrize(("shape", "full"), SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_sums_of_terms(shape: tuple[int, ...], full: tuple[int, ...], dtype: type) -> None:
    x, y = gs.tensor(normal(shape, 0, dtype), requires_grad=True), gs.tensor(normal(full, 1, dtype))
    for found, expected in gradients(x, y, gs.tensor(normal(full, 2, dtype))):
        assert found.shape == x.shape and np.array_equal(found, expected)
    exact = (normal(full, 2, dtype).astype(np.float64) * y.numpy()).sum(
        tuple(d for d in range(-len(full), 0) if -d > len(shape) or shape[d] != full[d]), keepdims=True
    )
    (found,) = gs.autograd.grad(x * y, x, gs.tensor(normal(full, 2, dtype)))
    assert np.allclose(found.numpy().reshape(-1), exact.reshape(-1), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("shape", "full"), SHAPES, ids=str)
def test_threads_change_nothing(shape: tuple[int, ...], full: tuple[int, ...]) -> None:
    x, y = gs.tensor(normal(shape, 0, np.float32), requires_grad=True), gs.tensor(normal(full, 1, np.float32))
    before = gs.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            gs.set_num_threads(threads)
            found.append([np.array(one) for one, _ in gradients(x, y, gs.tensor(normal(full, 2, np.float32)))])
    finally:
        gs.set_num_threads(before)
    assert all(np.array_equal(a, b) for a, b in zip(*found))


@pytest.mark.parametrize("layout", ["by columns", "every other", "expanded", "backwards"])
def test_layouts(layout: str) -> None:
    given = {
        "by columns": lambda a: gs.from_numpy(np.asfortranarray(a)),
        "every other": lambda a: gs.from_numpy(np.repeat(a, 2, 1))[:, ::2],
        "expanded": lambda a: gs.from_numpy(a[:, :1].copy()).expand(a.shape),
        "backwards": lambda a: gs.from_numpy(a[:, ::-1]),
    }[layout]
    y, gradient = given(normal((50, 1000), 1, np.float64)), gs.tensor(normal((50, 1000), 2, np.float64))
    for shape in ((1000,), (50, 1), ()):
        x = gs.tensor(normal(shape, 0, np.float64), requires_grad=True)
        (found,) = gs.autograd.grad(x * y, x, gradient)
        assert np.allclose(found, (gradient * y).sum_to_size(shape))
        (found,) = gs.autograd.grad(x * gradient, x, y)
        assert np.allclose(found, (gradient * y).sum_to_size(shape))


def test_results_of_ops_have_them_too() -> None:
    """Not leaves alone: the sum is what the next node gets."""
    x, y = gs.tensor(normal((300, 1), 0, np.float64), requires_grad=True), gs.tensor(normal((300, 100), 1, np.float64))
    (x.exp() * y).sum().backward()
    assert np.allclose(x.grad, np.exp(x.numpy(force=True)) * y.numpy().sum(1, keepdims=True))


def test_hooks_see_them() -> None:
    x, y = gs.tensor(normal((300, 1), 0, np.float64), requires_grad=True), gs.tensor(normal((300, 100), 1, np.float64))
    seen = []
    product = x * y
    product.grad_fn.register_hook(lambda gradients, _: seen.append(gradients[0]))
    product.sum().backward()
    assert seen[0].shape == (300, 1) and np.array_equal(seen[0], x.grad)


def test_nan_safe_mode() -> None:
    x, y = gs.tensor(normal((300, 1), 0, np.float64), requires_grad=True), gs.tensor(normal((300, 100), 1, np.float64))
    y[5, 7] = np.inf
    gradient = gs.ones(300, 100, dtype=gs.float64)
    gradient[5, 7] = 0
    with gs.autograd.nan_safe():
        (found,) = gs.autograd.grad(x * y, x, gradient)
    assert found.isfinite().all()
    assert gs.autograd.grad(x * y, x, gradient)[0][5].isnan()


def test_another_dtype_is_summed_before_it_is_converted() -> None:
    x = gs.tensor(normal((300, 1), 0, np.float32), requires_grad=True)
    y = gs.tensor(normal((300, 100), 1, np.float64))
    (x * y).sum().backward()
    assert x.grad.dtype == gs.float32 and np.allclose(x.grad, y.numpy().sum(1, keepdims=True), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (5,), (3, 1500), (40_000,)], ids=str)
def test_squares_get_the_double(shape: tuple[int, ...], dtype: type) -> None:
    a = normal(shape, 0, dtype)
    for array in (a, a.T.copy().T, np.repeat(a.reshape(*shape, 1), 2, -1)[..., 0]):
        x = gs.from_numpy(array).requires_grad_()
        (found,) = gs.autograd.grad(x * x, x, gs.ones(shape, dtype=x.dtype))
        assert np.array_equal(found, a + a) and found.dtype == x.dtype
        y = x.exp() if dtype is not np.float16 else x * 1
        (y * y + y).sum().backward()
        assert np.allclose(x.grad, (2 * y + 1).detach() * (y.detach() if dtype is not np.float16 else 1), 4e-3, 4e-3)


def test_squares_of_leaves_with_hooks() -> None:
    x, seen = gs.tensor([1.0, 2.0], requires_grad=True), []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    (x * x + x).sum().backward()
    assert seen == [[3.0, 5.0]] and x.grad.tolist() == [3.0, 5.0]


def test_squares_in_compiled_functions_and_batches() -> None:
    x = gs.tensor(normal((3, 50), 0, np.float32))

    def gradient(x: Tensor) -> Tensor:
        return gs.grad(lambda x: (x.sin() * x + x * x).sum())(x)

    assert gs.equal(gs.compile(gradient)(x), gradient(x))
    assert np.allclose(gs.vmap(gradient)(x), gradient(x))
