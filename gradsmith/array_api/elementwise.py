"""Functions of each element, over the ops of the same meaning.

Their arguments are tensors, or in functions of two a tensor and a number; see operands.py for the dtype of the result.
"""

from __future__ import annotations

from math import nan
from typing import Any

import gradsmith as gs
from gradsmith.array_api.operands import Tensor, promoted, tensor_of

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos",
    "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag",
    "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "nextafter", "not_equal",
    "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square",
    "subtract", "tan", "tanh", "trunc",
]  # fmt: skip


# ---- of one tensor


def abs(x: Tensor, /) -> Tensor:
    """Absolute values; of complex numbers their lengths."""
    return gs.abs(tensor_of("abs", x))


def acos(x: Tensor, /) -> Tensor:
    """Inverse cosine."""
    return gs.acos(tensor_of("acos", x))


def acosh(x: Tensor, /) -> Tensor:
    """Inverse hyperbolic cosine."""
    return gs.acosh(tensor_of("acosh", x))


def asin(x: Tensor, /) -> Tensor:
    """Inverse sine."""
    return gs.asin(tensor_of("asin", x))


def asinh(x: Tensor, /) -> Tensor:
    """Inverse hyperbolic sine."""
    return gs.asinh(tensor_of("asinh", x))


def atan(x: Tensor, /) -> Tensor:
    """Inverse tangent."""
    return gs.atan(tensor_of("atan", x))


def atanh(x: Tensor, /) -> Tensor:
    """Inverse hyperbolic tangent."""
    return gs.atanh(tensor_of("atanh", x))


def bitwise_invert(x: Tensor, /) -> Tensor:
    """All bits turned over; of bools their negation."""
    return gs.bitwise_not(tensor_of("bitwise_invert", x))


def ceil(x: Tensor, /) -> Tensor:
    """The nearest integer that is not smaller."""
    return gs.ceil(tensor_of("ceil", x))


def conj(x: Tensor, /) -> Tensor:
    """Complex conjugates."""
    return gs.conj_physical(tensor_of("conj", x))


def cos(x: Tensor, /) -> Tensor:
    """Cosine."""
    return gs.cos(tensor_of("cos", x))


def cosh(x: Tensor, /) -> Tensor:
    """Hyperbolic cosine."""
    return gs.cosh(tensor_of("cosh", x))


def exp(x: Tensor, /) -> Tensor:
    """Exponential function."""
    return gs.exp(tensor_of("exp", x))


def expm1(x: Tensor, /) -> Tensor:
    """``exp(x) - 1``, exact near zero."""
    tensor = tensor_of("expm1", x)
    if not tensor.is_complex():
        return gs.expm1(tensor)
    found = gs.where(gs.isfinite(tensor), gs.expm1(tensor), gs.exp(tensor) - 1)
    return found + complex(0.0, -0.0)  # a real part of -0 becomes 0, an imaginary one stays


def floor(x: Tensor, /) -> Tensor:
    """The nearest integer that is not greater."""
    return gs.floor(tensor_of("floor", x))


def imag(x: Tensor, /) -> Tensor:
    """Imaginary parts."""
    return gs.imag(tensor_of("imag", x))


def isfinite(x: Tensor, /) -> Tensor:
    """Which elements are neither infinite nor NaN."""
    return gs.isfinite(tensor_of("isfinite", x))


def isinf(x: Tensor, /) -> Tensor:
    """Which elements are infinite."""
    return gs.isinf(tensor_of("isinf", x))


def isnan(x: Tensor, /) -> Tensor:
    """Which elements are NaN."""
    return gs.isnan(tensor_of("isnan", x))


def log(x: Tensor, /) -> Tensor:
    """Natural logarithm."""
    return gs.log(tensor_of("log", x))


def log10(x: Tensor, /) -> Tensor:
    """Logarithm to base 10."""
    return gs.log10(tensor_of("log10", x))


