"""The leaves that the steps of a scan read besides their arguments, and by which results can be differentiated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradsmith.autograd.graph import get_gradient_edge
from gradsmith.control_flow.steps import Steps
from gradsmith.control_flow.trees import Tensors
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.entry_points import leads_elsewhere
from gradsmith.runtime.tensors.factories.creation import zeros
from gradsmith.runtime.tensors.factories.random import get_rng_state
from gradsmith.utils.checkpoint_region import rng_state_set_to


def expect_captured_leaves(steps: Steps, carry: Tensors, row: Tensors) -> list[Any] | None:
    """What a step captures, found by making one; None if it captures a tensor that has a history.

    No random numbers are drawn that others would get.
    """
    with rng_state_set_to(get_rng_state()), enable_grad():
        given = [one.detach().requires_grad_(one.requires_grad) for one in (*carry, *row)]
        newest: Any = (zeros((), requires_grad=True) * 1).grad_fn
        start = newest._sequence_nr()  # no older node has a greater number
        state, results = steps.step(given[: len(carry)], given[len(carry) :])
        recorded = [one for one in (*state, *results) if one.requires_grad]
    if not recorded or not leads_elsewhere(recorded, given):
        return []
    own = set(map(id, given))
    leaves = []
    for leaf in _ends(recorded, start):
        if leaf is None:
            return None
        if id(leaf) not in own:
            leaves.append(leaf)
    return leaves


def _ends(results: list[Any], start: int) -> Iterator[Any]:
    """Each leaf at which the graph of a step ends, and None where it ends at an older node."""
    waiting = [get_gradient_edge(one).node for one in results]
    seen: dict[int, Any] = {}  # nodes of leaves live no longer than they are held, and another one gets their id
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen[id(node)] = node
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            yield leaf
        elif node._sequence_nr() <= start:
            yield None
        else:
            waiting += [following for following, _ in node.next_functions]
