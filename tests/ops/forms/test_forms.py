"""Every way to spell an op - function, method, property, operator, alias, keywords - is the same op."""

import operator
import re

import numpy as np
import pytest
from table import CALLABLE, CASES, DIFFERENTIABLE

import gradsmith as gs
from gradsmith import in_place
from gradsmith.autograd import grad
from gradsmith.codegen.spec.names import namespace_of
from gradsmith.compat.torch import layers
from gradsmith.verify.calls import call, call_function, call_method, call_property, function_of, outputs_of
from gradsmith.verify.samples import Case, as_tensors, at, key_of
from gradsmith.verify.seeds import seeded

CALLS = {"function": call_function, "method": call_method, "property": call_property}
PYTHON_OPERATORS = {
    "__add__": operator.add,
    "__sub__": operator.sub,
    "__mul__": operator.mul,
    "__truediv__": operator.truediv,
    "__floordiv__": operator.floordiv,
    "__mod__": operator.mod,
    "__pow__": operator.pow,
    "__matmul__": operator.matmul,
    "__and__": operator.and_,
    "__or__": operator.or_,
    "__xor__": operator.xor,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__neg__": operator.neg,
    "__pos__": operator.pos,
    "__abs__": operator.abs,
    "__invert__": operator.invert,
    "__lshift__": operator.lshift,
    "__rshift__": operator.rshift,
}
OPERATOR_CASES = [case for case in CASES if case.row.operators]


def ids(cases):
    return [case.id for case in cases]


def arrays_of(result):
    return [part.detach().numpy() for part in outputs_of(result)]


def assert_same(one, other, label=""):
    for ours, theirs in zip(arrays_of(one), arrays_of(other), strict=True):
        assert ours.dtype == theirs.dtype, label
        np.testing.assert_array_equal(ours, theirs, err_msg=label)


def has_tensor(values):
    return isinstance(values.get("self"), gs.Tensor)


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_forms_agree(case):
    expected = call(case.row, as_tensors(case.values()))
    for form, caller in CALLS.items():
        tensors = as_tensors(case.values())
        if form in case.row.forms and (form == "function" or has_tensor(tensors)):
            assert_same(caller(case.row, tensors), expected, form)


def is_public(row):
    return "function" in row.forms and "internal" not in row.forms


@pytest.mark.parametrize("row", CALLABLE, ids=key_of)
def test_what_is_exported(row):
    of_all_overloads = {form for other in CALLABLE if other.base == row.base for form in other.forms}
    for name in (name for name in (row.base, *row.aliases) if not namespace_of(name)):  # see test_namespaces.py
        assert (name in gs.__all__) == (is_public(row) or name in in_place.__all__ or name in layers.__all__)
        assert hasattr(gs.Tensor, name) == bool({"method", "property"} & of_all_overloads)
        is_an_op = any(name + "_copy" == other.base and is_public(other) for other in CALLABLE)
        is_a_copy = "copy" in row.forms or is_an_op
        assert (name + "_copy" in gs.__all__) == is_a_copy
        assert hasattr(gs.Tensor, name + "_") or "inplace" not in row.forms


@pytest.mark.parametrize("case", [c for c in CASES if c.row.aliases], ids=lambda case: case.id)
def test_aliases_agree(case):
    expected = call(case.row, as_tensors(case.values()))
    for alias in case.row.aliases:
        tensors = as_tensors(case.values())
        if "function" in case.row.forms:
            assert_same(call_function(case.row, tensors, name=alias), expected, alias)
        if "method" in case.row.forms and has_tensor(tensors) and not namespace_of(alias):
            assert_same(call_method(case.row, tensors, name=alias), expected, alias)


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if "function" in c.row.forms and c.row.variadic not in ("matrices", "operands", "tensors")],
    ids=lambda case: case.id,
)
def test_all_arguments_by_keyword(case):
    """The first tensor is called `input`; `dim` and `keepdim` have NumPy's names too."""
    values = as_tensors(case.values())
    expected = call(case.row, values)
    named = {"input" if name == "self" else name: value for name, value in values.items()}
    function = function_of(case.row)
    assert_same(function(**seeded(named)), expected)
    as_in_numpy = {{"dim": "axis", "keepdim": "keepdims"}.get(name, name): value for name, value in named.items()}
    if set(as_in_numpy) <= set(case.row.parameters):
        assert_same(function(**seeded(as_in_numpy)), expected)


@pytest.mark.parametrize("case", [c for c in CASES if c.row.variadic], ids=lambda case: case.id)
def test_spread_arguments(case):
    values = as_tensors(case.values())
    expected = call(case.row, values)
    spread = values[case.row.variadic]
    if "self" in values:
        assert_same(getattr(values["self"], case.row.base)(*spread), expected)
    else:
        named = {name: value for name, value in values.items() if is_keyword_only(case.row, name)}
        first = [value for name, value in values.items() if name not in (*named, case.row.variadic)]
        assert_same(getattr(gs, case.row.base)(*first, *spread, **named), expected)


