"""Random numbers: the generator and the functions that fill tensors from it.

A `Generator` holds a ``numpy.random.Generator``.  The functions take theirs from the
``generator`` argument, or share the default one, which `manual_seed` sets.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, call_each, has_no_data
from gradsmith.runtime.arrays.device import CPU, META, DeviceLike, as_device
from gradsmith.runtime.arrays.dtypes import as_dtype, bool_, get_default_dtype, int32, int64, uint8
from gradsmith.runtime.arrays.functions.draws.bits import (
    STREAM_SIZE,
    fill_even,
    fill_integers,
    fill_normal,
    kept,
    uninitialised,
)
from gradsmith.runtime.arrays.functions.draws.words import draw_even, draw_integers, draw_normal, draw_permutation
from gradsmith.runtime.arrays.memory_format import expect_strided
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing, trace_of_thread
from gradsmith.runtime.batching.levels import Draws, open_levels
from gradsmith.runtime.graph.tensor import TensorBase, array_behind, from_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.threads import register_switch
from gradsmith.runtime.switches.truth import with_flag
from gradsmith.runtime.tensors.factories import quick_draws
from gradsmith.runtime.tensors.factories.creation import (
    allocate,
    as_count,
    as_size,
    in_format,
    like,
    made,
    on_meta,
    ordered_like,
)
from gradsmith.runtime.tensors.factories.in_traces import drawn_in_each_run, expect_untraced
from gradsmith.runtime.tensors.factories.sources import generator_behind, numpy_generator, of_thread, put_default

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.generated.tensor import Tensor

    Array = np.ndarray[Any, Any]
    DType = np.dtype[Any]
    Draw = Callable[[np.random.Generator, Array], None]  # fills an array

__all__ = [
    "Generator", "bernoulli", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "normal", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "seed", "set_rng_state",
]  # fmt: skip

_SEEDS = 1 << 64
_STREAMS_FROM = 1024  # numbers; streams of bits give more in a fraction of the time that NumPy takes
# The format of `get_state`: PCG64's state and increment, a spare half word if there is one, and the seed.
_STATE = Struct("<16s16sBIQ")


class Generator:
    """A source of random numbers with a state that can be set, saved and put back.

    Parameters
    ----------
    device : str
        Only ``"cpu"``.
    """

    __module__ = "gradsmith"  # where users find it
    device = CPU

    def __init__(self, device: DeviceLike = "cpu") -> None:
        if as_device(device, "Generator") is not CPU:
            raise RuntimeError(f"Generator(): device must be 'cpu', got {device!r}: on no other are numbers drawn")
        self._seed = 0
        self._numpy: np.random.Generator | None = None  # made on first use: importing numpy.random takes time

    @property
    def numpy(self) -> np.random.Generator:
        """The NumPy generator that the numbers come from."""
        expect_untraced("a draw of random numbers, or the state of a generator,")
        if self._numpy is None:
            self._numpy = _numpy_generator(self._seed)
        return self._numpy

    def manual_seed(self, seed: int) -> Generator:
        """Restart from `seed`, an integer of 64 bits, and return the generator."""
        try:
            number = operator.index(seed)
        except TypeError:
            raise TypeError(f"manual_seed(): argument 'seed' must be int, not {type(seed).__name__}") from None
        if not -(_SEEDS >> 1) <= number < _SEEDS:
            raise RuntimeError(f"manual_seed(): the seed must fit in 64 bits, got {number}")
        if is_tracing():
            trace = trace_of_thread()
            trace.note_generator(self)
            trace.call_of(partial(_seed, self), (number,), "manual_seed")
            return self
        self._seed = number % _SEEDS
        self._numpy = _numpy_generator(self._seed)
        return self

    def seed(self) -> int:
        """Restart from a seed that the operating system gives, and return the seed."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the generator started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """The whole state, a uint8 tensor to be given to `set_state`."""
        state: dict[str, Any] = dict(self.numpy.bit_generator.state)
        number, increment = (state["state"][name].to_bytes(16, "little") for name in ("state", "inc"))
        packed = _STATE.pack(number, increment, state["has_uint32"], state["uinteger"], self._seed)
        return from_array(np.frombuffer(packed, uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on from a state that `get_state` gave; the generator is returned."""
        number, increment, has_spare, spare, seed = _STATE.unpack(_state_bytes(new_state))
        bits = np.random.PCG64(0)
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": int.from_bytes(number, "little"), "inc": int.from_bytes(increment, "little")},
            "has_uint32": has_spare,
            "uinteger": spare,
        }
        self._seed = seed
        self._numpy = np.random.Generator(bits)
        return self

    def __repr__(self) -> str:
        return f"<gradsmith.Generator seeded with {self._seed}>"


