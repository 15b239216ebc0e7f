"""RAdam: Adam that waits until the scale of gradients is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of, root, shrunk
from gradsmith.optim.optimizer import Group, require_betas, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["RAdam"]


class RAdam(ElementwiseOptimizer):
    """RAdam: Adam that does not divide by the scale of gradients before there are enough of them.

    With the gradient g, to which ``weight_decay * p`` has been added, in step t::

        exp_avg = exp_avg * beta1 + g * (1 - beta1)
        exp_avg_sq = exp_avg_sq * beta2 + g * g * (1 - beta2)
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * t * beta2**t / (1 - beta2**t)
        length <= 5:  p = p - exp_avg * (lr / (1 - beta1**t))
        otherwise:    p = p - exp_avg * (lr / (1 - beta1**t) * sqrt((1 - beta2**t) * r)) / (sqrt(exp_avg_sq) + eps)
                      r = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.001
    betas : (float, float), default (0.9, 0.999)
    eps : float, default 1e-8
    weight_decay : float, default 0
    decoupled_weight_decay : bool, default False
        See `Adam`.
    foreach, capturable : bool, optional
        Accepted; every step is fused.
    maximize, differentiable : bool, default False
        See `SGD`.

    Raises
    ------
    ValueError
        A setting is outside of its range.

    References
    ----------
    Liu, Jiang, He, Chen, Liu, Gao and Han: On the variance of the adaptive learning rate and beyond, 2019.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.RAdam([w], lr=0.25)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.0000], requires_grad=True)
    """

    _rule = UpdateRule(
        "radam",
        settings=("lr", "betas", "eps", "weight_decay", "decoupled_weight_decay", "maximize"),
        counters=("step",),
        states=("exp_avg", "exp_avg_sq"),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_rate(lr)
        require_range("epsilon value", eps, eps >= 0.0)
        require_betas(betas)
        require_range("weight_decay value", weight_decay, weight_decay >= 0.0)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        step = float(counters[0] + 1)
        beta1, beta2 = group["betas"]
        power = beta2**step
        rest, limit = 1 - power, 2 / (1 - beta2) - 1
        length = limit - 2 * step * power / rest
        rate = group["lr"] / (1 - beta1**step)
        if length > 5:
            rectified = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
            rate = rate * root(rest * rectified)
        decay = decays(group, group["decoupled_weight_decay"])
        return (*decay, beta1, beta2, group["eps"], rate, bool(length > 5)), [step]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, shrink, beta1, beta2, eps, rate, is_rectified = numbers
        grad = gradient_of(p, grad, sign, decay)
        mean = states[0] * beta1 + grad * (1 - beta1)
        square = states[1] * beta2 + grad * grad * (1 - beta2)
        change = mean * rate
        return [shrunk(p, shrink) - (change / (square.sqrt() + eps) if is_rectified else change), mean, square]
