"""From the text of a formula to its typed tree, every name resolved; and what is refused."""

import pytest
from small_table import formula, op_with, show

from codegen.formula.formula import Conditional, Operator
from codegen.spec.errors import SpecErrors

TWO = "f(Tensor self, Tensor other) -> Tensor"
SCALAR = "f(Tensor self, Scalar x, int n=2, *, float p=0.5, bool flag=False, str mode='a') -> Tensor"
DIMS = "f(Tensor self, int[] size, int[]? dim=None, int n=0) -> Tensor"
LISTS = "f(Tensor[] tensors, int dim) -> Tensor"
OPTIONAL = "f(Tensor[] self, Tensor?[] parts=()) -> Tensor"
KINDS = (
    "f(Tensor self, int[2] pair, float[] weights, bool[3] mask, Scalar[]? numbers=None, str[] names=(), "
    "Tensor?[] parts=(), Tensor[]? more=None) -> Tensor"
)


@pytest.mark.parametrize(
    ("text", "signature", "tree"),
    [
        # leaves
        ("grad", TWO, "grad0"),
        ("grad * pi", TWO, "op_mul_scalar(grad0, 3.141592653589793)"),
        ("grad * -2", TWO, "op_mul_scalar(grad0, -2)"),
        ("grad * 1j", TWO, "op_mul_scalar(grad0, 1j)"),
        # lists and numbers
        ("grad.expand([1] * 2 + [*size, 3])", "f(Tensor self, int[] size) -> Tensor",
         "op_expand(grad0, (([1] * 2) + (size + [3])))"),
        ("grad * max(n, 1)", "f(Tensor self, int n) -> Tensor", "op_mul_scalar(grad0, (n if (n >= 1) else 1))"),
        ("grad if 1 in size else 2 * grad", "f(Tensor self, int[] size) -> Tensor",
         "(grad0 if (1 in size) else op_mul_scalar(grad0, 2))"),
        ("grad.expand(-size)", "f(Tensor self, int[] size) -> Tensor", "op_expand(grad0, [neg n for n in size])"),
        ("grad.expand(-n)", "f(Tensor self, int[] n) -> Tensor", "op_expand(grad0, [neg each for each in n])"),
        ("grad.expand(reversed(size))", "f(Tensor self, int[] size) -> Tensor", "op_expand(grad0, size[::-1])"),
        ("grad.expand(sorted(size)[::2])", "f(Tensor self, int[] size) -> Tensor",
         "op_expand(grad0, builtins.sorted(size)[::2])"),
        ("grad * sum(n for n in size if n > 1)", "f(Tensor self, int[] size) -> Tensor",
         "op_mul_scalar(grad0, builtins.sum([n for n in size if (n > 1)]))"),
        # comprehensions
        ("[grad * x for x in tensors]", LISTS, "[op_mul_tensor(grad0, x) for x in tensors]"),
        ("[grad * x * i for i, x in enumerate(tensors)]", LISTS,
         "[op_mul_scalar(op_mul_tensor(grad0, x), i) for [i, x] in enumerate(tensors)]"),
        ("[grad.expand(x.shape) for x in tensors]", LISTS, "[op_expand(grad0, x) for x in tensors_shape]"),
        ("[grad.expand(x.shape) * y for x, y in zip(tensors, tensors)]", LISTS,
         "[op_mul_tensor(op_expand(grad0, x), y) for [x, y] in zip(tensors_shape, tensors)]"),
        ("[grad.expand(x.shape) * x for x in tensors]", LISTS,
         "[op_mul_tensor(op_expand(grad0, x.shape), x) for x in tensors]"),
        ("[grad * tensors[i] for i in range(dim, len(tensors))] + tensors[:dim]", LISTS,
         "([op_mul_tensor(grad0, tensors[i]) for i in range(dim, tensors_count)] + tensors[:dim])"),
        ("[grad * i * j for i in range(dim) for j in range(i) if i != j]", LISTS,
         "[op_mul_scalar(op_mul_scalar(grad0, i), j) for i in range(dim) for j in range(i) if (i != j)]"),
        # operators of tensors
        ("grad * conj(other)", TWO, "op_mul_tensor(grad0, op_conj(other))"),
        ("2 * grad", TWO, "op_mul_scalar(grad0, 2)"),
        ("2 - grad", TWO, "op_sub_scalar_tensor(2, grad0)"),
        ("grad - 2", TWO, "op_sub_tensor_scalar(grad0, 2)"),
        ("grad + other", TWO, "op_add_tensor(grad0, other, 1)"),
        ("3 + grad", TWO, "op_add_scalar(grad0, 3, 1)"),
        ("-grad", TWO, "op_neg(grad0)"),
        ("+grad", TWO, "grad0"),
        ("grad * (self > 0)", TWO, "op_mul_tensor(grad0, op_gt_scalar(self, 0))"),
        ("grad * (0 < self)", TWO, "op_mul_tensor(grad0, op_gt_scalar(self, 0))"),
        # calls: functions, methods, overloads, defaults, keywords
        ("grad.sum()", TWO, "op_sum(grad0)"),
        ("sum(grad, 0)", TWO, "op_sum_dim(grad0, [0], False)"),
        ("grad.sum((0, -1), keepdim=True)", TWO, "op_sum_dim(grad0, [0, -1], True)"),
        ("grad.sum(None)", TWO, "op_sum_dim(grad0, None, False)"),
        ("add(grad, other, alpha=2)", TWO, "op_add_tensor(grad0, other, 2)"),
        ("where(self > 0, grad, 0)", TWO, "op_where_tensor_scalar(op_gt_scalar(self, 0), grad0, 0)"),
        ("grad * max(self, 0).values", TWO, "op_mul_tensor(grad0, op_max(self, 0)[0])"),
        ("grad.mT", TWO, "op_mT(grad0)"),
        ("cat_backward(grad, tensors.shape, dim)", LISTS, "cat_backward(grad0, tensors_shape, dim)"),
        # attributes
        ("grad.expand(self.shape)", TWO, "op_expand(grad0, self_shape)"),
        ("grad * self.numel()", TWO, "op_mul_scalar(grad0, self_numel)"),
        ("grad * self.dim()", TWO, "op_mul_scalar(grad0, self_ndim)"),
        ("grad * self.size(-1)", TWO, "op_mul_scalar(grad0, self_shape[-1])"),
        ("grad.expand(grad.shape)", TWO, "op_expand(grad0, grad0.shape)"),
        ("grad * self.stride()[0]", TWO, "op_mul_scalar(grad0, self_stride[0])"),
        ("grad * self.storage_offset()", TWO, "op_mul_scalar(grad0, self_storage_offset)"),
        ("zeros_like(self)", TWO, "zeros_like_info(self_shape, self_dtype, self_device)"),
        ("zeros_like(grad)", TWO, "zeros_like(grad0)"),
        ("grad.expand(self.shape[1:])", TWO, "op_expand(grad0, self_shape[1:])"),
        ("cat_backward(grad, tensors.shape, len(tensors))", LISTS, "cat_backward(grad0, tensors_shape, tensors_count)"),
        # numbers
        ("grad * conj(x)", SCALAR, "op_mul_scalar(grad0, conj_number(x))"),
        ("grad * (x * n + p / 2)", SCALAR, "op_mul_scalar(grad0, ((x * n) + (p / 2)))"),
        ("grad * n ** 2", SCALAR, "op_mul_scalar(grad0, (n ** 2))"),
        ("grad if flag else -grad", SCALAR, "(grad0 if flag else op_neg(grad0))"),
        ("grad if mode == 'a' and n > 1 else None", SCALAR, "(grad0 if ((mode == 'a') and (n > 1)) else None)"),
        ("grad if 0 < n < 3 else -grad", SCALAR, "(grad0 if ((0 < n) and (n < 3)) else op_neg(grad0))"),
        ("grad if not flag else -grad", SCALAR, "(grad0 if not flag else op_neg(grad0))"),
        # shapes
        ("grad.expand(size)", DIMS, "op_expand(grad0, size)"),
        ("grad.expand(n)", DIMS, "op_expand(grad0, [n])"),
        ("grad.expand(size + (1, n))", DIMS, "op_expand(grad0, (size + [1, n]))"),
        ("grad.sum(dim)", DIMS, "op_sum_dim(grad0, dim, False)"),
        # lists of other things
        ("grad.expand(pair)", KINDS, "op_expand(grad0, pair)"),
        ("grad.expand(pair[:1] + (2,))", KINDS, "op_expand(grad0, (pair[:1] + [2]))"),
        ("grad * (weights[0] if mask[2] else len(weights))", KINDS,
         "op_mul_scalar(grad0, (weights[0] if mask[2] else len(weights)))"),
        ("grad * (1 if numbers is None else numbers[0])", KINDS,
         "op_mul_scalar(grad0, (1 if (numbers is None) else numbers[0]))"),
        ("grad if names[0] == 'a' else None", KINDS, "(grad0 if (names[0] == 'a') else None)"),
        ("grad * len(parts)", KINDS, "op_mul_scalar(grad0, parts_count)"),
        ("grad if more is None else grad * more[0]", KINDS,
         "(grad0 if more_is_none else op_mul_tensor(grad0, more[0]))"),
        # what is true of one run
        ("-grad if retain_variables else grad", TWO, "(op_neg(grad0) if retain_variables else grad0)"),
        ("-grad if is_grad_enabled() else grad", TWO, "(op_neg(grad0) if is_grad_enabled else grad0)"),
        ("not_implemented('f of other')", TWO, "not_implemented('f of other')"),
        ("grad if dim is None else grad.expand(dim)", DIMS, "(grad0 if (dim is None) else op_expand(grad0, dim))"),
    ],
)  # fmt: skip
def test_trees(text: str, signature: str, tree: str) -> None:
    assert show(formula(text, signature).expr) == tree


