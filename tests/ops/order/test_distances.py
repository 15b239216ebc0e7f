"""Rows compared, and slopes on a grid: against PyTorch's recorded answers."""

import math

import numpy as np
import pytest

import gradsmith as gs

ROWS = [[1.0, 2.0], [1.0, 2.0], [1.0, 5.0], [3.0, 4.0]]
MATRIX = [[1.0, 2.0, 4.0], [3.0, 5.0, 1.0]]
POWERS = [1.0, 2.0, 4.0, 8.0, 16.0]
PLACES = [0.0, 1.0, 3.0, 4.0, 7.0]


def close(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-4, atol=1e-6)


# ---- distances


@pytest.mark.parametrize(
    ("p", "distances", "gradient"),
    [
        (0.0, [0, 1, 2, 1, 2, 2], [[0, 0], [0, 0], [0, 0], [0, 0]]),
        (0.5, [0, 3, 8, 3, 8, 5.8284], [[-2, -3], [-2, -3], [-1.7071, 4.4142], [5.7071, 1.5858]]),
        (1.0, [0, 3, 4, 3, 4, 3], [[-1, -2], [-1, -2], [-1, 3], [3, 1]]),
        (1.5, [0, 3, 3.1748, 3, 3.1748, 2.4473], [[-0.7937, -1.7937]] * 2 + [[-0.9040, 2.6392], [2.4914, 0.9482]]),
        (2.0, [0, 3, 2.8284, 3, 2.8284, 2.2361], [[-0.7071, -1.7071]] * 2 + [[-0.8944, 2.4472], [2.3086, 0.9670]]),
        (3.0, [0, 3, 2.5198, 3, 2.5198, 2.0801], [[-0.63, -1.63]] * 2 + [[-0.9245, 2.2311], [2.1844, 1.0288]]),
        (math.inf, [0, 3, 2, 3, 2, 2], [[-1, -2], [-1, -2], [-1, 2], [3, 2]]),
    ],
)
def test_distances(p, distances, gradient):
    rows = gs.tensor(ROWS, requires_grad=True)
    found = gs.pdist(rows, p)
    close(found, distances)
    found.sum().backward()
    close(rows.grad, gradient)
    first, second = gs.tensor(ROWS, requires_grad=True), gs.tensor(ROWS, requires_grad=True)
    between = gs.cdist(first, second, p)
    close(between[np.triu_indices(4, 1)], distances)
    between.sum().backward()
    close(first.grad, gradient)
    close(second.grad, gradient)


def test_shapes_of_distances():
    assert gs.cdist(gs.zeros(5, 1, 2, 2), gs.zeros(4, 3, 2)).shape == (5, 4, 2, 3)
    assert gs.cdist(gs.zeros(2, 0), gs.zeros(3, 0)).tolist() == [[0.0] * 3] * 2
    assert gs.cdist(gs.zeros(0, 2), gs.zeros(3, 2)).shape == (0, 3)
    assert gs.pdist(gs.zeros(1, 3)).shape == gs.pdist(gs.zeros(0, 3)).shape == (0,)
    assert gs.pdist(gs.zeros(3, 0)).tolist() == [0.0] * 3


P = [1.0, 2.0, math.inf]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def in_wide_numbers(x1, x2, p):
    steps = np.abs(x1[..., :, None, :].astype(np.longdouble) - x2[..., None, :, :])
    return steps.max(-1) if p == math.inf else (steps**p).sum(-1) ** (1 / np.longdouble(p))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (33, 70, 3), (6, 31, 65), (40, 9, 700)])
def test_distances_of_many_sizes(shape, p, dtype):
    """With parts of tiles, of panels and of blocks; and with gradients against those of all differences."""
    n, m, k = shape
    x1, x2, weights = (
        numbers(n, k).astype(dtype),
        numbers(m, k, seed=1).astype(dtype),
        numbers(n, m, seed=2).astype(dtype),
    )
    first, second = gs.from_numpy(x1).requires_grad_(), gs.from_numpy(x2).requires_grad_()
    found = gs.cdist(first, second, p)
    tolerance = 3e-6 if dtype == np.float32 else 1e-14
    np.testing.assert_allclose(found.detach(), in_wide_numbers(x1, x2, p).astype(dtype), rtol=tolerance)
    found.backward(gs.from_numpy(weights))
    steps = x1[:, None].astype(float) - x2[None]
    if p == 2:
        slopes = steps / np.linalg.norm(steps, axis=-1, keepdims=True)
    else:
        is_greatest = np.abs(steps) == np.abs(steps).max(-1, keepdims=True)
        slopes = np.sign(steps) * (is_greatest if p == math.inf else 1)
    parts = weights[..., None] * slopes
    np.testing.assert_allclose(first.grad, parts.sum(1), rtol=10 * tolerance, atol=30 * tolerance)
    np.testing.assert_allclose(second.grad, -parts.sum(0), rtol=10 * tolerance, atol=30 * tolerance)


