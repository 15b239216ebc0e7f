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
            gc.enable()
