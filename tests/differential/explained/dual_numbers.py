"""Differences of forward mode."""

from __future__ import annotations

import re

import numpy as np

from ..compare import Difference
from .again import machine_after
from .explanation import Explanation
from .questions import made_by, made_of, only_pytorch_refuses, only_we_refuse, result_of, sources

# An index that selects everything.
WHOLE = re.compile(r"\(\)|\.\.\.|Ellipsis|\(?slice\(None, None, (None|1)\)(,\))?")


def of_dual_number(difference: Difference) -> bool:
    """Traces in PyTorch's dual numbers and primals of being views, and of how they are made."""
    names = ("parts", "make_dual")
    if difference.aspect == "is_view":
        if is_of_a_whole_view(difference):
            return True
        return difference.theirs and (made_by(difference, *names) or result_of(difference, *names))
    if difference.aspect in ("requires_grad", "is_leaf", "has_node"):  # the write was to what it was made of
        return made_by(difference, *names) and (difference.step.writes() or is_of_a_whole_view(difference))
    if difference.aspect in ("strides", "identity"):
        return made_by(difference, *names)
    if difference.aspect == "gradient":
        return arrives_through_a_refused_write(difference)
    if difference.aspect == "order of hooks":  # one that was registered before a Function wrote to the primal
        return registered_before_a_write(difference, "parts")
    if difference.step.call.endswith("make_dual"):
        return only_pytorch_refuses("more than one element of the written-to tensor")(difference)
    if difference.step.call.endswith("detach_"):
        return result_of(difference, *names) and only_pytorch_refuses("Can't detach views")(difference)
    if difference.aspect == "structure":  # a view, outside of inference mode, of a dual number made inside
        return made_by(difference, "parts") and any("inference" in step.source() for step in difference.history)
    if only_we_refuse("a dual number made of a tensor that requires grad")(difference):
        return True
    written = difference.step.writes() and result_of(difference, *names)  # the tangent is replaced, not written
    return written and only_pytorch_refuses("a (view of a )?leaf Variable that requires grad")(difference)


def arrives_through_a_refused_write(difference: Difference) -> bool:
    """In one library alone, at what a dual number or primal was made of: a Function had written it and was refused."""
    if (difference.ours is None) == (difference.theirs is None):
        return False
    made = {s.gives for s in difference.history if s.call == "parts" or s.call.endswith("make_dual")}
    written = {name for s in difference.history if s.call.startswith("Doubled") for name in s.uses()} & made
    return difference.where.split("[")[0].removesuffix(".grad") in sources(difference.history, written) - written


def is_of_a_whole_view(difference: Difference) -> bool:
    """A tangent of `x[()]` or `x[...]`, which PyTorch's view has in common with `x`."""
    steps = (*difference.history, difference.step)
    duals = {name for step in steps if step.call == "parts" for name in step.uses()}
    return difference.where.endswith("[1]") and any(
        step.gives in duals and step.call == "{0}[{1}]" and WHOLE.fullmatch(step.args[1]) for step in difference.history
    )


def of_a_view_in_no_grad(difference: Difference) -> bool:
    """The history of a tangent that requires grad in both libraries."""
    if difference.aspect not in ("is_leaf", "has_node") or difference.step.call != "parts":
        return False
    views = {step.gives for step in difference.history if re.search("no_grad|inference", step.mode or "")}
    return difference.where.endswith("[1]") and bool(difference.step.uses() & made_of(difference.history, views))


def ended_by_a_logical_op(difference: Difference) -> bool:
    """The tangent of a dual number that was overwritten, which PyTorch leaves as it was."""
    steps = (*difference.history, difference.step)
    written = {name for step in steps if re.search(r"\.logical_\w+_$", step.call) for name in step.uses()}
    tangents = sources(steps, written) | made_of(steps, written)
    if difference.aspect not in ("value", "version") or difference.where.split("[")[0] not in tangents:
        return False
    return difference.aspect == "version" or bool(np.all(difference.ours == 0))


def registered_before_a_write(difference: Difference, *names: str) -> bool:
    """The hooks that only one library has called are on results of these, which a custom Function has written since."""
    missing = {*difference.ours} ^ {*difference.theirs}
    written = {name for step in difference.history if "Doubled" in step.call for name in step.uses()}
    made = {step.gives for step in difference.history if any(name in step.call for name in names)}
    hooks = [step for step in difference.history if step.call == "hook"]
    return all(any(step.args[1] == repr(label) and step.uses() & made & written for step in hooks) for label in missing)


def tangent_at_nan(difference: Difference) -> bool:
    """Where an extreme is NaN, PyTorch has one operand's tangent; here it is zero, or that of the other is added."""
    ours, theirs, history = difference.ours, difference.theirs, difference.history
    if difference.step.call != "parts" or difference.aspect != "value" or not difference.where.endswith("[1]"):
        return False
    extremes = {step.gives for step in history if re.search("min|max|clamp|clip", step.call)}
    odd = ~np.isclose(ours, theirs, equal_nan=True)
    at_nan = any(x.shape == odd.shape and np.isnan(x.array[odd]).all() for x in difference.operands)
    if not at_nan or not difference.step.uses() & made_of(history, extremes):
        return False
    given = tangents_given(difference)
    added = [one_of(given, number) for number in (ours - theirs)[odd]]
    return all(a or b for a, b in zip(added, ours[odd] == 0)) and all(one_of(given, number) for number in theirs[odd])


def one_of(numbers: np.ndarray, number: complex) -> bool:
    return bool(np.isclose(numbers, number, equal_nan=True).any())


def tangents_given(difference: Difference) -> np.ndarray:
    """The numbers of all tangents that dual numbers were made with, and zero, the tangent of a constant."""
    machine = machine_after(difference.history)
    tensors = machine.tensors()
    names = [step.args[1] for step in difference.history if step.call.endswith("make_dual")]
    return np.concatenate([np.zeros(1), *(machine.array(tensors[n]).ravel() for n in names if n in tensors)])


EXPLANATIONS = (
    Explanation(
        "dual numbers are aliases",
        "In PyTorch the dual number and the primal are views of the tensor.",
        ("forward_mode.md", "**Dual numbers are aliases, not views.**"),
        lambda d: of_dual_number(d) or of_a_view_in_no_grad(d) or ended_by_a_logical_op(d),
    ),
    Explanation(
        "the tangent of a NaN",
        "Gradients go to both operands of `maximum` and to none of `clamp`; PyTorch's tangent comes from one of them.",
        ("special_values.md", "The tangent of `maximum` where one operand is NaN"),
        tangent_at_nan,
    ),
)  # fmt: skip
