"""Sums and the other ops that take dimensions together.

Note [Sums in C]
A row of up to 24 numbers is added in double, one number after the other; one of up to 512 in 16 lanes; a longer one in
64 lanes, a block of 4096 at a time; a few rows of a few columns row by row, in the type of the elements. These are the
orders of the runtime's own sums, so contiguous tensors have the same bits. Others are added in double, and agree to
rounding.
"""

from __future__ import annotations

import math
from typing import Any

from gradsmith.graph.layout import NotExportable, Operand, indices_of, nest
from gradsmith.graph.literals import c_type, literal
from gradsmith.graph.step_view import StepView, converted

FEW_ROWS, FEW_ELEMENTS = 32, 4096
LONGEST_ROW = 1 << 15
NO_TERM = "-0.0"  # what a sum begins with that has the sign of its terms where all are zero
IS_BETTER = {"amax": ">", "max": ">", "argmax": ">", "amin": "<", "min": "<", "argmin": "<"}


def axes_of(view: StepView) -> tuple[int, ...]:
    """The dimensions that are taken together."""
    source = view.source()
    n = len(source.shape)
    if view.name == "sum_to":
        kept = (1,) * (n - len(view.result.shape)) + view.result.shape
        extra = n - len(view.result.shape)
        return tuple(axis for axis in range(n) if axis < extra or kept[axis] != source.shape[axis])
    given = view.operands[1] if len(view.operands) > 1 else None
    if given is None or given == ():
        return tuple(range(n))
    if isinstance(given, bool) or not isinstance(given, (int, tuple, list)):
        raise NotExportable("its dimensions have no form")
    dims = (given,) if isinstance(given, int) else given
    return tuple(sorted(dim % n for dim in dims)) if n else ()


class Walk:
    """Loops over what is kept, i0, ..., and inside of them over what is taken together."""

    def __init__(self, view: StepView, axes: tuple[int, ...]) -> None:
        self.view, self.source, self.axes = view, view.source(), axes
        self.kept = [axis for axis in range(len(self.source.shape)) if axis not in axes]
        order = (*self.kept, *axes)
        names = dict(zip(order, indices_of(len(order))))
        self.element = self.source.at(view.pointer(self.source), tuple(names[axis] for axis in range(len(order))))
        self.target = self._target(names)

    def _target(self, names: dict[int, str]) -> str:
        result = self.view.result
        if len(result.shape) == len(self.source.shape):
            return result.at("r0", tuple(names[axis] for axis in range(len(result.shape))))
        return result.at("r0", tuple(names[axis] for axis in self.kept))

    def inner(self, lines: list[str]) -> list[str]:
        return nest(tuple(self.source.shape[axis] for axis in self.axes), lines, len(self.kept))

    def outer(self, lines: list[str]) -> list[str]:
        return nest(tuple(self.source.shape[axis] for axis in self.kept), lines)


def total(view: StepView) -> list[str]:
    """sum, sum_to and mean."""
    axes, result = axes_of(view), view.result
    walk = Walk(view, axes)
    count = math.prod(walk.source.shape[axis] for axis in axes)
    if view.name == "mean" and result.dtype.kind != "f":
        raise NotExportable("the mean of integers has no form")
    divided = f" / {literal(count, result.dtype)}" if view.name == "mean" else ""
    if result.dtype.kind == "f" and walk.source.dtype == result.dtype and axes and count:
        sizes = _as_block(walk.source, axes)
        if sizes is not None and sizes[1] == 1 and 24 < sizes[0] <= LONGEST_ROW:
            return _long_rows(walk, sizes[0], divided)
        if sizes is not None and sizes[1] > 1 and sizes[0] <= FEW_ROWS and math.prod(sizes) <= FEW_ELEMENTS:
            return _added(walk, c_type(result.dtype), divided, NO_TERM)
    if result.dtype.kind != "f":
        return _added(walk, c_type(result.dtype), divided)
    return _added(walk, "double", divided, NO_TERM if count == 1 else "0")


def _as_block(source: Operand, axes: tuple[int, ...]) -> tuple[int, int] | None:
    """Rows that are added and elements in each, of a contiguous tensor whose `axes` are neighbours."""
    step = 1
    for size, stride in zip(source.shape[::-1], source.strides[::-1]):
        if size != 1 and stride != step:
            return None
        step *= size
    if list(axes) != list(range(axes[0], axes[0] + len(axes))):
        return None
    return math.prod(source.shape[axes[0] : axes[-1] + 1]), math.prod(source.shape[axes[-1] + 1 :])


def _added(walk: Walk, type_: str, divided: str, start: str = "0") -> list[str]:
    dtype = walk.view.result.dtype
    element = converted(walk.element, walk.source.dtype, dtype) if type_ != "double" else f"(double){walk.element}"
    add = walk.inner([f"sum += {element};"])
    return walk.outer([f"{type_} sum = {start};", *add, f"{walk.target} = ({c_type(dtype)})sum{divided};"])


def _long_rows(walk: Walk, n: int, divided: str) -> list[str]:
    dtype = walk.view.result.dtype
    start = walk.element
    for axis in range(len(walk.kept), len(walk.source.shape)):
        start = start.replace(f"i{axis}", "0")
    call = f"({c_type(dtype)})sum_of_row_{dtype.name}(&{start}, {n})"
    return walk.outer([f"{walk.target} = {call}{divided};"])


def product(view: StepView) -> list[str]:
    if view.result.dtype.kind != "f":
        raise NotExportable("products of integers have no form")
    walk, type_ = Walk(view, axes_of(view)), c_type(view.result.dtype)
    return walk.outer(
        [f"{type_} product = 1;", *walk.inner([f"product *= {walk.element};"]), f"{walk.target} = product;"]
    )


