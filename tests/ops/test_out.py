"""The ``out=`` form: the result goes into the given tensor, of which nothing is changed when it does not fit."""

import numpy as np
import pytest
from table import CASES

import gradsmith as gs
from gradsmith.verify.calls import call, call_function, call_method, outputs_of
from gradsmith.verify.samples import as_tensors, at, places_of

OUT = [case for case in CASES if "out" in case.row.forms]
FIRST = [case for case in OUT if case.number == 0]


def ids(cases):
    return [case.id for case in cases]


def into(case, tensors, out):
    """Call the function with ``out=``, or the method where there is no function."""
    return (call_function if "function" in case.row.forms else call_method)(case.row, tensors, out=out)


def plain(case):
    values = case.values()
    (result,) = outputs_of(call(case.row, as_tensors(values)))
    return as_tensors(values), result.numpy()


def filled(shape, dtype):
    return gs.tensor(np.full(shape, 7).astype(dtype))


@pytest.mark.parametrize("case", OUT, ids=ids(OUT))
def test_result_is_written_into_out(case):
    tensors, expected = plain(case)
    out = filled(expected.shape, expected.dtype)
    memory = out.data_ptr()
    assert into(case, tensors, out) is out
    np.testing.assert_array_equal(out.numpy(), expected)
    assert out._version == 1 and out.data_ptr() == memory and out.is_leaf and not out.requires_grad


@pytest.mark.parametrize("case", OUT, ids=ids(OUT))
def test_out_may_be_a_view_with_any_strides(case):
    tensors, expected = plain(case)
    base = filled((2, *expected.shape), expected.dtype)
    out = base[1].permute(tuple(reversed(range(expected.ndim)))).permute(tuple(reversed(range(expected.ndim))))
    into(case, tensors, out)
    np.testing.assert_array_equal(base[1].numpy(), expected)
    np.testing.assert_array_equal(base[0].numpy(), np.full_like(expected, 7))
    assert base._version == 1
    transposed = filled(expected.shape[::-1], expected.dtype).permute(tuple(reversed(range(expected.ndim))))
    into(case, tensors, transposed)
    np.testing.assert_allclose(transposed.numpy(), expected, rtol=1e-15)


@pytest.mark.parametrize("case", FIRST, ids=ids(FIRST))
def test_empty_out_is_resized(case):
    tensors, expected = plain(case)
    out = gs.tensor(np.empty(0, expected.dtype))
    assert into(case, tensors, out) is out
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("case", FIRST, ids=ids(FIRST))
def test_out_may_be_an_input(case):
    """The result is that of the inputs as they were."""
    _, expected = plain(case)
    for place, array in places_of(case.values()):
        if (array.shape, array.dtype) == (expected.shape, expected.dtype):
            again = as_tensors(case.values())
            into(case, again, at(again, place))
            np.testing.assert_allclose(at(again, place).numpy(), expected, rtol=1e-15, err_msg=str(place))


def assert_refused(case, tensors, out, error, words):
    state = out.detach().numpy().copy(), out._version, out.shape
    with pytest.raises(error, match=words):
        into(case, tensors, out)
    np.testing.assert_array_equal(out.detach().numpy(), state[0])
    assert (out._version, out.shape) == state[1:]


@pytest.mark.parametrize("case", FIRST, ids=ids(FIRST))
def test_out_that_does_not_fit(case):
    tensors, expected = plain(case)
    assert_refused(case, tensors, filled((*expected.shape, 2), expected.dtype), RuntimeError, "shape")
    if expected.dtype.kind in "fi":
        below = {"f": np.int64, "i": np.bool_}[expected.dtype.kind]
        assert_refused(
            case, tensors, filled(expected.shape, below), RuntimeError, "can't be cast to the desired output"
        )
    read_only = np.full(expected.shape, 7).astype(expected.dtype)
    read_only.flags.writeable = False
    assert_refused(case, tensors, gs.from_numpy(read_only), ValueError, "read-only")


@pytest.mark.parametrize("case", FIRST, ids=ids(FIRST))
def test_out_records_nothing(case):
    tensors, expected = plain(case)
    if expected.dtype.kind == "f":
        wanting = filled(expected.shape, expected.dtype).requires_grad_()
        assert_refused(
            case, tensors, wanting, RuntimeError, "don't support automatic differentiation, but the out tensor requires"
        )
    for place in case.inputs:
        leaf = at(tensors, place).requires_grad_()
        out = filled(expected.shape, expected.dtype)
        assert_refused(case, tensors, out, RuntimeError, "differentiation, but one of the arguments requires grad")
        with gs.no_grad():
            into(case, tensors, out)
        np.testing.assert_array_equal(out.numpy(), expected)
        leaf.requires_grad_(False)


def test_out_of_wider_type_takes_the_result():
    out = gs.zeros(2, dtype=gs.complex128)
    gs.add(gs.tensor([1, 2]), gs.tensor([0.5, 0.5]), out=out)
    np.testing.assert_array_equal(out.numpy(), [1.5, 2.5])


def test_out_must_be_a_tensor():
    with pytest.raises(TypeError, match=r"add\(\): argument 'out' must be Tensor, not int"):
        gs.add(gs.ones(2), gs.ones(2), out=3)


def test_out_overlaps_an_input():
    x = gs.arange(6.0)
    gs.add(x[:-1], x[1:], out=x[1:])
    assert x.tolist() == [0, 1, 3, 5, 7, 9]


def test_out_changes_a_saved_tensor():
    """A write through ``out=`` is seen by the graph like any other."""
    x = gs.ones(3, requires_grad=True)
    factor = gs.full((3,), 2.0)
    y = x * factor
    gs.add(gs.ones(3), 1, out=factor)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
