"""Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradsmith.autograd.functional import strict as required
from gradsmith.autograd.functional.arguments import (
    Tensors,
    as_tensors,
    called,
    filled,
    gradients,
    released,
    renewed,
    unwrap,
)
from gradsmith.autograd.functional.basis import _construct_standard_basis_for
from gradsmith.autograd.functional.products import forward_run, value_and_gradient
from gradsmith.generated import stack
from gradsmith.runtime.batching.levels import Caller, at_once
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.factories.creation import zeros

Function = Callable[..., Any]
Blocks = list[Tensors]  # for each output a matrix for each input

REVERSE, FORWARD = STRATEGIES = ("reverse-mode", "forward-mode")
HINT = (
    ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, '
    'prefer to use "reverse-mode".'
)


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Derivatives of all elements of the outputs of `func` with respect to all elements of its inputs.

    Parameters
    ----------
    func : callable
        Takes tensors, gives a tensor or a tuple of tensors.
    inputs : Tensor or tuple of Tensor
        Where.
    create_graph : bool
        Record the computation, for derivatives of the result.
    strict : bool
        Raise where an output does not depend on an input, instead of giving zeros.
    vectorize : bool
        Compute all rows, or all columns, at once, as `func.vmap` would: much faster, with the memory of all of them.
        Backwards and `func` must not ask for the value of a gradient or tangent then, as in ``if grad.sum() > 0``.
    strategy : {"reverse-mode", "forward-mode"}
        One backward for each element of the outputs, or one run of `func` for each element of the inputs. Each takes
        all other options.

    Returns
    -------
    Tensor or tuple
        ``J[i][j]`` of the shape of output i followed by that of input j. A single output or input takes away its level
        of tuples. The dtype is that of the input in reverse mode and of the output in forward mode.

    Examples
    --------
    >>> import gradsmith as gs
    >>> jacobian(lambda x, y: x * y.sum(), (gs.tensor([1.0, 2.0]), gs.tensor([3.0, 4.0])))
    (tensor([[7., 0.],
            [0., 7.]]), tensor([[1., 1.],
            [2., 2.]]))
    """
    _require_strategy(strategy, HINT)
    if strict and vectorize and strategy != FORWARD:
        raise RuntimeError(
            "jacobian(): strict=True and vectorize=True are not supported together: rows that are computed in one call "
            "cannot be told from those of outputs that do not depend on the input. Set one of them to False."
        )
    with enable_grad():
        many_inputs, given = as_tensors(inputs, "inputs", "jacobian")
        points = renewed(given, create_graph, record=True)
        if strategy == FORWARD:
            run = _by_columns_at_once if vectorize and not strict and any(p.numel() for p in points) else _by_columns
            many_outputs, blocks = run(func, points, strict)
        else:
            many_outputs, blocks = _by_rows(func, points, create_graph, strict, vectorize)
        if strict and create_graph:
            for row in blocks:
                required.require_history(row, "jacobian")
    rows = [unwrap(released(row, create_graph), many_inputs) for row in blocks]
    return unwrap(rows, many_outputs)


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Second derivatives of a function whose value is one number.

    Parameters
    ----------
    func : callable
        Takes tensors, gives a tensor of one element.
    inputs : Tensor or tuple of Tensor
        Where.
    create_graph, strict, vectorize : bool
        See `jacobian`.
    outer_jacobian_strategy : {"reverse-mode", "forward-mode"}
        How the gradient, which reverse mode gives, is differentiated. Each takes all other options.

    Returns
    -------
    Tensor or tuple of tuple of Tensor
        ``H[i][j]`` of the shape of input i followed by that of input j.

    Examples
    --------
    >>> import gradsmith as gs
    >>> hessian(lambda x: x.prod(), gs.tensor([2.0, 3.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    many_inputs, given = as_tensors(inputs, "inputs", "hessian")
    _require_strategy(outer_jacobian_strategy)

    def gradient(*points: Any) -> Tensors:
        _, firsts = value_and_gradient(func, points, strict, "hessian")
        return filled(firsts, points)

    rows = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return rows if many_inputs else rows[0][0]


def _require_strategy(strategy: str, hint: str = "") -> None:
    if strategy not in STRATEGIES:
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", got {strategy!r}.{hint}'
        )


# ---- reverse mode: a row for each element of an output


def _by_rows(func: Function, points: Tensors, create_graph: bool, strict: bool, vectorize: bool) -> tuple[bool, Blocks]:
    many_outputs, outputs = called(func, points, "jacobian")
    if strict:
        required.require_recorded(outputs)
    blocks = []
    for index, output in enumerate(outputs):
        rows = _rows_of(_require_real(index, output), points, create_graph, vectorize)
        if strict:
            required.require_dependence(rows, f"Output {index}")
        blocks.append(tuple(_shaped(row, output, point, point) for row, point in zip(rows, points)))
    return many_outputs, blocks


def _require_real(index: int, output: Any) -> Any:
    if output.is_complex():
        raise RuntimeError(
            f"jacobian: reverse mode takes real outputs only, but output {index} of the user-provided function is "
            f'{output.dtype}. Take its real and imaginary parts, or strategy="forward-mode".'
        )
    return output


def _rows_of(output: Any, points: Tensors, create_graph: bool, vectorize: bool) -> Tensors:
    """For each input the gradients of all elements of the output, stacked; None where there is no dependence."""
    options = {"create_graph": create_graph, "retain_graph": True}
    if vectorize and output.numel():
        units = np.eye(output.numel(), dtype=output.dtype).reshape(output.numel(), *output.shape)
        return gradients([output], points, [from_array(units).to(output.device)], is_grads_batched=True, **options)
    rows = [gradients([output], points, [unit], **options) for unit in _units(output)]
    return tuple(_stacked([row[n] for row in rows], point, 0) for n, point in enumerate(points))


# ---- forward mode: a column for each element of an input


def _by_columns(func: Function, points: Tensors, strict: bool) -> tuple[bool, Blocks]:
    runs = [
        [forward_run(func, points, _alone(unit, place, points), "jacobian") for unit in _units(point)]
        for place, point in enumerate(points)
    ]
    first = next((run for column in runs for run in column), None)
    many_outputs, outputs = called(func, points, "jacobian") if first is None else first[:2]
    if strict:
        required.require_recorded(outputs)
    blocks = []
    for index, output in enumerate(outputs):
        columns = [_stacked([tangents[index] for _, _, tangents in column], output, -1) for column in runs]
        if strict:
            required.require_dependence(columns, f"Output {index}")
        blocks.append(tuple(_shaped(column, output, point, output) for column, point in zip(columns, points)))
    return many_outputs, blocks


def _by_columns_at_once(func: Function, points: Tensors, _: bool) -> tuple[bool, Blocks]:
    """The same by one run, with all unit vectors of all inputs as one batch of tangents."""
    sizes = [point.numel() for point in points]
    basis = _construct_standard_basis_for(points, sizes)
    units = [unit.reshape(len(unit), *point.shape) for unit, point in zip(basis, points)]
    run = _Run(func, points)
    columns = at_once(Caller("jacobian(vectorize=True)"), run, units, sum(sizes))
    return run.many_outputs, [_split(column, output, points, sizes) for column, output in zip(columns, run.outputs)]


class _Run:
    """The tangents of the outputs for those of the inputs; keeps the outputs, which are the same for all tangents."""

    def __init__(self, func: Function, points: Tensors) -> None:
        self.func, self.points = func, points

    def __call__(self, vectors: Sequence[Any]) -> Tensors:
        self.many_outputs, self.outputs, tangents = forward_run(self.func, self.points, tuple(vectors), "jacobian")
        return tangents


def _split(columns: Any, output: Any, points: Tensors, sizes: Sequence[int]) -> Tensors:
    """The columns that belong to each input."""
    if columns is None:
        return tuple(_shaped(None, output, point, output) for point in points)
    parts = columns.movedim(0, -1).split(sizes, -1)
    return tuple(_shaped(part, output, point, output) for part, point in zip(parts, points))


def _alone(unit: Any, place: int, points: Tensors) -> Tensors:
    """`unit` as the tangent of one input, and none for the others."""
    return tuple(unit if n == place else None for n in range(len(points)))


# ---- parts of both


def _units(tensor: Any) -> Iterator[Any]:
    """For each element a tensor of the same shape that is one there and zero elsewhere."""
    for number in range(tensor.numel()):
        unit = np.zeros(tensor.numel(), tensor.dtype)
        unit[number] = 1
        one = from_array(unit.reshape(tensor.shape))
        yield one.to(tensor.device) if tensor.is_meta else one


def _stacked(values: Sequence[Any], like: Any, dim: int) -> Any:
    """None when all are."""
    return None if all(value is None for value in values) else stack(filled(values, [like] * len(values)), dim)


def _shaped(values: Any, output: Any, point: Any, like: Any) -> Any:
    """The block of one output and one input; zeros for None, of the dtype of `like`."""
    shape = (*output.shape, *point.shape)
    return zeros(shape, dtype=like.dtype, device=like.device) if values is None else values.reshape(shape)
