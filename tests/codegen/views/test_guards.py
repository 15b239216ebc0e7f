"""When the formulas of a node read a part that they share."""

from codegen.formula.formula import Expr, Name, TupleExpr
from codegen.formula.scope import TENSOR
from codegen.views.guards import ALWAYS, guard_of


def test_each_part_is_followed_once() -> None:
    """Parts of nested factors read one another: as many ways lead to the first as there are Fibonacci numbers."""
    named: dict[str, Expr] = {"p0": Name(TENSOR, "self"), "p1": Name(TENSOR, "p0")}
    for i in range(2, 60):
        named[f"p{i}"] = TupleExpr(TENSOR, (Name(TENSOR, f"p{i - 1}"), Name(TENSOR, f"p{i - 2}")))
    assert guard_of("p0", Name(TENSOR, "p59"), named) == ALWAYS
    assert guard_of("q", Name(TENSOR, "p59"), named) is None
