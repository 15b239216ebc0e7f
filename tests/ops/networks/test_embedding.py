"""Lookups in tables against NumPy's indexing, and their gradients against sums of rows."""

import math

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import forward_ad

TABLE = np.arange(20.0).reshape(5, 4) / 7
RNG = np.random.default_rng(3)


def gradient_of(indices, weights, dtype=np.float64, **options):
    table = gs.tensor(TABLE.astype(dtype), requires_grad=True)
    rows = F.embedding(gs.tensor(indices), table, **options)
    (rows * gs.tensor(weights.astype(dtype))).sum().real.backward()
    return table.grad.numpy()


def summed(indices, weights):
    table = np.zeros_like(TABLE)
    np.add.at(table, indices, weights)
    return table


@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_rows_and_their_gradient(shape, dtype):
    indices = RNG.integers(5, size=shape).astype(dtype)
    np.testing.assert_array_equal(F.embedding(gs.tensor(indices), gs.tensor(TABLE)).numpy(), TABLE[indices])
    weights = RNG.standard_normal((*shape, 4))
    for sparse in (False, True):
        np.testing.assert_allclose(gradient_of(indices, weights, sparse=sparse), summed(indices, weights), rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.complex128])
@pytest.mark.parametrize("sparse", [False, True])
def test_dtypes(dtype, sparse):
    found = gradient_of([1, 1, 4], np.ones((3, 4)), dtype, sparse=sparse)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, summed([1, 1, 4], 1.0))


@pytest.mark.parametrize("layout", [lambda a: np.asfortranarray(a), lambda a: a[::-1], lambda a: a[:, ::2]])
def test_tables_of_any_layout(layout):
    table = layout(TABLE)
    found = F.embedding(gs.tensor([3, 0]), gs.from_numpy(table))
    np.testing.assert_array_equal(found.numpy(), table[[3, 0]])


@pytest.mark.parametrize("padding", [2, -3])
@pytest.mark.parametrize("sparse", [False, True])
def test_padding_gets_no_gradient(padding, sparse):
    expected = summed([0, 2, 2, 1], np.ones((4, 4)))
    expected[2] = 0
    found = gradient_of([0, 2, 2, 1], np.ones((4, 4)), padding_idx=padding, sparse=sparse)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("sparse", [False, True])
def test_gradients_divided_by_frequency(sparse):
    found = gradient_of([0, 2, 2, 2], np.ones((4, 4)), scale_grad_by_freq=True, sparse=sparse)
    np.testing.assert_allclose(found, np.array([1.0, 0, 1, 0, 0])[:, None] * np.ones(4), rtol=1e-15)


