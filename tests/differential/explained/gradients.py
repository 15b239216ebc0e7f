"""Gradients with other numbers, and as other tensors."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

import numpy as np

from ..compare import UNDEFINED, Difference, close, largest
from ..program import STEP, Step
from .again import gradient_after
from .explanation import Explanation
from .questions import called_before, is_floating, made_of, of_call, only_pytorch_refuses, sources


def several_zeros(difference: Difference) -> bool:
    """NaN where PyTorch has zeros, the gradient of a product."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect not in ("value", "gradient", "hook") or not called_before(difference, "prod"):
        return False
    return is_floating(ours) and is_floating(theirs) and bool(np.all(np.isnan(ours) & (theirs == 0) | (ours == theirs)))


def infinite_variance(difference: Difference) -> bool:
    """NaN where PyTorch has an infinity, the gradient of a variance of one number that is itself NaN."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect not in ("value", "gradient", "hook") or not called_before(difference, "var", "std"):
        return False
    return (
        is_floating(ours) and is_floating(theirs) and bool(np.all(np.isnan(ours) & np.isinf(theirs) | (ours == theirs)))
    )


def only_undefined_gradients(difference: Difference) -> bool:
    """The hooks that PyTorch has called besides were given None."""
    return difference.aspect == "order of hooks" and difference.ours == [
        label for label in difference.theirs if not label.endswith(UNDEFINED)
    ]


def written_gradient(difference: Difference) -> bool:
    """A tensor that a backward was given, or that `grad` gave: PyTorch adds in it, or lets several share memory."""
    runs = [step for step in difference.history if re.search("backward$|autograd.grad$", step.call)]
    given = {name for step in runs for name in STEP.findall(step.kwargs.get("gradient") or "".join(step.args[2:3]))}
    found = {step.gives for step in runs if step.gives}
    touched = {difference.where.split("[")[0], *difference.step.uses()}
    if difference.aspect in ("requires_grad", "is_leaf", "has_node") and difference.where.split("[")[0] in found:
        written = set(STEP.findall(difference.step.args[0])) if difference.step.writes() else set()
        return bool(written & ({difference.where.split("[")[0]} | given))
    if difference.aspect == "version":
        given |= {step.args[1] for step in difference.history if step.call == "{0}.grad = {1}"}
        return bool(touched & made_of(difference.history, given | found))
    if difference.aspect == "gradient":
        shared = made_of(difference.history, sources(difference.history, given))
        return difference.step.writes() and bool(difference.step.uses() & shared)
    if difference.aspect == "requires_grad" and difference.where.endswith(".grad"):  # the given one, added to
        return "gradient" in difference.step.kwargs and any("create_graph" in step.kwargs for step in runs)
    if difference.aspect == "value":  # of the tensor or a view of it, which had the same numbers when it was made
        return difference.where.split("[")[0] in made_of(difference.history, given | found) - {difference.step.gives}
    return difference.aspect in ("identity", "is_view") and bool(touched & (given | found))


def written_by_accumulation(difference: Difference) -> bool:
    """A graph has saved a gradient that was given before, to which PyTorch has added that of a later backward."""
    runs = [step for step in difference.history if step.call.endswith("backward")]
    given = {name for step in runs[:-1] for name in STEP.findall(step.kwargs.get("gradient", ""))}
    saved = {name for step in difference.history if step not in runs for name in step.uses() & given}
    return bool(saved) and only_pytorch_refuses("modified by an inplace operation")(difference)


def cancelled_on_arrival(difference: Difference) -> bool:
    """PyTorch adds up what one run brings before it adds to `grad`; gradsmith does the same where the leaf has a hook.

    So the order of additions is the difference if such a hook, and nothing else, gives PyTorch's numbers.
    """
    ours, theirs, step = difference.ours, difference.theirs, difference.step
    if difference.aspect != "gradient" or not step.call.endswith("backward"):
        return False
    leaf = difference.where.removesuffix(".grad")
    hook = Step("hook", (leaf, "'the sum'"))
    one_by_one = gradient_after((*difference.history, step), leaf)
    summed = gradient_after((*difference.history, hook, step), leaf)
    return alike(one_by_one, ours) and alike(summed, theirs)


def alike(one: Any, other: Any, tolerance: float = 1e-3) -> bool:
    """Whether each element is that of the other array, however large its neighbours are."""
    both = is_floating(one) and is_floating(other) and one.shape == other.shape
    return both and bool(np.all(np.isclose(one, other, rtol=tolerance, equal_nan=True)))


def changed_unseen(difference: Difference) -> set[str]:
    """Tensors that were given another shape in place, unseen by the graph."""
    shapes = r"\.(un)?squeeze_|\.(transpose|t|swapaxes|swapdims|resize|as_strided|set)_"
    steps = [step for step in difference.history if step.mode and re.search(shapes, step.call)]
    return {name for step in steps for name in step.uses()}


def view_of_another_shape(difference: Difference) -> bool:
    """PyTorch refuses the backward of a view whose base was given another shape."""
    views = made_of(difference.history, changed_unseen(difference))
    refuses = only_pytorch_refuses("AsStridedBackward0 returned an invalid gradient")
    return bool(difference.step.uses() & views) and refuses(difference)


def hook_of_another_shape(difference: Difference) -> bool:
    """A hook on a tensor that was given another shape in place, unseen by the graph."""
    changed = changed_unseen(difference)
    hooked = any(step.call == "hook" and step.uses() & changed for step in difference.history)
    return difference.aspect == "shape" and difference.where.startswith("hook") and hooked


def order_of_leaves(difference: Difference) -> bool:
    """The same hooks, one of them on what a leaf has accumulated: which of several leaves is first is not promised."""
    return (
        difference.aspect == "order of hooks"
        and sorted(difference.ours) == sorted(difference.theirs)
        and any(step.call == "accumulate_hook" for step in difference.history)
    )


def hook_on_node_of_parts(difference: Difference) -> bool:
    """A hook on the node of `split_copy` or `unbind_copy`, what it saw and changed: PyTorch has one for all parts."""
    made = {step.gives for step in difference.history if re.search("(split|unbind).*_copy$", step.call)}
    hooks = [s for s in difference.history if s.call in ("node_hook", "node_prehook") and s.uses() & made]
    labels = [ast.literal_eval(step.args[1]) for step in hooks]
    if difference.aspect == "order of hooks":
        ours, theirs = ([x for x in seen if x not in labels] for seen in (difference.ours, difference.theirs))
        return bool(hooks) and ours == theirs
    if difference.aspect == "hook" and difference.where in labels:
        return True
    return difference.aspect in ("gradient", "hook", "value") and any(step.args[2:] != ("None",) for step in hooks)


def variance_over_no_dimension(difference: Difference) -> bool:
    """Where `()` stands for all dimensions, as it does in the value, gradsmith has the gradient of that."""
    steps = (*difference.history, difference.step)
    named = [over_all_dimensions(step) for step in steps]
    if named == list(steps):
        return False
    if difference.aspect == "gradient":
        return alike(gradient_after(named, difference.where.removesuffix(".grad")), difference.ours)
    derived = "grad" in difference.step.call or "backward" in difference.step.call
    return derived and difference.aspect in ("value", "hook", "requires_grad")


def over_all_dimensions(step: Step) -> Step:
    """The same step, but a variance over no dimension is one over None."""
    if not re.search(r"\.(var|std)$", step.call):
        return step
    args = tuple("None" if text == "()" else text for text in step.args)
    return replace(step, args=args, kwargs={k: "None" if text == "()" else text for k, text in step.kwargs.items()})


def another_tensor_than_given(difference: Difference) -> bool:
    """A result of `grad` that in PyTorch is one of the gradients that it was given, which may require grad."""
    aspects = ("is_view", "identity", "is_leaf", "has_node") + ("requires_grad",) * (
        "create_graph" not in difference.step.kwargs
    )
    return of_call("autograd.grad", aspects=aspects)(difference)


def hook_of_what_was_asked_for(difference: Difference) -> bool:
    """A part of what `grad` gives, which here is what PyTorch has multiplied by the factors of the tensor's hooks."""
    step, number = difference.step, re.search(r"\[(\d+)\]$", difference.where)
    if difference.aspect != "value" or not step.call.endswith("autograd.grad") or number is None:
        return False
    asked = re.findall(r"t\d+(?:\[\d+\])?", step.args[1])
    hooks = [s for s in difference.history if s.call == "hook" and s.args[0] == asked[int(number[1])]]
    factors = [float(s.args[2]) for s in hooks if len(s.args) > 2 and s.args[2] != "None"]
    with np.errstate(all="ignore"):
        expected = np.asarray(difference.theirs * np.prod(factors))
    return len(asked) > 1 and bool(factors) and close(difference.ours, expected, 0, 1e-3)


