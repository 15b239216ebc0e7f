"""Loops that a trace holds as one step, whose body is a program of its own.

Note [Loops traced once]
A scan of many steps is not traced step by step. One step is traced, and planned as a program; the loop is one step of
the trace around it, which runs that program as often as there are steps, without Python where it needs none.

Its gradient is a loop of the same kind. It goes through the rows the other way; its state are the cotangents of the
state and the sums of the gradients of constants; among its rows are the states of the first loop, which that one then
keeps; and its step computes the step once more, and the gradient of that (pulled.py). So it has a gradient of the same
kind again. A backward that is not recorded computes nothing twice: the first loop also stacks what the backward reads
on the way, and a value that is `given` is an input of its program in the place of the ops that made it. Tangents are a
loop beside the first one (pushed.py), and a `vmap` of a loop is a loop of steps that are mapped (mapped.py).

    state ──> [ step ] ──> [ step ] ──> [ step ] ──>        rows, constants ──> each step ──> results
                 │ states     │            │
    cotangents <─ [ pulled ] <─ [ pulled ] <─ [ pulled ] <──

The engine adds gradients in the order of eager within a step, and from step to step: what a backward would add to
before the step's own gradients is where the sum of these begins. What is used after the loop as well is added to
another sum, as for any node of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradsmith.autograd.function import Function
from gradsmith.control_flow.repeating.links import Links
from gradsmith.runtime.batching.batch import is_batched_tensor, level_of, trace_of_thread
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.switches.grad_mode import is_grad_enabled

Tensors = Sequence[Any]
Work = Callable[[list[Any]], list[Any]]


class Untraceable(Exception):
    """A loop has to be traced step by step."""


@dataclass(frozen=True)
class Shape:
    """What a run of a loop is given, and gives.

    Operands are the tensors of the state, columns of rows, and constants; results are the state, stacked results, and,
    if it `keeps` them, the states before each step, in the order of the rows.
    """

    n_state: int
    n_rows: int
    n: int
    reverse: bool
    n_next: int  # tensors of the state after the loop: others than before are possible for a single step
    keeps: bool = False


@dataclass(frozen=True)
class Mark:
    """A value that a step makes on the way: the result of the op of this number and name."""

    number: int
    name: str


@dataclass(frozen=True)
class Loop:
    """A loop whose step is traced once.

    Attributes
    ----------
    work : callable
        From the tensors of a state, of a row, and constants to those of the next state and of results.
    needs_grad : tuple of bool
        Which tensors of the state have gradients on the way, whether or not the first ones require grad.
    twins : tuple of (int, int)
        Results that are a part of the next state themselves: number of the result, and of the part.
    is_own : bool
        Is the step the user's?
    leaves : tuple of Tensor
        Tensors that require grad and that the step reads without being given them. They are the last of the constants.
    made : tuple of Mark
        What a backward reads of each step, besides the state: stacked with the results if the loop keeps its states.
    given : tuple of Mark
        The same in the backward: its last rows.
    bodies : dict
        Programs of the step, by the layouts of what it is given.
    links : Links or None
        Which results of a step of the user's have a gradient of which operands, where that is known.
    n_inside : int
        Of the user's steps in each step of this loop.
    """

    work: Work
    shape: Shape
    needs_grad: tuple[bool, ...]
    twins: tuple[tuple[int, int], ...] = ()
    is_own: bool = False
    leaves: tuple[Any, ...] = ()
    made: tuple[Mark, ...] = ()
    given: tuple[Mark, ...] = ()
    bodies: dict[Any, Any] = field(default_factory=dict)
    links: Links | None = None
    n_inside: int = 1

    def values(self, tensors: Tensors) -> list[Any]:
        """The values that stand for these tensors in the traced run."""
        return list(map(value_of, tensors))

    def examples(self, tensors: Tensors) -> list[Any]:
        """What the first step is given."""
        shape, found = self.shape, []
        for number, tensor in enumerate(tensors):
            array = array_behind(value_of(tensor))
            if number < shape.n_state:
                array = array.copy("C")
            elif number < shape.n_state + shape.n_rows:
                array = array[-1 if shape.reverse else 0, ...]
            found.append(from_array(array))
        return found

    def body(self, tensors: Tensors) -> Any:
        """The program of one step."""
        examples = self.examples(tensors)
        arrays = [array_behind(one) for one in examples]
        made = self.made if self.shape.keeps else ()
        key = (made, *[(array.dtype, array.shape, array.strides) for array in arrays])
        if key not in self.bodies:
            requires_grad = self._requires_grad(tensors) if self.is_own and is_grad_enabled() else None
            first_given = self.shape.n_state + self.shape.n_rows - len(self.given)
            self.bodies[key] = trace_of_thread().planner.body(
                self.work, examples, self.is_own, requires_grad, made, self.given, first_given, self.leaves
            )
        return self.bodies[key]

    @property
    def n_extra(self) -> int:
        """Results that only a backward reads."""
        return len(self.made) if self.shape.keeps else 0

    @property
    def n_kept(self) -> int:
        return self.shape.n_state if self.shape.keeps else 0

    def _requires_grad(self, tensors: Tensors) -> list[bool]:
        """Of what each step is given, as eager records it: ops within a gradient depend on that."""
        return [*self.needs_grad, *[one.requires_grad for one in tensors[self.shape.n_state :]]]


def value_of(tensor: Any) -> Any:
    """What a tensor of the trace is in the traced run; something like it for the slices of a `vmap` inside."""
    if not is_batched_tensor(tensor):
        return tensor
    if level_of(tensor) is not trace_of_thread():
        return from_array(np.ones(tensor.shape, tensor.dtype))
    trace = trace_of_thread()
    return trace.values[trace.slot(tensor)]


@dataclass(frozen=True)
class Run:
    """What a program calls for a loop, which knows nothing of the trace that it was made in."""

    body: Any
    shape: Shape

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        return tuple(self.body.run(self.shape, tensors))

    @property
    def may_refuse_values(self) -> bool:
        return bool(self.body.may_refuse_values)

    @property
    def nbytes(self) -> int:
        """Memory of states and stacked results in a run."""
        states, stacks = self.body.models[: self.shape.n_next], self.body.models[self.shape.n_next :]
        rooms = self.shape.n + 1 if self.shape.keeps else 2
        return int(rooms * sum(model.nbytes for model in states) + self.shape.n * sum(one.nbytes for one in stacks))


class Looped(Function):
    """The results of a loop of these operands. See Note [Loops traced once]."""

    @staticmethod
    def forward(loop: Loop, *tensors: Any) -> tuple[Any, ...]:
        body = loop.body(tensors)
        operands = (*tensors, *body.captured)
        return tuple(trace_of_thread().call_of(Run(body, loop.shape), operands, "scan", has_effects=False))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        loop: Loop = inputs[0]
        ctx.loop, ctx.count, ctx.n_out = loop, len(inputs) - 1, len(output) - loop.n_extra - loop.n_kept
        ctx.set_materialize_grads(False)
        extra = output[ctx.n_out : ctx.n_out + loop.n_extra]
        kept = output[ctx.n_out + loop.n_extra :]
        ctx.mark_non_differentiable(*extra)
        ctx.save_for_backward(*inputs[1 + loop.shape.n_state :], *kept, *extra)
        ctx.save_for_forward(*inputs[1:], *kept)
        n = loop.shape.n * loop.n_inside
        ctx.links = None if loop.links is None else loop.links.after(n, loop.n_extra, loop.shape.keeps)
        ctx.versions = [(one, one._version) for one in loop.body(inputs[1:]).captured]

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        from gradsmith.control_flow.repeating.pulled import gradients_of_loop

        loop: Loop = ctx.loop
        saved, first = ctx.saved_tensors, ctx.count - loop.shape.n_state
        states, extra = saved[first : first + loop.n_kept], saved[first + loop.n_kept :]
        given, cotangents = cotangents, (*cotangents[: ctx.n_out], *cotangents[ctx.n_out + loop.n_extra :])
        operands, needed = saved[:first], ctx.needs_input_grad[1:]
        found = gradients_of_loop(loop, operands, states, extra, cotangents, needed, ctx.versions)
        if ctx.links is None:
            return (None, *found)
        reached = frozenset().union(*[of for of, one in zip(ctx.links, given) if one is not None])
        return (None, *[one if place in reached else None for place, one in enumerate(found)])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Any, ...]:
        from gradsmith.control_flow.repeating.pushed import tangents_of_loop

        saved = ctx.saved_tensors
        found = tangents_of_loop(ctx.loop, saved[: ctx.count], saved[ctx.count :], tangents[1:])
        return (*found[: ctx.n_out], *[None] * ctx.loop.n_extra, *found[ctx.n_out :])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], loop: Loop, *tensors: Any) -> Any:
        from gradsmith.control_flow.repeating.mapped import mapped_loop

        loop, given = mapped_loop(loop, info, in_dims[1:], tensors)
        found = Looped.apply(loop, *given)
        n_next = loop.shape.n_next
        return found, tuple([0 if number < n_next else 1 for number in range(len(found))])


def looped(loop: Loop, operands: Tensors) -> list[Any]:
    """The state after a loop, and its stacked results. Derivatives find the states that they need."""
    records = is_grad_enabled() and any(one.requires_grad for one in operands)
    if not records and not any(map(all_tangents, operands)):
        return list(Looped.apply(loop, *operands))
    n_out = len(loop.body(operands).models)
    return list(Looped.apply(keeping(loop), *operands)[:n_out])


def keeping(loop: Loop) -> Loop:
    """The same loop, which keeps its states."""
    return replace(loop, shape=replace(loop.shape, keeps=True))
