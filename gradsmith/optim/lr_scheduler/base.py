"""`LRScheduler`: what all schedules have in common."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.optimizer import Optimizer
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.programs.python_calls import traced_call

Rate: TypeAlias = float | Tensor

EPOCH_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available."
)


class LRScheduler:
    """Base class of schedules: each `step` sets the learning rate ``lr`` of every parameter group.

    A subclass defines `get_lr`, or `_factor` when all rates are multiplied by the same number. The first step is taken
    when the schedule is made.

    Parameters
    ----------
    optimizer : Optimizer
    last_epoch : int, default -1
        The number of the last step, of a run that is taken up again. Otherwise the rates of the groups are kept as
        their ``initial_lr``.

    Attributes
    ----------
    base_lrs : list of float
        The initial rates.
    last_epoch : int
        The number of steps that have been taken since the first.

    Raises
    ------
    TypeError
        `optimizer` is none.
    KeyError
        A run is taken up again with groups that have no ``initial_lr``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> class Halved(gs.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [rate / 2**self.last_epoch for rate in self.base_lrs]
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = Halved(optimizer)
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    _get_lr_called_within_step = False
    _is_initial = False
    _step_count = 0
    _last_lr: list[Rate]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = require_optimizer(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0: load the state of the optimizer before, or begin with last_epoch=-1"
                )
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_last_lr(self) -> list[Rate]:
        """The rates that the last step has set, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """The rates that a step is about to set; only for `step` to call. See `get_last_lr`."""
        self._warn_unless_in_step()
        factor = self._factor()
        return [copied(rate) if factor is None else rate * factor for rate in values_of(self.optimizer, "lr")]

    def _factor(self) -> float | None:
        """Factor of all learning rates in this step; None leaves them unchanged."""
        raise NotImplementedError

    def _closed_form(self) -> list[Rate] | None:
        """The rates of step `last_epoch` whatever came before it; None where they depend on it."""
        return None

    def _get_closed_form_lr(self) -> list[Rate]:
        rates = self._closed_form()
        return self.get_lr() if rates is None else rates

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next step. Call it after the step of the optimizer.

        Parameters
        ----------
        epoch : int, optional
            Deprecated: the number of the step to go to.
        """
        if is_tracing():
            return traced_call(self.step, *([] if epoch is None else [epoch]))
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        with self._computing():
            rates = self.get_lr() if epoch is None else self._get_closed_form_lr()
        self._put_rates(rates)

    def _put_rates(self, rates: list[Rate]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            put_value(group, "lr", rate)
        self._last_lr = values_of(self.optimizer, "lr")

    @contextmanager
    def _computing(self) -> Iterator[None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_unless_in_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _warn_of_order(self) -> None:
        if not getattr(self.optimizer.step, "hooked", False):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                "Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`.",
                UserWarning,
                stacklevel=3,
            )
        elif not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call them in the "
                "opposite order: `optimizer.step()` before `lr_scheduler.step()`. Failure to do this will result in "
                "skipping the first value of the learning rate schedule.",
                UserWarning,
                stacklevel=3,
            )

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, for `load_state_dict`."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        self.__dict__.update(state_dict)


# ---- values of groups


def require_optimizer(optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def copied(value: Any) -> Any:
    """A rate that is a tensor is changed in place, so what is kept of it is a copy."""
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    return [copied(group[key]) for group in optimizer.param_groups]


def put_value(group: dict[str, Any], key: str, value: Any) -> None:
    if isinstance(group[key], Tensor):
        group[key].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def one_for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A list of as many values as there are groups, from such a list or from one value for all."""
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in optimizer.param_groups]
    if len(value) != len(optimizer.param_groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups "
            f"has {len(optimizer.param_groups)}."
        )
    return [copied(item) for item in value]


# ---- functions that a state cannot hold: of callable objects their attributes are kept


def kept_of(function: Callable[..., Any] | None) -> dict[str, Any] | None:
    if function is None or isinstance(function, types.FunctionType):
        return None
    return dict(vars(function))


def give_back(function: Any, kept: dict[str, Any] | None) -> None:
    if kept is not None:
        vars(function).update(kept)
