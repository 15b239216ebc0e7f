"""Casts, copies and fills."""

import array_testing as kernels
import numpy as np
import pytest
from operands import COMPLEX, FLOATS, INTS, assert_same, layouts, values

import gradsmith as gs
from gradsmith.runtime.arrays import array


@pytest.mark.parametrize("source", FLOATS + INTS + ["bool", "complex64", "float16"])
@pytest.mark.parametrize("target", ["float32", "float64", "complex128"])
def test_cast(source, target):
    if source == "complex64" and target != "complex128":
        return
    x = values(source, (4, 5))
    for _, operand in layouts(x):
        result = kernels.apply_cast(operand, np.dtype(target).num)
        assert_same(result, x.astype(target))
    same = values(target, 3)
    assert kernels.apply_cast(same, np.dtype(target).num) is same


def test_cast_overflow_is_silent():
    assert np.isinf(kernels.apply_cast(np.array([1e300]), np.dtype("float32").num)).all()
    assert np.isinf(kernels.apply_cast(np.array([1e300])[::-1], np.dtype("float16").num)).all()


def test_silence_has_an_end():
    with np.errstate(all="raise"):
        before = np.geterr()
        assert set(array.silently(np.geterr).values()) == {"ignore"}
        assert np.isinf(array.silently(np.exp, np.array(1e4)))
        with pytest.raises(ZeroDivisionError):
            array.silently(lambda x: x / 0, 1)
        assert np.isinf(kernels.apply_cast(np.array([1e300])[::-1], np.dtype("float16").num))
        assert np.geterr() == before


def test_clone_and_contiguous(threads):
    for shape in ((3, 5), (), (0, 3), (500, 700)):
        x = values("float64", shape)
        for _, operand in layouts(x):
            clone = kernels.apply_clone(operand)
            np.testing.assert_array_equal(clone, x)
            assert clone.flags.owndata and clone.flags.writeable and not np.shares_memory(clone, operand)
            plain = kernels.apply_contiguous(operand)
            np.testing.assert_array_equal(plain, x)
            assert plain.flags.c_contiguous and plain.flags.aligned and plain.dtype.isnative


def test_copy_into():
    out = np.zeros((2, 3))
    kernels.apply_copy_into(out, np.arange(3))
    assert out.tolist() == [[0, 1, 2]] * 2
    line = np.arange(10.0)
    kernels.apply_copy_into(line[1:], line[:-1])
    assert line.tolist() == [0, *range(9)]
    with pytest.raises(RuntimeError, match=r"expanded size of the tensor \(3\) must match the existing size \(4\)"):
        kernels.apply_copy_into(out, np.ones(4))


SIZES = [1, 2, 3, 7, 8, 9, 16, 33, 64, 65, 130, 300]


def permuted_part(rng, shape, dtype):
    """An array of a shape in memory of another order of dimensions, some with gaps; and all of that memory."""
    order = rng.permutation(len(shape))
    whole = values(dtype, [shape[d] * rng.integers(1, 3) + rng.integers(2) for d in order], seed=int(rng.integers(99)))
    steps = [rng.integers(1, max(1, n // shape[d]) + 1) for n, d in zip(whole.shape, order)]
    part = whole[tuple(slice(0, shape[d] * step, step) for d, step in zip(order, steps))]
    return part.transpose(np.argsort(order)), whole


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + ["int8", "int16", "bool", "float16"])
def test_copies_between_orders_of_dimensions(dtype, threads):
    """All elements come to their places, whatever is long or short, and nothing is written beside them."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        nd = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.choice(SIZES[: 16 - 2 * nd], nd))
        source, _ = permuted_part(rng, shape, dtype)
        assert_same(kernels.apply_contiguous(source), np.ascontiguousarray(source))
        target, whole = permuted_part(rng, shape, dtype)
        expected = whole.copy()
        np.lib.stride_tricks.as_strided(expected, target.shape, target.strides)[...] = source
        kernels.apply_copy_into(target, source)
        np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + ["int8", "int16", "bool", "float16"])
def test_copies_of_rows_walked_backwards(dtype, threads):
    """One row, long and short rows, and rows with gaps between them."""
    x = values(dtype, (5, 4099))
    for operand in (x[0, ::-1], x[:, ::-1], x[::-1, ::-1], x[::2, :3000][:, ::-1], x.reshape(-1, 5)[:, ::-1]):
        for clone in (kernels.apply_clone, kernels.apply_contiguous):
            assert_same(clone(operand), operand)
        out = np.zeros((*operand.shape[:-1], 2 * operand.shape[-1]), dtype)[..., ::2]
        kernels.apply_copy_into(out, operand)
        assert_same(out, operand)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + INTS + ["bool", "float16"])
def test_fill(dtype):
    for _, out in layouts(np.zeros((7, 300), dtype)):
        if out.flags.writeable:
            assert (kernels.apply_fill(out, 1) == 1).all()


def test_fill_as_pytorch():
    assert kernels.apply_fill(np.zeros(2, "int64"), -1.7).tolist() == [-1, -1]
    assert kernels.apply_fill(np.zeros(2, "bool"), 2).tolist() == [True, True]
    assert kernels.apply_fill(np.zeros(2), 1 + 0j).tolist() == [1, 1]
    for out, number in ((np.zeros(2), 1j), (np.zeros(2, "int64"), float("nan")), (np.zeros(2, "int8"), 200)):
        with pytest.raises(RuntimeError, match="cannot be converted to type"):
            kernels.apply_fill(out, number)
        assert not out.any()


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [1, 3, 5, 8, 9, 16, 17, 33, 64, 65, 200])
def test_copies_of_many_short_rows(dtype, n):
    """Parts of rows, with what lies around them left as it is."""
    rows = 5000 // n + 2
    source = np.arange(rows * (n + 3)).reshape(rows, n + 3).astype(dtype)
    out, expected = np.full((rows, n + 5), 7, dtype), np.full((rows, n + 5), 7, dtype)
    kernels.apply_copy_into(out[:, 2 : n + 2], source[:, 1 : n + 1])
    expected[:, 2 : n + 2] = source[:, 1 : n + 1]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("n", range(1, 70, 3))
def test_rows_that_are_joined_padded_and_rolled(n):
    """Copies of few bytes, of one to some hundred."""
    for dtype in ("int8", "float32", "float64"):
        x = values("float64", (40, n)).astype(dtype)
        t = gs.tensor(x)
        assert_same(gs.cat([t, t], 1).numpy(), np.concatenate([x, x], 1))
        assert_same(gs.stack([t, t], 1).numpy(), np.stack([x, x], 1))
        assert_same(gs.roll(t, n // 2, 1).numpy(), np.roll(x, n // 2, 1))
        assert_same(gs.nn.functional.pad(t, (1, 2)).numpy(), np.pad(x, ((0, 0), (1, 2))))