def second_power_of_zero(difference: Difference) -> bool:
    """NaN in PyTorch's second gradient of a power of zero, which is zero here, and all else as in PyTorch."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect not in ("value", "gradient", "hook") or not is_floating(ours):
        return False
    powers = {step.gives for step in difference.history if re.search(r"pow|\*\*", step.call)}
    graphs = [step for step in difference.history if "create_graph" in step.kwargs]
    twice = any(step.uses() & made_of(difference.history, powers) for step in graphs)
    odd = np.isnan(theirs) & (ours == 0)
    return twice and bool(odd.any()) and close(ours[~odd], theirs[~odd], 0, 1e-9)


def cancelled_deviation(difference: Difference) -> bool:
    """The gradient of a `std` of equal numbers, whose sign is that of a rounding error."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect not in ("gradient", "hook", "value") or not called_before(difference, "std"):
        return False
    if not is_floating(ours) or not is_floating(theirs):
        return False
    return close(np.abs(ours), np.abs(theirs), 0, 1e-6) and np.ptp(np.abs(theirs)) <= 1e-6 * largest(theirs)


def graph_of_inference(difference: Difference) -> bool:
    """A gradient with a history, to which one was added in inference mode, where PyTorch makes a new one."""
    graphs = [step for step in (*difference.history, difference.step) if "create_graph" in step.kwargs]
    inside = "inference" in (difference.step.mode or "") and "create_graph" in difference.step.kwargs
    return inside and len(graphs) > 1 and difference.aspect == "requires_grad" and difference.where.endswith(".grad")