def log1p(x: Tensor, /) -> Tensor:
    """``log(1 + x)``, exact near zero."""
    found = gs.log1p(tensor_of("log1p", x))
    if x.dtype.kind != "c":
        return found
    infinite = gs.isinf(x)  # even where one part is NaN
    return gs.where(infinite, gs.log(gs.where(infinite, x, 1)), found)


def log2(x: Tensor, /) -> Tensor:
    """Logarithm to base 2."""
    return gs.log2(tensor_of("log2", x))


def logical_not(x: Tensor, /) -> Tensor:
    """Negation of truth values."""
    return gs.logical_not(tensor_of("logical_not", x))


def negative(x: Tensor, /) -> Tensor:
    """The elements with the other sign."""
    return gs.neg(tensor_of("negative", x))


def positive(x: Tensor, /) -> Tensor:
    """The elements as they are."""
    return gs.positive(tensor_of("positive", x))


def real(x: Tensor, /) -> Tensor:
    """Real parts."""
    return gs.real(tensor_of("real", x))


def reciprocal(x: Tensor, /) -> Tensor:
    """One over the elements."""
    return gs.reciprocal(tensor_of("reciprocal", x))


def round(x: Tensor, /) -> Tensor:
    """The nearest integer, of two equally near ones the even one."""
    z = tensor_of("round", x)
    return gs.complex(gs.round(z.real), gs.round(z.imag)) if z.dtype.kind == "c" else gs.round(z)


def sign(x: Tensor, /) -> Tensor:
    """Signs: -1, 0 or 1; of complex numbers ``x / abs(x)``, and of NaN NaN."""
    found = gs.sgn(tensor_of("sign", x))
    return gs.where(gs.isnan(x), nan, found) if x.dtype.kind == "f" else found


def signbit(x: Tensor, /) -> Tensor:
    """Which elements have the bit of negative numbers."""
    return gs.signbit(tensor_of("signbit", x))


def sin(x: Tensor, /) -> Tensor:
    """Sine."""
    return gs.sin(tensor_of("sin", x))


def sinh(x: Tensor, /) -> Tensor:
    """Hyperbolic sine."""
    return gs.sinh(tensor_of("sinh", x))


def sqrt(x: Tensor, /) -> Tensor:
    """Square root."""
    return gs.sqrt(tensor_of("sqrt", x))


def square(x: Tensor, /) -> Tensor:
    """The elements times themselves."""
    return gs.square(tensor_of("square", x))


def tan(x: Tensor, /) -> Tensor:
    """Tangent."""
    return gs.tan(tensor_of("tan", x))


def tanh(x: Tensor, /) -> Tensor:
    """Hyperbolic tangent."""
    return gs.tanh(tensor_of("tanh", x))


def trunc(x: Tensor, /) -> Tensor:
    """The nearest integer towards zero."""
    return gs.trunc(tensor_of("trunc", x))


# ---- of two


def add(x1: Any, x2: Any, /) -> Tensor:
    """Sums."""
    return gs.add(*promoted("add", x1, x2))


def atan2(x1: Any, x2: Any, /) -> Tensor:
    """Angles of points (x2, x1), in all four quadrants."""
    return gs.atan2(*promoted("atan2", x1, x2))


def bitwise_and(x1: Any, x2: Any, /) -> Tensor:
    """Bits that both have."""
    return gs.bitwise_and(*promoted("bitwise_and", x1, x2))


def bitwise_left_shift(x1: Any, x2: Any, /) -> Tensor:
    """Bits moved to higher places."""
    return gs.bitwise_left_shift(*promoted("bitwise_left_shift", x1, x2))


def bitwise_or(x1: Any, x2: Any, /) -> Tensor:
    """Bits that one has."""
    return gs.bitwise_or(*promoted("bitwise_or", x1, x2))


def bitwise_right_shift(x1: Any, x2: Any, /) -> Tensor:
    """Bits moved to lower places."""
    return gs.bitwise_right_shift(*promoted("bitwise_right_shift", x1, x2))


def bitwise_xor(x1: Any, x2: Any, /) -> Tensor:
    """Bits that one alone has."""
    return gs.bitwise_xor(*promoted("bitwise_xor", x1, x2))


