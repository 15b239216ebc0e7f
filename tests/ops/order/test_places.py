"""Elements by their places: take, put, index_fill, index_copy and the places of what is not zero."""

import numpy as np
import pytest

import gradsmith as gs


def test_take_counts_from_the_end_too():
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert gs.take(x, gs.tensor([[0, -1], [2, 2]])).tolist() == [[1.0, 4.0], [3.0, 3.0]]
    assert gs.take_along_dim(x, gs.tensor([[1], [0]]), dim=1).tolist() == [[2.0], [3.0]]


def test_written_places():
    x = gs.zeros(2, 3)
    assert x.put_(gs.tensor([1, -1]), gs.tensor([5.0, 6.0])).tolist() == [[0.0, 5.0, 0.0], [0.0, 0.0, 6.0]]
    assert x.index_fill_(1, gs.tensor([0]), 7).tolist() == [[7.0, 5.0, 0.0], [7.0, 0.0, 6.0]]
    assert x.index_copy(0, gs.tensor([1]), gs.ones(1, 3)).tolist() == [[7.0, 5.0, 0.0], [1.0, 1.0, 1.0]]


def test_one_value_at_a_place_named_twice_has_one_gradient():
    value = gs.tensor(2.0, requires_grad=True)
    gs.zeros(3).index_fill(0, gs.tensor([0, 0]), value).sum().backward()
    assert value.grad.item() == 1.0


def test_places_of_what_is_not_zero():
    assert gs.nonzero(gs.tensor([[0, 1], [2, 0]])).tolist() == [[0, 1], [1, 0]]
    assert gs.argwhere(gs.tensor(3)).shape == (1, 0)
    with pytest.raises(NotImplementedError, match="meta"):
        gs.nonzero(gs.zeros(3, device="meta"))


def test_refused():
    with pytest.raises(RuntimeError, match="int64"):
        gs.take(gs.zeros(3), gs.tensor([0.0]))
    with pytest.raises(IndexError):
        gs.zeros(3).index_fill(0, gs.tensor([3]), 1.0)


def test_places_in_as_many_rows_as_are_asked_for():
    x = gs.tensor([[0, 1], [2, 0]])
    assert gs.nonzero_static(x, size=3).tolist() == [[0, 1], [1, 0], [-1, -1]]
    assert x.nonzero_static(size=1, fill_value=7).tolist() == [[0, 1]]
    assert gs.nonzero_static(x.bool(), size=0).shape == (0, 2)
    assert gs.nonzero_static(gs.tensor(5), size=2).shape == (2, 0)
    assert gs.nonzero_static(x.to("meta"), size=3).shape == (3, 2)
    with pytest.raises(RuntimeError, match="size must be a non-negative integer"):
        gs.nonzero_static(x, size=-1)


@pytest.mark.parametrize("rows", range(4))
@pytest.mark.parametrize("columns", range(4))
def test_indices_of_triangles(rows, columns):
    for offset in (*range(-5, 6), -(2**40), 2**40):
        for found, expected in ((gs.tril_indices, np.tri), (gs.triu_indices, lambda n, m, k: 1 - np.tri(n, m, k - 1))):
            for dtype in (gs.int64, gs.int32):
                places = found(rows, columns, offset, dtype=dtype)
                assert places.dtype == dtype
                np.testing.assert_array_equal(places.numpy(), np.nonzero(expected(rows, columns, offset)))
    assert gs.triu_indices(rows, columns, device="meta").shape == gs.triu_indices(rows, columns).shape
