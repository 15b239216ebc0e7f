"""Pooling: one element in place of each window."""

from gradsmith.nn.modules.pooling.averages import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    LPPool1d,
    LPPool2d,
    LPPool3d,
)
from gradsmith.nn.modules.pooling.averages import AdaptiveAvgPoolNd as _AdaptiveAvgPoolNd
from gradsmith.nn.modules.pooling.averages import AvgPoolNd as _AvgPoolNd
from gradsmith.nn.modules.pooling.averages import LPPoolNd as _LPPoolNd
from gradsmith.nn.modules.pooling.fractional import FractionalMaxPool2d, FractionalMaxPool3d
from gradsmith.nn.modules.pooling.maxima import (
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from gradsmith.nn.modules.pooling.maxima import AdaptiveMaxPoolNd as _AdaptiveMaxPoolNd
from gradsmith.nn.modules.pooling.maxima import MaxPoolNd as _MaxPoolNd
from gradsmith.nn.modules.pooling.unpooling import MaxUnpool1d, MaxUnpool2d, MaxUnpool3d
from gradsmith.nn.modules.pooling.unpooling import MaxUnpoolNd as _MaxUnpoolNd

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d", "_AdaptiveAvgPoolNd", "_AdaptiveMaxPoolNd", "_AvgPoolNd", "_LPPoolNd", "_MaxPoolNd",
    "_MaxUnpoolNd",
]  # fmt: skip
