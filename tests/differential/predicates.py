"""Explanations of a difference: questions about its step, the steps before it, and the two values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .compare import UNDEFINED, Difference, close, largest
from .program import STEP, Step

COMPARES = re.compile(r"\b(eq|ne|lt|le|gt|ge|less|greater|not_equal)|[<>=!]=? ").search
# An index that selects everything.
WHOLE = re.compile(r"\(\)|\.\.\.|Ellipsis|\(?slice\(None, None, (None|1)\)(,\))?")
# Differences that a write shows where PyTorch has another tensor over the same memory.
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


def not_resized(difference: Difference) -> bool:
    """PyTorch has given `out` the very shape of our result."""
    if not only_we_refuse(r"out(\[\d\] \(\w+\))? has shape")(difference):
        return False
    if difference.step.kwargs.get("out") in difference.step.args:  # which PyTorch resizes before it reads it
        return True
    found = re.search(r"but the result has shape (\[.*?\])", difference.ours)
    return found is not None and found[1] in [str(list(x.shape)) for x in difference.operands]


def into_out(*messages: str) -> Callable[[Difference], bool]:
    """PyTorch refuses an `out`."""
    return lambda difference: "out" in difference.step.kwargs and only_pytorch_refuses(*messages)(difference)


def sources(steps: Sequence[Step], names: Iterable[str | None]) -> set[str | None]:
    """These values and all that they were made of."""
    found = set(names)
    for step in reversed(steps):
        if step.gives in found:
            found |= step.uses()
    return found


def computed_in_single(difference: Difference) -> bool:
    """Of integers, or of numbers narrower than `out`: the result of the op's own dtype, converted."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect != "value" or "out" not in difference.step.kwargs or ours.dtype.kind not in "fc":
        return False
    return close(ours, theirs, 0, 1e-6)


def several_zeros(difference: Difference) -> bool:
    """NaN where PyTorch has zeros, the gradient of a product."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect not in ("value", "gradient", "hook") or not called_before(difference, "prod"):
        return False
    return is_floating(ours) and is_floating(theirs) and bool(np.all(np.isnan(ours) & (theirs == 0) | (ours == theirs)))


def two_mistakes_of_complex(difference: Difference) -> bool:
    """A complex tensor where there is no order, and a dimension that does not exist or has no elements."""
    return (
        difference.aspect == "error type"
        and "not defined for complex numbers" in difference.ours
        and difference.theirs.startswith("IndexError")
    )


def infinite_variance(difference: Difference) -> bool:
    """NaN where PyTorch has an infinity, the gradient of a variance of one number that is itself NaN."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect not in ("value", "gradient", "hook") or not called_before(difference, "var", "std"):
        return False
    return (
        is_floating(ours) and is_floating(theirs) and bool(np.all(np.isnan(ours) & np.isinf(theirs) | (ours == theirs)))
    )


def of_bool_powers(difference: Difference) -> bool:
    return only_we_refuse('"pow" not implemented for .bool')(difference)


def nothing_of_integers(difference: Difference) -> bool:
    """softmax of an integer tensor, which in PyTorch is not looked at when there are no elements."""
    return only_we_refuse("softmax.* not defined for")(difference) and any(
        0 in x.shape or not x.shape for x in difference.operands
    )


def another_mistake(difference: Difference) -> bool:
    """Both refuse, and one of them because of the graph or of `out`, where the other one looks at the values first."""
    texts = f"{difference.ours} {difference.theirs}"
    if "cannot be converted to type" in str(difference.theirs):  # a number that does not fit, at a wrong index
        return difference.aspect == "error type" and difference.ours.startswith("IndexError")
    if difference.step.call.endswith("cumsum_") and "Bad in-place call" in str(difference.ours):
        return difference.aspect == "error type" and difference.theirs.startswith("IndexError")
    graph = "leaf Variable|automatic differentiation|inference|no_grad mode|out=|out has|resize|desired output type"
    graph += "|refers? to a single memory location|is a view and is being modified inplace"
    out = "only supports bool tensor for result|Expected the dtype for input and out"
    return difference.aspect == "error type" and bool(re.search(f"{graph}|{out}", texts))


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


