"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of
from gradsmith.optim.optimizer import Group, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["ASGD"]


class ASGD(ElementwiseOptimizer):
    """Averaged stochastic gradient descent: `ax` of the state is a mean of what the parameter has been.

    With the gradient g, to which ``weight_decay * p`` has been added, in step t::

        p = p * (1 - lambd * eta) - g * eta
        ax = ax + (p - ax) * mu                           p itself while mu is 1
        eta = lr / (1 + lambd * lr * t) ** alpha
        mu = 1 / max(1, t - t0)

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.01
    lambd : float, default 1e-4
    alpha : float, default 0.75
    t0 : float, default 1e6
        The step at which averaging begins.
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
    Polyak and Juditsky: Acceleration of stochastic approximation by averaging, 1992.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.ASGD([w], lr=0.25, lambd=0.0)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.0000], requires_grad=True)
    """

    _rule = UpdateRule(
        "asgd",
        settings=("lr", "lambd", "alpha", "t0", "weight_decay", "maximize"),
        counters=("step", "eta", "mu"),
        states=("ax",),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        require_rate(lr)
        require_range("weight_decay value", weight_decay, weight_decay >= 0.0)
        super().__init__(
            params,
            {
                "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def _first_value(self, name: str, group: Group, p: Tensor) -> Any:
        return {"eta": group["lr"], "mu": 1.0}.get(name, 0.0)

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        step, eta, mu = (float(count) for count in counters)
        step, lr, lambd = step + 1, group["lr"], group["lambd"]
        sign, decay, _ = decays(group)
        next_eta = lr / (1 + lambd * lr * step) ** group["alpha"]
        return (sign, decay, 1 - lambd * eta, eta, mu), [step, next_eta, 1 / max(1.0, step - group["t0"])]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, shrink, eta, mu = numbers
        new = p * shrink - gradient_of(p, grad, sign, decay) * eta
        return [new, new if mu == 1 else states[0] + (new - states[0]) * mu]
