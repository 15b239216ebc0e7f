"""Modules as text."""

from __future__ import annotations

from gradsmith.nn.modules.module.registry import Registry
from gradsmith.nn.modules.module.wording import indented


class Text(Registry):
    """``repr`` of a module: one line each for its extra text and its children, indented."""

    def extra_repr(self) -> str:
        """Text between the parentheses of the module's own line; subclasses override it."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module), 2)}" for name, module in self._modules.items()]
        if len(own) == 1 and not children:
            return f"{self._get_name()}({own[0]})"
        if not own and not children:
            return f"{self._get_name()}()"
        return "\n  ".join([f"{self._get_name()}(", *own, *children]) + "\n)"