@pytest.mark.parametrize("p", P)
def test_distances_in_batches_and_layouts(p):
    x1, x2 = numbers(2, 1, 5, 4), numbers(3, 6, 4, seed=1)
    expected = in_wide_numbers(x1, x2, p).astype(float)
    np.testing.assert_allclose(gs.cdist(gs.from_numpy(x1), gs.from_numpy(x2), p), expected, rtol=1e-14)
    spread = gs.from_numpy(np.repeat(x1, 2, -1))[..., ::2], gs.from_numpy(np.swapaxes(x2, -1, -2).copy()).mT
    np.testing.assert_array_equal(gs.cdist(*spread, p), gs.cdist(gs.from_numpy(x1), gs.from_numpy(x2), p))
    assert gs.cdist(gs.zeros(2, 3, 4, device="meta"), gs.zeros(5, 4, device="meta"), p).shape == (2, 3, 5)


@pytest.mark.parametrize("p", P)
def test_distances_of_near_rows_keep_their_digits(p):
    """Not by |a|^2 + |b|^2 - 2 a b: the rows are a millionth apart."""
    x1 = numbers(40, 30) + 100
    x2 = x1 + 1e-6 * numbers(40, 30, seed=1)
    found = gs.cdist(gs.from_numpy(x1), gs.from_numpy(x2), p)
    np.testing.assert_allclose(found, in_wide_numbers(x1, x2, p).astype(float), rtol=1e-14)


@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_distances_from_rows_without_numbers(value, p):
    x1 = numbers(5, 3)
    x1[1, 0] = value
    found = gs.cdist(gs.from_numpy(x1), gs.from_numpy(numbers(20, 3)), p).numpy()
    np.testing.assert_array_equal(found[1], [value] * 20)
    assert np.isfinite(np.delete(found, 1, 0)).all()


def test_distances_do_not_depend_on_their_neighbours():
    x1, x2 = gs.from_numpy(numbers(37, 11)), gs.from_numpy(numbers(50, 11, seed=1))
    for p in P:
        whole = gs.cdist(x1, x2, p)
        assert gs.equal(whole[5:9, 3:21], gs.cdist(x1[5:9], x2[3:21], p))


# ---- covariances


def test_weights_of_observations_decide_on_the_dtype_of_covariances():
    x, w = gs.arange(6.0).reshape(2, 3).square(), gs.tensor([1.0, 2.0, 0.5])
    exact = gs.cov(x.double(), aweights=w.double())
    for rows, weights in ((gs.float16, gs.float32), (gs.float32, gs.float64), (gs.float64, gs.float16)):
        found = gs.cov(x.to(rows), aweights=w.to(weights))
        assert found.dtype == gs.promote_types(rows, weights)
        assert gs.allclose(found.double(), exact)
    assert gs.cov(x, fweights=gs.tensor([1, 2, 1])).dtype == gs.float32


def test_covariances():
    matrix = gs.tensor(MATRIX)
    close(matrix.cov(), [[2.3333, -2], [-2, 4]])
    close(gs.cov(matrix.long()), [[2.3333, -2], [-2, 4]])
    close(matrix.cov(correction=0), [[1.5556, -1.3333], [-1.3333, 2.6667]])
    close(matrix.cov(fweights=gs.tensor([1, 2, 3])), [[1.7667, -2.0667], [-2.0667, 3.8667]])
    close(matrix.cov(aweights=gs.tensor([1.0, 2, 3])), [[2.4091, -2.8182], [-2.8182, 5.2727]])
    both = matrix.cov(correction=2, fweights=gs.tensor([1, 2, 3]), aweights=gs.tensor([1.0, 2, 3]))
    close(both, [[1.8468, -2.6935], [-2.6935, 5.0645]])
    close(matrix[0].cov(), 2.3333)
    assert matrix[:1].cov().shape == ()
    assert gs.zeros(0, 3).cov().shape == (0, 0)
    turned = matrix + 1j * matrix.flip(1)
    close(turned.cov(aweights=gs.tensor([1.0, 2, 3])), [[4.2727, -3.8182 + 1.4545j], [-3.8182 - 1.4545j, 8.3636]])


def test_correlations():
    matrix = gs.tensor(MATRIX)
    close(matrix.corrcoef(), [[1, -0.6547], [-0.6547, 1]])
    close(matrix[0].corrcoef(), 1.0)
    assert gs.corrcoef(gs.ones(2, 3)).isnan().all()


def test_few_observations_are_warned_of():
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert gs.tensor(MATRIX).cov(correction=5).isinf().all()
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert gs.zeros(2, 0).cov().isnan().all()


# ---- slices of limited norm


def test_renorm():
    matrix = gs.tensor(MATRIX)
    close(gs.renorm(matrix, 2, 0, 4.0), [[0.8729, 1.7457, 3.4915], [2.0284, 3.3806, 0.6761]])
    close(gs.renorm(matrix, 1, 1, 4.0), [[1, 1.1429, 3.2], [3, 2.8571, 0.8]])
    close(gs.renorm(matrix, math.inf, 1, 4.0), [[1, 1.6, 4], [3, 4, 1]])
    assert gs.renorm(gs.zeros(2, 2), 2, 0, 1.0).tolist() == [[0.0, 0.0]] * 2
    kept = matrix.requires_grad_().renorm(2, 0, 4.7)
    (kept * matrix.detach()).sum().backward()
    close(matrix.grad, [[1, 2, 4], [4.0286e-08, 6.7143e-08, 1.3429e-08]])
    close(gs.tensor(MATRIX).renorm_(2, 0, 4.7)[1], [2.3833, 3.9722, 0.7944])


