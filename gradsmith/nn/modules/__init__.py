"""Layers and networks: each class is imported when it is first used."""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.names.missing import missing_attribute
from gradsmith.names.on_demand import show_all_names

if TYPE_CHECKING:
    from gradsmith.nn.modules.activation import *  # noqa: F403
    from gradsmith.nn.modules.batchnorm import *  # noqa: F403
    from gradsmith.nn.modules.container import *  # noqa: F403
    from gradsmith.nn.modules.conv import *  # noqa: F403
    from gradsmith.nn.modules.distance import *  # noqa: F403
    from gradsmith.nn.modules.dropout import *  # noqa: F403
    from gradsmith.nn.modules.flatten import *  # noqa: F403
    from gradsmith.nn.modules.fold import *  # noqa: F403
    from gradsmith.nn.modules.instancenorm import *  # noqa: F403
    from gradsmith.nn.modules.linear import *  # noqa: F403
    from gradsmith.nn.modules.loss import *  # noqa: F403
    from gradsmith.nn.modules.module import *  # noqa: F403
    from gradsmith.nn.modules.normalization import *  # noqa: F403
    from gradsmith.nn.modules.padding import *  # noqa: F403
    from gradsmith.nn.modules.pixelshuffle import *  # noqa: F403
    from gradsmith.nn.modules.pooling import *  # noqa: F403
    from gradsmith.nn.modules.rnn import *  # noqa: F403
    from gradsmith.nn.modules.sparse import *  # noqa: F403
    from gradsmith.nn.modules.transformer import *  # noqa: F403
    from gradsmith.nn.modules.upsampling import *  # noqa: F403

# The classes of each file or folder here.
_CLASSES = {
    "activation": (
        "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
        "LogSigmoid", "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU",
        "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh",
        "Tanhshrink", "Threshold",
    ),
    "batchnorm": (
        "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
        "SyncBatchNorm",
    ),
    "container": ("Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"),
    "conv": (
        "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d",
        "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    ),
    "distance": ("CosineSimilarity", "PairwiseDistance"),
    "dropout": ("AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"),
    "flatten": ("Flatten", "Unflatten"),
    "fold": ("Fold", "Unfold"),
    "instancenorm": (
        "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
        "LazyInstanceNorm3d",
    ),
    "linear": ("Bilinear", "Identity", "LazyLinear", "Linear"),
    "loss": (
        "AdaptiveLogSoftmaxWithLoss", "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss",
        "CrossEntropyLoss", "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss",
        "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
        "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
        "TripletMarginWithDistanceLoss",
    ),
    "module": ("Module",),
    "normalization": ("GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"),
    "padding": (
        "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
        "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
        "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
    ),
    "pixelshuffle": ("ChannelShuffle", "PixelShuffle", "PixelUnshuffle"),
    "pooling": (
        "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
        "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d",
        "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d",
        "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
    ),
    "rnn": ("GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"),
    "sparse": ("Embedding", "EmbeddingBag"),
    "transformer": (
        "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
        "TransformerEncoderLayer",
    ),
    "upsampling": ("Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"),
}  # fmt: skip
_FILE_OF = {name: file for file, names in _CLASSES.items() for name in names}

__all__ = [*_FILE_OF]


def __getattr__(name: str) -> Any:
    """Import a class, or one of the files, on first use."""
    if name in _FILE_OF:
        value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_FILE_OF[name]}"), name)
        return value
    if name in (*_CLASSES, "lazy", "utils"):
        return importlib.import_module(f"{__name__}.{name}")
    raise missing_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_CLASSES, "lazy", "utils"})


show_all_names(__name__)