def test_a_variable_is_narrowed_by_the_test_of_its_loop() -> None:
    tree = formula("[grad * p for p in parts if p is not None]", OPTIONAL).expr
    assert show(tree) == "[op_mul_tensor(grad0, p) for p in parts if not (p is None)]"
    assert str(tree.type) == "Tensor[]"
    tree = formula("[grad * p if p is not None else None for p in parts]", OPTIONAL)
    assert str(tree.expr.type) == "Tensor?[]"


def test_optional_tensor_is_narrowed_by_its_test() -> None:
    found = formula("grad if other is None else grad * other", "f(Tensor self, Tensor? other=None) -> Tensor")
    assert show(found.expr) == "(grad0 if other_is_none else op_mul_tensor(grad0, other))"
    found = formula("grad * other if other is not None else grad", "f(Tensor self, Tensor? other=None) -> Tensor")
    assert show(found.expr) == "(op_mul_tensor(grad0, other) if not other_is_none else grad0)"


def test_a_gradient_may_be_none() -> None:
    found = formula("None if flag else grad", SCALAR)
    assert show(found.expr) == "(None if flag else grad0)"
    assert found.expr.type.optional


def test_an_argument_that_became_a_number() -> None:
    entry = "f(Tensor self, Tensor|Scalar other) -> Tensor\n  forward: ufunc(multiply)\n  self: {}\n  other: grad"
    tensor, scalar = op_with(entry.format("grad * where(other > 0, 0, conj(other))")).variants
    assert tensor.backward is not None and scalar.backward is not None
    assert show(tensor.backward.gradients[0].formula.expr) == (
        "op_mul_tensor(grad0, op_where_scalar_tensor(op_gt_scalar(other, 0), 0, op_conj(other)))"
    )
    (gradient,) = scalar.backward.gradients
    assert show(gradient.formula.expr) == "op_mul_scalar(grad0, (0 if (other > 0) else conj_number(other)))"
    assert gradient.inputs == ("self",)


