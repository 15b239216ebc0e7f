"""Differences that are deliberate: a predicate each, why it is so, and where the documentation says it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .compare import Difference
from .program import STEP

COMPARES = re.compile(r"\b(eq|ne|lt|le|gt|ge|less|greater|not_equal)|[<>=!]=? ").search


class Explanation(NamedTuple):
    name: str
    reason: str
    documented: tuple[str, str]  # a page of docs/, and what it says there
    applies: Callable[[Difference], bool]


# What a write shows where PyTorch has another tensor over the same memory.
WRITTEN = ("value", "version", "requires_grad", "is_leaf", "has_node")


def only_pytorch_refuses(*messages: str) -> Callable[[Difference], bool]:
    pattern = re.compile("|".join(messages))

    def applies(difference: Difference) -> bool:
        return (
            difference.aspect == "error" and difference.ours == "no error" and bool(pattern.search(difference.theirs))
        )

    return applies


def only_we_refuse(*messages: str) -> Callable[[Difference], bool]:
    pattern = re.compile("|".join(messages))

    def applies(difference: Difference) -> bool:
        return (
            difference.aspect == "error" and difference.theirs == "no error" and bool(pattern.search(difference.ours))
        )

    return applies


def another_mistake(difference: Difference) -> bool:
    """Both refuse, and one of them because of the graph or of `out`, where the other one looks at the values first."""
    texts = f"{difference.ours} {difference.theirs}"
    graph = "leaf Variable|automatic differentiation|inference|no_grad mode|out=|out has|resize|desired output type"
    return difference.aspect == "error type" and bool(re.search(graph, texts))


def unknown_argument(difference: Difference) -> bool:
    """PyTorch parses arguments before anything else; an ill-typed call of an ill-typed tensor has two mistakes."""
    return difference.aspect == "error type" and bool(
        re.match(r"TypeError.*(argument|invalid combination|unexpected keyword)", str(difference.theirs))
    )


def of_call(*names: str, aspects: tuple[str, ...]) -> Callable[[Difference], bool]:
    return lambda difference: difference.aspect in aspects and any(name in difference.step.call for name in names)


def index_of_no_kind(difference: Difference) -> bool:
    """A text or a float in brackets."""
    return difference.aspect == "error type" and "valid indices" in difference.ours


def written_gradient(difference: Difference) -> bool:
    """A tensor that a backward was given, or that `grad` gave: PyTorch adds in it, or lets several share memory."""
    given = {step.kwargs.get("gradient") for step in difference.history if "backward" in step.call}
    found = {step.gives for step in difference.history if step.call == "lib.autograd.grad"}
    for step in difference.history:
        if step.call == "lib.autograd.grad":
            given |= set(STEP.findall(step.args[2]))
    return difference.aspect in ("version", "value", "identity") and bool(
        {difference.where.split("[")[0], *difference.step.uses()} & (given | found)
    )


def another_tensor_than_given(difference: Difference) -> bool:
    """A result of `grad` that in PyTorch is one of the gradients that it was given, which may require grad."""
    aspects = ("is_view", "identity") + ("requires_grad", "is_leaf", "has_node") * (
        "create_graph" not in difference.step.kwargs
    )
    return of_call("autograd.grad", aspects=aspects)(difference)


def called_before(difference: Difference, *names: str) -> bool:
    """Whether a step of the program has called one of these."""
    return any(name in step.call for step in (*difference.history, difference.step) for name in names)


def made_by(difference: Difference, *names: str) -> bool:
    """Whether the value looked at is a result of one of these."""
    name = difference.where.split("[")[0]
    makers = [step.call for step in (*difference.history, difference.step) if step.gives == name]
    return any(name in call for call in makers for name in names)


def extreme_before(difference: Difference) -> bool:
    return any(re.search(r"\.(amax|amin|max|min)$", step.call) for step in difference.history)


def base_came_to_require_grad(difference: Difference) -> bool:
    steps = (*difference.history, difference.step)
    return difference.aspect in ("is_leaf", "has_node", "requires_grad") and any(
        "requires_grad" in s.call for s in steps
    )


def complex_infinity(difference: Difference) -> bool:
    """One number is complex and infinite or no number, for both."""
    ours, theirs = difference.ours, difference.theirs
    if (
        difference.aspect not in ("value", "gradient", "hook")
        or not isinstance(ours, np.ndarray)
        or ours.dtype.kind != "c"
    ):
        return False
    with np.errstate(all="ignore"):
        finite = np.isfinite(ours) & np.isfinite(theirs)
        return bool(np.all(np.isclose(ours[finite], theirs[finite], rtol=1e-2)))


def of_infinity(difference: Difference) -> bool:
    """PyTorch has NaN where the formula has a limit."""
    ours, theirs = difference.ours, difference.theirs
    if (
        difference.aspect not in ("value", "gradient", "hook")
        or not isinstance(ours, np.ndarray)
        or ours.dtype.kind not in "fc"
    ):
        return False
    other = np.isfinite(theirs) | ~np.isnan(theirs)
    return bool(np.array_equal(ours[other], theirs[other])) or bool(np.allclose(ours[other], theirs[other], rtol=1e-2))


EXPLANATIONS = (
    Explanation(
        "only here",
        "An op, or a form of one, that PyTorch does not have.",
        ("notes.md", "**More is taken than PyTorch takes.**"),
        lambda d: d.aspect.startswith("error") and str(d.theirs).startswith("AttributeError"),
    ),
    Explanation(
        "more is taken",
        "Dtypes that PyTorch's kernel lacks, numbers in the place of tensors, lists in the place of index tensors.",
        ("notes.md", "**More is taken than PyTorch takes.**"),
        only_pytorch_refuses(
            "not implemented for", "must be Tensor, not", "must be int, not tuple", "invalid combination of arguments",
            "takes no (keyword )?arguments", "takes 1 positional", "unexpected keyword",
            "but got (list|slice|NoneType|ellipsis|int)",
            "does not support automatic", "does not support (bool|complex) input", "operator, on a bool tensor",
            "must be a matrix", "doesn't match the broadcast shape", "Boolean inputs not supported",
            "not differentiable with respect to argument", "Autograd not support dtype", "Unsupported dtype",
            "isFloatingType",
            "forward AD with .* that does not support it",
        ),
    ),
    Explanation(
        "derivative only here",
        "PyTorch has not implemented the derivative of an op.",
        ("notes.md", "**More is taken than PyTorch takes.**"),
        lambda d: only_pytorch_refuses("derivative for .* is not implemented")(d)
        or (d.aspect in ("gradient", "order of hooks", "hook") and called_before(d, "floor_divide", "//")),
    ),
    Explanation(
        "out is not resized",
        "PyTorch resizes an `out` that has elements, with a warning.",
        ("notes.md", "**`out=` changes all its tensors or none.**"),
        only_we_refuse("out has shape"),
    ),
    Explanation(
        "out takes conversions",
        "The result is converted to the dtype of `out`, as promoting ops do it; memory of an array can be exchanged.",
        ("notes.md", "**`out=` changes all its tensors or none.**"),
        only_pytorch_refuses(
            "Expected out tensor to have dtype", "Found dtype", "resize storage", "got .* instead", "Expected out type",
            "dtype for input and out to match", "self and result must have the same", "result dtype .* does not match",
        ),
    ),
    Explanation(
        "dual numbers are aliases",
        "In PyTorch the dual number and the primal are views of the tensor.",
        ("notes.md", "**A dual number is an alias, no view.**"),
        lambda d: of_call("parts", "make_dual", aspects=("is_view", "version"))(d)
        or only_we_refuse("a dual number made of a tensor that requires grad")(d),
    ),
    Explanation(
        "gradients are tensors of their own",
        "PyTorch gives a gradient that it was given, and adds to it where it became the gradient of a leaf.",
        ("notes.md", "**A gradient that was given stays as it is.**"),
        lambda d: written_gradient(d) or another_tensor_than_given(d),
    ),
    Explanation(
        "a view belongs to its base",
        "The base came to require grad after the view was made.",
        ("notes.md", "**A view belongs to its base, whenever that came to require grad.**"),
        base_came_to_require_grad,
    ),
    Explanation(
        "one of several views keeps its history",
        "PyTorch refuses to give a new one.",
        ("notes.md", "**One of several views keeps its history when the base is written.**"),
        lambda d: "refused" in str(d.theirs) or only_pytorch_refuses("function that returns multiple views")(d),
    ),
    Explanation(
        "a source larger than its index",
        "PyTorch's backward gives a gradient of the index's shape, and refuses it.",
        ("notes.md", "**The source of `scatter` may be larger than the index.**"),
        only_pytorch_refuses("Scatter.* returned an invalid gradient"),
    ),
    Explanation(
        "gradients of inference mode",
        "PyTorch cannot add to a `.grad` that was made in inference mode.",
        ("notes.md", "**A gradient that was given stays as it is.**"),
        lambda d: "backward" in d.step.call and only_pytorch_refuses("Inplace update to inference tensor")(d),
    ),
    Explanation(
        "a copy of a view",
        "PyTorch's view_copy also copies where `view` refuses.",
        ("notes.md", "**The names say what is shared.**"),
        lambda d: of_call("view_copy", aspects=("error",))(d) and only_we_refuse("cannot be seen as size")(d),
    ),
    Explanation(
        "losses of several dtypes",
        "PyTorch's mse_loss expands its operands, and with that numbers without dimensions count as others.",
        ("notes.md", "**Losses promote as sums do.**"),
        lambda d: of_call("mse_loss", aspects=("dtype",))(d),
    ),
    Explanation(
        "label_smoothing between 0 and 1",
        "PyTorch ignores a negative one.",
        ("notes.md", "**Losses promote as sums do.**"),
        only_we_refuse("label_smoothing must be between"),
    ),
    Explanation(
        "numbers in tensors are tensors",
        "PyTorch takes a tensor without dimensions for a Python number where an argument may be one.",
        ("notes.md", "**A tensor is no number.**"),
        lambda d: of_call("clamp", "clip", "max", "min", aspects=("dtype", "error"))(d)
        and any(x.shape == () for x in d.operands),
    ),
    Explanation(
        "the operator is the op",
        "PyTorch's `~` has a TypeError of its own.",
        ("notes.md", "**The first mistake is named.**"),
        lambda d: of_call("~", aspects=("error type",))(d),
    ),
    Explanation(
        "an index is refused as an index",
        "PyTorch's index_select has a RuntimeError for tensors without dimensions.",
        ("notes.md", "**The first mistake is named.**"),
        lambda d: of_call("index_select", "index_add", aspects=("error type",))(d),
    ),
    Explanation(
        "a gradient has the shape of its tensor",
        "PyTorch's gradient of a real sgn is a number.",
        ("notes.md", "**Limits are values.**"),
        lambda d: d.aspect in ("shape", "strides") and called_before(d, "sgn") and "grad" in d.where,
    ),
    Explanation(
        "undefined gradients",
        "PyTorch calls the hooks of a tensor with None.",
        ("notes.md", "**Undefined gradients do not call hooks of tensors.**"),
        lambda d: d.aspect == "order of hooks" and called_before(d, "Both"),
    ),
    Explanation(
        "the variance over no dimension",
        "PyTorch's gradient counts one element where the value counts all.",
        ("notes.md", "**Limits are values.**"),
        lambda d: d.aspect in ("gradient", "value", "hook") and any(
            re.search(r"\.(var|std)$", step.call) and "()" in (*step.args, *step.kwargs.values())
            for step in (*d.history, d.step)
        ),
    ),
    Explanation(
        "differentiable once",
        "PyTorch does not see that a gradient depends on an input through a saved tensor alone.",
        ("notes.md", "**`once_differentiable` looks at saved tensors too.**"),
        lambda d: called_before(d, "Once") and d.aspect in ("requires_grad", "is_leaf", "has_node", "error"),
    ),
    Explanation(
        "the gradient of a broadcast write",
        "A CopySlices node adds up what was broadcast before its hooks run.",
        ("notes.md", "**Broadcasting is undone in one place.**"),
        lambda d: d.aspect == "shape" and d.where.startswith("hook") and called_before(d, "node_hook"),
    ),
    Explanation(
        "numbers are compared as numbers",
        "PyTorch converts a negative number to an unsigned dtype before it compares.",
        ("notes.md", "**A comparison with a number compares numbers.**"),
        lambda d: d.aspect == "value"
        and any(x.dtype.startswith("uint") for x in d.operands)
        and bool(COMPARES(d.step.call)),
    ),
    Explanation(
        "complex infinities",
        "Products of infinite complex numbers have NaN in parts that depend on how the compiler writes a product.",
        ("notes.md", "**Infinite complex numbers.**"),
        complex_infinity,
    ),
    Explanation(
        "limits",
        "PyTorch multiplies zero by infinity where the limit is a number.",
        ("notes.md", "**Limits are values.**"),
        lambda d: of_infinity(d) and (called_before(d, "gelu", "silu") or (d.aspect != "value" and extreme_before(d))),
    ),
    Explanation(
        "no two writes to one place",
        "PyTorch checks some writes to expanded memory and not others.",
        ("notes.md", "**Memory that several elements share is not written.**"),
        only_we_refuse("more than one element of the written-to tensor"),
    ),
    Explanation(
        "no write that a graph does not see",
        "PyTorch lets ops without a derivative write over tensors that require grad.",
        ("notes.md", "**What has no derivative is not written over a graph.**"),
        lambda d: only_we_refuse("has no derivative, so it cannot", "leaf Variable .* (logical|bitwise)_")(d)
        or only_we_refuse("don't support automatic differentiation")(d),
    ),
    Explanation(
        "copies are copies",
        "PyTorch's conj_physical gives a real tensor itself, and its detach_copy has a history.",
        ("notes.md", "**The names say what is shared.**"),
        lambda d: of_call("conj_physical", aspects=("identity", "is_view", "is_leaf", "requires_grad", "has_node"))(d)
        or (d.aspect in ("is_view", "strides") and made_by(d, "einsum", "conj", "ravel"))
        or of_call("mT", aspects=("identity",))(d)
        or (called_before(d, "conj_physical", "mT") and d.step.writes() and d.aspect in WRITTEN)
        or of_call("detach_copy", aspects=("requires_grad", "is_leaf", "has_node"))(d),
    ),
    Explanation(
        "an index of no kind",
        "NumPy's exception, which also names the kinds that there are.",
        ("notes.md", "**The first mistake is named.**"),
        index_of_no_kind,
    ),
    Explanation(
        "another mistake is named",
        "A call with several mistakes is refused for one of them, and the order of the checks is another.",
        ("notes.md", "**The first mistake is named.**"),
        lambda d: another_mistake(d) or unknown_argument(d),
    ),
)  # fmt: skip


def explanation_of(difference: Difference) -> Explanation | None:
    return next((e for e in EXPLANATIONS if e.applies(difference)), None)
