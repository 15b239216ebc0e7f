"""The threads of kernels and of BLAS while workers share the cores."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from gradsmith.runtime.arrays.array import get_num_threads, put_thread_limits, set_num_threads, thread_limits

_lock = threading.Lock()
_asked: list[int] = []  # by those that run now: the least of them holds
_before: list[tuple[int, int, int, int]] = []


def default_workers() -> int:
    """As many as kernels may have threads; within a worker this is its share of the cores."""
    return get_num_threads()


def share_of(workers: int) -> int:
    """The threads of each of some workers."""
    return max(1, get_num_threads() // workers)


@contextlib.contextmanager
def limited(threads: int) -> Iterator[None]:
    """Let kernels and BLAS of this process have so many threads each.

    Maps within tasks, and those of several threads, may begin and end in any order. The last that ends gives back what
    there was before the first.
    """
    with _lock:
        if not _asked:
            _before[:] = [thread_limits()]
        _asked.append(threads)
        set_num_threads(min(_asked))
    try:
        yield
    finally:
        with _lock:
            _asked.remove(threads)
            if _asked:
                set_num_threads(min(_asked))
            else:
                put_thread_limits(_before.pop())
