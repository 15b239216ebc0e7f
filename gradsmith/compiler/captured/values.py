"""Tensors, numbers and strings that a function finds outside of its arguments.

A traced tensor is nothing outside of its trace. What a function puts into attributes, items and variables is taken out
again, and each run puts there what it has made. A tensor that the function reads before it puts another one into its
place stays, and takes the values of the new one: a program reads the very tensors that it was made with. All else that
the function may have looked at has to be as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradsmith.compiler.captured.changes import Change, Made, tensors_in
from gradsmith.compiler.captured.reach import Reach
from gradsmith.compiler.captured.spaces import ALL, Captured, Space
from gradsmith.compiler.objects import opened
from gradsmith.compiler.tracing import Caller, Unrepeatable, Unsettled
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_batched_tensor, physical, trace_of_thread
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.programs.reads import CONTENTS, MISSING, Read
from gradsmith.runtime.programs.snapshots import Snapshot
from gradsmith.runtime.programs.trace import Trace
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.utils import pytree


class CapturedValues:
    """Tensors, numbers and strings outside of a function, which it may read and write.

    Parameters
    ----------
    reach : Reach
        Where they are.
    caller : Caller
        Makes errors.

    Attributes
    ----------
    changes : list of Change
        What each run puts there.
    states : list of (Space, object)
        Places whose tensors are overwritten.
    """

    def __init__(self, reach: Reach, caller: Caller) -> None:
        self.reach, self.caller = reach, caller
        self.changes: list[Change] = []
        self.states: list[tuple[Space, Any]] = []
        self._made: list[Tensor] = []
        self._moved: list[Tensor] = []  # tensors from outside that the function puts elsewhere

    def copy_states(self, states: Sequence[tuple[Space, Any]]) -> None:
        """Have the function read copies of what it is going to overwrite, since its backward reads them too."""
        places = {(id(space.holder), name) for space, name in states}
        for space in self.reach.spaces:
            for name, value in list(space.before.items()):
                if (id(space.holder), name) in places:
                    leaves, spec = pytree.flatten(value)
                    space.put(name, spec.unflatten([leaf.clone() for leaf in leaves]))

    def take_out(self, found: Any) -> list[Tensor]:
        """Have all places hold what they did before the function ran, which gave `found`.

        Gives the tensors that each run makes for the `changes`.
        """
        changed = list(self._changed(trace_of_thread()))
        if any(name is CONTENTS for _, name, _ in changed):
            raise Unsettled("the function changes a set, a deque or an array, or draws random numbers of others")
        pairs = []
        for space, name, value in changed:
            replaced_here = list(self._replaced(space, name, value))
            pairs += replaced_here
            self.states += [(space, name)] if replaced_here and name is not ALL else []
        replaced = {id(old) for old, _ in pairs}
        for space, name, value in changed:
            space.put_back(name)
            if not self._is_replaced(space, name, replaced):
                self._add_change(space, name, value)
        if any(id(tensor) in replaced for tensor in self._moved):
            raise Unrepeatable("the function moves a tensor that it overwrites")
        if pairs:
            self._expect_unseen([old for old, _ in pairs], [found, self._made])
            self._overwrite(pairs)
        return self._made

    def _changed(self, trace: Trace) -> Iterator[tuple[Space, Any, Any]]:
        """Places that hold something else than before, and what."""
        found: dict[tuple[int, Any], tuple[Space, Any, Any]] = {}
        shown = Captured(set(), list(map(array_behind, trace.tensors_from_outside())))
        for space in [one for one in self.reach.spaces if not one.is_foreign]:
            for name, value in space.changed(self.reach.words):
                if not (name is CONTENTS and shown.shows(space.holder)):
                    found.setdefault((id(space.holder), name), (space, name, value))
        yield from found.values()

    def _replaced(self, space: Space, name: Any, value: Any) -> Iterator[tuple[Tensor, Tensor]]:
        """Pairs of a tensor that the function reads and the one that it puts into its place.

        The function may have read all tensors of a tuple or dict that it replaces, if it read one.
        """
        old_values = space.before.values() if name is ALL else [space.before.get(name, MISSING)]
        for old, new in zip(old_values, value if name is ALL else [value]):
            olds, spec = pytree.flatten(old)
            if old is new or not any(map(_is_read, tensors_in(olds))):
                continue
            news, new_spec = pytree.flatten(new)
            if spec != new_spec or not all(isinstance(one, Tensor) for one in (*olds, *news)):
                if any(map(is_batched_tensor, tensors_in(news))):
                    raise self._error(space, name, news, "in the place of something else that it reads: return it")
                continue
            for one, other in zip(olds, news):
                if one is not other:
                    if (why_not := _why_not(one, other)) is not None:
                        raise self._error(space, name, [other], why_not)
                    yield one, other

    def _error(self, space: Space, name: Any, values: list[Any], why: str) -> Exception:
        place = "a variable" if name is None else "a list" if name is ALL else repr(name)
        shapes = " and ".join(str(list(one.shape)) for one in tensors_in(values))
        return self.caller.error(f"the function puts a tensor of shape {shapes} into {place} of {space.owner}, {why}")

    @staticmethod
    def _is_replaced(space: Space, name: Any, replaced: set[int]) -> bool:
        """Does what was there stay, since it takes the values of what is new?"""
        before = list(space.before.values()) if name is ALL else space.before.get(name, MISSING)
        found = any(id(old) in replaced for old in tensors_in(pytree.flatten(before)[0]))
        if found and name is ALL:
            raise Unrepeatable("the function overwrites tensors of a list that it makes longer or shorter")
        return found

    def _add_change(self, space: Space, name: Any, value: Any) -> None:
        if value is MISSING:
            self.changes.append(Change(space, name, [], None))
            return
        trace = trace_of_thread()
        leaves, spec = pytree.flatten(opened(value, trace.is_made))
        gradients = {id(had) for _, had in trace.touched.values()}  # each run finds others
        for number, leaf in enumerate(leaves):
            if not isinstance(leaf, Tensor):
                continue
            if trace.is_made(leaf) or id(leaf) in gradients:
                leaves[number] = Made(len(self._made))
                self._made.append(leaf)
            else:
                self._moved.append(leaf)
        self.changes.append(Change(space, name, leaves, spec))

    @staticmethod
    def _overwrite(pairs: list[tuple[Tensor, Tensor]]) -> None:
        values = [value.detach() if len(pairs) == 1 else value.detach().clone() for _, value in pairs]
        with no_grad():
            for (old, _), value in zip(pairs, values):
                old.copy_(value)

    def reads(self, captured: list[Tensor]) -> list[Read | Snapshot]:
        """List the guards of the program: the tensors that it uses, and everything else that the function read."""
        captured = [*captured, *self._moved]
        known = Captured(set(map(id, captured)), list(map(array_behind, captured)))
        found: dict[tuple[int, Any], Read | Snapshot] = {}
        for space in self.reach.spaces:
            for read in space.reads(self.reach.words, known):
                found.setdefault((id(read.holder), read.name), read)
        snapshots = [Snapshot(module) for module in self.reach.modules]
        return [*found.values(), *snapshots]

    def forget(self) -> None:
        """Let go of what was there: programs keep the places."""
        for space in self.reach.spaces:
            space.before = {}

    def expect_nothing_left(self, trace: Trace) -> None:
        """Refuse a backward whose hooks leave something outside: its program gives gradients alone."""
        changed = list(self._changed(trace))
        for space, name, _ in changed:
            space.put_back(name)
        if changed:
            raise Unrepeatable("hooks of the backward leave something outside")

    def restore(self, everything: bool) -> None:
        """Put back what was there, or only where there are traced tensors: the function runs again, or has raised."""
        for space, name, value in reversed(list(self._changed(trace_of_thread()))):
            if everything or any(map(is_batched_tensor, tensors_in(pytree.flatten(value)[0]))):
                space.put_back(name)

    def _expect_unseen(self, written: list[Tensor], found: Any) -> None:
        """Refuse results that share memory with an attribute, which is overwritten before the caller sees them."""
        for one in tensors_in(pytree.flatten(found)[0]):
            array = array_behind(physical(one) if is_batched_tensor(one) else one)
            if any(np.may_share_memory(array, array_behind(old)) for old in written):
                raise self.caller.error(
                    "the function returns the memory of an attribute that it puts another tensor into: return a clone()"
                )


def _is_read(tensor: Tensor) -> bool:
    """Does the program read it?"""
    return any(tensor is one for one in trace_of_thread().captured.values())


def _why_not(old: Tensor, value: Tensor) -> str | None:
    """Why a program cannot write `value` to what was there before, and what to do; None where it can."""
    if value.requires_grad or old.requires_grad:
        return "and it has a history, which ends with the call: detach() it, or return it"
    if old.shape != value.shape or old.dtype != value.dtype:
        return (
            f"which was one of shape {list(old.shape)} and {old.dtype.name} before. A program writes to tensors that "
            "there are: keep the shape and the dtype, or return it"
        )
    return None
