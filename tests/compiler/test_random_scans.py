"""Random scans in compiled functions, traced once and step by step, against eager."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.control_flow import once
from gradsmith.utils import pytree

pytestmark = pytest.mark.filterwarnings("error:compile")

UNARY: dict[str, Callable[[Any], Any]] = {
    "tanh": lambda x: x.tanh(),
    "sin": lambda x: x.sin(),
    "square": lambda x: 0.3 * x * x,
    "sigmoid": lambda x: x.sigmoid() - 0.4,
    "root": lambda x: (x * x + 0.5).sqrt(),
    "detach": lambda x: x.detach() + 0.1,
    "flip": lambda x: x.flip(0),
    "mean": lambda x: x.mean() + x * 0.1,
    "row": lambda x: x[0] * x,
    "cat": lambda x: gs.cat([x[1:], x[:1]]),
    "where": lambda x: gs.where(x > 0.1, x, 0.2 * x),
    "write": lambda x: _written(x),
    "slope": lambda x: gs.func.grad(lambda x: (x.sin() * x).sum())(x),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - 0.7 * y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (1.5 + y * y),
    "first": lambda x, y: x,
}


def _written(x: Any) -> Any:
    out = gs.zeros(3, dtype=x.dtype)
    out[1:] = x[:2]
    return out


class Body:
    """A random step: a few ops on values that it was given or has made, which become the next state and results."""

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        self.n_state, self.n_rows, self.n_results = choose.randint(1, 3), choose.randint(0, 2), choose.randint(0, 2)
        n_values = self.n_state + self.n_rows + 2
        self.ops = []
        for _ in range(choose.randint(2, 8)):
            name = choose.choice([*UNARY, *BINARY, "matmul"])
            self.ops.append((name, choose.randrange(n_values), choose.randrange(n_values)))
            n_values += 1
        made = range(n_values - len(self.ops), n_values)
        self.state = [choose.choice(made) for _ in range(self.n_state)]
        anything = [*made, *range(self.n_state), *made]
        self.results = [choose.choice(anything) for _ in range(self.n_results)]
        self.results += choose.sample(self.state, choose.randint(0, 1))
        self.n = choose.choice([64, 65, 80, 101])
        self.reverse = choose.random() < 0.3
        self.checkpoint = choose.choice([None, None, None, 9, "sqrt"])

    def __call__(self, state: Any, rows: Any, w: Any, scale: Any) -> Any:
        values = [*state, *(rows or ()), w[0], scale]
        for name, i, j in self.ops:
            if name == "matmul":
                values.append((w @ values[i]).tanh())
            elif name in UNARY:
                values.append(UNARY[name](values[i]))
            else:
                values.append(BINARY[name](values[i], values[j]))
        state = tuple([0.9 * values[i].tanh() if i % 2 else values[i] * 0.5 for i in self.state])
        results = tuple([state[self.state.index(i)] if i in self.state else values[i] for i in self.results])
        return state, results or None

    def run(self, *given: Any) -> Any:
        state, w, scale = given[: self.n_state], given[-2], given[-1]
        rows = given[self.n_state : -2] or None
        # Eager's checkpoints refuse some of what these steps do.
        checkpoint = self.checkpoint if gs.compiler.is_compiling() else None
        return gs.scan(
            lambda state, rows: self(state, rows, w, scale), tuple(state), rows, self.n, self.reverse, checkpoint
        )

    def operands(self, seed: int) -> list[Any]:
        rng = np.random.default_rng(seed)
        shapes = [(3,)] * self.n_state + [(self.n, 3)] * self.n_rows + [(3, 3), (3,)]
        return [gs.tensor(rng.standard_normal(shape) * 0.6) for shape in shapes]

    def loss(self, *given: Any) -> Any:
        leaves = [leaf for leaf in pytree.flatten(self.run(*given))[0] if leaf is not None]
        return sum([((n + 1.3) * leaf * leaf).sum() for n, leaf in enumerate(leaves)])


def close(found: Any, expected: Any, tolerance: float, seed: int) -> None:
    for one, other in zip(pytree.flatten(found)[0], pytree.flatten(expected)[0], strict=True):
        if one is not None:
            array, wanted = one.detach().numpy(), other.detach().numpy()
            size = tolerance * max(1.0, float(np.nanmax(np.abs(wanted), initial=0.0)))
            np.testing.assert_allclose(array, wanted, tolerance, size, err_msg=f"seed {seed}")


def along(function: Any, number: int) -> Any:
    """The tangent along one operand and the first part of the state."""

    def pushed(*given: Any) -> Any:
        def of_two(first: Any, other: Any) -> Any:
            return function(first, *given[1:number], other, *given[number + 1 :])

        two = given[0], given[number]
        return gs.func.jvp(of_two, two, two)

    return pushed


def check(seed: int) -> None:
    body = Body(seed)
    everything = tuple(range(len(body.operands(0))))
    slopes = gs.func.grad(body.loss, everything)
    pairs = [(gs.compile(body.run), body.run, 0.0), (gs.compile(slopes), slopes, 1e-12)]
    if seed % 3 == 0:
        second = gs.func.grad(lambda *given: sum([(one * one).sum() for one in slopes(*given)]), everything)
        pairs.append((gs.compile(second), second, 1e-9))
    if seed % 3 == 1:
        number = body.n_state + body.n_rows
        for function in (body.loss, gs.func.grad(body.loss, (0, number))):
            pushed = along(function, number)
            pairs.append((gs.compile(pushed), pushed, 1e-9))
    for compiled, function, tolerance in pairs:
        for other in (seed, seed + 1):
            given = body.operands(other)
            close(compiled(*given), function(*given), tolerance, seed)
        assert compiled.programs


def test_scans() -> None:
    for seed in range(40):
        check(seed)


def test_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is traced once gives what each step traced gives."""
    for seed in range(100, 112):
        body = Body(seed)
        slopes = gs.func.grad(body.loss, tuple(range(len(body.operands(0)))))
        given = body.operands(seed)
        found = gs.compile(body.run)(*given), gs.compile(slopes)(*given)
        with monkeypatch.context() as patch:
            patch.setattr(once, "FEWEST", 1_000_000)
            expected = gs.compile(body.run)(*given), gs.compile(slopes)(*given)
        close(found[0], expected[0], 0.0, seed)
        close(found[1], expected[1], 1e-12, seed)


@pytest.mark.long
def test_many_scans() -> None:
    for seed in range(1000, 2000):
        check(seed)
