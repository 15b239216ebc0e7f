"""In which order the dimensions of a result lie in memory. The expected strides are those that PyTorch 2.13 gives."""

import array_testing as kernels
import numpy as np
import pytest
from operands import values

from gradsmith.runtime.arrays import array

# Functions of two operands.
BINARY = {
    "ufunc": lambda a, b: kernels.apply_binary("MULTIPLY", a, b),
    "fused": lambda a, b: kernels.apply_fused("tanh_backward", [a, b]),
    "public ufunc": lambda a, b: kernels.apply_binary("ADD", a.astype("f2"), b.astype("f2")),
    "integer power": lambda a, b: kernels.apply_binary("POWER", a.astype("i8"), np.abs(b.astype("i8"))),
    "where": lambda a, b: kernels.apply_where(ordered("b1", a), a, b),
    "where of complex": lambda a, b: kernels.apply_where(ordered("b1", a), a.astype("c16"), b.astype("c16")),
}
VALUES = {
    "ufunc": lambda a, b: a * b,
    "fused": lambda a, b: a * (1 - b * b),
    "public ufunc": lambda a, b: a.astype("f2") + b.astype("f2"),
    "integer power": lambda a, b: a.astype("i8") ** np.abs(b.astype("i8")),
    "where": lambda a, b: np.where(a > 0, a, b),
    "where of complex": lambda a, b: np.where(a > 0, a, b).astype("c16"),
}
UNARY = {
    "ufunc": lambda a: kernels.apply_unary("EXP", a),
    "scalar": lambda a: kernels.apply_scalar("MULTIPLY", a, 2.0),
    "number first": lambda a: kernels.apply_scalar("SUBTRACT", a, 2.0, True),
    "power": lambda a: kernels.apply_scalar("POWER", a, 3.0),
    "fused": lambda a: kernels.apply_fused("scale", [a], [2.5]),
    "cast": lambda a: kernels.apply_cast(a, np.dtype("float64").num),
    "clone": kernels.apply_clone,
    "empty": lambda a: array.empty_of(a, a.dtype),
}


