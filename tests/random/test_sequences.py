"""Choices, permutations, PyTorch's draws of places and counts, and the state of the generator."""

import numpy as np
import pytest

import gradsmith as gs


def source(seed=1):
    return gs.Generator().manual_seed(seed)


# ---- multinomial


def test_places_with_replacement_come_by_their_weights():
    weights = gs.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 0.0]])
    found = gs.multinomial(weights, 20_000, True, generator=source()).numpy()
    for row, expected in zip(found, ([0.25, 0, 0.75], [0.5, 0.5, 0])):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / 20_000, expected, atol=0.015)
        assert (np.bincount(row, minlength=3) > 0).tolist() == [part > 0 for part in expected]


def test_places_without_replacement():
    weights = gs.tensor([1.0, 2.0, 0.0, 5.0])
    found = np.array([weights.multinomial(3, generator=source(i)).tolist() for i in range(2000)])
    assert (np.sort(found, 1) == [0, 1, 3]).all()
    np.testing.assert_allclose(np.bincount(found[:, 0]) / 2000, [1 / 8, 1 / 4, 0, 5 / 8], atol=0.04)
    second = found[found[:, 0] == 3][:, 1]  # of the others by their weights
    np.testing.assert_allclose((second == 1).mean(), 2 / 3, atol=0.05)


@pytest.mark.parametrize(
    ("weights", "count", "words"),
    [
        ([1.0, -1.0], 1, "element < 0"), ([np.nan, 1.0], 1, "`nan`"), ([np.inf, 1.0], 1, "`inf`"),
        ([0.0, 0.0], 1, "sum of probabilities <= 0"), ([[1.0, 0.0], [0.0, 0.0]], 2, "sum of probabilities <= 0"),
        ([1.0, 2.0], 3, "without replacement"), ([1.0], 0, "n_sample <= 0"), ([[[1.0]]], 1, "1 or 2 dim"),
    ],
)  # fmt: skip
def test_multinomial_refuses(weights, count, words):
    with pytest.raises(RuntimeError, match=words):
        gs.multinomial(gs.tensor(weights), count)


def test_categories_without_weight_come_last():
    assert gs.multinomial(gs.tensor([1.0, 0.0]), 2).tolist() == [0, 1]
    assert gs.multinomial(gs.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), 3).tolist() == [[2, 0, 1], [0, 1, 2]]
    found = gs.multinomial(gs.tensor([0.0, 1.0, 0.0, 2.0]), 4).tolist()
    assert sorted(found[:2]) == [1, 3] and found[2:] == [0, 2]


def test_multinomial_of_integers():
    with pytest.raises(NotImplementedError, match="floating"):
        gs.multinomial(gs.tensor([1, 2]), 1)


# ---- poisson, binomial


def test_counts_of_pytorch():
    rates = gs.full((4000,), 3.0)
    found = gs.poisson(rates, generator=source())
    assert found.dtype == rates.dtype and abs(found.mean().item() - 3) < 0.15
    found = gs.binomial(gs.full((4000,), 10.0), gs.tensor(0.3), generator=source())
    assert abs(found.mean().item() - 3) < 0.12 and found.max() <= 10
    with pytest.raises(RuntimeError, match="non-negative"):
        gs.poisson(-rates)
    with pytest.raises(RuntimeError, match=r"in \[0, 1\]"):
        gs.binomial(rates, rates)
    for call in (lambda: gs.poisson(3.0), lambda: gs.binomial(rates, 0.5)):
        with pytest.raises(TypeError, match="must be Tensor"):
            call()


def test_random_slopes_in_place():
    x = gs.tensor([-1.0, 2.0])
    assert gs.rrelu_(x, 0.25, 0.5, True) is x
    assert -0.5 <= x[0] <= -0.25 and x[1] == 2
    assert gs.nn.functional.rrelu_(gs.tensor([-1.0]), 0.25, 0.75).item() == -0.5


# ---- sequences


def test_choices():
    numbers = gs.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    found = gs.random.choice(numbers, (2, 2), axis=1, p=[0.0, 0.0, 1.0])
    assert found.shape == (2, 2, 2) and found[0].tolist() == [[3.0, 3.0], [3.0, 3.0]]
    found.sum().backward()
    assert numbers.grad.tolist() == [[0, 0, 4], [0, 0, 4]]
    assert sorted(gs.random.choice(4, 4, replace=False).tolist()) == [0, 1, 2, 3]
    assert gs.random.choice(4).shape == ()
    with pytest.raises(ValueError):
        gs.random.choice(3, 4, replace=False)


def test_permutations():
    x = gs.arange(12).reshape(4, 3)
    rows = gs.random.permutation(x, generator=source())
    assert sorted(rows.tolist()) == x.tolist()
    columns = gs.random.permuted(x, axis=1, generator=source())
    assert columns.sort(1).values.tolist() == x.tolist()
    assert sorted(gs.random.permuted(x).reshape(-1).tolist()) == list(range(12))
    y = x.clone()
    assert gs.random.shuffle(y, generator=source()) is None
    assert sorted(y.tolist()) == x.tolist() and y._version == 1
    assert sorted(gs.random.permutation(5).tolist()) == list(range(5))
    with pytest.raises(TypeError, match="must be Tensor"):
        gs.random.shuffle([1, 2])


