"""Products of matrices and vectors in compiled functions: the bits of eager, whatever the layouts."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradsmith as gs

NAMED = {(2, 2): gs.mm, (2, 1): gs.mv, (1, 1): gs.dot}


def layouts(array: np.ndarray) -> list[Any]:
    """Values of a shape in several layouts: makers of tensors, so that each is one of its own."""
    found = [lambda: gs.tensor(array)]
    if array.ndim == 2:
        found.append(lambda: gs.tensor(np.ascontiguousarray(array.T)).T)
    found.append(lambda: gs.tensor(np.repeat(array, 2, axis=-1))[..., ::2])
    found.append(lambda: gs.tensor(array[..., :1].copy()).expand(array.shape))
    return found


def shapes() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Of two matrices, a vector and a matrix, a matrix and a vector, and two vectors."""
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for m, k, n in product((1, 2, 3, 5, 9), repeat=3):
        found.append(((m, k), (k, n)))
    for k, n in product((1, 2, 3, 5, 9), repeat=2):
        found += [((k,), (k, n)), ((n, k), (k,))]
    return found + [((k,), (k,)) for k in (1, 2, 3, 5, 9, 17)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_has_the_bits_of_eager(dtype: Any) -> None:
    """A program that rounds otherwise than its traced run is refused with a warning, which is an error here."""
    random_numbers = np.random.default_rng(0)
    for left, right in shapes():
        a, b = (random_numbers.normal(size=shape).astype(dtype) for shape in (left, right))
        named = NAMED.get((a.ndim, b.ndim), gs.matmul)

        def function(x: Any, y: Any, named: Any = named) -> Any:
            return named(x * 1.5, y) + x @ y  # of a value of the program, and of an argument

        for x, y in product(layouts(a), layouts(b)):
            compiled = gs.compile(function)
            for _ in range(2):  # the second call runs the program
                np.testing.assert_array_equal(compiled(x(), y()).numpy(), function(x(), y()).numpy(), f"{left} {right}")
            assert len(compiled.programs) == 1


def test_sums_of_a_number() -> None:
    x = gs.tensor(3.0, dtype=gs.float64)
    function = lambda x: (x * 2).sum(0) + (x * 3).sum((-1,), keepdim=True) + x.sum()  # noqa: E731
    compiled = gs.compile(function)
    for one in (x, x * 2):
        assert compiled(one).item() == function(one).item()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shapes", [((5, 1, 7), (7, 6)), ((2, 3, 4, 8), (8, 5)), ((4, 6, 3), (3,)), ((1, 1, 3), (3, 2)), ((1, 4, 9), (9, 9))]
)
def test_stacks_of_matrices_times_one(shapes: Any, dtype: Any) -> None:
    def function(a: Any, b: Any) -> Any:
        return [
            one @ b * 2
            for one in (
                a,
                a * 0.5,
                a.transpose(0, 1),
                a[:, :1],
                a[..., ::2].repeat_interleave(2, -1)[..., : b.shape[0]],
            )
        ]

    compiled = gs.compile(function)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        given = [gs.tensor(rng.standard_normal(shape).astype(dtype)) for shape in shapes]
        for found, expected in zip(compiled(*given), function(*given), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
    lines = compiled.explain(*given).splitlines()
    assert sum("matmul(" in line and line.startswith("        ") for line in lines) >= 2  # in blocks
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outer_products_keep_the_signs_of_zeros(dtype: Any) -> None:
    """Also of vectors with gaps: nothing is added up, beginning with a zero."""
    x, y = np.array([0.0, -1.0, -0.0, 2.0], dtype), np.array([-3.0, 0.0, 1.0], dtype)
    for make_x, make_y in product(layouts(x), layouts(y)):
        compiled = gs.compile(gs.outer)
        expected = gs.outer(make_x(), make_y()).numpy()
        for _ in range(2):
            found = compiled(make_x(), make_y()).numpy()
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
