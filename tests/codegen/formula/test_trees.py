"""Equality and hashes of the nodes of formulas."""

from codegen.algebra.symbolic import ONE, Product, Sum, Variable
from codegen.formula.formula import Name, Operator, TupleExpr
from codegen.formula.scope import TENSOR
from codegen.loops.terms import Term, binary


def test_nodes_are_equal_when_their_classes_and_fields_are() -> None:
    x, y = Name(TENSOR, "x"), Name(TENSOR, "y")
    assert Operator(TENSOR, "+", (x, y)) == Operator(TENSOR, "+", (Name(TENSOR, "x"), y))
    assert Operator(TENSOR, "+", (x, y)) != Operator(TENSOR, "+", (y, x))
    assert TupleExpr(TENSOR, (x,)) != x and x != "x"
    assert hash(x) == hash(Name(TENSOR, "x")) and len({x, y, Name(TENSOR, "y")}) == 2


def test_what_follows_from_the_rest_is_not_compared() -> None:
    x = Name(TENSOR, "x")
    assert Operator(TENSOR, "neg", (x,), "op_neg", "own", (x,)) == Operator(TENSOR, "neg", (x,), "op_neg", "own")
    assert Term("input", name="x", label="here") == Term("input", name="x", label="there")


def test_sums_and_products_are_equal_in_any_order() -> None:
    x, y = Variable("x"), Variable("y")
    assert Sum((x, y)) == Sum((y, x)) != Sum((x, ONE))
    assert Product(ONE.value, ((x, 1), (y, 2))) == Product(ONE.value, ((y, 2), (x, 1)))


def test_the_steps_of_a_loop_come_once() -> None:
    x = Term("input", name="x")
    whole = x
    for _ in range(60):
        whole = binary("+", whole, whole)
    assert len(list(whole.steps())) == 61
