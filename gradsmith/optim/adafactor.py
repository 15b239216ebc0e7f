"""Adafactor: Adam in little memory."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.optimizer import Closure, Group, Optimizer, calls_closure_first, counter, loss_of, require_rate
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.runtime.tensors.factories.creation import tensor, zeros_like

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adafactor: the mean squares of a matrix of gradients are kept as the product of a column and a row.

    With the gradient g of shape (..., n, m), in step t::

        rest = t ** beta2_decay
        row_var = row_var + (mean of g * g over m - row_var) * rest
        col_var = col_var + (mean of g * g over n - col_var) * rest
        variance = row_var @ col_var / max(mean of row_var over n, eps1)
        update = g / sqrt(max(variance, eps1 * eps1))
        rate = max(eps2, rms(p)) * min(lr, 1 / sqrt(t))
        p = p * (1 - lr * weight_decay) - update * (rate / max(1, rms(update) / d))

    Vectors keep all mean squares (``variance``).

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.01
    beta2_decay : float, default -0.8
    eps : (float or None, float), default (None, 0.001)
        eps1, by default that of the dtype, and eps2.
    d : float, default 1
        The greatest root mean square of an update.
    weight_decay : float, default 0
    foreach : bool, optional
        Accepted.
    maximize : bool, default False

    Raises
    ------
    ValueError
        A setting is outside of its range.

    References
    ----------
    Shazeer and Stern: Adafactor, adaptive learning rates with sublinear memory cost, 2018.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.ones(2, 2).requires_grad_()
    >>> optimizer = gs.optim.Adafactor([w], lr=0.5)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        require_rate(lr)
        _require(beta2_decay <= 0.0, "beta2_decay should be <= 0", beta2_decay)
        _require(eps[0] is None or eps[0] >= 0.0, "epsilon1 should be >= 0", eps[0])
        _require(eps[1] >= 0.0, "epsilon2 should be >= 0", eps[1])
        _require(d >= 1.0, "Clipping threshold d should be >= 1", d)
        _require(weight_decay >= 0.0, "weight_decay should be >= 0", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
                "foreach": foreach, "maximize": maximize,
            },
        )  # fmt: skip

    @no_grad()
    @calls_closure_first
    def step(self, closure: Closure | None = None) -> Any:
        """Update all parameters that have a gradient; see `Optimizer.step`.

        Raises
        ------
        RuntimeError
            A parameter is complex, or a gradient sparse. Nothing has been changed then.
        """
        loss = loss_of(closure)
        updates = [
            self._update(group, p, p.grad) for group in self.param_groups for p in group["params"] if p.grad is not None
        ]
        for p, value, state in updates:
            p.copy_(value)
            self.state[p].update(state)
        return loss

    def _update(self, group: Group, p: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if grad.is_sparse:
            raise RuntimeError("Adafactor does not support sparse gradients")
        grad = -grad if group["maximize"] else grad
        old = self.state[p] or self._new_state(grad)
        lr, step = float(group["lr"]), float(old["step"]) + 1
        eps1 = finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0]
        new, variance = _variance(old, grad, step ** group["beta2_decay"], eps1)
        update = grad / variance.clamp(min=eps1 * eps1).sqrt()
        rate = max(group["eps"][1], _rms(p)) * min(lr, step**-0.5) / max(1.0, _rms(update) / group["d"])
        kept = p * (1 - lr * group["weight_decay"]) if group["weight_decay"] != 0 else p
        return p, kept - update * rate, {"step": tensor(step, dtype=old["step"].dtype), **new}

    def _new_state(self, grad: Tensor) -> dict[str, Tensor]:
        if grad.ndim < 2:
            return {"step": counter(0.0), "variance": zeros_like(grad)}
        *batch, n, m = grad.shape
        return {
            "step": counter(0.0),
            "row_var": grad.new_zeros((*batch, n, 1)),
            "col_var": grad.new_zeros((*batch, 1, m)),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for kept in self.state.values():
            if isinstance(kept.get("step"), (int, float)):
                kept["step"] = counter(float(kept["step"]))


def _variance(old: dict[str, Tensor], grad: Tensor, rest: float, eps: float) -> tuple[dict[str, Tensor], Tensor]:
    """The new states, and the mean square of each element of the gradient."""
    square = grad * grad
    if grad.ndim < 2:
        variance = old["variance"] + (square - old["variance"]) * rest
        return {"variance": variance}, variance
    row = old["row_var"] + (square.mean(-1, keepdim=True) - old["row_var"]) * rest
    column = old["col_var"] + (square.mean(-2, keepdim=True) - old["col_var"]) * rest
    return {"row_var": row, "col_var": column}, row @ column / row.mean(-2, keepdim=True).clamp(min=eps)


def _rms(x: Tensor) -> float:
    norm: float = x.norm(2).item()
    return norm / math.sqrt(max(x.numel(), 1))


def _require(is_valid: bool, what: str, value: Any) -> None:
    if not is_valid:
        raise ValueError(f"{what} but is: {value}")
