"""The ops of networks under the names that PyTorch gives them: ``import gradsmith.nn.functional as F``."""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.nn.in_place import celu_, elu_, hardtanh_, leaky_relu_, relu_, selu_, threshold_

if TYPE_CHECKING:
    from gradsmith.generated import (
        bilinear,
        binary_cross_entropy,
        binary_cross_entropy_with_logits,
        celu,
        channel_shuffle,
        conv1d,
        conv2d,
        conv3d,
        conv_transpose1d,
        conv_transpose2d,
        conv_transpose3d,
        cosine_embedding_loss,
        cosine_similarity,
        cross_entropy,
        elu,
        gelu,
        glu,
        group_norm,
        hardshrink,
        hardsigmoid,
        hardswish,
        hardtanh,
        hinge_embedding_loss,
        huber_loss,
        kl_div,
        l1_loss,
        layer_norm,
        leaky_relu,
        linear,
        local_response_norm,
        log_softmax,
        logsigmoid,
        margin_ranking_loss,
        mish,
        mse_loss,
        multi_margin_loss,
        multilabel_margin_loss,
        multilabel_soft_margin_loss,
        nll_loss,
        normalize,
        pairwise_distance,
        pdist,
        pixel_shuffle,
        pixel_unshuffle,
        poisson_nll_loss,
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
        triplet_margin_loss,
    )
    from gradsmith.nn.attention import scaled_dot_product_attention
    from gradsmith.nn.chances import gumbel_softmax, rrelu
    from gradsmith.nn.dropouts import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
    from gradsmith.nn.losses import gaussian_nll_loss, triplet_margin_with_distance_loss
    from gradsmith.nn.normalizations import batch_norm, instance_norm, rms_norm
    from gradsmith.nn.tables import embedding, one_hot

__all__ = [
    "alpha_dropout", "batch_norm", "bilinear", "binary_cross_entropy", "binary_cross_entropy_with_logits", "celu",
    "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "dropout", "dropout1d",
    "dropout2d", "dropout3d", "elu", "elu_", "embedding", "feature_alpha_dropout", "gaussian_nll_loss", "gelu",
    "glu", "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_",
    "hinge_embedding_loss", "huber_loss", "instance_norm", "kl_div", "l1_loss", "layer_norm", "leaky_relu",
    "leaky_relu_", "linear", "local_response_norm", "log_softmax", "logsigmoid", "margin_ranking_loss", "mish",
    "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss",
    "normalize", "one_hot", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss",
    "prelu", "relu", "relu6", "relu_", "rms_norm", "rrelu", "scaled_dot_product_attention", "selu", "selu_",
    "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold", "threshold_", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


# Functions whose arguments are not those of an op -> their modules.
_HANDWRITTEN = {
    "scaled_dot_product_attention": "gradsmith.nn.attention",
    "gumbel_softmax": "gradsmith.nn.chances",
    "rrelu": "gradsmith.nn.chances",
    "alpha_dropout": "gradsmith.nn.dropouts",
    "dropout": "gradsmith.nn.dropouts",
    "dropout1d": "gradsmith.nn.dropouts",
    "dropout2d": "gradsmith.nn.dropouts",
    "dropout3d": "gradsmith.nn.dropouts",
    "feature_alpha_dropout": "gradsmith.nn.dropouts",
    "gaussian_nll_loss": "gradsmith.nn.losses",
    "triplet_margin_with_distance_loss": "gradsmith.nn.losses",
    "batch_norm": "gradsmith.nn.normalizations",
    "instance_norm": "gradsmith.nn.normalizations",
    "rms_norm": "gradsmith.nn.normalizations",
    "embedding": "gradsmith.nn.tables",
    "one_hot": "gradsmith.nn.tables",
}


def __getattr__(name: str) -> Any:
    """Import what has a function when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _HANDWRITTEN.get(name, "gradsmith.generated")
    value = globals()[name] = getattr(importlib.import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
