"""When the formulas of a node read a part that they share."""

from codegen.formula.formula import Conditional, Expr, Name, TupleExpr
from codegen.formula.scope import BOOL, TENSOR
from codegen.views.guards import ALWAYS, guard_of


def test_each_part_is_followed_once() -> None:
    """Parts of nested factors read one another: as many ways lead to the first as there are Fibonacci numbers."""
    named: dict[str, Expr] = {"p0": Name(TENSOR, "self"), "p1": Name(TENSOR, "p0")}
    for i in range(2, 60):
        named[f"p{i}"] = TupleExpr(TENSOR, (Name(TENSOR, f"p{i - 1}"), Name(TENSOR, f"p{i - 2}")))
    assert guard_of("p0", Name(TENSOR, "p59"), named) == ALWAYS
    assert guard_of("q", Name(TENSOR, "p59"), named) is None


def test_a_guard_that_asks_for_more_than_another_is_left_out() -> None:
    first, second = Name(BOOL, "first"), Name(BOOL, "second")
    part, other = Name(TENSOR, "part"), Name(TENSOR, "other")
    inner = Conditional(TENSOR, second, part, other)
    formula = Conditional(TENSOR, first, TupleExpr(TENSOR, (inner, part)), other)
    assert guard_of("part", formula, {}) == first


def test_whether_a_test_holds_or_not_is_no_condition() -> None:
    test, part, other = Name(BOOL, "test"), Name(TENSOR, "part"), Name(TENSOR, "other")
    both = (Conditional(TENSOR, test, part, other), Conditional(TENSOR, test, other, part))
    assert guard_of("part", TupleExpr(TENSOR, both), {}) == ALWAYS
