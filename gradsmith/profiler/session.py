"""`profile`: recording as a schedule says."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradsmith.profiler.averages import STEP
from gradsmith.profiler.event_list import EventList
from gradsmith.profiler.options import Options
from gradsmith.profiler.recording import Recording
from gradsmith.profiler.results import Results
from gradsmith.profiler.schedules import ProfilerAction, Schedule
from gradsmith.runtime.observers.recorder import record_function

if TYPE_CHECKING:
    from typing_extensions import Self

_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class ProfilerActivity(Enum):
    """Activities that a profile can record."""

    CPU = 0


def supported_activities() -> set[ProfilerActivity]:
    """The activities that `profile` takes."""
    return set(ProfilerActivity)


class profile(Results):
    """Record what the calling thread runs: ops, nodes of backward, and blocks of `record_function`.

    Other threads are not seen, except those that the engine uses for this one. While no profile is recording, an op
    asks one number and nothing else.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, optional
        There is only `ProfilerActivity.CPU`.
    schedule : callable, optional
        What to do during which step; see `gradsmith.profiler.schedule`. Steps end where `step` is called. By default
        everything is recorded.
    on_trace_ready : callable, optional
        Called with the profile whenever it hands over what it has recorded.
    record_shapes : bool
        Keep the shapes of operands.
    profile_memory : bool
        Count the bytes of array data that ops allocate and free. The cache of arrays is off meanwhile. Arrays made
        before do not count when they are freed.
    with_stack : bool
        Keep the lines of Python that led to an op.
    with_flops : bool
        Count floating point operations, of products of matrices and of arithmetic. The work of a fused
        backward is not counted.
    with_modules : bool
        Must be False: there are no modules.
    experimental_config : None
        Must be None: there is nothing that it could configure.
    acc_events : bool
        Keep the events of all cycles of the schedule, not of the last one alone.

    Raises
    ------
    AssertionError
        No activities.
    ValueError
        An option that means nothing here.
    RuntimeError
        It is started twice, or stopped or stepped while it does not run.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.ones((2, 3), requires_grad=True)
    >>> with gs.profiler.profile(record_shapes=True) as profile:
    ...     x.tanh().sum().backward()
    >>> [event.name for event in profile.events() if event.kind == "op"][:2]
    ['tanh', 'sum']
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Schedule | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: None = None,
        acc_events: bool = False,
    ) -> None:
        _check_activities(activities)
        if with_modules or experimental_config is not None:
            name = "with_modules" if with_modules else "experimental_config"
            raise ValueError(f"profile(): {name} means nothing in gradsmith; leave it out")
        self._options = Options(record_shapes, profile_memory, with_stack, with_flops)
        self._schedule = schedule
        self._step: record_function | None = None
        self._recording: Recording | None = None
        self._events: EventList | None = None
        self._running = False
        self.on_trace_ready = on_trace_ready
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = ProfilerAction.NONE

    # ---- running

    def start(self) -> None:
        """Begin; what ``with`` does."""
        if self._running:
            raise RuntimeError("profile.start(): it is running; a profile is not reentrant")
        self._running = True
        try:
            self._begin_step()
        except BaseException:
            self._give_up()
            raise

    def step(self) -> None:
        """End a step of the schedule and begin the next."""
        if not self._running:
            raise RuntimeError("profile.step(): it is not running; call start(), or use it in a with statement")
        self._end_step()
        self.step_num += 1
        self._begin_step()

    def stop(self) -> None:
        """End; what the end of ``with`` does."""
        if not self._running:
            raise RuntimeError("profile.stop(): it is not running")
        try:
            self._end_step()
            self._running = False
            self._move_to(ProfilerAction.NONE, stopping=True)
        except BaseException:
            self._give_up()
            raise

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _give_up(self) -> None:
        """Stop recording, even after a failure."""
        self._running = False
        if self._recording is not None:
            self._end_recording(keep=False)

    def _begin_step(self) -> None:
        self._move_to(self._action())
        if self._schedule is not None:
            self._step = record_function(f"{STEP}#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)

    def _action(self) -> ProfilerAction:
        if self._schedule is None:
            return ProfilerAction.RECORD
        action = self._schedule(self.step_num)
        if not isinstance(action, ProfilerAction):
            raise TypeError(
                f"profile: the schedule should give a ProfilerAction, got {action!r} for step {self.step_num}"
            )
        return action

    def _move_to(self, action: ProfilerAction, stopping: bool = False) -> None:
        """Stop, hand over, start: as it follows from what was done so far and from what is to be done now."""
        before, self.current_action = self.current_action, action
        if self._recording is not None and not _stays(before, action):
            complete = before is ProfilerAction.RECORD_AND_SAVE or (stopping and before is ProfilerAction.RECORD)
            self._end_recording(keep=complete)
            if complete and self.on_trace_ready is not None:
                self.on_trace_ready(self)
            is_lost = before is ProfilerAction.RECORD or action is ProfilerAction.NONE
            if is_lost and not complete and not stopping:
                warnings.warn(f"Incorrect schedule: {before.name} followed by {action.name}", UserWarning, stacklevel=4)
        if action is not ProfilerAction.NONE and self._recording is None:
            self._recording = Recording(self._options)

    def _end_recording(self, keep: bool) -> None:
        recording, self._recording = self._recording, None
        assert recording is not None
        events = recording.stop()
        if keep and self.acc_events and self._events is not None:
            self._events += events
        elif keep:
            self._events = events

    # ---- results

    def events(self) -> EventList:
        """The latest recording.

        Returns
        -------
        EventList
            The events in the order in which they began.
        """
        if self._events is None:
            raise AssertionError(
                "profile: nothing has been recorded yet: events are there after the recording has ended"
            )
        return self._events

    _finished = events


def _check_activities(activities: Iterable[ProfilerActivity] | None) -> None:
    if activities is None:
        return
    found = list(activities)
    if not found:
        raise AssertionError("No valid profiler activities found")
    for activity in found:
        if not isinstance(activity, ProfilerActivity):
            raise ValueError(f"profile(): activities can be ProfilerActivity.CPU only, got {activity!r}")


def _stays(before: ProfilerAction, action: ProfilerAction) -> bool:
    """Whether a recording goes on. A warm-up is discarded; a recording that was handed over starts again."""
    if before is ProfilerAction.RECORD:
        return action in _RECORDING
    return before is action is ProfilerAction.WARMUP


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str], worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Write each trace into a folder that TensorBoard's profiler plugin reads.

    Parameters
    ----------
    dir_name : str or path
        Made if it is not there.
    worker_name : str, optional
        Part of the file's name. Default: the name of the machine and the number of the process.
    use_gzip : bool
        Compress the file.

    Returns
    -------
    callable
        For `profile(on_trace_ready=...)`.
    """

    def write(finished: profile) -> None:
        worker = worker_name or f"{platform.node()}_{os.getpid()}"
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        suffix = "pt.trace.json.gz" if use_gzip else "pt.trace.json"
        finished.export_chrome_trace(folder / f"{worker}.{time.time_ns()}.{suffix}")

    return write
