"""RMSprop: steps in units of the mean square of gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of
from gradsmith.optim.optimizer import Group, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["RMSprop"]


class RMSprop(ElementwiseOptimizer):
    """RMSprop: steps in units of how large gradients have been lately.

    With the gradient g, to which ``weight_decay * p`` has been added::

        square_avg = square_avg * alpha + g * g * (1 - alpha)
        centered:   grad_avg = grad_avg * alpha + g * (1 - alpha)
        change = g / (sqrt(square_avg) + eps)             centered: sqrt(square_avg - grad_avg * grad_avg)
        momentum:   change = momentum_buffer = momentum_buffer * momentum + change
        p = p - change * lr

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.01
    alpha : float, default 0.99
    eps : float, default 1e-8
    weight_decay, momentum : float, default 0
    centered : bool, default False
        Divide by the deviation of gradients from their mean.
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
    Tieleman and Hinton: lecture 6.5 of Neural networks for machine learning, 2012. Graves: Generating sequences with
    recurrent neural networks, 2013.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.RMSprop([w], lr=0.05)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.5000], requires_grad=True)
    """

    _rule = UpdateRule(
        "rmsprop",
        settings=("lr", "alpha", "eps", "weight_decay", "momentum", "maximize"),
        counters=("step",),
        states=("square_avg", ("momentum_buffer", "momentum"), ("grad_avg", "centered")),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_rate(lr)
        require_range("epsilon value", eps, eps >= 0.0)
        require_range("momentum value", momentum, momentum >= 0.0)
        require_range("weight_decay value", weight_decay, weight_decay >= 0.0)
        require_range("alpha value", alpha, alpha >= 0.0)
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
                "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        sign, decay, _ = decays(group)
        return (sign, decay, group["alpha"], group["eps"], group["momentum"], group["lr"]), [float(counters[0] + 1)]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, alpha, eps, momentum, lr = numbers
        grad = gradient_of(p, grad, sign, decay)
        square = states[0] * alpha + grad * grad * (1 - alpha)
        mean = None if states[2] is None else states[2] * alpha + grad * (1 - alpha)
        variance = square if mean is None else square - mean * mean
        change = grad / (variance.sqrt() + eps)
        if states[1] is not None:
            change = states[1] * momentum + change
        return [p - change * lr, square, change, mean]
