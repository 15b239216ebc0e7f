"""Factors of matrices by elimination: values, dtypes, sizes, what is singular, and what is refused."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(0)

SHAPES = [(3, 3), (5, 2), (2, 5), (2, 3, 4, 4), (0, 3, 3), (2, 0, 3), (2, 3, 0), (70, 130), (130, 70), (1, 1)]


def matrices(dtype, shape):
    imaginary = 1j * rng.normal(size=shape) if dtype.startswith("complex") else 0
    return (rng.normal(size=shape) + imaginary).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_product_is_the_matrix(dtype, shape):
    """Of matrices for one loop, and of those that are divided."""
    a = matrices(dtype, shape)
    places, lower, upper = (part.numpy() for part in gs.linalg.lu(gs.tensor(a)))
    steps = min(shape[-2:])
    assert places.dtype == lower.dtype == upper.dtype == dtype
    np.testing.assert_allclose(places @ lower @ upper, a, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(lower, np.tril(lower, -1) + np.eye(shape[-2], steps))
    np.testing.assert_array_equal(upper, np.triu(upper))
    assert (np.abs(lower) <= 1.42).all()
    factors, pivots, info = gs.linalg.lu_factor_ex(gs.tensor(a))
    assert pivots.dtype == info.dtype == gs.int32
    assert pivots.shape == (*shape[:-2], steps) and info.shape == shape[:-2] and not info.any()
    for one, other in zip(gs.lu_unpack(factors, pivots), (places, lower, upper)):
        np.testing.assert_array_equal(one.numpy(), other)


def test_pivots_are_lapacks():
    """Counted from 1, with the sum of both parts as the size of a complex number."""
    factors, pivots = gs.linalg.lu_factor(gs.tensor([[1.0, 2.0], [4.0, 6.0], [2.0, 5.0]]))
    np.testing.assert_allclose(factors.numpy(), [[4, 6], [0.5, 2], [0.25, 0.25]])
    assert pivots.tolist() == [2, 3]
    assert gs.linalg.lu_factor(gs.tensor([[1.2, 0], [0.7 + 0.7j, 1]])).pivots.tolist() == [2, 2]


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_solutions(dtype, left, adjoint):
    a, b = matrices(dtype, (2, 1, 3, 3)), matrices(dtype, (4, 3, 3))
    factors, pivots = gs.linalg.lu_factor(gs.tensor(a))
    found = gs.linalg.lu_solve(factors, pivots, gs.tensor(b), left=left, adjoint=adjoint).numpy()
    matrix = a.conj().mT if adjoint else a
    np.testing.assert_allclose(matrix @ found if left else found @ matrix, np.broadcast_to(b, found.shape), atol=1e-3)
    if left and not adjoint:
        np.testing.assert_array_equal(gs.lu_solve(gs.tensor(b), factors, pivots).numpy(), found)
        np.testing.assert_array_equal(gs.tensor(b).lu_solve(factors, pivots.long()).numpy(), found)


def test_singular_matrices():
    """PyTorch's answers and errors."""
    batch = gs.tensor(np.stack([np.eye(3), np.ones((3, 3)), np.zeros((3, 3))]))
    assert gs.linalg.lu_factor_ex(batch).info.tolist() == [0, 2, 1]
    with pytest.raises(gs.linalg.LinAlgError, match=r"linalg.lu_factor: \(Batch element 1\): U\[2,2\] is zero"):
        gs.linalg.lu_factor(batch)
    with pytest.raises(gs.linalg.LinAlgError, match=r"linalg.lu_factor_ex: U\[1,1\] is zero"):
        gs.linalg.lu_factor_ex(batch[2], check_errors=True)
    assert len(gs.lu(batch)) == 2 and batch.lu(get_infos=True)[2].tolist() == [0, 2, 1]


def test_the_last_pivot_divides_nothing():
    """Differences find the same, and PyTorch gives NaN."""
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    x = gs.tensor(a, requires_grad=True)
    factors = gs.linalg.lu_factor_ex(x).LU
    (factors * gs.tensor([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[-8.5, 5], [5.25, -0.5]])


def test_parts_that_are_not_asked_for():
    factors, pivots = gs.linalg.lu_factor(gs.tensor(matrices("float64", (2, 3, 4))))
    assert [part.shape for part in gs.lu_unpack(factors, pivots, False)] == [(2, 3, 3), (0,), (0,)]
    assert [part.shape for part in gs.lu_unpack(factors, pivots, unpack_pivots=False)] == [(0,), (2, 3, 3), (2, 3, 4)]


def test_matrices_without_data():
    factors, pivots, info = gs.linalg.lu_factor_ex(gs.empty(2, 3, 4, device="meta"))
    assert [part.shape for part in (factors, pivots, info)] == [(2, 3, 4), (2, 3), (2,)]
    assert all(part.is_meta for part in (factors, pivots, info, *gs.lu_unpack(factors, pivots)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: gs.linalg.lu(a, pivot=False), "linalg.lu: LU without pivoting is not implemented"),
        (lambda a: gs.lu(a, False), "lu: LU without pivoting"),
        (lambda a: gs.linalg.lu(a[0]), r"Expected tensor with 2 or more dimensions. Got size: \[3\]"),
        (lambda a: gs.linalg.lu_factor(a.long()), "linalg.lu_factor: Expected a floating point"),
        (lambda a: gs.linalg.lu(a.half()), "Low precision"),
        (lambda a: gs.lu_unpack(a, gs.tensor([1, 2, 4])), "pivots must be between 1 and the number of rows, 3, but"),
        (lambda a: gs.lu_unpack(a, gs.tensor([0, 2, 3])), "they are between 0 and 3"),
        (lambda a: gs.lu_unpack(a, gs.tensor([1.0, 2.0, 3.0])), "they are float32"),
        (lambda a: gs.lu_unpack(a, gs.tensor(1)), "those of linalg.lu_factor"),
        (
            lambda a: gs.lu_unpack(a[0], gs.tensor([1])),
            r"expected matrices, with 2 or more dimensions, but got size \[3\]",
        ),
        (lambda a: gs.lu_unpack(a[0], gs.tensor([1]), unpack_pivots=False), "factors of a matrix"),
        (lambda a: gs.linalg.lu_solve(a, gs.tensor([1, 2, 3, 3]), a), "one pivot for each row"),
        (lambda a: gs.linalg.lu_solve(a[:, :2], gs.tensor([1, 2]), a), "square matrices, but they are 3 by 2"),
        (lambda a: gs.linalg.lu_solve(a, gs.tensor([1, 2, 3]), a[0]), "tensor B must have at least 2 dimensions"),
        (lambda a: gs.linalg.lu_solve(a, gs.tensor([1, 2, 3]), a.double()), "the same dtype"),
        (lambda a: gs.linalg.lu_solve(a, gs.ones(2, 3, dtype=gs.int32), gs.ones(4, 3, 1)), "do not broadcast"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(gs.eye(3))
