"""Functions that rearrange elements."""

from __future__ import annotations

from typing import Any

import gradsmith as gs
from gradsmith.array_api.operands import Tensor, axes_of, promoted, tensor_of

__all__ = [
    "broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis", "permute_dims", "repeat",
    "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Views of all tensors in the shape that they have together."""
    return list(gs.broadcast_arrays(*arrays)) if arrays else []


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """A view of `x` in a shape that it broadcasts to."""
    return gs.broadcast_to(tensor_of("broadcast_to", x), tuple(shape))


def concat(arrays: tuple[Tensor, ...] | list[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Tensors one after the other along an axis; flattened before if it is None."""
    parts = promoted("concat", *arrays)
    return gs.cat([part.reshape(-1) for part in parts] if axis is None else list(parts), 0 if axis is None else axis)


def stack(arrays: tuple[Tensor, ...] | list[Tensor], /, *, axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis."""
    return gs.stack(list(promoted("stack", *arrays)), axis)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of a tensor along an axis, without it."""
    return tuple(gs.unbind(tensor_of("unstack", x), axis))


def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    """A view with a new axis of size one at `axis`.

    Raises
    ------
    IndexError
        `axis` is beyond the dimensions of the result.
    """
    return gs.unsqueeze(tensor_of("expand_dims", x), axis)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """A view without axes of size one.

    Raises
    ------
    ValueError
        An axis has another size.
    """
    axes = axes_of("squeeze", tensor_of("squeeze", x), axis)
    for one in axes:
        if x.shape[one] != 1:
            raise ValueError(f"squeeze(): axis {one} has size {x.shape[one]}, but only axes of size 1 can be left out")
    return gs.squeeze(x, axes)


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements in reverse order along axes, along all if `axis` is None."""
    return gs.flip(x, axes_of("flip", tensor_of("flip", x), axis))


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements moved along axes, the last ones to the front; those of the flattened tensor if `axis` is None."""
    if axis is None:
        return gs.roll(tensor_of("roll", x), shift)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    return gs.roll(tensor_of("roll", x), tuple(shifts), tuple(axes))


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """A view with axes at other places, and the others in their order."""
    return gs.movedim(tensor_of("moveaxis", x), source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """A view with the axes in another order."""
    return gs.permute(tensor_of("permute_dims", x), tuple(axes))


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape, in which one size may be -1.

    Parameters
    ----------
    copy : bool, optional
        True copies, False gives a view, and None a view where there is one.

    Raises
    ------
    ValueError
        `copy` is False, and there is no such view.
    """
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if copy is not False:
        result = gs.reshape(tensor_of("reshape", x), sizes)
        return gs.clone(result) if copy else result
    try:
        return tensor_of("reshape", x).view(sizes)
    except RuntimeError as error:
        raise ValueError(f"reshape(): no view has shape {list(sizes)}: {error}") from None


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element several times along an axis; those of the flattened tensor if it is None."""
    times = repeats if isinstance(repeats, int) else _repeats(repeats)
    return gs.repeat_interleave(tensor_of("repeat", x), times, axis)


def _repeats(repeats: Any) -> Any:
    times = gs.as_tensor(repeats).to(gs.int64)
    return int(times) if times.ndim == 0 else times


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The whole tensor several times along each axis."""
    return gs.tile(tensor_of("tile", x), tuple(repetitions))
