"""``x[...]`` and ``x[...] = v`` with every kind of index, against NumPy: values, views, gradients, refusals."""

import time
import warnings

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad

SHAPE = (3, 4, 5)
ROWS, COLUMNS = np.array([2, 0, 2]), np.array([1, 3, 1])
MASK = np.random.default_rng(0).random(SHAPE) < 0.4
FACE, STRIPE = MASK[:, :, 0], np.array([True, False, True])

VIEWS = {
    "int": 1,
    "negative int": -1,
    "NumPy int": np.int64(2),
    "slice": slice(1, None),
    "steps": slice(None, None, 2),
    "backwards": slice(None, None, -1),
    "nothing": slice(0, 0),
    "beyond": slice(1, 99),
    "ellipsis": ...,
    "None": None,
    "empty tuple": (),
    "two ints": (1, -2),
    "all ints": (1, 2, 3),
    "int and slice": (slice(None), 2),
    "slices": (slice(1), slice(None, None, 3), slice(-2, None)),
    "ellipsis first": (..., 0),
    "ellipsis between": (0, ..., slice(1, 3)),
    "ellipsis of nothing": (slice(None), slice(None), ..., slice(None)),
    "None between": (slice(None), None, 1, None),
    "None and ellipsis": (None, ..., None),
}
COPIES = {
    "array": ROWS,
    "list": [2, 0, 2],
    "negative": [-1, 0],
    "matrix of indices": np.array([[0, 1], [2, 0]]),
    "no index": np.array([], np.int64),
    "two arrays": (ROWS, COLUMNS),
    "three arrays": (ROWS, COLUMNS, np.array([0, 4, 0])),
    "arrays that broadcast": (ROWS[:, None], COLUMNS),
    "array and slice": (slice(None), COLUMNS),
    "slice between arrays": (ROWS, slice(1, 3), COLUMNS),
    "array after ellipsis": (..., COLUMNS),
    "array and int": (ROWS, 1),
    "int and array": (1, COLUMNS),
    "slice, int, array": (slice(None), 1, COLUMNS),
    "array and None": (ROWS, None, COLUMNS),
    "narrow integers": np.array([1, 0], np.int32),
    "mask": MASK,
    "mask of two dimensions": FACE,
    "mask of one": STRIPE,
    "mask behind a slice": (slice(None), np.array([True, False, True, True])),
    "mask and array": (STRIPE, np.array([1, 2])),
    "mask and int": (STRIPE, 0),
    "int and mask": (1, MASK[1]),
    "mask of nothing": np.zeros(SHAPE, bool),
    "True": True,
    "list of bools": [True, False, True],
}
ALL = {**VIEWS, **COPIES}


def base():
    return np.random.default_rng(1).normal(size=SHAPE)


def as_tensor_index(index):
    """The same index with tensors for arrays."""
    if isinstance(index, tuple):
        return tuple(gs.tensor(part) if isinstance(part, np.ndarray) else part for part in index)
    return gs.tensor(index) if isinstance(index, np.ndarray) else index


def expected_gradient(index, weights):
    result = np.zeros(SHAPE)
    np.add.at(result, index, weights)
    return result


@pytest.mark.parametrize("name", ALL)
def test_get(name):
    index, values = ALL[name], base()
    expected = np.asarray(values[index])
    for key in (index, as_tensor_index(index)):
        x = gs.tensor(values, requires_grad=True)
        y = x[key]
        assert isinstance(y, gs.Tensor) and y.shape == expected.shape
        np.testing.assert_array_equal(y.detach().numpy(), expected)
        assert y._is_view() == (name in VIEWS)
        weights = np.random.default_rng(2).normal(size=expected.shape)
        (first,) = grad(y, x, gs.tensor(weights))
        np.testing.assert_allclose(first.numpy(), expected_gradient(index, weights), rtol=1e-13)


