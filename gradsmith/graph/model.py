"""What is exported: the steps of one traced run, and the memory that they work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsmith.compiler.errors import TraceError
from gradsmith.compiler.plans.memory import Memory, owner_of
from gradsmith.compiler.plans.plan import needed_steps
from gradsmith.compiler.tracing import Caller, Traced, Unrepeatable, trace_call
from gradsmith.generated.tensor import Tensor
from gradsmith.graph.forms import statement_of
from gradsmith.graph.layout import Array, Buffer, NotExportable, Operand, Statement, place_in
from gradsmith.graph.literals import c_type
from gradsmith.graph.step_view import StepView
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.programs.program import Step
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.utils import pytree

ALIGNMENT = 64
ADVICE = "Write them with other ops, or compute them outside of the function and pass the results as arguments"


@dataclass(frozen=True)
class Model:
    """A function as C has it.

    Attributes
    ----------
    inputs : tuple of (Buffer, ndarray)
        The arguments, dense by rows, and those of the traced run.
    constants : tuple of (Buffer, ndarray)
    starts : tuple of (Operand, str)
        Work memory that begins as a constant, because the function writes to it; and the name of the constant.
    outputs : tuple of Operand
        Where the results lie at the end.
    work_size : int
        Bytes.
    """

    inputs: tuple[tuple[Buffer, Array], ...]
    constants: tuple[tuple[Buffer, Array], ...]
    starts: tuple[tuple[Operand, str], ...]
    statements: tuple[Statement, ...]
    outputs: tuple[Operand, ...]
    work_size: int


def model_of(function: Callable[..., Any], args: Sequence[Any], name: str) -> Model:
    """Trace the function on copies of the arguments."""
    leaves, spec = pytree.flatten((tuple(args), {}))
    leaves = [
        from_array(np.array(array_behind(leaf), order="C")) if isinstance(leaf, Tensor) else leaf for leaf in leaves
    ]
    traced = _traced(function, Caller(name, lambda: ""), leaves, spec)
    try:
        return _Export(traced, leaves, name).model()
    except NotExportable as reason:
        raise NotImplementedError(
            f"export_c({name}): {reason}; convert or clone() it outside of the function"
        ) from None
    finally:
        traced.trace.release()


def _traced(function: Callable[..., Any], caller: Caller, leaves: list[Any], spec: pytree.TreeSpec) -> Traced:
    """Gradients of the results are not wanted: where they cannot be traced, results have no history."""
    try:
        return trace_call(function, caller, leaves, spec)
    except Unrepeatable:
        with no_grad():
            return trace_call(function, caller, leaves, spec)


class _Export:
    def __init__(self, traced: Traced, leaves: list[Any], name: str) -> None:
        self.traced, self.name = traced, name
        trace = traced.trace
        outside = [source.slot for source in traced.sources if source.kind != "constant"]
        self.memory = Memory(trace.values, outside, traced.steps)
        self.outputs = [self._output(result, leaves) for result in traced.results]
        self.steps = needed_steps(traced.steps, self.outputs, self.memory)
        self.written = {self.memory.owners[step.results[0]] for step in self.steps if step.writes}  # type: ignore[index]
        self.owners = {self.memory.owners[slot]: owner_of(array) for slot, array in enumerate(self.memory.arrays)}
        self.buffers: dict[int, Buffer] = {}
        self.types: dict[int, np.dtype[Any]] = {}
        self.constants: list[tuple[Buffer, Array]] = []
        self.starts: list[tuple[Operand, str]] = []
        self.work_size = 0

    def model(self) -> Model:
        self._expect_pure()
        inputs = [self._input(source) for source in self.traced.sources if source.kind == "argument"]
        used = set(self.outputs).union(*[step.reads for step in self.steps], *[step.results for step in self.steps])
        for source in self.traced.sources:
            if source.kind != "argument" and source.slot in used:
                self._constant(source.slot)
        statements = self._statements()
        outputs = tuple(self._place(slot, self.memory.arrays[slot]) for slot in self.outputs)
        return Model(
            tuple(inputs), tuple(self.constants), tuple(self.starts), tuple(statements), outputs, self.work_size
        )

    # -- memory

    def _input(self, source: Any) -> tuple[Buffer, Array]:
        array = self.memory.arrays[source.slot]
        c_type(array.dtype)
        buffer = Buffer("input", f"x{source.slot}")
        self.buffers[self.memory.owners[source.slot]] = buffer
        return buffer, array

    def _constant(self, slot: int) -> None:
        """What was there before: in the file, and copied to work memory first where the function writes to it."""
        owner = self.memory.owners[slot]
        if owner in self.buffers:
            return
        c_type(self.owners[owner].dtype)
        before = self.traced.trace.changed.get(owner, self.owners[owner])
        buffer = Buffer("constant", f"constant_{len(self.constants)}")
        self.constants.append((buffer, _in_order_of_memory(before)))
        if owner in self.written:
            work = self._work(owner)
            size = self.owners[owner].size
            self.starts.append((Operand(work, self.owners[owner].dtype, 0, (size,), (1,)), buffer.name))
        else:
            self.buffers[owner] = buffer

    def _work(self, owner: int) -> Buffer:
        buffer = Buffer("work", "work", self.work_size)
        n_bytes = max(self.owners[owner].nbytes, 1)
        self.work_size += -(-n_bytes // ALIGNMENT) * ALIGNMENT
        self.buffers[owner] = buffer
        return buffer

    def _place(self, slot: int, shown: Array) -> Operand:
        owner = self.memory.owners[slot]
        buffer = self.buffers.get(owner) or self._work(owner)
        fixed = shown.dtype if buffer.kind == "work" else self.owners[owner].dtype
        if self.types.setdefault(owner, fixed) != shown.dtype:
            raise NotExportable("it looks at memory as another dtype")
        return place_in(buffer, self.owners[owner], shown)

    # -- steps

    def _statements(self) -> list[Statement]:
        found, failed = [], []
        for step in self.steps:
            if self.memory.is_view(step) or self._shows_operand(step):
                continue
            try:
                found.append(self._statement(step))
            except NotExportable as reason:
                failed.append(
                    f"  {step.name}{f' ({step.place})' if step.place else ''}{f': {reason}' if str(reason) else ''}"
                )
        if failed:
            raise NotImplementedError(
                "\n".join(
                    [
                        f"export_c({self.name}): these ops have no form in the exported C:",
                        *dict.fromkeys(failed),
                        ADVICE,
                    ]
                )
            )
        return found

    def _shows_operand(self, step: Step) -> bool:
        """Is a call of Python nothing but a view of given strides?"""
        owners = {self.memory.owners[slot] for slot in step.reads}
        return step.name == "view" and all(
            slot is not None and self.memory.owners[slot] in owners for slot in step.results
        )

    def _statement(self, step: Step) -> Statement:
        if step.function is not None:
            raise NotExportable("it calls Python")
        if step.has_effects:
            raise NotExportable("it draws random numbers; pass them as an argument")
        for slot in step.reads:
            c_type(self.memory.arrays[slot].dtype)
        title = f"{step.name}{f', {step.place}' if step.place else ''}"
        return statement_of(StepView(step, self.memory.arrays, self._place), title)

    # -- what a function of C cannot do

    def _output(self, result: Any, leaves: list[Any]) -> int:
        if result.argument is not None:
            return self.traced.trace.slot(leaves[result.argument])
        if result.slot is None:
            raise TypeError(
                f"export_c({self.name}): a result is {result.value!r}, which is not a tensor; return tensors only"
            )
        return result.slot  # type: ignore[no-any-return]

    def _expect_pure(self) -> None:
        if self.written & self.memory.outside:
            raise TraceError(
                f"export_c({self.name}): the function writes to an argument or a captured tensor, which the exported "
                "function only reads; clone() it first, and return what was written"
            )
        if self.traced.gradients:
            raise TraceError(
                f"export_c({self.name}): the function changes the .grad of a tensor; use func.grad and return the "
                "gradient"
            )
        if not self.outputs:
            raise TypeError(f"export_c({self.name}): the function returns no tensor")


def _in_order_of_memory(array: Array) -> Array:
    """All elements of an array that has its memory, as they lie there."""
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    dense = array.transpose(order)
    if not dense.flags.c_contiguous:
        raise NotImplementedError(
            "export_c(): a captured tensor has gaps in its memory; clone() it outside of the function"
        )
    found: Array = dense.reshape(-1).copy()
    return found
