"""Ops that work on each element: arithmetic, comparisons, functions, and the loops of the table."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from gradsmith.graph.layout import NotExportable, nest
from gradsmith.graph.literals import c_type, literal
from gradsmith.graph.step_view import StepView
from gradsmith.runtime.programs.program import Slot

# {0}, {1}, ... are operands.
ARITHMETIC = {
    "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}", "neg": "-{0}", "positive": "{0}",
    "reciprocal": "1 / {0}", "square": "{0} * {0}",
}  # fmt: skip
FUNCTIONS = {
    "abs": "fabs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atan2": "atan2",
    "atanh": "atanh", "ceil": "ceil", "copysign": "copysign", "cos": "cos", "cosh": "cosh", "erf": "erf",
    "erfc": "erfc",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "floor": "floor", "fmax": "fmax", "fmin": "fmin", "fmod": "fmod",
    "hypot": "hypot",
    "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2", "round": "rint", "sin": "sin", "sinh": "sinh",
    "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
BINARY = {"atan2", "copysign", "fmax", "fmin", "fmod", "hypot"}
CHOICES = {
    "maximum": "{0} > {1} || {0} != {0} ? {0} : {1}",
    "minimum": "{0} < {1} || {0} != {0} ? {0} : {1}",
    "clamp_min": "{0} > {1} || {0} != {0} ? {0} : {1}",
    "clamp_max": "{0} < {1} || {0} != {0} ? {0} : {1}",
    "relu": "{0} < 0 ? 0 : {0}",
}
OF_TWO = {"maximum", "minimum", "clamp_min", "clamp_max"}
SIGN = "({0} > 0) - ({0} < 0)"  # of no number 0, as in PyTorch
SIGNS = {"sign": SIGN, "sgn": SIGN}  # fmt: skip
COMPARISONS = {
    "eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}", "le": "{0} <= {1}", "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "isnan": "{0} != {0}", "logical_not": "!{0}", "logical_and": "{0} && {1}", "logical_or": "{0} || {1}",
    "logical_xor": "!{0} != !{1}",
}  # fmt: skip
ORDERS = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
EQUALITIES = {"eq": operator.eq, "ne": operator.ne}
OF_FLOATS = {"isinf": "isinf({0}) != 0", "isfinite": "isfinite({0}) != 0"}
BITWISE = {"bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}", "bitwise_xor": "{0} ^ {1}"}
# Overflow of signed integers is undefined in C.
WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
# Functions by which the loops of the table are written, and those of the C library that stand for them.
NAMES_OF_LOOPS = {
    "gs_exp": "exp", "gs_expm1": "expm1", "gs_log": "log", "gs_log1p": "log1p", "gs_tanh": "tanh", "gs_erf": "erf",
    "gs_erfc": "erfc", "gs_lgamma": "lgamma", "gs_sin_anywhere": "sin", "gs_cos_anywhere": "cos",
}  # fmt: skip
OWN_FUNCTION = re.compile(r"\bgs_\w+(?=\()")
SMALL_POWERS = {
    1: "{0}", 2: "{0} * {0}", 3: "{0} * {0} * {0}", -1: "1 / {0}", -2: "1 / ({0} * {0})", 0.5: "sqrt{f}({0})",
    -0.5: "1 / sqrt{f}({0})",
}  # fmt: skip
NAMES = {*ARITHMETIC, *FUNCTIONS, *CHOICES, *SIGNS, *COMPARISONS, *OF_FLOATS, *BITWISE, "pow"}


def elementwise(view: StepView) -> list[str]:
    """The loop over the elements of a step of a name of `NAMES`."""
    dtype = _computed_in(view)
    truth = _truth_for_all(view, dtype)
    if truth is not None:
        return nest(view.result.shape, [f"{view.target()} = {int(truth)};"])
    values = [view.element(operand, dtype) for operand in view.operands]
    text = _expression(view, dtype, values)
    return nest(view.result.shape, [f"{view.target()} = ({c_type(view.result.dtype)})({text});"])


def _computed_in(view: StepView) -> np.dtype[Any]:
    """Comparisons compute in the type of what they compare, all else in that of the result."""
    if view.name not in COMPARISONS and view.name not in OF_FLOATS:
        return view.result.dtype
    dtypes = {view.array(slot).dtype for slot in view.slots}
    if len(dtypes) != 1:
        raise NotExportable("it compares tensors of different dtypes; convert one of them")
    dtype: np.dtype[Any] = dtypes.pop()
    if dtype.kind != "f" and any(type(operand) is float for operand in view.operands):
        raise NotExportable("it compares integers with a float; convert the tensor")
    return dtype


def _truth_for_all(view: StepView, dtype: np.dtype[Any]) -> bool | None:
    """What comparing any integer of a type with a number gives, if that is one and the same.

    The type need not have the number, and of the others compilers warn.
    """
    compare = ORDERS.get(view.name) or EQUALITIES.get(view.name)
    if compare is None or dtype.kind not in "iub" or not any(isinstance(one, int) for one in view.operands):
        return None
    first, number = view.operands
    if not isinstance(first, Slot) or not isinstance(number, int):
        raise NotExportable("it compares a number with a tensor; write the tensor first")
    least, most = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    if view.name in EQUALITIES and least <= number <= most:
        return None
    at_least: bool = compare(least, number)
    return at_least if at_least == compare(most, number) else None


def _expression(view: StepView, dtype: np.dtype[Any], values: list[str]) -> str:
    name = view.name
    if name == "pow":
        return _power(view, dtype, values)
    form = _float_form(name, dtype) if dtype.kind == "f" else _integer_form(name, dtype)
    if name in OF_TWO and dtype.kind == "f" and _keeps_first(view):
        form = form.replace("> {1}", ">= {1}").replace("< {1}", "<= {1}")
    if f"{{{len(values)}}}" in form or f"{{{len(values) - 1}}}" not in form:
        raise NotExportable("it has arguments that the exported C does not know")
    if name in OF_TWO and dtype.kind in "iu":
        form = _beside_a_bound_of_its_type(view, dtype) or form
    return form.format(*values)


def _beside_a_bound_of_its_type(view: StepView, dtype: np.dtype[Any]) -> str | None:
    """Beside the least or greatest integer of a type, compilers warn of an order that is always, or never, true."""
    number = view.operands[-1]
    if not isinstance(number, int):
        return None
    weakest, strongest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if view.name in ("minimum", "clamp_max"):
        weakest, strongest = strongest, weakest
    forms = {weakest: "{0}", strongest: "{0} == {1} ? {0} : {1}"}
    return forms.get(int(np.array(number).astype(dtype)))


def _keeps_first(view: StepView) -> bool:
    """Of zeros of both signs? The loops of eager do beside a number, and of two numbers; see elementary/pairs.c."""
    sizes = [view.array(one.number).size if isinstance(one, Slot) else 1 for one in view.operands]
    return 1 in sizes


def _float_form(name: str, dtype: np.dtype[Any]) -> str:
    for forms in (ARITHMETIC, CHOICES, SIGNS, COMPARISONS, OF_FLOATS):
        if name in forms:
            return forms[name]
    if name not in FUNCTIONS:
        raise NotExportable(f"it has no form for {dtype.name}")
    operands = "{0}, {1}" if name in BINARY else "{0}"
    return f"{FUNCTIONS[name]}{'f' if dtype.itemsize == 4 else ''}({operands})"


def _integer_form(name: str, dtype: np.dtype[Any]) -> str:
    if name in WRAPPING and dtype.kind in "iu":
        return f"(uint64_t){{0}} {WRAPPING[name]} (uint64_t){{1}}"
    if name == "neg" and dtype.kind in "iu":
        return "0 - (uint64_t){0}"
    if name in SIGNS and dtype.kind == "i":
        return SIGN
    if name == "relu" and dtype.kind == "u":
        return "{0}"
    choice = CHOICES[name].replace(" || {0} != {0}", "") if name in CHOICES and dtype.kind in "iu" else None
    form = COMPARISONS.get(name) or BITWISE.get(name) or choice
    if form is None:
        raise NotExportable(f"it has no form for {dtype.name}")
    return form


def _power(view: StepView, dtype: np.dtype[Any], values: list[str]) -> str:
    """Powers that eager computes without `pow` are computed like that here."""
    if dtype.kind != "f" or len(values) != 2:
        raise NotExportable("powers of integers have no form")
    exponent, f = view.operands[1], "f" if dtype.itemsize == 4 else ""
    form = SMALL_POWERS.get(exponent) if isinstance(exponent, (int, float)) else None
    return f"pow{f}({', '.join(values)})" if form is None else form.format(values[0], f=f)


def division(view: StepView) -> list[str]:
    """floor_divide and remainder of floats, as in Python: what remains has the sign of the divisor."""
    dtype = view.result.dtype
    if dtype.kind != "f" or len(view.operands) != 2:
        raise NotExportable(f"it has no form for {dtype.name}")
    type_, f = c_type(dtype), "f" if dtype.itemsize == 4 else ""
    a, b = (view.element(operand, dtype) for operand in view.operands)
    lines = [f"const {type_} a = {a}, b = {b}, rest = fmod{f}(a, b);"]
    lines.append("const int differ = rest != 0 && (rest < 0) != (b < 0);")
    if view.name == "remainder":
        text = f"differ ? rest + b : rest == 0 ? copysign{f}(0, b) : rest"
    else:
        lines.append(f"const {type_} exact = (a - rest) / b - ({type_})differ, whole = floor{f}(exact);")
        lines.append(f"const {type_} nearest = exact - whole > ({type_})0.5 ? whole + 1 : whole;")
        text = f"b == 0 ? a / b : exact == 0 ? copysign{f}(0, a / b) : nearest"
    return nest(view.result.shape, [*lines, f"{view.target()} = {text};"])


# ---- loops of the table


@cache
def _kernels() -> dict[str, Any]:
    text = files("gradsmith.generated").joinpath("kernel_formulas.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def is_kernel(view: StepView) -> bool:
    loop = view.step.loop if view.step.is_loop else None
    return loop is not None and loop[0] == "kernel" and _kernel_of(view, loop[2]) is not None


def _kernel_of(view: StepView, numbers: Sequence[float]) -> dict[str, Any] | None:
    """The kernel of the step's name that takes as many tensors and numbers."""
    counts = (len(view.step.loop_inputs), len(numbers))
    name = view.name
    names = [one for one in _kernels() if one == name or (one.startswith(f"{name}_") and one.endswith("_forward"))]
    found = [_kernels()[one] for one in names]
    found = [one for one in found if (len(one["inputs"]), len(one["scalars"])) == counts]
    return found[0] if len(found) == 1 else None


