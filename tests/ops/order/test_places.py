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


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float16", "complex64"])
def test_places_in_each_dtype(dtype):
    for shape in [(), (0,), (7,), (3, 4), (2, 0), (2, 3, 4)]:
        x = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3).astype(dtype)
        expected = np.argwhere(x)
        for given in (x, x[::-1] if x.ndim else x):
            expected = np.argwhere(given)
            np.testing.assert_array_equal(gs.nonzero(gs.tensor(given.copy())), expected)
            assert gs.nonzero(gs.tensor(given.copy())).shape == expected.shape
    found = gs.tensor([0, 3, 0, 4]).nonzero()
    found.add_(1)  # its memory is its own
    assert found.tolist() == [[2], [4]] and found.is_contiguous()


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 1, 3)])
def test_ones_at_classes(shape):
    classes = np.random.default_rng(0).integers(0, 5, shape)
    for given in (gs.tensor(classes), gs.tensor(classes.T.copy()).permute(list(reversed(range(len(shape)))))):
        np.testing.assert_array_equal(gs.nn.functional.one_hot(given, 6), np.eye(6, dtype=int)[classes])
        count = int(classes.max()) + 1
        np.testing.assert_array_equal(gs.nn.functional.one_hot(given), np.eye(count, dtype=int)[classes])
    with pytest.raises(RuntimeError, match="non-negative"):
        gs.nn.functional.one_hot(gs.tensor([1, -1]))
    with pytest.raises(RuntimeError, match="smaller than num_classes"):
        gs.nn.functional.one_hot(gs.tensor([1, 3]), 3)
    with pytest.raises(RuntimeError, match="must be positive"):
        gs.nn.functional.one_hot(gs.tensor([0]), -2)
    assert gs.nn.functional.one_hot(gs.zeros(0, dtype=gs.int64), 3).shape == (0, 3)
    each = gs.vmap(lambda one: gs.nn.functional.one_hot(one, 3))(gs.tensor([[0, 2], [1, 1]]))
    assert each.tolist() == [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 1, 0]]]


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", "float64", "float16"])
@pytest.mark.parametrize(
    "shape, tests", [((), (3,)), ((3,), ()), ((0,), (3,)), ((5,), (0,)), ((3, 4), (2, 2)), ((40,), (90,))]
)
def test_membership(dtype, shape, tests):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, 6, size).astype(dtype) for size in (shape, tests))
    if dtype[0] == "f":
        for given in (x, y):
            given[given == 1] = np.nan  # among nothing
            given[given == 0] *= -1
    for invert in (False, True):
        expected = np.asarray([(one == y).any() != invert for one in x.ravel()], bool).reshape(shape)
        np.testing.assert_array_equal(gs.isin(gs.tensor(x), gs.tensor(y), invert=invert), expected)
        if x.ndim == 2:
            found = gs.isin(gs.tensor(np.ascontiguousarray(x.T)).t(), gs.tensor(y).t(), invert=invert)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 3, 300])
def test_nothing_to_replace_and_something(dtype, size):
    a = np.linspace(-1, 1, size).astype(dtype)
    found = gs.nan_to_num(gs.from_numpy(a))
    np.testing.assert_array_equal(found, a)
    found.add_(1)  # a copy
    np.testing.assert_array_equal(a, np.linspace(-1, 1, size).astype(dtype))
    if size:
        a[[0, 1, 2]] = [np.nan, np.inf, -np.inf]
        np.testing.assert_array_equal(
            gs.nan_to_num(gs.from_numpy(a), 2.0, 3.0, -4.0), np.nan_to_num(a, True, 2.0, 3.0, -4.0)
        )
    turned = gs.from_numpy(np.ones((3, 4), dtype)).t()
    assert gs.nan_to_num(turned).stride() == turned.stride()


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (0, 3), (3, 0), (100, 60), (9, 1, 500), (1, 1)])
@pytest.mark.parametrize("dtype", ["?", "f4", "i8", "c16"])
def test_places_that_are_not_zero_lie_by_rows(shape, dtype):
    array = (np.random.default_rng(1).random(shape) < 0.3).astype(dtype)
    for x in (gs.tensor(array), gs.tensor(array.T.copy()).permute(*reversed(range(len(shape))))):
        places = x.nonzero()
        np.testing.assert_array_equal(places.numpy(), np.argwhere(array))
        assert places.is_contiguous()


@pytest.mark.parametrize("index", [[-1, 2], [2, -1], [0, -3]])
def test_places_from_the_end(index):
    """`take_along_dim` counts from the end too, `index_copy` from the start alone."""
    x, places = gs.arange(4.0), gs.tensor(index)
    np.testing.assert_array_equal(gs.take_along_dim(x, places, 0).numpy(), x.numpy()[index])
    with pytest.raises(IndexError, match=f"index {min(index)} is out of bounds for dimension 0 with size 4"):
        gs.index_copy(x, 0, places, gs.ones(2))
    with pytest.raises(IndexError, match="out of bounds"):
        x.index_copy_(0, places, gs.ones(2))
    np.testing.assert_array_equal(x.numpy(), [0, 1, 2, 3])
