"""The promises of the sample generators."""

import numpy as np
import pytest

from gradsmith.verify.samples import evaluate

MATRICES = ("nonsingular", "symmetric", "positive_definite", "orthogonal", "lower", "upper")


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices_are_well_conditioned(name, dtype):
    found = evaluate(f"{name}(2, 4, 4)", 7, dtype)
    assert found.shape == (2, 4, 4) and found.dtype == dtype
    assert np.all(np.linalg.cond(found) < 10)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_matrices_are_what_they_are_called(dtype):
    def made(name):
        return evaluate(f"{name}(3, 3)", 7, dtype)

    symmetric, definite, orthogonal = made("symmetric"), made("positive_definite"), made("orthogonal")
    np.testing.assert_allclose(symmetric, symmetric.conj().T, atol=1e-14)
    assert np.linalg.eigvalsh(symmetric).min() < 0 < np.linalg.eigvalsh(definite).min()
    np.testing.assert_allclose(orthogonal @ orthogonal.conj().T, np.eye(3), atol=1e-14)
    assert not np.triu(made("lower"), 1).any() and not np.tril(made("upper"), -1).any()


def test_matrices_stay_square_in_other_sizes():
    assert evaluate("nonsingular(2, 3, 3)", 7, np.float64, sizes={3: 5}).shape == (2, 5, 5)
    assert evaluate("upper(3, 3)", 7, np.float64, shape=(3, 4)).shape == (4, 4)
    assert evaluate("symmetric(3, 3)", 7, np.float64, sizes={3: 0}).shape == (0, 0)


def test_sorted_numbers_ascend():
    assert np.all(np.diff(evaluate("sorted(3, 5)", 7, np.float64)) > 0.1)
