"""The signature language: text to object and back."""

import pytest

from codegen.spec.errors import Problem
from codegen.spec.schema import Argument, Return, Signature
from codegen.spec.schema_types import Type

TYPES = [
    "Tensor", "Tensor?", "Tensor[]", "Tensor|Scalar", "Tensor(a)", "Tensor(a!)", "Tensor(a)[]", "Scalar", "Scalar?",
    "int", "int?", "int[]", "int[]?", "float", "float?", "bool", "bool?", "str", "str?", "dtype", "dtype?",
    "device", "device?", "object", "Tensor[]?", "Tensor?[]", "Tensor?[]?", "int[2]", "int[2]?", "float[]", "float[]?",
    "bool[]", "bool[3]", "Scalar[]", "Scalar[4]?", "str[]", "str[]?",
]  # fmt: skip

SIGNATURES = [
    "exp(Tensor self) -> Tensor",
    "mul(Tensor self, Tensor|Scalar other) -> Tensor",
    "div.mode(Tensor|Scalar self, Tensor|Scalar other, *, str? rounding_mode=None) -> Tensor",
    "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    "split(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
    "fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    "sum.dim(Tensor self, int[]? dim=(0, 1), *, dtype? dtype=None) -> Tensor",
    "f(*, str mode='a, (b') -> (Tensor, Tensor)",
    "g(Tensor self) -> (Tensor result)",
    "seed() -> int",
]


@pytest.mark.parametrize("text", TYPES)
def test_type_round_trip(text: str) -> None:
    assert str(Type.parse(text)) == text


def test_the_length_of_a_list_is_no_other_type() -> None:
    two = Type.parse("int[2]")
    assert two == Type.parse("int[]") and two.length == 2
    assert (str(two.item), str(Type.parse("Tensor?[]").item)) == ("int", "Tensor?")


@pytest.mark.parametrize("default", ["1", "(1, 2)", "[1, 2]"])
def test_one_value_for_all_of_a_list(default: str) -> None:
    assert Signature.parse(f"f(int[2] x={default}) -> Tensor").arguments[0].default == default


@pytest.mark.parametrize("text", SIGNATURES)
def test_signature_round_trip(text: str) -> None:
    signature = Signature.parse(text)
    assert str(signature) == text
    assert Signature.parse(str(signature)) == signature


def test_spacing_is_free() -> None:
    free = Signature.parse(" mul ( Tensor  self,Tensor | Scalar other )->Tensor ")
    assert str(free) == "mul(Tensor self, Tensor|Scalar other) -> Tensor"


def test_fields() -> None:
    signature = Signature.parse("max.dim(Tensor(a) self, *, bool keepdim=False) -> (Tensor(a) values, Tensor)")
    assert (signature.base, signature.overload, signature.full_name) == ("max", "dim", "max.dim")
    assert signature.arguments[0] == Argument("self", Type("Tensor", alias="a"))
    assert signature.arguments[1] == Argument("keepdim", Type("bool"), "False", keyword_only=True)
    assert signature.returns == (Return("values", Type("Tensor", alias="a")), Return("", Type("Tensor")))
    assert signature.output_names == ("values", "result1")
    assert signature.tensor_arguments == signature.arguments[:1]
    assert signature.expect_argument("dim") is None


def test_one_unnamed_return_is_the_result() -> None:
    assert Signature.parse("exp(Tensor self) -> Tensor").output_names == ("result",)


def test_kinds_of_types() -> None:
    assert [t for t in TYPES if Type.parse(t).is_tensor] == TYPES[:2] + TYPES[3:6]
    lists = ["Tensor[]", "Tensor(a)[]", "Tensor[]?", "Tensor?[]", "Tensor?[]?"]
    assert [t for t in TYPES if Type.parse(t).is_tensor_list] == lists
    assert [t for t in TYPES if Type.parse(t).is_number] == ["Scalar", "int", "float", "bool"]
    assert str(Type.parse("Tensor(a!)").plain) == "Tensor"
    assert str(Type.parse("int[]?").required) == "int[]"
    assert [str(Type.parse("Tensor|Scalar").expanded(side)) for side in (False, True)] == ["Tensor", "Scalar"]


@pytest.mark.parametrize(
    ("text", "offset", "problem"),
    [
        ("f(Tensr x) -> Tensor", 2, "unknown type 'Tensr'"),
        ("f(Tensor x -> Tensor", 11, "expected ',' after argument 'x', found '-> Tensor'"),
        ("f(Tensor) -> Tensor", 8, "expected the name of the Tensor argument, found ') -> Tensor'"),
        ("f(Tensor x)", 11, "expected '->' after the arguments, found the end"),
        ("f(Tensor|int x) -> Tensor", 2, "the only union of types is Tensor|Scalar"),
        ("f(Tensor|Scalar? x) -> Tensor", 2, "Tensor|Scalar is neither a list nor optional"),
        ("f(dtype[] x) -> Tensor", 2, "there is no list type dtype[]"),
        ("f(Tensor[2] x) -> Tensor", 2, "a list of Tensor has no fixed length"),
        ("f(int[-1] x) -> Tensor", 6, "expected ']' or how many items the list has, found '-1] x) -> Te'"),
        ("f(int?[] x) -> Tensor", 2, "the items of int[] cannot be optional"),
        ("f(bool[2] x=(True,)) -> Tensor", 12, "default of 'x' is (True,), which is no bool[2]"),
        ("f(int(a) x) -> Tensor", 2, "only tensors share memory, not int"),
        ("f(int x=True) -> Tensor", 8, "default of 'x' is True, which is no int"),
        ("f(int[] x=(1, 'a')) -> Tensor", 10, "default of 'x' is (1, 'a'), which is no int[]"),
        ("f(Tensor x=1) -> Tensor", 11, "default of 'x' is 1, which is no Tensor"),
        ("f(Tensor x) -> ()", 17, "an op returns something"),
        ("f(Tensor x) -> (Tensor a, Tensor a)", 33, "two returns are called 'a'"),
        ("f(Tensor x) -> (Tensor x, Tensor y)", 0, "'x' names both an argument and a return"),
        (
            "f(Tensor grad_input_mask) -> Tensor",
            9,
            "'grad_input_mask' is reserved: formulas give it a meaning of their own",
        ),
        ("f(Tensor grad_x) -> (Tensor x, Tensor y)", 0, "'grad_x' is what formulas call the gradient of 'x'"),
        ("f(Tensor self) -> (Tensor x, Tensor grad_x)", 0, "'grad_x' is what formulas call the gradient of 'x'"),
        ("class(Tensor x) -> Tensor", 0, "'class' is a keyword of Python"),
        ("2f(Tensor x) -> Tensor", 0, "expected the name of an op, found '2f(Tensor x)'"),
    ],
)
def test_problems(text: str, offset: int, problem: str) -> None:
    with pytest.raises(Problem) as raised:
        Signature.parse(text)
    assert (raised.value.problem, raised.value.offset) == (problem, offset)
