"""The ops of networks under the names that PyTorch gives them: ``import gradsmith.nn.functional as F``."""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.nn.in_place import celu_, elu_, hardtanh_, leaky_relu_, relu_, selu_, threshold_

if TYPE_CHECKING:
    from gradsmith.generated import (
        binary_cross_entropy_with_logits,
        celu,
        cross_entropy,
        elu,
        gelu,
        glu,
        hardshrink,
        hardsigmoid,
        hardswish,
        hardtanh,
        hinge_embedding_loss,
        huber_loss,
        l1_loss,
        leaky_relu,
        linear,
        log_softmax,
        logsigmoid,
        mish,
        mse_loss,
        nll_loss,
        prelu,
        relu,
        relu6,
        selu,
        sigmoid,
        silu,
        smooth_l1_loss,
        soft_margin_loss,
        softmax,
        softmin,
        softplus,
        softshrink,
        softsign,
        tanh,
        tanhshrink,
        threshold,
    )
    from gradsmith.nn.tables import embedding

__all__ = [
    "binary_cross_entropy_with_logits", "celu", "celu_", "cross_entropy", "elu", "elu_", "embedding", "gelu", "glu",
    "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "hinge_embedding_loss", "huber_loss",
    "l1_loss", "leaky_relu", "leaky_relu_", "linear", "log_softmax", "logsigmoid", "mish", "mse_loss", "nll_loss",
    "prelu", "relu", "relu6", "relu_", "selu", "selu_", "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss",
    "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip


# Functions whose arguments are not those of an op -> their modules.
_HANDWRITTEN = {"embedding": "gradsmith.nn.tables"}


def __getattr__(name: str) -> Any:
    """Import what has a function when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _HANDWRITTEN.get(name, "gradsmith.generated")
    value = globals()[name] = getattr(importlib.import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
