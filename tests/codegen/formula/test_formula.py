"""Facts about a formula that its tree tells."""

import pytest
from small_table import formula

from codegen.formula.printing import CythonPrinter


@pytest.mark.parametrize(
    ("text", "uses", "attributes"),
    [
        ("grad.expand(self.shape)", set(), {("self", "shape")}),
        ("grad * self * self.numel()", {"self"}, {("self", "numel")}),
        ("grad * result", {"result"}, set()),
        ("grad if self.device == other.device else -grad", set(), {("self", "device"), ("other", "device")}),
        ("grad if self.dtype == other.dtype else -grad", set(), {("self", "dtype"), ("other", "dtype")}),
    ],
)
def test_what_a_formula_reads(text: str, uses: set[str], attributes: set[tuple[str, str]]) -> None:
    found = formula(text)
    assert (found.uses, found.attributes, found.gradients) == (uses, attributes, {0})


def test_identity() -> None:
    assert formula("grad").is_identity
    assert not formula("-grad").is_identity


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("grad * (1 / 3)", "1.0 / 3"),
        ("grad * (self.ndim / 2)", "<double>ndim_of(self) / 2"),
        ("grad * (2 / (1 + self.ndim))", "2.0 / (1 + ndim_of(self))"),
        ("grad * (0.5 / 2)", "0.5 / 2"),
    ],
)
def test_integers_are_divided_as_in_python(text: str, printed: str) -> None:
    """C would cut the quotient."""
    assert CythonPrinter().text(formula(text).expr) == f"op_mul_scalar(grad, {printed})"
