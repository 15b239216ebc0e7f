"""From formulas to C loops."""

import math

import pytest
from small_table import OPS

from codegen.build.build import load_table
from codegen.build.loops import Places, expect_loop
from codegen.loops import kernels
from codegen.loops.kernels import Kernel
from codegen.loops.loop import Loop
from codegen.loops.terms import Term, binary, call, number, power, product, reciprocal

# Division and powers, which the small table lacks, and the op whose gradient is under test.
MORE = """
loss:
- name: div(Tensor|Scalar self, Tensor|Scalar other) -> Tensor
  forward: ufunc(true_divide)
  self: grad
  other: grad
  operators: {{binary: __truediv__}}
  samples: real(3), other=real(3)
  doc: Quotient.
- name: pow(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor
  forward: ufunc(power)
  self: grad
  exponent: grad
  operators: {{binary: __pow__}}
  samples: real(3), exponent=real(3)
  doc: Power.
- name: f(Tensor self, Tensor other, Scalar beta=1) -> Tensor
  forward: array(self + beta * other)
  self: {text}
  other: non_differentiable
  samples: real(3), other=real(3)
  doc: Under test.
"""


def kernel_of(text: str) -> Kernel | None:
    table = load_table(OPS + MORE.format(text=text))
    backward = table.ops[-1].variants[0].backward
    assert backward is not None
    places = Places(inputs={"self": "GS_SAVED | 0", "other": "GS_SAVED | 1"}, scalars={"beta": 0}, gradients=("grad",))
    loop = expect_loop("k", text, backward.gradients[0].formula.expr, places, table)
    return kernels.kernel_of(loop) if loop else None


def body(text: str) -> str:
    """The float loop: its locals and its result."""
    kernel = kernel_of(text)
    assert kernel is not None
    lines = [f"{local.name} = {local.text}" for local in kernel.float_body.locals]
    return "; ".join([*lines, kernel.float_body.result])


@pytest.mark.parametrize(
    ("text", "c"),
    [
        ("grad * (1 - self)", "grad[i] * (1.0f - self[i])"),
        ("-grad / other", "-grad[i] / other[i]"),
        ("grad - (self - other)", "grad[i] - (self[i] - other[i])"),
        ("grad * conj(self)", "grad[i] * self[i]"),
        ("grad * beta", "grad[i] * beta"),
        ("grad * self ** 2", "grad[i] * (self[i] * self[i])"),
        ("grad * self ** -1", "grad[i] * (1.0f / self[i])"),
        ("grad * self ** 0.5", "grad[i] * sqrtf(self[i])"),
        ("grad * self ** beta", "grad[i] * powf(self[i], beta)"),
        ("where(self > 0, grad, 0)", "self[i] > 0.0f ? grad[i] : 0.0f"),
        ("grad * (self > other)", "grad[i] * (self[i] > other[i] ? 1.0f : 0.0f)"),
        ("grad * inf", "grad[i] * INFINITY"),
    ],
)
def test_one_expression(text: str, c: str) -> None:
    assert body(text) == c


def test_what_occurs_twice_is_a_local() -> None:
    assert body("grad * exp(self) * exp(self)") == "exp_1 = gs_expf(self[i]); grad[i] * exp_1 * exp_1"


def test_libm_is_called_before_a_selection() -> None:
    """A call in an arm of `?:` would not be vectorised."""
    assert body("where(self > 0, exp(self), grad)") == "exp_1 = gs_expf(self[i]); self[i] > 0.0f ? exp_1 : grad[i]"


def loop_of(term: Term) -> Loop:
    return Loop("k", "", term, inputs=("x",), scalars=(), input_places=("0",), scalar_places=())


def test_sines_of_far_arguments_have_a_body_of_their_own() -> None:
    twice = binary("*", number(2), Term("input", name="x"))
    near = kernels.kernel_of(loop_of(binary("+", call("cos", twice), call("sin", twice)))).float_body
    assert near.periodic == ("2.0f * x[i]",)
    assert near.result == "gs_cosf(part_1) + gs_sinf(part_1)"
    assert near.far is not None and near.far.locals == near.locals
    assert near.far.result == "gs_cos_anywheref(part_1) + gs_sin_anywheref(part_1)"
    assert kernels.kernel_of(loop_of(call("exp", twice))).float_body.far is None


def test_literals_have_the_type_of_the_loop() -> None:
    kernel = kernel_of("grad * 0.5")
    assert kernel is not None
    assert (kernel.float_body.result, kernel.double_body.result) == ("grad[i] * 0.5f", "grad[i] * 0.5")


def test_only_what_is_read_becomes_an_input() -> None:
    kernel = kernel_of("grad * other * beta")
    assert kernel is not None
    assert kernel.inputs == ("grad", "other")
    assert kernel.input_places == ("GS_GRAD | 0", "GS_SAVED | 1")
    assert kernel.scalar_places == (0,)


def test_what_needs_more_than_a_loop_has_none() -> None:
    assert kernel_of("grad.expand(self.shape)") is None
    assert kernel_of("grad * self.sum()") is None


def test_small_powers_need_no_pow() -> None:
    x = number(3)
    assert power(x, number(1)) == x
    assert power(x, number(3)) == product(x, 3)
    assert power(x, number(-1)) == reciprocal(x)
    assert power(x, number(2.5)).name == "pow"


def test_nan_and_infinity_are_named() -> None:
    assert body("grad + nan") == "grad[i] + NAN"
    assert body("grad * -inf") in ("grad[i] * -INFINITY", "grad[i] * (-INFINITY)")
    assert math.isnan(number(math.nan).value)


def test_the_cost_counts_each_step_once() -> None:
    cheap, dear = kernel_of("grad * self"), kernel_of("grad * exp(self) * exp(self)")
    assert cheap is not None and dear is not None
    assert cheap.cost == 1
    assert dear.cost == 10
