"""The array kernels against NumPy: every ufunc, layout, reduction and product, and who owns what."""

import itertools
import os
import threading
import warnings
import weakref

import numpy as np
import pytest

from gradsmith.runtime import array
from gradsmith.runtime import array_testing as kernels

FLOATS = ["float32", "float64"]
INTS = ["int8", "uint8", "int16", "int32", "int64"]
COMPLEX = ["complex64", "complex128"]

UNARY = [name for name in kernels.ufunc_names() if getattr(np, name.lower()).nin == 1]
BINARY = [name for name in kernels.ufunc_names() if getattr(np, name.lower()).nin == 2]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    before = array.get_num_threads()
    array.set_num_threads(request.param)
    yield request.param
    array.set_num_threads(before)


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


# ---- ufuncs


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
    for _ in range(2):  # the first call tests the loop, the second is the fast path
        assert_same(kernels.apply_unary(name, x), expected)
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
        assert_same(kernels.apply_binary(name, a, b), expected)
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
    assert_same(kernels.apply_unary("EXP", a), np.exp(a))
    n = a[1::2].size
    assert_same(kernels.apply_binary("ADD", a[::2][:n], b[1::2]), a[::2][:n] + b[1::2])


# ---- promotion: the outcomes below are PyTorch's


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ("float32", "float64", "float64"),
        ("int64", "float32", "float32"),
        ("bool", "int8", "int8"),
        ("int8", "uint8", "int16"),
        ("float64", "complex64", "complex128"),
        ("int64", "complex64", "complex64"),
        ("float16", "float32", "float32"),
        ("bool", "bool", "bool"),
    ],
)
def test_promotion_of_equals(a, b, expected):
    x, y = values(a, 3, 1), values(b, 3, 2)
    assert kernels.apply_binary("ADD", x, y).dtype == expected
    assert kernels.apply_binary("ADD", y, x).dtype == expected


@pytest.mark.parametrize(
    "dimensioned, zero_dim, expected",
    [
        ("float32", "float64", "float32"),
        ("float32", "complex128", "complex64"),
        ("int8", "int64", "int8"),
        ("int64", "float64", "float64"),
        ("int64", "float32", "float32"),
        ("bool", "int8", "int8"),
        ("float32", "int64", "float32"),
        ("float64", "complex64", "complex128"),
    ],
)
def test_zero_dim_arrays_are_weak(dimensioned, zero_dim, expected):
    x, y = values(dimensioned, 3, 1), values(zero_dim, (), 2)
    result = kernels.apply_binary("MULTIPLY", x, y)
    assert result.dtype == expected
    assert_close(result, x * y, 1e-5)
    assert kernels.apply_binary("MULTIPLY", y, x).dtype == expected


@pytest.mark.parametrize(
    "dtype, number, expected",
    [
        ("float32", 2.5, "float32"),
        ("float32", 2, "float32"),
        ("float32", True, "float32"),
        ("float32", 1j, "complex64"),
        ("float64", 1j, "complex128"),
        ("int64", 2, "int64"),
        ("int64", 2.5, "float32"),
        ("int8", 2, "int8"),
        ("bool", 2, "int64"),
        ("bool", 2.5, "float32"),
        ("bool", True, "bool"),
        ("int64", 1j, "complex64"),
        ("complex64", 2.5, "complex64"),
        ("float32", np.float64(2.5), "float32"),
        ("float32", np.int8(2), "float32"),
        ("int8", np.bool_(True), "int8"),
    ],
)
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("shape", [(3,), ()])
def test_numbers_are_weakest(dtype, number, expected, first, shape):
    x = values(dtype, shape)
    result = kernels.apply_scalar("MULTIPLY", x, number, first)
    assert result.dtype == expected
    assert_close(result, (x * number), 1e-5)


