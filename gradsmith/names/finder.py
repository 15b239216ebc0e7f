"""Imports of modules by PyTorch's names that stand among those for its libraries, or are not here at all.

``from gradsmith.types import Device`` finds `gradsmith.compat.torch.types`, and ``import gradsmith.export`` fails with
the reason why there is no such module. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_OWN, _FOR_LIBRARIES = "gradsmith", "gradsmith.compat.torch"


class _Finder:
    """Asked last, for what no other finder has found."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{_OWN}.") or fullname.startswith(f"{_OWN}.compat."):
            return None
        from gradsmith.names.alias import alias_of

        name = fullname.removeprefix(_OWN)
        spec = alias_of(fullname, f"{_FOR_LIBRARIES}{name}")
        if spec is None:
            _explain(fullname)
        return spec


def _explain(name: str) -> None:
    """The error for a module of PyTorch of which it is known why it is not here."""
    from gradsmith.names.missing import reason_for

    parent, _, last = name.rpartition(".")
    reason = reason_for(f"torch{parent.removeprefix(_OWN)}", last)
    if reason:
        raise ModuleNotFoundError(f"No module named {name!r}. {reason}", name=name)


def install() -> None:
    """Ask for modules of gradsmith here too; once per process."""
    if not any(type(finder) is _Finder for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
