"""Matrices that a kernel of our own works on, and those just too large for it, against NumPy's."""

import numpy as np
import pytest

import gradsmith as gs

BATCHES = [(), (1,), (3,), (16,), (17,), (2, 40), (0,), (3, 0)]
TOLERANCE = {np.float64: 1e-10, np.float32: 2e-3}


def matrices(n, batch, dtype):
    return (np.random.default_rng(n).standard_normal((*batch, n, n)) + 3 * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_functions_agree_with_numpy(n, dtype, batch):
    a = matrices(n, batch, dtype)
    square = np.matmul(a, a.swapaxes(-1, -2))
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    tensor = gs.tensor(a)
    np.testing.assert_allclose(gs.linalg.inv(tensor), np.linalg.inv(a), **close)
    np.testing.assert_allclose(gs.linalg.inv(tensor.mT), np.linalg.inv(a.swapaxes(-1, -2)), **close)
    np.testing.assert_allclose(gs.linalg.cholesky(gs.tensor(square)), np.linalg.cholesky(square), **close)
    np.testing.assert_allclose(gs.linalg.det(tensor), np.linalg.det(a), **close)
    for found, expected in zip(gs.linalg.slogdet(tensor), np.linalg.slogdet(a), strict=True):
        np.testing.assert_allclose(found, expected, **close)
    places, lower, upper = (part.numpy() for part in gs.linalg.lu(tensor))
    np.testing.assert_allclose(places @ lower @ upper, a, **close)
    assert (np.abs(lower) <= 1).all() and (lower == np.tril(lower)).all() and (upper == np.triu(upper)).all()
    for columns in (1, 8, 9):
        b = np.random.default_rng(1).standard_normal((*batch, n, columns)).astype(dtype)
        np.testing.assert_allclose(gs.linalg.solve(tensor, gs.tensor(b)), np.linalg.solve(a, b), **close)


def test_rows_have_to_be_exchanged():
    a = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1e-3, 5.0]])
    np.testing.assert_allclose(gs.linalg.inv(gs.tensor(a)), np.linalg.inv(a))
    np.testing.assert_allclose(gs.linalg.det(gs.tensor(a)), np.linalg.det(a))


@pytest.mark.parametrize("n", [2, 8])
def test_the_matrix_without_a_result_is_named(n):
    a = np.stack([np.eye(n)] * 20)
    a[13, 0] = 0
    for function in (gs.linalg.inv, lambda a: gs.linalg.solve(a, a)):
        with pytest.raises(np.linalg.LinAlgError, match=r"Batch element 13.*singular"):
            function(gs.tensor(a))
    a[13] = -np.eye(n)
    with pytest.raises(np.linalg.LinAlgError, match=r"Batch element 13"):
        gs.linalg.cholesky(gs.tensor(a))
    assert gs.linalg.det(gs.zeros(n, n)) == 0
    assert [part.item() for part in gs.linalg.slogdet(gs.zeros(n, n))] == [0.0, -np.inf]


def test_factors_in_a_batch_are_those_of_each_matrix():
    """The same pivots also where a column has no pivot, or two of one size."""
    a = np.random.default_rng(0).standard_normal((20, 4, 4))
    a[3], a[7, :, 1], a[9, 2] = 0, 0, -a[9, 0]
    together = gs.linalg.lu_factor_ex(gs.tensor(a))
    for i, matrix in enumerate(a):
        factors, pivots, _ = gs.linalg.lu_factor_ex(gs.tensor(matrix))
        np.testing.assert_allclose(together.LU[i].numpy(), factors.numpy(), atol=1e-14)
        assert together.pivots[i].tolist() == pivots.tolist()
    assert together.info[3] == 1 and together.info[7] == 2


def test_the_logarithm_of_a_determinant_outside_the_range_of_numbers():
    diagonals = [[1e-200, 1e-200, 1e300, 1e10], [-1e200, 1e200, 1e-300, 1e-10], [1e-250] * 4, [-1e250, 1e250, 1e250, 1]]
    sign, logarithm = gs.linalg.slogdet(gs.tensor(np.stack([np.diag(diagonal) for diagonal in diagonals])))
    assert sign.tolist() == [1, -1, 1, -1]
    np.testing.assert_allclose(logarithm.numpy(), np.log(np.abs(diagonals)).sum(-1), rtol=1e-15)
    assert gs.linalg.slogdet(gs.tensor([np.diag([np.nan, 1.0]), np.diag([-np.inf, 1.0])])).logabsdet[1] == np.inf


def test_numbers_that_are_none():
    a = np.stack([np.eye(3), np.full((3, 3), np.nan)])
    found = gs.linalg.inv(gs.tensor(a)).numpy()
    np.testing.assert_array_equal(found[0], np.eye(3))
    assert np.isnan(found[1]).all()
    assert np.isnan(gs.linalg.det(gs.tensor(a)).numpy()[1])
