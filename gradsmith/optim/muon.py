"""Muon: steps along matrices that are nearly orthogonal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.optimizer import Closure, Group, Optimizer, calls_closure_first, loss_of, require_rate
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.runtime.tensors.factories.creation import zeros_like

__all__ = ["Muon"]

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
MOST_STEPS = 100


class Muon(Optimizer):
    """Muon, for matrices: the momentum with its singular values brought near to one is the direction of a step.

    With the gradient g of shape (n, m)::

        buffer = buffer + (g - buffer) * (1 - momentum)
        x = buffer                                      nesterov: g + (buffer - g) * momentum
        x = x / max(norm(x), eps), and ns_steps times:
            gram = x @ x.T                              of the smaller of both sides
            x = a * x + (b * gram + c * gram @ gram) @ x
        p = p * (1 - lr * weight_decay) - x * (lr * sqrt(max(1, n / m)))

    It is computed in the dtype of the parameter, where PyTorch rounds the iteration to bfloat16.

    Parameters
    ----------
    params : iterable
        Of matrices; see `Optimizer`. Other parameters go to another optimizer.
    lr : float or Tensor, default 0.001
    weight_decay : float, default 0.1
        Decoupled, as in `AdamW`.
    momentum : float, default 0.95
    nesterov : bool, default True
    ns_coefficients : (float, float, float)
        a, b and c of the iteration.
    eps : float, default 1e-7
    ns_steps : int, default 5
    adjust_lr_fn : {None, "original", "match_rms_adamw"}
        With the last the factor of `lr` is ``0.2 * sqrt(max(n, m))``, so that steps are as large as those of `AdamW`.

    Raises
    ------
    ValueError
        A setting is outside of its range, or a parameter is no matrix.

    References
    ----------
    Jordan et al.: Muon, an optimizer for hidden layers in neural networks, 2024. Liu et al.: Muon is scalable for LLM
    training, 2025.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.eye(2).requires_grad_()
    >>> optimizer = gs.optim.Muon([w], lr=0.5, weight_decay=0.0, ns_steps=20, ns_coefficients=(1.5, -0.5, 0.0))
    >>> (w * gs.tensor([[3.0, 0.0], [0.0, 1.0]])).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([[0.5000, 0.0000],
            [0.0000, 0.5000]], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        require_rate(lr)
        if not momentum >= 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(
            params,
            {
                "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
                "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
            },
        )  # fmt: skip

    def _check_params(self, params: list[Any]) -> None:
        super()._check_params(params)
        for p in params:
            if p.ndim != 2:
                raise ValueError(
                    f"Muon only supports 2D parameters whereas we found a parameter with size: {list(p.shape)}"
                )

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
            (p, *self._update(group, p, p.grad))
            for group in self.param_groups
            for p in group["params"]
            if p.grad is not None
        ]
        for p, value, buffer in updates:
            p.copy_(value)
            self.state[p]["momentum_buffer"] = buffer
        return loss

    def _update(self, group: Group, p: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        if grad.is_sparse:
            raise RuntimeError("Muon does not support sparse gradients")
        lr, momentum = float(group["lr"]), group["momentum"]
        old = self.state[p].get("momentum_buffer") if p in self.state else None
        old = zeros_like(grad) if old is None else old
        buffer = old + (grad - old) * (1 - momentum)
        direction = orthogonalized(
            grad + (buffer - grad) * momentum if group["nesterov"] else buffer,
            group["ns_coefficients"],
            group["ns_steps"],
            group["eps"],
        )
        return p * (1 - lr * group["weight_decay"]) - direction * (lr * _factor(group["adjust_lr_fn"], p)), buffer


def orthogonalized(x: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """A matrix with the same singular vectors, whose singular values are near to one, by a Newton-Schulz iteration."""
    if steps >= MOST_STEPS:
        raise ValueError(f"Number of steps must be less than {MOST_STEPS} for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    if x.shape[0] > x.shape[1]:
        return orthogonalized(x.T, coefficients, steps, eps).T
    a, b, c = coefficients
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = x * a + (gram * b + gram @ gram * c) @ x
    return x


def _factor(function: str | None, p: Tensor) -> float:
    n, m = p.shape
    return 0.2 * math.sqrt(max(n, m)) if function == "match_rms_adamw" else math.sqrt(max(1, n / max(m, 1)))
