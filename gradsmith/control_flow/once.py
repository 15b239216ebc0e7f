"""Scans in a compiled function, traced once. See repeating/loop.py, Note [Loops traced once].

Note [Probes]
The first steps are traced one by one, as all of them would be. If they do the same, leave the variables around the
function as they were, and a program of one step does what they do, the loop takes their place, and they are dropped:
nothing reads them. Otherwise the remaining steps follow them, and nothing shows that anything else was tried. So a
function that counts its calls, keeps tensors, writes to memory that is not its own, draws random numbers or asks for a
value is traced as before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradsmith.control_flow.held import Held
from gradsmith.control_flow.lifting import Lifted
from gradsmith.control_flow.probes import Probe, Seen, leaves_of, probed
from gradsmith.control_flow.repeating.links import Links
from gradsmith.control_flow.repeating.loop import Loop, Shape, Untraceable, keeping, looped, value_of
from gradsmith.control_flow.repeating.pulled import with_marks
from gradsmith.control_flow.segmented import looped_in_segments
from gradsmith.control_flow.steps import Steps, Walk
from gradsmith.control_flow.trees import Tensors
from gradsmith.runtime.batching.batch import is_batched_tensor, trace_of_thread
from gradsmith.runtime.batching.levels import open_levels
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.switches.grad_mode import is_grad_enabled

FEWEST = 64  # steps; fewer are as fast traced one by one, and have the ops around them in one program with them
PROBED = 3  # the first one may differ: it begins with what others made


def ran_in_trace(
    steps: Steps,
    carry: Tensors,
    columns: Tensors,
    n: int,
    segment: int | None = None,
    f: Callable[..., Any] | None = None,
) -> list[Any]:
    """What ``steps.run`` gives, as a loop that is traced once if it can be.

    `f` is the function of each step, where that of `steps` does something beside it.
    """
    trace, f = trace_of_thread(), steps.f if f is None else f
    if n < FEWEST or trace is None or trace.planner is None or open_levels():
        return steps.run(carry, columns, n)
    walk, lifted = Walk(steps, carry, columns, n, PROBED), Lifted(f, _is_operand)
    probes, held = [], []
    for _ in range(PROBED):
        probes.append(probed(trace, walk, lifted.tensors))
        held.append(Held(f))
    operands = [*carry, *columns, *lifted.tensors]
    is_steady = probes[-1].signs == probes[-2].signs and held[-1].is_same(held[-2])
    if not is_steady or _shows_others(walk.carry, carry):
        return walk.finished()
    frozen = Lifted(lifted.bound(lifted.tensors), _is_operand)  # variables may be given other values before a backward
    try:
        # Steps that carry tangents have more ops than the one that is planned, whose tangents are those of the loop.
        signs = None if any(map(all_tangents, operands)) else probes[-1].signs
        loop = _loop_of(_Step(steps, frozen, signs), operands, probes, n)
        operands += loop.leaves
        found = looped(loop, operands) if segment is None else looped_in_segments(loop, operands, segment)
    except Untraceable:
        return walk.finished()
    if probes[-1].needs_grad == probes[-2].needs_grad:  # else it may go on to spread
        needs_grad = [*[one.requires_grad for one in walk.carry], *walk.needs_grad]
        found = [_recorded(one, needs) for one, needs in zip(found, needs_grad, strict=True)]
    as_before = [one if one is now else result for one, now, result in zip(carry, walk.carry, found)]
    return [*as_before, *found[len(carry) :]]


def _recorded(result: Any, needs_grad: bool) -> Any:
    """A result of the loop, without a history where those of the steps that were traced have none."""
    return result if needs_grad or not result.requires_grad or all_tangents(result) else result.detach()


def _shows_others(state: Tensors, first: Tensors) -> bool:
    """Does a part of a state show memory of the first one, and is not what was there itself?"""
    arrays = [array_behind(value_of(one)) for one in first]
    return any(
        np.may_share_memory(array_behind(value_of(one)), array)
        for place, one in enumerate(state)
        for other, array in enumerate(arrays)
        if one is not first[place] or other != place
    )


def _is_operand(tensor: Any) -> bool:
    """A value of the trace, or one that may have a gradient."""
    return is_batched_tensor(tensor) or tensor.requires_grad


def _loop_of(step: _Step, operands: list[Any], probes: list[Probe], n: int) -> Loop:
    """The loop, if a program of one step does the same."""
    n_carry = len(step.steps.state.places)
    leaves = leaves_of(probes[-1], step.lifted.tensors)
    shape = Shape(n_carry, len(step.steps.rows.places), n, step.steps.reverse, n_carry)
    loop = Loop(step, shape, _needs_grad(probes), is_own=True, leaves=leaves)
    arrays = [array_behind(one) for one in loop.values(operands)]
    if not all(array.flags.c_contiguous for array in arrays[:n_carry]):
        raise Untraceable("a state that is not laid out row by row")
    if not all(array.flags.aligned for array in arrays):
        raise Untraceable("rows that are not aligned")
    operands = [*operands, *leaves]
    known = set(map(id, leaves))
    body = loop.body(operands)
    if any(one.requires_grad and id(one) not in known for one in body.captured):
        raise Untraceable("a step that captures a tensor in two ways")
    if body.reached is not None:
        loop = replace(loop, links=Links(body.reached, n_carry))
    loop = replace(loop, twins=_single_twins(step.twins))
    if is_grad_enabled() and any(one.requires_grad for one in operands):
        loop = with_marks(loop, operands)
        keeping(loop).body(operands)
    return loop


def _needs_grad(probes: list[Probe]) -> tuple[bool, ...]:
    """Which parts of the state require grad in any step: those of each step follow from those of the step before."""
    if probes[-1].needs_grad != probes[-2].needs_grad:
        return (True,) * len(probes[-1].needs_grad)  # it may go on to spread
    return tuple([any(flags) for flags in zip(*[probe.needs_grad for probe in probes])])


def _single_twins(twins: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """One for each result, and for each part of the state."""
    found: dict[int, int] = {}
    for result, part in twins:
        if result not in found and part not in found.values():
            found[result] = part
    return tuple(found.items())


class _Step:
    """One step of a scan, between flat lists of tensors; those that `f` captures come last.

    Attributes
    ----------
    twins : list of (int, int)
        Results that are a part of the next state themselves.
    """

    def __init__(self, steps: Steps, lifted: Lifted, signs: list[Any] | None) -> None:
        self.steps, self.lifted, self.signs = steps, lifted, signs
        self.twins: list[tuple[int, int]] = []

    def __call__(self, tensors: list[Any]) -> list[Any]:
        n_carry = len(self.steps.state.places)
        first = n_carry + len(self.steps.rows.places)
        captured = tensors[first : first + len(self.lifted.tensors)]
        carry, row = tensors[:n_carry], tensors[n_carry:first]
        seen = Seen(trace_of_thread())
        state, results = self._made(captured, carry, row)
        if not open_levels() and not any(map(all_tangents, tensors)):  # whose ops are others
            self._expect_same(seen.signs([*row, *carry, *captured], state))
        self.twins = [(j, i) for j, one in enumerate(results) for i, part in enumerate(state) if one is part]
        return [*state, *results]

    def _expect_same(self, signs: list[Any]) -> None:
        if self.signs is None:
            self.signs = signs
        if self.signs != signs:
            raise Untraceable("a step that does something else when it is called again")

    def _made(self, captured: list[Any], carry: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        steps = self.steps
        inner = Steps(self.lifted.bound(captured), steps.state, steps.rows, steps.reverse)
        inner.result = steps.result
        return inner.step(carry, row)
