"""Functions, rather than methods, that query tensors."""

from __future__ import annotations

from typing import Any

from gradsmith.runtime.arrays.array import are_equal, has_no_data
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = [
    "allclose", "equal", "is_conj", "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed", "is_tensor",
    "numel", "resolve_conj", "resolve_neg",
]  # fmt: skip


def is_inference(input: Any) -> bool:
    """Whether a tensor was made in inference mode, other than as a view of one that was not."""
    return bool(_required("is_inference", input).is_inference())


def numel(input: Any) -> int:
    """Number of elements of a tensor."""
    return int(_required("numel", input).numel())


def is_signed(input: Any) -> bool:
    """Whether the dtype of a tensor has negative numbers."""
    return _required("is_signed", input).dtype.kind in "ifc"


def is_same_size(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape."""
    return _required("is_same_size", input).shape == _required("is_same_size", other, "other", 2).shape  # type: ignore[no-any-return]


def is_set_to(input: Any, tensor: Any) -> bool:
    """Whether two tensors have the same elements in memory, in the same shape and strides."""
    mine, other = _required("is_set_to", input), _required("is_set_to", tensor, "tensor", 2)
    if mine.shape != other.shape or mine.stride() != other.stride():
        return False
    if mine.is_meta or other.is_meta:
        return mine is other
    return bool(mine.data_ptr() == other.data_ptr())


def is_nonzero(input: Any) -> bool:
    """Whether the only element of a tensor differs from zero.

    Raises
    ------
    RuntimeError
        If the tensor has no element, or more than one.
    """
    return bool(_required("is_nonzero", input))


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and equal elements. NaN equals nothing."""
    _required("equal", input)
    _required("equal", other, "other", 2)
    if input.shape != other.shape:
        return False
    one, two = array_behind(input), array_behind(other)
    if has_no_data(one) or has_no_data(two):
        return bool((input.detach() == other.detach()).all())  # the error of a batch, or of a trace
    return are_equal(one, two)


def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements of two tensors are close: within ``atol + rtol * abs(other)`` of each other.

    Parameters
    ----------
    rtol, atol : float
        Relative and absolute tolerance.
    equal_nan : bool
        Whether NaN is close to NaN.
    """
    _required("allclose", input)
    _required("allclose", other, "other", 2)
    return bool(input.detach().isclose(other.detach(), rtol, atol, equal_nan).all())


def is_conj(input: Any) -> bool:
    """Whether a conjugation is pending: never, it is carried out at once."""
    return bool(_required("is_conj", input).is_conj())


def is_neg(input: Any) -> bool:
    """Whether a negation is pending: never, it is carried out at once."""
    return bool(_required("is_neg", input).is_neg())


def resolve_conj(input: Any) -> Any:
    """The tensor itself: no conjugation is ever pending."""
    return _required("resolve_conj", input)


def resolve_neg(input: Any) -> Any:
    """The tensor itself: no negation is ever pending."""
    return _required("resolve_neg", input)


def _required(function: str, value: Any, argument: str = "input", position: int = 1) -> Any:
    if not is_tensor(value):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}"
        )
    return value
