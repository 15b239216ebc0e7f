"""How much a group has sent: counted as the algorithms that are best for large messages send it."""

from __future__ import annotations

from collections import Counter, defaultdict

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
        self._sent: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])  # calls and bytes

    def count(self, op: str, nbytes: int) -> None:
        sent = self._sent[op]
        sent[0] += 1
        sent[1] += nbytes

    @property
    def calls(self) -> Counter[str]:
        return Counter({op: calls for op, (calls, _) in self._sent.items()})

    @property
    def nbytes(self) -> Counter[str]:
        return Counter({op: nbytes for op, (_, nbytes) in self._sent.items()})

    def total(self) -> int:
        """All bytes that were sent."""
        return sum(nbytes for _, nbytes in self._sent.values())

    def reset(self) -> None:
        self._sent.clear()
