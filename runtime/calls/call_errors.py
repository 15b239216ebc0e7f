"""What the errors of calls with wrong arguments say beyond Python's words: a likely name, and the signature."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from difflib import get_close_matches

_UNEXPECTED = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'")
_COUNT = re.compile(r"(\w+)\(\) takes [\w ]+ positional arguments? \(\d+ given\)")

# What programs say where no name of a parameter is near enough.
_SYNONYMS = {
    "axes": "dim", "axis": "dim", "ddof": "correction", "dims": "dim", "keep_dim": "keepdim", "keep_dims": "keepdim",
    "shape": "size", "type": "dtype",
}  # fmt: skip

# Functions that are called for what another one does.
_OTHERS = {
    "transpose": "permute(*dims) puts all dimensions in another order",
    "transpose_": "x = x.permute(*dims) puts all dimensions in another order",
    "squeeze": "a tuple takes several dimensions: squeeze((0, 2))",
    "matmul": "linalg.multi_dot([a, b, c]) multiplies several matrices",
}


def of_method(message: str) -> str:
    """The message of a method of Tensor, with a hint."""
    name = message.partition("(")[0]
    tensor = importlib.import_module("gradsmith.generated.tensor").Tensor  # a room that is built on this one
    method = getattr(tensor, name, None)
    method = getattr(method, "__wrapped__", method)  # one that has NumPy's meaning, too
    signature = getattr(method, "__text_signature__", None) or ""
    return with_hint(message, signature.replace("$self, ", "").replace("$self", ""))


def with_hint(message: str, signature: str) -> str:
    """The message of a function with this signature, ``(input, dim=None)``, with a hint; or the message."""
    if match := _UNEXPECTED.fullmatch(message):
        return f"{message}.{did_you_mean(match[2], _names(signature))}{_shown(match[1], signature)}"
    if match := _COUNT.fullmatch(message):
        other = f"; {_OTHERS[match[1]]}" if match[1] in _OTHERS else ""
        return f"{message}.{_shown(match[1], signature)}{other}"
    return message


def did_you_mean(given: str, names: Iterable[str]) -> str:
    """`` Did you mean 'dim'?`` for a name that is near to one of the names, or another word for it; else nothing."""
    known = list(names)
    near = [_SYNONYMS[given]] if _SYNONYMS.get(given) in known else get_close_matches(given, known, n=1)
    return f" Did you mean '{near[0]}'?" if near else ""


def _names(signature: str) -> list[str]:
    return re.findall(r"(?:^\(|, )(\w+)", signature)


def _shown(name: str, signature: str) -> str:
    return f" The signature is {name}{signature}" if signature else ""
