"""Runs of a loop: the program of one step, as often as there are steps, on memory for all of them.

Note [Memory of loops]
A block reads the state where it is and writes the next one beside it, so that nothing is copied: back and forth between
two places, or, where all states are kept for a backward, on and on in one stack of them.

    not kept    [ a ][ b ]              a -> b, b -> a, a -> b, ...
    kept        [ 0 ][ 1 ][ 2 ] ...     0 -> 1, 1 -> 2, ...

Rows of inputs and of stacked results are a stride apart. A program that needs Python is given tensors in each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.compiler.plans.memory import Array
from gradsmith.control_flow.repeating.loop import Shape
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.programs.layouts import copied_as_it_lies
from gradsmith.runtime.programs.often import run_often

if TYPE_CHECKING:
    from gradsmith.compiler.bodies import Body

Moving = tuple[Array, int, int]  # the first place, and the distances to the next after even and after odd steps


class _Run:
    """One run.

    Parameters
    ----------
    arrays : sequence of ndarray
        The state before the first step, columns of rows, constants, and what the step captures.
    """

    def __init__(self, body: Body, shape: Shape, arrays: Sequence[Array]) -> None:
        self.body, self.shape, self.arrays = body, shape, arrays
        self.stacks = [np.empty((shape.n, *model.shape), model.dtype) for model in body.models[shape.n_next :]]
        if shape.n == 1:
            self.ends = [np.empty_like(model) for model in body.models[: shape.n_next]]
        else:
            rooms = shape.n + 1 if shape.keeps else 2
            self.states = [np.empty((rooms, *model.shape), model.dtype) for model in body.models[: shape.n_next]]

    def results(self) -> Iterator[Array]:
        """The state after all steps, stacked results, and the states before each step if they are kept."""
        shape = self.shape
        yield from self.ends if shape.n == 1 else [state[self._last(), ...].copy() for state in self.states]
        yield from self.stacks
        if shape.keeps and shape.n == 1:
            yield from [array[None].copy() for array in self.arrays[: shape.n_state]]
        elif shape.keeps:
            yield from [state[1:] if shape.reverse else state[:-1] for state in self.states]

    def _first(self) -> int:
        return self.shape.n if self.shape.keeps and self.shape.reverse else 0

    def _last(self) -> int:
        if not self.shape.keeps:
            return self.shape.n % 2
        return 0 if self.shape.reverse else self.shape.n

    def _along(self, rows: Array) -> Moving:
        """From the first row that is used to the others."""
        stride = -rows.strides[0] if self.shape.reverse else rows.strides[0]
        return rows[-1 if self.shape.reverse else 0, ...], stride, stride


class BlockRun(_Run):
    """Without Python."""

    def __init__(self, body: Body, shape: Shape, arrays: Sequence[Array]) -> None:
        super().__init__(body, shape, arrays)
        if shape.n > 1:
            for state, array in zip(self.states, arrays):
                state[self._first()] = array
        program = body.program
        memory = {slot: self._of_input(place) for slot, place in body.places.items()}
        memory |= {slot: (array_behind(one), 0, 0) for slot, one in body.constants.items()}
        memory |= {slot: self._of_output(number) for number, slot in enumerate(program.outputs)}
        run_often(program, memory, shape.n)

    def _of_input(self, place: int) -> Moving:
        shape = self.shape
        if place < shape.n_state:
            return self._of_state(place, 0) if shape.n > 1 else (np.asarray(self.arrays[place], order="C"), 0, 0)
        if place < shape.n_state + shape.n_rows:
            return self._along(self.arrays[place])
        return self.arrays[place], 0, 0

    def _of_output(self, number: int) -> Moving:
        n_next = self.shape.n_next
        if number >= n_next:
            return self._along(self.stacks[number - n_next])
        return self._of_state(number, 1) if self.shape.n > 1 else (self.ends[number], 0, 0)

    def _of_state(self, number: int, ahead: int) -> Moving:
        states, first = self.states[number], self._first()
        nbytes = states.strides[0]
        if not self.shape.keeps:
            return (states[1, ...], -nbytes, nbytes) if ahead else (states[0, ...], nbytes, -nbytes)
        step = -1 if self.shape.reverse else 1
        return states[first + ahead * step, ...], step * nbytes, step * nbytes


class StepwiseRun(_Run):
    """With tensors in each step."""

    def __init__(self, body: Body, shape: Shape, arrays: Sequence[Array]) -> None:
        super().__init__(body, shape, arrays)
        fixed = [from_array(array) for array in arrays[shape.n_state + shape.n_rows :]]
        state = [from_array(np.asarray(array, order="C")) for array in arrays[: shape.n_state]]
        columns = arrays[shape.n_state : shape.n_state + shape.n_rows]
        for number in reversed(range(shape.n)) if shape.reverse else range(shape.n):
            if shape.keeps and shape.n > 1:
                self._put(self.states, state, number + shape.reverse)
            given = [*state, *[from_array(column[number, ...]) for column in columns], *fixed]
            found = body.program.run(self._inputs(given))
            state = list(found[: shape.n_next])
            self._put(self.stacks, found[shape.n_next :], number)
        if shape.n == 1:
            self.ends = [array_behind(one) for one in state]
        else:
            self._put(self.states, state, self._last())

    def _inputs(self, given: Sequence[Tensor]) -> tuple[Tensor, ...]:
        constants = [
            from_array(copied_as_it_lies(array_behind(one))) if slot in self.body.renewed else one
            for slot, one in self.body.constants.items()
        ]
        return (*[given[place] for place in self.body.places.values()], *constants)

    def _put(self, stacks: Sequence[Array], tensors: Sequence[Any], number: int) -> None:
        for stack, tensor in zip(stacks, tensors):
            stack[number] = array_behind(tensor)
