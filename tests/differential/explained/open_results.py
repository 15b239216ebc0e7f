"""Results that neither library promises, and those that are faults of PyTorch's."""

from __future__ import annotations

import numpy as np

from ..compare import Difference
from ..program import STEP
from .explanation import Explanation
from .questions import called_before, made_by, of_call, only_pytorch_refuses, only_we_refuse

PROMISED = ("accepted_calls.md", "**What neither library promises**")
FAULTS = ("accepted_calls.md", "**Faults of PyTorch's are not followed.**")


def another_basis(difference: Difference) -> bool:
    """Singular vectors: their signs, and those that belong to no singular value."""
    return difference.aspect == "value" and made_by(difference, "svd") and not difference.where.endswith("[1]")


def another_of_equals(difference: Difference) -> bool:
    """Where equal elements stand, for PyTorch's sort of more than 16 is not stable and its mode names any of them."""
    if difference.aspect != "value" or difference.ours.dtype != np.int64:
        return False
    return made_by(difference, "argsort") or (made_by(difference, "mode") and difference.where.endswith("[1]"))


def into_an_operand(difference: Difference) -> bool:
    """An `out` that is an operand, which PyTorch gives the size of the result before it is read."""
    written = set(STEP.findall(difference.step.kwargs.get("out", "")))
    read = {name for argument in difference.step.args for name in STEP.findall(argument)}
    return difference.aspect == "error" and difference.ours == "no error" and bool(written & read)


def complex_numbers_made_real(difference: Difference) -> bool:
    """PyTorch's gradient of a product that `dtype` has made real goes on with the complex numbers."""
    return difference.aspect in ("gradient", "hook", "value") and any(
        "cumprod" in step.call and "dtype" in step.kwargs for step in difference.history
    )


EXPLANATIONS = (
    Explanation("singular vectors", "They are the others with other signs.", PROMISED, another_basis),
    Explanation("one of several equals", "Which place is given is open.", PROMISED, another_of_equals),
    Explanation(
        "what the parts of an op have saved",
        "An op of PyTorch with one node saves less than the ops that stand for it here, or the other way round.",
        PROMISED,
        lambda d: (
            only_we_refuse("backward through the graph a second time")(d)
            and called_before(
                d,
                "addmm",
                "addmv",
                "addbmm",
                "baddbmm",
                "addr",
                "trapezoid",
                "select_scatter",
                "slice_scatter",
                "diagonal",
            )
        ),
    ),
    Explanation(
        "matrix_exp of halves",
        "PyTorch's powers leave the range of float16.",
        ("accepted_calls.md", "**`matrix_exp` overflows where it overflows.**"),
        lambda d: d.aspect == "value" and made_by(d, "matrix_exp") and any(x.dtype == "float16" for x in d.operands),
    ),
    Explanation("into an operand", "PyTorch resizes what it has still to read.", FAULTS, into_an_operand),
    Explanation("complex numbers made real", "The gradient mixes both.", FAULTS, complex_numbers_made_real),
    Explanation(
        "the backward of vander",
        "PyTorch writes the running product into what an earlier step has saved.",
        FAULTS,
        lambda d: called_before(d, "vander") and only_pytorch_refuses("modified by an inplace operation")(d),
    ),
    Explanation(
        "the kernel of group_norm",
        "PyTorch's native_group_norm reads memory as if it lay by rows.",
        FAULTS,
        of_call("native_group_norm", aspects=("value",)),
    ),
    Explanation(
        "versions of out",
        "PyTorch's nanmean writes to its `out` twice.",
        FAULTS,
        of_call("nanmean", aspects=("version",)),
    ),
)
