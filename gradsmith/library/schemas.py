"""Signatures of operators in PyTorch's words, found from the annotations of a function."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.device import device

# What PyTorch calls these types.
_PLAIN: dict[Any, str] = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", device: "Device", np.dtype: "ScalarType",
}  # fmt: skip
_NUMBERS = {int, float, bool}
_LISTS = (list, collections.abc.Sequence)
_OF_RESULTS = ("Tensor", "SymInt", "float", "bool", "Scalar", "Tensor[]")


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str], op_name: str | None = None
) -> str:
    """The signature of a function as PyTorch writes those of operators.

    Parameters
    ----------
    prototype_function : callable
        All its parameters have annotations of types that operators take, and so has its result.
    mutates_args : "unknown" or iterable of str
        The names of the tensors that it writes to.
    op_name : str, optional
        Put before the signature.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        An annotation is missing or of another type, or `mutates_args` names no parameter.

    Examples
    --------
    >>> from gradsmith import Tensor, library
    >>> def scaled(x: Tensor, factor: float = 2.0) -> Tensor:
    ...     return x * factor
    >>> library.infer_schema(scaled, mutates_args=())
    '(Tensor x, float factor=2.0) -> Tensor'
    """
    signature = signature_of(prototype_function)
    known = written(signature, mutates_args)
    words, is_keyword = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword:
            words.append("*")
            is_keyword = True
        words.append(_declared(parameter, signature, known))
    return f"{op_name or ''}({', '.join(words)}) -> {_type_of_results(signature)}"


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with annotations evaluated, of named parameters alone."""
    signature = inspect.signature(function, eval_str=True)
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise _error("We do not support positional-only args, varargs, or varkwargs.", signature)
        if parameter.annotation is parameter.empty:
            raise _error(f"Parameter {parameter.name} must have a type annotation.", signature)
    if signature.return_annotation is signature.empty:
        raise _error("No return type annotation was provided. Please add one.", signature)
    return signature


def written(signature: inspect.Signature, mutates_args: str | Iterable[str]) -> tuple[str, ...]:
    """The names of the parameters that are written to."""
    if isinstance(mutates_args, str):
        if mutates_args != "unknown":
            raise ValueError(
                "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
                f"'unknown', got {mutates_args!r}"
            )
        return tuple(name for name, one in signature.parameters.items() if "Tensor" in _type_of(one, signature))
    names = tuple(mutates_args)
    unknown = set(names) - signature.parameters.keys()
    if unknown:
        raise _error(
            f"{unknown} in mutates_args were not found in the custom op's signature. mutates_args should contain the "
            "names of all args that the custom op mutates, or just the string 'unknown' if you don't know.",
            signature,
        )
    for name in names:
        if "Tensor" not in _type_of(signature.parameters[name], signature):
            raise _error(
                f"Parameter {name} is in mutates_args but only Tensors or collections of Tensors can be mutated",
                signature,
            )
    return names


def _declared(parameter: inspect.Parameter, signature: inspect.Signature, known: Sequence[str]) -> str:
    type_name = _type_of(parameter, signature)
    if parameter.name in known:
        type_name = type_name.replace("Tensor", f"Tensor(a{list(signature.parameters).index(parameter.name)}!)", 1)
    if parameter.default is parameter.empty:
        return f"{type_name} {parameter.name}"
    default = f'"{parameter.default}"' if isinstance(parameter.default, str) else str(parameter.default)
    return f"{type_name} {parameter.name}={default}"


def _type_of(parameter: inspect.Parameter, signature: inspect.Signature) -> str:
    found = _type_name(parameter.annotation)
    if found is None:
        raise _error(
            f"Parameter {parameter.name} has unsupported type {parameter.annotation}. The valid types are Tensor, int, "
            "float, bool, str, torch.dtype, torch.device, numbers, lists of these, and any of these or None",
            signature,
        )
    return found


def _type_name(annotation: Any) -> str | None:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        others = [one for one in inner if one is not type(None)]
        is_number = len(others) > 1 and set(others) <= _NUMBERS
        found = "Scalar" if is_number else _type_name(others[0]) if len(others) == 1 else None
        return f"{found}?" if found and len(others) < len(inner) else found
    if origin in _LISTS and len(inner) == 1:
        found = _type_name(inner[0])
        return f"{found}[]" if found and not found.endswith("]") else None
    return None


def _type_of_results(signature: inspect.Signature) -> str:
    annotation = signature.return_annotation
    if annotation is None or annotation is type(None):
        return "()"
    inner = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else None
    names = [_type_name(one) for one in (inner or (annotation,))]
    if any(name not in _OF_RESULTS for name in names):
        raise _error(
            f"Return has unsupported type {annotation}. The valid types are Tensor, int, float, bool, a list of "
            "Tensors, tuples of these, and None.",
            signature,
        )
    return f"({', '.join(map(str, names))})" if inner else str(names[0])


def _error(text: str, signature: inspect.Signature) -> ValueError:
    return ValueError(f"infer_schema(func): {text} Got func with signature {signature}")
