"""Adam of the rows that an indexed gradient has."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.optimizer import (
    Closure,
    Group,
    Optimizer,
    calls_closure_first,
    loss_of,
    require_betas,
    require_range,
    require_rate,
)
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.runtime.tensors.factories.creation import zeros_like

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for tables of which few rows have a gradient: only those are changed, and only their averages.

    With the rows g of the gradient, in step t::

        exp_avg = exp_avg + (g - exp_avg) * (1 - beta1)
        exp_avg_sq = exp_avg_sq + (g * g - exp_avg_sq) * (1 - beta2)
        p = p - exp_avg / (sqrt(exp_avg_sq) + eps) * (lr * sqrt(1 - beta2**t) / (1 - beta1**t))

    Parameters
    ----------
    params : iterable
        See `Optimizer`.
    lr : float or Tensor, default 0.001
    betas : (float, float), default (0.9, 0.999)
    eps : float, default 1e-8
    maximize : bool, default False

    Raises
    ------
    ValueError
        A setting is outside of its range, or a parameter is complex.

    Examples
    --------
    >>> import gradsmith as gs
    >>> table = gs.zeros(4, 2).requires_grad_()
    >>> optimizer = gs.optim.SparseAdam([table], lr=0.5)
    >>> gs.nn.functional.embedding(gs.tensor([1, 3]), table, sparse=True).sum().backward()
    >>> optimizer.step()
    >>> table
    tensor([[ 0.0000,  0.0000],
            [-0.5000, -0.5000],
            [ 0.0000,  0.0000],
            [-0.5000, -0.5000]], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        require_rate(lr)
        require_range("learning rate", lr, lr > 0.0)
        require_range("epsilon value", eps, eps > 0.0)
        require_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [(i, j) for i, g in enumerate(self.param_groups) for j, p in enumerate(g["params"]) if p.is_complex()]
        if places:
            raise ValueError(
                f"Complex params at indices {[list(place) for place in places]}: SparseAdam does not support complex "
                "parameters"
            )

    @no_grad()
    @calls_closure_first
    def step(self, closure: Closure | None = None) -> Any:
        """Update the rows of all gradients; see `Optimizer.step`.

        Raises
        ------
        RuntimeError
            A gradient is not sparse. Nothing has been changed then.
        """
        loss = loss_of(closure)
        changes = [
            change
            for group in self.param_groups
            for p in group["params"]
            if p.grad is not None
            for change in self._changes(group, p, p.grad)
        ]
        for target, indices, rows in changes:
            target.index_copy_(0, indices, rows)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.state[p]["step"] += 1
        return loss

    def _changes(self, group: Group, p: Tensor, grad: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Tensors, the indices of rows to write, and the rows."""
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        state = self.state[p]
        if not state:
            state.update(step=0, exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
        coalesced = grad.coalesce()
        indices, rows = coalesced.indices()[0], coalesced.values()
        if not rows.numel():
            return []
        rows = -rows if group["maximize"] else rows
        step, (beta1, beta2) = int(state["step"]) + 1, group["betas"]
        old_mean, old_square = state["exp_avg"][indices], state["exp_avg_sq"][indices]
        mean = old_mean + (rows - old_mean) * (1 - beta1)
        square = old_square + (rows * rows - old_square) * (1 - beta2)
        rate = float(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        new = p[indices] - mean / (square.sqrt() + group["eps"]) * rate
        return [(p, indices, new), (state["exp_avg"], indices, mean), (state["exp_avg_sq"], indices, square)]
