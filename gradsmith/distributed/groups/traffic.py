"""How much a group has sent: counted as the algorithms that are best for large messages send it."""

from __future__ import annotations

from collections import Counter

__all__ = ["Traffic"]


class Traffic:
    """Calls of a group, and the bytes that this rank sent for them.

    An `all_reduce` of `b` bytes over `n` ranks sends ``2 (n - 1) / n * b``, a `reduce_scatter`, an `all_gather` to `b`
    bytes and an `all_to_all` of `b` bytes ``(n - 1) / n * b``. Sums of float16 are sent as float32.

    Attributes
    ----------
    calls : Counter
        By the name of the collective.
    nbytes : Counter
        Likewise.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.nbytes: Counter[str] = Counter()

    def count(self, op: str, nbytes: int) -> None:
        self.calls[op] += 1
        self.nbytes[op] += nbytes

    def total(self) -> int:
        """All bytes that were sent."""
        return sum(self.nbytes.values())

    def reset(self) -> None:
        self.calls.clear()
        self.nbytes.clear()
