"""The tangents of a loop, which a loop beside it carries along. See loop.py, Note [Loops traced once]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradsmith.control_flow.repeating.loop import Loop, Looped, Shape
from gradsmith.control_flow.repeating.parts import Parts, Pieces, joined_pieces, piece_of
from gradsmith.runtime.switches.grad_mode import is_grad_enabled
from gradsmith.runtime.tensors.factories.creation import zeros

Tensors = Sequence[Any]


def tangents_of_loop(loop: Loop, operands: Tensors, states: Tensors, tangents: Tensors) -> list[Any]:
    """Tangents of all that the loop gives, the states that it keeps included; None where there is none."""
    forward = _Forward(loop, operands, states, tangents)
    left = loop.shape.n
    while left:
        left -= forward.advance(left)
    return forward.tangents()


@dataclass(frozen=True)
class Roles:
    """Which parts of the state before a step, which of its rows, and which constants have tangents."""

    alive: tuple[int, ...]
    rows: tuple[int, ...]
    constants: tuple[int, ...]


class _Forward:
    """Goes through the steps from the first to the last, as many at a time as are alike.

    The first ones may differ: nothing has a tangent of zeros in the place of none.
    """

    def __init__(self, loop: Loop, operands: Tensors, states: Tensors, tangents: Tensors) -> None:
        self.loop, self.states = loop, states
        n_state, first = loop.shape.n_state, loop.shape.n_state + loop.shape.n_rows
        self.columns, self.constants = operands[n_state:first], operands[first:]
        self.of_state = {i: one for i, one in enumerate(tangents[:n_state]) if one is not None}
        self.of_rows = {i: one for i, one in enumerate(tangents[n_state:first]) if one is not None}
        self.of_constants = {i: one for i, one in enumerate(tangents[first:]) if one is not None}
        self.of_results: Pieces = []
        self.of_states: Pieces = []
        self.n_results = 0
        self._pushed: dict[tuple[int, ...], Pushed] = {}

    def advance(self, left: int) -> int:
        """Make some steps of those that are left; gives their number."""
        pushed = self._pushed_of(tuple(self.of_state))
        pushed.find_present(self._loop_of(pushed, 1), self._operands(left, left))
        count = left if pushed.roles.alive == pushed.alive_after else 1
        found = Parts(Looped.apply(self._loop_of(pushed, count), *self._operands(left, count)))
        self.of_state = dict(zip(pushed.alive_after, found.take(len(pushed.alive_after))))
        self.of_results.append((count, dict(zip(pushed.present_results, found.take(len(pushed.present_results))))))
        self.of_states.append((count, dict(zip(pushed.roles.alive, found.rest()))))
        self.n_results = pushed.n_results
        return count

    def _pushed_of(self, alive: tuple[int, ...]) -> Pushed:
        if alive not in self._pushed:
            self._pushed[alive] = Pushed(self.loop, Roles(alive, tuple(self.of_rows), tuple(self.of_constants)))
        return self._pushed[alive]

    def _operands(self, left: int, count: int) -> list[Any]:
        """What the next `count` steps are given; leaves stay the last ones."""
        shape = self.loop.shape
        columns = [
            piece_of(column, shape.n - left, count, shape.reverse)
            for column in (*self.states, *self.columns, *self.of_rows.values())
        ]
        return [*self.of_state.values(), *columns, *self.of_constants.values(), *self.constants]

    def _loop_of(self, pushed: Pushed, n: int) -> Loop:
        shape, n_state = self.loop.shape, len(pushed.roles.alive)
        n_rows = len(self.states) + len(self.columns) + len(self.of_rows)
        n_next = n_state if pushed.present is None else len(pushed.alive_after)
        inner = Shape(n_state, n_rows, n, shape.reverse, n_next, shape.keeps or is_grad_enabled())
        return Loop(pushed, inner, (True,) * max(n_state, n_next), leaves=self.loop.leaves, bodies=pushed.bodies)

    def tangents(self) -> list[Any]:
        shape = self.loop.shape
        found = [self.of_state.get(i) for i in range(shape.n_next)]
        found += [joined_pieces(self.of_results, j, shape.reverse) for j in range(self.n_results)]
        if shape.keeps:
            found += [joined_pieces(self.of_states, i, shape.reverse) for i in range(shape.n_state)]
        return found


class Pushed:
    """The tangents of one step, as a function of tensors.

    Of the tangents of the state; of the state, the row and the tangents of the row; of the tangents of constants, and
    of constants. It gives the tangents of the next state and of the results.

    Attributes
    ----------
    present : list of bool or None
        Which of these there are: known once it has been called.
    """

    def __init__(self, loop: Loop, roles: Roles) -> None:
        self.loop, self.roles = loop, roles
        self.present: list[bool] | None = None
        self.bodies: dict[Any, Any] = {}

    @property
    def alive_after(self) -> tuple[int, ...]:
        """Parts of the next state that have a tangent."""
        assert self.present is not None
        return tuple([i for i, there in enumerate(self.present[: self.loop.shape.n_next]) if there])

    @property
    def present_results(self) -> list[int]:
        assert self.present is not None
        return [j for j, there in enumerate(self.present[self.loop.shape.n_next :]) if there]

    @property
    def n_results(self) -> int:
        assert self.present is not None
        return len(self.present) - self.loop.shape.n_next

    def find_present(self, loop: Loop, tensors: Tensors) -> None:
        """Find out which tangents there are, by planning a step."""
        if self.present is None:
            loop.body(tensors)

    def __call__(self, tensors: list[Any]) -> list[Any]:
        shape, roles, parts = self.loop.shape, self.roles, Parts(tensors)
        of_state = parts.take(len(roles.alive))
        states, rows = parts.take(shape.n_state), parts.take(shape.n_rows)
        of_rows, of_constants = parts.take(len(roles.rows)), parts.take(len(roles.constants))
        constants = parts.rest()
        with dual_level():
            _make_duals(states, roles.alive, of_state)
            _make_duals(rows, roles.rows, of_rows)
            _make_duals(constants, roles.constants, of_constants)
            found = self.loop.work([*states, *rows, *constants])
            tangents = [unpack_dual(one).tangent for one in found]
        if self.present is None:
            self.present = [one is not None for one in tangents]
        return [
            zeros(one.shape, dtype=one.dtype) if tangent is None else tangent
            for one, tangent, there in zip(found, tangents, self.present)
            if there
        ]


def _make_duals(tensors: list[Any], places: Sequence[int], tangents: Tensors) -> None:
    for place, tangent in zip(places, tangents):
        tensors[place] = make_dual(tensors[place], tangent)
