"""Adam, and AdamW: the same with a weight decay that is no part of the gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.elementwise import ElementwiseOptimizer, decays, gradient_of, root, shrunk
from gradsmith.optim.optimizer import Group, require_betas, require_one_form, require_range, require_rate
from gradsmith.runtime.optim.updates import UpdateRule

__all__ = ["Adam", "AdamW"]


class Adam(ElementwiseOptimizer):
    """Adam: steps in units of how large gradients have been.

    With the gradient g, to which ``weight_decay * p`` has been added, in step t::

        exp_avg = exp_avg * beta1 + g * (1 - beta1)
        exp_avg_sq = exp_avg_sq * beta2 + g * g * (1 - beta2)
        scale = sqrt(exp_avg_sq) * (1 / sqrt(1 - beta2**t)) + eps
        p = p - exp_avg / scale * (lr / (1 - beta1**t))

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.001
    betas : (float, float), default (0.9, 0.999)
        How much the averages of gradients and of their squares keep; two floats or two tensors of one element.
    eps : float, default 1e-8
    weight_decay : float, default 0
    amsgrad : bool, default False
        Take the greatest ``exp_avg_sq`` so far for the scale (``max_exp_avg_sq``).
    foreach, fused, capturable : bool, optional
        Accepted; every step is fused.
    maximize : bool, default False
    differentiable : bool, default False
        Record the step, so that gradients flow through it.
    decoupled_weight_decay : bool, default False
        Instead of adding to the gradient, multiply p by ``1 - lr * weight_decay`` before the step, as `AdamW` does.

    Raises
    ------
    ValueError
        A setting is outside of its range.

    References
    ----------
    Kingma and Ba: Adam, a method for stochastic optimization, 2014. Reddi, Kale and Kumar: On the convergence of Adam
    and beyond, 2018. Loshchilov and Hutter: Decoupled weight decay regularization, 2017.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = gs.optim.Adam([w], lr=0.5)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.5000], requires_grad=True)
    """

    _rule = UpdateRule(
        "adam",
        settings=("lr", "betas", "eps", "weight_decay", "decoupled_weight_decay", "maximize"),
        counters=("step",),
        states=("exp_avg", "exp_avg_sq", ("max_exp_avg_sq", "amsgrad")),
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        require_rate(lr)
        require_range("epsilon value", eps, eps >= 0.0)
        require_betas(betas)
        require_range("weight_decay value", weight_decay, weight_decay >= 0.0)
        _require_alike(betas, bool(foreach and not capturable))
        require_one_form(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
                "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
                "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
            },
        )  # fmt: skip

    def _takes_rows(self, group: Group) -> bool:
        raise RuntimeError(
            f"{type(self).__name__} does not support sparse gradients, please consider SparseAdam instead"
        )

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        step = float(counters[0] + 1)
        beta1, beta2 = group["betas"]
        scale, rate = 1 / root(1 - beta2**step), group["lr"] / (1 - beta1**step)
        decay = decays(group, group["decoupled_weight_decay"])
        return (*decay, beta1, beta2, group["eps"], scale, rate), [step]

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        sign, decay, shrink, beta1, beta2, eps, scale, rate = numbers
        grad = gradient_of(p, grad, sign, decay)
        mean = states[0] * beta1 + grad * (1 - beta1)
        square = states[1] * beta2 + grad * grad * (1 - beta2)
        largest = square if states[2] is None else states[2].maximum(square)
        size = largest.sqrt() * scale + eps
        return [shrunk(p, shrink) - mean / size * rate, mean, square, largest]


class AdamW(Adam):
    """Adam with a weight decay apart from the gradient: p is multiplied by ``1 - lr * weight_decay`` before each step.

    Parameters
    ----------
    params, lr, betas, eps, amsgrad, maximize, foreach, capturable, differentiable, fused
        See `Adam`.
    weight_decay : float, default 0.01

    References
    ----------
    Loshchilov and Hutter: Decoupled weight decay regularization, 2017.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([1.0], requires_grad=True)
    >>> optimizer = gs.optim.AdamW([w], lr=0.1, weight_decay=0.5)
    >>> w.grad = gs.zeros(1)
    >>> optimizer.step()
    >>> w
    tensor([0.9500], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def _require_alike(betas: Any, is_foreach: bool) -> None:
    kinds = {isinstance(beta, Tensor) for beta in betas}
    if len(kinds) > 1 or not all(isinstance(beta, (float, Tensor)) for beta in betas):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if isinstance(beta, Tensor) and is_foreach:
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")