def overflowing_halves(difference: Difference) -> bool:
    """Infinities of PyTorch, which rounds each step of a formula to float16; here large numbers of the same sign."""
    ours, theirs = difference.ours, difference.theirs
    if not is_floating(ours) or difference.aspect not in ("value", "gradient", "hook") or ours.dtype != np.float16:
        return False
    odd = np.isinf(theirs) & np.isfinite(ours)
    derived = "grad" in difference.step.call or "backward" in difference.step.call
    same_sign = bool(np.all(np.sign(ours[odd]) == np.sign(theirs[odd]))) and bool(np.all(np.abs(ours[odd]) > 1000))
    return derived and bool(odd.any()) and same_sign and alike(ours[~odd], theirs[~odd], 0.05)


def view_of_inference(difference: Difference) -> bool:
    """A view, outside of inference mode, of a gradient that was made inside, where nothing led to it."""
    made = {s.gives for s in difference.history if s.mode and "inference" in s.mode and "materialize_grads" in s.kwargs}
    return difference.aspect in ("requires_grad", "is_leaf", "has_node") and bool(difference.step.uses() & made)


TRIANGLES = ("cholesky_solve", "cholesky_inverse", "triangular_solve", "as_strided_scatter")
APART = ("std_mean", "var_mean", "aminmax", "vander", "native_", "_pool", "triangular_solve", "svd")


