"""Ordinary differential equations for arrays and boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsmith.scipy.integrate as _ours
from gradsmith.compat.hips.scipy.functions import of_arrays

__all__ = ["odeint"]


def odeint(func: Callable[..., Any], y0: Any, t: Any, args: Any = (), **options: Any) -> Any:
    """SciPy's `odeint`, differentiable by the start, the times and `args`; see `gradsmith.scipy.integrate.odeint`."""
    return _odeint(func, y0, t, args if isinstance(args, tuple) else (args,), **options)


_odeint = of_arrays(_ours.odeint)
