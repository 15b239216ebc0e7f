"""Elementwise ops, copies and tensors made like another keep the order of dimensions; strides are PyTorch's."""

import copy

import numpy as np
import pytest
from table import CASES

import gradsmith as gs
from gradsmith.verify.calls import call, outputs_of
from gradsmith.verify.samples import as_tensors, key_of


def is_elementwise(case):
    """One result with the shape of every tensor that has dimensions, computed element by element."""
    row = case.row
    if not row.forward.startswith(("ufunc", "pointwise", "array(clone_of", "array(where_of", "array(rounded_div_of")):
        return False
    shapes = {value.shape for value in case.values().values() if isinstance(value, np.ndarray) and value.ndim}
    return len(shapes) == 1 and len(next(iter(shapes))) == 2


ELEMENTWISE = [case for case in CASES if is_elementwise(case)]
DIFFERENTIABLE = [case for case in ELEMENTWISE if case.inputs]


def column_major(tensors):
    return {
        name: gs.from_numpy(np.asfortranarray(value.numpy())) if isinstance(value, gs.Tensor) and value.ndim else value
        for name, value in tensors.items()
    }


def columns_of(size, seed=0):
    rows, columns = size
    return gs.tensor(np.random.default_rng(seed).random((columns, rows), np.float32) + 0.1).T


def test_most_of_the_table_is_elementwise():
    assert len({key_of(case.row) for case in ELEMENTWISE}) > 55


@pytest.mark.parametrize("case", ELEMENTWISE, ids=[case.id for case in ELEMENTWISE])
def test_elementwise_ops_keep_the_order(case):
    rows = as_tensors(case.values())
    columns = column_major(rows)
    by_rows, by_columns = call(case.row, rows), call(case.row, columns)
    for expected, result in zip(outputs_of(by_rows), outputs_of(by_columns), strict=True):
        np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-6)
        assert expected.is_contiguous()
        assert result.numpy().flags.f_contiguous, "the order of the operands is lost"


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=[case.id for case in DIFFERENTIABLE])
def test_gradients_are_laid_out_like_what_they_belong_to(case):
    rows = as_tensors(case.values())
    gradients = []
    for tensors in (rows, column_major(rows)):
        leaves = {name: tensors[name].detach().clone().requires_grad_() for name, *_ in case.inputs}
        result = call(case.row, {**tensors, **leaves})
        result.abs().sum().backward()
        gradients.append([(leaf, leaf.grad) for leaf in leaves.values()])
    for (_, expected), (leaf, found) in zip(*gradients, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-7)
        assert found.stride() == leaf.stride()


def test_a_gradient_inside_keeps_the_order():
    x = columns_of((5, 4)).requires_grad_()
    seen = []
    y = x.tanh()
    y.register_hook(lambda grad: seen.append(grad.stride()))
    z = (y * 2.0).sigmoid()
    z.backward(columns_of((5, 4), 1))
    assert seen == [(1, 5)] and x.grad.stride() == (1, 5)


MADE = {
    "clone": lambda x: x.clone(),
    "to": lambda x: x.to(gs.float64),
    "flip": lambda x: x.flip(0),
    "zeros_like": gs.zeros_like,
    "ones_like": gs.ones_like,
    "empty_like": gs.empty_like,
    "full_like": lambda x: gs.full_like(x, 3),
    "rand_like": gs.rand_like,
    "randn_like": gs.randn_like,
    "randint_like": lambda x: gs.randint_like(x, 5),
}


@pytest.mark.parametrize("make", MADE)
def test_what_is_made_like_a_tensor_keeps_the_order(make):
    permuted = gs.rand(4, 3, 5).permute(2, 0, 1)
    assert MADE[make](permuted).stride() == permuted.stride() == (1, 15, 5)
    assert MADE[make](gs.rand(8, 5)[::2].T).stride() == (1, 5)
    assert MADE[make](gs.rand(4).expand(5, 4)).is_contiguous()
    assert MADE[make](gs.rand(5, 4)).is_contiguous()


def test_a_deep_copy_is_of_the_memory():
    for x in (gs.rand(4, 3, 5).permute(2, 0, 1), gs.rand(8, 5)[::2].T, gs.rand(5, 4)):
        assert copy.deepcopy(x).stride() == x.stride()