@pytest.mark.parametrize("name", ALL)
def test_get_twice_differentiable(name):
    """The gradient's gradient: reading is linear, so the second derivative is that of the weights alone."""
    index = ALL[name]
    x = gs.tensor(base(), requires_grad=True)
    shape = np.asarray(base()[index]).shape
    w = gs.tensor(np.random.default_rng(2).normal(size=shape), requires_grad=True)
    (first,) = grad(x[index], x, w, create_graph=True)
    outer = np.random.default_rng(3).normal(size=SHAPE)
    (of_weights,) = grad(first, w, gs.tensor(outer))
    np.testing.assert_array_equal(of_weights.numpy(), outer[index])


def kept_places(index):
    """One where an assignment leaves the old value."""
    result = np.ones(SHAPE)
    result[index] = 0
    return result


@pytest.mark.parametrize("name", ALL)
def test_set_to_a_number(name):
    index, expected = ALL[name], base()
    expected[index] = 2.5
    for key in (index, as_tensor_index(index)):
        leaf = gs.tensor(base(), requires_grad=True)
        x = leaf * 1
        x[key] = 2.5
        np.testing.assert_array_equal(x.detach().numpy(), expected)
        assert x._version == 1
        (first,) = grad(x.sum(), leaf)
        np.testing.assert_array_equal(first.numpy(), kept_places(index))


# An index that names a place twice writes the last value there; whose gradient that is, nobody promises.
TWICE = {"array", "list", "matrix of indices", "two arrays", "three arrays", "arrays that broadcast", "array and slice"}
TWICE |= {"slice between arrays", "array after ellipsis", "array and int", "int and array", "slice, int, array"}
TWICE |= {"array and None"}
ONCE = [name for name in ALL if name not in TWICE]


@pytest.mark.parametrize("name", ONCE)
@pytest.mark.parametrize("kind", ["full", "broadcast", "0-d", "leading ones"])
def test_set_to_a_tensor(name, kind):
    index = ALL[name]
    places = np.asarray(base()[index]).shape
    if kind == "broadcast" and not places:
        return
    shape = {"full": places, "broadcast": (1, *places[1:]), "0-d": (), "leading ones": (1, 1, *places)}[kind]
    values = np.random.default_rng(4).normal(size=shape)
    leaf, source = gs.tensor(base(), requires_grad=True), gs.tensor(values, requires_grad=True)
    x = leaf * 1
    x[as_tensor_index(index)] = source
    expected = base()
    expected[index] = np.broadcast_to(values.reshape(shape[2:]) if kind == "leading ones" else values, places)
    np.testing.assert_array_equal(x.detach().numpy(), expected)
    weights = np.random.default_rng(5).normal(size=SHAPE)
    of_base, of_source = grad(x, [leaf, source], gs.tensor(weights), create_graph=True)
    np.testing.assert_array_equal(of_base.detach().numpy(), weights * kept_places(index))
    written = weights[index]
    for axis, size in enumerate(shape if kind == "broadcast" else ()):
        written = written.sum(axis, keepdims=True) if size == 1 else written
    written = written.sum() if kind == "0-d" else written.reshape(shape)
    np.testing.assert_allclose(of_source.detach().numpy(), written, rtol=1e-12)


def test_integers_select_before_arrays_do():
    """As in PyTorch; NumPy would put the array's dimension first where a slice lies between."""
    leaf = gs.tensor(base(), requires_grad=True)
    x = leaf * 1
    y = x[0, :, COLUMNS]
    np.testing.assert_array_equal(y.detach().numpy(), base()[0][:, COLUMNS])
    values = np.arange(8.0).reshape(4, 2)
    x[0, :, [1, 3]] = gs.tensor(values)
    np.testing.assert_array_equal(x.detach().numpy()[0][:, [1, 3]], values)
    weights = np.random.default_rng(6).normal(size=(4, 3))
    (first,) = grad(y, leaf, gs.tensor(weights))
    expected = np.zeros(SHAPE)
    np.add.at(expected[0], (slice(None), COLUMNS), weights)
    np.testing.assert_allclose(first.numpy(), expected)


