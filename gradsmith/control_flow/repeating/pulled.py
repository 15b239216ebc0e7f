"""The backward of a loop, which is a loop. See Note [Loops traced once]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradsmith.autograd.gradients import grad
from gradsmith.control_flow.repeating.loop import Loop, Shape, looped
from gradsmith.control_flow.repeating.parts import Parts, Pieces, joined_pieces, piece_of
from gradsmith.generated import cat
from gradsmith.runtime.batching.batch import trace_of_thread
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches.grad_mode import enable_grad, is_grad_enabled, no_grad
from gradsmith.runtime.tensors.factories.creation import full, zeros

Tensors = Sequence[Any]
Columns = list[Any]


def gradients_of_loop(
    loop: Loop,
    operands: Tensors,
    states: Tensors,
    extra: Tensors,
    cotangents: Tensors,
    needed: Sequence[bool],
    versions: list[tuple[Any, int]],
) -> list[Any]:
    """Gradients of the state, of columns and of constants; None where there is none, or none is `needed`.

    `extra` are columns of what the loop has made on the way. A backward that is recorded makes it again. `versions` are
    those of the tensors that the loop captured, when it did.
    """
    backward = _Backward(loop, operands, states, () if is_grad_enabled() else extra, cotangents, needed)
    backward.versions = {id(one): version for one, version in versions}
    left = loop.shape.n
    while left:
        left -= backward.advance(left)
    return backward.gradients()


@dataclass(frozen=True)
class Roles:
    """Which tensors take part in one step of a backward.

    alive : parts of the state after the step that have a cotangent.
    results : results that have one.
    seeds : parts of the state before the step that have one from elsewhere.
    rows, constants : those whose gradients are wanted.
    """

    alive: tuple[int, ...]
    results: tuple[int, ...]
    seeds: tuple[int, ...]
    rows: tuple[int, ...]
    constants: tuple[int, ...]


class _Backward:
    """Goes through the steps from the last to the first, as many at a time as are alike.

    The first ones may differ: nothing has a gradient of zeros in the place of none.
    """

    def __init__(
        self,
        loop: Loop,
        operands: Tensors,
        states: Tensors,
        extra: Tensors,
        cotangents: Tensors,
        needed: Sequence[bool],
    ) -> None:
        shape = loop.shape
        self.loop, self.columns, self.constants = loop, operands[: shape.n_rows], operands[shape.n_rows :]
        self.states, self.extra, self.needed = states, extra, needed
        n_results = len(cotangents) - shape.n_next - len(states)
        of_state, rest = cotangents[: shape.n_next], cotangents[shape.n_next :]
        self.of_state = {i: one for i, one in enumerate(of_state) if one is not None and loop.needs_grad[i]}
        self.of_results = {j: one for j, one in enumerate(rest[:n_results]) if one is not None}
        self.seeds = {i: one for i, one in enumerate(rest[n_results:]) if one is not None and loop.needs_grad[i]}
        self._merge_twins()
        wanted = [n for n, needs in enumerate(needed) if needs]
        self.rows = tuple([n - shape.n_state for n in wanted if shape.n_state <= n < shape.n_state + shape.n_rows])
        first = shape.n_state + shape.n_rows
        self.sums = {n - first: _nothing(self.constants[n - first]) for n in wanted if n >= first}
        self.summed: set[int] = set()
        self.versions: dict[int, int] = {}
        self.pieces: Pieces = []
        self._pulled: dict[tuple[int, ...], Pulled] = {}

    def _merge_twins(self) -> None:
        """A result that is the next state has its cotangent before the step that comes after it adds its own.

        Eager adds it first too: stacked results have their gradients before any step has.
        """
        for result, part in self.loop.twins:
            column = self.of_results.get(result)
            if column is None or not self.loop.needs_grad[part]:
                continue
            del self.of_results[result]
            last, seed = self._shifted(column)
            self.of_state[part] = self.of_state[part] + last if part in self.of_state else last
            self.seeds[part] = self.seeds[part] + seed if part in self.seeds else seed

    def _shifted(self, column: Any) -> tuple[Any, Any]:
        """The row of the last step, and the column in which each step has the row of the step before."""
        none = full((1, *column.shape[1:]), -0.0, dtype=column.dtype)
        if self.loop.shape.reverse:
            return column[0], cat([column[1:], none])
        return column[-1], cat([none, column[:-1]])

    def advance(self, left: int) -> int:
        """Make some steps of those that are left; gives their number."""
        pulled = self._pulled_of(tuple(self.of_state))
        pulled.find_present(self._loop_of(pulled, 1), self._operands(left, left))
        self._expect_unchanged(self._loop_of(pulled, 1).body(self._operands(left, left)).captured)
        count = left if pulled.roles.alive == pulled.alive_before else 1
        self._take(pulled, looped(self._loop_of(pulled, count), self._operands(left, count)), count)
        return count

    def _expect_unchanged(self, captured: Tensors) -> None:
        for one in captured:
            if self.versions.get(id(one), one._version) != one._version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: a "
                    f"tensor of shape {list(one.shape)} that the steps of a loop read; clone() it before the loop"
                )

    def _operands(self, left: int, count: int) -> list[Any]:
        """What the next `count` steps are given."""
        done, from_end = self.loop.shape.n - left, not self.loop.shape.reverse
        columns = [piece_of(column, done, count, from_end) for column in self._columns()]
        return [*self.of_state.values(), *self.sums.values(), *columns, *self.constants]

    def _pulled_of(self, alive: tuple[int, ...]) -> Pulled:
        if alive not in self._pulled:
            roles = Roles(alive, tuple(self.of_results), tuple(self.seeds), self.rows, tuple(self.sums))
            self._pulled[alive] = Pulled(self.loop, roles, len(self.extra))
        return self._pulled[alive]

    def _columns(self) -> Columns:
        return [*self.of_results.values(), *self.seeds.values(), *self.states, *self.columns, *self.extra]

    def _loop_of(self, pulled: Pulled, n: int) -> Loop:
        n_state = len(pulled.roles.alive) + len(pulled.roles.constants)
        n_next = n_state if pulled.present is None else len(pulled.alive_before) + len(pulled.roles.constants)
        n_rows = len(self._columns())
        shape = Shape(n_state, n_rows, n, not self.loop.shape.reverse, n_next)
        needs_grad, given = (True,) * max(n_state, n_next), self.loop.made if self.extra else ()
        return Loop(pulled, shape, needs_grad, leaves=self.loop.leaves, given=given, bodies=pulled.bodies)

    def _take(self, pulled: Pulled, found: list[Any], count: int) -> None:
        parts = Parts(found)
        self.of_state = dict(zip(pulled.alive_before, parts.take(len(pulled.alive_before))))
        self.sums = dict(zip(self.sums, parts.take(len(self.sums))))
        self.summed.update(pulled.present_constants)
        self.pieces.append((count, dict(zip(pulled.present_rows, parts.rest()))))

    def gradients(self) -> list[Any]:
        shape = self.loop.shape
        found: list[Any] = [self.of_state.get(i) for i in range(shape.n_state)]
        found += [joined_pieces(self.pieces, row, not shape.reverse) for row in range(shape.n_rows)]
        found += [self.sums[n] if n in self.summed else None for n in range(len(self.constants))]
        return [one if needs else None for one, needs in zip(found, self.needed)]


def _nothing(tensor: Any) -> Any:
    """What a sum begins with: to add to it changes no bit."""
    return full(tensor.shape, complex(-0.0, -0.0) if tensor.is_complex() else -0.0, dtype=tensor.dtype)


class Pulled:
    """One step of a backward, as a function of tensors.

    Of the cotangents of the state and the sums of gradients of constants; of cotangents of results, of `seeds`, the
    state before the step and its row; and of constants. It gives the cotangents of the state before, the sums, and the
    gradients of the row.

    Attributes
    ----------
    present : list of bool or None
        Which gradients there are, of the state, of wanted constants and of wanted rows: known once it has been called.
    first_step, n_steps : int
        Of the trace of the last call: where the step itself begins, and how many ops it has.
    """

    def __init__(self, loop: Loop, roles: Roles, n_extra: int = 0) -> None:
        self.loop, self.roles, self.n_extra = loop, roles, n_extra
        self.first_step = self.n_steps = 0
        self.present: list[bool] | None = None
        self.bodies: dict[Any, Any] = {}

    @property
    def alive_before(self) -> tuple[int, ...]:
        """Parts of the state before the step that have a gradient."""
        return tuple([i for i, there in zip(self._states(), self._present()) if there])

    @property
    def present_constants(self) -> list[int]:
        first = len(self._states())
        return [n for n, there in zip(self.roles.constants, self._present()[first:]) if there]

    @property
    def present_rows(self) -> list[int]:
        first = len(self._states()) + len(self.roles.constants)
        return [n for n, there in zip(self.roles.rows, self._present()[first:]) if there]

    def _present(self) -> list[bool]:
        assert self.present is not None
        return self.present

    def _states(self) -> list[int]:
        return [i for i in range(self.loop.shape.n_state) if self.loop.needs_grad[i]]

    def find_present(self, loop: Loop, tensors: Tensors) -> None:
        """Find out which gradients there are, by planning a step."""
        if self.present is None:
            loop.body(tensors)

    def __call__(self, tensors: list[Any]) -> list[Any]:
        recording = is_grad_enabled()
        shape, roles, parts = self.loop.shape, self.roles, Parts(tensors)
        of_state, sums = parts.take(len(roles.alive)), parts.take(len(roles.constants))
        of_results, seeds = parts.take(len(roles.results)), parts.take(len(roles.seeds))
        own = _recorded if recording else _leaf
        states = [own(one, self.loop.needs_grad[i]) for i, one in enumerate(parts.take(shape.n_state))]
        rows = [own(one, i in roles.rows) for i, one in enumerate(parts.take(shape.n_rows))]
        parts.take(self.n_extra)  # the program reads them in the place of what the step makes
        constants = [own(one, i in roles.constants) for i, one in enumerate(parts.rest())]
        constants[len(constants) - len(self.loop.leaves) :] = self.loop.leaves
        trace = trace_of_thread()
        self.first_step = len(trace.steps)
        with enable_grad():
            found = self.loop.work([*states, *rows, *constants])
        self.n_steps = len(trace.steps) - self.first_step
        # Eager reaches results before anything of the step, the last one first.
        roots = [(found[shape.n_next + j], one) for j, one in reversed(list(zip(roles.results, of_results)))]
        roots += [(found[i], one) for i, one in zip(roles.alive, of_state)]
        roots += [(states[i], one) for i, one in zip(roles.seeds, seeds)]
        wanted = [constants[i] for i in roles.constants]
        inputs = [*[states[i] for i in self._states()], *wanted, *[rows[i] for i in roles.rows]]
        if self.present is None:
            self.present = [one is not None for one in _gradients(roots, inputs, create_graph=False)]
        is_summed = set(self.present_constants)
        roots += [(one, total) for n, one, total in zip(roles.constants, wanted, sums) if n in is_summed]
        return self._given(_gradients(roots, inputs, create_graph=recording), sums, inputs)

    def _given(self, gradients: list[Any], sums: Tensors, inputs: Tensors) -> list[Any]:
        """The gradients that there are; a sum that nothing is added to is as it was."""
        first = len(self._states())
        found = []
        for number, (gradient, there) in enumerate(zip(gradients, self._present())):
            if first <= number < first + len(sums):
                found.append(sums[number - first] if gradient is None else gradient)
            elif there:
                found.append(zeros(inputs[number].shape, dtype=inputs[number].dtype) if gradient is None else gradient)
        return found


def _gradients(roots: list[tuple[Any, Any]], inputs: list[Any], create_graph: bool) -> list[Any]:
    """Those of the inputs, None where there is none; the graph is kept."""
    roots = [(output, one) for output, one in roots if output.requires_grad]
    if not roots or not inputs:
        return [None] * len(inputs)
    outputs, cotangents = map(list, zip(*roots))
    return list(grad(outputs, inputs, cotangents, retain_graph=True, create_graph=create_graph, allow_unused=True))


def _leaf(tensor: Any, wanted: bool) -> Any:
    """A tensor without history, which keeps its tangents."""
    with no_grad():
        return tensor.view_as(tensor).requires_grad_(wanted)


def _recorded(tensor: Any, wanted: bool) -> Any:
    """What leads to the tensor alone: the gradient of one counts no path through what another one was made of."""
    if not tensor.requires_grad:
        return _leaf(tensor, wanted)
    return tensor.view_as(tensor) if wanted else tensor


def with_marks(loop: Loop, operands: Tensors) -> Loop:
    """The loop, which gives its backward what that reads of each step, if all results have cotangents."""
    shape, examples = loop.shape, loop.examples(operands)
    first = shape.n_state + shape.n_rows
    wanted = [n for n, one in enumerate(operands) if one.requires_grad]
    twins = [result for result, _ in loop.twins]
    models = loop.body(operands).models[shape.n_next :]
    results = [j for j, model in enumerate(models) if model.dtype.kind in "fc" and j not in twins]
    roles = Roles(
        alive=tuple([i for i in range(shape.n_state) if loop.needs_grad[i]]),
        results=tuple(results),
        seeds=(),
        rows=tuple([n - shape.n_state for n in wanted if shape.n_state <= n < first]),
        constants=tuple([n - first for n in wanted if n >= first]),
    )
    given = [examples[i] for i in roles.alive] + [examples[first + n] for n in roles.constants]
    given += [from_array(models[j].copy()) for j in results]
    made = trace_of_thread().planner.marks_read_later(Pulled(loop, roles), [*given, *examples])
    return replace(loop, made=tuple(made))
