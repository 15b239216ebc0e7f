"""Adamax: Adam by the greatest gradient instead of the mean square."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of
from gradsmith.optim.optimizer import Group, require_betas, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["Adamax"]


class Adamax(ElementwiseOptimizer):
    """Adamax: Adam whose scale is the greatest gradient so far, which fades.

    With the gradient g, to which ``weight_decay * p`` has been added, in step t::

        exp_avg = exp_avg * beta1 + g * (1 - beta1)
        exp_inf = maximum(exp_inf * beta2, abs(g) + eps)
        p = p - exp_avg / exp_inf * (lr / (1 - beta1**t))

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.002
    betas : (float, float), default (0.9, 0.999)
    eps : float, default 1e-8
    weight_decay : float, default 0
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
    Kingma and Ba: Adam, a method for stochastic optimization, 2014.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.Adamax([w], lr=0.5)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.5000], requires_grad=True)
    """

    _rule = UpdateRule(
        "adamax",
        settings=("lr", "betas", "eps", "weight_decay", "maximize"),
        counters=("step",),
        states=("exp_avg", "exp_inf"),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        require_rate(lr)
        require_range("epsilon value", eps, eps >= 0.0)
        require_betas(betas)
        require_range("weight_decay value", weight_decay, weight_decay >= 0.0)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        step = float(counters[0] + 1)
        beta1, beta2 = group["betas"]
        sign, decay, _ = decays(group)
        return (sign, decay, beta1, beta2, group["eps"], group["lr"] / (1 - beta1**step)), [step]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, beta1, beta2, eps, rate = numbers
        grad = gradient_of(p, grad, sign, decay)
        mean = states[0] * beta1 + grad * (1 - beta1)
        greatest = (states[1] * beta2).maximum(grad.abs() + eps)
        return [p - mean / greatest * rate, mean, greatest]
