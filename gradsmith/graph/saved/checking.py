"""Documents whose every op is tried, on tensors without data: nothing is computed, and no memory taken."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.graph.saved.document import Document, Kind, kind_of
from gradsmith.graph.saved.literals import dtype_of
from gradsmith.graph.saved.ops import DRAW, MASK, Op
from gradsmith.graph.saved.replay import Replay
from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.device import device as Device
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.runtime.tensors.factories.random import get_rng_state, set_rng_state

META = Device("meta")


def check(document: Document) -> None:
    """Call every op of a document on tensors without data.

    Raises
    ------
    RuntimeError
        An op refuses its arguments, or gives something else than the document says.
    """
    stored = [_without_data(kind_of(one.array)) for one in document.stored]
    trial = Trial(document, stored)
    state = get_rng_state() if any(op.draws for op, _ in [*trial.forward, *trial.backward]) else None
    try:
        with no_grad():
            _check_calls(trial)
    finally:
        if state is not None:
            set_rng_state(state)


def _check_calls(trial: Trial) -> None:
    document = trial.document
    kinds = {one.value: one.kind for one in document.arguments if one.kind is not None}
    values = trial.run([_without_data(kinds[number]) for number in sorted(kinds)])
    if document.backward is None:
        return
    cotangents = [_without_data(kind_of(values[number])) for number in document.recorded]
    found = trial.gradients(dict(enumerate(values)), len(values), cotangents)
    for number, gradient in enumerate(found):
        if gradient is not None and kind_of(gradient) != kinds[number]:
            raise RuntimeError(f"the gradient of a tensor of {kinds[number]} is {kind_of(gradient)}")


def _without_data(kind: Kind) -> Tensor:
    return from_array(array_without_data(kind.shape, dtype_of(kind.dtype)))


class Trial(Replay):
    """A replay on the meta device."""

    def call(self, op: Op, operands: tuple[Any, ...]) -> Any:
        if op.name.startswith(DRAW) and op.name != MASK:
            operands = _drawn_nowhere(operands)
        try:
            return op.call(tuple([META if isinstance(one, Device) else one for one in operands]))
        except Exception as error:
            raise RuntimeError(f"{op.name} refuses its arguments: {error}") from error


def _drawn_nowhere(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments of a draw, the first of which are the names of the last ones, with the meta device among them."""
    names = operands[0]
    if any(isinstance(one, Tensor) for one in operands) or not isinstance(names, tuple):
        return operands
    count = len(operands) - len(names)
    named = {**dict(zip(names, operands[count:])), "device": META}
    return (tuple(named), *operands[1:count], *named.values())
