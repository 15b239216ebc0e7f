"""Random programs: sparse Jacobians and Hessians against dense ones."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func


class Opaque(gs.autograd.Function):
    """A Function of which nothing is known: here each element depends on its neighbour."""

    @staticmethod
    def forward(ctx, x):
        return gs.cat([x.ravel()[-1:], x.ravel()[:-1]]).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad):
        return gs.cat([grad.ravel()[1:], grad.ravel()[:1]]).reshape(grad.shape)


def written(step):
    """A step that writes to a copy of its argument."""

    def made(x, *others):
        copy = x.clone()
        step(copy, *others)
        return copy

    return made


def some(x, dim=0):
    return gs.tensor([i % x.shape[dim] for i in (2, 0, 1, 0)])


def negate_through_views(x):
    x.reshape(-1)[1::2].neg_()
    x.T[0].mul_(x.T[-1].clone())


def add_up(x, y):
    x.reshape(-1).index_add_(0, some(x.reshape(-1)), gs.broadcast_to(y.reshape(-1)[:1], (4,)))


UNARY = (
    gs.sin, gs.tanh, gs.exp, gs.abs, gs.relu, gs.sigmoid, lambda x: x**2, lambda x: 1 / (2 + x * x),
    lambda x: 3 * x - 1, lambda x: gs.where(x > 0.2, x, x * x), lambda x: x.clamp(-0.5, 0.5),
    lambda x: x.to(gs.float64),
)  # fmt: skip
MOVING = (
    lambda x: x.T, lambda x: x.reshape(-1), lambda x: x.reshape(-1)[1:], lambda x: x[::2], lambda x: x[None],
    lambda x: x.reshape(-1)[some(x.reshape(-1))], lambda x: x.flip(0), lambda x: x.expand(2, *x.shape),
    lambda x: gs.index_select(x, 0, some(x)), lambda x: x[..., -1:], lambda x: x.unbind(0)[-1], lambda x: x.split(2)[0],
    lambda x: gs.stack([x, 2 * x]).transpose(0, -1),
    lambda x: x.reshape(-1).masked_select(gs.arange(x.numel()) % 2 == 0),
)  # fmt: skip
MIXING = (
    lambda x: x.sum(0), lambda x: x.mean(-1, keepdim=True), lambda x: x.cumsum(0), lambda x: x.softmax(-1),
    lambda x: x.amax(0), lambda x: x.max(-1)[0], lambda x: gs.logsumexp(x, (0,)), lambda x: x.var(0, correction=0),
    lambda x: x.prod(0), lambda x: x.log_softmax(0), Opaque.apply, lambda x: x.gather(0, gs.zeros_like(x).to(gs.int64)),
)  # fmt: skip
BINARY = (
    gs.add, gs.mul, gs.sub, gs.maximum, lambda x, y: x / (2 + y * y), lambda x, y: gs.cat([x.ravel(), y.ravel()]),
    lambda x, y: gs.outer(x.ravel()[:3], y.ravel()[:3]), lambda x, y: x.reshape(1, -1) @ x.reshape(-1, 1) + y,
)  # fmt: skip
WRITES = (
    written(lambda x: x[:1].mul_(3)), written(lambda x: x[::2].sin_()), written(lambda x: x.zero_()),
    written(negate_through_views), written(lambda x: x.reshape(-1)[-1:].fill_(0.5)),
)  # fmt: skip
WRITES_OF_TWO = (
    written(lambda x, y: x.copy_(y.ravel()[0])), written(lambda x, y: x[-1:].add_(y.ravel()[0])), written(add_up),
    written(lambda x, y: x.reshape(-1).__setitem__(some(x.reshape(-1)), y.ravel()[:1])),
)  # fmt: skip


class Program:
    """Steps drawn with a seed, the same for all arguments of one shape."""

    def __init__(self, seed, steps=7):
        self.seed, self.steps = seed, steps

    def __call__(self, x):
        random = np.random.default_rng(self.seed)
        pool = [x]
        for _ in range(self.steps):
            self.step(random, pool)
        return gs.cat([value.reshape(-1) for value in pool[-3:]])

    def step(self, random, pool):
        kinds, weights = (UNARY, MOVING, MIXING, WRITES, BINARY, WRITES_OF_TWO), (4, 4, 1, 2, 4, 1)
        ops = kinds[random.choice(len(kinds), p=np.array(weights) / sum(weights))]
        op = ops[random.integers(len(ops))]
        taken = [pool[random.integers(len(pool))] for _ in range(2 if ops in (BINARY, WRITES_OF_TWO) else 1)]
        if any(value.numel() == 0 or value.ndim == 0 or value.numel() > 40 for value in taken):
            return
        try:
            np.broadcast_shapes(*[value.shape for value in taken])
        except ValueError:
            taken = [taken[0].reshape(-1), taken[1].reshape(-1)[:1]]
        pool.append(op(*taken))


def points(seed):
    """Two arguments of one shape, at which branches by value differ."""
    shape = [(7,), (3, 4), (2, 3, 2)][seed % 3]
    random = np.random.default_rng(seed)
    return [gs.tensor(random.uniform(-1, 1, shape)) for _ in range(2)]


def by_rows(f, x):
    """The Jacobian by one product for each row."""
    value, product = func.vjp(f, x)
    units = np.eye(value.numel(), dtype=value.dtype)
    rows = [product(gs.tensor(unit.reshape(value.shape)))[0].numpy().ravel() for unit in units]
    return np.array(rows).reshape(value.numel(), x.numel())


@pytest.mark.parametrize("seed", range(150))
def test_jacobians_are_those_of_products_with_unit_vectors(seed):
    program = Program(seed)
    here, there = points(seed)
    pattern = func.jacobian_pattern(program)(here)
    for mode in ("auto", "forward", "reverse"):
        for x in (here, there):
            found = func.sparse_jacobian(program, pattern=pattern, mode=mode, check=True)(x)
            expected = by_rows(program, x)
            np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12, atol=1e-13)
            assert not expected[~pattern.array.toarray()].any()


@pytest.mark.parametrize("seed", range(1000, 1100))
def test_hessians_are_the_jacobians_of_gradients(seed):
    program = Program(seed, steps=5)

    def energy(x):
        return (program(x) ** 2).sum() + program(x)[:3].prod(0)

    here, there = points(seed)
    pattern = func.hessian_pattern(energy)(here)
    for x in (here, there):
        found = func.sparse_hessian(energy, pattern=pattern, check=True)(x)
        expected = by_rows(func.grad(energy), x)
        np.testing.assert_allclose(found.toarray(), expected, rtol=1e-9, atol=1e-9 * (1 + abs(expected).max()))


def test_programs_have_patterns_of_all_densities():
    patterns = [func.jacobian_pattern(Program(seed))(points(seed)[0]) for seed in range(60)]
    densities = [pattern.nnz / max(np.prod(pattern.shape), 1) for pattern in patterns]
    assert sum(density < 0.3 for density in densities) > 20
    assert any(density == 1 for density in densities)
