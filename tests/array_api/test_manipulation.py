"""Rearranged, sought and made elements, against NumPy's."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.array_api as xp
from tests.array_api.samples import ALL, NUMERIC, REAL, agrees, expect_equal, sample

PLACES = np.array([[0, -1], [1, 2]])
MASK = np.array([True, False, True])


@pytest.mark.parametrize("dtype", ALL)
def test_rearranged(dtype):
    x = sample(dtype, (2, 3))
    agrees("flip", x)
    agrees("flip", x, axis=-1)
    agrees("roll", x, 2)
    agrees("roll", x, (1, -2), axis=(0, 1))
    agrees("roll", x, 3, axis=(0, 1))
    agrees("repeat", x, 2)
    agrees("repeat", x, np.array([1, 0, 2], np.int32), axis=1)
    agrees("repeat", x, np.array(2), axis=0)
    for repetitions in ((2,), (2, 1, 3), ()):
        agrees("tile", x, repetitions)
    agrees("unstack", x, axis=1)
    agrees("moveaxis", x, 0, -1)
    agrees("moveaxis", x, (0, 1), (1, 0))
    agrees("permute_dims", x, (1, 0))
    agrees("reshape", x, (3, -1))
    agrees("concat", [x, x], axis=-1)
    agrees("concat", (x, x[0]), axis=None)
    agrees("stack", [x, x], axis=-1)
    agrees("broadcast_to", x, (4, 2, 3))
    expect_equal(xp.broadcast_arrays(xp.asarray(x), xp.asarray(x[0])), list(np.broadcast_arrays(x, x[0])))
    agrees("tril", x, k=1)
    agrees("triu", x, k=-1)


def test_one_more_axis_and_one_less():
    x = xp.ones((2, 3))
    assert [xp.expand_dims(x, axis=axis).shape for axis in (0, -1, -3)] == [(1, 2, 3), (2, 3, 1), (1, 2, 3)]
    with pytest.raises(IndexError):
        xp.expand_dims(x, axis=3)
    assert xp.squeeze(xp.ones((1, 2, 1)), axis=(0, -1)).shape == (2,)
    with pytest.raises(ValueError, match=r"^squeeze\(\): axis 0 has size 2"):
        xp.squeeze(x, axis=0)
    with pytest.raises(IndexError):
        xp.squeeze(x, axis=5)


def test_reshape_copies_as_asked():
    x = xp.ones((2, 3))
    assert gs.Tensor.data_ptr(xp.reshape(x, (6,))) == x.data_ptr() != xp.reshape(x, (6,), copy=True).data_ptr()
    assert xp.reshape(x, (6,), copy=False).data_ptr() == x.data_ptr()
    with pytest.raises(ValueError, match=r"^reshape\(\): no view has shape \[6\]"):
        xp.reshape(x.mT, (6,), copy=False)


@pytest.mark.parametrize("dtype", ALL)
def test_sought(dtype):
    x = sample(dtype, (2, 3))
    agrees("take", x, np.array([0, -1, 1]), axis=1)
    agrees("take", x[0], np.array([2, 0]))
    agrees("take_along_axis", x, PLACES, axis=1)
    agrees("nonzero", x)
    agrees("where", MASK, x, x[::-1])
    agrees("where", MASK, x, x.dtype.type(0).item())
    agrees("unique_all", x)
    agrees("unique_values", np.asarray(sorted(set(x.ravel().tolist()), key=str)).astype(dtype)[:1])
    agrees("unique_counts", x)
    agrees("unique_inverse", x)


@pytest.mark.parametrize("dtype", REAL)
def test_in_order(dtype):
    x = sample(dtype, (4, 5))
    agrees("sort", x, axis=0)
    agrees("argsort", x, axis=1, stable=True)
    expect_equal(xp.sort(xp.asarray(x), descending=True), np.sort(x)[:, ::-1])
    kept = 4 - np.flip(np.argsort(x[:, ::-1], axis=1, stable=True), 1)  # equal elements stay in their order
    expect_equal(xp.argsort(xp.asarray(x), descending=True), kept)
    for name in ("argmax", "argmin"):
        for axis in (None, 0, -1):
            agrees(name, x, axis=axis, keepdims=True)
            agrees(name, x, axis=axis)
    for side in ("left", "right"):
        agrees("searchsorted", np.sort(x[0]), x[1:], side=side)
        agrees("searchsorted", x[0], x[1:], side=side, sorter=np.argsort(x[0]))
        agrees("searchsorted", np.sort(x[0]), x.dtype.type(2).item(), side=side)


def test_every_nan_is_its_own():
    found = xp.unique_all(xp.asarray([float("nan"), 1.0, float("nan"), 1.0]))
    assert found.counts.tolist() == [2, 1, 1]
    assert found.inverse_indices.shape == (4,) and xp.isnan(found.values).tolist() == [False, True, True]


def test_asked_wrongly():
    x = xp.ones((2, 2))
    with pytest.raises(ValueError, match="axis must be given"):
        xp.take(x, xp.asarray([0]))
    with pytest.raises(ValueError, match="the tensor has no axes"):
        xp.nonzero(xp.asarray(1))
    with pytest.raises(ValueError, match="side must be"):
        xp.searchsorted(x[0], x[0], side="middle")
    with pytest.raises(IndexError):
        xp.take_along_axis(x, xp.zeros((2, 2), dtype=xp.int64), axis=2)
    with pytest.raises(IndexError):
        xp.take(x, xp.asarray([5]), axis=0)


def test_gradients_flow():
    x = gs.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True, dtype=gs.float64)
    index = xp.asarray([[1, -1], [0, 0]])
    for function in (
        lambda x: xp.sort(x, descending=True),
        lambda x: xp.take(x, xp.asarray([1, 1]), axis=1),
        lambda x: xp.take_along_axis(x, index),
        lambda x: xp.unique_values(x),
        lambda x: xp.concat([x, x], axis=None),
        lambda x: xp.astype(x, xp.complex128),
        lambda x: xp.asarray(x, copy=True),
        lambda x: xp.repeat(xp.tile(x, (2,)), 2, axis=0),
    ):
        assert gs.autograd.gradcheck(function, (x,))


# ---- made


@pytest.mark.parametrize(
    "args", [(5,), (2, 9), (2, 9, 3), (9, 2), (9, 2, -3), (0,), (-3,), (0.0, 1.0, 0.25), (1, -1, 0.5)]
)
def test_arange(args):
    dtype = np.int64 if all(isinstance(arg, int) for arg in args) else np.float32
    expect_equal(xp.arange(*args), np.arange(*args).astype(dtype))


def test_arange_stands_still_nowhere():
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        xp.arange(0, 3, 0)
    expect_equal(xp.arange(-1, 5, 2, dtype=xp.int8), np.arange(-1, 5, 2, dtype=np.int8))


@pytest.mark.parametrize("start, stop", [(0, 1), (3.0, -2.0), (1j, 2)])
@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(start, stop, count, endpoint):
    dtype = np.complex64 if isinstance(start, complex) else np.float32
    found = xp.linspace(start, stop, count, endpoint=endpoint)
    expect_equal(found, np.linspace(start, stop, count, endpoint=endpoint).astype(dtype))


@pytest.mark.parametrize("sizes, k", [((3,), 0), ((3, 4), 1), ((3, 4), -1), ((2, 3), 10), ((2, 3), -10), ((0, 3), 0)])
@pytest.mark.parametrize("dtype", [None, "int8", "complex64", "bool"])
def test_eye(sizes, k, dtype):
    found = xp.eye(*sizes, k=k, dtype=dtype and np.dtype(dtype))
    expect_equal(found, np.eye(*sizes, k=k, dtype=dtype or np.float32))


@pytest.mark.parametrize("value, dtype", [(True, "bool"), (3, "int64"), (2.5, "float32"), (1j, "complex64")])
def test_defaults_of_numbers(value, dtype):
    expect_equal(xp.asarray(value), np.asarray(value, dtype))
    expect_equal(xp.asarray([[value]]), np.asarray([[value]], dtype))
    for shape in (3, (2, 3), ()):
        expect_equal(xp.full(shape, value), np.full(shape, value, dtype))


@pytest.mark.parametrize("shape", [3, (2,), (), (0, 2)])
def test_filled(shape):
    expect_equal(xp.zeros(shape), np.zeros(shape, np.float32))
    expect_equal(xp.ones(shape, dtype=xp.int8), np.ones(shape, np.int8))
    assert xp.empty(shape).shape == np.empty(shape).shape


@pytest.mark.parametrize("dtype", NUMERIC)
def test_like_another(dtype):
    x = sample(dtype)
    for name in ("zeros_like", "ones_like"):
        agrees(name, x)
    agrees("full_like", x, 1)
    assert xp.empty_like(xp.asarray(x)).dtype == x.dtype


def test_meshgrid():
    vectors = [sample("float32", (n,)) for n in (2, 3, 4)]
    for indexing in ("xy", "ij"):
        expect_equal(
            xp.meshgrid(*map(xp.asarray, vectors), indexing=indexing), list(np.meshgrid(*vectors, indexing=indexing))
        )
    assert xp.meshgrid() == []


def test_asarray_shares_and_copies_as_asked():
    array = np.ones(3)
    assert np.shares_memory(xp.asarray(array).numpy(), array)
    assert not np.shares_memory(xp.asarray(array, copy=True).numpy(), array)
    assert np.shares_memory(xp.asarray(array, copy=False).numpy(), array)
    x = gs.ones(3, requires_grad=True)
    assert xp.asarray(x) is x and xp.asarray(x, copy=True).grad_fn is not None
    for source, options in ((2.5, {}), ([1, 2], {}), (array, {"dtype": xp.float32})):
        with pytest.raises(ValueError, match="without a copy"):
            xp.asarray(source, copy=False, **options)
    assert xp.asarray(memoryview(b"abc")).tolist() == [97, 98, 99]
    assert np.shares_memory(xp.from_dlpack(array).numpy(), array)


# ---- dtypes


def test_kinds():
    kinds = {
        "bool": ["bool"], "signed integer": ["int8", "int16", "int32", "int64"],
        "unsigned integer": ["uint8", "uint16", "uint32", "uint64"], "real floating": ["float32", "float64"],
        "complex floating": ["complex64", "complex128"], "integral": ALL[:8], "numeric": NUMERIC,
    }  # fmt: skip
    for kind, members in kinds.items():
        assert [name for name in ALL if xp.isdtype(np.dtype(name), kind)] == [name for name in ALL if name in members]
    assert xp.isdtype(xp.int8, (xp.float32, "signed integer")) and not xp.isdtype(xp.int8, xp.int16)
    with pytest.raises(ValueError):
        xp.isdtype(xp.int8, "small")


def test_limits():
    for dtype in ("float32", "complex64", "float64", "complex128"):
        found, expected = xp.finfo(np.dtype(dtype)), np.finfo(dtype)
        assert (found.bits, found.eps, found.max, found.min) == (
            expected.bits, expected.eps, expected.max, expected.min
        )  # fmt: skip
        assert type(found.eps) is type(found.smallest_normal) is float and found.dtype == expected.dtype
    for dtype in ALL[:8]:
        found, expected = xp.iinfo(xp.ones(1, dtype=np.dtype(dtype))), np.iinfo(dtype)
        assert (found.bits, found.max, found.min, found.dtype) == (expected.bits, expected.max, expected.min, dtype)
    assert xp.finfo(xp.ones(1)).bits == 32


def test_casts():
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.int16, xp.int8)
    assert xp.can_cast(xp.ones(1, dtype=xp.float32), xp.float64) and not xp.can_cast(xp.float64, xp.float32)
    x = xp.ones(2)
    assert xp.astype(x, xp.float32, copy=False) is x and xp.astype(x, xp.float32) is not x
    assert xp.astype(x, xp.int8, device="meta").is_meta
    assert xp.result_type(xp.int8, xp.uint8) == xp.int16
    assert xp.result_type(xp.int8, 3) == xp.int8 and xp.result_type(xp.float32, 2.5, 1j) == xp.complex64
    with pytest.raises(ValueError, match="at least one array or dtype"):
        xp.result_type(1, 2)
