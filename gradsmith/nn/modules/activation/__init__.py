"""Activations, and the softmax family."""

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

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid",
    "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip
