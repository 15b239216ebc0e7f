"""A compiled function raises what eager raises, even where nobody reads the result."""

from typing import Any

import pytest

import gradsmith as gs
import gradsmith.nn.functional as F

INDEX, OUTSIDE = gs.tensor([0, 1]), gs.tensor([0, 7])


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (lambda i: gs.ones(3).gather(0, i), INDEX, OUTSIDE),
        (lambda i: gs.ones(3)[i], INDEX, OUTSIDE),
        (lambda i: gs.ones(3).index_select(0, i), INDEX, OUTSIDE),
        (lambda i: gs.ones(3).take(i), INDEX, OUTSIDE),
        (lambda i: gs.ones(3).scatter(0, i, 2.0), INDEX, OUTSIDE),
        (lambda i: gs.ones(3).index_put((i,), gs.tensor(1.0)), INDEX, OUTSIDE),
        (lambda i: gs.ones(3).index_add(0, i, gs.ones(2)), INDEX, OUTSIDE),
        (lambda i: F.embedding(i, gs.ones(3, 2)), INDEX, OUTSIDE),
        (lambda i: F.cross_entropy(gs.ones(2, 3), i), INDEX, OUTSIDE),
        (lambda x: F.binary_cross_entropy(x, gs.ones(2, 2)), gs.ones(2, 2), gs.full((2, 2), 5.0)),
        (gs.linalg.inv, gs.eye(3), gs.zeros(3, 3)),
        (lambda x: gs.linalg.solve(x, gs.ones(3)), gs.eye(3), gs.zeros(3, 3)),
        (gs.linalg.cholesky, gs.eye(3), -gs.eye(3)),
        (gs.linalg.eigh, gs.eye(3), gs.full((3, 3), float("nan"))),
        (gs.linalg.svd, gs.eye(3), gs.full((3, 3), float("nan"))),
        (lambda i: 7 // i, gs.tensor([1, 2]), gs.tensor([0, 2])),
        (lambda i: 7 % i, gs.tensor([1, 2]), gs.tensor([0, 2])),
        (lambda i: gs.tensor([2, 3]) ** i, gs.tensor([1, 2]), gs.tensor([-1, 2])),
    ],
)
def test_errors_of_values(function: Any, good: Any, bad: Any) -> None:
    compiled = gs.compile(lambda x: (function(x), gs.ones(2))[1])
    assert compiled(good).tolist() == compiled(good).tolist() == [1.0, 1.0]
    with pytest.raises(Exception) as expected:
        function(bad)
    with pytest.raises(type(expected.value)) as found:
        compiled(bad)
    assert str(found.value) == str(expected.value)
    assert len(compiled.programs) == 1
