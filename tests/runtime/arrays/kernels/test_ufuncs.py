"""Every ufunc against NumPy: dtypes, layouts, broadcasting, numbers, and what is refused."""

import itertools

import array_testing as kernels
import numpy as np
import pytest
from operands import COMPLEX, ELEMENTARY, FLOATS, INTS, PAIRS, assert_near, assert_same, layouts, reference, values

from gradsmith.runtime.arrays import array

UNARY = [name for name in kernels.ufunc_names() if getattr(np, name.lower()).nin == 1]
# Of complex numbers: loops of our own, which round in other places.
OWN_COMPLEX = {"LOG1P", "RECIPROCAL", "SIGN"}
BINARY = [name for name in kernels.ufunc_names() if getattr(np, name.lower()).nin == 2]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_unary_equals_numpy(name, dtype):
    x = values(dtype, (3, 5))
    try:
        expected = reference(name, x)
    except TypeError:
        with pytest.raises(NotImplementedError, match="not implemented for"):
            kernels.apply_unary(name, x)
        return
    if name == "RINT" and np.dtype(dtype).kind == "c":
        with pytest.raises(RuntimeError, match="not implemented for 'complex"):
            kernels.apply_unary(name, x)
        return
    own = OWN_COMPLEX if np.dtype(dtype).kind == "c" else ELEMENTARY
    exactly = assert_near if name in own else assert_same
    for _ in range(2):  # the first call tests the loop, the second is the fast path
        exactly(kernels.apply_unary(name, x), expected)
        for _, operand in layouts(x):
            assert_near(kernels.apply_unary(name, operand), expected)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_binary_equals_numpy(name, dtype):
    a, b = values(dtype, (3, 5), 1), values(dtype, (3, 5), 2)
    try:
        expected = reference(name, a, b)
    except TypeError:
        with pytest.raises(RuntimeError, match="not implemented for"):
            kernels.apply_binary(name, a, b)
        return
    if np.dtype(dtype).kind == "c" and name not in (
        [
            "ADD",
            "SUBTRACT",
            "MULTIPLY",
            "TRUE_DIVIDE",
            "POWER",
            "EQUAL",
            "NOT_EQUAL",
            "LOGICAL_AND",
            "LOGICAL_OR",
            "LOGICAL_XOR",
        ]
    ):
        with pytest.raises(RuntimeError, match="not implemented for 'complex"):
            kernels.apply_binary(name, a, b)
        return
    for _ in range(2):
        exactly = assert_near if name in PAIRS else assert_same
        exactly(kernels.apply_binary(name, a, b), expected)
        for (_, x), (_, y) in itertools.product(layouts(a), layouts(b)):
            assert_near(kernels.apply_binary(name, x, y), expected)


@pytest.mark.parametrize(
    "name", ["ADD", "MULTIPLY", "MAXIMUM", "LESS", "EQUAL", "BITWISE_AND", "LEFT_SHIFT", "FLOOR_DIVIDE"]
)
@pytest.mark.parametrize("dtype", INTS)
def test_integers_equal_numpy(name, dtype):
    a, b = values(dtype, (3, 5), 1), np.abs(values(dtype, (3, 5), 2))
    for _ in range(2):
        assert_same(kernels.apply_binary(name, a, b), reference(name, a, b))


@pytest.mark.parametrize(
    "shapes",
    [
        ((), ()),
        ((3,), ()),
        ((), (0,)),
        ((0, 3), (3,)),
        ((1,), (5,)),
        ((4, 1), (1, 5)),
        ((2, 3, 4, 5), (3, 1, 5)),
        ((1000, 3), (3,)),
        ((3, 1000), (3, 1)),
        ((2, 1, 3, 1, 2, 1, 2, 1, 2), (1, 2, 1, 3, 1, 2, 1, 2, 1)),
        ((130, 70), (70,)),
        ((1,) * 30, (1,) * 32),
    ],
)
def test_broadcasting(shapes, threads):
    a, b = values("float32", shapes[0], 1), values("float32", shapes[1], 2)
    for x, y in ((a, b), (b, a)):
        assert_same(kernels.apply_binary("SUBTRACT", x, y), reference("SUBTRACT", x, y))


@pytest.mark.parametrize("shape", [(200, 300), (300, 5, 200), (64, 128), (129, 131)])
def test_mixed_memory_orders(shape, threads):
    a, b = values("float64", shape, 1), values("float64", shape[::-1], 2).T
    assert_same(kernels.apply_binary("MULTIPLY", a, b), a * b)
    assert kernels.apply_binary("MULTIPLY", b, b).flags.f_contiguous, "two transposed arrays give a transposed one"


def test_large_arrays(threads):
    a, b = values("float32", 1_000_003, 1), values("float32", 1_000_003, 2)
    assert_same(kernels.apply_binary("ADD", a, b), a + b)
    assert_near(kernels.apply_unary("EXP", a), np.exp(a))
    n = a[1::2].size
    assert_same(kernels.apply_binary("ADD", a[::2][:n], b[1::2]), a[::2][:n] + b[1::2])


def test_every_loop_is_found():
    loops = array.direct_loops()
    for name in ("add", "multiply", "exp", "tanh", "maximum"):
        assert {"float32", "float64"} <= set(loops[name])


