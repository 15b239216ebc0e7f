"""How messages name the classes of values, and indentation."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor


def indented(text: str, spaces: int) -> str:
    """`text` with all lines but the first moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


def typename(value: Any) -> str:
    """The class of a value as messages write it."""
    if type(value) is Tensor:
        return "gradsmith.Tensor"
    module = type(value).__module__
    return type(value).__qualname__ if module == "builtins" else f"{module}.{type(value).__qualname__}"
