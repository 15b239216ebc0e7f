"""Facts about a formula that its tree tells."""

import pytest
from small_table import formula


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
