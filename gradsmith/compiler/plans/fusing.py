"""Fusion: steps on long rows of one length, brought together so that they can run tile by tile.

Note [Fusion groups]
A group takes in each step on rows as long as its own (Note [Long rows]). Steps between these that need nothing of the
group are moved before it, where they may be groups themselves; others wait until the group ends, and from then on
nothing may join that needs what they make, or writes what they read. A backward joins its forward that way, past the
reduction between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gradsmith.compiler.plans.memory import Memory
from gradsmith.compiler.plans.rows import RowStep
from gradsmith.runtime.programs.program import Step

MOST_WAITING = 64  # steps
MOST_AHEAD = 512
MOST_DEEP = 16  # groups that are moved before one another


@dataclass
class Group:
    """Steps that run together.

    Attributes
    ----------
    n : int
        Elements of a row.
    ahead, waiting : list of Step
        Steps that come before the group, and after it.
    touched : dict of int to set of (int, int)
        Owner -> addresses and strides of the rows that members use of its memory.
    written, read, made : set of int
        Owners that members write or make; that waiting steps read; that these make or write.
    """

    n: int
    members: list[Step] = field(default_factory=list)
    ahead: list[Step] = field(default_factory=list)
    waiting: list[Step] = field(default_factory=list)
    touched: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    made: set[int] = field(default_factory=set)

    def is_full(self) -> bool:
        return len(self.waiting) > MOST_WAITING or len(self.ahead) > MOST_AHEAD


class Fusion:
    """Finds the groups of a program.

    Parameters
    ----------
    memory : Memory
    rows_of : callable
        A step as one on long rows, or None where it cannot be that.
    """

    def __init__(self, memory: Memory, rows_of: Callable[[Step], RowStep | None]) -> None:
        self.memory, self.rows_of = memory, rows_of

    def ordered(self, steps: Sequence[Step], depth: int = 0) -> tuple[list[Step], list[range]]:
        """The steps in another order that does the same, and the places of the groups in it."""
        left = list(reversed(steps))
        found: list[Step] = []
        groups: list[range] = []
        group: Group | None = None
        while left or group is not None:
            if group is not None and (not left or group.is_full()):
                self._close(group, found, groups, depth)
                left += reversed(group.waiting)
                group = None
                continue
            step = left.pop()
            if group is None:
                group = self._begun(step)
                if group is None:
                    found.append(step)
            elif self._joins(group, step):
                self._add(group, step)
            elif self._is_independent(group, step):
                group.ahead.append(step)
            else:
                self._wait(group, step)
        return found, groups

    def _close(self, group: Group, found: list[Step], groups: list[range], depth: int) -> None:
        """What is moved before the group, which may have groups of its own, and the group."""
        if depth < MOST_DEEP and sum(map(self._is_member, group.ahead)) > 1:
            ahead, inner = self.ordered(group.ahead, depth + 1)
        else:
            ahead, inner = group.ahead, []
        groups += [range(len(found) + one.start, len(found) + one.stop) for one in inner]
        found += ahead
        if len(group.members) > 1:
            groups.append(range(len(found), len(found) + len(group.members)))
        found += group.members

    def _is_member(self, step: Step) -> bool:
        return self.rows_of(step) is not None

    def _begun(self, step: Step) -> Group | None:
        found = self.rows_of(step)
        if found is None:
            return None
        group = Group(found.n)
        if not self._joins(group, step):
            return None
        self._add(group, step)
        return group

    def _joins(self, group: Group, step: Step) -> bool:
        memory, found = self.memory, self.rows_of(step)
        if found is None or found.n != group.n:
            return False
        target = memory.owners[found.result]
        if target in group.read or not group.made.isdisjoint({target, *[memory.owners[slot] for slot in step.reads]}):
            return False
        return self._uses_alike(group, found, group.written | {target})

    def _uses_alike(self, group: Group, step: RowStep, written: set[int]) -> bool:
        """Do all members see the same rows, or other elements altogether, of memory that one of them writes?"""
        return all(
            _are_apart(group.touched.get(owner, set()) | rows, group.n)
            for owner, rows in self._touched_by(step).items()
            if owner in written
        )

    def _touched_by(self, step: RowStep) -> dict[int, set[tuple[int, int]]]:
        """Owner -> addresses and strides of the rows that a step uses."""
        found: dict[int, set[tuple[int, int]]] = {}
        for row in step.rows():
            if row.slot >= 0:
                place = self.memory.address_of(row.slot) + row.shift, row.stride
                found.setdefault(self.memory.owners[row.slot], set()).add(place)
        return found

    def _add(self, group: Group, step: Step) -> None:
        found = self.rows_of(step)
        assert found is not None
        group.members.append(step)
        for owner, rows in self._touched_by(found).items():
            group.touched.setdefault(owner, set()).update(rows)
        group.written.add(self.memory.owners[found.result])

    def _is_independent(self, group: Group, step: Step) -> bool:
        if step.writes or step.has_effects or (step.function is not None and not self.memory.is_view(step)):
            return False
        return (group.written | group.made).isdisjoint(self.memory.owners[slot] for slot in step.reads)

    def _wait(self, group: Group, step: Step) -> None:
        owners = self.memory.owners
        group.waiting.append(step)
        shown = {owners[slot] for slot in step.results if slot is not None}
        if self.memory.is_view(step) and shown <= group.written:  # members find it by its address
            return
        group.read.update(owners[slot] for slot in step.reads)
        group.made.update(shown)


def _are_apart(rows: set[tuple[int, int]], n: int) -> bool:
    """Has each element of some rows its own place? All of them go on by the same stride then."""
    places = sorted(rows)
    stride = places[0][1]
    if stride == 0 or any(one != stride for _, one in places):
        return False
    last: dict[int, int] = {}
    for start, _ in places:
        if start - last.get(start % stride, start - n * stride) < n * stride:
            return False
        last[start % stride] = start
    return True
