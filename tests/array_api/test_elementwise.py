"""Functions of each element, against NumPy's."""

import itertools

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.array_api as xp
from tests.array_api.samples import ALL, BOOL, COMPLEX, FLOATS, INEXACT, INTEGERS, NUMERIC, REAL, agrees, sample

UNARY = {
    **dict.fromkeys(
        ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p",
         "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh"], INEXACT
    ),
    **dict.fromkeys(
        ["abs", "conj", "isfinite", "isinf", "isnan", "negative", "positive", "real", "round", "sign", "square"],
        NUMERIC,
    ),
    **dict.fromkeys(["ceil", "floor", "trunc"], REAL),
    "bitwise_invert": INTEGERS + BOOL, "imag": COMPLEX, "logical_not": BOOL, "signbit": FLOATS,
}  # fmt: skip
BINARY = {
    **dict.fromkeys(["add", "multiply", "pow", "subtract"], NUMERIC),
    **dict.fromkeys(["equal", "not_equal"], ALL),
    **dict.fromkeys(
        ["floor_divide", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "remainder"], REAL
    ),
    **dict.fromkeys(["atan2", "copysign", "hypot", "logaddexp", "nextafter"], FLOATS),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], INTEGERS + BOOL),
    **dict.fromkeys(["bitwise_left_shift", "bitwise_right_shift"], INTEGERS),
    **dict.fromkeys(["logical_and", "logical_or", "logical_xor"], BOOL),
    "divide": INEXACT,
}  # fmt: skip
POSITIVE = {"bitwise_left_shift", "bitwise_right_shift", "floor_divide", "pow", "remainder"}
SHAPES = [((3, 4), (4,)), ((3, 1), ()), ((), (2,)), ((0,), (1,))]
NUMBERS = {"b": [True], "i": [2], "u": [2], "f": [2, 2.5], "c": [2, 2.5, 1 + 2j]}


def mix(first, second):
    """Does the standard say what the two dtypes become together?"""
    kinds = {np.dtype(first).kind, np.dtype(second).kind}
    return len(kinds) == 1 or kinds == {"f", "c"} or (kinds == {"i", "u"} and np.result_type(first, second).kind != "f")


def not_zero(name, array):
    """Of integers NumPy's quotients by zero are zero with a warning; here they are an error, as in PyTorch."""
    if name in ("floor_divide", "remainder") and array.dtype.kind in "iu":
        return np.where(array == 0, 1, array).astype(array.dtype)
    return array


@pytest.mark.parametrize("name", UNARY)
def test_of_one(name):
    for dtype, shape in itertools.product(UNARY[name], [(3, 4), (), (0, 2)]):
        agrees(name, sample(dtype, shape))


@pytest.mark.parametrize("name", BINARY)
def test_of_two_of_any_dtypes(name):
    for first, second in itertools.product(BINARY[name], BINARY[name]):
        if mix(first, second):
            for one, other in SHAPES:
                divisor = not_zero(name, sample(second, other, name in POSITIVE))
                agrees(name, sample(first, one, name in POSITIVE), divisor)


@pytest.mark.parametrize("name", BINARY)
def test_of_a_tensor_and_a_number(name):
    for dtype in BINARY[name]:
        array = not_zero(name, sample(dtype, (3,), True))
        for number in NUMBERS[np.dtype(dtype).kind]:
            agrees(name, array, number)
            agrees(name, number, array)


def test_a_tensor_without_axes_counts_as_any_other():
    wide, narrow = xp.asarray(1.0, dtype=xp.float64), xp.ones(3, dtype=xp.float32)
    assert xp.add(wide, narrow).dtype == xp.float64
    assert (wide + narrow).dtype == xp.float32  # the operators are PyTorch's
    assert xp.result_type(wide, narrow) == xp.float64
    assert xp.where(narrow > 0, wide, narrow).dtype == xp.float64
    assert xp.concat([xp.ones(1, dtype=xp.int8), xp.ones(1, dtype=xp.int16)]).dtype == xp.int16


def test_numbers_beside_other_kinds():
    assert xp.add(xp.ones(2, dtype=xp.int8), 2.5).dtype == xp.float32  # the default
    assert xp.add(xp.ones(2, dtype=xp.float64), 1j).dtype == xp.complex128
    assert xp.add(xp.ones(2, dtype=xp.float32), 1j).dtype == xp.complex64
    assert xp.multiply(xp.ones(2, dtype=xp.bool), 3).dtype == xp.int64


@pytest.mark.parametrize("dtype", REAL)
def test_clip(dtype):
    array = sample(dtype, (4, 5))
    agrees("clip", array, 1, 3)
    agrees("clip", array, array[0], None)
    agrees("clip", array, max=array[:, :1])
    agrees("clip", array)
    agrees("clip", array, 4, 1)


def test_clip_keeps_the_dtype_of_its_tensor():
    assert xp.clip(xp.ones(3, dtype=xp.float32), xp.asarray(0.0, dtype=xp.float64)).dtype == xp.float32
    x = xp.ones(3)
    assert xp.clip(x) is not x


# ---- special values

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e-10, np.pi / 2]
PAIRS = [np.array(part) for part in zip(*itertools.product(SPECIAL, SPECIAL))]


def expect_same(found, expected):
    """Equal to a few units in the last place, and zeros with equal signs."""
    for one, other in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
        zeros = (one == 0) & (other == 0)
        assert (np.signbit(one[zeros]) == np.signbit(other[zeros])).all()


