"""SciPy, which does the optimizing: optional, and imported by the first call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradsmith.runtime.arrays.scipy_modules import scipy_module


def scipy_optimize(where: str) -> Any:
    """SciPy's `optimize`, for the function `where` of ours."""
    return scipy_module("optimize", f"optimize.{where}()")


class Watched:
    """Remembers what the functions of one call raise: some of SciPy's Fortran and C code raises something else."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any) -> Any:
            try:
                return function(*args)
            except BaseException as error:
                self.raised = error
                raise

        return watched

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Let what a function raised come out of the block, in place of what SciPy makes of it."""
        try:
            yield
        except BaseException as error:
            if self.raised is None or self.raised is error or isinstance(self.raised, StopIteration):
                raise
            raise self.raised from None
