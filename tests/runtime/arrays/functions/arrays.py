"""Arrays of every kind of memory, and how results are compared with NumPy's."""

import numpy as np

generator = np.random.default_rng(7)

# One array per kind of memory: plain, transposed, strided, reversed, with ones, empty, without dimensions.
LAYOUTS = [
    generator.normal(size=(2, 3, 4)),
    generator.normal(size=(4, 3, 2)).T,
    generator.normal(size=(2, 6, 4))[:, ::2],
    generator.normal(size=(2, 3, 8))[..., ::-2],
    generator.normal(size=(1, 3, 1)),
    generator.normal(size=(2, 1, 3, 1, 2)).transpose(4, 1, 0, 3, 2),
    generator.normal(size=(4, 1))[::2],
    np.zeros((0, 3)),
    np.array(3.0),
]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128, np.int64, np.int32, np.uint8, np.bool_]


def assert_same(found, expected):
    assert isinstance(found, np.ndarray)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found, expected)


def assert_near(found, expected):
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    tolerance = 1e-5 if found.dtype in (np.float32, np.complex64) else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def axes_of(array):
    """Every way to name dimensions of a reduction."""
    one = [(d,) for d in range(-array.ndim, array.ndim)]
    return [None, (), *one, *([(0, -1)] if array.ndim > 1 else [])]
