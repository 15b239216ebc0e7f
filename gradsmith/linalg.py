"""Linear algebra, with PyTorch's names and arguments: ``gs.linalg.solve(a, b)``."""

from typing import Any

from gradsmith.generated.linalg_namespace import *  # noqa: F403
from gradsmith.generated.linalg_namespace import __all__ as _functions
from gradsmith.runtime.arrays.functions.algebra.matrices import LinAlgError

__all__ = ["LinAlgError", *_functions]

LinAlgError.__module__ = __name__


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
