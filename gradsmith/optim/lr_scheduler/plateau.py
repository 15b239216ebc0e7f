"""A schedule by what comes of training."""

from __future__ import annotations

import math
import warnings
from typing import Any

from gradsmith.optim.lr_scheduler.base import EPOCH_WARNING, LRScheduler, put_value, require_optimizer, values_of
from gradsmith.optim.optimizer import Optimizer
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.programs.python_calls import traced_call


class ReduceLROnPlateau(LRScheduler):
    """A factor at each step after which a number, such as a loss, has not become better for some time.

    Parameters
    ----------
    optimizer : Optimizer
    mode : {"min", "max"}
        Which numbers are better: smaller or greater ones.
    factor : float, default 0.1
        Below 1.
    patience : int, default 10
        Steps without a better number that are waited for.
    threshold : float, default 1e-4
        What a number has to be better by.
    threshold_mode : {"rel", "abs"}
        Is the threshold a part of the best number, or a difference?
    cooldown : int, default 0
        Steps after a reduction that do not count.
    min_lr : float or list of float, default 0
        The least rate of all groups, or of each.
    eps : float, default 1e-8
        Reductions by less are left out.

    Raises
    ------
    TypeError
        `optimizer` is none.
    ValueError
        A setting is outside of its range.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     scheduler.step(loss)
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.optimizer = require_optimizer(optimizer)
        groups = optimizer.param_groups
        is_list = isinstance(min_lr, (list, tuple))
        if is_list and len(min_lr) != len(groups):  # type: ignore[arg-type]
            raise ValueError(f"expected {len(groups)} min_lrs, got {len(min_lr)}")  # type: ignore[arg-type]
        self.default_min_lr = None if is_list else min_lr
        self.min_lrs: list[Any] = list(min_lr) if is_list else [min_lr] * len(groups)  # type: ignore[arg-type]
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = values_of(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take notice of a number, and reduce the rates if it is time to.

        Parameters
        ----------
        metrics : float
            Or what `float` makes one of.
        epoch : int, optional
            Deprecated.
        """
        if is_tracing():
            return traced_call(self.step, metrics, epoch)
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = values_of(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group "
                    "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                put_value(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Do steps not count at the moment?"""
        return self.cooldown_counter > 0

    def _is_better(self, number: float, best: float) -> bool:
        if self.threshold_mode == "rel":
            bound = best * (1.0 - self.threshold if self.mode == "min" else 1.0 + self.threshold)
        else:
            bound = best - self.threshold if self.mode == "min" else best + self.threshold
        return number < bound if self.mode == "min" else number > bound

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
