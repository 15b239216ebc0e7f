"""Contestants must compute the same before anything is timed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..cases import Array

# Whose results the others' are compared with: the first of these that takes part, or else the first of all.
JUDGES = ("torch", "numpy", "by hand", "evaluation", "backward", "jax", "autograd", "scipy", "gradsmith")


class Disagreement(Exception):
    """A contestant computes something else; the message names the workload and the contestant."""


def check(workload: str, results: dict[str, Sequence[Array]], tolerance: float) -> str:
    """Compare all with the judge's; the name of the judge, or "" where there was nobody to compare with."""
    judge = next((name for name in (*JUDGES, *results) if name in results), "")
    others = [name for name in results if name != judge]
    for name in others:
        difference = first_difference(results[name], results[judge], tolerance)
        if difference:
            raise Disagreement(f"{workload}: {name} does not agree with {judge}: {difference}")
    return judge if others else ""


def first_difference(found: Sequence[Array], expected: Sequence[Array], tolerance: float) -> str:
    if len(found) != len(expected):
        return f"it has {len(found)} results instead of {len(expected)}"
    for number, (a, b) in enumerate(zip(found, expected)):
        if a.shape != b.shape:
            return f"result {number} has the shape {a.shape} instead of {b.shape}"
        error = relative_error(a, b)
        if not error <= tolerance:
            return f"result {number} differs by {error:.1e} of its largest element, {tolerance:.0e} is allowed"
    return ""


def relative_error(a: Array, b: Array) -> float:
    """The largest difference as a part of the largest finite element; infinite where other elements are not finite."""
    if a.size == 0:
        return 0.0
    a, b = (x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in (a, b))
    finite = np.isfinite(b)
    if not np.array_equal(np.isfinite(a), finite) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return float("inf")
    largest = np.abs(b[finite]).max(initial=0.0)
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0) / (largest or 1.0))