def test_where_with_one_truth_chooses_whole_values() -> None:
    found = formula("where(n > 0, 0, grad)", SCALAR)
    choice = found.expr
    assert isinstance(choice, Conditional) and not choice.is_elementwise
    assert show(choice) == "(0 if (n > 0) else grad0)"
    assert (choice.resolved, choice.family, len(choice.resolved_arguments)) == ("where_number", "formulas", 3)


def test_swapped_operands_stay_in_the_order_of_the_text() -> None:
    product = formula("2 * grad").expr
    assert isinstance(product, Operator)
    assert (product.symbol, product.family) == ("*", "arithmetic")
    assert [show(o) for o in product.operands] == ["2", "grad0"]
    assert [show(a) for a in product.resolved_arguments] == ["grad0", "2"]


def test_a_pointwise_forward_selects_by_a_tensor() -> None:
    op = op_with(
        "f(Tensor self, Tensor other) -> Tensor\n"
        "  forward: pointwise(self if self > 0 and self < 9 else other)\n"
        "  self: grad\n  other: grad"
    )
    found = op.variants[0].forward.formula
    assert found is not None and isinstance(found.expr, Conditional)
    assert found.expr.is_elementwise and found.expr.resolved == "op_where_tensor_tensor"
    assert show(found.expr) == "(self if (op_gt_scalar(self, 0) and op_lt_scalar(self, 9)) else other)"


