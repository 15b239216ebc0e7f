"""Eigenvalues of any square matrix: dtypes, the phase of the vectors, gradients, and what is refused."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays.functions.algebra.factors import own_dtype

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


HERMITIAN = gs.tensor([[2.0, 1.0 - 1.0j], [1.0 + 1.0j, 3.0]], dtype=gs.complex128)
DECOMPOSITIONS = {
    "linalg.eigh": lambda a: gs.linalg.eigh(a).eigenvectors,
    "linalg.eig": lambda a: gs.linalg.eig(a).eigenvectors,
    "linalg.svd": lambda a: gs.linalg.svd(a).U,
    "linalg.svd of rows": lambda a: gs.linalg.svd(a).Vh.mT,
    "linalg.svd of batches": lambda a: gs.linalg.svd(a.expand(3, 2, 2)).U,
}


def gradient_of(loss, op):
    a = HERMITIAN.clone().requires_grad_()
    loss(DECOMPOSITIONS[op](a)).backward()
    return a.grad.numpy()


@pytest.mark.parametrize("op", DECOMPOSITIONS)
def test_a_loss_of_the_phase_is_ill_defined(op):
    with pytest.raises(RuntimeError, match=rf"{op.split()[0]}: The .* e\^\{{i phi\}}.*allow_phase_dependence"):
        gradient_of(lambda vectors: vectors.imag.sum(), op)
    assert np.isfinite(gradient_of(lambda vectors: (vectors.abs() ** 3).sum() * 1e6, op)).all()


@pytest.mark.parametrize("op", DECOMPOSITIONS)
def test_the_fixed_phase_has_a_gradient_where_that_is_allowed(op):
    step = 1e-6 * (rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2)))
    step = step + step.conj().T

    def loss(vectors):
        return vectors.imag.sum() + (vectors.real**2).sum()

    with gs.autograd.allow_phase_dependence():
        gradient = gradient_of(loss, op)
        with gs.autograd.allow_phase_dependence(False), pytest.raises(RuntimeError, match="ill-defined"):
            gradient_of(loss, op)
    ahead, behind = (loss(DECOMPOSITIONS[op](HERMITIAN + sign * gs.tensor(step))).item() for sign in (1, -1))
    np.testing.assert_allclose((gradient.conj() * step).sum().real, (ahead - behind) / 2, rtol=1e-6)


def test_a_pair_of_singular_vectors_turns_together():
    a = HERMITIAN.clone().requires_grad_()
    u, s, vh = gs.linalg.svd(a)
    ((u * s) @ vh).imag[0, 1].backward()
    np.testing.assert_allclose(a.grad.numpy(), [[0, 1j], [0, 0]], atol=1e-12)


def test_real_vectors_have_no_phase():
    a = gs.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    (gs.linalg.eigh(a).eigenvectors.sum() + gs.linalg.svd(a).U.sum()).backward()
    assert np.isfinite(a.grad.numpy()).all()


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("op", ["eigvals", "eigvalsh", "svdvals"])
def test_values_are_those_of_float64_to_the_digits_that_there_are(op, dtype):
    a = rng.normal(size=(2, 40, 40)).astype(dtype)
    a = a * np.exp(1j * a).astype(dtype) if a.dtype.kind == "c" else a
    a = a + a.conj().mT if op == "eigvalsh" else a
    found = getattr(gs.linalg, op)(gs.tensor(a)).numpy()
    expected = getattr(np.linalg, op)(a.astype(np.result_type(dtype, np.float64)))
    assert found.dtype == (np.complex64 if op == "eigvals" else np.float32)
    for one, other in zip(found, expected, strict=True):
        distances = np.abs(one[:, None] - other).min(0)
        np.testing.assert_allclose(distances, 0, atol=1e-4)


@pytest.mark.parametrize("shape", [(40, 40), (2, 30, 50), (50, 30)])
@pytest.mark.parametrize("full_matrices", [True, False])
def test_singular_vectors_of_complex64(shape, full_matrices):
    a = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)
    u, s, vh = (part.numpy() for part in gs.linalg.svd(gs.tensor(a), full_matrices))
    assert u.dtype == vh.dtype == np.complex64 and s.dtype == np.float32
    assert u.shape[-1] == (shape[-2] if full_matrices else min(shape[-2:]))
    count = s.shape[-1]
    np.testing.assert_allclose(u[..., :count] * s[..., None, :] @ vh[..., :count, :], a, atol=2e-5)
    for vectors in (u, vh.conj().mT):
        gram = vectors.conj().mT @ vectors
        np.testing.assert_allclose(gram - np.eye(gram.shape[-1]), 0, atol=1e-5)


def test_eigenvectors_of_complex64_matrices_that_are_hermitian():
    a = (rng.normal(size=(2, 40, 40)) + 1j * rng.normal(size=(2, 40, 40))).astype(np.complex64)
    a = a + a.conj().mT
    values, vectors = (part.numpy() for part in gs.linalg.eigh(gs.tensor(a)))
    assert values.dtype == np.float32 and vectors.dtype == np.complex64
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], atol=5e-5)


@pytest.mark.parametrize("name", ["eig", "eigvals", "eigh", "eigvalsh", "svdvals"])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_without_functions_of_numpy_that_compute_in_the_dtype(name, dtype, monkeypatch):
    a = rng.normal(size=(4, 4)).astype(dtype)
    a = a + a.mT
    function = getattr(own_dtype, name)
    expected = function(a)
    monkeypatch.setattr(own_dtype, "_functions", None)
    found = function(a)
    for one, other in zip(np.atleast_1d(*found), np.atleast_1d(*expected), strict=True):
        np.testing.assert_allclose(np.sort(np.abs(one)), np.sort(np.abs(other)), rtol=1e-4)
    assert not name.startswith("eig") or name.endswith("h") or found[0].dtype.kind == "c"
