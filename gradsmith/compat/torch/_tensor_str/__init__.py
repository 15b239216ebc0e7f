"""``torch._tensor_str``: the text of a tensor's numbers, and how it is written."""

from __future__ import annotations

from typing import Any

from gradsmith.runtime.graph.printing import (
    get_printoptions,
    history,
    printoptions,
    set_printoptions,
    tensor_repr,
    text_of_numbers,
)

__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]


class _PrintOptions:
    """The options as attributes, which are read and written."""

    def __getattr__(self, name: str) -> Any:
        try:
            return get_printoptions()[name]
        except KeyError:
            raise AttributeError(f"there is no option {name!r} of set_printoptions()", name=name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        set_printoptions(**{name: value})


PRINT_OPTS = _PrintOptions()


def _tensor_str(self: Any, indent: int) -> str:
    """The numbers of a tensor, without ``tensor(`` around them."""
    return text_of_numbers(self.numpy(force=True), indent)


def _str(self: Any, *, tensor_contents: str | None = None) -> str:
    """What `repr` gives, or that with other contents."""
    if tensor_contents is None:
        return tensor_repr(self)
    return _add_suffixes(f"{type(self).__name__.lower()}({tensor_contents}", list(history(self)), 0, False)


_str_intern = _str


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """The text with what follows the numbers, and the closing parenthesis."""
    lines = [tensor_str]
    for suffix in suffixes:
        if force_newline or len(lines[-1].rpartition("\n")[2]) + len(suffix) + 3 > get_printoptions()["linewidth"]:
            lines[-1] += ","
            lines.append(" " * indent + suffix)
        else:
            lines[-1] += f", {suffix}"
    return "\n".join(lines) + ")"
