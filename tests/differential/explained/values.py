"""Results with other numbers."""

from __future__ import annotations

import re

import numpy as np

from ..compare import Difference, close, largest
from .explanation import Explanation
from .questions import called_before, is_floating, made_by, of_call

COMPARES = re.compile(r"\b(eq|ne|lt|le|gt|ge|less|greater|not_equal)|[<>=!]=? ").search


def computed_in_single(difference: Difference) -> bool:
    """Of integers, or of numbers narrower than `out`: the result of the op's own dtype, converted."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect != "value" or "out" not in difference.step.kwargs or ours.dtype.kind not in "fc":
        return False
    return close(ours, theirs, 0, 1e-6)


def far_smaller_divisor(difference: Difference) -> bool:
    """NaN, in PyTorch's vectors, for the remainder of a number that is very many times the divisor."""
    if difference.aspect != "value" or not re.search("remainder|%", difference.step.call):
        return False
    ours, theirs = difference.ours, difference.theirs
    odd = np.isnan(theirs) & np.isfinite(ours)
    sizes = [np.abs(x.array) for x in difference.operands if x.array.dtype.kind == "f"]
    divisor = max((largest(size) for size in sizes), default=np.inf)
    numbers = re.findall(r"-?\d+\.?\d*", " ".join(difference.step.args[1:]))
    bounds = [divisor, *(abs(float(number)) for number in numbers)]
    within = bool(np.all(np.abs(ours[odd]) <= max(bounds)))
    return within and bool(odd.any()) and close(ours[~odd], theirs[~odd], 0, 1e-5)


def squares_beyond_float32(difference: Difference) -> bool:
    """Infinities of PyTorch's variance of complex64, where ours has computed in double."""
    if difference.aspect != "value" or difference.step.name not in ("var", "std"):
        return False
    ours, theirs = difference.ours, difference.theirs
    beyond = np.isinf(theirs) & (np.abs(ours) > 1e18)
    return any(x.dtype == "complex64" for x in difference.operands) and close(ours[~beyond], theirs[~beyond], 0, 1e-4)


def cancelled_variance(difference: Difference) -> bool:
    """The remainder, after rounding, of squares of large numbers, which both libraries subtract from one another."""
    if difference.aspect != "value" or difference.step.name not in ("var", "std"):
        return False
    scale = max((largest(x.array) for x in difference.operands if x.array.dtype.kind in "fc"), default=0.0)
    allowed = 64 * float(np.finfo(difference.ours.dtype).eps) * scale
    with np.errstate(all="ignore"):
        distance = np.abs(difference.ours - difference.theirs)
        return bool(np.all(distance <= (allowed if difference.step.name == "std" else allowed * allowed)))


def multiplied_halves(difference: Difference) -> bool:
    """Products in float16, of which PyTorch's leaves its range on the way: infinite, or NaN after a zero."""
    ours, theirs = difference.ours, difference.theirs
    halves = (str(ours.dtype), str(theirs.dtype)) == ("float16", "float16") if is_floating(ours) else False
    if difference.aspect != "value" or difference.step.name != "prod" or not halves:
        return False
    beyond = ~np.isfinite(theirs)
    tiny = np.abs(ours) < 1e-3  # where each factor's rounding is large
    return close(ours[~beyond & ~tiny], theirs[~beyond & ~tiny], 0, 0.05)


def overflowing_sinh(difference: Difference) -> bool:
    """Infinities of PyTorch where `exp` overflows and half of it does not."""
    if difference.aspect != "value" or difference.step.name not in ("sinh", "sinh_"):
        return False
    ours, theirs = difference.ours, difference.theirs
    beyond = np.isinf(theirs) & (np.abs(ours) > np.finfo(ours.dtype).max / 2)
    return bool(beyond.any()) and close(ours[~beyond], theirs[~beyond], 0, 1e-5)


def extreme_before(difference: Difference) -> bool:
    return any(re.search(r"\.(amax|amin|max|min)$", step.call) for step in difference.history)


def complex_infinity(difference: Difference) -> bool:
    """One number is complex and infinite or no number, for both."""
    ours, theirs = difference.ours, difference.theirs
    if difference.aspect not in ("value", "gradient", "hook") or not is_floating(ours) or ours.dtype.kind != "c":
        return False
    derived = re.search("grad|backward", difference.step.call) or difference.step.call == "parts"
    if not derived and not reaches_infinity(difference):
        return False
    with np.errstate(all="ignore"):
        finite = np.isfinite(ours) & np.isfinite(theirs)
        return bool(np.all(np.isclose(ours[finite], theirs[finite], rtol=1e-2)))


