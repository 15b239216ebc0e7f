"""Adadelta: a rule without a learning rate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of
from gradsmith.optim.optimizer import Group, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["Adadelta"]


class Adadelta(ElementwiseOptimizer):
    """Adadelta: steps in units of how large steps and gradients have been.

    With the gradient g, to which ``weight_decay * p`` has been added::

        square_avg = square_avg * rho + g * g * (1 - rho)
        delta = sqrt(acc_delta + eps) / sqrt(square_avg + eps) * g
        acc_delta = acc_delta * rho + delta * delta * (1 - rho)
        p = p - delta * lr

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 1.0
    rho : float, default 0.9
    eps : float, default 1e-6
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
    Zeiler: ADADELTA, an adaptive learning rate method, 2012.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.Adadelta([w])
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.9968, -1.9968], requires_grad=True)
    """

    _rule = UpdateRule(
        "adadelta",
        settings=("lr", "rho", "eps", "weight_decay", "maximize"),
        counters=("step",),
        states=("square_avg", "acc_delta"),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_rate(lr)
        require_range("rho value", rho, 0.0 <= rho <= 1.0)
        require_range("epsilon value", eps, eps >= 0.0)
        require_range("weight_decay value", weight_decay, weight_decay >= 0.0)
        super().__init__(
            params,
            {
                "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
            },
        )  # fmt: skip

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        sign, decay, _ = decays(group)
        return (sign, decay, group["rho"], group["eps"], group["lr"]), [float(counters[0] + 1)]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, rho, eps, lr = numbers
        grad = gradient_of(p, grad, sign, decay)
        square = states[0] * rho + grad * grad * (1 - rho)
        delta = (states[1] + eps).sqrt() / (square + eps).sqrt() * grad
        return [p - delta * lr, square, states[1] * rho + delta * delta * (1 - rho)]
