"""The optimizer `LBFGS`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsmith.generated.complex_numbers import view_as_real
from gradsmith.generated.joining import cat
from gradsmith.generated.tensor import Tensor
from gradsmith.optim.lbfgs.line_search import Point, strong_wolfe
from gradsmith.optim.optimizer import Optimizer, loss_of, require_rate
from gradsmith.runtime.switches.grad_mode import no_grad

__all__ = ["LBFGS"]

LEAST_CURVATURE = 1e-10  # of a pair of a step and the change of the gradient that is remembered


class LBFGS(Optimizer):
    """L-BFGS: steps along the inverse of an approximate Hessian, made of the last steps and changes of the gradient.

    Each `step` is a run of up to `max_iter` iterations.

    Parameters
    ----------
    params : iterable
        One group of tensors.
    lr : float or Tensor, default 1
        Length of the first step that is tried, in units of the direction.
    max_iter : int, default 20
        Iterations per `step`.
    max_eval : int, optional
        Evaluations of the closure per `step`; ``max_iter * 1.25`` by default.
    tolerance_grad : float, default 1e-7
        End when no element of the gradient is greater.
    tolerance_change : float, default 1e-9
        End when neither the loss nor a parameter changes by more.
    history_size : int, default 100
        Steps that are remembered.
    line_search_fn : {None, "strong_wolfe"}
        Without one, each step has the length `lr`.

    Raises
    ------
    ValueError
        A setting is outside of its range, or there is more than one group.
    RuntimeError
        Another line search is asked for.

    References
    ----------
    Nocedal and Wright: Numerical optimization, 2006, chapter 7.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.tensor([-1.0, 2.0], dtype=gs.float64, requires_grad=True)
    >>> optimizer = gs.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
    ...     loss.backward()
    ...     return loss
    >>> for _ in range(3):
    ...     _ = optimizer.step(closure)
    >>> w
    tensor([1.0000, 1.0000], dtype=gradsmith.float64, requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        require_rate(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(
            params,
            {
                "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn,
            },
        )  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @no_grad()
    def step(self, closure: Any = None) -> Any:
        """Run some iterations.

        Parameters
        ----------
        closure : callable
            Clears the gradients, computes the loss and its gradients, and returns the loss.

        Returns
        -------
        The loss before the step, as `closure` returned it.
        """
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure, which computes the loss and its gradients again")
        if self.param_groups[0]["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        return _Run(self, closure).finish()


class _Run:
    """One `step`: the settings, what is remembered from before, and where the run is now."""

    def __init__(self, optimizer: LBFGS, closure: Any) -> None:
        group = optimizer.param_groups[0]
        self.settings = group
        self.closure = closure
        self.params: list[Tensor] = group["params"]
        self.state = optimizer.state[self.params[0]]
        self.rate = float(group["lr"])
        self.evaluations = 0
        for name in ("func_evals", "n_iter"):
            self.state.setdefault(name, 0)

    def finish(self) -> Any:
        first_loss = self.evaluate()
        if self.is_at_minimum():
            return first_loss
        for iteration in range(1, self.settings["max_iter"] + 1):
            if self.iterate(is_last=iteration == self.settings["max_iter"]):
                break
        return first_loss

    def evaluate(self) -> Any:
        loss = loss_of(self.closure)
        self.loss, self.grad = float(loss), self.flat_gradient()
        self.count(1)
        return loss

    def count(self, evaluations: int) -> None:
        self.evaluations += evaluations
        self.state["func_evals"] += evaluations

    def is_at_minimum(self) -> bool:
        return bool(self.grad.abs().max().item() <= self.settings["tolerance_grad"])

    def iterate(self, is_last: bool) -> bool:
        """One iteration; was it the last one?"""
        state, tolerance = self.state, self.settings["tolerance_change"]
        state["n_iter"] += 1
        t = self.rate
        if state["n_iter"] == 1:
            state.update(d=-self.grad, old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            t *= min(1.0, 1.0 / self.grad.abs().sum().item())
        else:
            self.remember()
            state["d"] = self.direction()
        state.update(prev_flat_grad=self.grad.clone(), prev_loss=self.loss, t=t)
        slope = self.grad.dot(state["d"]).item()
        if slope > -tolerance:
            return True
        self.move(slope, is_last)
        if is_last or self.evaluations >= self.settings["max_eval"] or self.is_at_minimum():
            return True
        reach = (state["d"] * state["t"]).abs().max().item()
        return bool(reach <= tolerance or abs(self.loss - state["prev_loss"]) < tolerance)

    def remember(self) -> None:
        """The last step and the change of the gradient along it, unless there the loss was not convex."""
        state = self.state
        change, step = self.grad - state["prev_flat_grad"], state["d"] * state["t"]
        curvature = change.dot(step).item()
        if curvature <= LEAST_CURVATURE:
            return
        for name, value in (("old_dirs", change), ("old_stps", step), ("ro", 1.0 / curvature)):
            kept = state[name]
            if len(kept) >= self.settings["history_size"]:
                kept.pop(0)
            kept.append(value)
        state["H_diag"] = curvature / change.dot(change).item()

    def direction(self) -> Tensor:
        """Minus the approximate inverse Hessian times the gradient, in two loops over what is remembered."""
        state = self.state
        pairs = [(y, s, float(r)) for y, s, r in zip(state["old_dirs"], state["old_stps"], state["ro"])]
        d, weights = -self.grad, []
        for change, step, inverse in reversed(pairs):
            weights.append(step.dot(d).item() * inverse)
            d.add_(change, alpha=-weights[-1])
        d.mul_(float(state["H_diag"]))
        for (change, step, inverse), weight in zip(pairs, reversed(weights)):
            d.add_(step, alpha=weight - change.dot(d).item() * inverse)
        return d

    def move(self, slope: float, is_last: bool) -> None:
        """Go along the direction: by a line search, or by the length that is set."""
        if self.settings["line_search_fn"] is None:
            self.add(self.state["t"])
            if not is_last:  # nobody would look at the loss
                self.evaluate()
            return
        old = [p.clone() for p in self.params]
        start = Point(0.0, self.loss, self.grad, slope)
        reach = self.state["d"].abs().max().item()
        most = self.settings["max_eval"] - self.evaluations
        found, count = strong_wolfe(
            lambda t: self.point_at(t, old), start, self.state["t"], reach, self.settings["tolerance_change"], most
        )
        self.count(count)
        self.loss, self.grad, self.state["t"] = found.loss, found.grad, found.t
        self.add(found.t)

    def point_at(self, t: float, old: list[Tensor]) -> Point:
        try:
            self.add(t)
            loss = float(loss_of(self.closure))
            grad = self.flat_gradient()
        finally:
            for p, value in zip(self.params, old):
                p.copy_(value)
        return Point(t, loss, grad, grad.dot(self.state["d"]).item())

    # ---- all parameters as one vector

    def flat_gradient(self) -> Tensor:
        parts = []
        for p in self.params:
            grad = p.new_zeros(p.shape) if p.grad is None else p.grad.to_dense()
            parts.append((view_as_real(grad) if grad.is_complex() else grad).reshape(-1))
        return cat(parts)

    def add(self, t: float) -> None:
        offset = 0
        for p in self.params:
            target = view_as_real(p) if p.is_complex() else p
            target.add_(self.state["d"][offset : offset + target.numel()].view(target.shape), alpha=t)
            offset += target.numel()