def test_default_dtype():
    x = values("int64", 3)
    assert array.get_default_dtype() == np.float32
    assert kernels.apply_unary("SIN", x).dtype == "float32"
    array.set_default_dtype(np.float64)
    try:
        assert kernels.apply_unary("SIN", x).dtype == "float64"
        assert kernels.apply_binary("TRUE_DIVIDE", x, x).dtype == "float64"
        assert kernels.apply_scalar("ADD", x, 0.5).dtype == "float64"
        assert kernels.apply_scalar("ADD", x, 1j).dtype == "complex128"
    finally:
        array.set_default_dtype(np.float32)
    with pytest.raises(TypeError, match="only float32 and float64"):
        array.set_default_dtype(np.int64)


def test_integers_in_float_functions():
    x = values("int64", 5)
    assert_same(kernels.apply_unary("EXP", x), np.exp(x.astype("float32")))
    assert_same(kernels.apply_binary("TRUE_DIVIDE", x, x[::-1]), x.astype("float32") / x[::-1].astype("float32"))
    assert_same(kernels.apply_unary("FLOOR", x), x)
    assert_same(kernels.apply_unary("CONJUGATE", x), x)
    assert kernels.apply_unary("FLOOR", x) is not x
    assert_same(kernels.apply_unary("SQUARE", np.array([True, False])), np.array([1, 0]))


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
    with pytest.raises(RuntimeError, match="value cannot be converted to type int8 without overflow"):
        kernels.apply_scalar("ADD", np.ones(3, "int8"), 300)
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


# ---- results into an existing array


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["ADD", "MULTIPLY", "TRUE_DIVIDE"])
def test_into(name, dtype):
    a, b = values(dtype, (40, 7), 1), values(dtype, (40, 7), 2)
    for _, out in layouts(np.zeros((40, 7), dtype)):
        if out.flags.writeable:
            kernels.apply_binary(name, a, b, out)
            np.testing.assert_array_equal(out, reference(name, a, b))


@pytest.mark.parametrize("shift", range(-40, 41, 8))
def test_into_overlapping_memory(shift):
    for name, unary in (("SUBTRACT", False), ("EXP", True)):
        base = values("float64", 200)
        x, out = base[50:150], base[50 + shift : 150 + shift]
        other = values("float64", 100, 2)
        expected = reference(name, x) if unary else reference(name, x, other)
        if unary:
            kernels.apply_unary(name, x, out)
        else:
            kernels.apply_binary(name, x, other, out)
        np.testing.assert_array_equal(out, expected)


def test_into_reversed_and_transposed_self():
    base = values("float64", (50, 50))
    expected = base.T + base
    kernels.apply_binary("ADD", base.T, base, base)
    np.testing.assert_array_equal(base, expected)
    line = values("float64", 60)
    expected = line * line[::-1]
    kernels.apply_binary("MULTIPLY", line, line[::-1], line)
    np.testing.assert_array_equal(line, expected)


def test_into_converts_upwards_only():
    out = np.zeros(3, "complex128")
    kernels.apply_scalar("ADD", np.arange(3), 0.5, False, out)
    np.testing.assert_array_equal(out, np.arange(3) + 0.5)
    integers = np.zeros(3, "int64")
    with pytest.raises(RuntimeError, match="result type float64 can't be cast to the desired output type int64"):
        kernels.apply_scalar("ADD", np.ones(3), 0.5, False, integers)
    assert not integers.any()


