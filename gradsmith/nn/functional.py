"""The ops of networks under the names that PyTorch gives them: ``import gradsmith.nn.functional as F``."""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.nn.in_place import celu_, elu_, hardtanh, hardtanh_, leaky_relu_, relu_, selu_, threshold_

if TYPE_CHECKING:
    from gradsmith.generated import (
        adaptive_avg_pool1d,
        adaptive_avg_pool2d,
        adaptive_avg_pool3d,
        adaptive_max_pool1d_with_indices,
        adaptive_max_pool2d_with_indices,
        adaptive_max_pool3d_with_indices,
        avg_pool1d,
        avg_pool2d,
        avg_pool3d,
        bilinear,
        celu,
        channel_shuffle,
        conv1d,
        conv2d,
        conv3d,
        conv_tbc,
        conv_transpose1d,
        conv_transpose2d,
        conv_transpose3d,
        cosine_similarity,
        elu,
        gelu,
        glu,
        hardshrink,
        hardsigmoid,
        hardswish,
        layer_norm,
        leaky_relu,
        linear,
        local_response_norm,
        logsigmoid,
        max_pool1d_with_indices,
        max_pool2d_with_indices,
        max_pool3d_with_indices,
        mish,
        native_channel_shuffle,
        normalize,
        pairwise_distance,
        pdist,
        pixel_shuffle,
        pixel_unshuffle,
        prelu,
        relu,
        relu6,
        selu,
        sigmoid,
        silu,
        softplus,
        softshrink,
        softsign,
        tanh,
        tanhshrink,
        threshold,
    )
    from gradsmith.nn.attention.dot_product import scaled_dot_product_attention
    from gradsmith.nn.attention.multi_head import multi_head_attention_forward
    from gradsmith.nn.bags import embedding_bag
    from gradsmith.nn.chances import gumbel_softmax, rrelu, rrelu_
    from gradsmith.nn.dropouts import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
    from gradsmith.nn.grids import affine_grid, grid_sample
    from gradsmith.nn.losses.distances import ctc_loss, gaussian_nll_loss, triplet_margin_with_distance_loss
    from gradsmith.nn.losses.linear import linear_cross_entropy
    from gradsmith.nn.losses.reduced import (
        binary_cross_entropy,
        binary_cross_entropy_with_logits,
        cosine_embedding_loss,
        cross_entropy,
        hinge_embedding_loss,
        huber_loss,
        kl_div,
        l1_loss,
        margin_ranking_loss,
        mse_loss,
        multi_margin_loss,
        multilabel_margin_loss,
        multilabel_soft_margin_loss,
        nll_loss,
        poisson_nll_loss,
        smooth_l1_loss,
        soft_margin_loss,
        triplet_margin_loss,
    )
    from gradsmith.nn.normalizations import batch_norm, group_norm, instance_norm, rms_norm
    from gradsmith.nn.padding import pad
    from gradsmith.nn.patches import fold, unfold
    from gradsmith.nn.pooling import (
        adaptive_max_pool1d,
        adaptive_max_pool2d,
        adaptive_max_pool3d,
        fractional_max_pool2d,
        fractional_max_pool2d_with_indices,
        fractional_max_pool3d,
        fractional_max_pool3d_with_indices,
        lp_pool1d,
        lp_pool2d,
        lp_pool3d,
        max_pool1d,
        max_pool2d,
        max_pool3d,
        max_unpool1d,
        max_unpool2d,
        max_unpool3d,
    )
    from gradsmith.nn.resizing import interpolate, upsample, upsample_bilinear, upsample_nearest
    from gradsmith.nn.softmaxes import log_softmax, softmax, softmin
    from gradsmith.nn.tables import embedding, one_hot

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "affine_grid", "alpha_dropout", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "celu", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "ctc_loss",
    "dropout", "dropout1d", "dropout2d", "dropout3d", "elu", "elu_", "embedding", "embedding_bag",
    "feature_alpha_dropout", "fold", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "gaussian_nll_loss", "gelu", "glu", "grid_sample",
    "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_",
    "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm",
    "leaky_relu", "leaky_relu_", "linear", "linear_cross_entropy", "local_response_norm", "log_softmax", "logsigmoid",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "margin_ranking_loss", "max_pool1d", "max_pool1d_with_indices",
    "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d",
    "max_unpool3d", "mish", "mse_loss", "multi_head_attention_forward", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "native_channel_shuffle", "nll_loss", "normalize", "one_hot", "pad",
    "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu", "relu", "relu6",
    "relu_", "rms_norm", "rrelu", "rrelu_", "scaled_dot_product_attention", "selu", "selu_", "sigmoid", "silu",
    "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold", "threshold_", "triplet_margin_loss", "triplet_margin_with_distance_loss", "unfold",
    "upsample", "upsample_bilinear", "upsample_nearest",
]  # fmt: skip


