"""A compiled function for one kind of arguments: its programs, and how a call runs them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from gradsmith.autograd.graph.drawing.drawing import GraphDrawing
from gradsmith.compiler.captured.counting import signature_of
from gradsmith.compiler.captured.names import CapturedNames
from gradsmith.compiler.inspection import Cost, Profile, cost_of, drawing_of, profile_of
from gradsmith.compiler.objects import leaves_like
from gradsmith.compiler.plans.memory import Memory
from gradsmith.compiler.plans.plan import make_program, needed_steps, written_owners
from gradsmith.compiler.plans.recomputing import Recomputing
from gradsmith.compiler.recorded import Recording, UsedUpCall
from gradsmith.compiler.tracing import Result, Source, Traced, at_hand_for_backward
from gradsmith.compiler.values import Values
from gradsmith.control_flow.choices.ways import Chosen
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.calls.captured import leave_call
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.programs.entry import Entry
from gradsmith.runtime.programs.layouts import copied_as_it_lies
from gradsmith.runtime.programs.program import Program, Step, step_again
from gradsmith.runtime.programs.recorded import Recorder, UsedUp
from gradsmith.runtime.programs.sources import values_of
from gradsmith.runtime.programs.trace import Expected, Guard, Outdated
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.runtime.tensors.factories.random import default_generator, go_back, place_of
from gradsmith.utils import pytree


class Variant:
    """The programs of one traced run.

    Attributes
    ----------
    forward : Program
        Gives the results, the new gradients of leaves, and what `backward` reads.
    backward : Program or None
        From these, the inputs and the gradients of the results, those of the inputs.
    backward_of_each : list of Program
        The same for each result alone, where the function cannot be called once more for that.
    """

    def __init__(self, traced: Traced, kept_memory: Any = None) -> None:
        self.spec, self.results = traced.spec, traced.results
        self.gradients = traced.gradients
        self.had_gradient = [(source, _layout_of(initial)) for source, initial in traced.had_gradient]
        self.wanted, self.cotangents, self.reached = traced.wanted, traced.cotangents, traced.reached
        self.wanted_of_each = [slots for _, slots in traced.of_each]
        outside = [source.slot for source in traced.sources if source.kind != "constant"]
        self.memory = Memory(traced.trace.values, outside, traced.trace.steps)
        self.writes = bool(traced.trace.originals)
        numbers = {source.slot: source.number for source in traced.sources if source.kind == "argument"}
        self.aliased = [(numbers[slot], tensor) for slot, tensor in traced.trace.aliased.items()]
        self.captured = [source.tensor for source in traced.sources if source.kind == "captured"]
        self.layouts = [_layout_of(tensor) for tensor in self.captured]
        self.recorded_slots = list(  # of the results that have a history, in the order of `cotangents`
            dict.fromkeys(result.slot for result in self.results if _is_recorded(result) and result.slot is not None)
        )
        # those that do not require grad, even if they show a leaf, whose views do in no_grad()
        self.plain = _slots_in(result.slot for result in self.results if not result.requires_grad)
        self.reads, self.changes, self.signature = traced.reads, traced.changes, signature_of(traced)
        self.sharing: list[tuple[int, int]] | None = None  # which arguments share memory with what is captured
        self.short_way: Entry | None = None
        backward, *of_each = self._backward_steps(traced, kept_memory)
        forward = self._forward_steps(traced)
        place = {slot: number for number, slot in enumerate(self.forward_outputs)}
        self.used_up = [
            UsedUp(place[one.slot], references(one.inputs), one.error, UsedUpCall.apply_to) for one in traced.freed
        ]
        self._mark_written(traced.sources, [*forward, *backward, *chain.from_iterable(of_each)])
        self.forward_sources = _used(traced.sources, forward, self.forward_outputs)
        self.forward = self._program(forward, self.forward_sources, self.forward_outputs)
        self.backward: Program | None = None
        self.backward_of_each: list[Program] = []
        if traced.is_recorded:
            inputs = [*self.cotangents, *self.kept, *(source.slot for source in self.backward_sources)]
            self.backward = make_program(backward, inputs, self.wanted_slots, self.memory)
            self.backward_of_each = [
                make_program(steps, inputs, _slots_in(slots), self.memory)
                for steps, slots in zip(of_each, self.wanted_of_each)
            ]
        self.values = Values(self.memory.layouts, self.memory.kinds)
        calls = [step for step in (*forward, *backward) if _calls_python(step)]
        self.calls_python = bool(calls)
        self.has_effects = any(set(step.results) <= {None} for step in calls)  # others draw numbers, or choose a branch
        self.may_run_again = not (self.writes or self.has_effects)
        self.has_guards = any(isinstance(step.function, Guard) for step in forward)
        self.has_choices = any(isinstance(step.function, Chosen) for step in forward)
        self.generators = [generator for generator, _ in traced.trace.generators]
        self._expect_guards_first(traced, forward)
        del self.memory

    def _expect_guards_first(self, traced: Traced, forward: list[Step]) -> None:
        """Refuse a guard that follows a Python call, whose effects could not be undone if the guard failed."""
        # Calls that return tensors draw random numbers; their generators are restored.
        calls = [n for n, step in enumerate(forward) if _calls_python(step) and set(step.results) == {None}]
        for step in forward[calls[0] :] if calls else ():
            if isinstance(step.function, Chosen):
                step.function.is_final = True
        guards = [number for number, step in enumerate(forward) if isinstance(step.function, Expected)]
        if calls and guards and calls[0] < guards[-1]:
            raise traced.trace.call.error(
                f"a value is asked for after {forward[calls[0]].name}(), whose effects a program could not undo if the "
                "value is another one; ask for it before"
            )

    # -- what it is

    def cost(self) -> Cost:
        """Operations and bytes of one call, and of its backward."""
        return cost_of(self)

    def profile(self, *args: Any, runs: int = 100, **kwargs: Any) -> Profile:
        """Time of each step of the forward program.

        Parameters
        ----------
        *args, **kwargs : object
            Arguments of a call, of the kind that the program is for. What the program writes is written in each run.
        runs : int, default 100
            Times are the least of so many runs.
        """
        leaves, _ = pytree.flatten((args, kwargs))
        if not self.is_for(leaves):
            raise ValueError("profile(): the program is for other arguments; see `explain`")
        return profile_of(self, values_of(references(self.forward_sources), leaves), runs)

    def draw(self) -> GraphDrawing:
        """The steps of the forward program as a drawing: ``.mermaid()``, ``.dot()``, and ``.svg()`` by Graphviz."""
        return drawing_of(self)

    # -- making

    def _backward_steps(self, traced: Traced, kept_memory: Any) -> list[list[Step]]:
        """Those of the gradients of all results, and those of each result alone where they are asked for."""
        self.wanted_slots = _slots_in(slot for _, slot in self.wanted)
        found = [needed_steps(traced.backward, self.wanted_slots, self.memory)]
        found += [needed_steps(steps, _slots_in(slots), self.memory) for steps, slots in traced.of_each]
        inputs = at_hand_for_backward(traced, self.memory)
        self.kept = sorted(self._read_by(found) - inputs)
        if kept_memory is not None and self.kept:
            again = self._recomputed(traced, kept_memory, inputs)
            found = [[*map(step_again, again), *steps] for steps in found]
        read = self._read_by(found)
        self.backward_sources = [one for one in traced.sources if one.slot in read and one.slot not in self.kept]
        return found

    def _all_wanted(self) -> set[int]:
        return set(self.wanted_slots).union(*map(_slots_in, self.wanted_of_each))

    def _read_by(self, backwards: list[list[Step]]) -> set[int]:
        """Values that a backward reads but does not compute."""
        found = self._all_wanted()
        for steps in backwards:
            found |= {slot for step in steps for slot in step.reads}
        made = {slot for steps in backwards for step in steps for slot in step.results if not step.writes}
        return found - made - set(self.cotangents)

    def _recomputed(self, traced: Traced, limit: Any, inputs: set[int]) -> list[Step]:
        """Steps that the backward repeats, so that fewer values are kept."""
        owners = self.memory.owners
        all_steps = [*traced.steps, *traced.backward]
        written = written_owners(all_steps, self.memory)
        results = {owners[result.slot] for result in self.results if result.slot is not None}
        at_no_cost = [slot for slot in self.kept if owners[slot] in results]
        choice = Recomputing(traced.steps, written, inputs | set(at_no_cost), self.memory)
        left, steps = choice.chosen([slot for slot in self.kept if slot not in at_no_cost], limit)
        self.kept = sorted([*at_no_cost, *left])
        return steps

    def _forward_steps(self, traced: Traced) -> list[Step]:
        slots = [result.slot for result in self.results] + [slot for _, slot in self.gradients]
        self.forward_outputs = list(dict.fromkeys([slot for slot in slots if slot is not None] + self.kept))
        return needed_steps(traced.steps, self.forward_outputs, self.memory, with_errors=True)

    def _mark_written(self, sources: list[Source], steps: list[Step]) -> None:
        owners = self.memory.owners
        written = {owners[step.results[0]] for step in steps if step.writes and step.results[0] is not None}
        for source in sources:
            leaves = source.kind == "constant" and source.slot in self.forward_outputs
            source.is_written = leaves or (source.kind == "constant" and owners[source.slot] in written)

    def _program(self, steps: list[Step], sources: list[Source], outputs: list[int]) -> Program:
        return make_program(steps, [source.slot for source in sources], outputs, self.memory)

    # -- running

    def is_for(self, leaves: list[Any]) -> bool:
        """Is what the key does not tell as it was: gradients, attributes, and captured tensors among the arguments?"""
        if any(leaves[number] is not tensor for number, tensor in self.aliased):
            return False
        if any(True for _ in self.moved()):
            return False
        if self.layouts != [_layout_of(tensor) for tensor in self.captured]:
            return False
        if self.writes and self.sharing is not None and self.sharing != self.sharing_of(leaves):
            return False
        return self._has_same_gradients(leaves)

    def moved(self) -> Iterator[Any]:
        """Attributes and items that hold something else than what the program was made with."""
        return (read for read in self.reads if not read.is_there())

    def sharing_of(self, leaves: list[Any]) -> list[tuple[int, int]]:
        """Pairs of an argument and a captured tensor that may share memory."""
        arrays = [(number, array_behind(leaf)) for number, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        return [
            (number, other)
            for other, tensor in enumerate(self.captured)
            for number, array in arrays
            if np.may_share_memory(array, array_behind(tensor))
        ]

    def entry(self, traced: Traced, leaves: list[Any], captured: CapturedNames, function: Any) -> Entry | None:
        """The short way to the program, where there is one."""
        if self.aliased or self.sharing:
            return None
        place = {slot: number for number, slot in enumerate(self.forward_outputs)}
        results = [_of_entry(result, place) for result in self.results]
        make = self._left if self.changes else None if self.spec.cls is None else self.spec.unflatten
        had = [(_reference(source), initial) for source, initial in traced.had_gradient]
        gradients = [(_reference(source), None if slot is None else place[slot]) for source, slot in self.gradients]
        return Entry(
            leaves,
            self.captured,
            self.forward,
            references(self.forward_sources),
            results,
            make,
            [*captured.reads(), *self.reads],
            had,
            gradients,
            self.writes,
            None if self.backward is None else self.recorder(function),
            self.generators,
            self._drawn_from() if self.has_guards else None,
            [place[slot] for slot in self.plain],
            self.used_up,
        )

    def _drawn_from(self) -> list[Any]:
        """Generators that a run may have drawn from by the time that a guard fails; no trace tells of a choice's."""
        return [*self.generators, default_generator] if self.has_choices else self.generators

    def recorder(self, function: Any) -> Recorder:
        """What gives the results of a run their history; `function` is the function itself, of the leaves."""
        assert self.backward is not None
        place = {slot: number for number, slot in enumerate(self.forward_outputs)}
        place_of_gradient = {slot: number for number, slot in enumerate(self.wanted_slots)}
        return Recorder(
            [place[slot] for slot in self.recorded_slots],
            [source.number if source.kind == "argument" else source.tensor for source, _ in self.wanted],
            [place[slot] for slot in self.kept],
            references(self.backward_sources),
            self.captured,
            self.backward,
            [None if slot is None else place_of_gradient[slot] for _, slot in self.wanted],
            functools.partial(Recording, self, function),
        )

    def _has_same_gradients(self, leaves: list[Any]) -> bool:
        """Have the leaves a `.grad` where they had one when the function was traced?"""
        return all(_layout_of(_leaf_of(source, leaves).grad) == had for source, had in self.had_gradient)

    def run_or_none(self, function: Any, leaves: list[Any]) -> tuple[Any] | None:
        """The result of `run`, in a tuple; None, with nothing changed, if a guard fails."""
        generators = self._drawn_from() if self.has_guards else []
        places = [place_of(generator) for generator in generators]
        try:
            return (self.run(function, leaves),)
        except Outdated:
            for generator, place in zip(generators, places):
                go_back(generator, place)
            return None

    def run(self, function: Any, leaves: list[Any]) -> Any:
        """The results of a call, with a history where one is wanted."""
        if self.backward is None:
            return self.finished(self.run_forward(leaves), leaves)
        states = [(generator, generator.get_state()) for generator in self.generators]
        found = self.recorder(function).with_history(tuple(self.run_forward(leaves).values()), leaves, states)
        return self.finished(dict(zip(self.forward_outputs, found)), leaves)

    def run_forward(self, leaves: list[Any]) -> dict[int, Tensor]:
        values = self.forward.run(values_of(references(self.forward_sources), leaves))
        return dict(zip(self.forward_outputs, values))

    def finished(self, found: dict[int, Any], leaves: list[Any]) -> Any:
        """Store gradients of leaves, and give the results in the shape that the function gave them."""
        for one in self.used_up:
            found = dict(zip(self.forward_outputs, one.with_history(tuple(found.values()), leaves)))
        had = [result.had_gradient and _leaf_of(result.had_gradient, leaves).grad for result in self.results]
        for source, slot in self.gradients:
            with no_grad():
                _leaf_of(source, leaves).grad = None if slot is None else found[slot].detach()
        for slot in self.plain:
            if found[slot].requires_grad:
                found[slot] = found[slot].detach()
        results = [_result(result, found, leaves, before) for result, before in zip(self.results, had)]
        return self._left(results) if self.changes else self.spec.unflatten(results)

    def _left(self, results: list[Any]) -> Any:
        """What the function gives, once what it leaves elsewhere is there."""
        found, made = self.spec.unflatten(results)
        for change in self.changes:
            change.apply(made)
        return found

    def again(self, function: Any, leaves: list[Any]) -> list[Any]:
        """The results of the function itself, and the tensors that it would leave elsewhere, which it does not."""
        before = [(change, change.now()) for change in self.changes]
        try:
            spec = self.spec.children[0] if self.changes else self.spec
            found = leaves_like(spec, function(leaves))
            return [*found, *(one for change in self.changes for one in change.made_now())]
        finally:
            for change, value in before:
                change.put(value)

    def first_results(self, traced: Traced, leaves: list[Any], function: Any) -> Any:
        """The results of the traced call itself."""
        values = traced.trace.values
        outside = {id(tensor) for tensor in self.captured}
        found: dict[int, Any] = {slot: leave_call(_as_in_run(values[slot], outside)) for slot in self.forward_outputs}
        for slot in traced.trace.constants.keys() & found.keys():
            found[slot] = from_array(copied_as_it_lies(array_behind(found[slot])))
        if self.backward is None:
            return self.finished(found, leaves)
        given = tuple([found[slot] for slot in self.forward_outputs])
        recorded = self.recorder(function).with_history(given, leaves, traced.trace.generators)
        return self.finished(dict(zip(self.forward_outputs, recorded)), leaves)

    def recorded_of(self, results: list[Any]) -> list[Tensor]:
        """Those of all results of a call that have a history of its own, in the same order."""
        found: dict[int, Tensor] = {}
        for result, value in zip(self.results, results, strict=True):
            if _is_recorded(result) and result.slot is not None:
                found.setdefault(result.slot, value)
        return list(found.values())


