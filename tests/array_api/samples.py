"""Arrays of every dtype, and the comparison with NumPy, whose main namespace follows the same standard."""

import numpy as np

import gradsmith as gs
import gradsmith.array_api as xp

BOOL = ["bool"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL = INTEGERS + FLOATS
INEXACT = FLOATS + COMPLEX
NUMERIC = REAL + COMPLEX
ALL = NUMERIC + BOOL


def sample(dtype, shape=(3, 4), positive=False):
    """An array of small numbers, the same for the same arguments."""
    rng, dtype = np.random.default_rng(sum(shape) + 7), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) > 0.5
    if dtype.kind in "iu":
        return rng.integers(0 if positive or dtype.kind == "u" else -5, 6, shape).astype(dtype)
    found = np.asarray(rng.normal(size=shape)) * 2
    found = abs(found) + 0.1 if positive else found
    return np.asarray(found + 1j * rng.normal(size=shape) if dtype.kind == "c" else found).astype(dtype)


def as_tensors(value):
    """The same arguments with tensors for arrays, of which it makes copies."""
    if isinstance(value, (np.ndarray, np.generic)):
        return xp.asarray(value, copy=True)
    if isinstance(value, (list, tuple)):
        return type(value)(as_tensors(part) for part in value)
    return value


def expect_equal(found, expected, tolerance=1e-5):
    """Shape, dtype and values, of tensors or of sequences of them."""
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            expect_equal(one, other, tolerance)
        return
    expected = np.asarray(expected)
    assert type(found) is gs.Tensor
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found.numpy(force=True), expected, rtol=tolerance, atol=tolerance)


def agrees(name, *args, tolerance=1e-5, **options):
    """Does a function of the namespace give what NumPy's gives?"""
    ours, theirs = xp, np
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    arguments = {key: as_tensors(value) for key, value in options.items()}
    with np.errstate(all="ignore"):
        expected = theirs(*args, **options)
    expect_equal(ours(*as_tensors(list(args)), **arguments), expected, tolerance)