# ---- slopes


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [1, 1.5, 3, 6, 8]),
        ({"edge_order": 2}, [0.5, 1.5, 3, 6, 10]),
        ({"spacing": 2.0}, [0.5, 0.75, 1.5, 3, 4]),
        ({"spacing": [2.0]}, [0.5, 0.75, 1.5, 3, 4]),
        ({"spacing": 2j}, [-0.5j, -0.75j, -1.5j, -3j, -4j]),
        ({"spacing": (gs.tensor(PLACES),)}, [1, 1, 3, 3.6667, 2.6667]),
        ({"spacing": (gs.tensor(PLACES),), "edge_order": 2}, [1, 1, 3, 3.6667, 1.6667]),
    ],
)
def test_slopes(arguments, expected):
    (found,) = gs.gradient(gs.tensor(POWERS), **arguments)
    close(found, expected)


def test_slopes_along_dimensions():
    squares = gs.arange(6.0).reshape(2, 3) ** 2
    down, along = gs.gradient(squares, spacing=[1.0, 2.0])
    close(down, [[9, 15, 21]] * 2)
    close(along, [[0.5, 1, 1.5], [3.5, 4, 4.5]])
    along, down = gs.gradient(squares, dim=(1, 0), spacing=[3.0, 1.0])
    close(along, [[0.3333, 0.6667, 1], [2.3333, 2.6667, 3]])
    assert len(gs.gradient(gs.tensor(1.0))) == 0
    close(gs.gradient(gs.tensor([1, 2, 4, 8]))[0], [1, 1.5, 3, 4])


def test_coordinates_have_a_gradient():
    places = gs.tensor(PLACES, dtype=gs.float64, requires_grad=True)
    heights = gs.tensor(POWERS, dtype=gs.float64, requires_grad=True)
    assert gs.autograd.gradcheck(lambda x, y: gs.gradient(y, spacing=(x,), edge_order=2)[0], (places, heights))


# ---- errors


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: gs.cdist(m.long(), m), RuntimeError, "floating-point"),
        (lambda m: gs.cdist(m.double(), m), RuntimeError, "dtype"),
        (lambda m: gs.cdist(m[0], m), RuntimeError, "2D"),
        (lambda m: gs.cdist(m, gs.zeros(3, 2)), RuntimeError, "columns"),
        (lambda m: gs.cdist(m, m, -1.0), RuntimeError, "non-negative"),
        (lambda m: gs.cdist(m, m, compute_mode="foo"), ValueError, "compute_mode"),
        (lambda m: gs.pdist(m[0]), RuntimeError, "2D"),
        (lambda m: gs.pdist(m, math.nan), RuntimeError, "non-negative"),
        (lambda m: m[None].cov(), RuntimeError, "two or fewer"),
        (lambda m: (m > 2).cov(), RuntimeError, "bool"),
        (lambda m: m.cov(fweights=gs.ones(3)), RuntimeError, "integral"),
        (lambda m: m.cov(fweights=gs.tensor([1, 2, -3])), RuntimeError, "negative"),
        (lambda m: m.cov(fweights=gs.tensor([1, 2])), RuntimeError, "observations"),
        (lambda m: m.cov(aweights=gs.tensor([1, 2, 3])), RuntimeError, "floating point"),
        (lambda m: m[None].corrcoef(), RuntimeError, "corrcoef.*two or fewer"),
        (lambda m: m.renorm(0, 0, 1.0), RuntimeError, "non-positive-norm"),
        (lambda m: m.renorm(1, 0, -1.0), RuntimeError, "maxnorm"),
        (lambda m: m[0].renorm(1, 0, 1.0), RuntimeError, "2 dimensions"),
        (lambda m: m.long().renorm(1, 0, 1.0), RuntimeError, "floating point"),
        (lambda m: m.renorm(1, 2, 1.0), IndexError, "range"),
        (lambda m: gs.gradient(m, edge_order=3), RuntimeError, "edge_order"),
        (lambda m: gs.gradient(m, edge_order=2), RuntimeError, "edge_order"),
        (lambda m: gs.gradient(m, spacing=[1.0]), RuntimeError, "list"),
        (lambda m: gs.gradient(m, dim=(1, 1)), RuntimeError, "multiple times"),
        (lambda m: gs.gradient(m, dim=2), IndexError, "range"),
        (lambda m: gs.gradient(m, spacing=gs.ones(3)), TypeError, "spacing"),
        (lambda m: gs.gradient(m, dim=1, spacing=(gs.ones(2),)), RuntimeError, "coordinates"),
        (lambda m: gs.gradient(m > 2), RuntimeError, "bool"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(gs.tensor(MATRIX))
