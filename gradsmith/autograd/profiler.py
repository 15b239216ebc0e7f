"""The profiler without schedules: `profile` records its ``with`` block."""

from __future__ import annotations

import os
from types import TracebackType

from typing_extensions import Self

from gradsmith.profiler.averages import FunctionEventAvg
from gradsmith.profiler.event_list import AverageList, EventList
from gradsmith.profiler.events import FunctionEvent
from gradsmith.profiler.options import Options
from gradsmith.profiler.recording import Recording
from gradsmith.runtime.observers.recorder import record_function

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]


class profile:
    """Record what the calling thread runs in a ``with`` block.

    Parameters
    ----------
    enabled : bool
        False records nothing.
    record_shapes, profile_memory, with_stack, with_flops : bool
        What else to keep; see `gradsmith.profiler.profile`.

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

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> AverageList:
        """Events of the same name summed; see `EventList.key_averages`.

        Parameters
        ----------
        group_by_input_shape : bool
        group_by_stack_n : int
        """
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """One average of all."""
        return self._finished().total_average()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as text; see `EventList.table`.

        Parameters
        ----------
        sort_by : str, optional
        row_limit : int
        max_src_column_width, max_name_column_width, max_shapes_column_width : int
        header : str, optional
        top_level_events_only : bool
        """
        return self._finished().table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
        )

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a trace for Perfetto or Chrome; see `EventList.export_chrome_trace`.

        Parameters
        ----------
        path : str or path
        """
        self._finished().export_chrome_trace(path)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write stacks for a flame graph; see `EventList.export_stacks`.

        Parameters
        ----------
        path : str or path
        metric : str
        """
        self._finished().export_stacks(path, metric)

    def __str__(self) -> str:
        return "<unfinished profile>" if self.function_events is None else self.table()

    __repr__ = __str__