def test_integers():
    assert set(gs.random.integers(3, size=200).tolist()) == {0, 1, 2}
    assert set(gs.random.integers(1, 2, 50, endpoint=True, dtype=gs.uint8).tolist()) == {1, 2}


def test_vectors():
    mean = gs.tensor([1.0, -1.0], dtype=gs.float64, requires_grad=True)
    cov = gs.tensor([[2.0, 0.6], [0.6, 0.5]], dtype=gs.float64, requires_grad=True)
    found = gs.random.multivariate_normal(mean, cov, 20_000, generator=source())
    numbers = found.detach().numpy()
    np.testing.assert_allclose(numbers.mean(0), [1, -1], atol=0.05)
    np.testing.assert_allclose(np.cov(numbers.T), cov.detach().numpy(), atol=0.06)
    (found[:, 0] ** 2).mean().backward()  # mean^2 + variance
    assert abs(mean.grad[0].item() - 2) < 0.1 and abs(cov.grad[0, 0].item() - 1) < 0.1
    with pytest.raises(ValueError, match="do not fit"):
        gs.random.multivariate_normal(mean, gs.eye(3))


# ---- the generator


def test_forked_state():
    gs.random.manual_seed(5)
    with gs.random.fork_rng():
        first = gs.rand(3)
    assert gs.equal(first, gs.rand(3))
    state = gs.get_rng_state()
    with gs.random.fork_rng(enabled=False):
        gs.rand(1)
    assert not gs.equal(state, gs.random.get_rng_state()) and gs.random.initial_seed() == 5


# ---- PyTorch's internal names


def test_internal_names_of_gamma_and_dirichlet():
    a = gs.tensor([0.5, 20.0], requires_grad=True)
    (gradient,) = gs.autograd.grad(gs._standard_gamma(a.expand(4000, 2), source()).mean(0).sum(), a)
    np.testing.assert_allclose(gradient, [1.0, 1.0], atol=0.15)
    parts = gs._sample_dirichlet(gs.tensor([[1.0, 2.0], [3.0, 4.0]]), generator=source())
    np.testing.assert_allclose(parts.sum(-1), [1.0, 1.0], rtol=1e-6)
    with pytest.raises(RuntimeError, match="expects a floating dtype for 'input', got int64"):
        gs._standard_gamma(gs.tensor([1, 2]))


# ---- Sobol' sequences


def engine(*args, **named):
    pytest.importorskip("scipy.stats")
    return gs.quasirandom.SobolEngine(*args, **named)


def test_points_of_sobol():
    """The first points as PyTorch has them."""
    e = engine(3)
    first = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]]
    second = [[0.375, 0.375, 0.625], [0.875, 0.875, 0.125]]
    found = e.draw(4)
    assert found.tolist() == first and found.dtype == gs.float32 and e.num_generated == 4
    found = e.draw(2, dtype=gs.float64)
    assert found.tolist() == second and found.dtype == gs.float64
    assert e.reset() is e and e.draw().tolist() == first[:1]
    assert e.fast_forward(2) is e and e.draw(2).tolist() == [first[3], second[0]]
    assert engine(3).fast_forward(3).draw(2).tolist() == [first[3], second[0]]
    assert engine(3).fast_forward(0).draw(6, out=gs.empty(0)).tolist() == first + second
    assert engine(3).draw_base2(2).tolist() == first
    assert engine(2).MAXDIM == 21201 and engine(21201).draw(3).shape == (3, 21201)
    assert [repr(engine(2)), repr(engine(2, True, 0))] == [
        "SobolEngine(dimension=2)", "SobolEngine(dimension=2, scramble=True, seed=0)",
    ]  # fmt: skip


def test_scrambled_points_of_sobol():
    one, same, other = engine(2, True, seed=3), engine(2, True, seed=3), engine(2, True, seed=4)
    points = one.draw(8)
    assert gs.equal(points, same.draw(8)) and not gs.equal(points, other.draw(8))
    assert gs.equal(one.reset().draw(8), points)
    assert sorted((points[:, 0] * 8).floor().tolist()) == list(range(8))  # one in each eighth
    gs.manual_seed(1)
    drawn = engine(2, scramble=True).draw(3)
    gs.manual_seed(1)
    assert gs.equal(engine(2, scramble=True).draw(3), drawn) and not gs.equal(engine(2, scramble=True).draw(3), drawn)


def test_points_of_sobol_that_are_refused():
    for dimension in (0, 21202):
        with pytest.raises(ValueError, match=r"range of dimensionality for SobolEngine is \[1, 21201\]"):
            engine(dimension)
    e = engine(2)
    e.draw(3)
    with pytest.raises(ValueError, match=r"3 points have been previously generated, then: n=3\+2\*\*1=5"):
        e.draw_base2(1)