@pytest.mark.parametrize(
    "out, message",
    [
        (np.zeros(3), r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"),
        (np.broadcast_to(np.zeros(3), (2, 3)), "read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(3), (2, 3), (0, 8)), "single memory location"),
    ],
)
def test_into_bad_targets(out, message):
    with pytest.raises(RuntimeError, match=message):
        kernels.apply_scalar("ADD", np.ones((2, 3)), 1, False, out)
    assert not out.any()


def test_integer_division_into_changes_nothing_on_failure():
    out = np.full(3, 7)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        kernels.apply_binary("FLOOR_DIVIDE", out, np.array([1, 0, 2]), out)
    assert out.tolist() == [7, 7, 7]


# ---- fused kernels

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


# ---- copies


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


def test_clone_and_contiguous(threads):
    for shape in ((3, 5), (), (0, 3), (500, 700)):
        x = values("float64", shape)
        for _, operand in layouts(x):
            clone = kernels.apply_clone(operand)
            np.testing.assert_array_equal(clone, x)
            assert clone.flags.c_contiguous and clone.flags.writeable and not np.shares_memory(clone, operand)
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


# ---- ownership


@pytest.mark.parametrize("shape", [(3,), (), (2, 3), (300, 400), (1, 6), (6, 1)])
def test_a_released_array_serves_again(shape):
    array.empty_cache()
    first, second, result = kernels.release_and_allocate(shape, np.dtype("float32").num)
    assert first == second
    fresh = np.empty(shape, "float32")
    assert result.shape == fresh.shape and result.strides == fresh.strides
    assert str(result.flags) == str(fresh.flags)
    assert result.base is None


def test_flags_follow_the_new_shape():
    array.empty_cache()
    kernels.release_and_allocate((1, 6), np.dtype("float32").num)
    _, _, result = kernels.release_and_allocate((2, 3), np.dtype("float32").num)
    assert not result.flags.f_contiguous
    result[...] = [[1, 2, 3], [4, 5, 6]]
    assert result.copy(order="K").flags.c_contiguous and result.T.tolist() == [[1, 4], [2, 5], [3, 6]]


def spoiled_arrays():
    x = np.zeros(1000, "float32")
    yield "referenced", x, x
    yield "view", x[:], x
    x = np.zeros(1000, "float32")
    yield "weakly referenced", x, weakref.ref(x)
    x = np.zeros(1000, "float32")
    yield "exported", x, memoryview(x)
    x = np.zeros(1000, "float32")
    x.flags.writeable = False
    yield "read-only", x, None
    yield "subclass", np.zeros(1000, "float32").view(np.matrix), None
    yield "foreign", np.frombuffer(bytearray(4000), "float32"), None
    yield "metadata", np.zeros(1000, np.dtype("float32", metadata={"unit": "m"})), None


@pytest.mark.parametrize("case", range(8))
def test_what_somebody_sees_is_never_recycled(case):
    array.empty_cache()
    name, x, keeper = list(spoiled_arrays())[case]
    before = array.cache_size()
    if name == "referenced":
        kernels.release_while_seen(x)
        assert array.cache_size() == before
        return
    del name
    if type(x) is not np.ndarray:
        return  # tensors hold exact arrays only
    kernels.release_while_seen(x)
    assert array.cache_size() == before
    assert keeper is None or keeper is not x


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


# ---- reductions

SHAPES = [(), (5,), (3, 4), (0, 3), (2, 3, 4), (1, 3, 1, 2), (100, 3), (5000, 3), (3, 5000), (40000,), (2, 40000),
          (2000, 2, 3), (3, 2000, 5), (300, 700)]  # fmt: skip


def views(x):
    yield x
    yield x.T
    if x.ndim:
        yield x[::2]
        yield x[..., ::-1]
    if x.ndim > 1:
        yield np.moveaxis(x, 0, -1)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "int32", "bool", "float16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sum(dtype, shape, threads):
    x = np.asarray(values(dtype, shape))
    wide = {"i": "int64", "b": "int64", "f": "float64", "c": "complex128"}[x.dtype.kind]
    result_type = wide if x.dtype.kind in "ib" else dtype
    rtol = {"float16": 2e-2, "float32": 2e-5, "complex64": 1e-4}.get(dtype, 1e-12)
    for y in views(x):
        for n in range(y.ndim + 1):
            for axes in itertools.combinations(range(y.ndim), n):
                for keepdims in (False, True):
                    result = kernels.apply_sum(y, axes or None, keepdims)
                    expected = y.astype(wide).sum(axis=axes or None, keepdims=keepdims)
                    assert result.dtype == result_type
                    assert_close(result, expected, rtol)


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "bool"])
@pytest.mark.parametrize("shape", [s for s in SHAPES if 0 not in s])
def test_extremes(dtype, shape, threads):
    x = np.asarray(values(dtype, shape))
    for y in views(x):
        for axis in [None, *range(y.ndim)]:
            assert_same(kernels.apply_amax(y, axis), np.asarray(y.max(axis)))
            assert_same(kernels.apply_amin(y, axis, True), np.asarray(y.min(axis, keepdims=True)))


