"""Norms, ranks and condition numbers against NumPy, and what is refused."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(3)
BATCH = rng.normal(size=(2, 3, 4))
ORDERS = ("fro", "nuc", np.inf, -np.inf, 1, -1, 2, -2)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dim", [(-2, -1), (0, 2), (2, 0), (1, 0)])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_matrix_norms_are_numpys(order, dim, keepdim, dtype):
    a = (BATCH * (1 + 0.5j) if dtype == "complex128" else BATCH).astype(dtype)
    wanted = np.linalg.norm(a, order, dim, keepdim)
    for function in (gs.linalg.matrix_norm, gs.linalg.norm):
        found = function(gs.tensor(a), order, dim, keepdim).numpy()
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("order", [0, 1, 2, 3.5, -1, np.inf, -np.inf])
@pytest.mark.parametrize("dim", [None, 0, (0, 2)])
def test_vector_norms_are_numpys(order, dim):
    axes = (0, 1, 2) if dim is None else (dim,) if isinstance(dim, int) else dim
    moved = np.moveaxis(BATCH, axes, range(len(axes)))
    wanted = np.linalg.norm(moved.reshape(-1, *moved.shape[len(axes) :]), order, 0)
    np.testing.assert_allclose(gs.linalg.vector_norm(gs.tensor(BATCH), order, dim).numpy(), wanted)


@pytest.mark.parametrize("order", [1, 2, 3, 0.5])
@pytest.mark.parametrize(
    ("dtype", "scale"), [("float32", 1e-25), ("float32", 1e30), ("float64", 1e-300), ("float64", 1e300)]
)
@pytest.mark.parametrize("dim", [None, 1])
def test_norms_of_numbers_whose_powers_have_no_range(order, dtype, scale, dim):
    rows = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 2.0]])
    for numbers in (rows, rows * (0.6 + 0.8j)):
        kind = np.result_type(dtype, np.complex64) if numbers.dtype.kind == "c" else dtype
        found = gs.linalg.vector_norm(gs.tensor((numbers * scale).astype(kind)), order, dim)
        wanted = (np.abs(rows) ** order).sum(dim) ** (1 / order)
        np.testing.assert_allclose(found.double().numpy() / scale, wanted, rtol=1e-5)


def test_euclidean_norms_keep_their_digits():
    x = gs.tensor([3e-160, 4e-160], dtype=gs.float64, requires_grad=True)
    x.norm().backward()
    assert x.norm().item() == pytest.approx(5e-160, rel=1e-15) and x.grad.tolist() == pytest.approx(
        [0.6, 0.8], rel=1e-15
    )
    assert gs.linalg.vector_norm(gs.tensor([np.inf, 1.0])).item() == np.inf
    assert gs.isnan(gs.linalg.vector_norm(gs.tensor([np.inf, np.nan])))
    assert gs.linalg.vector_norm(gs.zeros(0)).item() == 0 and gs.zeros(2, 0).norm(dim=1).tolist() == [0, 0]


def test_norm_without_an_order_is_that_of_all_elements():
    assert gs.linalg.norm(gs.tensor(BATCH)).item() == pytest.approx(np.sqrt((BATCH**2).sum()))
    with pytest.raises(RuntimeError, match="the input must be 1D or 2D. Got 3D"):
        gs.linalg.norm(gs.tensor(BATCH), 2)
    with pytest.raises(RuntimeError, match="must be of length 1 or 2"):
        gs.linalg.norm(gs.tensor(BATCH), 2, (0, 1, 2))
    with pytest.raises(RuntimeError, match="Order 3 not supported"):
        gs.linalg.matrix_norm(gs.tensor(BATCH), 3)


def test_singular_matrices():
    """PyTorch's answers."""
    ones = gs.ones(2, 2)
    assert gs.linalg.cond(ones, "fro").item() == np.inf
    assert gs.linalg.matrix_rank(ones).item() == 1
    assert gs.linalg.matrix_rank(gs.tensor(BATCH), atol=100.0).tolist() == [0, 0]
    np.testing.assert_allclose(gs.linalg.pinv(ones).numpy(), np.full((2, 2), 0.25), atol=1e-6)
    assert gs.linalg.pinv(gs.ones(2, 0)).shape == (0, 2)


@pytest.mark.parametrize("p", ["fro", "nuc", 1, -1, np.inf, -np.inf])
@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.diag([1.0, 0.0])], ids=["zeros", "singular"])
def test_condition_number_of_a_singular_matrix_is_infinite(matrix, p):
    assert gs.linalg.cond(gs.tensor(matrix), p).item() == np.inf


def test_condition_number_of_nan_is_nan():
    assert gs.linalg.cond(gs.full((2, 2), np.nan), "fro").isnan()


@pytest.mark.parametrize("p", [None, 2, -2])
def test_singular_values_of_a_condition_number_are_computed_once(p):
    node = gs.linalg.cond(gs.ones(3, 3, requires_grad=True), p).grad_fn
    sources = {source for taken, _ in node.next_functions for source, _ in taken.next_functions}
    assert [source.name() for source in sources] == ["LinalgSvdvalsBackward0"]
