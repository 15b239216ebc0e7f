"""Eigenvalues of small symmetric matrices, which do not go through LAPACK, beside those that do."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(7)


def symmetric(count, n):
    a = rng.standard_normal((count, n, n))
    return a + a.swapaxes(1, 2)


def graded(count, n):
    steep = symmetric(count, n) * 10.0 ** -np.arange(n)
    return steep @ steep.swapaxes(1, 2)


def of_rank_one(count, n):
    column = rng.standard_normal((count, n, 1)) * 10.0 ** rng.uniform(-9, 0, (count, n, 1))
    return column @ column.swapaxes(1, 2)


def of_a_permutation(count, n):
    return np.broadcast_to(np.eye(n)[::-1], (count, n, n)).copy()


MATRICES = {
    "random": symmetric,
    "whole numbers": lambda count, n: np.round(symmetric(count, n)),
    "huge": lambda count, n: 1e300 * symmetric(count, n),
    "tiny": lambda count, n: 1e-300 * symmetric(count, n),
    "subnormal": lambda count, n: 1e-310 * symmetric(count, n),
    "graded": graded,
    "of rank one": of_rank_one,
    "diagonal": lambda count, n: symmetric(count, n) * np.eye(n),
    "zero": lambda count, n: np.zeros((count, n, n)),
    "equal elements": lambda count, n: np.full((count, n, n), 0.3),
    "a permutation": of_a_permutation,
}


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("name", MATRICES)
def test_values_and_vectors(name, n):
    a = MATRICES[name](50, n)
    values, vectors = (part.numpy() for part in gs.linalg.eigh(gs.tensor(a)))
    size = np.abs(a).max(initial=np.finfo(float).tiny)
    np.testing.assert_allclose(values / size, np.linalg.eigvalsh(a) / size, rtol=0, atol=2e-14)
    np.testing.assert_allclose(vectors.swapaxes(1, 2) @ vectors, np.broadcast_to(np.eye(n), a.shape), atol=1e-14)
    np.testing.assert_allclose(a / size @ vectors, vectors * (values / size)[:, None], rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", range(2, 9))
def test_vectors_have_the_signs_of_numpy(n, dtype):
    a = symmetric(100, n).astype(dtype)
    found, expected = gs.linalg.eigh(gs.tensor(a)).eigenvectors.numpy(), np.linalg.eigh(a).eigenvectors
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 if dtype == np.float64 else 1e-4)


def test_layouts_and_batches():
    a = symmetric(6, 4)
    expected = np.linalg.eigh(a).eigenvalues
    for given in (a[::2], a[:, ::-1, ::-1], np.asfortranarray(a), a.reshape(2, 3, 4, 4), a[0]):
        np.testing.assert_allclose(gs.linalg.eigh(gs.tensor(given)).eigenvalues.numpy(), np.linalg.eigvalsh(given))
    np.testing.assert_allclose(gs.linalg.eigvalsh(gs.tensor(a)).numpy(), expected)
    assert gs.linalg.eigh(gs.zeros(0, 3, 3)).eigenvectors.shape == (0, 3, 3)


def test_numbers_that_are_not_finite():
    a = symmetric(3, 3)
    a[1, 0, 0] = np.nan
    with pytest.raises(gs.linalg.LinAlgError, match=r"linalg\.eigh: The algorithm failed to converge"):
        gs.linalg.eigh(gs.tensor(a))
