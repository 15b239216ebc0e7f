"""Owners of an array, and arrays that serve again."""

import sys
import weakref

import array_testing as kernels
import numpy as np
import pytest
from operands import assert_same, values

import gradsmith as gs
from gradsmith.runtime.arrays import array


@pytest.mark.parametrize("shape", [(3,), (), (2, 3), (300, 400), (1, 6), (6, 1)])
def test_a_released_array_serves_again(shape):
    array.empty_cache()
    first, second, result = kernels.release_and_allocate(shape, np.dtype("float32").num)
    assert first == second
    fresh = np.empty(shape, "float32")
    assert result.shape == fresh.shape and result.strides == fresh.strides
    assert str(result.flags) == str(fresh.flags)
    assert result.base is None


@pytest.mark.skipif(sys.platform == "win32", reason="no aligned memory there that free() takes")
@pytest.mark.parametrize(("bytes_", "boundary"), [(512, 64), (5000, 64), (32768, 4096), (100_000, 4096)])
def test_arrays_begin_at_a_cache_line_and_large_ones_at_a_page(bytes_, boundary):
    array.empty_cache()
    made = [gs.empty(bytes_ // 4), gs.ones(bytes_ // 4) * 2, gs.nn.Linear(bytes_ // 4, 1).weight]
    made += [gs.tensor(np.ones(bytes_ // 4, "float32")[None].repeat(2, 0)[1:])]
    assert [t.data_ptr() % boundary for t in made] == [0] * 4


def test_flags_follow_the_new_shape():
    array.empty_cache()
    kernels.release_and_allocate((1, 6), np.dtype("float32").num)
    _, _, result = kernels.release_and_allocate((2, 3), np.dtype("float32").num)
    assert not result.flags.f_contiguous
    result[...] = [[1, 2, 3], [4, 5, 6]]
    assert result.copy(order="K").flags.c_contiguous and result.T.tolist() == [[1, 4], [2, 5], [3, 6]]


def fresh():
    return kernels.apply_clone(np.zeros(1000, "float32"))


def weakly_referenced():
    x = fresh()
    return x, weakref.ref(x)


def exported():
    x = fresh()
    return x, memoryview(x)


def viewed():
    x = fresh()
    return x, x[:]


def read_only():
    x = fresh()
    x.flags.writeable = False
    return x, None


# Ways to make an array, each with whatever else sees it.
SPOILED = {
    "referenced": lambda: (fresh(),) * 2,
    "viewed": viewed,
    "view": lambda: (fresh()[:], None),
    "weakly referenced": weakly_referenced,
    "exported": exported,
    "read-only": read_only,
    "made by NumPy": lambda: (np.zeros(1000, "float32"), None),
    "foreign memory": lambda: (np.frombuffer(bytearray(4000), "float32"), None),
    "metadata": lambda: (np.zeros(1000, np.dtype("float32", metadata={"unit": "m"})), None),
}


def release(make):
    """Bytes that the cache has more after the release of the last reference to the array that `make` gives first."""
    array.empty_cache()
    x, seen_by = make()
    holder = [x]
    del x
    before = array.cache_size()
    kernels.release_last(holder)
    after = array.cache_size()
    del seen_by
    return after - before


def test_what_nobody_sees_is_recycled():
    assert release(lambda: (fresh(), None)) >= 4000


@pytest.mark.parametrize("what", SPOILED)
def test_what_somebody_sees_is_never_recycled(what):
    assert release(SPOILED[what]) == 0


def test_arrays_in_another_order_are_recycled():
    array.empty_cache()
    columns = kernels.apply_clone(np.zeros((30, 40), "f4").T)
    assert columns.flags.f_contiguous
    address, holder = columns.ctypes.data, [columns]
    del columns
    kernels.release_last(holder)
    rows = kernels.apply_clone(np.ones((40, 30), "f4"))
    assert rows.ctypes.data == address
    assert rows.flags.c_contiguous and not rows.flags.f_contiguous and rows.strides == (120, 4)
    assert (rows == 1).all()


def test_cache_limit():
    array.empty_cache()
    assert array.cache_size() == 0
    limit = array.get_cache_limit()
    try:
        array.set_cache_limit(1 << 20)
        for n in range(100_000, 140_000, 1000):
            kernels.release_and_allocate((n,), np.dtype("float32").num)
        assert array.cache_size() <= 2 << 20
        array.set_cache_limit(0)
        assert array.cache_size() == 0
        first, second, _ = kernels.release_and_allocate((5,), np.dtype("float32").num)
        del first, second
        assert array.cache_size() == 0
    finally:
        array.set_cache_limit(limit)
    with pytest.raises(ValueError, match="number of bytes"):
        array.set_cache_limit(-1)


def test_accumulate():
    a, b = values("float32", (30, 40), 1), values("float32", (30, 40), 2)
    a_before, b_before = a.copy(), b.copy()
    assert_same(kernels.apply_accumulate(a, b), a + b)
    assert_same(a, a_before)
    assert_same(b, b_before)
    total, reused = kernels.accumulate_owned(a, b)
    assert_same(total, a + b)
    assert reused
    total, _ = kernels.accumulate_owned(a, b.astype("float64"))
    assert_same(total, a + b.astype("float64"))
    assert_same(kernels.accumulate_owned(np.ones((2, 3)), np.ones(3))[0], np.full((2, 3), 2.0))
    with pytest.raises(RuntimeError, match="must match the size"):
        kernels.apply_accumulate(np.ones(3), np.ones(4))
