"""Schedules along a cosine."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.optim.lr_scheduler.base import LRScheduler, Rate, values_of
from gradsmith.optim.optimizer import Optimizer
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.programs.python_calls import traced_call


def _height(part: float) -> float:
    """Between one, at 0, and zero, at 1."""
    return (1 + math.cos(math.pi * part)) / 2


class CosineAnnealingLR(LRScheduler):
    """From the initial rate to `eta_min` in `T_max` steps along half a cosine, and up again.

    Parameters
    ----------
    optimizer : Optimizer
    T_max : int
    eta_min : float, default 0.0
    last_epoch : int, default -1
        See `LRScheduler`.

    References
    ----------
    Loshchilov and Hutter: SGDR, stochastic gradient descent with warm restarts, 2016.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_unless_in_step()
        rates = values_of(self.optimizer, "lr")
        if self._is_initial:
            return rates
        if self._step_count == 1 and self.last_epoch > 0:
            return self._closed_form()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the first step up from the lowest point
            rise = 1 - _height(1 / self.T_max)
            return [rate + (base - self.eta_min) * rise for rate, base in zip(rates, self.base_lrs, strict=True)]
        factor = _height(self.last_epoch / self.T_max) / _height((self.last_epoch - 1) / self.T_max)
        return [factor * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _closed_form(self) -> list[Rate]:
        height = _height(self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down along half a cosine and at once up again, in periods that may grow.

    Parameters
    ----------
    optimizer : Optimizer
    T_0 : int
        Steps of the first period.
    T_mult : int, default 1
        How many times longer each period is than the one before.
    eta_min : float, default 0.0
        The lowest rate.
    last_epoch : int, default -1
        See `LRScheduler`.

    References
    ----------
    Loshchilov and Hutter: SGDR, stochastic gradient descent with warm restarts, 2016.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> rates = [scheduler.get_last_lr()[0]]
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step()
    ...     rates += scheduler.get_last_lr()
    >>> rates
    [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_unless_in_step()
        return [self.eta_min + (base - self.eta_min) * _height(self.T_cur / self.T_i) for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Set the rates of the next step.

        Parameters
        ----------
        epoch : float, optional
            The number of the step to go to, which may be a fraction.
        """
        if is_tracing():
            return traced_call(self.step, epoch)
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self._advance()
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        with self._computing():
            self._put_rates(self.get_lr())

    def _advance(self) -> None:
        self.T_cur += 1
        if self.T_cur >= self.T_i:
            self.T_cur %= self.T_i
            self.T_i *= self.T_mult

    def _go_to(self, epoch: float) -> None:
        """The period that a step lies in, and the place in it."""
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.T_i, self.T_cur = self.T_0, epoch
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
