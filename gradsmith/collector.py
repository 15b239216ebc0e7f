"""The garbage collector while the package is imported."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Keep the collector from running, as far as it did.

    Imports make many objects and no garbage, yet their number has the collector search all of NumPy's a few times: a
    fifth of the time that importing takes.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # otherwise they would be unfrozen, which are not ours
                _count_as_old()
            gc.enable()


def _count_as_old() -> None:
    """Have the collector take all objects for old ones, and begin to count new ones.

    Otherwise the next object would have it search what the imports have made, which stays.
    """
    gc.freeze()
    gc.unfreeze()
