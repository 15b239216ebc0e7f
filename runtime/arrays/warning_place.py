"""Warnings that name the line of the caller's program, however many functions of the package lie between."""

from __future__ import annotations

import sys
import warnings


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first frame outside the package. Compiled functions have no frame."""
    level = 1
    frame = sys._getframe(0)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and (module == "gradsmith" or module.startswith("gradsmith."))