def is_keyword_only(row, name):
    return re.search(rf"\*,.*\b{name}\b", row.name) is not None


# ---- operators


@pytest.mark.parametrize("case", OPERATOR_CASES, ids=ids(OPERATOR_CASES))
def test_operators(case):
    """Also with numbers and arrays on either side; an array gives a tensor, not an array of tensors."""
    tensors = as_tensors(case.values())
    expected = call(case.row, tensors)
    symbols = {kind: PYTHON_OPERATORS[name] for name, kind in case.row.operators if name in PYTHON_OPERATORS}
    operands = list(tensors.values())
    assert_same(symbols["unary" if len(operands) == 1 else "binary"](*operands), expected)
    if len(operands) == 2:
        symbol, (left, right) = symbols["binary"], list(case.values().values())
        if isinstance(operands[0], gs.Tensor) and isinstance(right, np.ndarray):
            assert_same(symbol(operands[0], right), expected, "tensor with array")
        if isinstance(operands[1], gs.Tensor) and isinstance(left, np.ndarray):
            assert_same(symbol(left, operands[1]), expected, "array with tensor")


@pytest.mark.parametrize("case", OPERATOR_CASES, ids=ids(OPERATOR_CASES))
def test_inplace_operators(case):
    """``x += y`` is ``x.add_(y)``: the same tensor, changed."""
    names = [name for name, kind in case.row.operators if kind == "inplace"]
    tensors = as_tensors(case.values())
    expected = call(case.row, tensors)
    if names and has_tensor(tensors) and expected.shape == tensors["self"].shape:
        target = tensors["self"]
        result = getattr(operator, names[0])(target, list(tensors.values())[1])
        assert result is target and target._version == 1
        assert_same(result, expected)


BINARY = [row for row in CALLABLE if any(kind == "binary" for _, kind in row.operators)]


@pytest.mark.parametrize("row", BINARY, ids=[key_of(row) for row in BINARY])
def test_operators_leave_foreign_types_to_the_other_side(row):
    """An operand that the op does not take gets its chance to answer; if it has none, Python says so."""

    class Other:
        def answer(self, tensor):
            return "other"

        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = answer
        __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = answer
        __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = answer

    name = next(name for name, kind in row.operators if kind == "binary")
    symbol, x = PYTHON_OPERATORS[name], gs.tensor([1, 2])
    assert symbol(x, Other()) == "other"
    if name == "__eq__":
        assert (x == "text") is False and (x == None) is False  # noqa: E711
    elif name == "__ne__":
        assert (x != "text") is True and (x != None) is True  # noqa: E711
    else:
        with pytest.raises(TypeError):
            symbol(x, "text")
        with pytest.raises(TypeError):
            symbol(x, None)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
@pytest.mark.parametrize("number", [3, 2.5, np.float32(1.5), np.int64(2)], ids=repr)
def test_numbers_on_either_side(name, number):
    """A number takes the tensor's dtype as far as its kind allows; the gradient flows to the tensor."""
    symbol, values = getattr(operator, name), np.array([1.25, 2.5, 0.75], np.float32)
    for forward in (True, False):
        x = gs.tensor(values, requires_grad=True)
        result = symbol(x, number) if forward else symbol(number, x)
        expected = symbol(values.astype(float), number) if forward else symbol(number, values.astype(float))
        assert result.dtype == gs.float32 and result.requires_grad
        np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-6)
        result.sum().backward()
        assert x.grad.shape == x.shape


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "matmul"])
def test_arrays_on_either_side_are_constants(name):
    symbol, array = getattr(operator, name), np.array([[1.0, 2.0], [3.0, 4.0]])
    for forward in (True, False):
        x = gs.tensor(array + 0.5, requires_grad=True)
        result = symbol(x, array) if forward else symbol(array, x)
        assert isinstance(result, gs.Tensor) and result.requires_grad
        plain = x.detach().numpy()
        np.testing.assert_allclose(result.detach().numpy(), symbol(plain, array) if forward else symbol(array, plain))


def test_complex_number_makes_a_real_tensor_complex():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2j
    assert y.dtype == gs.complex64
    y.imag.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and x.grad.dtype == gs.float32


# ---- results without a gradient, and results of which only one is used


CONSTANT = [Case(row, number) for row in CALLABLE if row.nondifferentiable for number in range(len(row.samples))]