@pytest.mark.parametrize("name", [name for name in UNARY if "float64" in UNARY[name]])
@pytest.mark.parametrize("length", [len(SPECIAL), 64])  # a vector of the processor, and more
def test_special_values(name, length):
    for dtype in FLOATS:
        values = np.resize(np.array(SPECIAL, dtype), length)
        with np.errstate(all="ignore"):
            expect_same(getattr(xp, name)(xp.asarray(values)).numpy(), getattr(np, name)(values))


@pytest.mark.parametrize("name", [name for name in BINARY if "float64" in BINARY[name]])
def test_special_values_of_two(name):
    for dtype in FLOATS:
        first, second = (part.astype(dtype) for part in PAIRS)
        with np.errstate(all="ignore"):
            expect_same(
                getattr(xp, name)(xp.asarray(first), xp.asarray(second)).numpy(), getattr(np, name)(first, second)
            )


# NumPy has parts of expm1 of infinity, of one over zero, and of the sign of infinity, otherwise than the standard.
@pytest.mark.parametrize(
    "name", [n for n in UNARY if "complex128" in UNARY[n] and n not in ("expm1", "reciprocal", "sign")]
)
def test_special_complex_values(name):
    for dtype in COMPLEX:
        values = np.empty(len(PAIRS[0]), dtype)
        values.real, values.imag = PAIRS
        with np.errstate(all="ignore"):
            expect_same(getattr(xp, name)(xp.asarray(values)).numpy(), getattr(np, name)(values))


def test_complex_signs():
    values = [complex(np.nan, 1), complex(1, np.nan), 0j, 3 + 4j]
    expect_same(
        xp.sign(xp.asarray(values, dtype=xp.complex128)).numpy(),
        np.array([complex(np.nan, np.nan)] * 2 + [0, 0.6 + 0.8j]),
    )


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"^sin\(\): expected a Tensor, but got float"):
        xp.sin(1.0)
    with pytest.raises(TypeError, match=r"^add\(\): one of the operands must be a tensor"):
        xp.add(1, 2)
    with pytest.raises(TypeError, match=r"^add\(\): expected tensors or numbers, but got ndarray"):
        xp.add(xp.ones(2), np.ones(2))


def test_gradients_flow():
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = gs.tensor(2.0, dtype=gs.float64, requires_grad=True)
    xp.sum(xp.multiply(xp.square(x), y)).backward()
    assert x.grad.tolist() == [[4.0, 8.0], [12.0, 16.0]] and x.grad.dtype == gs.float32
    assert y.grad.item() == 30.0 and y.grad.dtype == gs.float64
    clipped, x.grad = xp.clip(x, 1.5, 3.5), None
    xp.sum(clipped).backward()
    assert x.grad.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_forward_mode_and_batches():
    _, tangent = gs.func.jvp(lambda x: xp.sum(xp.exp(x)), (gs.zeros(3),), (gs.ones(3),))
    assert tangent.item() == 3.0
    rows = gs.vmap(lambda row: xp.add(xp.max(row), 1))(gs.tensor([[1.0, 5.0], [3.0, 2.0]]))
    assert rows.tolist() == [6.0, 4.0]
    assert xp.add(xp.ones(3, device="meta"), 2).is_meta


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("dtype", [xp.complex64, xp.complex128])
@pytest.mark.parametrize(
    ("z", "expected"),
    [
        ((0.0, 0.0), (0.0, 0.0)), ((-0.0, 0.0), (0.0, 0.0)), ((INF, 0.0), (INF, 0.0)), ((INF, INF), (INF, NAN)),
        ((INF, NAN), (INF, NAN)), ((-INF, 2.0), (-1.0, 0.0)), ((-INF, INF), (-1.0, 0.0)), ((-INF, NAN), (-1.0, 0.0)),
        ((NAN, 0.0), (NAN, 0.0)), ((NAN, 1.0), (NAN, NAN)), ((1.0, INF), (NAN, NAN)), ((1.0, NAN), (NAN, NAN)),
        ((INF, 2.0), (-INF, INF)), ((INF, -1.0), (INF, -INF)),
    ],
)  # fmt: skip
def test_expm1_of_complex_infinities(z, expected, dtype):
    found = xp.expm1(xp.asarray(complex(*z), dtype=dtype))
    np.testing.assert_array_equal([xp.real(found).item(), xp.imag(found).item()], expected)


@pytest.mark.parametrize("real", [-0.0, 0.0, 1.0, -2.0, INF, -INF])
def test_expm1_of_conjugates(real):
    above, below = (xp.expm1(xp.asarray(complex(real, zero))).item() for zero in (0.0, -0.0))
    assert np.signbit([above.real, above.imag, below.real, below.imag]).tolist() == [real < 0, False, real < 0, True]


def test_expm1_of_complex_numbers_near_zero():
    z = np.array([1e-10 + 1e-10j, -1e-17 + 1e-200j, 2 + 3j, -50 + 1e-9j])
    exact = np.array([1e-10 + 1.0000000001e-10j, -1e-17 + 1e-200j, np.exp(2 + 3j) - 1, -1 + 1.9287498479639178e-31j])
    np.testing.assert_allclose(xp.expm1(xp.asarray(z)).numpy(), exact, rtol=1e-13)
