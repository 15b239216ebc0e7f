"""Eigenvalues of any square matrix: dtypes, the phase of the vectors, gradients, and what is refused."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(0)
ROTATION = gs.tensor([[0.0, -1.0], [1.0, 0.0]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 2, 2), (2, 0, 0)])
def test_vectors_have_length_one_and_a_phase(dtype, shape):
    a = rng.normal(size=shape).astype(dtype)
    values, vectors = gs.linalg.eig(gs.tensor(a))
    assert values.numpy().dtype == vectors.numpy().dtype == np.result_type(dtype, np.complex64)
    assert values.shape == shape[:-1] and vectors.shape == shape
    found = vectors.numpy()
    np.testing.assert_allclose(a @ found, found * values.numpy()[..., None, :], atol=1e-4)
    np.testing.assert_allclose((np.abs(found) ** 2).sum(-2), np.ones(shape[:-1]), rtol=1e-5)
    if found.size:
        greatest = np.take_along_axis(found, np.abs(found).argmax(-2, keepdims=True), -2)
        np.testing.assert_allclose(greatest, np.abs(greatest), rtol=1e-5)
    np.testing.assert_allclose(np.sort(gs.linalg.eigvals(gs.tensor(a)).numpy()), np.sort(values.numpy()), atol=1e-4)


def test_real_matrices_have_complex_eigenvalues():
    np.testing.assert_allclose(gs.linalg.eigvals(ROTATION).numpy(), [1j, -1j])
    assert gs.linalg.eigvals(gs.eye(2)).dtype == gs.complex64


def test_gradients():
    """PyTorch's answers, for what does not depend on the phase."""
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=gs.float64, requires_grad=True)
    (gs.linalg.eigvals(x) ** 2).real.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[2, 6], [4, 8]])
    x.grad = None
    gs.linalg.eig(x).eigenvectors.abs()[0].sum().backward()
    expected = [[0.01393643, 0.16243564], [-0.094354, -0.01393643]]
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


def test_matrices_without_data():
    values, vectors = gs.linalg.eig(gs.empty(2, 3, 3, device="meta"))
    assert values.is_meta and vectors.shape == (2, 3, 3) and vectors.dtype == gs.complex64


def test_what_is_refused():
    with pytest.raises(gs.linalg.LinAlgError, match="linalg.eig: .*non-finite"):
        gs.linalg.eig(gs.full((2, 2), gs.inf))
    with pytest.raises(gs.linalg.LinAlgError, match="linalg.eigvals: .*non-finite"):
        gs.linalg.eigvals(gs.full((2, 2), gs.nan))
    with pytest.raises(RuntimeError, match="2 by 3 matrices"):
        gs.linalg.eig(gs.ones(2, 3))
    with pytest.raises(RuntimeError, match="floating point or complex"):
        gs.linalg.eigvals(gs.eye(2, dtype=gs.int64))