def test_set_through_an_index_of_a_view():
    """Written through two views: the base knows."""
    leaf = gs.tensor(base(), requires_grad=True)
    x = leaf * 1
    x[1][:, [0, 2]] = 0.0
    x[..., 1][0, 1:3] *= 3
    scale = np.ones(SHAPE)
    scale[1][:, [0, 2]] = 0
    scale[..., 1][0, 1:3] *= 3
    np.testing.assert_allclose(x.detach().numpy(), base() * scale)
    np.testing.assert_array_equal(grad(x.sum(), leaf)[0].numpy(), scale)


def test_set_takes_arrays_numbers_and_lists():
    x = gs.zeros(2, 3)
    x[0] = np.array([1, 2, 3])
    x[1] = [4, 5, 6]
    x[0, 0] = np.float32(7)
    x[1, 1:] = True
    assert x.tolist() == [[7, 2, 3], [4, 1, 1]]
    assert x.dtype == gs.float32


def test_set_casts_to_the_tensors_dtype():
    x = gs.zeros(3, dtype=gs.int32)
    x[:] = gs.tensor([1.9, 2.1, -3.7])
    assert x.tolist() == [1, 2, -3]


def test_repeated_places_add_up_in_the_gradient_and_with_accumulate():
    x = gs.zeros(3, requires_grad=True)
    y = x[[0, 0, 2]] * gs.tensor([1.0, 2.0, 3.0])
    y.sum().backward()
    assert x.grad.tolist() == [3, 0, 3]
    z = gs.zeros(3)
    z.index_put_((gs.tensor([0, 0, 2]),), gs.tensor([1.0, 2.0, 3.0]), accumulate=True)
    assert z.tolist() == [3, 0, 3]


REFUSED = {
    "index out of range": (3, IndexError, "index 3 is out of bounds for (axis|dimension) 0 with size 3"),
    "below range": (-4, IndexError, "index -4 is out of bounds"),
    "in the second dimension": ((0, 4), IndexError, "index 4 is out of bounds for (axis|dimension) 1 with size 4"),
    "array out of range": ([0, 3], IndexError, "index 3 is out of bounds"),
    "too many": ((0, 0, 0, 0), IndexError, "too many indices"),
    "two ellipses": ((..., ..., 0), IndexError, "several ellipses"),
    "mask of another shape": (np.ones((2, 4), bool), IndexError, "mask|boolean index|shape"),
    "arrays that do not broadcast": (([0, 1], [0, 1, 2]), IndexError, "broadcast"),
    "floating number": (1.5, IndexError, "valid indices"),
    "text": ("a", IndexError, "valid indices"),
    "floating array": (np.array([0.0]), IndexError, "indices must be long, int, byte or bool tensors, .* got float64"),
    "floating tensor": (gs.tensor([0.0]), IndexError, "indices must be long, int, byte or bool tensors, .* float32"),
    "small integers": (np.array([1, 0], np.int8), IndexError, "must be long, int, byte or bool tensors, .* got int8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_index(name):
    """The same refusal for reading and writing; a refused write changes nothing."""
    index, error, words = REFUSED[name]
    x = gs.tensor(base())
    with pytest.raises(error, match=words):
        x[index]
    with pytest.raises(error, match=words):
        x[index] = 1.0
    with pytest.raises(error, match=words):
        x[index] = gs.ones((), dtype=x.dtype)
    np.testing.assert_array_equal(x.numpy(), base())
    assert x._version == 0


@pytest.mark.parametrize(
    ("size", "index", "words"),
    [
        ((3,), [True, False], r"shape of the mask \[2\] at index 0 does not match .* tensor \[3\] at index 0"),
        ((2, 3), (slice(None), [True, False]), r"mask \[2\] at index 0 does not match .* tensor \[2, 3\] at index 1"),
        ((2, 3), np.ones((2, 2), bool), r"mask \[2, 2\] at index 1 does not match .* tensor \[2, 3\] at index 1"),
        ((4, 2, 3), (0, ..., [True]), r"mask \[1\] at index 0 does not match .* tensor \[4, 2, 3\] at index 2"),
        ((3,), np.ones((3, 1), bool), "too many indices for tensor of dimension 1: its shape is \\[3\\], and 2 are"),
        ((3,), ([0], [0]), "too many indices for tensor of dimension 1"),
        ((3,), 3, "index 3 is out of bounds for dimension 0 with size 3"),
        ((2, 3), (slice(None), -4), "index -4 is out of bounds for dimension 1 with size 3"),
        ((3,), (0, 0), "too many indices for tensor of dimension 1"),
        ((2, 3), ([0, 1, 0], [0, 1]), r"indexing tensors could not be broadcast together with shapes \[3\], \[2\]"),
        ((3,), [3], "index 3 is out of bounds for dimension 0 with size 3"),
    ],
)
def test_what_is_wrong_is_said_in_words_of_tensors(size, index, words):
    x = gs.zeros(size)
    if isinstance(index, list) and isinstance(index[0], bool):
        index = gs.tensor(index)
    for call in (lambda: x[index], lambda: x.__setitem__(index, 1.0), lambda: x.__setitem__(index, gs.ones(1))):
        with pytest.raises(IndexError, match=words):
            call()


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (0, r"invalid index of a 0-dim tensor. Use `tensor.item\(\)` in Python"),
        (slice(1), r"slice\(\) cannot be applied to a 0-dim tensor"),
        ((0, 0), "too many indices for tensor of dimension 0"),
    ],
)
def test_indices_of_a_number(index, words):
    with pytest.raises(IndexError, match=words):
        gs.tensor(1.0)[index] = 2.0
    with pytest.raises(IndexError, match=words):
        gs.tensor(1.0)[index]