def result_of(difference: Difference, *names: str) -> bool:
    """Does the step use a result of one of these, or is the difference in one."""
    makers = [step for step in difference.history if any(name in step.call for name in names)]
    return bool({difference.where.split("[")[0], *difference.step.uses()} & {step.gives for step in makers})


def result_of_any(difference: Difference, step: Step, names: Sequence[str]) -> bool:
    """Does an earlier step use a result of one of these."""
    return bool(step.uses() & {s.gives for s in difference.history if any(name in s.call for name in names)})


def beside(difference: Difference, *names: str) -> bool:
    """The same of a result or an operand of one of these, which in PyTorch share memory."""
    calls = [step for step in difference.history if any(name in step.call for name in names)]
    tensors = {name for step in calls for name in (step.gives, *step.uses())}
    return bool({difference.where.split("[")[0], *difference.step.uses()} & tensors)


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
    if difference.aspect == "gradient":  # through a write that was refused, after a Function had done it
        written = any(s.call.startswith("Doubled") and result_of_any(difference, s, names) for s in difference.history)
        return written and (difference.ours is None) != (difference.theirs is None)
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


def is_of_a_whole_view(difference: Difference) -> bool:
    """A tangent of `x[()]` or `x[...]`, which PyTorch's view has in common with `x`."""
    steps = (*difference.history, difference.step)
    duals = {name for step in steps if step.call == "parts" for name in step.uses()}
    return difference.where.endswith("[1]") and any(
        step.gives in duals and step.call == "{0}[{1}]" and WHOLE.fullmatch(step.args[1]) for step in difference.history
    )


def registered_before_a_write(difference: Difference, *names: str) -> bool:
    """The hooks that only one library has called are on results of these, which a custom Function has written since."""
    missing = {*difference.ours} ^ {*difference.theirs}
    written = {name for step in difference.history if "Doubled" in step.call for name in step.uses()}
    made = {step.gives for step in difference.history if any(name in step.call for name in names)}
    hooks = [step for step in difference.history if step.call == "hook"]
    return all(any(step.args[1] == repr(label) and step.uses() & made & written for step in hooks) for label in missing)


def only_undefined_gradients(difference: Difference) -> bool:
    """The hooks that PyTorch has called besides were given None."""
    return difference.aspect == "order of hooks" and difference.ours == [
        label for label in difference.theirs if not label.endswith(UNDEFINED)
    ]


def integer_with_history(difference: Difference) -> bool:
    """PyTorch's tensor of integers or bools requires grad after a write."""
    return (
        difference.aspect in ("requires_grad", "is_leaf", "has_node")
        and difference.step.writes()
        and any(x.requires_grad and x.dtype.startswith(("int", "uint", "bool")) for x in difference.operands)
    )


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
    return difference.aspect in ("value", "identity", "is_view") and bool(touched & (given | found))


def written_by_accumulation(difference: Difference) -> bool:
    """A graph has saved a gradient that was given before, to which PyTorch has added that of a later backward."""
    runs = [step for step in difference.history if step.call.endswith("backward")]
    given = {name for step in runs[:-1] for name in STEP.findall(step.kwargs.get("gradient", ""))}
    saved = {name for step in difference.history if step not in runs for name in step.uses() & given}
    return bool(saved) and only_pytorch_refuses("modified by an inplace operation")(difference)


def cancelled_on_arrival(difference: Difference) -> bool:
    """Gradients beyond 1e16 that cancel out, which PyTorch adds to one another before it adds them to a `grad`."""
    runs = [step for step in difference.history if step.call.endswith("backward")]
    extreme = any(step.call == "make" and "'special'" in step.args for step in difference.history)
    if (
        difference.aspect != "gradient"
        or not runs
        or not extreme
        or difference.ours is None
        or difference.theirs is None
    ):
        return False
    other = ~np.isclose(difference.ours, difference.theirs, equal_nan=True)
    return bool(np.all(np.abs(difference.ours[other] - difference.theirs[other]) < 10))


