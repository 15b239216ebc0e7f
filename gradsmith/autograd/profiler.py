"""The profiler without schedules: `profile` records its ``with`` block."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from gradsmith.profiler.averages import FunctionEventAvg
from gradsmith.profiler.event_list import EventList
from gradsmith.profiler.events import FunctionEvent
from gradsmith.profiler.options import Options
from gradsmith.profiler.recording import Recording
from gradsmith.profiler.results import Results, of_events
from gradsmith.runtime.observers.recorder import record_function

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "emit_nvtx", "profile", "record_function"]


class profile(Results):
    """Record what the calling thread runs in a ``with`` block.

    Parameters
    ----------
    enabled : bool
        False records nothing.
    record_shapes, profile_memory, with_stack, with_flops : bool
        What else to keep; see `gradsmith.profiler.profile`.
    with_modules, use_cpu, use_cuda, use_device, use_kineto, acc_events, experimental_config, custom_trace_id_callback
        Taken for PyTorch's sake: there is one device, and one way to record it.

    Attributes
    ----------
    function_events : EventList or None
        What ran; None until the block has ended.

    Raises
    ------
    RuntimeError
        It is entered twice, or asked before its block has ended.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        use_cpu: bool = True,
        use_cuda: bool = False,
        use_device: str | None = None,
        use_kineto: bool = False,
        acc_events: bool = False,
        experimental_config: object = None,
        custom_trace_id_callback: object = None,
    ) -> None:
        self.enabled = enabled
        self.entered = False
        self.function_events: EventList | None = None
        self._options = Options(record_shapes, profile_memory, with_stack, with_flops)
        self._recording: Recording | None = None

    def __enter__(self) -> Self:
        if self.enabled and self.entered:
            raise RuntimeError("Profiler context manager is not reentrant; make another profile")
        if self.enabled:
            self.entered = True
            self._recording = Recording(self._options)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._recording is not None:
            self.function_events = self._recording.stop()
            self._recording = None

    def _finished(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running: its results are there after its with block")
        return self.function_events

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds; see `EventList.self_cpu_time_total`."""
        return self._finished().self_cpu_time_total

    total_average = of_events(EventList.total_average)
    table = of_events(EventList.table)

    def __str__(self) -> str:
        return "<unfinished profile>" if self.function_events is None else self.table()

    __repr__ = __str__


class emit_nvtx:
    """Marks of ops for NVIDIA's profiler, which sees CUDA devices only: a block that is enabled cannot be entered."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> emit_nvtx:
        if self.enabled:
            raise RuntimeError("emit_nvtx: there is no CUDA device whose profiler could be told; use profile()")
        return self

    def __exit__(self, *exc_info: object) -> None:
        return None