EXPLANATIONS = (
    Explanation(
        "triangles, and places written twice",
        "PyTorch gives numbers to what an op does not read.",
        ("gradients.md", "**A gradient is that of the value.**"),
        lambda d: d.aspect in ("gradient", "hook", "value") and called_before(d, *TRIANGLES) and d.step.name != "parts"
        and re.search("grad|backward", d.step.call) is not None,
    ),
    Explanation(
        "what does not depend has no history",
        "PyTorch's node has all results, and all that it has saved is gone after the backward of one.",
        ("gradients.md", "**Only what depends on an input has a history.**"),
        lambda d: (called_before(d, *APART)
        and (d.aspect in ("requires_grad", "has_node", "is_leaf")
        or only_pytorch_refuses("backward through the graph a second time")(d)))
        or (d.aspect == "requires_grad" and "create_graph" in d.step.kwargs and called_before(d, "conv")),
    ),
    Explanation(
        "gradients are tensors of their own",
        "PyTorch gives a gradient that it was given, and adds to it where it became the gradient of a leaf.",
        ("gradients.md", "**Gradients passed by the caller are never modified.**"),
        lambda d: written_gradient(d) or another_tensor_than_given(d) or written_by_accumulation(d),
    ),
    Explanation(
        "leaves take gradients as they arrive",
        "A leaf with hooks runs as soon as it is complete.",
        ("engine_order.md", "**Leaves take gradients as they arrive.**"),
        lambda d: order_of_leaves(d) or cancelled_on_arrival(d),
    ),
    Explanation(
        "a shape that changes under a graph",
        "PyTorch's hooks see a gradient of the shape that the graph has recorded.",
        ("gradients.md", "**New `.data` also applies to existing graphs.**"),
        lambda d: hook_of_another_shape(d) or view_of_another_shape(d),
    ),
    Explanation(
        "gradients of inference mode",
        "PyTorch cannot add to a `.grad` that was made in inference mode.",
        ("gradients.md", "**Gradients passed by the caller are never modified.**"),
        lambda d: ("backward" in d.step.call and only_pytorch_refuses("Inplace update to inference tensor")(d))
        or view_of_inference(d) or graph_of_inference(d),
    ),
    Explanation(
        "a gradient has the shape of its tensor",
        "PyTorch's gradient of a real sgn is a number.",
        ("special_values.md", "**Limits are values.**"),
        lambda d: d.aspect in ("shape", "strides") and called_before(d, "sgn") and "grad" in d.where,
    ),
    Explanation(
        "undefined gradients",
        "PyTorch calls the hooks of a tensor with None.",
        ("engine_order.md", "**Undefined gradients do not call hooks of tensors.**"),
        only_undefined_gradients,
    ),
    Explanation(
        "the variance over no dimension",
        "PyTorch's gradient counts one element where the value counts all.",
        ("special_values.md", "**Limits are values.**"),
        variance_over_no_dimension,
    ),
    Explanation(
        "the gradient of a broadcast write",
        "A CopySlices node adds up what was broadcast before its hooks run.",
        ("generated_text.md", "**Broadcasting is undone in one place.**"),
        lambda d: d.aspect == "shape" and d.where.startswith("hook") and called_before(d, "node_hook"),
    ),
    Explanation(
        "powers of zero, twice",
        "PyTorch multiplies zero by the logarithm of zero.",
        ("special_values.md", "The second gradient of a power of zero"),
        second_power_of_zero,
    ),
    Explanation(
        "gradients of sgn",
        "PyTorch has a tensor of zeros without memory for them, which some of its formulas cannot take.",
        ("special_values.md", "**Limits are values.**"),
        lambda d: called_before(d, "sgn", "sign") and only_pytorch_refuses("ZeroTensors are immutable")(d),
    ),
    Explanation(
        "the variance of a NaN",
        "PyTorch's gradient is infinite wherever an element is not equal to the mean, as NaN is not.",
        ("dtypes.md", "the variance of one NaN"),
        infinite_variance,
    ),
    Explanation(
        "a product of zeros and NaN",
        "PyTorch gives zeros without looking at the other factors.",
        ("dtypes.md", "The gradient of a product of several zeros and a NaN is NaN"),
        several_zeros,
    ),
    Explanation(
        "hooks of what was asked for",
        "PyTorch's `grad` gives the gradient before the hooks of the tensor when its node has to run as well.",
        ("gradients.md", "**`grad` returns gradients after the hooks of the tensor.**"),
        hook_of_what_was_asked_for,
    ),
    Explanation(
        "gradients of halves",
        "PyTorch rounds each step of a formula to float16, which the square inside may leave.",
        ("dtypes.md", "Gradients of float16, such as that of `tan`, are rounded once"),
        overflowing_halves,
    ),
    Explanation(
        "one node for all parts",
        "PyTorch's split_copy and unbind_copy are nodes of their own; here each part is a copy of a view.",
        ("views.md", "**Copies of parts have one node each.**"),
        hook_on_node_of_parts,
    ),
    Explanation(
        "the sign of the deviation of equal numbers",
        "That of a rounding error, as what is left of the deviation is.",
        ("special_values.md", "**A variance is zero up to rounding.**"),
        cancelled_deviation,
    ),
)  # fmt: skip
