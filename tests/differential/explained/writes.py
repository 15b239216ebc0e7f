"""Writes in place and to `out`."""

from __future__ import annotations

import re

from ..compare import Difference
from .explanation import Explanation
from .overlaps import out_among_inputs, overlapping_operands, reads_what_it_writes, several_in_one_place
from .questions import into_out, of_call, only_pytorch_refuses, only_we_refuse


def not_resized(difference: Difference) -> bool:
    """PyTorch has given `out` the very shape of our result."""
    if not only_we_refuse(r"out(\[\d\] \(\w+\))? has shape")(difference):
        return False
    if difference.step.kwargs.get("out") in difference.step.args:  # which PyTorch resizes before it reads it
        return True
    found = re.search(r"but the result has shape (\[.*?\])", difference.ours)
    return found is not None and found[1] in [str(list(x.shape)) for x in difference.operands]


def integer_with_history(difference: Difference) -> bool:
    """PyTorch's tensor of integers or bools requires grad after a write."""
    return (
        difference.aspect in ("requires_grad", "is_leaf", "has_node")
        and difference.step.writes()
        and any(x.requires_grad and x.dtype.startswith(("int", "uint", "bool")) for x in difference.operands)
    )


def resized_view(difference: Difference) -> bool:
    """An `out` without elements is a view, and PyTorch's grows over the memory of its base."""
    out = difference.step.kwargs.get("out")
    return (
        difference.aspect == "value"
        and out is not None
        and difference.where not in (out, difference.step.gives)
        and any(step.gives == out and step.uses() for step in difference.history)
        and any(x.is_view for x in difference.operands)
    )


def compared_in_place(difference: Difference) -> bool:
    """A tensor that does not require grad was compared with one that does."""
    comparison = re.search(
        r"\.(eq|ne|lt|le|gt|ge|less|greater|not_equal|less_equal|greater_equal)_$", difference.step.call
    )
    return (
        comparison is not None
        and difference.aspect in ("requires_grad", "is_leaf", "has_node")
        and difference.where in (difference.step.gives, *difference.step.args[:1])
        and any(x.requires_grad for x in difference.operands)
    )


EXPLANATIONS = (
    Explanation(
        "out is not resized",
        "PyTorch resizes an `out` that has elements, with a warning.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        not_resized,
    ),
    Explanation(
        "out takes conversions",
        "The result is converted to the dtype of `out`, as promoting ops do it; memory of an array can be exchanged.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        into_out(
            "Expected out tensor to have dtype", "Found dtype", "resize storage", "got .* instead", "Expected out type",
            "dtype for input and out to match", "self and result must have the same", "result dtype .* does not match",
            "input tensors must have the same dtype",
        ),
    ),
    Explanation(
        "a view that out resizes",
        "It gets memory of its own.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        resized_view,
    ),
    Explanation(
        "a complex logsumexp into real numbers",
        "PyTorch takes the real part before the logarithm.",
        ("writes.md", "**A complex result is not written to a real `out`.**"),
        lambda d: of_call("logsumexp", aspects=("error",))(d) and only_we_refuse("result type complex.* output")(d),
    ),
    Explanation(
        "out without a derivative",
        "PyTorch refuses `out` beside an operand that requires grad also where the result is of integers.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        lambda d: re.search("int|bool", d.step.kwargs.get("dtype", "")) is not None
        and only_pytorch_refuses("functions with out=... arguments don't support automatic differentiation")(d),
    ),
    Explanation(
        "comparisons in place",
        "PyTorch gives the result a history whose gradients are zeros.",
        ("writes.md", "**Ops without a derivative do not write to tensors with a graph.**"),
        compared_in_place,
    ),
    Explanation(
        "several elements in one place",
        "PyTorch computes them one after the other, each from what the last one has left.",
        ("writes.md", "**Elements in one place are computed once.**"),
        several_in_one_place,
    ),
    Explanation(
        "no gradient of some of several elements in one place",
        "PyTorch's gradient is that of one of them.",
        ("writes.md", "**Elements in one place are computed once.**"),
        only_we_refuse("several elements of the written-to tensor lie in one place"),
    ),
    Explanation(
        "no two writes to one place",
        "PyTorch checks some writes to expanded memory and not others.",
        ("writes.md", "**Overlapping elements are not written.**"),
        only_we_refuse("more than one element of the written-to tensor"),
    ),
    Explanation(
        "no write that a graph does not see",
        "PyTorch lets ops without a derivative write over tensors that require grad.",
        ("writes.md", "**Ops without a derivative do not write to tensors with a graph.**"),
        lambda d: only_we_refuse("has no derivative, so it cannot", "leaf Variable .* (logical|bitwise)_")(d)
        or only_we_refuse("modified inplace by (logical|bitwise)_")(d)
        or only_we_refuse("don't support automatic differentiation")(d),
    ),
    Explanation(
        "integers have no history",
        "A write makes PyTorch's integers require grad.",
        ("writes.md", "**Integers have no history.**"),
        integer_with_history,
    ),
    Explanation(
        "one value is written",
        "PyTorch's fill_ takes numbers for an expanded tensor, but no tensor.",
        ("writes.md", "**Overlapping elements are not written.**"),
        lambda d: of_call(".fill_", aspects=("error",))(d) and only_pytorch_refuses("more than one element")(d),
    ),
    Explanation(
        "inputs are read before anything is written",
        "PyTorch refuses most operands that overlap what is written, and reads from what it has written in others.",
        ("dtypes.md", "`a[1:].add_(a[:-1])`"),
        lambda d: overlapping_operands(d) or out_among_inputs(d) or reads_what_it_writes(d),
    ),
    Explanation(
        "expanded memory is not written by an index",
        "PyTorch does not look for an overlap where the written tensor repeats its elements, or has gaps.",
        ("writes.md", "**Overlapping elements are not written.**"),
        lambda d: only_we_refuse("some elements of the input tensor and of the written-to tensor")(d)
        and any(n > 1 and (step == 0 or x.strides[-1] > 1) for x in d.operands for n, step in zip(x.shape, x.strides)),
    ),
)  # fmt: skip
