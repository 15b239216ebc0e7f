"""Schedules that multiply all rates by a factor which follows from the number of the step."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from gradsmith.optim.lr_scheduler.base import LRScheduler, Rate
from gradsmith.optim.optimizer import Optimizer


class _Decay(LRScheduler):
    """`_total` is the product of all factors up to a step."""

    def _total(self, step: int) -> float:
        raise NotImplementedError

    def _closed_form(self) -> list[Rate]:
        return [rate * self._total(self.last_epoch) for rate in self.base_lrs]


class StepLR(_Decay):
    """A factor of `gamma` every `step_size` steps.

    Parameters
    ----------
    optimizer : Optimizer
    step_size : int
    gamma : float, default 0.1
    last_epoch : int, default -1
        See `LRScheduler`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for _ in range(5):
    ...     optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return self.gamma if self.last_epoch != 0 and self.last_epoch % self.step_size == 0 else None

    def _total(self, step: int) -> float:
        return float(self.gamma) ** (step // self.step_size)


class MultiStepLR(_Decay):
    """A factor of `gamma` at each of some steps.

    Parameters
    ----------
    optimizer : Optimizer
    milestones : iterable of int
        Numbers of steps; one that is there twice counts twice.
    gamma : float, default 0.1
    last_epoch : int, default -1
        See `LRScheduler`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 4], gamma=0.5)
    >>> for _ in range(5):
    ...     optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return float(self.gamma) ** self.milestones[self.last_epoch] if self.last_epoch in self.milestones else None

    def _total(self, step: int) -> float:
        return float(self.gamma) ** bisect_right(sorted(self.milestones.elements()), step)


class ConstantLR(_Decay):
    """Rates times `factor` for `total_iters` steps, and the initial ones after.

    Parameters
    ----------
    optimizer : Optimizer
    factor : float, default 1/3
        Between 0 and 1.
    total_iters : int, default 5
    last_epoch : int, default -1
        See `LRScheduler`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> rates = [scheduler.get_last_lr()[0]]
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step()
    ...     rates += scheduler.get_last_lr()
    >>> rates
    [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        if self.factor == 0 and self.last_epoch == self.total_iters:  # no factor leads back from zero
            return list(self.base_lrs)
        return super().get_lr()

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _total(self, step: int) -> float:
        return self.factor if step < self.total_iters else 1.0


class LinearLR(_Decay):
    """Rates times a factor that goes in a line from one number to another.

    Parameters
    ----------
    optimizer : Optimizer
    start_factor : float, default 1/3
        Above 0, and at most 1.
    end_factor : float, default 1.0
        Between 0 and 1.
    total_iters : int, default 5
        The number of steps until the end is reached.
    last_epoch : int, default -1
        See `LRScheduler`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def _total(self, step: int) -> float:
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * min(self.total_iters, step) / self.total_iters


class ExponentialLR(_Decay):
    """A factor of `gamma` at every step.

    Parameters
    ----------
    optimizer : Optimizer
    gamma : float
    last_epoch : int, default -1
        See `LRScheduler`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _total(self, step: int) -> float:
        return float(self.gamma) ** step


class PolynomialLR(_Decay):
    """Rates times a power of the part of `total_iters` that is left; zero after it.

    Parameters
    ----------
    optimizer : Optimizer
    total_iters : int, default 5
    power : float, default 1.0
    last_epoch : int, default -1
        See `LRScheduler`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=2)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5625]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        left, before = (1.0 - step / self.total_iters for step in (self.last_epoch, self.last_epoch - 1))
        return float((left / before) ** self.power)

    def _total(self, step: int) -> float:
        return float((1.0 - min(self.total_iters, step) / self.total_iters) ** self.power)