def hook_of_another_shape(difference: Difference) -> bool:
    """A hook on a tensor that was given another shape in place, unseen by the graph."""
    changed = {
        name
        for step in difference.history
        if step.mode
        and re.search(r"\.(un)?squeeze_|\.(transpose|t|swapaxes|swapdims|resize|as_strided|set)_", step.call)
        for name in step.uses()
    }
    hooked = any(step.call == "hook" and step.uses() & changed for step in difference.history)
    return difference.aspect == "shape" and difference.where.startswith("hook") and hooked


def strides_of_ones(difference: Difference) -> bool:
    """Dimensions of size one in operands that are broadcast, of which PyTorch compares the strides."""
    shapes = {x.shape for x in difference.operands}
    return difference.aspect == "strides" and len(shapes) > 1 and any(1 in shape for shape in shapes)


def made_of(steps: Sequence[Step], names: Iterable[str | None]) -> set[str | None]:
    """These values and all that was made of them, some of which are views."""
    found = set(names)
    for step in steps:
        if step.uses() & found:
            found.add(step.gives)
    return found - {None}


def found_unused_after_the_run(difference: Difference) -> bool:
    """PyTorch's `grad` has freed the graph before it reports an input that nothing reached."""
    graphs = [
        made_of(difference.history, step.uses())
        for step in difference.history
        if step.call == "lib.autograd.grad" and not {"allow_unused", "materialize_grads"} & set(step.kwargs)
    ]
    return any(difference.step.uses() & names for names in graphs) and only_pytorch_refuses(
        "backward through the graph a second time"
    )(difference)


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


def order_of_leaves(difference: Difference) -> bool:
    """The same hooks, one of them on what a leaf has accumulated: which of several leaves is first is not promised."""
    return (
        difference.aspect == "order of hooks"
        and sorted(difference.ours) == sorted(difference.theirs)
        and any(step.call == "accumulate_hook" for step in difference.history)
    )


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


def hook_on_node_of_parts(difference: Difference) -> bool:
    """A hook that changes gradients, on the node of `split_copy` or `unbind_copy`: PyTorch has one for all parts."""
    made = {step.gives for step in difference.history if re.search("(split|unbind).*_copy$", step.call)}
    return difference.aspect in ("gradient", "hook", "value", "order of hooks") and any(
        step.call in ("node_hook", "node_prehook") and step.uses() & made for step in difference.history
    )


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


def far_smaller_divisor(difference: Difference) -> bool:
    """NaN, in PyTorch's vectors, for the remainder of a number that is very many times the divisor."""
    if difference.aspect != "value" or not re.search("remainder|%", difference.step.call):
        return False
    ours, theirs = difference.ours, difference.theirs
    odd = np.isnan(theirs) & np.isfinite(ours)
    sizes = [np.abs(x.array) for x in difference.operands if x.array.dtype.kind == "f"]
    divisor = max((largest(size) for size in sizes), default=np.inf)
    numbers = re.findall(r"-?\d+\.?\d*", " ".join(difference.step.args[1:]))
    bounds = [divisor, *(abs(float(number)) for number in numbers)]
    within = bool(np.all(np.abs(ours[odd]) <= max(bounds)))
    return within and bool(odd.any()) and close(ours[~odd], theirs[~odd], 0, 1e-5)


def squares_beyond_float32(difference: Difference) -> bool:
    """Infinities of PyTorch's variance of complex64, where ours has computed in double."""
    if difference.aspect != "value" or difference.step.name not in ("var", "std"):
        return False
    ours, theirs = difference.ours, difference.theirs
    beyond = np.isinf(theirs) & (np.abs(ours) > 1e18)
    return any(x.dtype == "complex64" for x in difference.operands) and close(ours[~beyond], theirs[~beyond], 0, 1e-4)