def test_values_of_what_is_made_like_a_tensor():
    x = columns_of((5, 4))
    assert gs.zeros_like(x).tolist() == [[0.0] * 4] * 5 and gs.ones_like(x).tolist() == [[1.0] * 4] * 5
    assert gs.full_like(x, 2.5, dtype=gs.float64).tolist() == [[2.5] * 4] * 5
    gs.manual_seed(1)
    drawn = gs.rand(5, 4)
    gs.manual_seed(1)
    np.testing.assert_array_equal(gs.rand_like(x).numpy(), drawn.numpy())
    np.testing.assert_array_equal(x.flip(1).numpy(), x.numpy()[:, ::-1])
    np.testing.assert_array_equal(copy.deepcopy(x).numpy(), x.numpy())
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        copied = gs.tensor(x)
    assert copied.stride() == gs.tensor(x.numpy()).stride() == (1, 5)


def test_contiguous_is_by_rows():
    x = columns_of((5, 4)).requires_grad_()
    rows = x.contiguous()
    assert rows.stride() == (4, 1) and rows.contiguous() is rows
    assert x.clone().contiguous().is_contiguous()
    rows.backward(columns_of((5, 4), 1))
    np.testing.assert_array_equal(x.grad.numpy(), columns_of((5, 4), 1).numpy())


def test_a_clone_of_columns_is_no_row():
    x = columns_of((5, 4))
    with pytest.raises(RuntimeError, match="cannot be seen as size"):
        x.clone().view(-1)
    np.testing.assert_array_equal(x.clone().reshape(-1).numpy(), x.numpy().reshape(-1))
    np.testing.assert_array_equal(np.asarray(x.clone()), x.numpy())


def test_copies_of_views_are_by_rows():
    assert gs.permute_copy(gs.rand(4, 5), (1, 0)).stride() == (4, 1)


def test_what_is_stored_by_rows_in_any_case():
    x = columns_of((5, 4))
    index = gs.zeros(1, 4, dtype=gs.int64)
    assert x.softmax(0).is_contiguous() and x.cumsum(0).is_contiguous() and x.gather(0, index).is_contiguous()
    assert x.scatter(0, index, 0.0).is_contiguous() and x.index_add(0, index[0], gs.zeros(4, 4)).is_contiguous()
    np.testing.assert_allclose(x.cumsum(0).numpy(), x.numpy().cumsum(0), rtol=1e-6)


def test_a_retained_gradient_is_stored_by_rows():
    y = columns_of((5, 4)).requires_grad_() * 1
    y.retain_grad()
    y.backward(columns_of((5, 4), 1))
    assert y.grad.is_contiguous()
    np.testing.assert_array_equal(y.grad.numpy(), columns_of((5, 4), 1).numpy())


IN_PLACE = {
    "relu_": (lambda x, y: x.relu_(), lambda x, y: np.maximum(x, 0)),
    "sigmoid_": (lambda x, y: x.sigmoid_(), lambda x, y: 1 / (1 + np.exp(-x))),
    "add_": (lambda x, y: x.add_(y, alpha=2), lambda x, y: x + 2 * y),
    "mul_": (lambda x, y: x.mul_(y), lambda x, y: x * y),
    "mul_ by itself transposed": (lambda x, y: x.add_(x.T, alpha=2), lambda x, y: x + 2 * x.T),
}
PLACES = {
    "rows": lambda: gs.rand(40, 40),
    "columns": lambda: gs.rand(40, 40).T,
    "every other": lambda: gs.rand(80, 40)[::2],
    "every other column": lambda: gs.rand(80, 40)[::2].T,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("other", PLACES)
@pytest.mark.parametrize("op", IN_PLACE)
def test_in_place_keeps_the_strides(op, place, other):
    function, expected = IN_PLACE[op]
    x, y = PLACES[place](), PLACES[other]() - 0.5
    before, strides = x.numpy().copy(), x.stride()
    function(x, y)
    np.testing.assert_allclose(x.numpy(), expected(before, y.numpy()), rtol=1e-5, atol=1e-6)
    assert x.stride() == strides


@pytest.mark.parametrize("place", PLACES)
def test_out_keeps_its_strides(place):
    x, out = columns_of((40, 40)) - 0.5, PLACES[place]()
    strides = out.stride()
    doubled = x.numpy() + 2 * x.numpy()
    for function, expected in ((lambda x, out: gs.add(x, x, alpha=2, out=out), doubled), (gs.exp, np.exp(x.numpy()))):
        function(x, out=out)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)
        assert out.stride() == strides


def test_a_number_and_another_dtype_keep_the_order():
    x = columns_of((5, 4))
    for result in (x * 2.0, 2 - x, x**2, x / 3, x > 0.5, x + gs.ones(4, dtype=gs.int64), x.clamp(min=0.2)):
        assert result.stride() == (1, 5)
    assert (x + gs.ones(5, 4)).stride() == (1, 5) and (gs.ones(5, 4) + x).stride() == (4, 1)
    assert gs.div(x, gs.ones(5, 4), rounding_mode="trunc").stride() == (1, 5)
