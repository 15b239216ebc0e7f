"""Products of matrices as plain loops; they agree with the runtime's to rounding."""

from __future__ import annotations

from gradsmith.graph.layout import NotExportable, Operand, indices_of, nest
from gradsmith.graph.literals import c_type
from gradsmith.graph.step_view import StepView

NAMES = {"matmul", "mm", "mv", "bmm", "dot"}


def product(view: StepView) -> list[str]:
    """Rows of the first with columns of the second, for each matrix of a batch."""
    first, second, result = view.source(0), view.source(1), view.result
    if len(view.operands) != 2 or result.dtype.kind != "f" or {first.dtype, second.dtype} != {result.dtype}:
        raise NotExportable("it has no form for these dtypes")
    n = len(result.shape)
    indices = indices_of(n + 1)
    rows, columns = len(first.shape) > 1, len(second.shape) > 1
    batch, inner = indices[: n - rows - columns], indices[n]
    row, column = indices[n - rows - columns : n - columns], indices[n - columns : n]
    a = _element(view, first, batch, (*row, inner))
    b = _element(view, second, batch, (inner, *column))
    lines = [f"{c_type(result.dtype)} sum = 0;", *nest((first.shape[-1],), [f"sum += {a} * {b};"], n)]
    return nest(result.shape, [*lines, f"{view.target()} = sum;"])


def outer(view: StepView) -> list[str]:
    """Each element of the first with each of the second."""
    first, second, result = view.source(0), view.source(1), view.result
    if len(view.operands) != 2 or result.dtype.kind != "f" or {first.dtype, second.dtype} != {result.dtype}:
        raise NotExportable("it has no form for these dtypes")
    row, column = indices_of(2)
    text = f"{first.at(view.pointer(first), (row,))} * {second.at(view.pointer(second), (column,))}"
    return nest(result.shape, [f"{view.target()} = {text};"])


def _element(view: StepView, operand: Operand, batch: tuple[str, ...], own: tuple[str, ...]) -> str:
    n = len(operand.shape) - len(own)
    return operand.at(view.pointer(operand), (*batch[len(batch) - n :], *own))
