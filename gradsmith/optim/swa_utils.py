"""Averages of the parameters that a model goes through, and the schedule and statistics that go with them."""

from __future__ import annotations

import copy
import functools
import importlib
import itertools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from gradsmith.generated.tensor import Tensor
from gradsmith.names.missing import missing_attribute
from gradsmith.optim.lr_scheduler.base import LRScheduler, Rate, one_for_each_group
from gradsmith.optim.optimizer import Optimizer
from gradsmith.runtime.arrays.dtypes import int64
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.programs.python_calls import traced_update
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.runtime.tensors.factories.creation import tensor

if TYPE_CHECKING:
    AveragedModel: Any

__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip

# ---- averages


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """A function that moves averages towards tensors: ``average * decay + value * (1 - decay)``, in place.

    Parameters
    ----------
    decay : float, default 0.999
        Between 0 and 1.

    Returns
    -------
    callable
        Of a list of averages, a list of values, and how many values the averages have seen.

    Examples
    --------
    >>> import gradsmith as gs
    >>> averages = [gs.zeros(2)]
    >>> gs.optim.swa_utils.get_ema_multi_avg_fn(0.75)(averages, [gs.ones(2)], 1)
    >>> averages
    [tensor([0.2500, 0.2500])]
    """
    average = get_ema_avg_fn(decay)
    return _in_place(average)


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """A function that takes tensors into equally weighted averages, in place; see `get_ema_multi_avg_fn`."""
    return _in_place(get_swa_avg_fn())


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Tensor]:
    """The same as `get_ema_multi_avg_fn` of one tensor, which returns the average.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.optim.swa_utils.get_ema_avg_fn(0.75)(gs.zeros(2), gs.ones(2), 1)
    tensor([0.2500, 0.2500])
    """
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return ema_param * decay + current_param * (1 - decay)

    return ema_update


def get_swa_avg_fn() -> Callable[..., Tensor]:
    """The same as `get_swa_multi_avg_fn` of one tensor, which returns the average.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.optim.swa_utils.get_swa_avg_fn()(gs.zeros(2), gs.ones(2), 3)
    tensor([0.2500, 0.2500])
    """

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (int(num_averaged) + 1)

    return swa_update


def _in_place(average: Callable[..., Tensor]) -> Callable[..., None]:
    @no_grad()
    def update(averages: list[Tensor], values: list[Tensor], num_averaged: Any) -> None:
        for old, value in zip(averages, values, strict=True):
            old.copy_(average(old, value, num_averaged))

    return update


def __getattr__(name: str) -> Any:
    """`AveragedModel` is a Module, and those are imported when the first is needed."""
    if name == "AveragedModel":
        value = globals()[name] = _averaged_model()
        return value
    raise missing_attribute(__name__, name)


