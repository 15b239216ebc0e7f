"""Gradients of recorded computations: `backward`, `grad`, the modes that switch recording, and `gradcheck`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.autograd import engine, graph
from gradsmith.autograd.anomaly_mode import detect_anomaly, is_anomaly_enabled, set_detect_anomaly
from gradsmith.autograd.function import Function
from gradsmith.autograd.grad_mode import (
    _unsafe_preserve_version_counter,
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from gradsmith.autograd.gradcheck import gradcheck, gradgradcheck
from gradsmith.autograd.gradients import backward, grad
from gradsmith.autograd.variable import Variable
from gradsmith.runtime.history.saved_hooks import SavedTensor

if TYPE_CHECKING:
    from gradsmith.autograd import forward_ad as forward_ad
    from gradsmith.autograd import functional as functional
    from gradsmith.autograd import profiler as profiler
    from gradsmith.autograd.nan_safety import is_nan_safe_enabled as is_nan_safe_enabled
    from gradsmith.autograd.nan_safety import nan_safe as nan_safe

__all__ = [
    "Function",
    "SavedTensor",
    "Variable",
    "_unsafe_preserve_version_counter",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "engine",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_multithreading_enabled",
    "is_nan_safe_enabled",
    "nan_safe",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def __getattr__(name: str) -> Any:
    """Modules that are imported when they are first used."""
    if name in ("forward_ad", "functional", "profiler"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in ("is_nan_safe_enabled", "nan_safe"):
        return getattr(importlib.import_module(f"{__name__}.nan_safety"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
