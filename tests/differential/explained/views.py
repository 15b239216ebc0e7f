"""Views, and where they lie in memory."""

from __future__ import annotations

import re

import numpy as np

from ..compare import Difference, are_by_rows, lies_by_rows
from .explanation import Explanation
from .questions import beside, made_by, made_of, of_call, only_pytorch_refuses, result_of

# Differences that a write shows where PyTorch has another tensor over the same memory.
WRITTEN = ("value", "version", "requires_grad", "is_leaf", "has_node")


def strides_of_ones(difference: Difference) -> bool:
    """Operands by rows are broadcast to a result by rows; dimensions of size one led PyTorch to another order."""
    shapes = {x.shape for x in difference.operands}
    if difference.aspect != "strides" or len(shapes) < 2 or not any(1 in shape for shape in shapes):
        return False
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    order = sorted(range(len(shape)), key=lambda dim: -difference.theirs[dim])
    dense = are_by_rows([shape[dim] for dim in order], [difference.theirs[dim] for dim in order])
    return dense and are_by_rows(shape, difference.ours) and all(map(lies_by_rows, difference.operands))


def strides_of_gradient(difference: Difference) -> bool:
    """Those of a result of `grad`, which are promised nowhere."""
    return difference.aspect == "strides" and made_by(difference, "autograd.grad")


def write_through_expanded(difference: Difference) -> bool:
    """PyTorch's backward writes zeros to memory laid out as the base, or the gradient, of a written view."""
    steps = [step.source() for step in difference.history]
    return (
        re.search("grad|backward", difference.step.call) is not None
        and any(re.search("expand|broadcast", text) for text in steps)
        and any(step.writes() for step in difference.history)
        and only_pytorch_refuses("more than one element of the written-to tensor")(difference)
    )


def conjugated_view(difference: Difference) -> bool:
    """PyTorch's `conj` is a view: what it shows of requiring grad while nothing is recorded, and when it is written."""
    modes = {step.gives: step.mode or "" for step in (*difference.history, difference.step) if "conj" in step.call}
    mode = modes.get(difference.where.split("[")[0], "")
    if difference.aspect in ("requires_grad", "is_leaf", "has_node"):
        return "no_grad" in mode or "inference" in mode
    if difference.aspect == "error":
        refused = only_pytorch_refuses("a view of a leaf Variable", "more than one element of the written-to tensor")
        return result_of(difference, "conj") and refused(difference)
    if difference.aspect != "value" or difference.step.call != "parts" or not modes:
        return False
    same = np.isclose(difference.ours, difference.theirs, equal_nan=True)
    return bool(np.all(same | np.isclose(difference.ours, np.conj(difference.theirs), equal_nan=True)))


def base_came_to_require_grad(difference: Difference) -> bool:
    """In a view, or what was made of it, that was there before its base was asked to require grad."""
    steps = (*difference.history, difference.step)
    views: set[str | None] = set()
    bases: set[str] = set()
    for number, step in enumerate(steps):
        if "requires_grad" in step.call:
            same = {s.args[0] for s in steps[:number] if s.gives in step.uses() and s.name == "contiguous"}
            written = same | {s.args[0] for s in steps[:number] if s.gives in step.uses() and s.call.endswith("_")}
            base = step.uses() | written  # what is written in place is the result of that as well
            views |= made_of(steps[:number], base) - base
            bases |= base
    if difference.aspect == "gradient":  # arrives at the base in one library alone
        return difference.theirs is None and difference.where.removesuffix(".grad") in bases and bool(views)
    if difference.aspect not in ("is_leaf", "has_node", "requires_grad"):
        return False
    return bool({difference.where.split("[")[0], *difference.step.uses()} & made_of(steps, views))


FACTORS = (
    "svd", "qr", "inverse", "cholesky", "orgqr", "ormqr", "householder", "triangular_solve", "lu", "matrix_power",
    "pinv",
)  # fmt: skip
LEFT_AS_COMPUTED = ("conv_tbc", "pixel_unshuffle", "cross", "stft")


