"""Singular values of small matrices, which do not go through LAPACK, beside those that do."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(11)
SHAPES = [(m, n) for m in range(1, 10) for n in range(1, 10) if m == n or (m + 2 * n) % 3 == 0]


def random(count, m, n):
    return rng.standard_normal((count, m, n))


def of_values(values):
    """Random matrices of these singular values, which are given by the count and number of them."""

    def made(count, m, n):
        left, right = np.linalg.qr(random(count, m, m))[0], np.linalg.qr(random(count, n, n))[0]
        k = min(m, n)
        return left[:, :, :k] * values(count, k)[:, None] @ right[:, :k]

    return made


MATRICES = {
    "random": random,
    "whole numbers": lambda count, m, n: np.round(random(count, m, n)),
    "huge": lambda count, m, n: 1e300 * random(count, m, n),
    "tiny": lambda count, m, n: 1e-300 * random(count, m, n),
    "graded": lambda count, m, n: random(count, m, n) * 10.0 ** -rng.uniform(0, 300, (count, m, 1)),
    "of equal values": of_values(lambda *shape: np.ones(shape)),
    "of clustered values": of_values(lambda *shape: 1 + 1e-13 * rng.standard_normal(shape)),
    "of values far apart": of_values(lambda *shape: 10.0 ** -rng.uniform(0, 300, shape)),
    "of a lower rank": of_values(lambda *shape: rng.integers(0, 2, shape)),
    "of few elements": lambda count, m, n: random(count, m, n) * (rng.random((count, m, n)) < 0.3),
    "zero": lambda count, m, n: np.zeros((count, m, n)),
    "equal elements": lambda count, m, n: np.full((count, m, n), 0.3),
}


@pytest.mark.parametrize("full_matrices", [False, True])
@pytest.mark.parametrize("name", MATRICES)
def test_values_and_vectors(name, full_matrices):
    for m, n in SHAPES:
        a = MATRICES[name](30, m, n)
        u, s, vh = (part.numpy() for part in gs.linalg.svd(gs.tensor(a), full_matrices))
        size, k = np.abs(a).max(initial=np.finfo(float).tiny), min(m, n)
        assert (u.shape[-1], vh.shape[-2]) == ((m, n) if full_matrices else (k, k))
        assert (s >= 0).all() and (np.diff(s) <= 0).all()
        np.testing.assert_allclose(s / size, np.linalg.svdvals(a) / size, rtol=0, atol=2e-14)
        np.testing.assert_allclose(gs.linalg.svdvals(gs.tensor(a)).numpy() / size, s / size, rtol=0, atol=2e-14)
        np.testing.assert_allclose(u.mT @ u, np.broadcast_to(np.eye(u.shape[-1]), (30, *u.shape[-1:] * 2)), atol=2e-14)
        np.testing.assert_allclose(
            vh @ vh.mT, np.broadcast_to(np.eye(vh.shape[-2]), (30, *vh.shape[-2:-1] * 2)), atol=2e-14
        )
        rebuilt = u[..., :k] * (s / size)[:, None] @ vh[:, :k]
        np.testing.assert_allclose(rebuilt, a / size, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_vectors_have_the_signs_of_numpy(m, n, dtype):
    a = random(20, m, n).astype(dtype)
    found = gs.linalg.svd(gs.tensor(a), full_matrices=False)
    for part, expected in zip(found, np.linalg.svd(a, full_matrices=False), strict=True):
        assert part.numpy().dtype == dtype
        np.testing.assert_allclose(part.numpy(), expected, atol=1e-8 if dtype == np.float64 else 1e-4)


def test_a_value_far_below_the_rest_is_accurate():
    """Of a bidiagonal matrix each singular value is known as accurately as its elements are."""
    for small in (1e-10, 1e-60, 1e-120):
        a = np.array([[1, 1, 0], [0, small, 1], [0, 0, small]])
        np.testing.assert_allclose(gs.linalg.svdvals(gs.tensor(a)).numpy()[2], small**2 / np.sqrt(2), rtol=1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite_matrices_are_errors(value):
    a = gs.tensor(random(3, 4, 4))
    a[1, 2, 3] = value
    for function in (gs.linalg.svd, gs.linalg.svdvals, gs.linalg.pinv):
        with pytest.raises(np.linalg.LinAlgError, match="failed to converge"):
            function(a)


def test_layouts_and_empty_batches():
    a = random(6, 4, 3)
    expected = np.linalg.svdvals(a)
    strided = gs.tensor(np.repeat(a, 2, axis=0))[::2]
    np.testing.assert_allclose(gs.linalg.svdvals(strided).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(gs.linalg.svdvals(gs.tensor(a).mT).numpy(), expected, rtol=1e-12)
    assert [part.shape for part in gs.linalg.svd(gs.ones(0, 4, 3))] == [(0, 4, 4), (0, 3), (0, 3, 3)]


def test_what_is_made_of_singular_values():
    a = random(10, 5, 3)
    x = gs.tensor(a)
    np.testing.assert_allclose(gs.linalg.pinv(x).numpy(), np.linalg.pinv(a), atol=1e-12)
    np.testing.assert_allclose(gs.linalg.cond(x).numpy(), np.linalg.cond(a), rtol=1e-10)
    np.testing.assert_allclose(gs.linalg.matrix_norm(x, "nuc").numpy(), np.linalg.norm(a, "nuc", (1, 2)), rtol=1e-12)
    assert (gs.linalg.matrix_rank(gs.tensor(a[:, :, :1] * a[:, :1])).numpy() == 1).all()