def test_rows_longer_than_max_norm_are_shortened_in_the_table():
    table = gs.tensor(TABLE, requires_grad=True)
    rows = F.embedding(gs.tensor([4, 4, 0]), table, max_norm=1.0)
    expected = TABLE.copy()
    expected[4] /= np.linalg.norm(expected[4]) + 1e-7
    np.testing.assert_allclose(table.detach().numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(rows.detach().numpy(), expected[[4, 4, 0]], rtol=1e-12)
    rows.sum().backward()
    np.testing.assert_array_equal(table.grad.numpy()[:, 0], [1, 0, 0, 0, 2])


def test_max_norm_of_another_norm():
    table = gs.tensor(TABLE)
    F.embedding(gs.tensor([3]), table, max_norm=2.0, norm_type=1.0)
    assert np.abs(table.numpy()[3]).sum() == pytest.approx(2.0, rel=1e-6)


def test_samples_of_their_own():
    indices = np.array([[0, 2], [1, 1]])
    table = gs.tensor(TABLE)
    loss = lambda table, indices: (F.embedding(indices, table, padding_idx=2) ** 2).sum()  # noqa: E731
    found = gs.func.vmap(gs.func.grad(loss), (None, 0))(table, gs.tensor(indices)).numpy()
    for one, row in zip(found, indices, strict=True):
        expected = summed(row, 2 * TABLE[row])
        expected[2] = 0
        np.testing.assert_allclose(one, expected, rtol=1e-15)


def test_tables_of_their_own():
    tables = np.stack([TABLE, 2 * TABLE])
    found = gs.func.vmap(lambda t: F.embedding(gs.tensor([1, 3]), t, scale_grad_by_freq=True))(gs.tensor(tables))
    np.testing.assert_allclose(found.numpy(), tables[:, [1, 3]], rtol=1e-15)


def test_shapes_without_data():
    rows = F.embedding(gs.empty(2, 3, dtype=gs.int64, device="meta"), gs.empty(5, 4, device="meta"))
    assert rows.is_meta and rows.shape == (2, 3, 4)


@pytest.mark.parametrize(
    ("indices", "table", "options", "error", "match"),
    [
        ([5], TABLE, {}, IndexError, "index out of range in self.*5 rows, but index 5"),
        ([-1], TABLE, {}, IndexError, "index out of range in self.*index -1"),
        (
            [0.0],
            TABLE,
            {},
            RuntimeError,
            "'indices' to have one of the following scalar types: Long, Int; but got float32",
        ),
        ([0], TABLE[0], {}, RuntimeError, "'weight' must be 2-D"),
        ([0], TABLE, {"padding_idx": 5}, ValueError, "padding_idx must be within the 5 rows of the table"),
        ([0], TABLE, {"padding_idx": -6}, ValueError, "padding_idx must be within the 5 rows"),
    ],
)
def test_errors(indices, table, options, error, match):
    with pytest.raises(error, match=match):
        F.embedding(gs.tensor(indices), gs.tensor(table), **options)


def test_the_op_takes_the_table_first_as_in_pytorch():
    np.testing.assert_array_equal(gs.embedding(gs.tensor(TABLE), gs.tensor([4])).numpy(), TABLE[[4]])


@pytest.mark.parametrize("rows, width, index", [(0, 0, []), (10, 0, [[0, 2], [4, 3]])])
def test_tables_without_elements_have_sparse_gradients(rows, width, index):
    weight = gs.zeros(rows, width, requires_grad=True)
    gs.nn.functional.embedding(gs.tensor(index, dtype=gs.int64), weight, sparse=True).sum().backward()
    assert weight.grad.is_sparse and weight.grad.shape == (rows, width)


@pytest.mark.parametrize("by_frequency", [False, True])
@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_no_gradient_of_padding_is_no_number(wrong, by_frequency):
    table = gs.ones(4, 2, requires_grad=True)
    rows = F.embedding(gs.tensor([1, 0, 1, 3]), table, padding_idx=1, scale_grad_by_freq=by_frequency)
    rows.backward(gs.tensor([[1.0, 2.0], [3.0, 4.0], [wrong, wrong], [5.0, 6.0]]))
    assert table.grad.tolist() == [[3, 4], [0, 0], [0, 0], [5, 6]]

    def one(row):
        return F.embedding(gs.tensor([1, 0]), row, padding_idx=1, scale_grad_by_freq=by_frequency)

    tables, gradients = gs.ones(3, 4, 2), gs.tensor([[[1.0, 2.0], [3.0, 4.0]]] * 3)
    gradients[1, 0, 0] = wrong
    found = gs.vmap(lambda row, gradient: gs.func.vjp(one, row)[1](gradient)[0])(tables, gradients)
    assert found.tolist() == [[[3, 4], [0, 0], [0, 0], [0, 0]]] * 3


@pytest.mark.parametrize("lookup", [F.embedding, F.embedding_bag])
def test_rows_are_shortened_by_indices_of_any_size(lookup):
    found = []
    for dtype in (gs.int32, gs.int64):
        table = gs.arange(8.0).reshape(4, 2)
        found.append((lookup(gs.tensor([[0, 3], [3, 1]], dtype=dtype), table, max_norm=1.0).tolist(), table.tolist()))
    assert found[0] == found[1]
    np.testing.assert_allclose(np.linalg.norm(found[0][1], axis=1), [1, 1, math.hypot(4, 5), 1], rtol=1e-6)


def test_tangents_of_shortened_rows_are_those_of_the_rows():
    """As gradients are: the table that a call leaves behind is that of which it is the derivative."""
    table, tangents = gs.arange(1.0, 9.0).reshape(4, 2), gs.arange(8.0, 16.0).reshape(4, 2)
    with forward_ad.dual_level():
        rows = F.embedding(gs.tensor([2, 0, 2]), forward_ad.make_dual(table, tangents), max_norm=1.0)
        primal, tangent = forward_ad.unpack_dual(rows)
    np.testing.assert_allclose(np.linalg.norm(primal.numpy(), axis=1), 1, rtol=1e-6)
    assert tangent.tolist() == [[12, 13], [8, 9], [12, 13]]
