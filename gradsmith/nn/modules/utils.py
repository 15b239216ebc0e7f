"""Small functions that layers and programs use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a tuple of `n` numbers of one; an iterable becomes a tuple as it is."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """The values from last to first, each `n` times: padding of layers as `pad` takes it."""
    return tuple(value for value in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """The sizes, with those of `defaults` in place of None."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [default if size is None else size for size, default in zip(out_size, defaults[-len(out_size) :])]


def consume_prefix_in_state_dict_if_present(state_dict: Any, prefix: str) -> None:
    """Take a prefix away from the names of a state, in place, where they have it.

    Parameters
    ----------
    state_dict : dict
    prefix : str
        With its dot: ``"module."``.

    Examples
    --------
    >>> from gradsmith.nn.modules.utils import consume_prefix_in_state_dict_if_present
    >>> state = {"module.weight": 1}
    >>> consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'weight': 1}
    """
    _rename(state_dict, prefix, prefix)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        own_name = prefix.replace(".", "")
        if own_name in metadata:
            metadata[""] = metadata.pop(own_name)
        _rename(metadata, prefix, prefix)


def _rename(names: Any, start: str, removed: str) -> None:
    for name in list(names):
        if name.startswith(start):
            names[name[len(removed) :]] = names.pop(name)