def test_an_op_of_the_loop_emitter_may_name_itself() -> None:
    op = op_with("erf(Tensor self) -> Tensor\n  forward: pointwise(erf(self))\n  self: grad * exp(-self * self)")
    found = op.variants[0].forward.formula
    assert found is not None and show(found.expr) == "erf(self)"
    assert op.variants[0].backward is not None
    assert op.variants[0].backward.gradients[0].formula.is_pointwise


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("grad[0]", "indexes a tensor, but the table has no op basic_index."),
        ("grad.expand(size['a'])", "subscripts a list with str."),
        ("grad.expand(n[0])", "subscripts int, which is no list."),
        ("grad.expand(n[:2])", "slices int; lists and tensors have slices."),
        ("grad.expand(size[:mode])", "slices with str."),
        ("grad * mode", "applies '*' to Tensor and str, which no op takes. mul wants Tensor as 'other', not str."),
        ("grad * (n + mode)", "applies '+' to str, which is no number."),
        ("grad * (n + maybe)", "applies '+' to int?, which is no number. Test it with 'is None' first."),
        ("grad * -mode", "applies '-' to str, which is no number."),
        ("grad if n else grad", "tests int, which is no bool."),
        ("grad if mode < 'b' else grad", "compares str with str."),
        ("grad if n is 1 else grad", "uses 'is' with something else than None."),
        ("grad if mode in 'ab' else grad", "looks for str in str."),
        ("grad << 2", "has the operator of l shift, which formulas do not know."),
        ("grad * b'x'", "has the constant b'x', which formulas do not know."),
        ("grad if not n else grad", "applies 'not' to int, which is no bool."),
        ("(grad if mode == 'a' else n)", "gives Tensor or int: the two sides of 'if' differ."),
        ("max(grad, 0).val", "reads '.val', which max does not return. Returns: indices, values."),
        ("mode.upper", "reads '.upper' of str, which has no attributes."),
        ("grad.sum(0, dim=1)", "calls sum(Tensor, int, dim=int), which fits none of its signatures."),
        ("exp(grad, **n)", "has '**', which formulas do not know."),
        ("exp(*size)", "has starred, which formulas do not know."),
        ("grad * sum", "uses 'sum', which is not in scope."),
        ("grad * «x»", "has the character '«', which is not ASCII."),
        ("grad * parts[0]", "applies '*' to Tensor and Tensor?, which no op takes. mul wants a Tensor as 'other'"),
        ("grad * len(weights)", "takes len() of float[]?, where None may come. Test it with 'is None' first."),
        ("grad.expand(size + (0.5,))", "applies '+' to int[], which is no number."),
        ("n", "gives int, but a gradient of Tensor is a Tensor."),
    ],
)  # fmt: skip
def test_problems(text: str, problem: str) -> None:
    signature = "f(Tensor self, int[] size, int n, int? maybe, str mode, Tensor?[] parts, float[]? weights) -> Tensor"
    with pytest.raises(SpecErrors) as raised:
        formula(text, signature)
    assert f"formula for 'self' {problem}" in str(raised.value)