def leads_nowhere(difference: Difference) -> bool:
    """A second backward through a graph above a view made in `no_grad`, of which PyTorch runs the nodes."""
    views = {step.gives for step in difference.history if step.mode and re.search("no_grad|inference", step.mode)}
    return bool(difference.step.uses() & made_of(difference.history, views)) and only_pytorch_refuses(
        "backward through the graph a second time"
    )(difference)


def cancelled_variance(difference: Difference) -> bool:
    """The remainder, after rounding, of squares of large numbers, which both libraries subtract from one another."""
    if difference.aspect != "value" or difference.step.name not in ("var", "std"):
        return False
    scale = max((largest(x.array) for x in difference.operands if x.array.dtype.kind in "fc"), default=0.0)
    allowed = 64 * float(np.finfo(difference.ours.dtype).eps) * scale
    with np.errstate(all="ignore"):
        distance = np.abs(difference.ours - difference.theirs)
        return bool(np.all(distance <= (allowed if difference.step.name == "std" else allowed * allowed)))


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


def multiplied_halves(difference: Difference) -> bool:
    """Products in float16, of which PyTorch's leaves its range on the way: infinite, or NaN after a zero."""
    ours, theirs = difference.ours, difference.theirs
    halves = (str(ours.dtype), str(theirs.dtype)) == ("float16", "float16") if is_floating(ours) else False
    if difference.aspect != "value" or difference.step.name != "prod" or not halves:
        return False
    beyond = ~np.isfinite(theirs)
    tiny = np.abs(ours) < 1e-3  # where each factor's rounding is large
    return close(ours[~beyond & ~tiny], theirs[~beyond & ~tiny], 0, 0.05)


def negated_gradient(difference: Difference) -> bool:
    """The gradient given to a `grad` through `cos` was written; here its negative has been saved."""
    runs = [step for step in difference.history if "create_graph" in step.kwargs]
    given = {name for step in runs for name in STEP.findall(step.kwargs.get("gradient") or "".join(step.args[2:3]))}
    written = {name for s in difference.history if s.writes() for name in STEP.findall(s.args[0])}
    return (
        bool(given & written)
        and any(re.search(r"\.cos_?$", step.call) for step in difference.history)
        and only_pytorch_refuses("modified by an inplace operation")(difference)
    )