def test_extremes_of_nan_and_nothing():
    x = np.array([[1.0, np.nan], [2.0, 3.0]])
    np.testing.assert_array_equal(kernels.apply_amax(x, 1), [np.nan, 3])
    np.testing.assert_array_equal(kernels.apply_amin(x, 0), [1, np.nan])
    with pytest.raises(IndexError, match="amax.*non-zero size"):
        kernels.apply_amax(np.ones((0, 3)), 0)
    assert kernels.apply_amax(np.ones((0, 3)), 1).shape == (0,)


def test_mean():
    x = values("float32", (30, 40))
    assert_close(kernels.apply_mean(x, 1), x.mean(1), 1e-6)
    assert_close(kernels.apply_mean(values("complex128", 10)), values("complex128", 10).mean(), 1e-14)
    assert np.isnan(kernels.apply_mean(np.ones((0, 2)), 0)).all()
    with pytest.raises(RuntimeError, match="could not infer output dtype"):
        kernels.apply_mean(np.arange(3))


@pytest.mark.parametrize("function", [kernels.apply_sum, kernels.apply_amax, kernels.apply_logsumexp])
def test_bad_axes(function):
    x = np.ones((2, 3))
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        function(x, 2)
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times"):
        function(x, (1, -1))
    with pytest.raises(TypeError):
        function(x, "1")
    assert function(x, ()).shape == ()


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 4), (1, 4), (3, 1), (2, 3, 4), (2, 1, 4), (1, 1, 1)])
def test_sum_to(shape):
    x = values("float64", (2, 3, 4))
    result = kernels.apply_sum_to(x, shape)
    axes = tuple(range(3 - len(shape))) + tuple(i + 3 - len(shape) for i, n in enumerate(shape) if n == 1)
    assert_close(result, x.sum(axes, keepdims=True).reshape(shape), 1e-14)
    assert kernels.apply_sum_to(x, x.shape) is x
    with pytest.raises(RuntimeError, match=r"cannot sum an array of shape \[2, 3, 4\] to shape \[5\]"):
        kernels.apply_sum_to(x, (5,))


def test_sums_do_not_depend_on_threads():
    before = array.get_num_threads()
    results = []
    for n_threads in (1, 2, 5):
        array.set_num_threads(n_threads)
        results.append(
            [
                kernels.apply_sum(values("float32", shape), axis).tobytes()
                for shape, axis in [((1_000_000,), None), ((3000, 700), 0), ((3000, 700), 1), ((200_000, 3), 0)]
            ]
        )
    array.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_sum_is_accurate():
    x = np.full(10_000_000, 0.1, "float32")
    exact = float(np.float32(0.1)) * x.size
    assert abs(float(kernels.apply_sum(x)) - exact) < exact * 1e-6
    assert abs(float(kernels.apply_sum(x.reshape(-1, 10), 0)[3]) - exact / 10) < exact * 1e-6


