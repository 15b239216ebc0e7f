"""A traced run as a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from gradsmith.compiler.errors import TraceError
from gradsmith.compiler.plans.memory import Memory
from gradsmith.compiler.plans.plan import needed_steps, written_owners
from gradsmith.compiler.tracing import Caller, Source, Traced, Unrepeatable, at_hand_for_backward, trace_call
from gradsmith.generated.tensor import Tensor
from gradsmith.graph.saved import trees
from gradsmith.graph.saved.document import Argument, Backward, Call, Document, Kind, Result, Stored, kind_of
from gradsmith.graph.saved.literals import NotStorable, encode
from gradsmith.graph.saved.ops import named
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.programs.program import Slot, Step
from gradsmith.runtime.programs.trace import Expected
from gradsmith.utils import pytree


def traced_for(function: Callable[..., Any], caller: Caller, leaves: list[Any], spec: pytree.TreeSpec) -> Traced:
    """Trace the function.

    Raises
    ------
    TraceError
        It cannot be traced, or a backward of its results cannot.
    """
    try:
        return trace_call(function, caller, leaves, spec)
    except Unrepeatable as error:
        raise TraceError(
            f"save({caller.name}): a backward of the results cannot be saved: {error}. Save the function under "
            "no_grad(), or with arguments that do not require grad"
        ) from error


class Recording:
    """Makes the document of a traced run, whose writes have been undone.

    Parameters
    ----------
    traced : Traced
    leaves : list
        The arguments.
    spec : TreeSpec
        Of the arguments.
    name : str
        Of the function.
    """

    def __init__(self, traced: Traced, leaves: list[Any], spec: pytree.TreeSpec, name: str) -> None:
        self.traced, self.leaves, self.spec, self.name = traced, leaves, spec, name
        trace = traced.trace
        outside = [source.slot for source in traced.sources if source.kind != "constant"]
        self.memory = Memory(trace.values, outside, trace.steps)
        self.wanted = [(source, slot) for source, slot in traced.wanted if source.kind == "argument"]
        self.gradients = list(dict.fromkeys(slot for _, slot in self.wanted if slot is not None))
        self.backward = needed_steps(traced.backward, self.gradients, self.memory)
        self.outputs = [result.slot for result in traced.results if result.slot is not None]
        self.forward = needed_steps(traced.steps, [*self.outputs, *self._kept()], self.memory)
        self.numbers: dict[int, int] = {}  # slot of the trace -> number of the value

    def document(self) -> Document:
        self._expect_storable()
        arguments = self._arguments()
        stored = self._stored()
        forward = self._calls(self.forward)
        recorded = self._recorded() if self.wanted else []
        results = tuple(self._result(result) for result in self.traced.results)
        self.numbers |= {slot: len(self.numbers) + n for n, slot in enumerate(self.traced.cotangents)}
        return Document(
            name=self.name,
            dtype=get_default_dtype().name,
            tree=self.spec,
            arguments=arguments,
            stored=stored,
            forward=forward,
            result_tree=self.traced.spec,
            results=results,
            recorded=tuple(self.numbers[slot] for slot in recorded),
            backward=Backward(self._calls(self.backward), self._gradients()) if self.wanted else None,
        )

    # -- values

    def _kept(self) -> list[int]:
        """Values of the forward that the backward reads."""
        made = {slot for step in self.backward for slot in step.results if slot is not None and not step.writes}
        read = {slot for step in self.backward for slot in step.reads} | set(self.gradients)
        inputs = at_hand_for_backward(self.traced, self.memory)
        return sorted(read - made - inputs - set(self.traced.cotangents))

    def _arguments(self) -> tuple[Argument, ...]:
        numbers = {source.number: source.slot for source in self.traced.sources if source.kind == "argument"}
        first = {id(leaf): place for place, leaf in enumerate(self.leaves) if place in numbers}
        found = []
        for leaf in self.leaves:
            if not isinstance(leaf, Tensor):
                found.append(Argument(None, plain=leaf))
                continue
            slot = numbers[first[id(leaf)]]
            value = self.numbers.setdefault(slot, len(self.numbers))
            found.append(Argument(kind_of(leaf), leaf.requires_grad, value))
        return tuple(found)

    def _stored(self) -> tuple[Stored, ...]:
        written = self._written()
        found = []
        for source in self._used_sources():
            if source.kind == "argument":
                continue
            is_constant = source.kind == "constant"
            leaves_or_written = source.slot in self.outputs or self.memory.owners[source.slot] in written
            found.append(Stored(array_behind(source.tensor), is_constant and leaves_or_written))
            self.numbers[source.slot] = len(self.numbers)
        return tuple(found)

    def _used_sources(self) -> list[Source]:
        steps = [*self.forward, *self.backward]
        read = {slot for step in steps for slot in step.reads} | set(self.outputs) | set(self.gradients)
        return [source for source in self.traced.sources if source.slot in read]

    def _written(self) -> set[int]:
        """Owners of memory that a step writes."""
        return written_owners([*self.forward, *self.backward], self.memory)

    def _calls(self, steps: Sequence[Step]) -> tuple[Call, ...]:
        return tuple([self._call(step) for step in steps])

    def _call(self, step: Step) -> Call:
        found = named(step, self.memory.arrays)
        assert found is not None
        op, operands = found
        renumbered = tuple([self._renumbered(operand) for operand in operands])
        if step.writes:
            return Call(op, renumbered, ())
        for slot in step.results:
            if slot is not None:
                self.numbers[slot] = len(self.numbers)
        return Call(op, renumbered, tuple([None if slot is None else self._kind(slot) for slot in step.results]))

    def _renumbered(self, operand: Any) -> Any:
        if isinstance(operand, Slot):
            return Slot(self.numbers[operand.number])
        if type(operand) in (tuple, list):
            return type(operand)([self._renumbered(item) for item in operand])
        return operand

    def _kind(self, slot: int) -> Kind:
        return kind_of(self.memory.arrays[slot])

    def _result(self, result: Any) -> Result:
        if result.argument is not None:
            return Result(argument=result.argument)
        return Result(plain=result.value) if result.slot is None else Result(value=self.numbers[result.slot])

    def _recorded(self) -> list[int]:
        """Slots of the results with a history, in the order of the gradients that come in."""
        results = [one for one in self.traced.results if one.requires_grad and not one.is_used_up]
        return list(dict.fromkeys(one.slot for one in results if one.slot is not None))

    def _gradients(self) -> tuple[tuple[int, int | None], ...]:
        return tuple(
            (self.numbers[source.slot], None if slot is None else self.numbers[slot]) for source, slot in self.wanted
        )

    # -- what a file cannot hold

    def _expect_storable(self) -> None:
        refused = [text for step in [*self.forward, *self.backward] if (text := self._why_not(step)) is not None]
        if refused:
            raise NotImplementedError(
                "\n".join([f"save({self.name}): a file cannot hold these steps:", *dict.fromkeys(refused)])
            )
        gives_gradients = any(one.gradient or one.had_gradient for one in self.traced.results)
        if self.traced.gradients or gives_gradients or any(one.kind == "gradient" for one in self._used_sources()):
            raise TraceError(
                f"save({self.name}): the function reads or changes the .grad of a tensor; use func.grad and return the "
                "gradient"
            )
        if self.traced.trace.aliased:
            raise TraceError(
                f"save({self.name}): an argument is also a variable that the function captures; use it as one of them"
            )
        if self.wanted and len(self._recorded()) != len(self.traced.cotangents):
            raise TraceError(
                f"save({self.name}): two results with gradients of their own are one value; return it once"
            )
        self._expect_plain_leaves()
        self._expect_apart()

    def _expect_plain_leaves(self) -> None:
        plain = [leaf for leaf in self.leaves if not isinstance(leaf, Tensor)]
        plain += [one.value for one in self.traced.results if one.slot is None and one.argument is None]
        try:
            for leaf in plain:
                encode(leaf)
            for spec in (self.spec, self.traced.spec):
                trees.encode(spec)
        except NotStorable as reason:
            raise TypeError(f"save({self.name}): among arguments and results, {reason}") from None

    def _expect_apart(self) -> None:
        """Tensors are stored one by one, so that a write to one that another one shows would not reach that one."""
        if not (written := self._written()):
            return
        outside = [source.slot for source in self._used_sources()]
        for one, other in combinations(outside, 2):
            owners = {self.memory.owners[one], self.memory.owners[other]}
            if len(owners) == 1 and owners & written and not self._are_arguments(one, other):
                raise TraceError(
                    f"save({self.name}): the function writes to memory that two tensors show, one of which it captures;"
                    " clone() one of them outside of the function"
                )

    def _are_arguments(self, *slots: int) -> bool:
        arguments = {source.slot for source in self.traced.sources if source.kind == "argument"}
        return arguments.issuperset(slots)

    def _why_not(self, step: Step) -> str | None:
        """Why no file can hold a step; None where one can."""
        what = f"  {step.name}{f' ({step.place})' if step.place else ''}"
        if isinstance(step.function, Expected):
            return f"{what}: it asks for the value of a tensor"
        found = named(step, self.memory.arrays)
        if found is None:
            return f"{what}: {'it calls Python' if step.function is not None else 'it is no op that a file can name'}"
        try:
            encode(found[1])
        except NotStorable as reason:
            return f"{what}: {reason}"
        return None
