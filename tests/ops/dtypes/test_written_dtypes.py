"""Values written into tensors of another dtype, by every kind of index. Expected values are PyTorch's."""

import warnings

import pytest

import gradsmith as gs

MASK = gs.tensor([True, False, True])


# ---- complex values lose their imaginary parts, with a warning

WRITES = {
    "copy_": lambda x, z: x.copy_(z),
    "all": lambda x, z: x.__setitem__(slice(None), z),
    "ellipsis": lambda x, z: x.__setitem__(Ellipsis, z),
    "nothing": lambda x, z: x.__setitem__((), z),
    "True": lambda x, z: x.__setitem__(True, z),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    "dtype, expected", [(gs.float32, [1.5, 0, 3]), (gs.int8, [1, 0, 3]), (gs.float64, [1.5, 0, 3])]
)
def test_real_tensors_get_the_real_parts(write, dtype, expected):
    x = gs.zeros(3, dtype=dtype)
    with pytest.warns(UserWarning, match="Casting complex values to real discards") as found:
        WRITES[write](x, gs.tensor([1.5 + 2j, 1j, 3]))
    assert x.tolist() == expected
    assert found[0].filename == __file__


def test_a_bool_tensor_gets_what_is_true_of_both_parts():
    x = gs.zeros(3, dtype=gs.bool_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.copy_(gs.tensor([2j, 0, 1]))
    assert x.tolist() == [True, False, True]


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_single_values_and_conversions():
    x = gs.ones(3)
    x[0] = gs.tensor(2 + 1j)
    assert x.tolist() == [2, 1, 1]
    assert x.fill_(gs.tensor(3 + 1j)).tolist() == [3, 3, 3]
    z = gs.tensor([1 + 2j, 2])
    y = z.to(gs.float32)
    assert y.stride() == (1,)
    y[0] = 7
    assert z.tolist() == [1 + 2j, 2]


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_the_gradient_of_complex_values_is_real():
    x, z = gs.ones(3), gs.tensor([1 + 2j, 2, 3], requires_grad=True)
    x.copy_(z)
    x.sum().backward()
    assert z.grad.dtype == gs.complex64
    assert z.grad.tolist() == [1, 1, 1]


def test_a_complex_number_still_has_to_be_real():
    x = gs.ones(3)
    for write in (lambda: x.fill_(1 + 2j), lambda: x.__setitem__(0, 1 + 2j), lambda: x.__setitem__(MASK, 1 + 2j)):
        with pytest.raises(RuntimeError, match="without overflow"):
            write()
    assert x.tolist() == [1, 1, 1]


# ---- one number under one mask is converted, anything else has the tensor's dtype

ONE_MASK = {
    "mask": (MASK, [0, 1, 0]),
    "list": ([True, False, True], [0, 1, 0]),
    "ellipsis": ((..., MASK), [0, 1, 0]),
    "none": ((None, MASK), [0, 1, 0]),
    "nothing": (MASK & False, [1, 1, 1]),
}


@pytest.mark.parametrize("index", ONE_MASK)
@pytest.mark.parametrize("value", [gs.tensor(0.5), gs.tensor([0.5]), gs.tensor([[0.5]], dtype=gs.float16)])
def test_one_number_under_a_mask_is_converted(index, value):
    key, expected = ONE_MASK[index]
    x = gs.ones(3, dtype=gs.int64)
    x[key] = value
    assert x.tolist() == expected


def test_index_put_converts_under_a_mask_as_well():
    x = gs.ones(3)
    value = gs.tensor(0.5, dtype=gs.float64, requires_grad=True)
    y = x.index_put((MASK,), value)
    assert y.dtype == gs.float32
    assert y.tolist() == [0.5, 1, 0.5]
    y.sum().backward()
    assert (value.grad.item(), value.grad.dtype) == (2, gs.float64)


REFUSED = {
    "integers": ([0, 1], gs.tensor(0.5)),
    "tensor": (gs.tensor([0, 1]), gs.tensor([0.5])),
    "several values": (MASK, gs.tensor([0.5, 0.25])),
    "True in a tuple": ((True,), gs.tensor(0.5)),
    "a bool tensor without dimensions": (gs.tensor(True), gs.tensor(0.5)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_other_writes_need_the_dtype(case):
    key, value = REFUSED[case]
    x = gs.ones(3, dtype=gs.int64)
    with pytest.raises(RuntimeError, match="cannot be written to a int64 tensor"):
        x[key] = value
    assert x.tolist() == [1, 1, 1]


def test_two_masks_are_two_arrays_of_integers():
    x = gs.ones(3, 3, dtype=gs.int64)
    with pytest.raises(RuntimeError, match="cannot be written"):
        x[MASK, MASK] = gs.tensor(0.5)
    with pytest.raises(RuntimeError, match="cannot be written"):
        x[0].index_put((MASK,), gs.tensor(0.5), accumulate=True)


@pytest.mark.parametrize("value", [gs.tensor(300), gs.tensor(1 + 2j), gs.tensor(float("nan"))])
def test_the_number_has_to_fit(value):
    x = gs.ones(3, dtype=gs.int8)
    with pytest.raises(RuntimeError, match="without overflow"):
        x[MASK] = value
    assert x.tolist() == [1, 1, 1]


def test_an_index_that_fits_nothing_is_the_first_mistake():
    x = gs.ones(3, dtype=gs.int64)
    for key in ([[0, 1], [0, 1, 2]], gs.tensor([True, False])):
        with pytest.raises(IndexError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x[key] = gs.tensor([0.5, 0.5])


# ---- True and False, and memory that values and places share


def test_true_writes_everything_whatever_the_dtype():
    x = gs.ones(2, 3)
    x[True] = gs.tensor([3, 2, 1])
    assert x.tolist() == [[3, 2, 1], [3, 2, 1]]
    x[True] = x
    assert x.tolist() == [[3, 2, 1], [3, 2, 1]]


def test_false_writes_nothing_and_looks_at_nothing():
    x = gs.ones(2, requires_grad=True)
    x[False] = 2
    x[False] = gs.ones(7)
    y = gs.ones(2)
    y[False] = gs.ones(2, requires_grad=True)
    y[False] = y
    assert (x.tolist(), y.tolist(), y._version, y.requires_grad) == ([1, 1], [1, 1], 0, False)
    with pytest.raises(TypeError, match="can't assign a str"):
        y[False] = "a"


def test_one_number_may_come_from_the_tensor_itself_under_a_mask():
    t = gs.tensor([1.0, 2.0, 3.0])
    t[MASK] = t[1]
    assert t.tolist() == [2, 2, 2]
    t = gs.tensor([True])
    t[t] = t
    assert t.tolist() == [True]
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        t[gs.tensor([0])] = t[0]


def test_values_beside_the_places_are_no_overlap():
    t = gs.tensor([[1.0, 2.0], [3.0, 4.0]])
    t[0, [1, 0]] = t[1]
    assert t.tolist() == [[4, 3], [3, 4]]


KEYS = {"nothing": (), "ellipsis": ..., "all": slice(None), "row": 0, "none": None, "True": True}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [0, gs.tensor(0.0), gs.zeros(3)])
def test_an_expanded_tensor_is_not_written(key, value):
    x = gs.ones(2, 1).expand(2, 3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x[KEYS[key]] = value
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_part_that_is_there_once_is_written():
    x = gs.ones(2, 1).expand(2, 3)
    x[0, 0] = 0
    assert x.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert x.fill_(5).tolist() == [[5, 5, 5], [5, 5, 5]]


def test_an_integer_out_of_range_comes_before_an_overlap():
    t = gs.ones(2, 3, 4)
    with pytest.raises(IndexError):
        t[8, :, gs.tensor([1])] = t


# ---- several ellipses

T = gs.arange(24).reshape(2, 3, 4)
ELLIPSES = {
    "only": ((..., ...), T),
    "before and after": ((..., 0, ...), T[:, :, 0]),
    "last": ((0, ..., 0, ...), T[0, :, 0]),
    "nothing left over": ((..., 0, ..., 1, ..., 1), T[0, 1, 1]),
    "array": ((..., gs.tensor([0, 1]), ...), T[:, :, :2]),
}


@pytest.mark.parametrize("case", ELLIPSES)
def test_several_ellipses(case):
    key, expected = ELLIPSES[case]
    assert T[key].tolist() == expected.tolist()
    x = T.clone()
    x[key] = -1
    assert int((x == -1).sum()) == expected.numel()


@pytest.mark.parametrize(
    "key", [(..., ..., 1), (..., None, ..., 1), (0, ..., ..., 0), (None, ..., slice(1, 2), ..., None)]
)
def test_what_follows_an_ellipsis_that_skips_everything_is_out_of_range(key):
    with pytest.raises(IndexError):
        T[key]
    with pytest.raises(IndexError):
        T.clone()[key] = 0


def test_elements_by_arrays_lie_by_rows():
    t = gs.arange(24.0).reshape(2, 4, 3)
    mask = gs.tensor([True, False, True, False])
    assert t[:, mask, gs.tensor([0, 1])].stride() == (2, 1)
    assert t[:, mask].stride() == (6, 3, 1)
    assert t[:, :, gs.tensor([True, False, True])].stride() == (8, 2, 1)


def test_a_warning_of_a_uint8_mask_names_the_caller():
    x = gs.ones(2)
    with pytest.warns(UserWarning, match="uint8") as found:
        x[gs.tensor([1, 0], dtype=gs.uint8)]
        x[gs.tensor([1, 0], dtype=gs.uint8)] = 2
    assert {warning.filename for warning in found} == {__file__}


def test_alpha_need_not_fit_where_there_is_nothing_to_add():
    """As in PyTorch, which looks at it before anything else in one dimension."""
    index = gs.zeros(0, dtype=gs.int64)
    numbers = gs.ones(5, 2)
    assert gs.index_add(numbers, 0, index, gs.zeros(0, 2), alpha=1 + 2j).tolist() == numbers.tolist()
    with pytest.raises(RuntimeError, match="without overflow"):
        gs.index_add(gs.ones(2), 0, index, gs.zeros(0), alpha=1 + 2j)
    with pytest.raises(RuntimeError, match="without overflow"):
        gs.index_add(numbers, 0, gs.tensor([1]), gs.ones(1, 2), alpha=1 + 2j)
