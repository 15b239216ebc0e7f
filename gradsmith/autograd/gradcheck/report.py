"""Comparison of two Jacobians, and the text of what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsmith.autograd.gradcheck.differences import Array
from gradsmith.autograd.gradcheck.errors import GradcheckError
from gradsmith.autograd.gradcheck.options import Options
from gradsmith.autograd.gradcheck.subject import Subject
from gradsmith.runtime.graph.tensor import from_array

FAST_FAILED_SLOW_PASSED = (
    "Fast gradcheck failed but element-wise differences are small. This means that the check might have passed with "
    "fast_mode=False: use that, or a larger atol."
)


@dataclass(frozen=True)
class Pair:
    """The derivative of one output with respect to one input, from both sources."""

    subject: Subject
    output: int
    place: int
    imaginary: bool  # of the output in reverse mode, of the input in forward mode
    forward: bool
    analytical: Array
    numerical: Array


def expect_equal(pair: Pair, options: Options, scale: float, slowly: Callable[[], Pair] | None) -> None:
    """Raise GradcheckError when the two differ; `slowly` gives the whole Jacobians when `pair` is a projection."""
    if is_close(pair, options, scale):
        return
    raise GradcheckError(text_of(pair) + (with_slow_mode(slowly(), options) if slowly else deviation(pair)))


def is_close(pair: Pair, options: Options, scale: float = 1.0) -> bool:
    return bool(np.allclose(pair.analytical, pair.numerical, rtol=options.rtol, atol=options.atol * scale))


def text_of(pair: Pair) -> str:
    mode = "computed with forward mode " if pair.forward else ""
    return (
        f"{part_of(pair)}Jacobian {mode}mismatch for output {pair.output} with respect to input {pair.place},\n"
        f"numerical:{shown(pair.numerical)}\nanalytical:{shown(pair.analytical)}\n"
    )


def part_of(pair: Pair) -> str:
    tensor = pair.subject.inputs[pair.place] if pair.forward else pair.subject.outputs[pair.output]
    if not tensor.is_complex():
        return ""
    part, element = "imaginary" if pair.imaginary else "real", "inputs" if pair.forward else "outputs"
    return f"While considering the {part} part of complex {element} only, "


def shown(array: Array) -> Any:
    return from_array(np.ascontiguousarray(array))


def with_slow_mode(pair: Pair, options: Options) -> str:
    text = (
        "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode, as\n"
        "products with one random direction of the input and one of the output. In slow mode, the whole jacobians are:"
        "\n\n"
        f"Numerical:\n{shown(pair.numerical)}\nAnalytical:\n{shown(pair.analytical)}\n\n"
        f"The max per-element difference (slow mode) is: {differences(pair).max()}.\n{deviation(pair)}"
    )
    return text + FAST_FAILED_SLOW_PASSED if is_close(pair, options) else text


def differences(pair: Pair) -> Array:
    with np.errstate(invalid="ignore"):
        found = np.abs(pair.analytical - pair.numerical)
    return np.where(np.isnan(found) & (pair.analytical != pair.numerical), np.inf, np.nan_to_num(found, posinf=np.inf))


def deviation(pair: Pair) -> str:
    """The largest one, and where: rows of a Jacobian are elements of the input, columns of the output."""
    found = differences(pair)
    row, column = (int(n) for n in np.unravel_index(int(found.argmax()), found.shape))
    at_input = index_in(pair.subject.inputs[pair.place], row)
    at_output = index_in(pair.subject.outputs[pair.output], column)
    return (
        f"The largest deviation is {found[row, column]:.6g}, at element {at_output} of the output and {at_input} of "
        f"the input: numerical {pair.numerical[row, column]:.6g}, analytical {pair.analytical[row, column]:.6g}.\n"
    )


def index_in(tensor: Any, number: int) -> tuple[int, ...]:
    return tuple(int(n) for n in np.unravel_index(number, tensor.shape)) if tensor.shape else ()
