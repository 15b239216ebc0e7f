"""SciPy's functions for tensors, with SciPy's names and arguments: ``from gradsmith.scipy.special import gammaln``.

Arguments are tensors, arrays or numbers, results are tensors. SciPy itself is needed only where its solvers are asked
for.

>>> import gradsmith as gs
>>> from gradsmith.scipy import linalg
>>> linalg.toeplitz(gs.tensor([1.0, 2.0, 3.0]))
tensor([[1., 2., 3.],
        [2., 1., 2.],
        [3., 2., 1.]])
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["fft", "integrate", "interpolate", "linalg", "optimize", "signal", "sparse", "special", "stats"]


def __getattr__(name: str) -> Any:
    """Modules are imported when they are first used."""
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"gradsmith.scipy has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return list(__all__)
