"""Steps of a loop that are traced one by one, to see whether they do the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradsmith.control_flow.repeating.loop import Untraceable
from gradsmith.control_flow.steps import Walk
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.programs.program import Slot
from gradsmith.runtime.programs.trace import Trace


@dataclass
class Probe:
    """What one step did.

    Attributes
    ----------
    signs : list
        Its ops with their operands, and the next state. Steps that do the same have equal signs.
    needs_grad : list of bool
        Which parts of the next state require grad, or those of the state before it.
    captured : list of Tensor
        Tensors from before the trace that the step reads.
    """

    signs: list[Any]
    needs_grad: list[bool]
    captured: list[Any]


def probed(trace: Trace, walk: Walk, captured: Sequence[Any]) -> Probe:
    """Make a step in a trace; `captured` are tensors that its function is known to hold."""
    before = walk.carry
    walk.take_row()
    given = _with_tangents([*walk.row, *before, *captured])  # those of rows are made when they are asked for
    seen = Seen(trace)
    walk.advance()
    signs = seen.signs(given, _with_tangents(walk.carry))
    needs_grad = [one.requires_grad or other.requires_grad for one, other in zip(before, walk.carry)]
    return Probe(signs, needs_grad, seen.captured())


def _with_tangents(tensors: Sequence[Any]) -> list[Any]:
    return [*tensors, *[tangent for one in tensors for tangent in all_tangents(one)]]


def leaves_of(probe: Probe, others: Sequence[Any]) -> tuple[Any, ...]:
    """What a step reads that requires grad and is none of the `others`: leaves, of modules for instance."""
    known = set(map(id, others))
    found = [one for one in probe.captured if one.requires_grad and id(one) not in known]
    if any(not one.is_leaf or all_tangents(one) for one in found):
        raise Untraceable("a step that captures a tensor with a history")
    return tuple(found)


class Seen:
    """What a trace gets from now on."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.n_steps, self.n_values = trace, len(trace.steps), len(trace.values)

    def captured(self) -> list[Any]:
        """Tensors from outside of the trace that the steps read."""
        read = {slot for step in self.trace.steps[self.n_steps :] for slot in step.reads}
        return [one for slot, one in self.trace.captured.items() if slot in read]

    def signs(self, given: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """Of each step the op and its operands, and the results: named by where they come from."""
        trace = self.trace
        makers = {slot: self._of_constant(slot, one) for slot, one in trace.constants.items()}
        makers |= {slot: ("captured", id(one)) for slot, one in trace.captured.items()}
        makers |= {trace.slot(one): ("given", number) for number, one in enumerate(given)}
        found: list[Any] = []
        for number, step in enumerate(trace.steps[self.n_steps :]):
            found.append((step.name, _sign(step.operands, makers), step.loop))
            if not step.writes:
                makers |= {slot: (number, place) for place, slot in enumerate(step.results) if slot is not None}
        return [*found, [makers.get(trace.slot(one)) for one in results]]

    def _of_constant(self, slot: int, tensor: Any) -> tuple[Any, ...]:
        if slot < self.n_values:  # made before, so that a trace inside of this one captures it
            return ("captured", id(tensor))
        array = array_behind(self.trace.constant_before(slot))
        return ("constant", array.dtype, array.shape, array.tobytes())


def _sign(operand: Any, makers: dict[int, Any]) -> Any:
    if isinstance(operand, Slot):
        return makers.get(operand.number, ("before", operand.number))
    if isinstance(operand, (tuple, list)):
        return [_sign(one, makers) for one in operand]
    return type(operand), repr(operand)