def _averaged_model() -> Any:
    Module: Any = importlib.import_module("gradsmith.nn").Module

    class AveragedModel(Module):  # type: ignore[misc]
        """A copy of a model whose parameters are averages of those that the model goes through.

        Parameters
        ----------
        model : Module
            Is copied.
        device : device, optional
            Where the averages are.
        avg_fn : callable, optional
            From an average, a value and how many values have been averaged to the new average; by default all values
            weigh the same.
        multi_avg_fn : callable, optional
            Of lists of averages and of values, which it changes in place; instead of `avg_fn`.
        use_buffers : bool, default False
            Average buffers too, instead of copying them.

        Attributes
        ----------
        module : Module
            The copy.
        n_averaged : Tensor
            How many values have been averaged.

        References
        ----------
        Izmailov, Podoprikhin, Garipov, Vetrov and Wilson: Averaging weights leads to wider optima and better
        generalization, 2018.
        """

        def __init__(
            self,
            model: Any,
            device: Any = None,
            avg_fn: Callable[..., Tensor] | None = None,
            multi_avg_fn: Callable[..., None] | None = None,
            use_buffers: bool = False,
        ) -> None:
            super().__init__()
            if avg_fn is not None and multi_avg_fn is not None:
                raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
            self.module = copy.deepcopy(model)
            if device is not None:
                self.module = self.module.to(device)
            self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
            self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            """Forward pass of the averaged copy."""
            return self.module(*args, **kwargs)

        @no_grad()
        def update_parameters(self, model: Any) -> None:
            """Take the parameters of `model` into the averages; the first time they are copied."""
            if is_tracing():
                own = [*self.module.parameters(), *self.module.buffers(), self.n_averaged]
                read = [*model.parameters(), *model.buffers()]
                return traced_update(functools.partial(self.update_parameters, model), read, own)
            averages, values = (_tensors_of(m, self.use_buffers) for m in (self.module, model))
            values = [value.to(average.device) for average, value in zip(averages, values)]
            count = self.n_averaged.item()
            if count == 0:
                _copy_all(averages, values)
            elif self.avg_fn is not None:
                _copy_all(averages, [self.avg_fn(*pair, self.n_averaged) for pair in zip(averages, values)])
            else:
                (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, values, self.n_averaged)
            if not self.use_buffers:
                _copy_all(*([b.detach() for b in m.buffers()] for m in (self.module, model)))
            self.n_averaged.add_(1)

    AveragedModel.__module__, AveragedModel.__qualname__ = __name__, "AveragedModel"
    return AveragedModel


def _tensors_of(model: Any, with_buffers: bool) -> list[Tensor]:
    found = itertools.chain(model.parameters(), model.buffers() if with_buffers else ())
    return [x.detach() for x in found]


def _copy_all(targets: list[Tensor], values: list[Tensor]) -> None:
    for target, value in zip(targets, values, strict=True):
        target.copy_(value)


# ---- statistics of batch normalization


@no_grad()
def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Compute the running means and variances of all batch normalizations of a model anew.

    Parameters
    ----------
    loader : iterable
        Of batches: what the model takes, or a tuple or list that begins with it.
    model : Module
    device : device, optional
        Where batches are sent before.
    """
    norms = [module for module in model.modules() if _is_batch_norm(module)]
    if not norms:
        return
    momenta = [module.momentum for module in norms]
    was_training = model.training
    try:
        for module in norms:
            module.reset_running_stats()
            module.momentum = None
        model.train()
        for batch in loader:
            first = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(first if device is None else first.to(device))
    finally:
        for module, momentum in zip(norms, momenta):
            module.momentum = momentum
        model.train(was_training)


def _is_batch_norm(module: Any) -> bool:
    return any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__)


# ---- the schedule


class SWALR(LRScheduler):
    """From the rates of an optimizer to those with which averages are taken, and no further.

    Parameters
    ----------
    optimizer : Optimizer
    swa_lr : float or list of float
        The last rate of all groups, or of each.
    anneal_epochs : int, default 10
        Steps on the way.
    anneal_strategy : {"cos", "linear"}
    last_epoch : int, default -1
        See `LRScheduler`.

    Raises
    ------
    ValueError
        A setting is outside of its range.

    Examples
    --------
    >>> import gradsmith as gs
    >>> optimizer = gs.optim.SGD([gs.zeros(1).requires_grad_()], lr=1.0)
    >>> scheduler = gs.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> rates = [scheduler.get_last_lr()[0]]
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step()
    ...     rates += scheduler.get_last_lr()
    >>> rates
    [1.0, 0.75, 0.5, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for rate, group in zip(one_for_each_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = rate
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How much of the way has been gone after a part `t` of the steps."""
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Rate]:
        self._warn_unless_in_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (self.anneal_func(max(0, min(1, s / max(1, self.anneal_epochs)))) for s in (step - 1, step))
        return [_between(group["lr"], group["swa_lr"], before, now) for group in self.optimizer.param_groups]


def _between(rate: Any, end: Any, before: float, now: float) -> Any:
    """From the rate after a part of the way, where the way began, and from there to where it is now."""
    start = end if before == 1 else (rate - before * end) / (1 - before)
    return end * now + start * (1 - now)
