"""The calls of a document, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.autograd import Function
from gradsmith.generated.tensor import Tensor
from gradsmith.graph.saved.document import Backward, Call, Document, kind_of
from gradsmith.graph.saved.literals import slots_in, with_values
from gradsmith.graph.saved.ops import Op, op_named
from gradsmith.runtime.batching.batch import level_of
from gradsmith.runtime.switches.grad_mode import is_grad_enabled, no_grad

Values = list[Any]


class Replay:
    """Runs the calls of a document by their ops.

    Parameters
    ----------
    document : Document
    stored : sequence of Tensor
        Those of the document.
    """

    def __init__(self, document: Document, stored: Sequence[Tensor]) -> None:
        self.document, self.stored = document, stored
        self.forward = _with_ops(document.forward)
        self.backward = [] if document.backward is None else _with_ops(document.backward.calls)

    def run(self, tensors: Sequence[Tensor]) -> Values:
        """All values of the forward, without history."""
        fresh = [one.is_fresh for one in self.document.stored]
        values = [*tensors, *[one.clone() if is_fresh else one for one, is_fresh in zip(self.stored, fresh)]]
        self._run_calls(self.forward, values)
        return values

    def unrecorded(self, tensors: Sequence[Tensor]) -> Values:
        """The same where no gradient is wanted."""
        with no_grad():
            return self.run(tensors)

    def recorded(self, tensors: Sequence[Tensor]) -> Values:
        """All values of the forward, those of the recorded results with a history."""
        if self.document.backward is None:
            return self.unrecorded(tensors)
        run = _Run(self)
        found = Replayed.apply(run, *tensors)
        for number, tensor in zip(self.document.recorded, found):
            run.values[number] = tensor
        return run.values

    def gradients(self, values: dict[int, Any], count: int, cotangents: Sequence[Tensor]) -> list[Any]:
        """Of each tensor among the arguments the gradient, or None; `count` is that of the forward's values."""
        backward = self.document.backward
        assert backward is not None
        found: Any = _Later(values, count, [*cotangents])
        self._run_calls(self.backward, found)
        gradients = dict(backward.gradients)
        slots = [gradients.get(number) for number in range(self.document.n_arguments)]
        return [None if slot is None else found[slot] for slot in slots]

    def call(self, op: Op, operands: tuple[Any, ...]) -> Any:
        """What an op gives."""
        return op.call(operands)

    def _run_calls(self, calls: Sequence[tuple[Op, Call]], values: Any) -> None:
        """Add the results of each call to `values`.

        Raises
        ------
        RuntimeError
            A result has another dtype or shape than the document says.
        """
        for op, call in calls:
            found = self.call(op, with_values(call.operands, values))
            if call.results:
                for result in _as_said(call, found):
                    values.append(result)


def _as_said(call: Call, found: Any) -> list[Tensor]:
    """The results of a call that are values."""
    results = [found] if isinstance(found, Tensor) else list(found)
    if len(results) != len(call.results):
        raise RuntimeError(f"{call.op} gives {len(results)} results, but the program has {len(call.results)}")
    pairs = [(result, kind) for result, kind in zip(results, call.results) if kind is not None]
    for result, kind in pairs:
        if not isinstance(result, Tensor) or kind_of(result) != kind:
            what = kind_of(result) if isinstance(result, Tensor) else type(result).__name__
            raise RuntimeError(f"{call.op} gives {what}, but the program has {kind}")
    return [result for result, _ in pairs]


def _with_ops(calls: Sequence[Call]) -> list[tuple[Op, Call]]:
    found = []
    for call in calls:
        op = op_named(call.op)
        assert op is not None
        found.append((op, call))
    return found


class _Later:
    """Values by number, of which the first ones are those that a backward reads."""

    def __init__(self, known: dict[int, Any], count: int, more: Values) -> None:
        self.known, self.count, self.more = known, count, more

    def __getitem__(self, number: int) -> Any:
        return self.known[number] if number < self.count else self.more[number - self.count]

    def append(self, value: Any) -> None:
        self.more.append(value)


class _Run:
    """One recorded run."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.values: Values = []


class Replayed(Function):
    """The node of a loaded program: its backward runs the program's own."""

    @staticmethod
    def forward(ctx: Any, run: _Run, *tensors: Tensor) -> Any:
        document = run.replay.document
        assert document.backward is not None
        run.values = run.replay.run(tensors)
        ctx.replay, ctx.count = run.replay, len(run.values)
        ctx.numbers = _read_later(document.backward, ctx.count)
        ctx.save_for_backward(*[run.values[number] for number in ctx.numbers])
        return tuple([run.values[number] for number in document.recorded])

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        name = ctx.replay.document.name
        if is_grad_enabled():
            raise RuntimeError(
                f"{name}: gradients of a program from a file have no history (create_graph=True): the file has no "
                "program for theirs; save the function that computes these gradients"
            )
        if any(map(_is_of_slices, cotangents)):
            raise RuntimeError(
                f"{name}: a program from a file gives gradients of one result at a time, not of several by vmap, as "
                "jacrev() asks for them; save the function that computes these gradients"
            )
        values = dict(zip(ctx.numbers, ctx.saved_tensors))
        with no_grad():
            return (None, *ctx.replay.gradients(values, ctx.count, cotangents))


def _is_of_slices(tensor: Tensor) -> bool:
    """Does it stand for a slice of what `vmap` works on?"""
    level = level_of(tensor)
    return level is not None and not level.is_trace


def _read_later(backward: Backward, count: int) -> list[int]:
    """Those of the forward's values, of which there are `count`, that the backward reads."""
    read = {number for call in backward.calls for number in slots_in(call.operands)}
    read.update(number for _, number in backward.gradients if number is not None)
    return sorted(number for number in read if number < count)
