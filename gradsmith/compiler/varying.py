"""What differs between the calls that a function has programs for, in words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradsmith.compiler.guards import Same
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.programs.reads import CONTENTS, LENGTH, Read
from gradsmith.runtime.programs.snapshots import Snapshot

PARTS = ("structure of the arguments", "", "modes of the thread", "captured variables")
ADVICE = "A Python number that changes from call to call is better a 0-d tensor"
ADVICE_FOR_MODULES = "Write to its parameters in place, and hand over flags as arguments"
ADVICE_FOR_ATTRIBUTES = "Hand it over as an argument, or write to the tensor that is there, with copy_()"

_WORDS = {id(LENGTH): "length", id(CONTENTS): "contents", id(None): "(a variable of a function around it)"}


def what_varies(function: Callable[..., Any], known: Sequence[Any], key: Any) -> str:
    """The parts of a key that differ from those of other keys; of arguments, which ones, and two of their values."""
    found = [name for name, part, *others in zip(PARTS, key, *known) if name and any(part != one for one in others)]
    alike = [one for one in known if one[0] == key[0]]
    return "; ".join([*_arguments(function, alike, key), *found])


def what_moved(reads: Sequence[Read | Snapshot]) -> tuple[str, str]:
    """Which values outside of the arguments changed, and what to do about it."""
    moved = [read for read in reads if isinstance(read, Read)]
    if not moved:
        return "the parameters, hooks or the training flag of a module", ADVICE_FOR_MODULES
    names = sorted({_WORDS.get(id(read.name), str(read.name)) for read in moved})
    is_tensor = any(isinstance(read.value, Tensor) for read in moved)
    found = f"the {'tensor' if is_tensor else 'value'} in attribute or item {', '.join(names)}"
    return found, ADVICE_FOR_ATTRIBUTES if is_tensor else ADVICE


def _arguments(function: Callable[..., Any], known: Sequence[Any], key: Any) -> Iterator[str]:
    """Those of calls whose arguments have the same structure."""
    paths = list(key[0].paths())
    for place, now in enumerate(key[1]):
        before = [one[1][place] for one in known if one[1][place] != now]
        if before:
            yield f"{_name(function, paths[place])} was {_text(before[-1])}, then {_text(now)}"


def _name(function: Callable[..., Any], path: str) -> str:
    """``[0][2]['a']``, of the arguments by position, as ``argument 'x'['a']``."""
    where, _, rest = path[1:].partition("]")
    first, _, inner = rest[1:].partition("]")
    if where == "1":
        return f"argument {first}{inner}"
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    place = int(first)
    return f"argument {names[place]!r}{inner}" if place < len(names) else f"argument {place}{inner}"


def _text(part: Any) -> str:
    """One leaf's part of a key; see guards.py."""
    if isinstance(part, Same):
        return f"another {type(part.value).__name__}"
    if isinstance(part, tuple) and isinstance(part[0], type):
        return repr(part[1])
    dtype, shape, layout, requires_grad, is_leaf, is_writeable, shared = part
    words = [f"{dtype} of shape {list(shape)}"]
    words += ["requires grad"] * requires_grad + ["not contiguous"] * (layout is not None)
    words += ["with a history"] * (not is_leaf) + ["read-only"] * (not is_writeable)
    words += ["in memory of another argument"] * (shared is not None)
    return ", ".join(words)
