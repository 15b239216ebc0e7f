"""The ops of networks under the names that PyTorch gives them: ``import gradsmith.nn.functional as F``."""

from gradsmith.generated import (
    cross_entropy,
    gelu,
    linear,
    log_softmax,
    mse_loss,
    nll_loss,
    relu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)

__all__ = [
    "cross_entropy", "gelu", "linear", "log_softmax", "mse_loss", "nll_loss", "relu", "sigmoid", "silu", "softmax",
    "softplus", "tanh",
]  # fmt: skip