@pytest.mark.parametrize("index", [slice(0, 2), [0, 1], STRIPE, (slice(None), 1)], ids=repr)
def test_refused_value(index):
    x = gs.tensor(base())
    with pytest.raises(RuntimeError, match="shape|size|broadcast"):
        x[index] = gs.ones(7, dtype=x.dtype)
    with pytest.raises(TypeError, match="can't assign a str"):
        x[index] = "a"
    np.testing.assert_array_equal(x.numpy(), base())
    assert x._version == 0


def test_leaf_is_not_written():
    x = gs.ones(3, requires_grad=True)
    for index in (0, slice(1), [0, 1], gs.tensor([True, False, True])):
        with pytest.raises(RuntimeError, match="leaf"):
            x[index] = 5.0
    assert x.tolist() == [1, 1, 1] and x._version == 0


def test_a_number_has_no_elements_to_name():
    x = gs.tensor(3.0)
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        x[0]
    assert x[...].item() == x[()].item() == 3.0
    assert x[None].shape == (1,)


def test_iteration_length_membership():
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    rows = list(x)
    assert len(x) == 2 and [row.tolist() for row in rows] == [[1, 2], [3, 4]]
    (rows[1] * 2).sum().backward()
    assert x.grad.tolist() == [[0, 0], [2, 2]]
    assert 3.0 in x and 5.0 not in x
    with pytest.raises(TypeError, match="0-d"):
        iter(gs.tensor(1.0))
    with pytest.raises(TypeError, match="0-d"):
        len(gs.tensor(1.0))


# ---- lists that are taken for tuples, as in PyTorch

GRID = np.arange(24.0).reshape(2, 3, 4)
AS_TUPLES = [
    [[0, 1], [1, 0]], [[0, 1]], [[0], [1], [2]], [[0, 1], slice(None)], [slice(None), 0], [None, 0], [..., 0],
    [gs.tensor(0), 1], [gs.tensor([0, 1]), 1], [[[0, 1], [1, 0]]], [(0, 1), (1, 0)], [range(2), range(2)],
    [[True, False]], [np.array([0, 1]), [1, 0]], [[]], [[], []], [()], [[0, 1], ..., 0], [[0, 1], [1, 0], None],
]  # fmt: skip
SHAPES = [
    (2, 4), (2, 3, 4), (1,), (2, 3, 4), (2, 4), (1, 3, 4), (2, 3), (4,), (2, 4), (2, 2, 3, 4), (2, 4), (2, 4),
    (1, 3, 4), (2, 4), (0, 3, 4), (0, 4), (0, 3, 4), (2, 3), (2, 1, 4),
]  # fmt: skip


