"""`on_escape="guard"`: a program for each way that values lead through a function."""

from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler import TraceError


def branching(x: Any) -> Any:
    y = x * 2
    if y.sum() > 0:
        return (y.sin() * x).sum()
    return (y.exp() * x * x).sum()


def looping(x: Any) -> Any:
    steps = 0
    while (x * x).sum() < 10:
        x = x * 1.5 + 0.01
        steps += 1
    return x.sum() + steps


def indexed(x: Any) -> Any:
    return x[int(x.argmax())] * x.sum()


TRANSFORMS = {
    "value": lambda f: f,
    "grad": gs.func.grad,
    "hessian": gs.func.hessian,
    "jvp": lambda f: lambda x: gs.func.jvp(f, (x,), (x * 0.5,)),
}


@pytest.mark.parametrize("function", [branching, looping, indexed])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_as_in_eager(function: Any, transform: str) -> None:
    eager = TRANSFORMS[transform](function)
    compiled = gs.compile(eager, on_escape="guard")
    for _ in range(2):
        for seed in range(8):
            x = gs.tensor(np.random.default_rng(seed).standard_normal(3) * (1 + seed % 3))
            found, expected = compiled(x), eager(x)
            for one, other in zip(*[one if isinstance(one, tuple) else (one,) for one in (found, expected)]):
                np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-14)
    assert 2 <= len(compiled.programs) <= 8


def test_backward() -> None:
    compiled = gs.compile(branching, on_escape="guard")
    for seed in range(6):
        gradients = []
        for called in (compiled, branching):
            x = gs.tensor(np.random.default_rng(seed).standard_normal(3), requires_grad=True)
            called(x).backward()
            gradients.append(x.grad.numpy())
        np.testing.assert_array_equal(*gradients)
    assert len(compiled.programs) == 2


def test_nothing_is_written_by_a_run_that_is_given_up() -> None:
    total = gs.zeros(3)

    def function(x: Any) -> Any:
        total.add_(x)
        x.mul_(2)
        return x.sum() if total.sum() > 5 else -x.sum()

    compiled = gs.compile(function, on_escape="guard")
    for start in (0.0, 10.0, 0.0, 10.0, 1.0):
        found = []
        for called in (compiled, function):
            total.fill_(start)
            x = gs.ones(3)
            found.append((called(x).item(), total.tolist(), x.tolist()))
        assert found[0] == found[1]
    assert len(compiled.programs) == 2


def test_random_numbers_are_drawn_once() -> None:
    def function(x: Any) -> Any:
        y = x + gs.randn(3)
        return y if y.sum() > 0 else y * gs.rand(3)

    compiled = gs.compile(function, on_escape="guard")
    for seed in range(10):
        found = []
        for called in (compiled, function):
            gs.manual_seed(seed)
            found.append([called(gs.zeros(3)).numpy(), gs.rand(2).numpy()])
        for one, other in zip(*found):
            np.testing.assert_array_equal(one, other)


def test_what_cannot_be_guarded() -> None:
    with pytest.raises(TraceError, match="is not possible"):
        gs.compile(lambda x: x * float(x.sum()), on_escape="guard")(gs.ones(2))
    with pytest.raises(TraceError, match="is not possible"):
        gs.compile(lambda x: x[x > 0], on_escape="guard")(gs.ones(2))
    model = gs.nn.Linear(2, 1)
    optimizer = gs.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any) -> Any:
        model(x).sum().backward()
        optimizer.step()
        return x if model.weight.sum() > 0 else -x

    with pytest.raises(TraceError, match="after SGD.step"):
        gs.compile(step, on_escape="guard")(gs.ones(2))
