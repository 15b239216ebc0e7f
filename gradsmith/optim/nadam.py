"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of, shrunk
from gradsmith.optim.optimizer import Group, require_betas, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["NAdam"]


class NAdam(ElementwiseOptimizer):
    """NAdam: Adam with Nesterov's momentum.

    With the gradient g, to which ``weight_decay * p`` has been added, in step t::

        mu, mu_next = beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay)), the same of t + 1
        mu_product = mu_product * mu
        exp_avg = exp_avg * beta1 + g * (1 - beta1)
        exp_avg_sq = exp_avg_sq * beta2 + g * g * (1 - beta2)
        scale = sqrt(exp_avg_sq * (1 / (1 - beta2**t))) + eps
        change = g * (lr * (1 - mu) / (1 - mu_product)) + exp_avg * (lr * mu_next / (1 - mu_product * mu_next))
        p = p - change / scale

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.002
    betas : (float, float), default (0.9, 0.999)
    eps : float, default 1e-8
    weight_decay : float, default 0
    momentum_decay : float, default 0.004
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
    Dozat: Incorporating Nesterov momentum into Adam, 2016.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.NAdam([w], lr=0.5)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.4718, -1.4718], requires_grad=True)
    """

    _rule = UpdateRule(
        "nadam",
        settings=("lr", "betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay", "maximize"),
        counters=("step", "mu_product"),
        states=("exp_avg", "exp_avg_sq"),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        require_range("momentum_decay value", momentum_decay, momentum_decay >= 0.0)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
                "capturable": capturable, "differentiable": differentiable,
            },
        )  # fmt: skip

    def _first_value(self, name: str, group: Group, p: Tensor) -> Any:
        return 1.0 if name == "mu_product" else 0.0

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        step, lr, psi = float(counters[0] + 1), group["lr"], group["momentum_decay"]
        beta1, beta2 = group["betas"]
        mu, mu_next = (beta1 * (1.0 - 0.5 * 0.96 ** (t * psi)) for t in (step, step + 1))
        product = float(counters[1] * type(counters[1])(mu))
        rates = lr * (1.0 - mu) / (1.0 - product), lr * mu_next / (1.0 - product * mu_next)
        decay = decays(group, group["decoupled_weight_decay"])
        return (*decay, beta1, beta2, group["eps"], 1 / (1 - beta2**step), *rates), [step, product]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, shrink, beta1, beta2, eps, scale, rate_of_grad, rate = numbers
        grad = gradient_of(p, grad, sign, decay)
        mean = states[0] * beta1 + grad * (1 - beta1)
        square = states[1] * beta2 + grad * grad * (1 - beta2)
        change = (grad * rate_of_grad + mean * rate) / ((square * scale).sqrt() + eps)
        return [shrunk(p, shrink) - change, mean, square]