def place_of(generator: Generator) -> Any:
    """Where a generator is, in less time than its state takes; equal where it has not been used since."""
    source = generator.numpy
    return source, source.bit_generator.state, generator._seed


def go_back(generator: Generator, place: Any) -> None:
    """Have a generator go on from where it was."""
    generator._numpy, state, generator._seed = place
    generator.numpy.bit_generator.state = state


def _seed(generator: Generator, number: int) -> None:
    generator.manual_seed(number)


def _numpy_generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def _state_bytes(state: Any) -> bytes:
    if not isinstance(state, TensorBase) or state.dtype != uint8:
        raise TypeError(f"the state of a generator is a uint8 Tensor, got {type(state).__name__}")
    if state.shape != (_STATE.size,):
        raise RuntimeError(f"the state of a generator has {_STATE.size} bytes, got a tensor of shape {state.shape}")
    return state.numpy().tobytes()


default_generator = Generator()
default_generator._seed = int.from_bytes(os.urandom(8), "little")
put_default(default_generator)


def own_generator() -> Generator | None:
    """What this thread has in place of the default generator."""
    return of_thread.generator  # type: ignore[no-any-return]


def put_own_generator(generator: Generator | None) -> None:
    """Let this thread draw from a generator of its own wherever it is not told from which; None ends that."""
    of_thread.generator = generator


register_switch(own_generator, put_own_generator)


def seeded_lazily(seed: int) -> Generator:
    """A generator that imports ``numpy.random`` only when it is drawn from."""
    generator = Generator()
    generator._seed = seed
    return generator


# ---- the default generator


def manual_seed(seed: int) -> Generator:
    """Restart the default generator from `seed`, and return it."""
    return generator_behind(None).manual_seed(seed)


def seed() -> int:
    """Restart the default generator from a seed of the operating system, and return that seed."""
    return generator_behind(None).seed()


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return generator_behind(None).initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, a uint8 tensor."""
    return generator_behind(None).get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from a state that `get_rng_state` gave."""
    generator_behind(None).set_state(new_state)


# ---- tensors of random numbers


@partial(drawn_in_each_run, quick=quick_draws.even)
def rand(
    *size: Any,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    **named: Any,
) -> Tensor:
    """Tensor of numbers drawn evenly from 0 (included) to 1 (not included)."""
    expect_strided("rand", layout)
    return _drawn("rand", _uniform, size, named, generator, out, dtype, device, requires_grad)


@partial(drawn_in_each_run, quick=quick_draws.normal)
def randn(
    *size: Any,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    **named: Any,
) -> Tensor:
    """Tensor of numbers drawn from the normal distribution of mean 0 and variance 1.

    A complex number has that variance in all: half of it in each part.
    """
    expect_strided("randn", layout)
    return _drawn("randn", _normal, size, named, generator, out, dtype, device, requires_grad)


@partial(drawn_in_each_run, quick=quick_draws.even_like)
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """`rand` with the shape and dtype of `input`."""
    expect_strided("rand_like", layout)
    result = _drawn_like("rand_like", _uniform, input, generator, dtype, device, requires_grad)
    return in_format("rand_like", result, memory_format)


@partial(drawn_in_each_run, quick=quick_draws.normal_like)
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """`randn` with the shape and dtype of `input`."""
    expect_strided("randn_like", layout)
    result = _drawn_like("randn_like", _normal, input, generator, dtype, device, requires_grad)
    return in_format("randn_like", result, memory_format)


