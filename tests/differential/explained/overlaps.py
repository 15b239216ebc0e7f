"""Explanations of differences where operands of a step share memory."""

from __future__ import annotations

import numpy as np

from ..compare import Difference
from ..machine import Facts
from ..program import STEP
from .questions import made_of, only_pytorch_refuses, sources

REDUCTIONS = (
    "linear",
    "matmul",
    "bmm",
    "mm",
    "mv",
    "sum",
    "prod",
    "mean",
    "amax",
    "amin",
    "all",
    "any",
    "var",
    "std",
    "logsumexp",
)


def overlapping_operands(difference: Difference) -> bool:
    """A source or an input that shares memory with what is written, in ops that compute before they write."""
    refuse = ("copy_", "scatter", "index_add", "index_put", "] =")
    return only_pytorch_refuses("some elements of the input tensor and the written-to tensor")(difference) and (
        "out" in difference.step.kwargs
        or not any(name in difference.step.call for name in refuse)
        or any(0 in x.shape for x in difference.operands)
        or all(x.array.size == 1 for x in difference.operands)
        or (difference.step.call.endswith("] = {2}") and difference.step.args[0] == difference.step.args[2])
        or indexed_by_itself(difference)
    )


def indexed_by_itself(difference: Difference) -> bool:
    """A write by an index that is, or is made of, the tensor that is written, or a part of it."""
    if not difference.step.call.endswith(("] = {2}", "index_put_", "index_put", "masked_fill_")):
        return False
    written, index = (set(STEP.findall(text)) for text in difference.step.args[:2])
    return bool(made_of(difference.history, sources(difference.history, written)) & index)


def reads_what_it_writes(difference: Difference) -> bool:
    """PyTorch does not see that an operand is a view of the same memory where that has gaps, or is an index."""
    step, operands = difference.step, difference.operands
    if difference.aspect != "value" or not step.writes() or "out" in step.kwargs:
        return False
    if indexed_by_itself(difference):
        return True
    written, others = set(STEP.findall(step.args[0])), set(STEP.findall(" ".join(step.args[1:])))
    has_gaps = any(x.shape and x.strides[-1] > 1 for x in operands)
    related = made_of(difference.history, sources(difference.history, written)) & others
    return has_gaps and bool(related) and any(x.is_view for x in operands) and writes_to_an_operand(difference)


def out_among_inputs(difference: Difference) -> bool:
    """PyTorch's reductions begin to write to `out` before they have read an input in the same memory."""
    step = difference.step
    out = step.kwargs.get("out", "")
    inputs = {*step.args, *(text for name, text in step.kwargs.items() if name != "out")}
    parts = made_of(difference.history, sources(difference.history, STEP.findall(out)))
    if difference.aspect != "value" or step.name not in REDUCTIONS or not parts & inputs:
        return False
    return out in inputs or writes_to_an_operand(difference)


def several_in_one_place(difference: Difference) -> bool:
    """Elements that a write to a tensor reaches twice, and nothing else."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect != "value" or not difference.step.writes():
        return False
    odd = theirs[~np.isclose(ours, theirs, equal_nan=True)]
    for written in filter(overlaps_itself, difference.operands):
        _, number, counts = np.unique(places(written), return_inverse=True, return_counts=True)
        repeated = written.array[counts[number.reshape(written.shape)] > 1]
        if np.isin(odd, repeated).all() or np.isnan(odd).all():
            return True
    return False


def writes_to_an_operand(difference: Difference) -> bool:
    """Two operands of the step have elements in common, as they lie in PyTorch after it."""
    operands = difference.operands
    return any(share_elements(one, other) for number, one in enumerate(operands) for other in operands[:number])


def share_elements(one: Facts, other: Facts) -> bool:
    return one is not other and bool(np.isin(places(one), places(other)).any())


def overlaps_itself(facts: Facts) -> bool:
    return len(np.unique(places(facts))) < facts.array.size


def places(facts: Facts) -> np.ndarray:
    """The address of each element of a tensor."""
    found = np.full((), facts.start)
    for size, stride in zip(facts.shape, facts.strides):
        found = found[..., None] + np.arange(size) * stride * facts.array.itemsize
    return found
