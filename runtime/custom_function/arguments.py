"""Arguments of a custom Function's forward, in the order of its parameters."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature

_VARARGS_OR_KEYWORDS = 0x04 | 0x08  # CO_VARARGS and CO_VARKEYWORDS; `inspect` is too slow to import for two bits

_signatures: weakref.WeakKeyDictionary[Callable[..., Any], Signature] = weakref.WeakKeyDictionary()


def takes_exactly(forward: Callable[..., Any], count: int) -> bool:
    """Are `count` positional arguments all that `forward` can get?"""
    if type(forward) is not FunctionType:
        return False
    code = forward.__code__
    return code.co_argcount == count and not code.co_kwonlyargcount and not code.co_flags & _VARARGS_OR_KEYWORDS


def bind(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], has_context: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword-only arguments, with defaults; `has_context` says that the first parameter is `ctx`."""
    context = (None,) if has_context else ()
    bound = _signature_of(forward).bind(*context, *args, **kwargs)
    bound.apply_defaults()
    return bound.args[len(context) :], bound.kwargs


def _signature_of(forward: Callable[..., Any]) -> Signature:
    from inspect import signature

    if type(forward) is not FunctionType:
        return signature(forward)
    found = _signatures.get(forward)
    if found is None:
        found = _signatures[forward] = signature(forward)
    return found