def copysign(x1: Any, x2: Any, /) -> Tensor:
    """Values of `x1` with the signs of `x2`."""
    return gs.copysign(*promoted("copysign", x1, x2))


def divide(x1: Any, x2: Any, /) -> Tensor:
    """Quotients; of integers in the default dtype."""
    return gs.div(*promoted("divide", x1, x2))


def equal(x1: Any, x2: Any, /) -> Tensor:
    """Where they are equal."""
    return gs.eq(*promoted("equal", x1, x2))


def floor_divide(x1: Any, x2: Any, /) -> Tensor:
    """Quotients rounded down."""
    return gs.floor_divide(*promoted("floor_divide", x1, x2))


def greater(x1: Any, x2: Any, /) -> Tensor:
    """Where `x1` is greater."""
    return gs.gt(*promoted("greater", x1, x2))


def greater_equal(x1: Any, x2: Any, /) -> Tensor:
    """Where `x1` is not less."""
    return gs.ge(*promoted("greater_equal", x1, x2))


def hypot(x1: Any, x2: Any, /) -> Tensor:
    """Lengths of the hypotenuse."""
    return gs.hypot(*promoted("hypot", x1, x2))


def less(x1: Any, x2: Any, /) -> Tensor:
    """Where `x1` is less."""
    return gs.lt(*promoted("less", x1, x2))


def less_equal(x1: Any, x2: Any, /) -> Tensor:
    """Where `x1` is not greater."""
    return gs.le(*promoted("less_equal", x1, x2))


def logaddexp(x1: Any, x2: Any, /) -> Tensor:
    """``log(exp(x1) + exp(x2))``, without overflow."""
    return gs.logaddexp(*promoted("logaddexp", x1, x2))


def logical_and(x1: Any, x2: Any, /) -> Tensor:
    """Where both are true."""
    return gs.logical_and(*promoted("logical_and", x1, x2))


def logical_or(x1: Any, x2: Any, /) -> Tensor:
    """Where one is true."""
    return gs.logical_or(*promoted("logical_or", x1, x2))


def logical_xor(x1: Any, x2: Any, /) -> Tensor:
    """Where one alone is true."""
    return gs.logical_xor(*promoted("logical_xor", x1, x2))


def maximum(x1: Any, x2: Any, /) -> Tensor:
    """The greater one; NaN where one is."""
    return gs.maximum(*promoted("maximum", x1, x2))


def minimum(x1: Any, x2: Any, /) -> Tensor:
    """The lesser one; NaN where one is."""
    return gs.minimum(*promoted("minimum", x1, x2))


def multiply(x1: Any, x2: Any, /) -> Tensor:
    """Products."""
    return gs.mul(*promoted("multiply", x1, x2))


def nextafter(x1: Any, x2: Any, /) -> Tensor:
    """The next number after `x1` towards `x2`."""
    return gs.nextafter(*promoted("nextafter", x1, x2))


def not_equal(x1: Any, x2: Any, /) -> Tensor:
    """Where they differ."""
    return gs.ne(*promoted("not_equal", x1, x2))


def pow(x1: Any, x2: Any, /) -> Tensor:
    """`x1` to the power of `x2`."""
    return gs.pow(*promoted("pow", x1, x2))


def remainder(x1: Any, x2: Any, /) -> Tensor:
    """What division leaves, with the sign of `x2`."""
    return gs.remainder(*promoted("remainder", x1, x2))


def subtract(x1: Any, x2: Any, /) -> Tensor:
    """Differences."""
    return gs.sub(*promoted("subtract", x1, x2))


# ---- of three


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """The elements, or the bound that they exceed, in the dtype of `x`.

    Parameters
    ----------
    min, max : Tensor or number, optional
        Bounds, which broadcast; None is no bound. Where they cross, `max` counts.
    """
    found = tensor_of("clip", x)
    for bound, choose in ((min, gs.maximum), (max, gs.minimum)):
        if bound is not None:
            found = choose(*promoted("clip", found, bound)).to(x.dtype)
    return found if found is not x else gs.clone(x)
