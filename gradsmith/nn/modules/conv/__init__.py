"""Convolutions, transposed ones, and those whose channels follow from the first input."""

from gradsmith.nn.modules.conv.base import ConvNd as _ConvNd
from gradsmith.nn.modules.conv.lazy import (
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
)
from gradsmith.nn.modules.conv.lazy import LazyConvMixin as _LazyConvXdMixin
from gradsmith.nn.modules.conv.plain import Conv1d, Conv2d, Conv3d
from gradsmith.nn.modules.conv.transposed import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from gradsmith.nn.modules.conv.transposed import ConvTransposeNd as _ConvTransposeNd
from gradsmith.nn.modules.utils import _pair, _quadruple, _reverse_repeat_tuple, _single, _triple

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "_ConvNd", "_ConvTransposeNd",
    "_LazyConvXdMixin", "_pair", "_quadruple", "_reverse_repeat_tuple", "_single", "_triple",
]  # fmt: skip
