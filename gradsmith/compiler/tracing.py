"""One traced run of a function, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradsmith.autograd import grad
from gradsmith.compiler.errors import TraceError
from gradsmith.compiler.objects import opened
from gradsmith.compiler.plans.memory import Memory, owner_of
from gradsmith.compiler.plans.plan import written_owners
from gradsmith.control_flow.choices.ways import leaves_behind
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.programs.entry import exchange_hooks
from gradsmith.runtime.programs.program import Step
from gradsmith.runtime.programs.recorded import error_if_used_up
from gradsmith.runtime.programs.trace import Trace
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.utils import pytree


class Unrepeatable(Exception):
    """No program can do what a run has done.

    Its backward fails, its results are of a class that overrides calls, or it gives a history, or hooks, to tensors
    that outlast it.
    """


class Unsettled(Unrepeatable):
    """A run has changed what no program changes, such as which tensors require grad; the next may find it so."""


class Caller:
    """Makes the errors of a trace; they name the function and the line that cannot be traced."""

    def __init__(self, name: str, line: Callable[[], str]) -> None:
        self.name, self.line = name, line

    def error(self, text: str, kind: type[Exception] = TraceError) -> Exception:
        return kind(f"compile({self.name}): {text}{self._place()}")

    def escape(self, what: str) -> Exception:
        return TraceError(
            f"compile({self.name}): {what} is not possible for a tensor of a compiled function: the program would keep "
            f"what it was in this run{self._place()}. Use where(), cond() or while_loop() in its place, return the "
            "tensor and ask outside, or say on_escape='eager' to run such calls as they are"
        )

    def lasting(self, what: str) -> Exception:
        return Unrepeatable(what)

    def ended(self) -> Caller:
        return self

    def _place(self) -> str:
        place = self.line()
        return f" ({place})" if place else ""


@dataclass
class Source:
    """Where a program finds one of its inputs.

    kind "argument": the leaf `number` of the arguments; "captured": `tensor` itself; "constant": `tensor`, a copy of it
    where `is_written`; "gradient": the `.grad` of what `leaf` says.
    """

    slot: int
    kind: str
    number: int = -1
    tensor: Any = None
    is_written: bool = False
    leaf: Source | None = None


@dataclass
class Result:
    """One leaf of the results: a slot, or `value` as it is."""

    slot: int | None
    value: Any = None
    argument: int | None = None  # the argument itself
    gradient: Source | None = None  # the leaf whose `.grad` it is after the call
    had_gradient: Source | None = None  # and the one whose `.grad` it was before, which is another one by then
    requires_grad: bool = False
    is_used_up: bool = False  # the function has freed its graph


@dataclass
class Freed:
    """A result whose graph the function has freed, the leaves behind it, and what a backward raises."""

    slot: int
    inputs: list[Source]
    error: str


@dataclass
class Traced:
    """What a traced run did.

    Attributes
    ----------
    steps : list of Step
        Those of the function; `backward` those of the gradients of its results.
    sources : list of Source
    results : list of Result
    spec : TreeSpec
        Of the results.
    had_gradient : list of (Source, Tensor or None)
        Leaves whose `.grad` the function asked for, and what it was before.
    gradients : list of (Source, int or None)
        Leaves whose `.grad` the function changed, and the slot that it became, or None where it was taken away.
    wanted : list of (Source, int or None)
        Inputs that the results have gradients for, and the slots of these.
    cotangents : list of int
        Slots of the gradients that come in, one for each result that requires grad.
    reached : list of frozenset of int
        Places in `wanted` of the inputs that have a gradient of each of these results, where there are several.
    of_each : list of (list of Step, list of int or None)
        For each of these results the steps and the slots of its own gradients, in the order of `wanted`, where the
        function cannot be called once more to get them.
    freed : list of Freed
    reads : list of Read and Snapshot
        Values outside of the arguments that the program depends on.
    changes : list of Change
        What each run leaves outside. If there are any, the results are a pair: what the function gives, and a list of
        the tensors for these.
    """

    trace: Trace
    steps: list[Step]
    sources: list[Source]
    results: list[Result]
    spec: pytree.TreeSpec
    gradients: list[tuple[Source, int | None]]
    had_gradient: list[tuple[Source, Any]]
    backward: list[Step] = field(default_factory=list)
    wanted: list[tuple[Source, int | None]] = field(default_factory=list)
    cotangents: list[int] = field(default_factory=list)
    reached: list[frozenset[int]] = field(default_factory=list)
    of_each: list[tuple[list[Step], list[int | None]]] = field(default_factory=list)
    freed: list[Freed] = field(default_factory=list)
    is_recorded: bool = False
    reads: list[Any] = field(default_factory=list)
    changes: list[Any] = field(default_factory=list)


def at_hand_for_backward(traced: Traced, memory: Memory) -> set[int]:
    """Slots of inputs that a backward reads from where the forward did.

    A constant that the forward writes is none of them: each run has a copy of its own.
    """
    written = written_owners(traced.steps, memory)
    return {one.slot for one in traced.sources if one.kind != "constant" or memory.owners[one.slot] not in written}


def trace_call(
    function: Callable[..., Any],
    caller: Caller,
    leaves: list[Any],
    spec: pytree.TreeSpec,
    guards: bool = False,
    planner: Any = None,
    check: Callable[[Trace], None] | None = None,
) -> Traced:
    """Call the function once, on the arguments whose leaves are given, and write down what it does.

    With `guards` it may ask for truth values and integers, whose being the same becomes a step. With a `planner`,
    which makes a program of one step, a scan is traced once. `check` is called when the gradients of the results have
    been traced too.
    """
    with Trace(caller) as trace:
        trace.guards, trace.planner = guards, planner
        tensors = {id(leaf): leaf for leaf in leaves if isinstance(leaf, Tensor)}  # one that is given twice is one leaf
        known = {name: trace.argument(leaf) for name, leaf in tensors.items()}
        given = [known.get(id(leaf), leaf) for leaf in leaves]
        args, kwargs = spec.unflatten(given)
        run = _Run(trace, leaves, given)
        try:
            found = run.traced(function(*args, **kwargs))
            if check is not None:
                check(trace)
            run.put_gradients()
        except BaseException:
            trace.restore()
            run.put_gradients()
            trace.release()
            raise
        return found


class _Run:
    def __init__(self, trace: Trace, leaves: list[Any], given: list[Any]) -> None:
        self.trace, self.leaves, self.given = trace, leaves, given
        self.place = {id(one): number for number, one in enumerate(given) if isinstance(one, Tensor)}
        self.reached: list[frozenset[int]] = []
        self.n_steps: int | None = None  # before the gradients of single results
        self.of_each: list[tuple[list[Step], list[int | None]]] = []
        self.freed: dict[int, tuple[str, list[int]]] = {}  # error, and slots of the leaves, by the slot of the result

    def traced(self, found: Any) -> Traced:
        self._expect_arguments_in_place()
        self._expect_leaves_as_before()
        results, spec = pytree.flatten(opened(found, self.trace.is_made))
        results = self._with_own_slots(results)
        n_steps = len(self.trace.steps)
        cotangents, wanted = self._differentiated(results)
        gradients, had_gradient = self._changed_gradients()
        for result in results:  # which may be a tensor that no step reads
            if isinstance(result, Tensor) and id(result) not in self.place:
                self.trace.slot(result)
        sources = self._sources()
        of_slot = {source.slot: source for source in sources}
        return Traced(
            trace=self.trace,
            steps=self.trace.steps[:n_steps],
            sources=sources,
            results=[self._result(result, of_slot) for result in results],
            spec=spec,
            gradients=[(self._leaf(leaf, of_slot), slot) for leaf, slot in gradients],
            had_gradient=[(self._leaf(leaf, of_slot), had) for leaf, had in had_gradient],
            backward=self.trace.steps[n_steps : self.n_steps],
            wanted=[(of_slot[slot], gradient) for slot, gradient in wanted],
            cotangents=cotangents,
            reached=self.reached,
            of_each=self.of_each,
            freed=[
                Freed(slot, [of_slot[one] for one in behind], error) for slot, (error, behind) in self.freed.items()
            ],
            is_recorded=bool(cotangents),
        )

    def _expect_arguments_in_place(self) -> None:
        slots = list(dict.fromkeys(self.trace.slot(one) for one in self.given if isinstance(one, Tensor)))
        if slots != list(range(len(slots))):
            raise self.trace.call.error("the function changes the shape or the memory of an argument itself")

    def _expect_leaves_as_before(self) -> None:
        """Refuse changes of `requires_grad`, which a program would not make again."""
        for leaf, given in zip(self.leaves, self.given):
            if isinstance(given, Tensor) and given.requires_grad != leaf.requires_grad:
                raise Unrepeatable("the function changes whether an argument requires grad")
        changed = self.trace.changed_requires_grad()
        if changed:
            for tensor, before in changed:
                tensor.requires_grad_(before)
            raise Unsettled("the function changes whether a tensor that it captures requires grad")

    # -- inputs

    def _sources(self) -> list[Source]:
        trace = self.trace
        slots = [trace.slot(one) for one in self.given if isinstance(one, Tensor)]
        numbers = [number for number, one in enumerate(self.given) if isinstance(one, Tensor)]
        sources = {slot: Source(slot, "argument", number) for slot, number in zip(slots, numbers)}
        leaf_of = {
            id(initial): leaf
            for leaf, initial in trace.touched.values()
            if initial is not None and id(leaf) not in trace.replaced
        }
        for slot, tensor in trace.captured.items():
            if id(tensor) in leaf_of:
                leaf = leaf_of[id(tensor)]
                sources[slot] = Source(slot, "gradient", leaf=self._leaf(leaf, sources))
            else:
                sources[slot] = Source(slot, "captured", tensor=tensor)
        self._expect_separate_constants()
        for slot in trace.constants:
            sources[slot] = Source(slot, "constant", tensor=trace.constant_before(slot))
        return list(sources.values())

    def _expect_separate_constants(self) -> None:
        """A constant that is written begins anew in each run; another one that shows its memory would not."""
        shown = Counter(id(owner_of(array_behind(tensor))) for tensor in self.trace.constants.values())
        if any(shown[owner] > 1 for owner in self.trace.changed):
            raise self.trace.call.error("memory that is written is shown by two tensors that no op links")

    def _leaf(self, leaf: Tensor, of_slot: dict[int, Source]) -> Source:
        """Where a leaf comes from."""
        if id(leaf) in self.place:
            return Source(-1, "argument", self.place[id(leaf)])
        return Source(-1, "captured", tensor=leaf)

    # -- results

    def _with_own_slots(self, results: list[Any]) -> list[Any]:
        """What shows the memory of another tensor as that does, such as its `.data`, is not that tensor itself."""
        holders = {self.trace.slot(one): one for one in self.given if isinstance(one, Tensor)} | self.trace.captured
        found = []
        for result in results:
            is_made = isinstance(result, Tensor) and self.trace.is_made(result) and id(result) not in self.place
            if is_made and holders.setdefault(self.trace.slot(result), result) is not result:
                result = result.view_as(result) if result.requires_grad else result.detach()
            found.append(result)
        return found

    def _result(self, result: Any, of_slot: dict[int, Source]) -> Result:
        if not isinstance(result, Tensor):
            return Result(None, result)
        if id(result) in self.place:
            return Result(None, argument=self.place[id(result)])
        for leaf, initial in self._known_leaves():
            if result is leaf.grad and not result.requires_grad:
                slot = self.trace.slot(result) if self.trace.is_made(result) else None
                return Result(slot, gradient=self._leaf(leaf, of_slot))
            if result is initial and id(leaf) not in self.trace.replaced:
                return Result(None, had_gradient=self._leaf(leaf, of_slot))
        if not self.trace.is_made(result):
            return Result(None, result)  # the captured tensor itself
        if not is_batched_tensor(result):
            return Result(self.trace.slot(result))
        slot = self.trace.slot(result)
        return Result(slot, requires_grad=result.requires_grad, is_used_up=slot in self.freed)

    def _differentiated(self, results: list[Any]) -> tuple[list[int], list[tuple[int, int | None]]]:
        """Slots of the cotangents of results, and of inputs and their gradients; nothing where nothing is recorded."""
        made = [one for one in results if isinstance(one, Tensor) and self.trace.is_made(one) and one.requires_grad]
        made = list({id(one): one for one in made if id(one) not in self.place}.values())
        if not all(map(_has_history, made)):
            raise Unrepeatable("a result requires grad, but has no history: each call would have to make a leaf")
        recorded = [one for one in made if is_batched_tensor(one)]
        if not recorded:
            return [], []
        inputs = self._leaves()
        recorded = self._not_used_up(recorded, inputs)
        if not recorded:
            return [], []
        cotangents = [self.trace.argument(from_array(np.ones(one.shape, one.dtype))) for one in recorded]
        slots = [self.trace.slot(one) for one in cotangents]
        if len(recorded) > 1:
            self.reached = leaves_behind(recorded, inputs)
        one_by_one = len(recorded) > 1 and self._has_effects()
        apart: list[tuple[list[Step], Any]] = []
        try:
            with _without_hooks([one for one in inputs if not is_batched_tensor(one)]):
                found = grad(recorded, inputs, cotangents, allow_unused=True, retain_graph=one_by_one or None)
                self.n_steps = len(self.trace.steps)
                for one, of in zip(recorded, cotangents) if one_by_one else ():
                    first = len(self.trace.steps)
                    got = grad(one, inputs, of, allow_unused=True, retain_graph=True)
                    apart.append((self.trace.steps[first:], got))
        except TraceError:
            raise
        except Exception as error:
            raise Unrepeatable(str(error)) from error
        connected = [number for number, got in enumerate(found) if got is not None]
        if connected:  # edges to others would make results require grad
            place_of = {number: place for place, number in enumerate(connected)}
            self.reached = [frozenset(place_of[number] for number in one & place_of.keys()) for one in self.reached]
            inputs, found = [inputs[number] for number in connected], [found[number] for number in connected]
            apart = [(steps, [got[number] for number in connected]) for steps, got in apart]
        self.of_each = [(steps, [None if one is None else self.trace.slot(one) for one in got]) for steps, got in apart]
        named = [
            (self.trace.slot(one), None if got is None else self.trace.slot(got)) for one, got in zip(inputs, found)
        ]
        return slots, named

    def _leaves(self) -> list[Any]:
        """The leaves that a gradient of the results can reach."""
        given = {id(one): one for one in self.given if isinstance(one, Tensor)}.values()
        captured = [tensor for tensor in self.trace.captured.values() if tensor.requires_grad]
        if not all(tensor.is_leaf for tensor in captured):
            raise Unrepeatable("a captured tensor has a history, through which a gradient would pass twice")
        return [*(one for one in given if one.requires_grad and one.is_leaf), *captured]

    def _not_used_up(self, recorded: list[Any], inputs: list[Any]) -> list[Any]:
        """Those results whose graph there is; see Note [Results whose graph is used up]."""
        found = []
        for result in recorded:
            error = error_if_used_up(result)
            if error is None:
                found.append(result)
            else:
                (behind,) = leaves_behind([result], inputs)
                self.freed[self.trace.slot(result)] = str(error), [self.trace.slot(inputs[n]) for n in sorted(behind)]
        return found

    def _has_effects(self) -> bool:
        """Does the function change something, so that it cannot be called once more for other gradients?"""
        calls = [step for step in self.trace.steps if step.function is not None and step.has_effects]
        return bool(self.trace.originals) or any(set(step.results) <= {None} for step in calls)

    # -- gradients of leaves

    def _changed_gradients(self) -> tuple[list[tuple[Tensor, int | None]], list[tuple[Tensor, Any]]]:
        changed, had = [], []
        for leaf, initial in self._known_leaves():
            is_replaced = id(leaf) in self.trace.replaced
            if not is_replaced:
                had.append((leaf, initial))
            final = leaf.grad
            if is_replaced or final is not initial:
                changed.append((leaf, None if final is None else self.trace.slot(final)))
        return changed, had

    def _known_leaves(self) -> list[tuple[Tensor, Any]]:
        """Leaves whose `.grad` was asked for or changed, and what it was before; none of the function's own."""
        touched = self.trace.touched.values()
        return [(leaf, had) for leaf, had in touched if not is_batched_tensor(leaf) or id(leaf) in self.place]

    def put_gradients(self) -> None:
        """Give the leaves outside of the trace what they would have got; after an error, what they had."""
        for leaf, initial in self.trace.touched.values():
            final = leaf.grad
            if final is None or not is_batched_tensor(final):
                continue
            with no_grad():
                leaf.grad = initial


def _has_history(result: Any) -> bool:
    """A view made in no_grad() has none, nor has ``detach().requires_grad_()``."""
    try:
        return result.grad_fn is not None
    except RuntimeError:  # nor may it be asked for where such a view, or its base, has been written to
        return False


@contextmanager
def _without_hooks(leaves: Sequence[Any]) -> Iterator[None]:
    """The gradients that a program gives go to the leaves, which call their hooks then."""
    hooks = [exchange_hooks(leaf, None) for leaf in leaves]
    try:
        yield
    finally:
        for leaf, before in zip(leaves, hooks):
            exchange_hooks(leaf, before)