def reaches_infinity(difference: Difference) -> bool:
    """Whether operands are infinite, no numbers, or so large or so small that a product of two is."""
    numbers = " ".join((*difference.step.args[1:], *difference.step.kwargs.values()))
    if re.search("inf|nan", numbers):
        return True
    with np.errstate(all="ignore"):
        sizes = [np.abs(x.array) for x in difference.operands if x.array.dtype.kind in "fc"]
        return any(not np.all((size < 1e15) & ((size > 1e-15) | (size == 0))) for size in sizes) or bool(
            re.search(r"\*\*|pow|/|div|reciprocal|log|exp|tan|prod|sinh|cosh", difference.step.call)
        )


def of_infinity(difference: Difference) -> bool:
    """PyTorch has NaN where the formula has a limit."""
    ours, theirs = difference.ours, difference.theirs
    if (
        difference.aspect not in ("value", "gradient", "hook")
        or not isinstance(ours, np.ndarray)
        or ours.dtype.kind not in "fc"
    ):
        return False
    other = np.isfinite(theirs) | ~np.isnan(theirs)
    return bool(np.array_equal(ours[other], theirs[other])) or bool(np.allclose(ours[other], theirs[other], rtol=1e-2))


EXPLANATIONS = (
    Explanation(
        "topk in order",
        "PyTorch leaves the order open with sorted=False.",
        ("accepted_calls.md", "**`topk` is sorted.**"),
        lambda d: d.aspect == "value" and made_by(d, "topk")
        and close(np.sort(d.ours, None), np.sort(d.theirs, None), 0, 0),
    ),
    Explanation(
        "the largest values of sinh",
        "PyTorch's vectors overflow where exp does.",
        ("special_values.md", "**`sinh` reaches the largest number.**"),
        overflowing_sinh,
    ),
    Explanation(
        "numbers are compared as numbers",
        "PyTorch converts a negative number to an unsigned dtype before it compares.",
        ("numbers.md", "**A comparison with a number compares numbers.**"),
        lambda d: d.aspect == "value"
        and any(x.dtype.startswith("uint") for x in d.operands)
        and bool(COMPARES(d.step.call)),
    ),
    Explanation(
        "complex infinities",
        "Products of infinite complex numbers have NaN in parts that depend on how the compiler writes a product.",
        ("special_values.md", "**Infinite complex numbers.**"),
        complex_infinity,
    ),
    Explanation(
        "limits",
        "PyTorch multiplies zero by infinity where the limit is a number.",
        ("special_values.md", "**Limits are values.**"),
        lambda d: of_infinity(d)
        and (
            called_before(d, "gelu", "silu", "softplus")
            or ((d.aspect != "value" or "grad" in d.step.call) and extreme_before(d))
        ),
    ),
    Explanation(
        "converted into out",
        "PyTorch computes in double for an `out` of double.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        computed_in_single,
    ),
    Explanation(
        "gelu into strides",
        "PyTorch's gelu of float32 into an `out` with gaps gives numbers that are no values of gelu.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        lambda d: of_call("gelu", aspects=("value",))(d) and "out" in d.step.kwargs,
    ),
    Explanation(
        "halves are multiplied in float32",
        "PyTorch rounds after each factor.",
        ("dtypes.md", "`prod` of float16 multiplies in float32"),
        multiplied_halves,
    ),
    Explanation(
        "truth of fractions",
        "PyTorch's all and any convert to the uint8 of `out` first, which makes zeros of fractions.",
        ("dtypes.md", "are asked for the truth of the numbers themselves"),
        lambda d: of_call("lib.all", "lib.any", aspects=("value",))(d) and d.ours.dtype == np.uint8,
    ),
    Explanation(
        "no complex numbers of two halves",
        "PyTorch has complex32.",
        ("dtypes.md", "There is no complex dtype of two float16"),
        lambda d: d.aspect == "dtype" and (d.ours, d.theirs) == ("complex64", "complex32"),
    ),
    Explanation(
        "squares beyond float32",
        "PyTorch's variance of complex64 is infinite.",
        ("dtypes.md", "`std` of complex64 in double"),
        squares_beyond_float32,
    ),
    Explanation(
        "remainders of far larger numbers",
        "PyTorch's vectors give NaN.",
        ("special_values.md", "**Limits are values.**"),
        far_smaller_divisor,
    ),
    Explanation(
        "the variance of large equal numbers",
        "The remaining difference is rounding.",
        ("special_values.md", "**A variance is zero up to rounding.**"),
        cancelled_variance,
    ),
)  # fmt: skip
