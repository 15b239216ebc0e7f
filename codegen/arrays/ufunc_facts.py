"""Facts that follow from the name of a ufunc alone, so that no entry has to repeat them."""

from __future__ import annotations

from ..spec.vocabulary import words

COMPARISONS = words("equal not_equal less less_equal greater greater_equal")
LOGICAL = words("logical_and logical_or logical_xor logical_not")
TESTS = words("isnan isinf isfinite signbit")
SHIFTS = words("left_shift right_shift")
BITWISE = words("bitwise_and bitwise_or bitwise_xor bitwise_not invert left_shift right_shift gcd lcm")

_NO_DERIVATIVE = {
    COMPARISONS: "a comparison is constant between its jumps",
    LOGICAL | TESTS: "a truth value has no derivative",
    BITWISE: "integers have no derivative",
}

# Ufuncs that order their operands, round them, or read their bits.
_REAL = BITWISE | words(
    """
    arctan2 cbrt ceil copysign deg2rad fabs floor floor_divide fmax fmin fmod greater greater_equal heaviside hypot
    less less_equal logaddexp logaddexp2 maximum minimum nextafter rad2deg remainder rint signbit trunc
    """
)


def why_nondifferentiable(ufunc: str) -> str:
    """Why the results have no derivative, or ""."""
    return next((reason for names, reason in _NO_DERIVATIVE.items() if ufunc in names), "")


def takes_complex(ufunc: str) -> bool:
    return ufunc not in _REAL
