"""Several threads at once, for tests of what they share."""

import threading
from collections.abc import Callable, Sequence


def run_threads(functions: Sequence[Callable[[], object]]) -> None:
    """Start all at once; the first exception of any of them is that of the test."""
    barrier, failures = threading.Barrier(len(functions)), []

    def run(function):
        try:
            barrier.wait(timeout=30)
            function()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    if failures:
        raise failures[0]
