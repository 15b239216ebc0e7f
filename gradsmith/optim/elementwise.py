"""Optimizers whose rule goes element by element: a compiled loop, and the same as a formula of ops.

The loops serve float32, float64 and complex parameters in any layout. The formula serves the rest (float16, mixed
dtypes, meta tensors, tangents), is what a differentiable step records, and says what the loop computes, in which order:
both give the same bits.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from gradsmith.generated.tensor import Tensor
from gradsmith.optim.optimizer import Closure, Group, Optimizer, calls_closure_first, counter, loss_of
from gradsmith.runtime.arrays.dtypes import float16, float32
from gradsmith.runtime.optim.updates import UpdateRule, step
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.factories.creation import full_like, tensor, zeros_like

# Settings that dictionaries of older versions of PyTorch lack, for optimizers that have them.
SINCE = {
    "amsgrad": False, "capturable": False, "centered": False, "decoupled_weight_decay": False, "differentiable": False,
    "foreach": None, "fused": None, "maximize": False, "momentum": 0, "nesterov": False,
}  # fmt: skip


class ElementwiseOptimizer(Optimizer):
    """Base class of the optimizers that have an `UpdateRule`.

    A subclass defines `_rule`, `_numbers` and `_formula`, and `_first_value` where states do not begin with zeros.
    """

    _rule: ClassVar[UpdateRule]

    @calls_closure_first
    def step(self, closure: Closure | None = None) -> Any:
        """Update all parameters that have a gradient, in one compiled call.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss and its gradients again, and returns the loss.

        Returns
        -------
        What `closure` returned; None without one.

        Raises
        ------
        RuntimeError
            A gradient or a state does not have the shape of its parameter, or is sparse where the rule is not. Nothing
            has been changed then.
        """
        loss = None if closure is None else loss_of(closure)
        if self.defaults.get("differentiable"):
            with enable_grad():
                self._recorded_step()
        else:
            step(self, self._rule)
        return loss

    # ---- what a rule consists of

    def _numbers(self, group: Group, counters: list[Any], is_new: bool) -> tuple[tuple[Any, ...], list[Any]]:
        """The numbers of the formula for one step, and the counters after it."""
        raise NotImplementedError

    def _formula(self, p: Tensor, grad: Tensor, states: list[Any], numbers: tuple[Any, ...]) -> list[Any]:
        """The parameter after the step, and its states."""
        raise NotImplementedError

    def _first_value(self, name: str, group: Group, p: Tensor) -> Any:
        """Initial value of each element of a state, or of a counter."""
        return 0.0

    def _new_state(self, group: Group, p: Tensor) -> dict[str, Tensor]:
        state = {name: counter(number_of(self._first_value(name, group, p))) for name in self._rule.counters}
        for name in self._rule.states_in(group):
            if name is not None:
                state[name] = filled_like(p, number_of(self._first_value(name, group, p)))
        return state

    # ---- the formula instead of the loop

    def _changes(
        self, group: Group, p: Tensor, grad: Tensor, counters: list[Tensor], states: list[Any], is_new: bool
    ) -> list[tuple[Any, ...]]:
        """New values of a step, for parameters that the compiled loop does not handle."""
        if grad.is_sparse:
            return self._changes_of_rows(group, p, grad, counters, states, is_new)
        settings = {key: plain(value) for key, value in group.items() if key != "params"}
        values = self._computed(settings, p, grad, counters, states, is_new)
        return list(zip([p, *counters, *(state for state in states if state is not None)], values))

    def _computed(
        self, group: Group, p: Tensor, grad: Tensor, counters: list[Tensor], states: list[Any], is_new: bool
    ) -> list[Tensor]:
        numbers, counted = self._numbers(group, [rounding(c)(c.item()) for c in counters], is_new)
        of_states = [None if state is None else as_real(state, p) for state in states]
        results = self._formula(as_real(p, p), as_real(grad, p), of_states, numbers)
        counted = [c.detach().item() if isinstance(c, Tensor) else c for c in counted]
        return [
            as_stored(results[0], p),
            *(tensor(value, dtype=old.dtype) for value, old in zip(counted, counters)),
            *(as_stored(new, old) for new, old in zip(results[1:], states) if old is not None),
        ]

    def _recorded_step(self) -> None:
        """Through which gradients flow, to the parameters, gradients, states and settings from before it."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._recorded_update(group, p, p.grad)

    def _recorded_update(self, group: Group, p: Tensor, grad: Tensor) -> None:
        names = self._rule.states_in(group)
        wanted = [*self._rule.counters, *(name for name in names if name is not None)]
        old = self.state[p] if wanted else {}
        missing = [name for name in wanted if old.get(name) is None]
        state = {**(self._new_state(group, p) if missing else {}), **{k: v for k, v in old.items() if v is not None}}
        counters = [state[name] for name in self._rule.counters]
        states = [None if name is None else state[name] for name in names]
        is_new = any(name in missing for name in names)
        grad = grad.to_dense() if grad.is_sparse else grad
        values = self._computed(group, p.clone(), grad, counters, states, is_new)  # the graph keeps what it was
        p.copy_(values[0])
        old.update(zip(wanted, values[1:]))

    # ---- indexed gradients

    def _takes_rows(self, group: Group) -> bool:
        """May the gradient be indexed? False makes an ordinary one of it."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def _changes_of_rows(
        self, group: Group, p: Tensor, grad: Tensor, counters: list[Tensor], states: list[Any], is_new: bool
    ) -> list[tuple[Any, ...]]:
        """Tensors, the indices of rows to write, and the rows: the formula for those rows alone."""
        settings = {key: plain(value) for key, value in group.items() if key != "params"}
        rows = grad.coalesce()
        indices = rows.indices()[0]
        of_states = [None if state is None else state[indices] for state in states]
        values = self._computed(settings, p[indices], rows.values(), counters, of_states, is_new)
        count = len(counters)
        targets = [p, *(state for state in states if state is not None)]
        changed = [(target, value, indices) for target, value in zip(targets, [values[0], *values[1 + count :]])]
        return [*zip(counters, values[1 : 1 + count]), *changed]

    @staticmethod
    def _write(changes: list[tuple[Any, ...]]) -> None:
        for target, value, *indices in changes:
            if indices:
                target.index_copy_(0, indices[0], value)
            else:
                target.copy_(value)

    def _counts(self, name: Any) -> bool:
        return name in self._rule.counters

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in SINCE.items():
                if name in self.defaults:
                    group.setdefault(name, value)
        for kept in self.state.values():
            for name in self._rule.counters:
                if isinstance(kept.get(name), (int, float)):
                    kept[name] = counter(float(kept[name]))


# ---- parts of formulas


def gradient_of(p: Tensor, grad: Tensor, sign: float, decay: Any) -> Tensor:
    """As the rule sees it: turned around where the objective is maximized, and with the weight decay."""
    grad = -grad if sign < 0 else grad
    return grad if is_zero(decay) else grad + p * decay


def shrunk(p: Tensor, factor: Any) -> Tensor:
    return p if not isinstance(factor, Tensor) and factor == 1 else p * factor


def decays(group: Group, is_decoupled: bool = False) -> tuple[float, Any, Any]:
    """The sign of the gradient, the weight decay that is added to it, and the factor of a decoupled one."""
    decay = group["weight_decay"]
    shrinks = is_decoupled and not is_zero(decay)
    factor = 1 - group["lr"] * decay if shrinks else 1.0
    return -1.0 if group["maximize"] else 1.0, 0.0 if is_decoupled else decay, factor


def is_zero(number: Any) -> bool:
    return not isinstance(number, Tensor) and number == 0


def root(number: Any) -> Any:
    return number.sqrt() if isinstance(number, Tensor) else math.sqrt(number)


# ---- tensors and numbers


def plain(value: Any) -> Any:
    """A setting whose tensors have become numbers."""
    if isinstance(value, (tuple, list)):
        return tuple(plain(item) for item in value)
    return value.item() if isinstance(value, Tensor) else value


def number_of(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def rounding(count: Tensor) -> Any:
    """The type of numbers that a counter can hold, from whose arithmetic it so never differs."""
    return count.dtype.type


def filled_like(p: Tensor, number: float) -> Tensor:
    if number == 0:
        return zeros_like(p)
    return full_like(p, complex(number, number) if p.is_complex() else number)


def as_real(x: Tensor, p: Tensor) -> Tensor:
    """Operand of a formula: complex numbers as pairs, float16 widened and rounded once at the end."""
    if p.is_complex():
        from gradsmith.generated.complex_numbers import view_as_real

        return view_as_real(x.to(p.dtype))
    return x.to(float32) if x.dtype == float16 else x


def as_stored(x: Tensor, like: Tensor) -> Tensor:
    if like.is_complex():
        from gradsmith.generated.complex_numbers import view_as_complex

        return view_as_complex(x.contiguous()).to(like.dtype)
    return x.to(like.dtype)
