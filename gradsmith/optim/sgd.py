"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of, is_zero
from gradsmith.optim.optimizer import Group, require_one_form, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["SGD"]


class SGD(ElementwiseOptimizer):
    """Stochastic gradient descent, with momentum if it is asked for.

    With the gradient g, to which ``weight_decay * p`` has been added::

        buffer = buffer * momentum + g * (1 - dampening)      the gradient itself in the first step
        p = p - buffer * lr                                   nesterov: p - (g + buffer * momentum) * lr

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.001
        The learning rate.
    momentum, dampening, weight_decay : float, default 0
    nesterov : bool, default False
    maximize : bool, default False
        Ascend instead.
    foreach, fused : bool, optional
        Accepted; every step is fused.
    differentiable : bool, default False
        Record the step, so that gradients flow through it.

    Raises
    ------
    ValueError
        A setting is outside of its range.

    References
    ----------
    Sutskever, Martens, Dahl and Hinton: On the importance of initialization and momentum in deep learning, 2013.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.SGD([w], lr=0.25)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.0000], requires_grad=True)
    """

    _rule = UpdateRule(
        "sgd",
        settings=("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize"),
        states=(("momentum_buffer", "momentum"),),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_rate(lr)
        require_range("momentum value", momentum, momentum >= 0.0)
        require_range("weight_decay value", weight_decay, weight_decay >= 0.0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        require_one_form(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
                "fused": fused,
            },
        )  # fmt: skip

    def _takes_rows(self, group: Group) -> bool:
        return bool(is_zero(group["momentum"]) and is_zero(group["weight_decay"]))

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        sign, decay, _ = decays(group)
        return (sign, decay, group["lr"], group["momentum"], 1 - group["dampening"], group["nesterov"], is_new), []

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, lr, momentum, undamped, is_nesterov, is_first = numbers
        change = gradient_of(p, grad, sign, decay)
        if is_zero(momentum):
            return [p - change * lr]
        buffer = change if is_first else states[0] * momentum + change * undamped
        return [p - (change + buffer * momentum if is_nesterov else buffer) * lr, buffer]
