"""Numbers to compute with, in every memory layout, and what results are compared with."""

import numpy as np

FLOATS = ["float32", "float64"]
INTS = ["int8", "uint8", "int16", "int32", "int64"]
COMPLEX = ["complex64", "complex128"]


def values(dtype, shape, seed=0):
    """Numbers of both signs, no zero among the integers."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    if dtype.kind == "f":
        return np.asarray(rng.standard_normal(shape) * 2).astype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    low = 1 if dtype.kind == "u" else -5
    numbers = np.asarray(rng.integers(low, 6, shape))
    return np.where(numbers == 0, 1, numbers).astype(dtype)


def layouts(x):
    """The same numbers, laid out in every awkward way."""
    yield "contiguous", x
    yield "Fortran", np.asfortranarray(x)
    if x.ndim:
        wide = np.repeat(x, 2, axis=-1)
        yield "every other", wide[..., ::2]
        yield "reversed", np.ascontiguousarray(x[..., ::-1])[..., ::-1]
        yield "read-only", np.broadcast_to(x, x.shape)
    raw = np.zeros(x.nbytes + 1, "u1")[1:]
    misaligned = raw.view(x.dtype).reshape(x.shape) if x.size else x
    misaligned[...] = x
    yield "misaligned", misaligned
    yield "byte-swapped", x.astype(x.dtype.newbyteorder())


# Loops of our own for float32 and float64, which are not NumPy's to the last bit: see test_elementary.py.
ELEMENTARY = {
    "EXP", "EXP2", "EXPM1", "LOG", "LOG1P", "LOG2", "LOG10", "SIN", "COS", "TAN", "ARCSIN", "ARCCOS", "ARCTAN", "SINH",
    "COSH", "TANH", "ARCTANH",
}  # fmt: skip
PAIRS = {"HYPOT", "ARCTAN2", "LOGADDEXP", "LOGADDEXP2"}  # see test_pairs.py


def reference(name, *operands):
    with np.errstate(all="ignore"):
        return np.asarray(getattr(np, name.lower())(*operands))


def assert_same(result, expected):
    assert type(result) is np.ndarray
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def assert_near(result, expected):
    """Equal but for the last bits: NumPy's own loops differ in them between contiguous and strided operands."""
    assert type(result) is np.ndarray
    assert result.dtype == expected.dtype
    rtol = 1e-6 if expected.dtype.itemsize <= 4 or expected.dtype == "complex64" else 1e-14
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=0)


def assert_close(result, expected, rtol):
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=rtol * 10)