@pytest.mark.parametrize(("index", "shape"), list(zip(AS_TUPLES, SHAPES, strict=True)), ids=repr)
def test_a_list_of_more_than_numbers_is_a_tuple(index, shape):
    x = gs.tensor(GRID, requires_grad=True)
    with pytest.warns(UserWarning, match="taken for a tuple of indices"):
        found = x[index]
    assert found.shape == shape
    assert found.tolist() == x[tuple(index)].tolist()
    found.sum().backward()
    expected = gs.tensor(GRID, requires_grad=True)
    expected[tuple(index)].sum().backward()
    assert x.grad.tolist() == expected.grad.tolist()
    written, other = gs.tensor(GRID), gs.tensor(GRID)
    with pytest.warns(UserWarning, match="taken for a tuple of indices"):
        written[index] = -1.0
    other[tuple(index)] = -1.0
    assert written.tolist() == other.tolist()


NO_TUPLES = [
    [0, 1],
    [0] * 32,
    [[0]] * 32,
    range(2),
    [True, False],
    np.array([[0, 1], [1, 0]]),
    [np.int8(1), np.uint8(0)],
]


@pytest.mark.parametrize("index", NO_TUPLES, ids=lambda index: repr(index)[:20])
def test_other_lists_are_one_index(index):
    x = gs.tensor(GRID)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x[index].tolist() == GRID[np.asarray(index)].tolist()


@pytest.mark.parametrize("value", [2, gs.ones(7), gs.ones((), requires_grad=True)])
def test_a_write_to_false_is_nothing(value):
    """PyTorch returns before it looks at the values, the version or the graph."""
    x, leaf = gs.ones(3), gs.ones(3, requires_grad=True)
    x[False] = leaf[False] = value
    assert x.tolist() == leaf.tolist() == [1, 1, 1]
    assert (x._version, x.requires_grad, leaf._version, leaf.is_leaf) == (0, False, 0, True)
    with pytest.raises(TypeError, match="can't assign"):
        x[False] = "a"


@pytest.mark.parametrize("index", [(), ..., slice(None), None, slice(0, 2)])
def test_a_number_is_not_written_to_several_elements_in_one_place(index):
    """PyTorch refuses what `fill_` and `zero_` do."""
    x = gs.ones(1).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x[index] = 0
    assert x.tolist() == [1, 1]
    x[0] = 5
    assert x.tolist() == [5, 5]
    assert x.zero_().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("index", "is_all"),
    [
        (slice(None, None, 1), True),
        (slice(0, 2), True),
        (slice(0, 99), True),
        ((slice(0, 2), slice(0, 3)), True),
        ((..., slice(0, 3)), True),
        ((slice(0, 2), ..., slice(None)), True),
        (slice(-2, None), False),
        (slice(0, 1), False),
        ((..., slice(0, 2)), False),
        ((slice(0, 2), None), False),
    ],
)
def test_a_write_to_all_is_no_write_to_a_view(index, is_all):
    """PyTorch's slices that leave nothing out give the tensor itself: nothing is kept for a second backward."""
    x, value = gs.ones(2, 3), gs.ones((), requires_grad=True)
    x[index] = value
    assert (x.grad_fn.name() != "CopySlices") == is_all
    x.sum().backward()
    if is_all:
        x.sum().backward()
        assert value.grad.item() == 12


