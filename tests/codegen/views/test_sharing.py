"""Common parts of a node's gradients are computed once, where one of the gradients that need them is wanted."""

from small_table import op_with, show

from codegen.resolve.operators import _COMPARE, BINARY_OPERATORS
from codegen.views.sharing import _WORDS, SharedFormulas, share

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


def test_what_a_formula_may_not_read_is_not_shared() -> None:
    assert parts(shared("grad * exp(self) if self.ndim > 1 else grad", "grad * exp(self) - grad")) == []


def test_a_formula_that_chooses_shares_what_it_reads_in_any_case() -> None:
    found = shared("exp(self) * (grad * exp(self) if self.ndim > 1 else grad) * exp(self)")
    assert parts(found) == [("exp_of_self", "op_exp(self)", (0,))]
    assert "op_exp" not in show(found.formulas[0])


def test_names_that_mean_something_else() -> None:
    found = shared("grad * exp(self)", "grad - exp(self)", taken=frozenset({"exp_of_self"}))
    assert [name for name, _, _ in parts(found)] == ["exp_of_self_2"]


# ---- parts that the entry names


def with_lets(lets: str, *formulas: str) -> SharedFormulas:
    named = "\n".join(f"    {line}" for line in lets.splitlines())
    lines = [f"  {key}: {text}" for key, text in (formula.split(": ", 1) for formula in formulas)]
    backward = op_with(f"{SIGNATURE}  let:\n{named}\n" + "\n".join(lines)).variants[0].backward
    assert backward is not None
    lets_of = dict(let for gradient in backward.gradients for let in gradient.formula.lets)
    return share([gradient.formula.expr for gradient in backward.gradients], frozenset(), lets_of)


def test_a_named_part_is_a_local_though_it_is_read_once() -> None:
    found = with_lets("scale: exp(self)", "self: grad * scale", "other, third: (grad, grad)")
    assert parts(found) == [("scale", "op_exp(self)", (0,))]


def test_named_parts_come_after_those_that_they_read() -> None:
    found = with_lets("b: a * other\na: exp(self)", "self: grad * b", "other: grad * a * a", "third: 2 * grad * b")
    assert parts(found) == [("a", "op_exp(self)", (0, 1, 2)), ("b", "op_mul_tensor(a, other)", (0, 2))]


def test_what_reads_a_named_part_twice_is_shared_after_it() -> None:
    found = with_lets("a: exp(self)", "self: grad * exp(a)", "other: 2 * grad * exp(a)", "third: grad")
    assert parts(found) == [("a", "op_exp(self)", (0, 1)), ("exp_of_a", "op_exp(a)", (0, 1))]


def test_a_name_of_what_is_not_computed_is_no_local() -> None:
    found = with_lets("a: self\nn: self.ndim", "self: grad * a * n", "other: grad", "third: grad")
    assert parts(found) == []


def test_a_part_that_one_branch_reads_has_a_guard() -> None:
    found = with_lets(
        "a: exp(self)\nb: exp(a)",
        "self, other: (grad * b if grad_input_mask[0] else None, grad if self.ndim == 1 else grad * a)",
        "third: grad",
    )
    guards = {part.name: [show(guard) for guard in part.guards] for part in found.parts}
    assert guards == {"a": ["(not (self_ndim == 1) or self_is_wanted)"], "b": ["self_is_wanted"]}


def test_what_a_comprehension_tests_is_no_guard() -> None:
    found = with_lets(
        "a: exp(self)",
        "self: sum(cat([grad * a for n in self.shape if n > 2], 0))",
        "other: grad",
        "third: grad if self.ndim > 1 and a.ndim > 2 else grad",
    )
    guards = {part.name: [show(guard) for guard in part.guards] for part in found.parts}
    assert guards == {"a": ["True", "(self_ndim > 1)"]}


def test_every_operator_has_a_word() -> None:
    """By which a part is called that begins with it."""
    symbols = {symbol for symbol, *_ in (*BINARY_OPERATORS.values(), *_COMPARE.values())}
    assert symbols - {"is", "is not", "in", "not in"} <= set(_WORDS)
