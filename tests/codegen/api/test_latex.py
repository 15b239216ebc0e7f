"""Formulas as mathematics."""

import pytest

from codegen.api.latex import latex_of


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("grad * conj(other)", r"g \, \overline{y}"),
        ("grad * (1 - result * result)", r"g \, \left(1 - r^2\right)"),
        ("-grad / (2 * sqrt(self))", r"-\frac{g}{2 \, \sqrt{x}}"),
        ("self - (other - 1)", r"x - \left(y - 1\right)"),
        ("self - other - 1", "x - y - 1"),
        ("(self + other) ** 2", r"\left(x + y\right)^{2}"),
        ("exp(-self * self)", "e^{-x^2}"),
        ("2 * 3", r"2 \cdot 3"),
        ("where(self > 0, grad, 0)", r"\begin{cases} g & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}"),
        (
            "grad if self >= min else 0",
            r"\begin{cases} g & \text{if } x \ge \mathit{min} \\ 0 & \text{otherwise} \end{cases}",
        ),
        ("matmul(grad, mT(conj(other)))", r"g \overline{y}^\mathsf{T}"),
        ("grad.sum(dim)", r"\operatorname{sum}\left(g, \mathit{dim}\right)"),
        ("self_t * alpha + other_t", r"\dot{x} \, \alpha + \dot{y}"),
        ("grad_values * 1j", r"g_{\mathit{values}} \, \mathrm{i}"),
        ("grads[0] // pi", r"\left\lfloor \frac{\mathit{grads}_{0}}{\pi} \right\rfloor"),
        ("not (self == other)", r"\lnot \left(x = y\right)"),
    ],
)
def test_formula(text: str, latex: str) -> None:
    assert latex_of(text) == latex
