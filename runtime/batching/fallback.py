"""The batching rule of ops that have none: one call for each slice, and a warning."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.runtime.batching.batch import VmapLevel, all_slices
from gradsmith.runtime.batching.levels import Draws
from gradsmith.runtime.graph.tensor import TensorBase, from_array
from gradsmith.runtime.switches import upcalls

_warns = True


def set_vmap_fallback_warning_enabled(enabled: bool) -> None:
    """Warn, or not, when `vmap` calls an op once for each slice.

    Parameters
    ----------
    enabled : bool
        Usually True.

    Examples
    --------
    >>> from gradsmith import func
    >>> func.set_vmap_fallback_warning_enabled(False)
    >>> func.is_vmap_fallback_warning_enabled()
    False
    >>> func.set_vmap_fallback_warning_enabled(True)
    """
    global _warns
    _warns = bool(enabled)


def is_vmap_fallback_warning_enabled() -> bool:
    """Whether `set_vmap_fallback_warning_enabled` has the warning on.

    Returns
    -------
    bool
        True unless it was turned off.

    Examples
    --------
    >>> from gradsmith import func
    >>> func.is_vmap_fallback_warning_enabled()
    True
    """
    return _warns


def run(
    name: str,
    op: Callable[..., Any],
    operands: tuple[Any, ...],
    level: VmapLevel,
    begin: Callable[[], object],
    expected: Any,
    writes: bool = False,
) -> Any:
    """The results for all slices, stacked.

    `expected` is what the op gives for a slice without data, where there are no slices. One that writes gets a copy of
    each slice.
    """
    if _warns:
        warnings.warn(
            f"vmap calls {name}() once for each of {level.size} slices, which is slow: the op has no batching rule. "
            "gradsmith.func.set_vmap_fallback_warning_enabled(False) turns this warning off.",
            stacklevel=3,
        )
    slices = []
    for number in range(level.size):
        begin()
        parts = [_slice(operand, number, level) for operand in operands]
        if writes:
            parts = _with_copy(parts)
        slices.append(op(*parts))
    return _stacked(slices, slices[0]) if slices else _without_slices(expected, _are_meta(operands))


def in_step(name: str, generators: list[Any], level: VmapLevel) -> Callable[[], object]:
    """A function to call before each slice, which makes an op draw the same numbers for all, where that is wanted.

    Raises
    ------
    RuntimeError
        `vmap` was not told whether they are.
    """
    if not generators or level in Draws(name).levels:
        return lambda: None
    states = [(one, one.get_state()) for one in map(upcalls.generator_behind, generators)]
    return lambda: [one.set_state(state) for one, state in states]


def expect_slices(
    op: Callable[..., Any], stand_ins: tuple[Any, ...], operands: tuple[Any, ...], level: VmapLevel, writes: bool
) -> None:
    """Raise the op's error for one of the slices, as the user would see it; without slices, for their shapes."""
    if not level.size:
        with contextlib.suppress(NotImplementedError):
            op(*stand_ins)
    for number in range(level.size):
        parts = [_slice(operand, number, level) for operand in operands]
        if writes:
            parts = _with_copy(parts)
        op(*parts)


def views(op: Callable[..., Any], operands: tuple[Any, ...], level: VmapLevel) -> Any:
    """A view of all slices where the op gives a view of the first one; None when it copies."""
    parts = [_slice(operand, 0, level) for operand in operands]
    found = op(*parts)
    shown = found if isinstance(found, (tuple, list)) else [found]
    data = all_slices(operands[0], level)
    result = [upcalls.view_of_all(data, parts[0], view) for view in shown]
    if any(view is None for view in result):
        return None
    return result if isinstance(found, (tuple, list)) else result[0]


def _with_copy(parts: list[Any]) -> list[Any]:
    """The operands of an op that writes into its first tensor, with a copy of that."""
    place = next(i for i, part in enumerate(parts) if isinstance(part, TensorBase))
    return [*parts[:place], parts[place].clone(), *parts[place + 1 :]]


def _slice(operand: Any, number: int, level: VmapLevel) -> Any:
    if isinstance(operand, TensorBase):
        return upcalls.select(all_slices(operand, level), 0, number)
    if type(operand) in (tuple, list):
        return type(operand)(_slice(item, number, level) for item in operand)
    return operand


def _stacked(slices: list[Any], expected: Any) -> Any:
    if isinstance(expected, (tuple, list)):
        return [_stacked([part[n] for part in slices], item) for n, item in enumerate(expected)]
    return upcalls.stack(slices, 0) if isinstance(expected, TensorBase) else expected


def _without_slices(expected: Any, is_meta: bool) -> Any:
    if isinstance(expected, (tuple, list)):
        return [_without_slices(item, is_meta) for item in expected]
    if not isinstance(expected, TensorBase):
        return expected
    found = from_array(np.zeros((0, *expected.shape), expected.dtype))
    return found.to("meta") if is_meta else found


def _are_meta(operands: Any) -> bool:
    """Is one of the tensors without data?"""
    if isinstance(operands, (tuple, list)):
        return any(map(_are_meta, operands))
    return isinstance(operands, TensorBase) and operands.is_meta
