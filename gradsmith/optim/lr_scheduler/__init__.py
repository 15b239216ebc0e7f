"""Schedules of learning rates, with PyTorch's names and arguments."""

from gradsmith.optim.lr_scheduler.base import LRScheduler
from gradsmith.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from gradsmith.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from gradsmith.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from gradsmith.optim.lr_scheduler.decays import (
    ConstantLR,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from gradsmith.optim.lr_scheduler.functions import LambdaLR, MultiplicativeLR
from gradsmith.optim.lr_scheduler.plateau import ReduceLROnPlateau

_LRScheduler = LRScheduler  # its older name in PyTorch

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