# ---- numbers


@pytest.mark.parametrize("name", ["ADD", "SUBTRACT", "MULTIPLY", "TRUE_DIVIDE", "POWER", "MAXIMUM", "LESS", "ARCTAN2"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("first", [False, True])
def test_scalar_equals_numpy(name, dtype, first):
    x = np.abs(values(dtype, (4, 6)))
    for number, (_, operand) in itertools.product([2, 0.5, -1, 1, 3, -1.7], layouts(x)):
        number_array = np.asarray(number, dtype)
        pair = (number_array, x) if first else (x, number_array)
        result = kernels.apply_scalar(name, operand, number, first)
        np.testing.assert_allclose(result, reference(name, *pair), rtol=3e-7 if dtype == "float32" else 1e-15)


def test_number_out_of_range():
    assert_same(kernels.apply_scalar("ADD", np.ones(3, "int8"), 300), np.full(3, 45, "int8"))
    with pytest.raises(RuntimeError, match="value cannot be converted to type int8 without overflow"):
        kernels.apply_scalar("MAXIMUM", np.ones(3, "int8"), 300)
    with pytest.raises(OverflowError, match="int too big to convert to type int8"):
        kernels.apply_scalar("ADD", np.ones(3, "int8"), 2**64)
    assert_same(kernels.apply_scalar("ADD", np.ones(3, "uint8"), -1), np.zeros(3, "uint8"))
    assert np.isinf(kernels.apply_scalar("MULTIPLY", np.ones(1, "float32"), 1e300))[0]
    with pytest.raises(OverflowError):
        kernels.apply_scalar("MULTIPLY", np.ones(1, "float32"), 10**400)
    assert kernels.apply_scalar("LESS", np.ones(1, "int8"), 300).tolist() == [True]
    assert kernels.apply_scalar("EQUAL", np.ones(1, "uint8"), -255).tolist() == [False]
    with pytest.raises(TypeError, match="expected a number, got str"):
        kernels.apply_scalar("MULTIPLY", np.ones(1, "float32"), "2")


# ---- errors


def test_shapes_that_do_not_broadcast():
    message = r"The size of tensor a \(3\) must match the size of tensor b \(4\) at non-singleton dimension 1"
    with pytest.raises(RuntimeError, match=message):
        kernels.apply_binary("ADD", np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(RuntimeError, match=r"shapes \[2, 3\] and \[4\] do not broadcast"):
        kernels.apply_fused("tanh_backward", [np.ones((2, 3)), np.ones(4)])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda t: kernels.apply_binary("SUBTRACT", t, t), "Subtraction, the `-` operator, with a bool tensor"),
        (
            lambda t: kernels.apply_scalar("SUBTRACT", np.ones(3), True),
            "Subtraction, the `-` operator, with a bool tensor",
        ),
        (lambda t: kernels.apply_unary("POSITIVE", t), "not implemented for 'bool'"),
        (lambda t: kernels.apply_unary("NEGATIVE", t), "Negation, the `-` operator, on a bool tensor"),
        (lambda t: kernels.apply_binary("BITWISE_AND", np.ones(3), np.ones(3)), "not implemented for 'float64'"),
        (lambda t: kernels.apply_binary("FLOOR_DIVIDE", t, t), "not implemented for 'bool'"),
        (lambda t: kernels.apply_binary("FLOOR_DIVIDE", np.arange(3), np.arange(3)), "ZeroDivisionError"),
        (lambda t: kernels.apply_binary("POWER", np.arange(3), -np.arange(3)), "negative integer powers"),
        (lambda t: kernels.apply_scalar("REMAINDER", np.arange(3), 0), "ZeroDivisionError"),
        (lambda t: kernels.apply_binary("ADD", np.ones(3, "uint64"), np.ones(3, "int64")), "uint64 and int64"),
    ],
)
def test_refused_operations(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(np.array([True, False, True]))


@pytest.mark.parametrize("dtype", ["object", "U3", "datetime64[s]", [("x", "f4")]])
def test_unsupported_dtypes(dtype):
    x = np.zeros(3, dtype)
    with pytest.raises(TypeError, match="not supported"):
        kernels.apply_unary("NEGATIVE", x)
    with pytest.raises(TypeError, match="not supported"):
        kernels.apply_binary("ADD", np.ones(3), x)
    with pytest.raises(TypeError, match="not supported"):
        kernels.apply_sum(x)


# ---- where


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + INTS + ["bool", "float16"])
def test_where(dtype, threads):
    condition = values("bool", (3, 5))
    a, b = values(dtype, (3, 5), 1), values(dtype, (5,), 2)
    for (_, c), (_, x) in itertools.product(layouts(condition), layouts(a)):
        assert_same(kernels.apply_where(c, x, b), np.where(condition, a, b))


def test_where_promotes():
    result = kernels.apply_where(np.array([True, False]), np.ones(2, "float32"), np.array(2.0))
    assert result.dtype == "float32"
    with pytest.raises(RuntimeError, match="expected condition to be a boolean"):
        kernels.apply_where(np.ones(2), np.ones(2), np.ones(2))