@pytest.mark.parametrize(
    "index",
    [
        lambda none: none,
        lambda none: (slice(None), none),
        lambda none: (0, none),
        lambda none: (gs.tensor([0]), none),
        lambda none: gs.zeros(2, 0, dtype=gs.bool),
        lambda none: gs.zeros(0, 2, dtype=gs.bool),
        lambda none: none.to(gs.uint8),
    ],
)
@pytest.mark.filterwarnings("ignore:.*uint8")
def test_a_mask_without_elements_has_to_fit(index):
    """As in PyTorch; NumPy takes any."""
    x, key = gs.ones(2, 3), index(gs.zeros(0, dtype=gs.bool))
    with pytest.raises(IndexError, match="shape of the mask"):
        x[key]
    with pytest.raises(IndexError, match="shape of the mask"):
        x[key] = 5.0
    with pytest.raises(IndexError, match="shape of the mask"):
        x[key] = gs.zeros(0)
    assert x.sum().item() == 6


def test_a_mask_without_elements_of_nothing():
    none = gs.zeros(0, dtype=gs.bool)
    assert gs.ones(0, 2)[none].shape == (0, 2)
    assert gs.ones(2, 0)[:, none].shape == (2, 0)
    assert gs.ones(2, 0)[1, none].shape == (0,)


def test_an_ellipsis_of_no_dimensions_does_not_part_index_arrays():
    x = gs.arange(24).reshape(2, 3, 4)
    assert x[:, [0, 1], ..., [1, 2]].tolist() == [[1, 6], [13, 18]]
    assert x[None, :, [0, 1], ..., gs.tensor([1, 2])].tolist() == [[[1, 6], [13, 18]]]
    assert x[None, 1:1, [0], ..., gs.tensor([1])].shape == (1, 0, 1)
    x[:, [0, 1], ..., [1, 2]] = gs.tensor([[-1, -2], [-3, -4]])
    assert x[:, 0, 1].tolist() == [-1, -3] and x[:, 1, 2].tolist() == [-2, -4]


# ---- gradients of slices of big tensors, whose zeros are written around the gradient

BIG_INDICES = [
    slice(2, None), slice(None, -3), slice(5, 2), slice(None, None, 2), slice(-1000, 1000), 3, -1, None, ..., (),
    (slice(1, -1), slice(2, 5)), (..., slice(1, 3)), (None, 4, ..., 0), (2, None, slice(None, None, 3)), (..., -2),
    (slice(3, 3), 1), (slice(None), slice(None), 0), (slice(None), None, slice(7, 9), -1),
]  # fmt: skip


