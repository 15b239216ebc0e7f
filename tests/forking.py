"""The answer of a forked child, for tests of things that have to work in both processes."""

import os
import select
import warnings
from collections.abc import Callable

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def answer_of_child(function: Callable[[], object]) -> str:
    """``repr(function())`` in the child of a fork; fails when the child does not answer within a minute."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
        child = os.fork()
    if child == 0:
        try:
            os.write(writer, repr(function()).encode())
        except BaseException as error:
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        ready, _, _ = select.select([reader], [], [], 60)
        assert ready, "the child did not answer"
        return os.read(reader, 1000).decode()
    finally:
        os.close(reader)
        if not ready:
            os.kill(child, 9)
        os.waitpid(child, 0)
