"""Calls of compiled functions whose results have a history."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd import Function, grad
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.switches.grad_mode import enable_grad, is_grad_enabled

if TYPE_CHECKING:
    from gradsmith.compiler.variant import Variant

Cotangents = Sequence[Tensor | None]


@dataclass(slots=True)
class Recording:
    """One call, for gradients that the backward program alone cannot compute; see `Recorder`.

    Attributes
    ----------
    variant : Variant
    function : callable
        The function itself, of the leaves of its arguments.
    leaves : list
    states : list of (Generator, Tensor)
        Generators that it draws from, as they were before.
    """

    variant: Variant
    function: Any
    leaves: list[Any]
    states: list[tuple[Any, Any]]

    def apply(self, results: tuple[Tensor, ...], saved: tuple[Tensor, ...], inputs: tuple[Tensor, ...]) -> Any:
        """The results with a history that follows the rules of custom Functions."""
        with enable_grad():  # the function may have recorded them in no_grad()
            return RecordedCall.apply(self, results, saved, *inputs)

    def gradients(self, cotangents: Cotangents, saved: Sequence[Tensor]) -> Sequence[Tensor | None]:
        """The gradients of the inputs, in every case. `saved` is what the backward reads, and the inputs."""
        variant = self.variant
        assert variant.backward is not None
        n_read = len(saved) - len(variant.wanted)
        if is_grad_enabled() or any(one is not None and is_batched_tensor(one) for one in cotangents):
            return self._of_the_function(cotangents, saved[n_read:])
        given = [
            variant.values.zeros(slot) if one is None else one.contiguous()
            for one, slot in zip(cotangents, variant.cotangents)
        ]
        found = dict(zip(variant.wanted_slots, variant.backward.run((*given, *saved[:n_read]))))
        gradients = [None if slot is None else found[slot] for _, slot in variant.wanted]
        if all(one is not None for one in cotangents):
            return gradients
        if not all(map(_is_finite, gradients)):  # a zero times an infinity may be among them
            if variant.may_run_again:
                return self._of_the_function(cotangents, saved[n_read:])
            gradients = self._of_each(cotangents, given, saved[:n_read])
        reached = frozenset().union(*(places for places, one in zip(variant.reached, cotangents) if one is not None))
        return [one if place in reached else None for place, one in enumerate(gradients)]

    def _of_each(self, cotangents: Cotangents, given: Sequence[Tensor], read: Sequence[Tensor]) -> list[Tensor | None]:
        """The sums of the gradients of those results alone that have cotangents."""
        variant = self.variant
        sums: list[Tensor | None] = [None] * len(variant.wanted)
        for cotangent, program, slots in zip(cotangents, variant.backward_of_each, variant.wanted_of_each):
            if cotangent is None:
                continue
            found = dict(zip(program.outputs, program.run((*given, *read))))
            for place, slot in enumerate(slots):
                if slot is not None:
                    before = sums[place]
                    sums[place] = found[slot] if before is None else before + found[slot]
        return sums

    def _of_the_function(self, cotangents: Cotangents, inputs: Sequence[Tensor]) -> Sequence[Tensor | None]:
        """With a history, or of several results at a time: of the function itself, called once more."""
        variant = self.variant
        if not variant.may_run_again:
            raise RuntimeError(
                f"compile({self.function.__name__}): gradients of a call that wrote to tensors of others or called "
                "Python functions for their effects have no history, and vmap cannot ask for several at once; "
                "differentiate the function that is not compiled"
            )
        create_graph = is_grad_enabled()
        with enable_grad():
            with _generators_as_before(self.states):
                results = variant.recorded_of(variant.again(self.function, self.leaves))
            results = [result for result, one in zip(results, cotangents) if one is not None]
            given = [one for one in cotangents if one is not None]
            found: Sequence[Tensor | None] = grad(results, inputs, given, create_graph=create_graph, allow_unused=True)
            return found


class RecordedCall(Function):
    """The node where results are views, whose histories follow the rules of custom Functions."""

    @staticmethod
    def forward(ctx: Any, call: Recording, results: Any, saved: Any, *inputs: Tensor) -> Any:
        ctx.call = call
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*saved)
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> Any:
        return (None, None, None, *ctx.call.gradients(cotangents, ctx.saved_tensors))


class UsedUpCall(Function):
    """The node of such a result whose graph is used up, which raises; see Note [Results whose graph is used up]."""

    @staticmethod
    def forward(ctx: Any, text: str, results: tuple[Tensor], *inputs: Tensor) -> Any:
        ctx.text = text
        return results[0]

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> Any:
        raise RuntimeError(ctx.text)

    @classmethod
    def apply_to(cls, text: str, result: Tensor, inputs: tuple[Tensor, ...]) -> Any:
        with enable_grad():
            return cls.apply(text, (result,), *inputs)


def _is_finite(gradient: Tensor | None) -> bool:
    return gradient is None or bool(np.isfinite(array_behind(gradient)).all())


@contextlib.contextmanager
def _generators_as_before(states: list[tuple[Any, Any]]) -> Iterator[None]:
    """Have a function draw the numbers that it drew, and others go on where they were."""
    now = [(generator, generator.get_state()) for generator, _ in states]
    try:
        for generator, state in states:
            generator.set_state(state)
        yield
    finally:
        for generator, state in now:
            generator.set_state(state)
