"""Schedules that functions of the user give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.optim.lr_scheduler.base import LRScheduler, Rate, give_back, kept_of, values_of
from gradsmith.optim.optimizer import Optimizer

Function = Callable[[int], float]


class _OfFunctions(LRScheduler):
    """A function for each group, or one for all."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Function | Sequence[Function], last_epoch: int = -1) -> None:
        groups = optimizer.param_groups
        functions: Any = lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * len(groups)
        self.lr_lambdas: list[Function] = list(functions)
        if len(self.lr_lambdas) != len(groups):
            raise ValueError(f"Expected {len(groups)} lr_lambdas, but got {len(self.lr_lambdas)}")
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """As of any schedule. Of functions that are objects their attributes are kept, of others nothing."""
        return {**super().state_dict(), "lr_lambdas": [kept_of(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            give_back(function, kept)


class LambdaLR(_OfFunctions):
    """The initial rate times a function of the number of the step.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable or list of callable
        From the number of the step to the factor; one, or one for each group.
    last_epoch : int, default -1
        See `LRScheduler`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self) -> list[Rate]:
        self._warn_unless_in_step()
        return [rate * function(self.last_epoch) for rate, function in zip(self.base_lrs, self.lr_lambdas, strict=True)]


class MultiplicativeLR(_OfFunctions):
    """The last rate times a function of the number of the step.

    The parameters are those of `LambdaLR`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda step: 0.5)
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    def get_lr(self) -> list[Rate]:
        self._warn_unless_in_step()
        rates = values_of(self.optimizer, "lr")
        if self._is_initial:
            return rates
        return [rate * function(self.last_epoch) for rate, function in zip(rates, self.lr_lambdas, strict=True)]