def kernel(view: StepView) -> list[str]:
    """The loop of a kernel of the table, with the text that gradsmith's own loop has."""
    assert view.step.loop is not None
    numbers, dtype = view.step.loop[2], view.result.dtype
    found = _kernel_of(view, numbers)
    assert found is not None
    if dtype.kind != "f" or any(view.array(slot).dtype != dtype for slot in view.step.loop_inputs):
        raise NotExportable("its tensors are of different dtypes; convert them")
    body, type_ = found[dtype.name], c_type(dtype)
    _check_functions([body["result"], *(text for _, text in body["locals"])])
    lines = [f"const {type_} {name} = {literal(n, dtype)};" for name, n in zip(found["scalars"], numbers)]
    for name, slot in zip(found["inputs"], view.step.loop_inputs):
        lines.append(f"const {type_} {name}_i = {view.element_of_slot(slot)};")
    for name, text in body["locals"]:
        lines.append(f"const {type_} {name} = {_without_index(text)};")
    lines.append(f"{view.target()} = {_without_index(body['result'])};")
    return nest(view.result.shape, lines)


def _check_functions(texts: Sequence[str]) -> None:
    for name in OWN_FUNCTION.findall(" ".join(texts)):
        if name not in NAMES_OF_LOOPS and name.removesuffix("f") not in NAMES_OF_LOOPS:
            raise NotExportable(f"the C library has no {name.removeprefix('gs_')}")


def _without_index(text: str) -> str:
    return text.replace("[i]", "_i")


# ---- choices between tensors


def where(view: StepView) -> list[str]:
    if len(view.operands) != 3:
        raise NotExportable("the number of its results depends on values")
    dtype = view.result.dtype
    condition = view.element(view.operands[0], np.dtype(bool))
    first, second = (view.element(operand, dtype) for operand in view.operands[1:])
    return nest(view.result.shape, [f"{view.target()} = {condition} ? {first} : {second};"])


def masked_fill(view: StepView) -> list[str]:
    values, mask, number = view.operands
    dtype = view.result.dtype
    text = f"{view.element(mask, np.dtype(bool))} ? {view.element(number, dtype)} : {view.element(values, dtype)}"
    return nest(view.result.shape, [f"{view.target()} = {text};"])