def truth(view: StepView) -> list[str]:
    """all and any."""
    walk, is_all = Walk(view, axes_of(view)), view.name == "all"
    test = walk.inner([f"found = found {'&&' if is_all else '||'} {walk.element} != 0;"])
    return walk.outer([f"int found = {int(is_all)};", *test, f"{walk.target} = ({c_type(view.result.dtype)})found;"])


def extreme(view: StepView) -> list[str]:
    """The largest or smallest element, NaN where there is one."""
    walk, better = Walk(view, axes_of(view)), IS_BETTER[view.name]
    lines = ["int is_first = 1;", f"{c_type(view.result.dtype)} best = 0;"]
    test = f"if (is_first || {walk.element} {better} best{_or_nan(walk)}) {{"
    take = walk.inner([test, f"    best = {walk.element};", "}", "is_first = 0;"])
    return walk.outer([*lines, *take, f"{walk.target} = best;"])


def _or_nan(walk: Walk) -> str:
    """Of integers, compilers warn that the test is always false."""
    return f" || {walk.element} != {walk.element}" if walk.source.dtype.kind == "f" else ""


def place_of_extreme(view: StepView) -> list[str]:
    """Where the first largest or smallest element, or NaN, is."""
    walk, better = Walk(view, axes_of(view)), IS_BETTER[view.name]
    type_ = c_type(walk.source.dtype)
    lines = [f"{type_} best = 0;", "int64_t place = -1, k = 0;"]
    known = "best == best && " if walk.source.dtype.kind == "f" else ""
    test = f"if (place < 0 || ({known}({walk.element} {better} best{_or_nan(walk)}))) {{"
    take = walk.inner([test, f"    best = {walk.element};", "    place = k;", "}", "k++;"])
    return walk.outer([*lines, *take, f"{walk.target} = place;"])


# ---- along one dimension


def softmax(view: StepView) -> list[str]:
    """softmax and log_softmax."""
    walk, f = Walk(view, _one_axis(view)), _suffix(view)
    type_ = c_type(view.result.dtype)
    lines = [f"{type_} largest = -({type_})INFINITY, sum = 0;"]
    lines += walk.inner([f"largest = {walk.element} > largest ? {walk.element} : largest;"])
    lines += walk.inner([f"sum += exp{f}({walk.element} - largest);"])
    shifted = f"{walk.element} - largest"
    text = f"exp{f}({shifted}) / sum" if view.name == "softmax" else f"{shifted} - log{f}(sum)"
    return walk.outer([*lines, *walk.inner([f"{walk.target} = {text};"])])


def logsumexp(view: StepView) -> list[str]:
    walk, f = Walk(view, axes_of(view)), _suffix(view)
    type_ = c_type(view.result.dtype)
    lines = [f"{type_} largest = -({type_})INFINITY, sum = 0;"]
    lines += walk.inner([f"largest = {walk.element} > largest ? {walk.element} : largest;"])
    lines += [f"{type_} shift = isinf(largest) ? 0 : largest;"]
    lines += walk.inner([f"sum += exp{f}({walk.element} - shift);"])
    return walk.outer([*lines, f"{walk.target} = log{f}(sum) + shift;"])


def softmax_backward(view: StepView) -> list[str]:
    """(gradient - sum(gradient * result)) * result; of its logarithm gradient - exp(result) * sum(gradient)."""
    grad, result = view.source(0), view.source(1)
    axis = _last_int(view) % max(len(grad.shape), 1)
    order = [*[one for one in range(len(grad.shape)) if one != axis], axis]
    names = dict(zip(order, indices_of(len(order))))
    indices = tuple(names[one] for one in range(len(order)))
    g, r = grad.at(view.pointer(grad), indices), result.at(view.pointer(result), indices)
    type_, n, f = c_type(view.result.dtype), len(order) - 1, _suffix(view)
    last, is_log = (grad.shape[axis],), view.name == "log_softmax_backward"
    lines = [f"{type_} sum = 0;", *nest(last, [f"sum += {g if is_log else f'{g} * {r}'};"], n)]
    text = f"{g} - exp{f}({r}) * sum" if is_log else f"({g} - sum) * {r}"
    lines += nest(last, [f"{view.result.at('r0', indices)} = {text};"], n)
    return nest(tuple(grad.shape[one] for one in order[:-1]), lines)


def cumulative_sum(view: StepView) -> list[str]:
    walk, type_ = Walk(view, _one_axis(view)), c_type(view.result.dtype)
    element = converted(walk.element, walk.source.dtype, view.result.dtype)
    lines = walk.inner([f"sum += {element};", f"{walk.target} = sum;"])
    return walk.outer([f"{type_} sum = 0;", *lines])


def _one_axis(view: StepView) -> tuple[int, ...]:
    source = view.source()
    if not source.shape:
        raise NotExportable("it has no form for tensors without dimensions")
    if not isinstance(view.operands[1], int):
        raise NotExportable("its dimension has no form")
    return (view.operands[1] % len(source.shape),)


def _last_int(view: StepView) -> int:
    dim: Any = view.operands[2]
    if not isinstance(dim, int) or not view.result.shape:
        raise NotExportable("its dimension has no form")
    return dim


def _suffix(view: StepView) -> str:
    if view.result.dtype.kind != "f" or view.source().dtype != view.result.dtype:
        raise NotExportable("it has no form for these dtypes")
    return "f" if view.result.dtype.itemsize == 4 else ""
