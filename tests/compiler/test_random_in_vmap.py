"""Random numbers inside of `vmap` inside of a compiled function: the stream of eager."""

from typing import Any

import pytest

import gradsmith as gs

DRAWS = {
    "rand": lambda r: r + gs.rand(3),
    "randn_like": lambda r: r + gs.randn_like(r),
    "randint": lambda r: r + gs.randint(0, 10, (3,)),
    "randperm": lambda r: r + gs.randperm(3),
    "bernoulli": lambda r: gs.bernoulli(r * 0.5),
    "normal": lambda r: gs.normal(r, 2.0),
    "dropout": lambda r: gs.nn.functional.dropout(r, 0.5),
    "grad": gs.func.grad(lambda r: (r * gs.rand(3)).sin().sum()),
    "two": lambda r: gs.rand(3) * r + gs.randn(3),
}


def check(function: Any, *args: Any) -> None:
    compiled = gs.compile(function)
    for seed in range(3):
        found = []
        for called in (compiled, function):
            gs.manual_seed(seed)
            found.append([called(*args), gs.rand(2)])
        assert all(gs.equal(one, other) for one, other in zip(*found))
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("draw", DRAWS)
def test_as_in_eager(draw: str, randomness: str) -> None:
    check(gs.vmap(DRAWS[draw], randomness=randomness), gs.ones(4, 3))


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_nested(randomness: str) -> None:
    inner = gs.vmap(lambda r: r + gs.rand(2), randomness=randomness)
    check(gs.vmap(inner, randomness="different"), gs.ones(3, 4, 2))


def test_it_has_to_be_said() -> None:
    with pytest.raises(RuntimeError, match="randomness="):
        gs.compile(gs.vmap(lambda r: r + gs.rand(3)))(gs.ones(4, 3))
