"""Activations, the softmax family, and attention."""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.nn.modules.activation.rectifiers import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    SiLU,
    Threshold,
)
from gradsmith.nn.modules.activation.softmaxes import LogSoftmax, Softmax, Softmax2d, Softmin
from gradsmith.nn.modules.activation.squashing import (
    GLU,
    Hardshrink,
    Hardsigmoid,
    LogSigmoid,
    Sigmoid,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
)

if TYPE_CHECKING:
    from gradsmith.nn.modules.activation.attention import MultiheadAttention

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid",
    "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Attention is imported when it is first used."""
    if name == "MultiheadAttention":
        return importlib.import_module(f"{__name__}.attention").MultiheadAttention
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
