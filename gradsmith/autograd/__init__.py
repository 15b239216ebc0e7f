"""Gradients of recorded computations: `backward`, `grad`, the modes that switch recording, and `gradcheck`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
from gradsmith.autograd.gradcheck import gradcheck, gradgradcheck  # now: its package has the name of the function
from gradsmith.names.on_demand import show_all_names
from gradsmith.runtime.history.saved_hooks import SavedTensor
from gradsmith.runtime.tensors.entry_points import run_backward as _run_backward  # noqa: F401  # takes its place

if TYPE_CHECKING:
    from gradsmith.autograd import anomaly_mode as anomaly_mode
    from gradsmith.autograd import engine as engine
    from gradsmith.autograd import forward_ad as forward_ad
    from gradsmith.autograd import function as function
    from gradsmith.autograd import functional as functional
    from gradsmith.autograd import gradients as gradients
    from gradsmith.autograd import graph as graph
    from gradsmith.autograd import profiler as profiler
    from gradsmith.autograd import variable as variable
    from gradsmith.autograd.anomaly_mode import detect_anomaly, is_anomaly_enabled, set_detect_anomaly
    from gradsmith.autograd.function import Function
    from gradsmith.autograd.gradients import backward, grad
    from gradsmith.autograd.nan_safety import is_nan_safe_enabled, nan_safe
    from gradsmith.autograd.phase_dependence import allow_phase_dependence, is_phase_dependence_allowed
    from gradsmith.autograd.variable import Variable

# Modules that are imported when they are first used, and what of each is found here.
_ON_FIRST_USE = {
    "anomaly_mode": ("detect_anomaly", "is_anomaly_enabled", "set_detect_anomaly"),
    "engine": (),
    "forward_ad": (),
    "function": ("Function",),
    "functional": (),
    "gradients": ("backward", "grad"),
    "graph": (),
    "nan_safety": ("is_nan_safe_enabled", "nan_safe"),
    "phase_dependence": ("allow_phase_dependence", "is_phase_dependence_allowed"),
    "profiler": (),
    "variable": ("Variable",),
}

__all__ = [
    "Function",
    "SavedTensor",
    "Variable",
    "_unsafe_preserve_version_counter",
    "allow_phase_dependence",
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
    "is_phase_dependence_allowed",
    "nan_safe",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def __getattr__(name: str) -> Any:
    for module, names in _ON_FIRST_USE.items():
        if name == module:
            return importlib.import_module(f"{__name__}.{module}")
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            return value
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


show_all_names(__name__)
