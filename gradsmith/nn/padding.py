"""Padding by PyTorch's pairs, the last dimension first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np

from gradsmith.generated import constant_pad_nd, index_select
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.new import copied_beside

__all__ = ["pad"]

Places = np.ndarray[Any, Any]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Elements more, or fewer, at both ends of the last dimensions.

    Parameters
    ----------
    input : Tensor
        Of any shape; of (*, channels, *sizes), with one to three sizes to pad, where `mode` is not "constant".
    pad : sequence of int
        Pairs of numbers of elements before the first one and behind the last one: first those of the last dimension,
        then those of the one before it. Negative ones take elements away.
    mode : {"constant", "reflect", "replicate", "circular"}, optional
        What the elements are: `value`, a mirror image that leaves out the last element, the last element, or those of
        the other end.
    value : float, optional
        0 by default.

    Returns
    -------
    Tensor
        In the dtype of `input`.

    Raises
    ------
    RuntimeError
        There are more pairs than dimensions, too few elements to reflect or to go around, or a `value` that the mode
        does not take.
    NotImplementedError
        No mode has this name, or it is not for inputs with so many dimensions.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.pad(gs.tensor([[1.0, 2.0, 3.0]]), (2, 1), mode="reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    if mode != "constant" and mode not in _MODES:
        raise NotImplementedError(f"pad(): Unrecognised padding mode {mode}; there are constant, {', '.join(_MODES)}")
    if mode == "constant":
        amounts = [index(n) for n in pad]
        _check_length(input.shape, amounts)
        return constant_pad_nd(input, amounts, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'pad(): Padding mode "{mode}" doesn\'t take in value argument')
    chosen = _chosen(mode, input.shape, *map(index, pad))
    if not chosen:
        return input.clone()  # a write to it is none to the input
    for dim, places in chosen:
        input = index_select(input, dim, copied_beside(input, places))
    return input


def _check_length(shape: tuple[int, ...], amounts: Sequence[int]) -> None:
    if len(amounts) % 2:
        raise RuntimeError(f"pad(): Padding length must be divisible by 2, but it is {len(amounts)}")
    if len(amounts) > 2 * len(shape):
        raise RuntimeError(
            "pad(): Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(amounts)} and input of dimension {len(shape)}"
        )


@lru_cache(256)
def _chosen(mode: str, shape: tuple[int, ...], *amounts: int) -> list[tuple[int, Places]]:
    """Dimensions, the last one first, and which of their elements are taken."""
    _check_length(shape, amounts)
    dims, ndim = len(amounts) // 2, len(shape)
    if dims not in (1, 2, 3) or ndim not in (dims + 1, dims + 2):
        raise NotImplementedError(
            f"pad(): Padding size {len(amounts)} is not supported for {ndim}D input tensor: with a mode other "
            "than constant, the last 1, 2 or 3 dimensions are padded of a tensor that has one or two more, but got "
            f"{len(amounts)} numbers for size {list(shape)}"
        )
    chosen, sizes = [], list(shape)
    for number, (before, after) in enumerate(zip(amounts[::2], amounts[1::2], strict=True)):
        dim = ndim - 1 - number
        if before or after:
            places = _places(mode, tuple(sizes), dim, before, after)
            chosen.append((dim, places))
            sizes[dim] = len(places)
    return chosen


def _places(mode: str, shape: tuple[int, ...], dim: int, before: int, after: int) -> Places:
    size = shape[dim]
    total, kept = size + before + after, size - max(-before, 0) - max(-after, 0)
    most, places_in = _MODES[mode]
    if size == 0 or max(before, after) > most(size) or total < 0 or (mode == "circular" and kept < 1 <= total):
        problem = f"input (size {size}) is too small. Calculated output size {total}"
        if max(before, after) > most(size):
            problem = _TOO_MUCH[mode]
        raise RuntimeError(
            f"pad(): {problem}: a {mode} padding of ({before}, {after}) does not go with dimension {dim} of size "
            f"{size} of an input of size {list(shape)}"
        )
    return places_in(size, before, after).astype(np.int64, copy=False) if total else np.empty(0, np.int64)


def _reflected(size: int, before: int, after: int) -> Places:
    return np.asarray(size - 1 - np.abs(size - 1 - np.abs(np.arange(-before, size + after))))


def _replicated(size: int, before: int, after: int) -> Places:
    return np.clip(np.arange(-before, size + after), 0, size - 1)


def _around(size: int, before: int, after: int) -> Places:
    """Circular padding; negative amounts crop the tensor before the rest wraps around."""
    kept = np.arange(max(-before, 0), size - max(-after, 0))
    return np.asarray(kept[np.arange(-max(before, 0), len(kept) + max(after, 0)) % len(kept)])


# Name of a mode -> the most elements that are added for a size, and where all elements are taken from.
_MODES: Mapping[str, tuple[Callable[[int], float], Callable[[int, int, int], Places]]] = {
    "reflect": (lambda size: size - 1, _reflected),
    "replicate": (lambda size: float("inf"), _replicated),
    "circular": (lambda size: size, _around),
}

# What is wrong with more than that.
_TOO_MUCH: Mapping[str, str] = {
    "reflect": "Padding size should be less than the corresponding input dimension",
    "circular": "Padding value causes wrapping around more than once",
}
