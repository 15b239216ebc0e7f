"""Formulas that can be one elementwise loop."""

import pytest
from small_table import formula, op_with

ELEMENTWISE = "f(Tensor self, Tensor other) -> Tensor\n  forward: ufunc(multiply)\n  self: {}\n  other: grad"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("grad", True),
        ("grad * conj(other) - 2", True),
        ("where(self > 0, grad, 0)", True),
        ("grad * exp(result)", True),
        ("add(grad, self, alpha=3)", True),
        ("grad.sum(0)", False),
        ("grad.expand(self.shape)", False),
        ("grad * self.numel()", False),
        ("grad * 1j", False),
    ],
)
def test_what_can_be_a_loop(text: str, expected: bool) -> None:
    backward = op_with(ELEMENTWISE.format(text)).variants[0].backward
    assert backward is not None
    assert backward.gradients[0].formula.is_pointwise is expected


def test_no_loop_over_tensors_of_other_shapes() -> None:
    """`grad` of a sum broadcasts against `self`, but the op is not elementwise."""
    assert not formula("grad * self", "f(Tensor self) -> Tensor").is_pointwise