def ordered(dtype, a):
    """A mask with the strides of `a`, counted in elements."""
    steps = [step // a.itemsize for step in a.strides]
    return strided(a.shape, steps, dtype) if a.ndim else np.asarray(a > 0)


def strided(shape, steps, dtype="f4", seed=0):
    """An array of steps counted in elements, over memory of its own."""
    dtype = np.dtype(dtype)
    low = sum((n - 1) * step for n, step in zip(shape, steps) if step < 0)
    high = sum((n - 1) * step for n, step in zip(shape, steps) if step > 0)
    memory = values(dtype, high - low + 1, seed)[-low:]
    return np.lib.stride_tricks.as_strided(memory, shape, [step * dtype.itemsize for step in steps])


def steps_of(result):
    """Strides in elements; a dimension of size 1 has none."""
    return [step // result.itemsize if n > 1 else None for step, n in zip(result.strides, result.shape)]


def assert_steps(result, expected, name):
    assert steps_of(result) == [step if n > 1 else None for step, n in zip(expected, result.shape)], name


ONE = [
    ("transposed", (4, 5), (1, 4), (1, 4)),
    ("permuted", (3, 4, 5), (1, 15, 3), (1, 15, 3)),
    ("every other", (3, 4, 5), (2, 6, 24), (1, 3, 12)),
    ("padded", (3, 4, 5), (1, 5, 30), (1, 3, 12)),
    ("expanded inside", (5, 4), (1, 0), (4, 1)),
    ("expanded outside", (5, 4), (0, 1), (4, 1)),
    ("expanded between", (3, 2, 4), (1, 0, 3), (1, 3, 6)),
    ("overlapping, the longer one last", (3, 5), (1, 1), (1, 3)),
    ("overlapping, the longer one first", (5, 3), (1, 1), (3, 1)),
    ("overlapping, as long", (3, 3), (1, 1), (3, 1)),
    ("overlapping, as long, around another", (3, 2, 3), (1, 4, 1), (3, 9, 1)),
    ("of size 1", (4, 1, 5), (1, 77, 4), (1, 4, 4)),
    ("reversed", (4, 5), (-1, -4), (1, 4)),
    ("reversed rows", (4, 5), (-5, 1), (5, 1)),
    ("channels last", (2, 3, 4, 5), (60, 1, 15, 3), (60, 1, 15, 3)),
]


@pytest.mark.parametrize("function", UNARY)
@pytest.mark.parametrize("shape, steps, expected", [case[1:] for case in ONE], ids=[case[0] for case in ONE])
def test_one_operand(function, shape, steps, expected):
    x = strided(shape, steps)
    assert_steps(UNARY[function](x), expected, function)


TWO = [
    ("both transposed", (4, 5), (1, 4), (4, 5), (1, 4), (1, 4)),
    ("the first decides", (4, 5), (1, 4), (4, 5), (5, 1), (1, 4)),
    ("the first decides for rows", (4, 5), (5, 1), (4, 5), (1, 4), (5, 1)),
    ("a vector has no say", (4,), (1,), (5, 4), (1, 5), (1, 5)),
    ("a column has no say", (5, 1), (1, 1), (5, 4), (1, 5), (1, 5)),
    ("without dimensions", (), (), (5, 4), (1, 5), (1, 5)),
    ("what is expanded has no say", (5, 4), (0, 1), (5, 4), (1, 5), (1, 5)),
    ("nobody knows", (5, 1), (1, 1), (1, 4), (1, 1), (4, 1)),
    ("dense and not", (3, 4), (1, 3), (3, 4), (1, 7), (1, 3)),
]


@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("case", [case[1:] for case in TWO], ids=[case[0] for case in TWO])
def test_two_operands(function, case):
    a_shape, a_steps, b_shape, b_steps, expected = case
    a, b = strided(a_shape, a_steps, seed=1), strided(b_shape, b_steps, seed=2)
    result = BINARY[function](a, b)
    assert_steps(result, expected, function)
    if "where" not in function:
        np.testing.assert_allclose(result, VALUES[function](a, b), rtol=1e-6)


@pytest.mark.parametrize("function", ["ufunc", "fused", "where"])
def test_each_operand_knows_a_part(function):
    a, b = strided((3, 2, 4), (1, 0, 3)), strided((3, 2, 4), (1, 24, 3))
    assert_steps(BINARY[function](a, b), (1, 12, 3), function)


@pytest.mark.parametrize("steps", [(1, 3), (3, 1)])
@pytest.mark.parametrize("function", ["ufunc", "fused"])
def test_the_second_decides_what_is_even_in_the_first(function, steps):
    a, b = strided((3, 3), (1, 1)), strided((3, 3), steps)
    assert_steps(BINARY[function](a, b), steps, function)
    assert_steps(BINARY[function](b, a), steps, function)


def test_a_mask_comes_first():
    rows, columns = strided((4, 5), (5, 1)), strided((4, 5), (1, 4))
    assert_steps(kernels.apply_where(ordered("b1", columns), rows, rows), (1, 4), "mask of columns")
    assert_steps(kernels.apply_where(ordered("b1", rows), columns, columns), (5, 1), "mask of rows")


def permuted(shape, seed, dtype):
    """A random array in a random order of dimensions, with gaps or broadcast here and there."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(shape))
    sizes = [shape[d] for d in order]
    x = values(dtype, [n * 2 if rng.random() < 0.2 else n for n in sizes], seed)
    x = x[tuple(slice(None, None, 2) if have != n else slice(None) for have, n in zip(x.shape, sizes))]
    x = x.transpose(np.argsort(order))
    parts = tuple(slice(0, 1) if rng.random() < 0.15 else slice(None) for _ in shape)
    x = x[parts]
    return np.broadcast_to(x, shape) if rng.random() < 0.3 else x


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 3, 2, 4), (40, 70), (300, 211)])
def test_values_in_any_order(shape, seed, threads):
    x, y, z = (permuted(shape, 3 * seed + i, "f4") for i in range(3))
    expected = np.broadcast_to(x + y * z, np.broadcast_shapes(x.shape, y.shape, z.shape))
    result = kernels.apply_fused("multiply_add", [x, y, z])
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(kernels.apply_binary("ADD", x, y), x + y)
    mask = permuted(shape, seed, "bool")
    np.testing.assert_array_equal(kernels.apply_where(mask, x, y), np.where(mask, x, y))
    np.testing.assert_array_equal(kernels.apply_clone(x), x)
    np.testing.assert_array_equal(kernels.apply_cast(x, np.dtype("float64").num), x.astype("f8"))


@pytest.mark.parametrize("shape", [(0, 4), (3, 0, 2), ()])
def test_without_elements_or_dimensions(shape):
    x = np.zeros(shape[::-1], "f4").T
    for name, function in UNARY.items():
        assert function(x).shape == shape, name


def test_reuse_wants_the_order_of_the_result():
    x, y = strided((40, 50), (1, 40), seed=1), strided((40, 50), (1, 40), seed=2)
    rows, columns = np.empty((40, 50), "f4"), np.empty((50, 40), "f4").T
    assert kernels.apply_fused("tanh_backward", [x, y], [], rows) is not rows
    assert kernels.apply_fused("tanh_backward", [x, y], [], columns) is columns
    np.testing.assert_allclose(columns, x * (1 - y * y), rtol=1e-5, atol=1e-6)


OUTPUTS = {
    "rows": lambda: np.empty((40, 50), "f4"),
    "columns": lambda: np.empty((50, 40), "f4").T,
    "permuted": lambda: np.empty((1, 50, 40), "f4").transpose(0, 2, 1)[0],
}


@pytest.mark.parametrize("out", OUTPUTS)
@pytest.mark.parametrize("steps", [(50, 1), (1, 40), (100, 2), (0, 1)])
def test_an_output_keeps_its_strides(out, steps, threads):
    x, y = strided((40, 50), steps, seed=1), strided((40, 50), (1, 40), seed=2)
    target = OUTPUTS[out]()
    before = target.strides
    assert kernels.apply_fused_over("tanh_backward", [x, y], [], target)
    np.testing.assert_allclose(target, x * (1 - y * y), rtol=1e-5, atol=1e-6)
    kernels.apply_binary("MULTIPLY", x, y, target)
    np.testing.assert_array_equal(target, x * y)
    assert target.strides == before


def test_outputs_that_fused_loops_leave_alone():
    x = strided((4, 6), (6, 1))
    gaps, wide, other = np.full((4, 12), 7, "f4")[:, ::2], np.full((4, 6), 7, "f8"), np.full((6, 4), 7, "f4")
    for target in (gaps, wide, other):
        assert not kernels.apply_fused_over("scale", [x], [2.5], target)
        assert (target == 7).all()
    with pytest.raises(RuntimeError, match="must match the size"):
        kernels.apply_fused_over("tanh_backward", [x, np.ones((3, 6), "f4")], [], x)


def test_an_input_may_be_the_output():
    x = strided((40, 50), (1, 40))
    expected = x * np.float32(2.5)
    assert kernels.apply_fused_over("scale", [x], [2.5], x)
    np.testing.assert_array_equal(x, expected)


def test_sums_of_gradients_stay_in_order():
    a, b = strided((30, 40), (1, 30), seed=1), strided((30, 40), (1, 30), seed=2)
    total, reused = kernels.accumulate_owned(a, b)
    assert reused and total.strides == a.strides
    np.testing.assert_array_equal(total, a + b)
    total, reused = kernels.accumulate_owned(a, np.ascontiguousarray(b))
    assert not reused and total.strides == a.strides
    np.testing.assert_array_equal(total, a + b)


def test_contiguous_is_by_rows():
    x = strided((3, 4, 5), (1, 15, 3))
    assert kernels.apply_contiguous(x).flags.c_contiguous
    np.testing.assert_array_equal(kernels.apply_contiguous(x), x)


@pytest.mark.parametrize("shift", [0, 1, 1500])
def test_writing_over_operands_in_another_order(shift):
    def operands():
        memory = values("f4", 4000)
        x, y = (memory[start : start + 1200].reshape(30, 40).T for start in (0, shift))
        return x, y

    for write, expected in (
        (lambda x, y: kernels.apply_unary("NEGATIVE", x, y), lambda x, y: -x),
        (lambda x, y: kernels.apply_binary("MULTIPLY", x, y, y), lambda x, y: x * y),
        (lambda x, y: kernels.apply_scalar("MULTIPLY", x, 3.0, False, y), lambda x, y: x * np.float32(3)),
        (lambda x, y: kernels.apply_unary("ISNAN", x, y), lambda x, y: np.isnan(x)),
    ):
        x, y = operands()
        wanted = expected(x, y).copy()
        write(x, y)
        np.testing.assert_array_equal(y, wanted)