def _as_in_run(value: Tensor, outside: set[int]) -> Tensor:
    """A view that is made without recording requires grad if its leaf does; runs do not make leaves of the function."""
    base = value._base
    return value.detach() if base is not None and value.requires_grad and id(base) not in outside else value


def _is_recorded(result: Result) -> bool:
    return result.requires_grad and not result.is_used_up


def _slots_in(slots: Iterable[int | None]) -> list[int]:
    return list(dict.fromkeys(slot for slot in slots if slot is not None))


def _calls_python(step: Step) -> bool:
    """Does it call a function for what that does beside its results?"""
    return step.function is not None and step.has_effects and not isinstance(step.function, Expected)


def _layout_of(tensor: Tensor | None) -> Any:
    """What a program takes for granted of a tensor; None of none."""
    if tensor is None:
        return None
    array = array_behind(tensor)
    return array.dtype, array.shape, array.strides, tensor.requires_grad, array.flags.writeable


def references(sources: Iterable[Source]) -> list[Any]:
    """The sources as programs refer to them; see sources.pyx."""
    return [_reference(source) for source in sources]


def _reference(source: Source) -> Any:
    if source.kind == "argument":
        return source.number
    if source.kind == "gradient":
        assert source.leaf is not None
        return (_reference(source.leaf),)
    return [source.tensor] if source.is_written else source.tensor


