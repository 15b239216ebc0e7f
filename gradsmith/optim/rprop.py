"""Rprop: steps by the signs of gradients alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, gradient_of
from gradsmith.optim.optimizer import Group, require_rate
from gradsmith.runtime.optim.updates import UpdateRule
from gradsmith.runtime.tensors.factories.creation import ones_like

__all__ = ["Rprop"]


class Rprop(ElementwiseOptimizer):
    """Rprop: each element has a step size of its own, which grows while its gradient keeps its sign.

    With the gradient g::

        agreement = g * prev
        factor = etaplus where agreement > 0, etaminus where agreement < 0, otherwise 1
        step_size = clamp(step_size * factor, *step_sizes)
        prev = g, and 0 where agreement < 0
        p = p - sign(prev) * step_size

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.01
        The first step size.
    etas : (float, float), default (0.5, 1.2)
        etaminus and etaplus.
    step_sizes : (float, float), default (1e-6, 50)
        The least and the greatest.
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
    Riedmiller and Braun: A direct adaptive method for faster backpropagation learning, the RPROP algorithm, 1993.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.Rprop([w], lr=0.5)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.5000], requires_grad=True)
    """

    _rule = UpdateRule(
        "rprop",
        settings=("etas", "step_sizes", "maximize"),
        counters=("step",),
        states=("prev", "step_size"),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def _first_value(self, name: str, group: Group, p: Tensor) -> Any:
        return group["lr"] if name == "step_size" else 0.0

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        sign = -1.0 if group["maximize"] else 1.0
        return (sign, *group["etas"], *group["step_sizes"]), [float(counters[0] + 1)]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, shrink, grow, least, most = numbers
        grad = gradient_of(p, grad, sign, 0.0)
        agreement = grad * states[0]
        grows, shrinks = agreement > 0, agreement < 0
        factor = ones_like(agreement).masked_fill(grows, grow).masked_fill(shrinks, shrink)
        step = (states[1] * factor).clamp(least, most)
        used = grad.masked_fill(shrinks, 0.0)
        return [p - used.sign() * step, used, step]
