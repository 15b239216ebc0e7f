"""A compiled function raises what eager raises, even where nobody reads the result."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.compiler import TraceError
from gradsmith.generated.op_table import OPS
from gradsmith.verify.case import Subject
from gradsmith.verify.samples import key_of
from tests.compiler.samples import Arrays, Sample

INDEX, OUTSIDE = gs.tensor([0, 1]), gs.tensor([0, 7])
CLASSES = gs.nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])


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
        # what Python checks
        (lambda i: F.one_hot(i, 3), INDEX, OUTSIDE),
        (lambda i: F.one_hot(i, 3), INDEX, -INDEX),
        (lambda i: gs.vmap(lambda i: F.one_hot(i, 3))(i), INDEX, OUTSIDE),
        (lambda i: F.cross_entropy(gs.ones(2, 3), i, label_smoothing=0.1), INDEX, OUTSIDE),
        (lambda i: F.multi_margin_loss(gs.ones(2, 3), i), INDEX, OUTSIDE),
        (lambda i: F.multilabel_margin_loss(gs.ones(2), i), INDEX, OUTSIDE),
        (lambda i: CLASSES(gs.ones(2, 4), i), INDEX, OUTSIDE),
        (lambda i: F.max_unpool1d(gs.ones(1, 2), i[None], 2), INDEX, OUTSIDE),
        (lambda i: gs.ones(3).index_copy(0, i, gs.ones(2)), INDEX, -INDEX),
        (lambda x: gs.cov(gs.ones(2, 2), aweights=x), gs.ones(2), -gs.ones(2)),
        (gs.arange(3.0).quantile, gs.tensor(0.5), gs.tensor(1.5)),
        (gs.arange(3.0).nanquantile, gs.tensor(0.5), gs.tensor(-1.5)),
        (gs.poisson, gs.ones(2), -gs.ones(2)),
        (lambda x: gs.binomial(gs.ones(2), x), gs.ones(2), -gs.ones(2)),
        # in place, and in the steps of loops
        (lambda i: gs.ones(3).scatter_(0, i, 2.0), INDEX, OUTSIDE),
        (lambda i: gs.ones(3).index_put_((i,), gs.tensor(2.0)), INDEX, OUTSIDE),
        (lambda i: gs.ones(2).long().floor_divide_(i), INDEX + 1, INDEX),
        (lambda i: gs.scan(lambda s, _: (s * 2, s[i]), gs.ones(3), None, 70), INDEX, OUTSIDE),
        (lambda i: gs.fori_loop(0, 70, lambda _, s: (s[i], s)[1] * 2, gs.ones(3)), INDEX, OUTSIDE),
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


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: x.clone().normal_(),
        lambda x: x.clone().bernoulli_(),
        lambda x: x.clone().exponential_(),
        lambda x: gs.nn.init.uniform_(gs.empty(3)),
        gs.rand_like,
    ],
)
def test_draws_that_nobody_reads_move_the_generator_on(draw: Any) -> None:
    def function(x: Any) -> Any:
        draw(x)
        return gs.rand(3)

    compiled = gs.compile(function)
    for _ in range(3):
        found, expected = [], []
        for f, numbers in ((function, expected), (compiled, found)):
            gs.manual_seed(1)
            numbers += [f(gs.ones(3)), gs.rand(3)]
        assert all(map(gs.equal, found, expected))
    assert len(compiled.programs) == 1


# ---- the whole table

WRONG_FLOATS = (np.nan, 0, -3, 7.5)  # no probabilities, matrices that are singular or not positive definite
WRONG_INTEGERS = (99, -99, 0)  # no places or classes; no divisors, no exponents


def with_wrong_values(arrays: Arrays) -> Iterator[Arrays]:
    """One of the arrays, or all, filled with a number."""
    for kinds, numbers in (("fc", WRONG_FLOATS), ("iu", WRONG_INTEGERS)):
        places = [place for place, array in enumerate(arrays) if array.dtype.kind in kinds]
        chosen = [{place} for place in places] + ([set(places)] if len(places) > 1 else [])
        for number in numbers:
            for filled in chosen:
                yield [np.full_like(a, number) if place in filled else a for place, a in enumerate(arrays)]


def error_of(function: Any, tensors: list[Any]) -> str | None:
    try:
        with np.errstate(all="ignore"):
            function(*tensors)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("row", OPS, ids=key_of)
@pytest.mark.filterwarnings("ignore")
def test_errors_of_values_of_all_ops(row: Any) -> None:
    for setting in Subject(row).settings(("float64",)):
        sample = Sample(setting)
        compiled = gs.compile(lambda *tensors: (sample.values(*tensors), gs.ones(1))[1])  # noqa: B023
        for wrong in with_wrong_values(sample.first):
            gs.manual_seed(0)
            expected = error_of(sample.values, sample.tensors(wrong))
            if expected is None:
                continue
            try:
                compiled(*sample.tensors(sample.first))
            except TraceError:
                return
            if compiled.programs:
                gs.manual_seed(0)
                assert error_of(compiled, sample.tensors(wrong)) == expected, setting.label