def _of_entry(result: Result, place: dict[int, int]) -> tuple[str, Any]:
    """A result as an `Entry` knows it."""
    if result.argument is not None:
        return "argument", result.argument
    if result.gradient is not None:
        return "gradient", _reference(result.gradient)
    if result.had_gradient is not None:
        return "had", _reference(result.had_gradient)
    return ("value", result.value) if result.slot is None else ("slot", place[result.slot])


def _leaf_of(source: Source, leaves: list[Any]) -> Any:
    return leaves[source.number] if source.kind == "argument" else source.tensor


def _result(result: Result, found: dict[int, Any], leaves: list[Any], had: Any) -> Any:
    if result.argument is not None:
        return leaves[result.argument]
    if result.gradient is not None:
        return _leaf_of(result.gradient, leaves).grad
    if result.had_gradient is not None:
        return had
    return result.value if result.slot is None else found[result.slot]


def _used(sources: Iterable[Source], steps: list[Step], outputs: list[int]) -> list[Source]:
    read = {slot for step in steps for slot in step.reads} | set(outputs)
    return [source for source in sources if source.slot in read]


# ---- the check


def differs(variant: Variant, traced: Traced, leaves: list[Any]) -> str | None:
    """Run the programs on what the traced run got; gives what they compute otherwise, or None.

    Memory that the function wrote has its old values for that, and its new ones afterwards.
    """
    trace = traced.trace
    if variant.calls_python:
        return None
    after = [(owner, owner.copy()) for owner, _ in trace.originals.values()]
    states = [(generator, generator.get_state()) for generator, _ in trace.generators]
    try:
        for owner, before in trace.originals.values():
            np.copyto(owner, before)
        for generator, state in trace.generators:
            generator.set_state(state)
        found = variant.run_forward(leaves)
        if any(not _same(owner, values) for owner, values in after):
            return "what it writes"
        gradient = _other_gradient(variant, trace.values, found, leaves)
    finally:
        for owner, values in after:
            np.copyto(owner, values)
        for generator, state in states:
            generator.set_state(state)
    for slot in variant.forward_outputs:
        if not _same(found[slot].detach().numpy(), trace.values[slot].detach().numpy()):
            return f"value %{slot}"
    return gradient


def _other_gradient(variant: Variant, values: list[Tensor], found: dict[int, Any], leaves: list[Any]) -> str | None:
    """What the backward gives otherwise than the traced run did, for gradients that are all one; parts of a sum may
    have been added in another order."""
    if variant.backward is None:
        return None
    given = [*[values[slot] for slot in variant.cotangents], *[found[slot] for slot in variant.kept]]
    got = variant.backward.run((*given, *values_of(references(variant.backward_sources), leaves)))
    for slot, gradient in zip(variant.wanted_slots, got):
        if not _close(array_behind(gradient), array_behind(values[slot])):
            return f"gradient %{slot}"
    return None


def _close(found: Any, expected: Any) -> bool:
    tolerance = 1e-6 if expected.dtype.char in "dD" else 1e-2 if expected.dtype.char in "fF" else 0.1
    with np.errstate(all="ignore"):
        are_finite = np.isfinite(found) & np.isfinite(expected)
        return bool(np.all(~are_finite | (np.abs(found - expected) <= tolerance * (1 + np.abs(expected)))))


def _same(found: Any, expected: Any) -> bool:
    return found.dtype == expected.dtype and np.array_equal(found, expected, equal_nan=found.dtype.kind in "fc")
