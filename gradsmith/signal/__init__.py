"""Signals: convolutions and correlations as in SciPy, windows as in PyTorch."""

from gradsmith.generated.signal_namespace import *  # noqa: F403
from gradsmith.generated.signal_namespace import __all__ as _functions
from gradsmith.signal import windows

__all__ = ["windows", *_functions]