@pytest.mark.parametrize("index", BIG_INDICES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_gradient_of_a_big_tensor_by_slice(index, dtype):
    x = gs.tensor(np.arange(40 * 20 * 30).reshape(40, 20, 30).astype(dtype), requires_grad=True)
    weights = np.random.default_rng(0).standard_normal(x.numpy(force=True)[index].shape).astype(dtype)
    expected = np.zeros(x.shape, dtype)
    expected[index] = weights
    (found,) = gs.autograd.grad(x[index], x, gs.tensor(weights))
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("wrong", [3, -1, 2**63 - 1, -(2**63)])
def test_one_index_among_many_that_is_out_of_range(wrong):
    index = np.zeros(1000, np.int64)
    index[700] = wrong
    for call in (
        lambda x, i: gs.index_add(x, 0, i, gs.ones(1000)),
        lambda x, i: gs.index_select(x, 0, i),
        lambda x, i: gs.gather(x, 0, i),
    ):
        with pytest.raises((IndexError, RuntimeError), match="out of (range|bounds)"):
            call(gs.ones(3), gs.tensor(index))


class Column:
    """What a column of a table is to an index: something that gives an array."""

    ndim = 1

    def __init__(self, *values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_columns_of_tables_are_indices():
    x = gs.arange(6.0).reshape(2, 3).requires_grad_()
    assert x[Column(True, False)].tolist() == [[0.0, 1.0, 2.0]]
    assert x[1, Column(2, 0)].tolist() == [5.0, 3.0] and x[None, Column(1)].shape == (1, 1, 3)
    (slope,) = gs.autograd.grad(x[Column(1, 1)].sum(), x)
    assert slope.tolist() == [[0.0] * 3, [2.0] * 3]
    y = x.detach().clone()
    y[Column(0)] = Column(7.0, 8.0, 9.0)
    assert y[0].tolist() == [7.0, 8.0, 9.0]
    with pytest.raises(IndexError, match="must be long, int, byte or bool tensors, .* got float64"):
        x[Column(0.5)]


@pytest.mark.parametrize("dtype", ["int8", "bool", "float16", "float32"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_few_places_of_a_large_target_are_added_to(dtype, order):
    rng = np.random.default_rng(0)
    start = np.asarray(rng.integers(0, 3, (50, 4, 6)).astype(dtype), order=order)
    for index, shape in (
        ((np.array([3, -1, 3]),), (3, 4, 6)),
        ((np.array([[3], [3]]), np.array([0, 2, 0])), (2, 3, 6)),
    ):
        values = rng.integers(0, 3, shape).astype(dtype)
        expected = start.copy()
        np.add.at(expected, index, values)
        x = gs.from_numpy(start.copy(order="K"))
        x.index_put_(tuple(map(gs.from_numpy, index)), gs.from_numpy(values), accumulate=True)
        np.testing.assert_array_equal(x.numpy(), expected, strict=True)


def test_adding_to_a_place_does_not_look_at_the_rest():
    x = gs.ones(1 << 21, dtype=gs.int8)
    index, value = (gs.tensor([5, 5]),), gs.tensor([1, 2], dtype=gs.int8)

    def best(function):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
        return min(times)

    assert best(lambda: x.index_put_(index, value, accumulate=True)) < best(lambda: x.add_(1)) + 1e-3
    assert x[4] != x[5]


@pytest.mark.parametrize("value", [lambda x: x[3], lambda x: x[3:], lambda x: x[:1], lambda x: x[1:2].reshape(1, 1)])
def test_one_element_of_a_tensor_is_written_to_its_places_under_a_mask(value):
    """It is read before any is written, as in PyTorch."""
    x, array = gs.arange(1.0, 5.0), np.arange(1.0, 5.0)
    for mask in ([True, False, True, True], [False] * 4, [True] * 4):
        expected = np.where(mask, value(array).item(), array)
        y = x.clone()
        y[gs.tensor(mask)] = value(y)
        assert y.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "index",
    [
        (ROWS,),
        (slice(None), COLUMNS),
        (slice(None), slice(None), np.array([[0, -1], [4, 2]])),
        (ROWS, COLUMNS),
        (slice(None), COLUMNS, COLUMNS),
        (np.array([[0], [2]]), COLUMNS),
    ],
    ids=repr,
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "c16"])
def test_rows_written_at_places(index, dtype):
    array = np.arange(60).reshape(SHAPE).astype(dtype)
    names = tuple(gs.tensor(part) if isinstance(part, np.ndarray) else part for part in index)
    for values in (-np.arange(array[index].size).reshape(array[index].shape), np.array(-1), -np.ones((1, 1))):
        expected = array.copy()
        expected[index] = values
        for x in (gs.tensor(array), gs.tensor(array.transpose(2, 0, 1).copy()).permute(1, 2, 0)):
            found = x.index_put(names, gs.tensor(values.astype(dtype)))
            np.testing.assert_array_equal(found.numpy(), expected)
            x[names] = gs.tensor(values.astype(dtype))
            np.testing.assert_array_equal(x.numpy(), expected)


def test_places_out_of_range_leave_the_tensor_as_it_was():
    x = gs.zeros(2, 3)
    for index in ((gs.tensor([0, 2]),), (slice(None), gs.tensor([0, -4])), (gs.tensor([0, 1]), gs.tensor([0, 3]))):
        with pytest.raises(IndexError):
            x[index] = 1.0
    assert x.sum() == 0