EXPLANATIONS = (
    Explanation(
        "matrices by rows",
        "PyTorch gives them as LAPACK has left them.",
        ("order_of_dimensions.md", "Factors, inverses and solutions are by rows"),
        lambda d: d.aspect == "strides" and made_by(d, *FACTORS, *LEFT_AS_COMPUTED),
    ),
    Explanation(
        "parts that are called unsafe",
        "PyTorch's show memory of the tensor and do not say that they are views.",
        ("accepted_calls.md", "`unsafe_split` and `unsafe_chunk` give are views"),
        lambda d: beside(d, "unsafe_") or of_call("unsafe_", aspects=("is_view", "requires_grad", "is_leaf"))(d),
    ),
    Explanation(
        "layout of gradients, and of dimensions of size one",
        "A gradient lies in memory as it was computed, and a dimension of size one has no say.",
        ("order_of_dimensions.md", "**Results keep the order of dimensions.**"),
        lambda d: strides_of_gradient(d) or strides_of_ones(d),
    ),
    Explanation(
        "writes through views of expanded tensors",
        "PyTorch's backward of such a write refuses; here the gradient follows from the geometry.",
        ("views.md", "**A written view is described by its geometry.**"),
        write_through_expanded,
    ),
    Explanation(
        "where nothing lies",
        "The offset of a view without elements is NumPy's.",
        ("dtypes.md", "**Accepted dtypes and numbers differ from PyTorch's.**"),
        lambda d: d.aspect == "plain value" and "storage_offset" in d.step.call
        and all(0 in x.shape for x in d.operands),
    ),
    Explanation(
        "a view belongs to its base",
        "The base came to require grad after the view was made.",
        ("views.md", "**Views follow their base, even when it requires grad later.**"),
        base_came_to_require_grad,
    ),
    Explanation(
        "one of several views keeps its history",
        "PyTorch refuses to give a new one.",
        ("views.md", "**One of several views keeps its history when the base is written.**"),
        lambda d: "refused" in str(d.theirs) or only_pytorch_refuses("function that returns multiple views")(d),
    ),
    Explanation(
        "the diagonal of an expanded tensor",
        "PyTorch's is a view.",
        ("views.md", "**The diagonal of an expanded tensor is a copy.**"),
        lambda d: of_call("einsum", aspects=("is_view",))(d) and any(0 in x.strides for x in d.operands),
    ),
    Explanation(
        "copies are copies",
        "PyTorch's conj of a complex tensor is a view of it, and its detach_copy has a history.",
        ("accepted_calls.md", "**Names of ops tell whether memory is shared.**"),
        lambda d: (d.aspect == "is_view" and made_by(d, "conj") and d.theirs)
        or (d.aspect == "strides" and (made_by(d, "conj") or beside(d, "conj")))
        or (beside(d, "conj") and (d.step.writes() or d.aspect == "version") and d.aspect in (*WRITTEN, "identity"))
        or (beside(d, "conj") and d.aspect in ("identity", "is_view"))
        or of_call("detach_copy", aspects=("requires_grad", "is_leaf", "has_node"))(d)
        or conjugated_view(d),
    ),
    Explanation(
        "views of nothing",
        "PyTorch keeps an offset for a view without elements.",
        ("dtypes.md", "and the offset that NumPy\n  gives it"),
        lambda d: any(0 in x.shape for x in d.operands)
        and (
            only_pytorch_refuses("out of bounds for storage")(d)
            or of_call("storage_offset", aspects=("plain value",))(d)
        ),
    ),
    Explanation(
        "views inside an op",
        "PyTorch's einsum, linear and nll_loss give views of what they have computed.",
        ("views.md", "**Computed results are not views.**"),
        lambda d: result_of(d, "einsum", "linear", "nll_loss", "cross_entropy")
        and ((d.step.call.endswith("detach_") and only_pytorch_refuses("Can't detach views")(d))
        or only_pytorch_refuses("A view was created in no_grad mode and is being modified inplace")(d)),
    ),
)  # fmt: skip
