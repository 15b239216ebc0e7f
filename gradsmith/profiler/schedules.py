"""Schedules of a profile: functions from the number of a step to the action during it."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable


class ProfilerAction(enum.Enum):
    """Action of a profile during a step."""

    NONE = 0
    WARMUP = 1  # record and throw away, so that what recording itself costs at first is not seen
    RECORD = 2
    RECORD_AND_SAVE = 3  # and hand over at the end of the step


Schedule = Callable[[int], ProfilerAction]


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Schedule:
    """A schedule of cycles: wait, warm up, record, hand over.

    Parameters
    ----------
    wait, warmup, active : int
        How many steps of a cycle are skipped, recorded and discarded, and recorded.
    repeat : int
        How many cycles there are; 0 for no end.
    skip_first : int
        Steps before the first cycle.
    skip_first_wait : int
        If not 0, the first cycle does not wait.

    Returns
    -------
    callable
        For `profile(schedule=...)`.

    Raises
    ------
    AssertionError
        A number is negative, or nothing is recorded.

    Examples
    --------
    >>> from gradsmith.profiler import schedule
    >>> during = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [during(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", UserWarning, stacklevel=2)
    length = wait + warmup + active

    def action_of(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        if repeat and step >= repeat * length:
            return ProfilerAction.NONE
        position = step % length
        if position < wait:
            return ProfilerAction.NONE
        if position < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if position == length - 1 else ProfilerAction.RECORD

    return action_of
