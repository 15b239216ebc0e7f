"""Waiting for a message without losing sight of the time, of Ctrl-C and of the ranks that should send it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# The first tests come at once: a message of some bytes takes about a microsecond. Then other processes get the core,
# and after a while this one sleeps between two tests, at most as long as a message takes to be worth nothing.
_AT_ONCE = 400
_YIELDING = 0.002  # seconds
_SLEEP = 0.0001
_LOOK_AROUND = 0.05  # seconds between two looks at the other ranks


def wait_until(is_done: Callable[[], Any], timeout: float, look_around: Callable[[float], None]) -> None:
    """Return when something is done.

    Parameters
    ----------
    is_done : callable
        Moves messages on, too. It should release the lock of the interpreter.
    timeout : float
        Seconds.
    look_around : callable
        Called now and then with the seconds waited so far, and at last with `timeout`. It raises when waiting is vain.
    """
    for _ in range(_AT_ONCE):
        if is_done():
            return
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
        time.sleep(0 if now - start < _YIELDING else _SLEEP)