def _drawn(
    op: str,
    draw: Draw,
    size: tuple[Any, ...],
    named: dict[str, Any],
    generator: Generator | None,
    out: Tensor | None,
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    shape = as_size(op, size, named)
    dtype = _dtype_or(dtype, out, get_default_dtype(), op)
    draws = Draws(op)
    array = _real_or_complex(op, draw, _source(generator, op), (*draws.sizes, *shape), dtype, device)
    return _for_slices(draws, made(array, False, op, out, device), requires_grad)


def _for_slices(draws: Draws, drawn: Tensor, requires_grad: bool) -> Tensor:
    found: Tensor = with_flag(draws.op, draws.batched(drawn), requires_grad)
    return found


def _drawn_like(
    op: str,
    draw: Draw,
    input: Tensor,
    generator: Generator | None,
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    shape, dtype, device = like(op, input, dtype, device)
    draws = Draws(op)
    array = _real_or_complex(op, draw, _source(generator, op), (*draws.sizes, *shape), dtype, device)
    ordered = array if draws.sizes or is_batched_tensor(input) else ordered_like(input, array)
    return _for_slices(draws, made(ordered, False, device=device), requires_grad)


def _real_or_complex(
    op: str,
    draw: Draw,
    source: np.random.Generator,
    shape: tuple[int, ...],
    dtype: DType,
    device: DeviceLike | None,
) -> Array:
    if dtype.kind not in "fc":
        raise RuntimeError(f"{op}() draws floating-point or complex numbers, not {dtype.name}; see randint()")
    if on_meta(device, op):
        return allocate(op, array_without_data, shape, dtype)
    if dtype.kind == "f":
        return allocate(op, partial(_filled_by, draw, source), shape, dtype)
    part = np.dtype(f"f{dtype.itemsize // 2}")
    parts: Array = allocate(op, partial(_filled_by, draw, source), (*shape, 2), part)
    if draw is not _uniform:
        parts *= part.type(0.5**0.5)
    return parts.view(dtype).reshape(shape)


def _uniform(source: np.random.Generator, out: Array) -> None:
    if out.itemsize == 2:
        # A float32 below 1 may be rounded to 1; eleven bits are what a float16 holds.
        out[...] = source.integers(0, 1 << 11, out.shape, np.uint16) * np.float32(0.5**11)
    else:
        draw_even(source, out)


def _normal(source: np.random.Generator, out: Array) -> None:
    if out.itemsize == 2:
        out[...] = source.standard_normal(out.shape, np.float32)
    else:
        draw_normal(source, out)


# ---- large arrays


def _filled_by(draw: Draw, source: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Array:
    """New array that `draw` fills, or streams of bits that `source` gives the key of: a large one on several threads.

    Each piece of a large array has a stream of its own: the numbers are the same on any number of threads.
    """
    fill = _streams_for(draw, dtype)
    if math.prod(shape) < (2 * STREAM_SIZE if fill is None else _STREAMS_FROM):
        array = np.empty(shape, dtype)
        draw(source, array)
        return array
    array = uninitialised(shape, dtype)
    if fill is None:
        _fill_in_pieces(draw, source, array.reshape(-1))
    else:
        fill(source, array)
    return array


def _streams_for(draw: Draw, dtype: DType) -> Draw | None:
    if draw is _uniform and dtype.itemsize > 2:
        return fill_even
    return fill_normal if draw is _normal and dtype.itemsize == 4 else None


def _fill_in_pieces(draw: Draw, source: np.random.Generator, flat: Array) -> None:
    """By NumPy, with a generator for each piece."""
    entropy = source.integers(0, 1 << 63, 2).tolist()

    def fill_piece(i: int) -> None:
        seed = np.random.SeedSequence(entropy, spawn_key=(i,))
        draw(np.random.Generator(np.random.SFC64(seed)), flat[i * STREAM_SIZE : (i + 1) * STREAM_SIZE])

    call_each(fill_piece, -(-flat.size // STREAM_SIZE))


# ---- integers


@partial(drawn_in_each_run, quick=quick_draws.integers)
def randint(
    *bounds: Any,
    size: Sequence[int] | None = None,
    low: int | None = None,
    high: int | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Tensor of integers drawn evenly from `low` (included, 0 if not given) to `high` (not included).

    Called as ``randint(high, size)`` or ``randint(low, high, size)``.
    """
    expect_strided("randint", layout)
    low, high, size = _integer_range("randint", bounds, low, high, size)
    shape = as_size("randint", (size,), {}, one_number=False)
    dtype = _dtype_or(dtype, out, int64, "randint")
    draws = Draws("randint")
    array = _integers("randint", generator, low, high, (*draws.sizes, *shape), dtype, device)
    return _for_slices(draws, made(array, False, "randint", out, device), requires_grad)


@partial(drawn_in_each_run, quick=quick_draws.integers_like)
def randint_like(
    input: Tensor,
    *bounds: int,
    low: int | None = None,
    high: int | None = None,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """`randint` with the shape and dtype of `input`: ``randint_like(input, high)`` or ``(input, low, high)``."""
    expect_strided("randint_like", layout)
    shape, dtype, device = like("randint_like", input, dtype, device)
    low, high, _ = _integer_range("randint_like", (*bounds, shape), low, high, None)
    draws = Draws("randint_like")
    array = _integers("randint_like", generator, low, high, (*draws.sizes, *shape), dtype, device)
    ordered = array if draws.sizes or is_batched_tensor(input) else ordered_like(input, array)
    result = _for_slices(draws, made(ordered, False, device=device), requires_grad)
    return in_format("randint_like", result, memory_format)


def _integer_range(
    op: str, bounds: tuple[Any, ...], low: int | None, high: int | None, size: Any
) -> tuple[int, int, Any]:
    """Sort out ``(high, size)``, ``(low, high, size)`` and the same by keyword."""
    given = {"low": low, "high": high, "size": size}
    free = [name for name, value in given.items() if value is None]
    if len(bounds) == len(free) - 1 and "low" in free:
        free.remove("low")
    if len(bounds) != len(free):
        raise TypeError(f"{op}() takes (high, size) or (low, high, size)")
    given.update(zip(free, bounds, strict=True))
    try:
        return operator.index(given["low"] or 0), operator.index(given["high"]), given["size"]
    except TypeError:
        raise TypeError(f"{op}(): 'low' and 'high' must be int, got {given['low']!r} and {given['high']!r}") from None


def _integers(
    op: str,
    generator: Generator | None,
    low: int,
    high: int,
    shape: tuple[int, ...],
    dtype: DType,
    device: DeviceLike | None,
) -> Array:
    if low >= high:
        raise RuntimeError(f"{op}(): expects 'low' to be less than 'high', but got low={low} >= high={high}")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if low < limits.min or high - 1 > limits.max:
            raise RuntimeError(f"{op}(): numbers from {low} to {high - 1} do not fit in {dtype.name}")
    elif dtype == bool_ and (low < 0 or high > 2):
        raise RuntimeError(f"{op}(): numbers from {low} to {high - 1} do not fit in bool")
    if on_meta(device, op):
        return allocate(op, array_without_data, shape, dtype)
    return allocate(op, partial(_filled_with_integers, _source(generator, op), low, high), shape, dtype)


def _filled_with_integers(
    source: np.random.Generator, low: int, high: int, shape: tuple[int, ...], dtype: DType
) -> Array:
    if dtype in (int32, int64) and high - low <= 1 << 32:
        array = uninitialised(shape, dtype)
        fill = fill_integers if array.size >= 2 * STREAM_SIZE else draw_integers
        fill(source, array, low, high)
        return array
    drawn = dtype if dtype.kind in "iu" else int64

    def draw(source: np.random.Generator, out: Array) -> None:
        if drawn == int64 and high - low <= 1 << 32:
            numbers = np.empty(out.shape, int64)
            draw_integers(source, numbers, low, high)
            out[...] = numbers
        else:
            out[...] = source.integers(low, high, out.shape, drawn)

    return _filled_by(draw, source, shape, dtype)


@partial(drawn_in_each_run, quick=quick_draws.permutation)
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """The integers from 0 to `n` - 1 in random order."""
    expect_strided("randperm", layout)
    count = as_count("randperm", "n", n)
    dtype = _dtype_or(dtype, out, int64, "randperm")
    _expect_distinct(count, dtype)
    draws = Draws("randperm")
    shape = (*draws.sizes, count)
    if on_meta(device, "randperm"):
        array = array_without_data(shape, dtype)
    elif draws.sizes:
        array = _source(generator, "randperm").permuted(np.broadcast_to(np.arange(count), shape), axis=-1).astype(dtype)
    else:
        array = uninitialised(shape, int64)
        draw_permutation(_source(generator, "randperm"), array)
        array = array.astype(dtype, copy=False)
    return _for_slices(draws, made(array, False, "randperm", out, device), requires_grad)


def _expect_distinct(count: int, dtype: np.dtype[Any]) -> None:
    """Refuse a dtype in which some of the integers below `count` are equal."""
    if dtype.kind in "iu":
        greatest = int(np.iinfo(dtype).max)
    else:
        greatest = 1 if dtype.kind == "b" else 1 << (np.finfo(dtype).nmant + 1)
    if count - 1 > greatest:
        raise RuntimeError(f"randperm(): {dtype} does not hold all integers from 0 to {count - 1}, only to {greatest}")


@partial(drawn_in_each_run, quick=quick_draws.normal_around)
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Tensor of numbers drawn from normal distributions.

    Parameters
    ----------
    mean, std : float or Tensor
        Mean and standard deviation, one for all elements or one for each.
    size : tuple of int
        Shape of the result; needed when both are numbers, not allowed otherwise.
    layout, pin_memory
        Without effect: there is one layout, and one device.
    """
    expect_strided("normal", layout)
    if open_levels():
        Draws("normal")  # its error, before that of randn()
        return _normal_in_batches(mean, std, size, generator, out, dtype, requires_grad)
    means, deviations = _values(mean), _values(std)
    if not has_no_data(deviations) and np.any(deviations < 0):
        raise RuntimeError(f"normal(): expects std >= 0.0, but found std {deviations.min()}")
    shape = _normal_shape(means, deviations, size)
    dtype = _dtype_or(dtype, out, _floating_dtype(mean, std), "normal")
    device = _device_of(mean, std) if device is None else device
    array = _real_or_complex("normal", _normal, _source(generator, "normal"), shape, dtype, device)
    if not on_meta(device, "normal"):
        array = np.asarray(array * deviations + means).astype(dtype, copy=False)
    return made(array, requires_grad, "normal", out, device)


def _normal_in_batches(
    mean: Any, std: Any, size: Sequence[int] | None, generator: Any, out: Any, dtype: Any, requires_grad: bool
) -> Tensor:
    """The same under `vmap`, where mean and deviation may differ from slice to slice."""
    shape = _normal_shape(_Shape(mean), _Shape(std), size)
    dtype = _dtype_or(dtype, out, _floating_dtype(mean, std), "normal")
    drawn: Tensor = (randn(shape, generator=generator, dtype=dtype) * std + mean).to(dtype).detach()
    return with_flag("normal", drawn, requires_grad)


class _Shape:
    """Shape of a tensor or a number."""

    def __init__(self, value: Any) -> None:
        self.shape: tuple[int, ...] = tuple(getattr(value, "shape", ()))
        self.ndim = len(self.shape)


def _values(value: Any) -> Array:
    return np.asarray(array_behind(value) if isinstance(value, TensorBase) else value)


def _device_of(*values: Any) -> DeviceLike | None:
    devices = [value.device for value in values if isinstance(value, TensorBase)]
    return META if META in devices else devices[0] if devices else None


def _normal_shape(means: Array | _Shape, deviations: Array | _Shape, size: Sequence[int] | None) -> tuple[int, ...]:
    if size is not None:
        if means.ndim or deviations.ndim:
            raise TypeError("normal(): 'size' is for means and deviations that are numbers; here they have a shape")
        return as_size("normal", (size,), {}, one_number=False)
    try:
        return np.broadcast_shapes(means.shape, deviations.shape)
    except ValueError:
        raise RuntimeError(
            f"normal(): the shapes of mean {means.shape} and std {deviations.shape} do not broadcast"
        ) from None


def _floating_dtype(*values: Any) -> DType:
    found = [value.dtype for value in values if isinstance(value, TensorBase) and value.dtype.kind in "fc"]
    return found[0] if found else get_default_dtype()


def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """Zeros and ones; the values of `input`, or the number `p`, are the probabilities of a one.

    The result requires grad if `input` does, as in PyTorch; the gradient is zero.
    """
    if p is None and out is None and (few := quick_draws.bernoulli(input, generator)) is not None:
        return few
    if not isinstance(input, TensorBase):
        raise TypeError(f"bernoulli(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    drawn: Tensor = _drawn_bernoulli(input, p, generator=generator, out=out)
    return input.clone().copy_(drawn) if input.requires_grad and out is None else drawn


def _without_history(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    return _bernoulli(input, generator, out) if p is None else _bernoulli_of_number(input, p, generator, out)


_without_history.__name__ = "bernoulli"  # of the step in a program, also in files
_drawn_bernoulli = drawn_in_each_run(_without_history)


def _bernoulli(input: Tensor, generator: Generator | None, out: Tensor | None) -> Tensor:
    chances: Array = array_behind(input)
    if open_levels() and chances.dtype.kind == "f":
        Draws("bernoulli")  # its error, before that of rand()
        return (rand(input.shape, generator=generator, dtype=np.float64) < input).to(input.dtype)
    if chances.dtype.kind != "f":
        raise RuntimeError(f"bernoulli(): probabilities must be floating-point, got {chances.dtype.name}")
    if not input.is_meta:
        if not ((chances >= 0) & (chances <= 1)).all():
            raise RuntimeError("bernoulli(): every probability must be from 0 to 1")
        drawn = _filled_by(_uniform, _source(generator, "bernoulli"), chances.shape, np.dtype(np.float64))
        chances = (drawn < chances).astype(chances.dtype)
    return made(np.asarray(chances), False, "bernoulli", out, input.device if out is None else None)


def _bernoulli_of_number(input: Tensor, p: float, generator: Generator | None, out: Tensor | None) -> Tensor:
    """In the shape and dtype of `input`, whose values do not matter."""
    if input.dtype.kind == "c":
        raise RuntimeError(
            f"bernoulli(): draws zeros and ones, which a tensor of dtype {input.dtype.name} does not hold"
        )
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli(): p must be from 0 to 1, got {p}")
    drawn = mask("bernoulli", input, input.shape, p, generator).to(input.dtype)
    return drawn if out is None else out.resize_(drawn.shape).copy_(drawn)


def mask(op: str, input: Tensor, shape: Sequence[int], p: float, generator: Generator | None) -> Tensor:
    """Mask that is true with probability `p`, where `input` is: a mask of its shape lies in memory as it does."""
    if is_tracing():
        trace = trace_of_thread()
        trace.note_generator(generator_behind(generator))
        if open_levels():
            return _mask_for_slices(op, shape, p, generator)
        return trace.call_of(mask, (op, input, tuple(shape), p, generator), op)  # type: ignore[no-any-return]
    if not open_levels() and not input.is_meta:
        return from_array(_mask_like(input, tuple(shape), p, _source(generator, op)))
    draws = Draws(op)
    sizes = (*draws.sizes, *shape)
    if on_meta(input.device, op):
        array: Array = array_without_data(sizes, bool_)
    elif draws.sizes or is_batched_tensor(input):
        array = kept(_source(generator, op), sizes, p)
    else:
        array = _mask_like(input, sizes, p, _source(generator, op))
    return draws.batched(made(array, False, device=input.device))


def _mask_like(input: Tensor, shape: tuple[int, ...], p: float, source: np.random.Generator) -> Array:
    array = kept(source, shape, p)
    return ordered_like(input, array) if shape == input.shape else array


def _mask_for_slices(op: str, shape: Sequence[int], p: float, generator: Generator | None) -> Tensor:
    """The same in a trace inside of `vmap`."""
    draws = Draws(op)
    sizes = (*draws.sizes, *shape)

    def run() -> Tensor:
        return made(kept(_source(generator, op), sizes, p), False)

    return draws.batched(trace_of_thread().call_of(run, (), op))


def _source(generator: Any, op: str) -> np.random.Generator:
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(f"{op}(): argument 'generator' must be Generator, not {type(generator).__name__}")
    return numpy_generator(generator)


upcalls.fill(generator_behind=generator_behind, generator_type=Generator)


def as_generator(value: Any, op: str, argument: str, position: int) -> Generator:
    """An argument of an op of a table."""
    if not isinstance(value, Generator):
        name = type(value).__name__
        raise TypeError(f"{op}(): argument '{argument}' (position {position}) must be Generator, not {name}")
    return value


def as_generator_or_none(value: Any, op: str, argument: str, position: int) -> Generator | None:
    """The same of one that may be left out."""
    return None if value is None else as_generator(value, op, argument, position)


def _dtype_or(dtype: DTypeLike | None, out: Tensor | None, default: DType, op: str) -> DType:
    if dtype is not None:
        return as_dtype(dtype, op)
    return default if out is None else out.dtype
