"""A scan in segments, of which backward runs the steps again.

Note [Segments]
A segment is one node: it keeps the state before its first step, its rows, and the leaves that the function captures.
Its backward runs the steps once more with recording, and a backward through that record; so the steps of one segment
are recorded at a time, and before backward none.

    carry ──> [ k steps ] ──carry──> [ k steps ] ──carry──> ...      kept: what stands at the arrows
                  │  ys                  │  ys

A backward that is recorded itself is again one node of that kind, so second derivatives need no more memory. Work is
always done on copies of the arguments without a history, so that the gradient of a leaf counts no path outside.

A captured tensor with a history would need the same, and cannot be replaced by a copy. Then each segment is an ordinary
checkpoint, whose nodes stay and whose tensors are computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.autograd.function import Function
from gradsmith.autograd.gradients import grad
from gradsmith.control_flow.captured import expect_captured_leaves
from gradsmith.control_flow.steps import Steps, joined
from gradsmith.control_flow.trees import Tensors
from gradsmith.runtime.batching.levels import open_levels
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.switches.grad_mode import enable_grad, is_grad_enabled
from gradsmith.runtime.tensors.entry_points import leads_elsewhere
from gradsmith.runtime.tensors.factories.random import get_rng_state
from gradsmith.utils.checkpoint import checkpoint
from gradsmith.utils.checkpoint_region import rng_state_set_to

Work = Callable[[Tensors], list[Any]]


def ran_in_segments(steps: Steps, carry: Tensors, columns: Tensors, n: int, size: int) -> list[Any]:
    """What ``steps.run`` gives, with the states between segments of `size` steps kept, and nothing else."""
    if not is_grad_enabled() or open_levels() or any(all_tangents(one) for one in (*carry, *columns)):
        return steps.run(carry, columns, n)
    captured = expect_captured_leaves(steps, carry, [column[-1 if steps.reverse else 0] for column in columns])
    whole, rest = divmod(n, size)
    lengths = [size] * whole + [rest] * (rest > 0)
    pieces = list(zip(*(column.split(size) for column in columns))) or [()] * len(lengths)
    results = []
    for place in reversed(range(len(lengths))) if steps.reverse else range(len(lengths)):
        segment = _Segment(steps, len(carry), lengths[place])
        found = _checkpointed(segment, [*carry, *pieces[place]], captured)
        carry = found[: len(carry)]
        results.append(found[len(carry) :])
    return [*carry, *(joined(column, steps.reverse) for column in zip(*results))]


class _Segment:
    """Some steps, as a function of the tensors of the state and of the rows."""

    def __init__(self, steps: Steps, count: int, n: int) -> None:
        self.steps, self.count, self.n = steps, count, n

    def __call__(self, tensors: Tensors) -> list[Any]:
        return self.steps.run(tensors[: self.count], tensors[self.count :], self.n)


def _checkpointed(work: Work, tensors: Tensors, captured: Tensors | None) -> Any:
    if captured is None:
        return checkpoint(work, tensors, use_reentrant=False)
    if any(one.requires_grad for one in (*tensors, *captured)):
        return Recomputed.apply(work, len(captured), *tensors, *captured)
    return work(tensors)


class Recomputed(Function):
    """``work(tensors)``, of which only the tensors are kept. See Note [Segments]."""

    @staticmethod
    def forward(ctx: Any, work: Work, n_captured: int, *tensors: Any) -> tuple[Any, ...]:
        ctx.count = len(tensors) - n_captured
        ctx.work, ctx.rng_state = work, get_rng_state()
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)
        return tuple(work(tensors[: ctx.count]))

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        saved = ctx.saved_tensors
        given, captured = saved[: ctx.count], saved[ctx.count :]
        places = [n for n, cotangent in enumerate(cotangents) if cotangent is not None]
        if not places:
            return (None,) * (2 + len(saved))
        wanted = [one.requires_grad for one in given]
        pullback = Pullback(ctx.work, ctx.rng_state, wanted, captured, places)
        tensors = [*given, *(cotangents[n] for n in places)]
        recording = is_grad_enabled()
        found = iter(Recomputed.apply(pullback, len(captured), *tensors, *captured) if recording else pullback(tensors))
        return (None, None, *(next(found) if one.requires_grad else None for one in saved))


class Pullback:
    """The gradients of arguments and of captured leaves, as a function of the arguments and of cotangents.

    None of what no result with a cotangent comes from.
    """

    def __init__(self, work: Work, rng_state: Any, wanted: list[bool], captured: Tensors, places: list[int]) -> None:
        self.work, self.rng_state = work, rng_state
        self.wanted, self.captured = wanted, captured
        self.places = places  # of the results that have a cotangent

    def __call__(self, tensors: Tensors) -> list[Any]:
        recording = is_grad_enabled()
        count = len(self.wanted)
        given = [_own(one, wanted, recording) for one, wanted in zip(tensors, self.wanted)]
        inputs = [one for one, wanted in zip(given, self.wanted) if wanted] + list(self.captured)
        with rng_state_set_to(self.rng_state), enable_grad():
            results = self.work(given)
            pairs = [(results[n], one) for n, one in zip(self.places, tensors[count:]) if results[n].requires_grad]
            if not pairs:
                return [None] * len(inputs)
            outputs, cotangents = map(list, zip(*pairs))
            self._require_no_others(outputs, [*inputs, *tensors[count:]])
            return list(grad(outputs, inputs, cotangents, create_graph=recording, allow_unused=True))

    def _require_no_others(self, outputs: list[Any], inputs: list[Any]) -> None:
        if leads_elsewhere(outputs, [one for one in inputs if one.requires_grad]):
            raise RuntimeError(
                "scan(): when its steps were run again for backward, f read a tensor that requires grad and that its "
                "first step had not read. With checkpoint=, hand such tensors over in carry or xs"
            )


def _own(tensor: Any, wanted: bool, recording: bool) -> Any:
    """A leaf: what is recorded has such arguments already."""
    return tensor if recording else tensor.detach().requires_grad_(wanted)
