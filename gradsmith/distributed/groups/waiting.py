"""Waiting for a message without losing sight of the time, of Ctrl-C and of the ranks that should send it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Patience(NamedTuple):
    """How long a rank looks for a message before it sleeps between two looks.

    The first tests come at once: a message of some bytes takes about a microsecond, one of a megabyte a hundred. Then
    other processes may have the core between two tests. To yield is not to sleep for no time: Linux takes 50 us and
    more to wake a process, whatever it was asked for. And large messages only move on while somebody looks.
    """

    at_once: range
    yielding: float  # seconds


USUAL = Patience(range(1000), 0.05)
# More ranks than cores: those that yield to each other would only keep each other from working.
CROWDED = Patience(range(100), 0.0)

_SLEEP = 0.0001  # seconds, at most
_LOOK_AROUND = 0.05  # seconds between two looks at the other ranks

_give_way: Callable[[], Any] = getattr(os, "sched_yield", lambda: time.sleep(0))


def wait_until(
    is_done: Callable[[], Any], timeout: float, look_around: Callable[[float], None], patience: Patience
) -> None:
    """Return when something is done that was not in the tests that came at once.

    Parameters
    ----------
    is_done : callable
        Moves messages on, too. It should release the lock of the interpreter.
    timeout : float
        Seconds.
    look_around : callable
        Called now and then with the seconds waited so far, and at last with `timeout`. It raises when waiting is vain.
    patience : Patience
    """
    start = time.monotonic()
    looked = start
    while not is_done():
        now = time.monotonic()
        if now - start > timeout:
            look_around(timeout)
            raise TimeoutError(f"not done after {timeout:g} s")
        if now - looked > _LOOK_AROUND:
            looked = now
            look_around(min(now - start, timeout * 0.999))
        if now - start < patience.yielding:
            _give_way()
        else:
            time.sleep(min(_SLEEP, (now - start) / 10))
