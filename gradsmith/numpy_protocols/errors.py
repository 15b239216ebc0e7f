"""What an op does not do for a function of NumPy's, the function of that name of `gradsmith.numpy` does or refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradsmith.numpy as gnp
from gradsmith.numpy.arguments import tensors_in, unwrapped, without_data
from gradsmith.numpy.table import PLAIN, place_of
from gradsmith.runtime.graph.tensor_api import NO_ARRAY_WITH_GRADIENT

_KINDS = (np.exceptions.AxisError, np.linalg.LinAlgError, IndexError, ValueError, TypeError)
_WRITERS = frozenset(("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))
_PLAIN = frozenset(PLAIN.split())


class Refused(TypeError):
    """What the op of a row does not do."""


def by_namespace(
    name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Any:
    """What the function of `gradsmith.numpy` gives for a call that ended in an error of the op's.

    Ops raise what PyTorch raises. A program of NumPy's expects NumPy's kinds of errors; where the kind is the same, the
    op's own words stay.
    """
    if name in _WRITERS or _is_about_gradient(error):  # a writer may have written a part
        raise error
    function = _of_namespace(name)
    if function is not None:
        try:
            return function(*args, **kwargs)
        except Exception as other:
            if isinstance(error, Refused) or not isinstance(error, type(other)):
                error = other
    raise _in_numpys_kind(func, args, kwargs, error) from None


def _is_about_gradient(error: Exception) -> bool:
    """Does it say that an array would lose the gradient? All such texts begin alike."""
    return bool(error.args) and NO_ARRAY_WITH_GRADIENT.startswith(str(error))


def _of_namespace(name: str) -> Any:
    module, _, own = name.rpartition(".")
    if module not in ("", "linalg", "fft") or not (module or place_of(own) or own in _PLAIN):
        return None
    return getattr(getattr(gnp, module) if module else gnp, own, None)


def _in_numpys_kind(func: Callable[..., Any], args: Any, kwargs: dict[str, Any], error: Exception) -> Exception:
    """The error in the kind that NumPy's function has for arrays of these values, if it has one."""
    is_of_ops = type(error) is RuntimeError or isinstance(error, NotImplementedError)
    if not is_of_ops or "out" in kwargs or without_data(tensors_in([args, kwargs])):
        return error
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            func(*unwrapped(args), **unwrapped(kwargs))
    except Exception as own:
        return next((kind(str(error)) for kind in _KINDS if isinstance(own, kind)), error)
    return error