# ---- softmax


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("dtype, rtol", [("float16", 1e-2), ("float32", 3e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("shape", [(5,), (32, 10), (3, 3000), (3, 5, 7), (4, 100, 300), (1025, 33), (0, 3), (3, 0)])
def test_softmax_family(dtype, rtol, shape, threads):
    x = values(dtype, shape)
    grad = values(dtype, shape, 2)
    for axis in range(-x.ndim, x.ndim):
        if x.size == 0:
            assert kernels.apply_softmax(x, axis).shape == shape
            continue
        wide, wide_grad = x.astype("float64"), grad.astype("float64")
        y = kernels.apply_softmax(x, axis)
        assert y.dtype == dtype
        assert_close(y, softmax(wide, axis), rtol)
        log_y = kernels.apply_log_softmax(np.asfortranarray(x), axis)
        assert_close(log_y, np.log(softmax(wide, axis)), rtol * 3)
        exact, exact_log = y.astype("float64"), log_y.astype("float64")
        expected = exact * (wide_grad - (wide_grad * exact).sum(axis, keepdims=True))
        assert_close(kernels.apply_softmax_backward(grad, y, axis), expected, rtol * 3)
        expected = wide_grad - np.exp(exact_log) * wide_grad.sum(axis, keepdims=True)
        assert_close(kernels.apply_log_softmax_backward(grad, log_y, axis), expected, rtol * 40)


@pytest.mark.parametrize("axes", [None, 0, 1, 2, (0, 1), (1, 2), (0, 2), -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(axes, keepdims):
    x = values("float64", (3, 40, 5))
    expected = np.log(np.exp(x).sum(axes, keepdims=keepdims))
    assert_close(kernels.apply_logsumexp(x, axes, keepdims), expected, 1e-14)
    assert_close(kernels.apply_logsumexp(np.asfortranarray(x), axes, keepdims), expected, 1e-14)


def test_logsumexp_at_the_edges():
    inf = np.inf
    x = np.array([[-inf, -inf], [inf, 1], [np.nan, 1], [1e4, 1e4]])
    expected = [-inf, inf, np.nan, 1e4 + np.log(2)]
    np.testing.assert_allclose(kernels.apply_logsumexp(x, 1), expected)
    np.testing.assert_allclose(kernels.apply_logsumexp(np.ascontiguousarray(x.T), 0), expected)
    np.testing.assert_array_equal(kernels.apply_logsumexp(np.ones((2, 0)), 1), [-inf, -inf])
    assert kernels.apply_logsumexp(np.arange(3)).dtype == "float32"


def test_softmax_refuses_integers():
    with pytest.raises(RuntimeError, match="\"softmax\" not implemented for 'int64'"):
        kernels.apply_softmax(np.arange(3), 0)
    with pytest.raises(IndexError, match="Dimension out of range"):
        kernels.apply_softmax(np.ones(3), 1)


# ---- products

PRODUCTS = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 6)), ((2, 3), (5, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((0, 3), (3, 4)),
    ((2, 0), (0, 4)), ((0, 2, 3), (3, 4)), ((1, 5), (5, 1)), ((5, 1), (1, 5)), ((70, 40), (40, 90)),
    ((1, 300), (300, 200)), ((300, 200), (200, 1)), ((300, 1), (1, 200)), ((6, 1, 300), (300, 50)),
    ((64, 20, 30), (64, 30, 20)), ((130, 150), (150, 170)), ((33, 257), (257, 95)), ((3, 40, 50), (50, 70)),
]  # fmt: skip


@pytest.fixture(params=["blas", "own"])
def backend(request):
    try:
        array.set_matmul_backend(request.param)
    except RuntimeError:
        pytest.skip("this processor has no AVX-512")
    yield request.param
    array.set_matmul_backend("auto")


def matrix_layouts(x):
    """(array, transposed): pairs that stand for the same stack of matrices."""
    yield x, False
    if x.ndim > 1:
        swapped = np.ascontiguousarray(x.swapaxes(-1, -2))
        yield swapped, True
        yield swapped.swapaxes(-1, -2), False
    yield np.repeat(x, 2, -1)[..., ::2], False
    yield np.ascontiguousarray(x[..., ::-1])[..., ::-1], False


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, "int64", "int32", "bool", "float16"])
@pytest.mark.parametrize("shapes", PRODUCTS)
def test_matmul(dtype, shapes, backend, threads):
    a, b = values(dtype, shapes[0], 1), values(dtype, shapes[1], 2)
    expected = np.asarray(a @ b)
    rtol = {"float16": 3e-2, "float32": 2e-5, "complex64": 2e-5}.get(dtype, 1e-13)
    for (x, transpose_x), (y, transpose_y) in itertools.product(matrix_layouts(a), matrix_layouts(b)):
        result = kernels.apply_matmul(x, y, transpose_x, transpose_y)
        assert result.dtype == expected.dtype
        assert_close(result, expected, rtol)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [(1130, 300, 40), (40, 600, 2100), (14, 16, 4000), (29, 1000, 33), (500, 512, 500)])
def test_own_matmul_in_blocks(dtype, size, threads):
    try:
        array.set_matmul_backend("own")
    except RuntimeError:
        pytest.skip("this processor has no AVX-512")
    m, k, n = size
    a, b = values(dtype, (m, k), 1), values(dtype, (k, n), 2)
    expected = a.astype("float64") @ b.astype("float64")
    for (x, transpose_x), (y, transpose_y) in itertools.product(
        list(matrix_layouts(a))[:2], list(matrix_layouts(b))[:2]
    ):
        result = kernels.apply_matmul(x, y, transpose_x, transpose_y)
        assert_close(result, expected, 1e-4 if dtype == "float32" else 1e-12)
    array.set_matmul_backend("auto")


def test_matmul_backend_is_measured():
    array.set_matmul_backend("auto")
    assert array.get_matmul_backend("float32") in ("blas", "own")
    assert array.get_matmul_backend("complex64") == "blas"
    with pytest.raises(ValueError, match="expects one of"):
        array.set_matmul_backend("mkl")


def test_matmul_of_broadcast_operands():
    a, b = np.broadcast_to(values("float32", (1, 3)), (4, 3)), np.broadcast_to(values("float32", (3, 1)), (3, 5))
    assert_close(kernels.apply_matmul(a, b), np.array(a) @ np.array(b), 1e-6)


@pytest.mark.parametrize(
    "a, b, message",
    [
        (np.ones((2, 3)), np.ones((4, 5)), r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
        (np.ones((2, 3, 4)), np.ones((3, 4, 5)), r"size of tensor a \(2\) must match the size of tensor b \(3\)"),
        (np.ones(()), np.ones((2, 2)), "both arguments to matmul need to be at least 1D, but they are 0D and 2D"),
        (np.ones(3, "float32"), np.ones(3), "same dtype, but got: float32 != float64"),
    ],
)
def test_matmul_errors(a, b, message):
    with pytest.raises(RuntimeError, match=message):
        kernels.apply_matmul(a, b)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64"])
@pytest.mark.parametrize("shape", [(7,), (5, 7), (2, 5, 7), (0, 7), (200, 7)])
def test_linear(dtype, shape, threads):
    x, weight, bias = values(dtype, shape, 1), values(dtype, (3, 7), 2), values(dtype, 3, 3)
    rtol = 1e-12 if dtype == "float64" else 1e-5
    assert_close(kernels.apply_linear(x, weight), x @ weight.T, rtol)
    assert_close(kernels.apply_linear(x, weight, bias), x @ weight.T + bias, rtol)


# ---- threads and processes


def test_every_loop_is_found():
    loops = array.direct_loops()
    for name in ("add", "multiply", "exp", "tanh", "maximum"):
        assert {"float32", "float64"} <= set(loops[name])


def test_set_num_threads():
    before = array.get_num_threads()
    assert before >= 1
    array.set_num_threads(3)
    assert array.get_num_threads() == 3
    array.set_num_threads(before)
    with pytest.raises(RuntimeError, match="expects a positive integer"):
        array.set_num_threads(0)


def test_callers_from_many_threads():
    before = array.get_num_threads()
    array.set_num_threads(2)
    x = values("float32", 300_000)
    expected = np.exp(x)
    failures = []

    def work():
        for _ in range(30):
            if not np.array_equal(kernels.apply_unary("EXP", x), expected):
                failures.append("exp")
            if not np.array_equal(kernels.apply_scalar("ADD", x, 1.0), x + np.float32(1)):
                failures.append("add")

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    array.set_num_threads(before)
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_pool_after_fork():
    before = array.get_num_threads()
    array.set_num_threads(2)
    x = values("float32", 1_000_000)
    expected = np.exp(x)
    kernels.apply_unary("EXP", x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            good = all(np.array_equal(kernels.apply_unary("EXP", x), expected) for _ in range(5))
            os._exit(0 if good else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    array.set_num_threads(before)
    assert os.waitstatus_to_exitcode(status) == 0
    assert np.array_equal(kernels.apply_unary("EXP", x), expected)
