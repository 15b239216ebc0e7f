"""The garbage collector, kept from running while many objects are made."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def stopped() -> Iterator[bool]:
    """Keep the collector from running. Gives whether it ran before."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield was_enabled
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Keep the collector from running, and from searching what has been made meanwhile.

    Imports make many objects and no garbage, yet their number has the collector search all of NumPy's a few times: a
    fifth of the time that importing takes.
    """
    with stopped() as was_enabled:
        try:
            yield
        finally:
            if was_enabled and not gc.get_freeze_count():  # otherwise they would be unfrozen, which are not ours
                _count_as_old()


def _count_as_old() -> None:
    """Have the collector take all objects for old ones, and begin to count new ones.

    Otherwise the next object would have it search what the imports have made, which stays.
    """
    gc.freeze()
    gc.unfreeze()
