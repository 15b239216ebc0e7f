"""``torch._foreach_add`` and its family: an op on each tensor of a list.

A function is made of the method of tensors when its name is asked for. Nothing is faster than a loop, which is what it
is: libraries for optimizers call them by these names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.linalg import vector_norm

PREFIX = "_foreach_"

# The ops of each kind, by what they take beside the tensors.
_OF_ONE = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
)  # fmt: skip
_OF_TWO = ("add", "clamp_max", "clamp_min", "div", "maximum", "minimum", "mul", "pow", "sub")
_OF_TWO_AND_WEIGHT = ("lerp",)
_OF_THREE = ("addcdiv", "addcmul")
# The methods that broadcast and take numbers, and have an in-place form.
_METHODS = {"maximum": "clamp_min", "minimum": "clamp_max"}
_WITH_ALPHA = ("add", "sub")
# What PyTorch calls the second operand, by whether it is a number, numbers or tensors.
_OPERAND = ("other", "scalar", "scalars", "exponent")


def function_named(name: str) -> Callable[..., Any] | None:
    """The function ``"_foreach_add_"``; None when the family has no such member."""
    op = name.removeprefix(PREFIX)
    made = _WITH_NAMES_OF_THEIR_OWN.get(op) or _made(op)
    if made is not None:
        made.__name__ = made.__qualname__ = name
        made.__module__ = "gradsmith"
    return made


def _made(op: str) -> Callable[..., Any] | None:
    base = op.removesuffix("_")
    method = _METHODS.get(base, base) + op[len(base) :]
    kinds = {_OF_ONE: _of_one, _OF_TWO: _of_two, _OF_TWO_AND_WEIGHT: _of_two_and_weight, _OF_THREE: _of_three}
    make = next((make for ops, make in kinds.items() if base in ops), None)
    return None if make is None else make(op, getattr(Tensor, method))


# ---- one function for each kind


def _of_one(op: str, method: Callable[..., Tensor]) -> Callable[..., Any]:
    def function(self: Sequence[Tensor]) -> Any:
        return _each(op, method, self)

    return function


def _of_two(op: str, method: Callable[..., Tensor]) -> Callable[..., Any]:
    def function(self: Any, *operand: Any, alpha: Any = None, **named: Any) -> Any:
        other = _scalar(op, _only(op, operand, named))
        if alpha is not None:
            return _each(op, lambda x, y: method(x, y, alpha=_alpha(op, other, alpha)), self, other)
        if op == "pow" and isinstance(self, (bool, int, float, complex)):
            return _each(op, lambda exponent: self**exponent, other)
        return _each(op, method, self, other)

    return function


def _of_two_and_weight(op: str, method: Callable[..., Tensor]) -> Callable[..., Any]:
    def function(self: Sequence[Tensor], tensors1: Sequence[Tensor], *weight: Any, **named: Any) -> Any:
        return _each(op, method, self, tensors1, _only(op, weight, named, ("weight", "weights")))

    return function


def _of_three(op: str, method: Callable[..., Tensor]) -> Callable[..., Any]:
    def function(
        self: Sequence[Tensor], tensor1: Sequence[Tensor], tensor2: Sequence[Tensor], *value: Any, **named: Any
    ) -> Any:
        factor = _only(op, value, named, ("value", "scalars")) if value or named else 1
        factors = factor.tolist() if isinstance(factor, Tensor) else factor
        return _each(op, lambda x, y, z, by: method(x, y, z, value=by), self, tensor1, tensor2, factors)

    return function


# ---- those whose arguments are their own


def _copy_(self: Sequence[Tensor], src: Sequence[Tensor], non_blocking: bool = False) -> Any:
    return _each("copy_", Tensor.copy_, self, src)


def _zero_(self: Sequence[Tensor]) -> Any:
    return _each("zero_", Tensor.zero_, self)


def _clone(self: Sequence[Tensor], *, memory_format: Any = None) -> Any:
    if memory_format is None:
        return _each("clone", Tensor.clone, self)
    return _each("clone", lambda x: x.clone(memory_format=memory_format), self)


def _max(self: Sequence[Tensor]) -> Any:
    return _each("max", Tensor.max, self)


def _mm(self: Sequence[Tensor], mat2: Sequence[Tensor]) -> Any:
    return _each("mm", Tensor.mm, self, mat2)


def _norm(self: Sequence[Tensor], ord: float = 2, dtype: Any = None) -> Any:
    return _each("norm", lambda x: vector_norm(x, ord, dtype=dtype), self)


def _powsum(self: Sequence[Tensor], ord: float = 2, dtype: Any = None) -> Any:
    return _each("powsum", lambda x: (x if dtype is None else x.to(dtype)).abs().pow(ord).sum(), self)


_WITH_NAMES_OF_THEIR_OWN: dict[str, Callable[..., Any]] = {
    "clone": _clone, "copy_": _copy_, "max": _max, "mm": _mm, "norm": _norm, "powsum": _powsum, "zero_": _zero_,
}  # fmt: skip


# ---- arguments


def _each(op: str, one: Callable[..., Tensor], tensors: Any, *others: Any) -> Any:
    """`one` of each tensor and what stands beside it: the changed tensors, or a tuple of the results."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{PREFIX}{op}(): argument 'self' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    results = [one(*group) for group in zip(tensors, *(_spread(other, len(tensors)) for other in others))]
    return list(tensors) if op.endswith("_") else tuple(results)


def _spread(value: Any, count: int) -> Sequence[Any]:
    """A list as it is, anything else for every tensor."""
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        kind = "Tensor lists" if value and isinstance(value[0], Tensor) else "Tensor list and scalar list"
        raise RuntimeError(f"{kind} must have the same number of elements, got {count} and {len(value)}")
    return value


def _only(op: str, given: tuple[Any, ...], named: dict[str, Any], names: tuple[str, ...] = _OPERAND) -> Any:
    """The one argument that is given by position or under one of its names."""
    if len(given) + len(named) != 1 or not named.keys() <= set(names):
        raise TypeError(f"{PREFIX}{op}(): expected one more argument, by position or as {' or '.join(names)}")
    return given[0] if given else next(iter(named.values()))


def _alpha(op: str, other: Any, alpha: Any) -> Any:
    if op.removesuffix("_") not in _WITH_ALPHA:
        raise TypeError(f"{PREFIX}{op}() got an unexpected keyword argument 'alpha'")
    is_of_tensors = isinstance(other, Tensor) or (isinstance(other, (list, tuple)) and isinstance(other[0], Tensor))
    if not is_of_tensors:
        raise TypeError(f"{PREFIX}{op}(): alpha is for tensors, and numbers may be multiplied by it")
    return alpha


def _scalar(op: str, other: Any) -> Any:
    """A single tensor stands for a number."""
    if isinstance(other, Tensor) and other.ndim:
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {other.ndim} dimensions and {other.numel()} elements."
        )
    return other
