"""Schedules that go up and down, and momentum the other way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradsmith.optim.lr_scheduler.base import (
    LRScheduler,
    Rate,
    give_back,
    kept_of,
    one_for_each_group,
    put_value,
    require_optimizer,
)
from gradsmith.optim.optimizer import Optimizer


class _Cycle(LRScheduler):
    """A schedule of rates that may have one of momentum, which Adam and its relatives call beta1."""

    cycle_momentum: bool
    use_beta1: bool

    def _begin_momentum(self, optimizer: Optimizer, base: Any, most: Any, is_new: bool) -> None:
        if not self.cycle_momentum:
            return
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = one_for_each_group("base_momentum", optimizer, base)
        self.max_momentums = one_for_each_group("max_momentum", optimizer, most)
        if is_new:
            for group, low, high in zip(optimizer.param_groups, self.base_momentums, self.max_momentums):
                self._put_momentum(group, high)
                group.update(max_momentum=high, base_momentum=low)

    def _put_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_Cycle):
    """Between two rates up and down in lines, again and again; momentum goes down and up.

    Parameters
    ----------
    optimizer : Optimizer
    base_lr, max_lr : float or list of float
        The lowest and the highest rate of all groups, or of each.
    step_size_up : int, default 2000
        Steps up.
    step_size_down : int, optional
        Steps down; as many as up by default.
    mode : {"triangular", "triangular2", "exp_range"}
        Are all cycles of one height, is each half as high as the one before, or does the height fall by `gamma` with
        every step?
    gamma : float, default 1.0
    scale_fn : callable, optional
        The height of a cycle as a part of the first one; then `mode` does not count.
    scale_mode : {"cycle", "iterations"}
        What `scale_fn` is a function of: the number of the cycle, or of the step.
    cycle_momentum : bool, default True
    base_momentum, max_momentum : float or list of float, default 0.8 and 0.9
    last_epoch : int, default -1
        See `LRScheduler`.

    References
    ----------
    Smith: Cyclical learning rates for training neural networks, 2015.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0, momentum=0.9)
    >>> scheduler = gs.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
    >>> rates = [scheduler.get_last_lr()[0]]
    >>> for _ in range(4):
    ...     optimizer.step(); scheduler.step()
    ...     rates += scheduler.get_last_lr()
    >>> rates
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        lows = one_for_each_group("base_lr", optimizer, base_lr)
        self.max_lrs = one_for_each_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        by_mode = "iterations" if mode == "exp_range" else "cycle"
        self.scale_mode = by_mode if scale_fn is None else scale_mode
        self.cycle_momentum = cycle_momentum
        self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch == -1)
        if last_epoch == -1:
            for low, group in zip(lows, optimizer.param_groups):
                put_value(group, "lr", low)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x: float) -> float:
        """The height of a cycle as a part of the first one."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return float(0.5 ** (x - 1) if self.mode == "triangular2" else float(self.gamma) ** x)

    def get_lr(self) -> list[Rate]:
        self._warn_unless_in_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ranges = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in ranges:
                self._put_momentum(group, high - (high - low) * part * height)
        return [low + (high - low) * part * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """As of any schedule. Of a `scale_fn` that is an object its attributes are kept, of others nothing."""
        return {**super().state_dict(), "_scale_fn_custom": kept_of(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        give_back(self._scale_fn_custom, state_dict["_scale_fn_custom"])


class OneCycleLR(_Cycle):
    """One cycle over a whole run: up to `max_lr`, and down to far below the first rate.

    Parameters
    ----------
    optimizer : Optimizer
    max_lr : float or list of float
        The highest rate of all groups, or of each.
    total_steps : int, optional
        Or else `epochs` and `steps_per_epoch`, whose product it is.
    epochs, steps_per_epoch : int, optional
    pct_start : float, default 0.3
        The part of the steps that goes up.
    anneal_strategy : {"cos", "linear"}
    cycle_momentum : bool, default True
    base_momentum, max_momentum : float or list of float, default 0.85 and 0.95
    div_factor : float, default 25.0
        The first rate is `max_lr` divided by it.
    final_div_factor : float, default 1e4
        The last rate is the first divided by it.
    three_phase : bool, default False
        Go down to the first rate in as many steps as up, and only then to the last.
    last_epoch : int, default -1
        See `LRScheduler`.

    Raises
    ------
    ValueError
        A setting is outside of its range, or more steps are taken than there are.

    References
    ----------
    Smith and Topin: Super-convergence, very fast training of neural networks using large learning rates, 2017.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0, momentum=0.9)
    >>> scheduler = gs.optim.lr_scheduler.OneCycleLR(
    ...     optimizer, max_lr=1.0, total_steps=10, anneal_strategy="linear", div_factor=4.0
    ... )
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(pct_start * self.total_steps, self.total_steps, three_phase)
        self.cycle_momentum = cycle_momentum
        highs = one_for_each_group("max_lr", optimizer, max_lr)
        self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch == -1)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, highs):
                first = high / div_factor
                group.update(initial_lr=first, max_lr=high, min_lr=first / final_div_factor)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_unless_in_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        start, phase = 0.0, self._schedule_phases[0]
        for phase in self._schedule_phases:
            if self.last_epoch <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        part = (self.last_epoch - start) / (phase["end_step"] - start)
        return [self._rate(group, phase, part) for group in self.optimizer.param_groups]

    def _rate(self, group: dict[str, Any], phase: dict[str, Any], part: float) -> Rate:
        if self.cycle_momentum:
            ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
            self._put_momentum(group, self._between(*ends, part))
        rate: Rate = self._between(group[phase["start_lr"]], group[phase["end_lr"]], part)
        return rate

    def _between(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _count_steps(total: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total is not None:
        return _positive("total_steps", total)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive("epochs", epochs) * _positive("steps_per_epoch", steps_per_epoch)


def _positive(name: str, value: int) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


def _phases(rising: float, total: int, three_phase: bool) -> list[dict[str, Any]]:
    up = _phase(float(rising) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three_phase:
        return [up, _phase(total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    down = _phase(float(2 * rising) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
    return [up, down, _phase(total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]


def _phase(end_step: float, start_lr: str, end_lr: str, start_momentum: str, end_momentum: str) -> dict[str, Any]:
    """The last step of a phase, and the keys of groups between whose values it goes."""
    return {
        "end_step": end_step, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum,
        "end_momentum": end_momentum,
    }  # fmt: skip
