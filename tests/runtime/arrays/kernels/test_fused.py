"""Fused kernels against the formula that each stands for."""

import itertools

import array_testing as kernels
import numpy as np
import pytest
from operands import FLOATS, assert_close, layouts, values

FUSED = {
    "scale": lambda x: x * x.dtype.type(2.5),
    "tanh_backward": lambda x, y: x * (1 - y * y),
    "multiply_add": lambda x, y, z: x + y * z,
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "shapes",
    [
        [(5,)] * 3,
        [(0, 4)] * 3,
        [()] * 3,
        [(32, 64), (64,), (32, 1)],
        [(64,), (32, 64), ()],
        [(2000, 3), (3,), (2000, 1)],
        [(3, 3000), (3, 1), (3000,)],
        [(4, 1, 5, 1), (3, 1, 7), (1,)],
        [(300, 400), (1, 400), (300, 400)],
    ],
)
def test_fused_broadcasts(dtype, shapes, threads):
    inputs = [values(dtype, shape, i) for i, shape in enumerate(shapes)]
    rtol = 1e-6 if dtype == "float32" else 1e-15
    for name, function in FUSED.items():
        operands = inputs[: function.__code__.co_argcount]
        np.testing.assert_allclose(
            kernels.apply_fused(name, operands, [2.5]), function(*operands), rtol=rtol, atol=rtol
        )


def test_fused_layouts():
    x, y = values("float32", (30, 50), 1), values("float32", (30, 50), 2)
    for (name, a), (_, b) in itertools.product(layouts(x), layouts(y)):
        result = kernels.apply_fused("tanh_backward", [a, b])
        if result is not None:
            assert_close(result, FUSED["tanh_backward"](x, y), 1e-6)
        else:
            assert not (a.flags.aligned and a.dtype.isnative and b.flags.aligned and b.dtype.isnative), name


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", [(5,), (700,), (3, 400), (2, 3, 90)], ids=str)
def test_fused_rows_of_few_columns(dtype, rows, threads):
    """The first dimension is the innermost in memory, and has few elements."""
    multiply_add = FUSED["multiply_add"]
    for columns in (1, 2, 3, 7, 8, 9):
        x = np.moveaxis(values(dtype, (*rows, columns), 1), -1, 0)
        y = np.moveaxis(values(dtype, (*rows, columns + 4), 2), -1, 0)[2:-2]
        vector = values(dtype, rows, 3)
        for operands in itertools.product((x, y, y[..., ::-1]), (y, x[::-1]), (vector, x)):
            found = kernels.apply_fused("multiply_add", list(operands))
            assert_close(found, multiply_add(*operands), 1e-6 if dtype == "float32" else 1e-14)


def test_fused_refuses_other_dtypes():
    for other in (np.ones(3), np.ones(3, "int64"), np.ones(3, "complex64")):
        assert kernels.apply_fused("tanh_backward", [np.ones(3, "float32"), other]) is None


def test_fused_pass():
    x = values("int64", 3)
    assert kernels.apply_fused("pass", [x]) is x


def test_fused_reuse():
    x, y = values("float32", (40, 50), 1), values("float32", 50, 2)
    expected = FUSED["tanh_backward"](x, y)
    spare = np.empty((40, 50), "float32")
    assert kernels.apply_fused("tanh_backward", [x, y], [], spare) is spare
    assert_close(spare, expected, 1e-6)
    assert kernels.apply_fused("tanh_backward", [x, y], [], x) is x, "an input may be overwritten"
    assert_close(x, expected, 1e-6)
    for unfit in (np.empty(50, "float32"), np.empty((40, 50)), np.empty((50, 40), "float32").T):
        assert kernels.apply_fused("tanh_backward", [x, y], [], unfit) is not unfit
