"""The answers of ``torch.cuda`` on a machine without CUDA, so that programs which ask first run on the CPU.

What asks about devices says that there are none, and what would prepare one does nothing. What needs one raises.

>>> import gradsmith as gs
>>> gs.device("cuda" if gs.cuda.is_available() else "cpu")
device(type='cpu')
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any, NoReturn

from gradsmith.cuda import amp, nvtx
from gradsmith.names.missing import missing_attribute
from gradsmith.runtime.arrays.device import as_device as _as_device
from gradsmith.runtime.tensors.typed import DTYPES as _TYPED

__all__ = [
    "CUDAGraph", "Event", "OutOfMemoryError", "Stream", "StreamContext", "amp", "current_device", "current_stream",
    "default_generators", "default_stream", "device", "device_count", "device_of", "empty_cache", "get_arch_list",
    "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all",
    "graph", "init", "initial_seed", "ipc_collect", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "is_tf32_supported", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved",
    "memory_stats", "memory_summary", "nvtx", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_rng_state", "set_rng_state_all", "stream",
    "synchronize",
]  # fmt: skip


_initialized = False


class OutOfMemoryError(RuntimeError):
    """What programs catch when the memory of a device is used up. Never raised here: NumPy raises MemoryError."""


class Stream:
    """A queue of a CUDA device, for annotations. RuntimeError when one is made: there is no device."""

    def __new__(cls, *args: Any, **named: Any) -> Stream:
        init()


class Event(Stream):
    """A mark in a queue, for annotations. RuntimeError when one is made: there is no device."""


class CUDAGraph(Stream):
    """Recorded work of a device, for annotations. RuntimeError when one is made: there is no device."""


class graph(Stream):
    """The block in which such work is recorded. RuntimeError when one is made: there is no device."""


default_generators: tuple[Any, ...] = ()  # one for each device


# ---- questions


def is_available() -> bool:
    """Whether there is a CUDA device: never."""
    return False


def is_initialized() -> bool:
    """Whether CUDA has been started: never."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a device computes in bfloat16: there is none."""
    return False


def is_tf32_supported() -> bool:
    """Whether a device computes in TF32: there is none."""
    return False


def is_current_stream_capturing() -> bool:
    """Whether a graph of calls is being captured: never."""
    return False


def device_count() -> int:
    """Number of CUDA devices: zero."""
    return 0


def get_arch_list() -> list[str]:
    """Architectures that the package was compiled for: none."""
    return []


def memory_allocated(device: Any = None) -> int:
    """Bytes of tensors on a device: zero."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Statistics of the memory of a device: none."""
    return {}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A table of the memory of a device: there is no device."""
    return "no CUDA device"


# ---- what would prepare a device


def manual_seed(seed: int) -> None:
    """Nothing: `gradsmith.manual_seed` is for the CPU."""
    int(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Nothing: `gradsmith.seed` is for the CPU."""


def empty_cache() -> None:
    """Nothing: `gradsmith.empty_cache` is for the memory of the CPU."""


seed_all = ipc_collect = seed


def synchronize(device: Any = None) -> None:
    """Nothing to wait for: an op has its result when it returns."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: there are no such statistics."""


reset_accumulated_memory_stats = reset_max_memory_allocated = reset_peak_memory_stats


def get_rng_state_all() -> list[Any]:
    """States of the generators of all devices: an empty list."""
    return []


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Set the states of the generators of all devices; RuntimeError for a state, as there is no device for it."""
    for _ in new_states:
        init()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Nothing: `gradsmith.set_rng_state` is for the CPU."""


def set_device(device: Any) -> None:
    """Nothing for a negative number, which means no device; RuntimeError for others."""
    if not _is_none(device):
        init()


class _Block:
    """A ``with`` block in which nothing changes."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: object) -> None:
        return None


class device(_Block):
    """In a ``with`` block, another device: a negative number, which means no device. RuntimeError for others."""

    def __init__(self, device: Any) -> None:
        if not _is_none(device):
            init()
        self.idx = -1


class device_of(_Block):
    """In a ``with`` block, the device of a tensor: nothing changes, since tensors are on the CPU."""

    def __init__(self, obj: Any) -> None:
        self.idx = -1


class StreamContext(_Block):
    """In a ``with`` block, another queue, which is None: there is no other."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream


stream = StreamContext


def _is_none(device: Any) -> bool:
    return isinstance(device, int) and device < 0


# ---- what needs a device


def init() -> NoReturn:
    """RuntimeError: there is no CUDA device."""
    _as_device("cuda", "cuda")
    raise AssertionError("a device of a type that does not exist")


def current_device() -> NoReturn:
    """RuntimeError: there is no CUDA device."""
    init()


def get_device_name(device: Any = None) -> NoReturn:
    """RuntimeError: there is no CUDA device."""
    init()


get_device_properties = get_device_capability = current_stream = default_stream = mem_get_info = get_device_name
get_rng_state = get_device_name


def initial_seed() -> NoReturn:
    """RuntimeError: there is no CUDA device."""
    init()


def __getattr__(name: str) -> Any:
    if name == "random":
        return importlib.import_module(f"{__name__}.random")
    if name in _TYPED:
        return type(name, (), {"__new__": _no_such_tensor, "__module__": __name__})
    raise missing_attribute(__name__, name)


def _no_such_tensor(cls: type, *args: Any, **named: Any) -> NoReturn:
    raise TypeError(
        f"type torch.cuda.{cls.__name__} not available: gradsmith computes on the CPU only. Use {cls.__name__}"
    )
