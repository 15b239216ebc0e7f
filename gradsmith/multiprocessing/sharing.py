"""How PyTorch shares the memory of tensors between processes: a choice that programs make, without effect here."""

from __future__ import annotations

_STRATEGIES = {"file_descriptor", "file_system"}
_chosen = ["file_descriptor"]


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The name that has been set."""
    return _chosen[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how tensors would be shared. They travel between processes as their values, whatever is chosen.

    Raises
    ------
    AssertionError
        There is no such strategy.
    """
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_STRATEGIES}")
    _chosen[0] = new_strategy