# Functions whose arguments are not those of an op -> their modules.
_HANDWRITTEN = {
    "scaled_dot_product_attention": "gradsmith.nn.attention.dot_product",
    "multi_head_attention_forward": "gradsmith.nn.attention.multi_head",
    "gumbel_softmax": "gradsmith.nn.chances",
    "rrelu": "gradsmith.nn.chances",
    "rrelu_": "gradsmith.nn.chances",
    "alpha_dropout": "gradsmith.nn.dropouts",
    "dropout": "gradsmith.nn.dropouts",
    "dropout1d": "gradsmith.nn.dropouts",
    "dropout2d": "gradsmith.nn.dropouts",
    "dropout3d": "gradsmith.nn.dropouts",
    "feature_alpha_dropout": "gradsmith.nn.dropouts",
    "ctc_loss": "gradsmith.nn.losses.distances",
    "gaussian_nll_loss": "gradsmith.nn.losses.distances",
    "triplet_margin_with_distance_loss": "gradsmith.nn.losses.distances",
    "linear_cross_entropy": "gradsmith.nn.losses.linear",
    "binary_cross_entropy": "gradsmith.nn.losses.reduced",
    "binary_cross_entropy_with_logits": "gradsmith.nn.losses.reduced",
    "cosine_embedding_loss": "gradsmith.nn.losses.reduced",
    "cross_entropy": "gradsmith.nn.losses.reduced",
    "hinge_embedding_loss": "gradsmith.nn.losses.reduced",
    "huber_loss": "gradsmith.nn.losses.reduced",
    "kl_div": "gradsmith.nn.losses.reduced",
    "l1_loss": "gradsmith.nn.losses.reduced",
    "margin_ranking_loss": "gradsmith.nn.losses.reduced",
    "mse_loss": "gradsmith.nn.losses.reduced",
    "multi_margin_loss": "gradsmith.nn.losses.reduced",
    "multilabel_margin_loss": "gradsmith.nn.losses.reduced",
    "multilabel_soft_margin_loss": "gradsmith.nn.losses.reduced",
    "nll_loss": "gradsmith.nn.losses.reduced",
    "poisson_nll_loss": "gradsmith.nn.losses.reduced",
    "smooth_l1_loss": "gradsmith.nn.losses.reduced",
    "soft_margin_loss": "gradsmith.nn.losses.reduced",
    "triplet_margin_loss": "gradsmith.nn.losses.reduced",
    "batch_norm": "gradsmith.nn.normalizations",
    "group_norm": "gradsmith.nn.normalizations",
    "instance_norm": "gradsmith.nn.normalizations",
    "rms_norm": "gradsmith.nn.normalizations",
    "pad": "gradsmith.nn.padding",
    "fold": "gradsmith.nn.patches",
    "unfold": "gradsmith.nn.patches",
    "adaptive_max_pool1d": "gradsmith.nn.pooling",
    "adaptive_max_pool2d": "gradsmith.nn.pooling",
    "adaptive_max_pool3d": "gradsmith.nn.pooling",
    "fractional_max_pool2d": "gradsmith.nn.pooling",
    "fractional_max_pool2d_with_indices": "gradsmith.nn.pooling",
    "fractional_max_pool3d": "gradsmith.nn.pooling",
    "fractional_max_pool3d_with_indices": "gradsmith.nn.pooling",
    "lp_pool1d": "gradsmith.nn.pooling",
    "lp_pool2d": "gradsmith.nn.pooling",
    "lp_pool3d": "gradsmith.nn.pooling",
    "max_pool1d": "gradsmith.nn.pooling",
    "max_pool2d": "gradsmith.nn.pooling",
    "max_pool3d": "gradsmith.nn.pooling",
    "max_unpool1d": "gradsmith.nn.pooling",
    "max_unpool2d": "gradsmith.nn.pooling",
    "max_unpool3d": "gradsmith.nn.pooling",
    "affine_grid": "gradsmith.nn.grids",
    "grid_sample": "gradsmith.nn.grids",
    "interpolate": "gradsmith.nn.resizing",
    "upsample": "gradsmith.nn.resizing",
    "upsample_bilinear": "gradsmith.nn.resizing",
    "upsample_nearest": "gradsmith.nn.resizing",
    "log_softmax": "gradsmith.nn.softmaxes",
    "softmax": "gradsmith.nn.softmaxes",
    "softmin": "gradsmith.nn.softmaxes",
    "embedding_bag": "gradsmith.nn.bags",
    "embedding": "gradsmith.nn.tables",
    "one_hot": "gradsmith.nn.tables",
}

# What programs take of PyTorch's functions for layers of their own.
_PARTS_OF_ATTENTION = (
    "_canonical_mask", "_get_softmax_dim", "_in_projection", "_in_projection_packed", "_none_or_dtype",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what has a function when it is first used."""
    if name == "grad":  # a module, which PyTorch imports there
        return importlib.import_module("gradsmith.compat.torch.nn.grad")
    if name in _PARTS_OF_ATTENTION:
        return getattr(importlib.import_module("gradsmith.compat.torch.nn.attention_parts"), name)
    if name == "_Reduction":
        return importlib.import_module("gradsmith.compat.torch.nn._reduction")
    if name not in __all__:
        from gradsmith.names.missing import missing_attribute

        raise missing_attribute(__name__, name)
    module = _HANDWRITTEN.get(name, "gradsmith.generated")
    value = globals()[name] = getattr(importlib.import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
