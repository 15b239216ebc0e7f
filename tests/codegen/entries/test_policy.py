"""The keys of an entry that say what was decided and what others should know."""

import math

import pytest
from small_table import op_with, table_with

from codegen.entries.policy import expect_interval
from codegen.model import Interval, Point, Policy
from codegen.write.render import render_all

ROOT = r"""
root(Tensor self, Scalar scale=1) -> Tensor
  forward: array(np.sqrt(self) * scale)
  self: grad * (result * 2)
  subgradient: Infinite at zero.
  points:
  - self=[1.0, 4.0], scale=1, gradient=[0.5, 0.25]
  - 0.0, gradient=inf
  domain: {self: '[0, inf)', scale: '(-pi/2, 1]'}
  latex: s \sqrt{x}
  reference: np.array([abs(x) ** 0.5 for x in self]) * scale
  out_of_place: an example
  depends_on_layout: true
  stops_gradient: true
"""


def test_policy_of_an_op() -> None:
    assert op_with(ROOT).policy == Policy(
        subgradient="Infinite at zero.",
        points=(
            Point((("self", "[1.0, 4.0]"), ("scale", "1")), (("self", "[0.5, 0.25]"),)),
            Point((("self", "0.0"),), (("self", "inf"),)),
        ),
        domain=(
            ("self", Interval(0, math.inf, True, False)),
            ("scale", Interval(-math.pi / 2, 1, False, True)),
        ),
        latex=r"s \sqrt{x}",
        reference="np.array([abs(x) ** 0.5 for x in self]) * scale",
        out_of_place="an example",
        depends_on_layout=True,
        stops_gradient=True,
    )


def test_policy_is_optional() -> None:
    assert op_with("f(Tensor self) -> Tensor\n  forward: array(self)\n  self: grad").policy == Policy()


THROUGH = r"""
rounded(Tensor self) -> Tensor
  forward: array(np.rint(self))
  self: grad
  surrogate: np.clip(self, -1, 1)
  cancellation: an example
"""


def test_a_gradient_that_is_not_that_of_the_value() -> None:
    policy = op_with(THROUGH).policy
    assert (policy.surrogate, policy.cancellation) == ("np.clip(self, -1, 1)", "an example")
    namespace: dict[str, object] = {"__name__": "op_table"}
    exec(render_all(table_with(THROUGH))["op_table.py"], namespace)
    (row,) = [row for row in namespace["OPS"] if row.base == "rounded"]  # type: ignore[attr-defined]
    assert (row.surrogate, row.cancellation) == (policy.surrogate, policy.cancellation)


def test_a_loop_may_have_the_gradient_of_something_else() -> None:
    text = "signs(Tensor self) -> Tensor\n  forward: pointwise(exp(self))\n  self: grad\n  surrogate: self"
    assert op_with(text).policy.surrogate == "self"


def test_an_op_that_changes_its_argument_may_reset_its_accumulator() -> None:
    op = op_with("set_(Tensor(a!) self) -> Tensor(a!)\n  forward: array(0)\n  self: grad\n  resets_accumulator: true")
    assert op.policy.resets_accumulator


def test_policy_in_the_row_of_an_op() -> None:
    namespace: dict[str, object] = {"__name__": "op_table"}
    exec(render_all(table_with(ROOT))["op_table.py"], namespace)
    rows = {row.base: row for row in namespace["OPS"]}  # type: ignore[attr-defined]
    root, exp = rows["root"], rows["exp"]
    assert root.points[0] == ({"self": "[1.0, 4.0]", "scale": "1"}, {"self": "[0.5, 0.25]"})
    assert root.domain["self"] == (0.0, math.inf, True, False)
    assert (root.latex, root.out_of_place, root.resets_accumulator) == (r"s \sqrt{x}", "an example", False)
    assert root.depends_on_layout and root.stops_gradient
    assert (exp.points, exp.domain, exp.reference) == ((), {}, "")


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("[0, 1]", Interval(0, 1, True, True)),
        ("(-inf, inf)", Interval(-math.inf, math.inf, False, False)),
        (" [-1.5, pi/2) ", Interval(-1.5, math.pi / 2, True, False)),
        ("[3, 3]", Interval(3, 3, True, True)),
        ("0, 1", None),
        ("[0 1]", None),
        ("[0, 1, 2]", None),
        ("[1, 0]", None),
        ("[a, 1]", None),
        ("[0, True]", None),
        ("", None),
    ],
)
def test_intervals(text: str, interval: Interval | None) -> None:
    assert expect_interval(text) == interval


def test_an_interval_reads_as_it_is_written() -> None:
    assert str(Interval(0, math.inf, True, False)) == "[0, inf)"
