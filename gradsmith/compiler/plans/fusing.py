"""Fusion: elementwise steps on large arrays of one layout, brought together so that they can run tile by tile.

Note [Fusion groups]
A group takes in each elementwise step on arrays like its own. Steps between these that need nothing of the group are
moved before it, where they may be groups themselves; others wait until the group ends, and from then on nothing may
join that needs what they make, or writes what they read. A backward joins its forward that way, past the reduction
between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gradsmith.compiler.plans.memory import Memory
from gradsmith.compiler.plans.native import MOST_IN_BLOCK, Native
from gradsmith.runtime.programs.program import Step

MOST_WAITING = 64  # steps
MOST_AHEAD = 512
MOST_DEEP = 16  # groups that are moved before one another
ELSEWHERE = -1


@dataclass
class Group:
    """Steps that run together.

    Attributes
    ----------
    layout : int
        That of their results.
    ahead, waiting : list of Step
        Steps that come before the group, and after it.
    touched : dict of int to int
        Owner -> address of the memory that members use of it.
    written, read, made : set of int
        Owners that members write or make; that waiting steps read; that these make or write.
    """

    layout: int
    members: list[Step] = field(default_factory=list)
    ahead: list[Step] = field(default_factory=list)
    waiting: list[Step] = field(default_factory=list)
    touched: dict[int, int] = field(default_factory=dict)
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
    native_of : callable
        A step on arrays of any size, or None where it is no loop over elements.
    """

    def __init__(self, memory: Memory, native_of: Callable[[Step], Native | None]) -> None:
        self.memory, self.native_of = memory, native_of

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
        slot = step.results[0] if len(step.results) == 1 else None
        if slot is None or not step.is_loop:
            return False
        array = self.memory.arrays[slot]
        return array.size > MOST_IN_BLOCK and array.flags.c_contiguous and self.native_of(step) is not None

    def _begun(self, step: Step) -> Group | None:
        if not self._is_member(step):
            return None
        group = Group(self.memory.layouts[step.results[0]])  # type: ignore[index]
        if not self._joins(group, step):
            return None
        self._add(group, step)
        return group

    def _joins(self, group: Group, step: Step) -> bool:
        memory = self.memory
        if not self._is_member(step) or memory.layouts[step.results[0]] != group.layout:  # type: ignore[index]
            return False
        target = memory.owners[step.results[0]]  # type: ignore[index]
        if target in group.read or not group.made.isdisjoint({target, *[memory.owners[slot] for slot in step.reads]}):
            return False
        return self._uses_alike(group, step, group.written | {target})

    def _uses_alike(self, group: Group, step: Step, written: set[int]) -> bool:
        """Do all members see the same elements at the same places, of memory that one of them writes?"""
        places = self._places_of(group, step)
        return all(
            group.touched.get(owner, place) == place and place != ELSEWHERE
            for owner, place in places.items()
            if owner in written
        )

    def _places_of(self, group: Group, step: Step) -> dict[int, int]:
        """Owner -> address of what a step uses of it, `ELSEWHERE` for more than one or another layout."""
        memory = self.memory
        places: dict[int, int] = {}
        for slot in (*step.reads, *step.results):
            assert slot is not None
            place = memory.address_of(slot) if memory.layouts[slot] == group.layout else ELSEWHERE
            if places.setdefault(memory.owners[slot], place) != place:
                places[memory.owners[slot]] = ELSEWHERE
        return places

    def _add(self, group: Group, step: Step) -> None:
        group.members.append(step)
        for owner, place in self._places_of(group, step).items():
            if group.touched.setdefault(owner, place) != place:
                group.touched[owner] = ELSEWHERE
        group.written.add(self.memory.owners[step.results[0]])  # type: ignore[index]

    def _is_independent(self, group: Group, step: Step) -> bool:
        if step.writes or step.has_effects or step.function is not None:
            return False
        return (group.written | group.made).isdisjoint(self.memory.owners[slot] for slot in step.reads)

    def _wait(self, group: Group, step: Step) -> None:
        owners = self.memory.owners
        group.waiting.append(step)
        if self.memory.is_view(step):  # which members find by its address
            return
        group.read.update(owners[slot] for slot in step.reads)
        group.made.update(owners[slot] for slot in step.results if slot is not None)