@pytest.mark.parametrize("case", CONSTANT, ids=ids(CONSTANT))
def test_op_without_derivative_does_not_require_grad(case):
    tensors = as_tensors(case.values())
    for tensor in tensors.values():
        if isinstance(tensor, gs.Tensor) and tensor.is_floating_point():
            tensor.requires_grad_()
    for result in outputs_of(call(case.row, tensors)):
        assert not result.requires_grad and result.grad_fn is None and result.is_leaf


def recorded_results(case):
    tensors = as_tensors(case.values())
    leaves = [at(tensors, place).requires_grad_() for place in case.inputs]
    return [r for r in outputs_of(call(case.row, tensors)) if r.requires_grad], leaves


def squared(result):
    return ((result.real if result.is_complex() else result) ** 2).sum()


SEVERAL = [case for case in DIFFERENTIABLE if len(outputs_of(call(case.row, as_tensors(case.values())))) > 1]


@pytest.mark.usefixtures("any_gradient")
@pytest.mark.parametrize("case", SEVERAL, ids=ids(SEVERAL))
def test_one_of_several_results_used(case):
    """A result that is not used counts like one with a gradient of zeros."""
    recorded = [n for n, result in enumerate(recorded_results(case)[0]) if result.requires_grad]
    for used in recorded:
        results, leaves = recorded_results(case)
        alone = grad(squared(results[used]), leaves, create_graph=True, materialize_grads=True)
        if not any(g.requires_grad for g in alone):
            continue  # zero everywhere, as that of a rounded quotient
        seconds = grad(sum(g.sum() for g in alone), leaves, materialize_grads=True)
        results, leaves = recorded_results(case)
        total = sum(squared(r) * (number == used) for number, r in enumerate(results))
        together = grad(total, leaves, create_graph=True)
        other_seconds = grad(sum(g.sum() for g in together), leaves)
        for one, other in zip((*alone, *seconds), (*together, *other_seconds)):
            np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-13)


@pytest.mark.parametrize("case", [c for c in CASES if len(c.row.returns) > 1], ids=lambda case: case.id)
def test_several_results_have_names(case):
    tensors = as_tensors(case.values())
    count = 2 if case.row.base == "triangular_solve" else 1  # the second result is a copy of the second tensor
    for value in [value for value in tensors.values() if isinstance(value, gs.Tensor)][:count]:
        value.requires_grad_()
    result = call(case.row, tensors)
    assert result._fields == case.row.returns and isinstance(result, tuple)
    for name, recorded, part in zip(case.row.returns, case.row.outputs, result):
        assert getattr(result, name) is part
        assert part.requires_grad == recorded


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=ids(DIFFERENTIABLE))
def test_nothing_is_recorded_where_nothing_is_wanted(case):
    """Without a leaf, or under no_grad; a view of what requires grad has its flag, as in PyTorch, but no history."""
    for result in outputs_of(call(case.row, as_tensors(case.values()))):
        assert not result.requires_grad and result.grad_fn is None
    tensors = as_tensors(case.values())
    leaves = [at(tensors, place).requires_grad_() for place in case.inputs]
    with gs.no_grad():
        results = outputs_of(call(case.row, tensors))
    for result in results:
        assert result.grad_fn is None and result.is_leaf
        assert not result.requires_grad or result._is_view() or any(result is leaf for leaf in leaves)


NODE_NAMES = {
    "add-0": "AddBackward0",
    "add.alpha-0": "AddBackward1",
    "mul-3": "MulBackward0",  # by a number: the same name
    "exp-0": "ExpBackward0",
    "log1p-0": "Log1pBackward0",
    "sum-0": "SumBackward0",
    "sum.dim-0": "SumBackward1",
    "max.dim-0": "MaxBackward1",
    "log_softmax-0": "LogSoftmaxBackward0",
    "view-0": "ViewBackward0",
    "cat-0": "CatBackward0",
    "flatten-0": "ReshapeBackward0",  # a composite has no node of its own
}


@pytest.mark.parametrize("case", [c for c in DIFFERENTIABLE if c.id in NODE_NAMES], ids=lambda case: case.id)
def test_node_is_named_after_its_op(case):
    """CamelCase base, "Backward", number of the entry among those of its base."""
    results, leaves = recorded_results(case)
    node = results[0].grad_fn
    assert node.name() == NODE_NAMES[case.id]
    assert repr(node).startswith(f"<{node.name()} object at 0x")
    assert len(node.next_functions) == len(leaves)


def test_every_node_name_is_tested_that_is_listed():
    assert set(NODE_NAMES) <= {case.id for case in DIFFERENTIABLE}


@pytest.mark.parametrize("number", [2, True, 2.5, 1j, np.float32(2), np.int64(1)])
def test_matrix_products_are_not_of_numbers(number):
    x = gs.ones(2)
    for product in (lambda: x @ number, lambda: number @ x):
        with pytest.raises(TypeError, match="unsupported operand type.* for @"):
            product()
