"""Common parts of a node's gradients are computed once, where one of the gradients that need them is wanted."""

from small_table import op_with, show

from codegen.views.sharing import SharedFormulas, share

SIGNATURE = "f(Tensor self, Tensor other, Tensor third) -> Tensor\n  forward: array(np.zeros((self, other, third)))\n"


def shared(*formulas: str, taken: frozenset[str] = frozenset()) -> SharedFormulas:
    lines = [f"  {name}: {text}\n" for name, text in zip(("self", "other", "third"), formulas, strict=False)]
    others = [f"  {name}: non_differentiable\n" for name in ("self", "other", "third")[len(formulas) :]]
    backward = op_with(SIGNATURE + "".join([*lines, *others]).rstrip()).variants[0].backward
    assert backward is not None
    return share([gradient.formula.expr for gradient in backward.gradients], taken)


def parts(found: SharedFormulas) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(part.name, show(part.expr), part.readers) for part in found.parts]


def test_a_part_of_two_gradients() -> None:
    found = shared("grad * exp(self)", "exp(self) * grad * other")
    assert parts(found) == [("exp_of_self", "op_exp(self)", (0, 1))]
    assert [show(f) for f in found.formulas] == [
        "op_mul_tensor(grad0, exp_of_self)",
        "op_mul_tensor(op_mul_tensor(exp_of_self, grad0), other)",
    ]


def test_a_part_that_one_gradient_reads_twice() -> None:
    assert parts(shared("grad * exp(self) * exp(self)")) == [("exp_of_self", "op_exp(self)", (0,))]


def test_the_largest_part_is_shared() -> None:
    found = shared("grad * exp(self * other)", "-(grad * exp(self * other))")
    assert [name for name, _, _ in parts(found)] == ["product_part"]
    assert show(found.formulas[0]) == "product_part"


def test_parts_of_parts_come_first_and_are_needed_by_all_that_read_them() -> None:
    found = shared("grad * exp(exp(self))", "grad - exp(exp(self))", "grad + exp(self)")
    assert parts(found) == [
        ("exp_of_self", "op_exp(self)", (0, 1, 2)),
        ("exp_part", "op_exp(exp_of_self)", (0, 1)),
    ]


def test_what_one_reads_alone_is_not_shared() -> None:
    assert parts(shared("grad * exp(self)", "grad * exp(other)")) == []


def test_formulas_that_choose_are_left_alone() -> None:
    assert parts(shared("grad * exp(self) if self.ndim > 1 else grad", "grad * exp(self) - grad")) == []


def test_names_that_mean_something_else() -> None:
    found = shared("grad * exp(self)", "grad - exp(self)", taken=frozenset({"exp_of_self"}))
    assert [name for name, _, _ in parts(found)] == ["exp_of_self_2"]
