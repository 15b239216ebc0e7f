"""Random programs (ops, writes to views, transforms inside of transforms) as compiled functions, against eager."""

from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from tests.func import programs

LIBRARY = programs.Library(gs, func)

pytestmark = pytest.mark.filterwarnings("ignore:vmap calls")  # of as_strided(), once for each slice


def vectors(seed: int) -> list[Any]:
    random_numbers = np.random.default_rng(seed)
    return [gs.tensor(random_numbers.normal(size=3) * 0.6) for _ in range(3)]


# Eager chooses the slope of a product by its values, see `is_free_of_zeros`, so that results agree to rounding; which
# transforms within transforms within transforms magnify.
TOLERANCES = {0: 1e-9, 1: 1e-9, 2: 1e-9, 3: 1e-6}


def check(seed: int, depth: int) -> None:
    """A program that was made with the numbers of one seed, on those of three."""
    program = programs.random_program(seed, depth)

    def function(x: Any, *captured: Any) -> Any:
        return programs.run(LIBRARY, program, x, list(captured))

    compiled = gs.compile(function)
    for other in (seed, seed + 1, seed + 2):
        found, expected = compiled(*vectors(other)), function(*vectors(other))
        tolerance = TOLERANCES[depth]
        np.testing.assert_allclose(
            found.numpy(), expected.numpy(), tolerance, tolerance * 1e-3, err_msg=f"{seed}: {program}"
        )
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_programs(depth: int) -> None:
    for seed in range(120):
        check(seed, depth)


@pytest.mark.long
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_many_programs(depth: int) -> None:
    for seed in range(1000, 3000):
        check(seed, depth)
