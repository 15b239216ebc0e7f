"""The types that annotations of scripts are made of: those of Python's `typing`."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035  # by the names that scripts import

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List", "Optional", "Tuple", "Union",
]  # fmt: skip


class _BroadcastingList:
    """``BroadcastingList2[int]``: two numbers, or one for both. For annotations; it gives None, as in PyTorch."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
