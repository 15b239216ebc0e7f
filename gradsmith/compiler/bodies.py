"""One step of a loop as a program, which runs as often as the loop has steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.compiler.plans.memory import Memory
from gradsmith.compiler.plans.plan import make_program, needed_steps
from gradsmith.compiler.plans.raising import may_refuse_values
from gradsmith.compiler.runs import BlockRun, StepwiseRun
from gradsmith.compiler.values import Values
from gradsmith.control_flow.choices.ways import leaves_behind
from gradsmith.control_flow.repeating.inner import apart, expect_released, require_repeatable, trace_inside
from gradsmith.control_flow.repeating.loop import Mark, Shape, Untraceable
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import trace_of_thread
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.programs.often import is_one_block
from gradsmith.runtime.programs.program import Step
from gradsmith.runtime.programs.trace import Trace
from gradsmith.runtime.switches.grad_mode import enable_grad, no_grad

Work = Any  # from tensors to tensors
Marks = Sequence[Mark]


def planned_body(
    work: Work,
    examples: Sequence[Any],
    is_own: bool,
    requires_grad: Sequence[bool] | None = None,
    made: Marks = (),
    given: Marks = (),
    first_given: int = 0,
    leaves: Sequence[Any] = (),
) -> Body:
    """The program of ``work(tensors)``, one step of a loop.

    Parameters
    ----------
    examples : sequence of Tensor
        Of the first step.
    is_own : bool
        Is it a step of the user's? Then a result that is laid out otherwise than row by row ends the attempt.
    requires_grad : sequence of bool, optional
        Record the step, with examples some of which require grad.
    made : sequence of Mark
        Values on the way that are results too.
    given : sequence of Mark
        Values that the step of a backward need not compute again: examples from `first_given` on.
    leaves : sequence of Tensor
        What the step reads in the place of the last of its examples.

    Raises
    ------
    Untraceable
        The user's step does what its program would not, or raises: tracing step by step makes the right error, if it
        is one.
    TraceError
        The same of the step of a backward, for which it is too late.
    """
    try:
        with trace_inside() as trace:
            found, reached = _run(trace, work, examples, is_own, requires_grad, leaves)
            outputs = [*found, *_slots_of(trace, 0, made)]
            known = _slots_of(trace, work.first_step, given) if given else []
            body = Body(trace, outputs, {slot: first_given + number for number, slot in enumerate(known)}, is_own)
            body.reached = reached
            expected = [trace.values[slot] for slot in outputs]
    except MemoryError:
        raise
    except Untraceable as reason:
        if is_own:
            raise
        raise trace_of_thread().call.error(f"the backward of a loop has {reason}, unlike the loop itself") from None
    except Exception as error:
        if is_own:
            raise Untraceable(str(error)) from error
        raise
    if is_own:
        expect_released(trace)
        _expect_same(body, examples, expected)
    return body


def _run(
    trace: Trace,
    work: Work,
    examples: Sequence[Any],
    is_own: bool,
    requires_grad: Sequence[bool] | None = None,
    leaves: Sequence[Any] = (),
) -> tuple[list[int], list[frozenset[int]] | None]:
    """Slots of the results, and the operands that each has a gradient for if the step is recorded."""
    with no_grad() if requires_grad is None else enable_grad():
        given = [trace.argument(apart(one)) for one in examples]
        for one, is_wanted in zip(given, requires_grad or ()):
            one.requires_grad_(is_wanted)
        found = work(given)
    operands = [*given[: len(given) - len(leaves)], *leaves]
    reached = None if requires_grad is None else _reached(found, operands)
    with no_grad():
        found = [_laid_out(trace, one, is_own) for one in found]
    require_repeatable(trace)
    return [trace.slot(one) for one in found], reached


def _reached(results: Sequence[Any], operands: Sequence[Any]) -> list[frozenset[int]]:
    recorded = iter(leaves_behind([one for one in results if one.grad_fn is not None], operands))
    places = {id(one): number for number, one in enumerate(operands) if one.requires_grad}
    return [
        next(recorded) if one.grad_fn is not None else frozenset([places[id(one)]] if id(one) in places else [])
        for one in results
    ]


def _slots_of(trace: Trace, first: int, marks: Marks) -> list[int]:
    """Slots of values that the steps from `first` on make."""
    steps = [trace.steps[first + mark.number] for mark in marks]
    if any(step.name != mark.name for step, mark in zip(steps, marks)):
        raise Untraceable("a step that does something else when it is called again")
    return [slot for step in steps for slot in step.results if slot is not None]


def marks_read_later(work: Any, examples: Sequence[Any]) -> Marks:
    """What a step makes and its backward `work` reads; nothing where it is simpler to make all of it again."""
    try:
        with trace_inside() as trace:
            outputs, _ = _run(trace, work, examples, False)
            outside = [*range(trace.n_inputs), *trace.captured]
            memory = Memory(trace.values, outside, trace.steps)
            return _read_later(trace.steps, outputs, memory, range(work.first_step, work.first_step + work.n_steps))
    except (MemoryError, Untraceable):  # of which the latter has all steps traced, which goes for any backward
        raise
    except Exception:  # the backward itself will say so, if it is ever wanted
        return ()


def _read_later(steps: Sequence[Step], outputs: list[int], memory: Memory, own: range) -> Marks:
    """Results of the `own` steps that others read. Views are made again, of what they show."""
    if any(step.writes or step.function is not None for step in steps[own.start : own.stop]):
        return ()
    needed = set(map(id, needed_steps(steps, outputs, memory)))
    wanted = {slot for step in steps[own.stop :] if id(step) in needed for slot in step.reads} | set(outputs)
    found = []
    for number in reversed(own):
        step = steps[number]
        if wanted.isdisjoint(step.results):
            continue
        if len(step.results) == 1 and _may_be_stacked(memory, step):
            found.append(Mark(number - own.start, step.name))
        else:
            wanted.update(step.reads)
    return tuple(reversed(found))


def _may_be_stacked(memory: Memory, step: Step) -> bool:
    slot = step.results[0]
    return slot is not None and memory.is_own(slot) and memory.arrays[slot].flags.c_contiguous


def _laid_out(trace: Trace, result: Any, is_own: bool) -> Any:
    """A result as memory of its own, row by row."""
    if array_behind(trace.values[trace.slot(result)]).flags.c_contiguous:
        return result.clone()
    if is_own:
        raise Untraceable("a result that is not laid out row by row")
    return result.contiguous()


def _expect_same(body: Body, examples: Sequence[Any], expected: Sequence[Any]) -> None:
    """The program has to repeat the run that it was made from, bit for bit."""
    columns = [from_array(array_behind(one)[None]) for one in (*examples, *body.captured)]
    shape = Shape(0, len(columns), 1, False, 0)
    for one, other in zip(body.run(shape, columns), expected):
        if array_behind(one)[0].tobytes() != array_behind(other).tobytes():
            raise Untraceable("a step that its program does not repeat")


class Planner:
    """Makes programs of steps for loops that are traced once."""

    body = staticmethod(planned_body)
    marks_read_later = staticmethod(marks_read_later)


class Body:
    """One step as a program.

    Attributes
    ----------
    captured : list of Tensor
        What the step reads besides its arguments: operands of the loop, after the constants.
    program : Program
        Of one step.
    places : dict of int to int
        Slot of an input, or of a value that is given -> its place among the operands of the loop.
    constants : dict of int to Tensor
        What the step makes of Python values.
    renewed : set of int
        Slots of those that it writes to, so that each step needs them as they were.
    reached : list of frozenset of int, or None
        For each result of a step that is recorded the operands that it has a gradient for.
    may_refuse_values : bool
        Does it raise errors of values even where nothing reads its results?
    is_block : bool
        Does the program need no Python?
    models : list of ndarray
        The next state and the results, as they are laid out.
    values : Values
    """

    def __init__(self, trace: Trace, outputs: list[int], given: dict[int, int], with_errors: bool) -> None:
        self.reached: list[frozenset[int]] | None = None
        outside = [*range(trace.n_inputs), *trace.captured, *given]
        memory = Memory(trace.values, outside, trace.steps)
        steps = [step for step in trace.steps if given.keys().isdisjoint(step.results)] if given else trace.steps
        steps = needed_steps(steps, outputs, memory, with_errors)
        self.may_refuse_values = with_errors and any(may_refuse_values(step, memory) for step in steps)
        read = {slot for step in steps for slot in step.reads} | set(outputs)
        captured = [slot for slot in trace.captured if slot in read]
        self.captured = [trace.captured[slot] for slot in captured]
        self.places = {slot: slot for slot in range(trace.n_inputs) if slot in read}
        self.places |= {slot: place for slot, place in given.items() if slot in read}
        self.places |= {slot: trace.n_inputs + number for number, slot in enumerate(captured)}
        self.constants = {slot: trace.constant_before(slot) for slot in trace.constants if slot in read}
        written = _written(steps, memory)
        self.renewed = {slot for slot in self.constants if memory.owners[slot] in written}
        self.program = make_program(steps, [*self.places, *self.constants], outputs, memory)
        self.is_block = is_one_block(self.program) and not self.renewed
        self.models = [memory.arrays[slot] for slot in outputs]
        self.values = Values(memory.layouts, memory.kinds)

    def run(self, shape: Shape, tensors: Sequence[Any]) -> list[Tensor]:
        """The state after all steps, the results of all steps, and the states before each step if these are kept."""
        arrays = [array_behind(one) for one in tensors]
        run = BlockRun if self.is_block else StepwiseRun
        return [from_array(array) for array in run(self, shape, arrays).results()]


def _written(steps: Sequence[Step], memory: Memory) -> set[int]:
    return {memory.owners[slot] for step in steps if step.writes for slot in step.results if slot is not None}
