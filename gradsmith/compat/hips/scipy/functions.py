"""How functions of `gradsmith.scipy` become functions of arrays and boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.compat.hips.boxes import Lifted, boxed, unboxed


def of_arrays(ours: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors, for arrays and boxes; SciPy is not needed."""

    def own(*args: Any, **kwargs: Any) -> Any:
        return boxed(ours(*unboxed(args), **unboxed(kwargs)))

    own.__name__, own.__doc__ = getattr(ours, "__name__", "function"), ours.__doc__
    return Lifted(ours, own)


def namespace(module: Any, found: dict[str, Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose functions are those of `module`, for arrays and boxes."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(module, name)
        if callable(value) and not isinstance(value, type):
            value = found[name] = of_arrays(value)
        return value

    return __getattr__
