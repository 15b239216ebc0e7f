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


def check(seed: int, depth: int) -> None:
    """A program that was made with the numbers of one seed, on those of three."""
    program = programs.random_program(seed, depth)

    def function(x: Any, *captured: Any) -> Any:
        return programs.run(LIBRARY, program, x, list(captured))

    compiled = gs.compile(function)
    for other in (seed, seed + 1, seed + 2):
        found, expected = compiled(*vectors(other)), function(*vectors(other))
        # To rounding: the slope of a product is chosen by its values in eager, see `is_free_of_zeros`.
        np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-9, 1e-12, err_msg=f"{seed}: {program}")
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
