"""Adagrad: steps in units of the root of the sum of squared gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of, is_zero
from gradsmith.optim.optimizer import Group, require_one_form, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["Adagrad"]


class Adagrad(ElementwiseOptimizer):
    """Adagrad: parameters whose gradients have been small so far take larger steps.

    With the gradient g, to which ``weight_decay * p`` has been added, in step t::

        sum = sum + g * g
        p = p - g / (sqrt(sum) + eps) * (lr / (1 + (t - 1) * lr_decay))

    Of an indexed gradient (`is_sparse`) the rows that it has are updated alone.

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.01
    lr_decay, weight_decay, initial_accumulator_value : float, default 0
        The last is what `sum` begins with.
    eps : float, default 1e-10
    fused : bool, optional
        Accepted.
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
    Duchi, Hazan and Singer: Adaptive subgradient methods for online learning and stochastic optimization, 2011.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.Adagrad([w], lr=0.5)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.5000], requires_grad=True)
    """

    _rule = UpdateRule(
        "adagrad",
        settings=("lr", "lr_decay", "eps", "weight_decay", "maximize"),
        counters=("step",),
        states=("sum",),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_rate(lr)
        require_range("lr_decay value", lr_decay, lr_decay >= 0.0)
        require_range("weight_decay value", weight_decay, weight_decay >= 0.0)
        require_range("initial_accumulator_value value", initial_accumulator_value, initial_accumulator_value >= 0.0)
        require_range("epsilon value", eps, eps >= 0.0)
        require_one_form(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable, "fused": fused,
            },
        )  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = self._new_state(group, p)

    def share_memory(self) -> None:
        """Nothing to do: threads share all memory."""

    def _first_value(self, name: str, group: Group, p: Tensor) -> Any:
        return self.defaults["initial_accumulator_value"] if name == "sum" else 0.0

    def _takes_rows(self, group: Group) -> bool:
        if not is_zero(group["weight_decay"]):
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        return True

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        step = float(counters[0] + 1)
        sign, decay, _ = decays(group)
        return (sign, decay, group["eps"], group["lr"] / (1 + (step - 1) * group["lr_decay"])), [step]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, eps, rate = numbers
        grad = gradient_of(p, grad, sign, decay)
        total = states[0] + grad * grad
        return [p - grad / (total.sqrt() + eps) * rate, total]
