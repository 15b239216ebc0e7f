"""One recording: the observer of a thread, from its beginning to its end."""

from __future__ import annotations

import time
from typing import Any

from gradsmith.profiler.event_list import EventList
from gradsmith.profiler.events import events_of
from gradsmith.profiler.options import Options
from gradsmith.runtime.arrays.memory_use import start_counting, stop_counting
from gradsmith.runtime.history.observers import install, uninstall
from gradsmith.runtime.observers.recorder import Recorder


class Recording:
    """Records the calling thread from now until `stop`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._origin = time.perf_counter_ns()
        self._handler: Any = start_counting() if options.profile_memory else None
        try:
            self._recorder = Recorder(
                record_shapes=options.record_shapes or options.with_flops,
                profile_memory=options.profile_memory,
                with_stack=options.with_stack,
            )
            install(self._recorder)
        except BaseException:
            self._stop_counting()
            raise

    def stop(self) -> EventList:
        """End it; to be called once, in the thread that began it."""
        try:
            uninstall(self._recorder)
        except RuntimeError:
            raise RuntimeError(
                "a profile ends in the thread in which it began, and after the profiles that began inside it"
            ) from None
        try:
            self._recorder.close_all()
        finally:
            self._stop_counting()
        spans = self._recorder.take()
        return EventList(events_of(spans, self._origin, with_flops=self._options.with_flops), self._options)

    def _stop_counting(self) -> None:
        if self._options.profile_memory:
            stop_counting(self._handler)