def cancelled_deviation(difference: Difference) -> bool:
    """The gradient of a `std` of equal numbers, whose sign is that of a rounding error."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect not in ("gradient", "hook", "value") or not called_before(difference, "std"):
        return False
    if not is_floating(ours) or not is_floating(theirs):
        return False
    return close(np.abs(ours), np.abs(theirs), 0, 1e-6) and np.ptp(np.abs(theirs)) <= 1e-6 * largest(theirs)


def tangent_at_nan(difference: Difference) -> bool:
    """Tangents of elements that are NaN themselves, as an extreme of two tensors is where one of them is."""
    if difference.step.call != "parts" or difference.aspect != "value" or not difference.where.endswith("[1]"):
        return False
    odd = ~np.isclose(difference.ours, difference.theirs, equal_nan=True)
    extremes = called_before(difference, "min", "max", "clamp", "clip")
    return extremes and any(x.shape == odd.shape and np.isnan(x.array[odd]).all() for x in difference.operands)


def view_of_inference(difference: Difference) -> bool:
    """A view, outside of inference mode, of a gradient that was made inside, where nothing led to it."""
    made = {s.gives for s in difference.history if s.mode and "inference" in s.mode and "materialize_grads" in s.kwargs}
    return difference.aspect in ("requires_grad", "is_leaf", "has_node") and bool(difference.step.uses() & made)


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


def called_before(difference: Difference, *names: str) -> bool:
    """Whether a step of the program has called one of these."""
    return any(name in step.call for step in (*difference.history, difference.step) for name in names)


def made_by(difference: Difference, *names: str) -> bool:
    """Whether the value looked at is a result of one of these."""
    name = difference.where.split("[")[0]
    makers = [step.call for step in (*difference.history, difference.step) if step.gives == name]
    return any(name in call for call in makers for name in names)


def changed_what_was_asked_for(difference: Difference) -> bool:
    """`grad` for a tensor that was written: its own gradient reads another one, which was not."""
    if not difference.step.call.endswith("autograd.grad"):
        return False
    asked = set(STEP.findall(difference.step.args[1]))
    written = {name for step in difference.history if step.writes() for name in STEP.findall(step.args[0])}
    found = re.search(r"Tensor \[(.*?)\]\].* is at version (\d+)", str(difference.theirs))
    if not asked & written or found is None:
        return False
    shown = (found[1].replace(" ", ""), int(found[2]))  # the shape and version of one that was asked for
    alike = any((",".join(map(str, x.shape)), x.version) == shown for x in difference.operands)
    return alike and only_pytorch_refuses("modified by an inplace operation")(difference)


def converted_target(difference: Difference) -> bool:
    """A target of integers that `mse_loss` has converted, or one that `label_smoothing` has made probabilities of."""
    losses = [s for s in difference.history if "mse_loss" in s.call or "label_smoothing" in s.kwargs]
    kinds = "ByteTensor|CharTensor|ShortTensor|IntTensor|LongTensor|BoolTensor"
    if any("create_graph" in step.kwargs for step in difference.history):  # the second gradient does not read it
        kinds = r"\w+Tensor"
    targets = {name for step in losses for name in step.uses()}
    written = {name for step in difference.history if step.writes() for name in STEP.findall(step.args[0])}
    steps = difference.history
    return bool(made_of(steps, sources(steps, targets)) & written) and only_pytorch_refuses(
        f"modified by an inplace operation: .torch.({kinds})"
    )(difference)


def overflowing_sinh(difference: Difference) -> bool:
    """Infinities of PyTorch where `exp` overflows and half of it does not."""
    if difference.aspect != "value" or difference.step.name not in ("sinh", "sinh_"):
        return False
    ours, theirs = difference.ours, difference.theirs
    beyond = np.isinf(theirs) & (np.abs(ours) > np.finfo(ours.dtype).max / 2)
    return bool(beyond.any()) and close(ours[~beyond], theirs[~beyond], 0, 1e-5)


def extreme_before(difference: Difference) -> bool:
    return any(re.search(r"\.(amax|amin|max|min)$", step.call) for step in difference.history)


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


def reaches_floor_division(difference: Difference) -> bool:
    """A backward from what a floor division has given, which in PyTorch has no derivative."""
    steps = difference.history
    divided = [step for step in steps if re.search("floor_divide|//", step.call)]
    results = {name for step in divided for name in (step.gives, *STEP.findall(step.args[0]))}
    return difference.aspect in ("gradient", "order of hooks", "hook") and bool(
        difference.step.uses() & made_of(steps, results)
    )


def reaches_once_differentiable(difference: Difference) -> bool:
    """A gradient that `Once` has computed, of which PyTorch's needs none."""
    made = made_of(difference.history, {step.gives for step in difference.history if "Once" in step.call})
    touched = {difference.where.split("[")[0].split(".")[0], *difference.step.uses()}
    if difference.aspect == "error":
        return bool(touched & made) and only_we_refuse("once_differentiable")(difference)
    return difference.aspect in ("requires_grad", "is_leaf", "has_node") and bool(touched & made)


def absent_in_pytorch(difference: Difference) -> bool:
    """The op that is called is no attribute of PyTorch's module or tensor."""
    found = re.match(r"AttributeError: .*(module|'Tensor') .*has no attribute '(\w+)'", str(difference.theirs))
    return found is not None and difference.aspect.startswith("error") and found[2] in difference.step.call


def is_floating(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


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
