"""Where values of a program live: places in one piece of memory, which each frame has.

Places are taken and given back in the order of the steps.
"""

from __future__ import annotations

from gradsmith.runtime.programs.program import is_watched

LINE = 64  # bytes
_MARGIN = LINE if is_watched() else 0  # between two places, so that what leaves one is seen


class Arena:
    """Places in a piece of memory.

    Attributes
    ----------
    size : int
        Bytes that have been needed at the same time.
    gaps : list of (int, int)
        Bytes that are between places: from where on, and how many.
    """

    def __init__(self) -> None:
        self.size = 0
        self.gaps: list[tuple[int, int]] = []
        self._free: dict[int, list[int]] = {}

    def take(self, nbytes: int) -> int:
        """Where the next `nbytes` are."""
        free = self._free.get(nbytes)
        return free.pop() if free else self.take_unused(nbytes)

    def take_unused(self, nbytes: int) -> int:
        """The same where nothing has been before."""
        align = min(LINE, 1 << max(nbytes - 1, 7).bit_length())
        place = -(-(self.size + _MARGIN) // align) * align
        if place > self.size:
            self.gaps.append((self.size, place - self.size))
        self.size = place + nbytes
        return place

    def give_back(self, place: int, nbytes: int) -> None:
        self._free.setdefault(nbytes, []).append(place)


class Rooms:
    """Which value lies where.

    Attributes
    ----------
    arena : Arena
    places : dict of int to int
        Slot -> place, of what owns its memory.
    """

    def __init__(self) -> None:
        self.arena = Arena()
        self.places: dict[int, int] = {}
        self._of_owner: dict[int, tuple[int, int]] = {}

    def take(self, slot: int, owner: int, nbytes: int, ends_here: bool) -> None:
        """Give a value a room; one that nothing reads gives it back at once."""
        place = self.arena.take(nbytes)
        self.places[slot] = place
        if ends_here:
            self.arena.give_back(place, nbytes)
        else:
            self._of_owner[owner] = place, nbytes

    def give_back(self, owner: int) -> None:
        """The owner of some memory has died."""
        if (room := self._of_owner.pop(owner, None)) is not None:
            self.arena.give_back(*room)
