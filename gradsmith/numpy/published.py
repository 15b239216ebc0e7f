"""Functions as users see them: with NumPy's signatures, and NumPy's own functions, called with arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradsmith.numpy.arguments import by_numpy, is_recorded, np, tensors_in, unwrapped, without_data, wrapped

_PLAIN_TYPES = (int, float, bool, str, type(None))  # arguments without a tensor in them
_WITHOUT_OP = ("nanargmax", "nanargmin", "packbits", "unpackbits", "ravel_multi_index", "unravel_index")
PAGES = "https://numpy.org/doc/stable/reference"


def describe(function: Any, name: str, own: Any) -> Any:
    """Name, documentation and signature of `own`, NumPy's function of that name, for a function here."""
    module, _, short = f"gradsmith.numpy.{name}".rpartition(".")
    function.__name__ = function.__qualname__ = short
    function.__module__ = module
    signature = signature_of(own) or (inspect.signature(function) if inspect.isfunction(function) else None)
    if signature is not None:
        function.__signature__ = signature
    function.__doc__ = (
        f"{short}{'(...)' if signature is None else signature}\n\n"
        f"NumPy's `{name}` for tensors, recorded for derivatives where it has any.\n\n"
        f"The arguments and their meaning are NumPy's: {page(name)}\n"
    )
    return function


def signature_of(own: Any) -> inspect.Signature | None:
    """None for functions in C that do not tell."""
    try:
        return inspect.signature(own)
    except (TypeError, ValueError):
        return None


def page(name: str) -> str:
    """Where NumPy's documentation describes a function."""
    folder = "random/generated" if name.startswith("random.") else "generated"
    return f"{PAGES}/{folder}/numpy.{name}.html"


# ---- what has no derivative: tensors go in as arrays, and arrays come out as tensors


def plain(name: str, own: Any) -> Callable[..., Any]:
    """A function here that calls `own`, NumPy's function of that name.

    Raises
    ------
    RuntimeError
        When the function is called: a result has floating-point elements, and an argument has a history that they
        would lose.
    """

    def function(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and all(type(arg) in _PLAIN_TYPES for arg in args):
            return wrapped(own(*args))
        if without_data(tensors_in([list(args), kwargs])):
            if name in _WITHOUT_OP:
                return by_numpy(own, *args, **kwargs)
            return wrapped(own(*args, **kwargs))  # NumPy asks the tensors for the op that does it
        found = own(*unwrapped(args), **unwrapped(kwargs))
        if _has_numbers(found) and _recorded([list(args), kwargs]):
            raise RuntimeError(f"{name}() has no derivative here; detach() its arguments where none is wanted")
        return wrapped(found)

    return function


def _has_numbers(found: Any) -> bool:
    if isinstance(found, (list, tuple)):
        return any(_has_numbers(one) for one in found)
    return isinstance(found, (np.ndarray, np.generic)) and found.dtype.kind in "fc"


def _recorded(arguments: Any) -> bool:
    return any(is_recorded(one) for one in tensors_in(arguments))
