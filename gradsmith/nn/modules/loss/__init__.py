"""Losses."""

from gradsmith.nn.modules.loss.adaptive import AdaptiveLogSoftmaxWithLoss
from gradsmith.nn.modules.loss.base import Loss as _Loss
from gradsmith.nn.modules.loss.base import WeightedLoss as _WeightedLoss
from gradsmith.nn.modules.loss.of_classes import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    CTCLoss,
    NLLLoss,
    NLLLoss2d,
)
from gradsmith.nn.modules.loss.of_numbers import (
    GaussianNLLLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    PoissonNLLLoss,
    SmoothL1Loss,
)
from gradsmith.nn.modules.loss.with_margins import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)

__all__ = [
    "AdaptiveLogSoftmaxWithLoss", "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss",
    "CrossEntropyLoss", "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss",
    "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss",
    "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss", "_Loss", "_WeightedLoss",
]  # fmt: skip
