"""Schedules made of others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from gradsmith.optim.lr_scheduler.base import LRScheduler, put_value, values_of
from gradsmith.optim.lr_scheduler.plateau import ReduceLROnPlateau
from gradsmith.optim.optimizer import Optimizer
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.programs.python_calls import traced_call


class _Combined(LRScheduler):
    """Several schedules of one optimizer."""

    _schedulers: Sequence[LRScheduler]

    def _check(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer) -> None:
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """As of any schedule, with the dictionaries of the parts."""
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, kept in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(kept)


class SequentialLR(_Combined):
    """One schedule after the other.

    Parameters
    ----------
    optimizer : Optimizer
    schedulers : list of LRScheduler
    milestones : list of int
        Numbers of the steps at which the next one begins; one less than there are schedules.
    last_epoch : int, default -1
        See `LRScheduler`.

    Raises
    ------
    ValueError
        Numbers do not fit, or the schedules are not all of this optimizer.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> parts = [ConstantLR(optimizer, factor=0.125, total_iters=9), ExponentialLR(optimizer, gamma=0.5)]
    >>> scheduler = SequentialLR(optimizer, parts, milestones=[2])
    >>> rates = [scheduler.get_last_lr()[0]]
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step()
    ...     rates += scheduler.get_last_lr()
    >>> rates
    [0.125, 0.125, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            put_value(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take the first steps of all parts back, which they took when they were made."""
        scheduler = self if sched is None else sched
        if hasattr(scheduler, "_schedulers"):
            for part in scheduler._schedulers:
                self.recursive_undo(part)
        elif hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next step, by the schedule whose turn it is."""
        if is_tracing():
            return traced_call(self.step)
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[place]
        if place and self._milestones[place - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """Several schedules at once: each step is one of all of them.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
    optimizer : Optimizer, optional
        That of the first schedule by default.

    Raises
    ------
    ValueError
        There is no schedule, or they are not all of one optimizer.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.optim.lr_scheduler import ChainedScheduler, ExponentialLR, StepLR
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = ChainedScheduler([ExponentialLR(optimizer, gamma=0.5), StepLR(optimizer, step_size=2)])
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.025]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        optimizer = optimizer or getattr(schedulers[0], "optimizer", None)
        self._check(schedulers, optimizer)  # type: ignore[arg-type]
        self._schedulers = schedulers
        self.optimizer = optimizer  # type: ignore[assignment]
        self._last_lr = values_of(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Take a step of every schedule."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")

    def _initial_step(self) -> None:
        """Begin anew with all parts, which only a `SequentialLR` asks for."""
        for group in self.optimizer.param_groups:
            put_value(group, "lr", group["initial_lr"])
        for scheduler in self._schedulers:
            scheduler.last_epoch = -1
            scheduler._initial_step()
        self._last_lr = values_of(self.optimizer, "lr")

    def _update_lr(self, epoch: int | None = None) -> None:
        self._initial_step()
