"""What all draws have in common: parameters, sizes, and tensors of random numbers without a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.generated.sampling import counted_by, drawn_by
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.dtypes import as_dtype, get_default_dtype
from gradsmith.runtime.batching.levels import Draws
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.creation import as_size, on_meta, tensor
from gradsmith.runtime.tensors.factories.in_traces import drawn_in_each_run
from gradsmith.runtime.tensors.factories.random import Generator, as_generator_or_none
from gradsmith.runtime.tensors.factories.sources import numpy_generator
from gradsmith.runtime.tensors.queries import is_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    Parameter = Tensor | float
    Size = int | Sequence[int] | None

__all__ = ["counts", "floating", "noise", "numbers", "parameters", "require"]


def parameters(op: str, size: Size, *given: Any, dtype: DTypeLike | None = None) -> tuple[list[Any], list[int], Any]:
    """Parameters as they were given, the sizes of the result, and its dtype: floating, that of the parameters."""
    shapes = [value.shape if is_tensor(value) else _shape_of_number(op, value) for value in given]
    try:
        shape = np.broadcast_shapes(*shapes)
        if size is not None:
            wanted = as_size(op, (size,), {})
            if np.broadcast_shapes(shape, wanted) != tuple(wanted):
                raise ValueError
            shape = tuple(wanted)
    except ValueError:
        raise RuntimeError(f"{op}(): parameters of shapes {shapes} do not broadcast to size {size}") from None
    return list(given), list(shape), floating(op, dtype, *given)


def _shape_of_number(op: str, value: Any) -> tuple[int, ...]:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{op}(): parameters are tensors or real numbers, not {type(value).__name__}")
    return ()


def floating(op: str, dtype: DTypeLike | None, *given: Any) -> Any:
    """The dtype of the result: as asked for, else the widest floating one of the parameters, else the default."""
    if dtype is not None:
        found = as_dtype(dtype, op)
        if found.kind != "f":
            raise RuntimeError(f"{op}(): draws floating-point numbers, not {found}")
        return found
    kinds = [value.dtype for value in given if is_tensor(value) and value.dtype.kind == "f"]
    if any(is_tensor(value) and value.dtype.kind == "c" for value in given):
        raise RuntimeError(f"{op}(): parameters have to be real")
    return np.result_type(*kinds) if kinds else get_default_dtype()


def require(op: str, condition: Any, wanted: str) -> None:
    """Raise a ValueError, as NumPy does, where a parameter is outside of its range; it may be a tensor of slices."""
    if is_tensor(condition):
        if condition.is_meta:
            return
        from gradsmith.runtime.batching.batch import is_batched_tensor

        if is_batched_tensor(condition):
            return  # values of slices decide nothing; what NumPy draws then, or NaN, is the answer
        condition = bool(condition.all())
    if not condition:
        raise ValueError(f"{op}(): {wanted}")


@drawn_in_each_run
def noise(
    op: str,
    draw: str | Callable[[np.random.Generator, tuple[int, ...]], Any],
    shape: Sequence[int],
    dtype: Any,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """A tensor of random numbers without history; other ones for each slice of `vmap` where these are to differ.

    `draw` is a function of NumPy's generator and sizes, or the name of one of its methods that needs nothing else.
    """
    source = as_generator_or_none(generator, op, "generator", 1)
    draws = Draws(op)
    sizes = (*draws.sizes, *shape)
    if on_meta(None, op):
        return draws.batched(from_array(array_without_data(sizes, np.dtype(dtype))))
    numbers = numpy_generator(source)
    found = getattr(numbers, draw)(size=sizes) if isinstance(draw, str) else draw(numbers, sizes)
    return draws.batched(from_array(np.asarray(found).astype(dtype, copy=False)))


def counts(op: str, name: str, size: Size, *given: Any, generator: Generator | None = None) -> Tensor:
    """Integers that NumPy draws by parameters."""
    (first, *more), shape = _as_tensors(op, size, given)
    found: Tensor = counted_by(first, more, name, shape, generator=generator)
    return found


def numbers(op: str, name: str, size: Size, given: Any, *, generator: Generator | None = None) -> Tensor:
    """Real numbers likewise, of one parameter and without the derivative that they have."""
    (parameter,), shape = _as_tensors(op, size, (given,))
    found: Tensor = drawn_by(parameter, name, shape, generator=generator)
    return found


def _as_tensors(op: str, size: Size, given: Sequence[Any]) -> tuple[list[Tensor], list[int]]:
    values, shape, _ = parameters(op, size, *given)
    tensors = [value.detach() if is_tensor(value) else tensor(value, dtype=_kept(value)) for value in values]
    return tensors, shape


def _kept(value: Any) -> Any:
    return np.int64 if isinstance(value, (int, np.integer)) else np.float64
