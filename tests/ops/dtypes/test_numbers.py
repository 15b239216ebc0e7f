"""Numbers beside tensors whose dtype may be unable to hold them. Expected values are PyTorch's."""

from math import inf, nan

import numpy as np
import pytest

import gradsmith as gs

NUMBERS = [
    True, -1, 127, 128, 200, 255, 256, 300, -128, -129, -255, -256, 70000, 2**31, 2**63, -(2**63),
    0.5, -0.5, 127.5, 255.5, 300.0, 1e10, 1e40, nan, inf, 1 + 0j, 300 + 0j, 1j,
]  # fmt: skip
no = None  # refused

# The element of a tensor after one of NUMBERS has been stored in it.
STORED = {
    "bool": [
        True, True, True, True, True, True, True, True, True, True, True, True, True, True, True, True,
        True, True, True, True, True, True, True, True, True, True, True, True,
    ],
    "uint8": [
        1, 255, 127, 128, 200, 255, no, no, 128, 127, 1, no, no, no, no, no, 0, no, 127, no, no, no, no,
        no, no, 1, no, no,
    ],
    "int8": [
        1, -1, 127, no, no, no, no, no, -128, no, no, no, no, no, no, no, 0, 0, no, no, no, no, no, no,
        no, 1, no, no,
    ],
    "int16": [
        1, -1, 127, 128, 200, 255, 256, 300, -128, -129, -255, -256, no, no, no, no, 0, 0, 127, 255, 300,
        no, no, no, no, 1, 300, no,
    ],
    "int64": [
        1, -1, 127, 128, 200, 255, 256, 300, -128, -129, -255, -256, 70000, 2147483648, no,
        -9223372036854775808, 0, 0, 127, 255, 300, 10000000000, no, no, no, 1, 300, no,
    ],
    "float16": [
        1.0, -1.0, 127.0, 128.0, 200.0, 255.0, 256.0, 300.0, -128.0, -129.0, -255.0, -256.0, no, no, no,
        no, 0.5, -0.5, 127.5, 255.5, 300.0, no, no, nan, inf, 1.0, 300.0, no,
    ],
    "float32": [
        1.0, -1.0, 127.0, 128.0, 200.0, 255.0, 256.0, 300.0, -128.0, -129.0, -255.0, -256.0, 70000.0,
        2147483648.0, 9.223372036854776e+18, -9.223372036854776e+18, 0.5, -0.5, 127.5, 255.5, 300.0,
        10000000000.0, no, nan, inf, 1.0, 300.0, no,
    ],
}  # fmt: skip


def scattered(x, number):
    return gs.scatter(x, 0, gs.tensor([0]), number)


def filled_by_index(x, number):
    x[...] = number
    return x


STORING = {
    "fill_": lambda x, number: x.fill_(number),
    "masked_fill": lambda x, number: x.masked_fill(gs.tensor([True, True]), number),
    "masked_fill_": lambda x, number: x.masked_fill_(gs.tensor([True, True]), number),
    "scatter": scattered,
    "full": lambda x, number: gs.full((2,), number, dtype=x.dtype),
    "full_like": gs.full_like,
    "index": filled_by_index,
}


def is_same(found, expected):
    return found == expected or (found != found and expected != expected)


@pytest.mark.parametrize("form", STORING)
@pytest.mark.parametrize("dtype", STORED)
def test_numbers_that_are_stored_have_to_fit(form, dtype):
    for number, expected in zip(NUMBERS, STORED[dtype], strict=True):
        if form == "index" and dtype == "float16" and number in (70000, 2**31, 2**63, -(2**63), 1e10, 1e40):
            continue  # becomes infinite there
        x = gs.ones(2, dtype=dtype)
        if expected is no:
            with pytest.raises(RuntimeError, match="without overflow"):
                STORING[form](x, number)
            assert x.tolist() == [1, 1], (number, "changed")
        else:
            assert is_same(STORING[form](x, number)[0].item(), expected), number


def test_an_index_makes_float16_infinite():
    x = gs.zeros(2, dtype=gs.float16)
    x[0] = 70000
    assert x.tolist() == [inf, 0]


WRAPPED = [  # x + n, n - x, x * n, x // n, x & n, x ^ n of x = [1, 2, 100]
    ("uint8", -1, [0, 1, 99], [254, 253, 155], [255, 254, 156], [0, 0, 0], [1, 2, 100], [254, 253, 155]),
    ("uint8", 300, [45, 46, 144], [43, 42, 200], [44, 88, 48], [0, 0, 2], [0, 0, 36], [45, 46, 72]),
    ("uint8", -300, [213, 214, 56], [211, 210, 112], [212, 168, 208], [0, 0, 0], [0, 0, 68], [213, 214, 176]),
    ("int8", 200, [-55, -54, 44], [-57, -58, 100], [-56, -112, 32], [-1, -1, -2], [0, 0, 64], [-55, -54, -84]),
    ("int8", -300, [-43, -42, 56], [-45, -46, 112], [-44, -88, -48], [-1, -1, -3], [0, 0, 68], [-43, -42, -80]),
    ("int16", 70000, [4465, 4466, 4564], [4463, 4462, 4364], [4464, 8928, -12352], [0, 0, 0], [0, 0, 96],
     [4465, 4466, 4372]),
    ("int64", 2**64 - 1, [0, 1, 99], [-2, -3, -101], [-1, -2, -100], [-1, -2, -100], [1, 2, 100], [-2, -3, -101]),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "n", "total", "difference", "product", "quotient", "both", "either"), WRAPPED)
def test_operands_wrap_around(dtype, n, total, difference, product, quotient, both, either):
    x = gs.tensor([1, 2, 100], dtype=dtype)
    results = [x + n, n - x, x * n, x // n, x & n, x ^ n, x.clone().add_(n), gs.div(x, n, rounding_mode="floor")]
    expected = [total, difference, product, quotient, both, either, total, quotient]
    assert [result.tolist() for result in results] == expected
    assert {str(result.dtype) for result in results} == {dtype}


def test_beyond_64_bits_nothing_wraps():
    with pytest.raises(OverflowError, match="int too big to convert"):
        gs.ones(2, dtype=gs.int8) + 2**64
    with pytest.raises(RuntimeError, match="without overflow"):
        gs.tensor([True]) + 2**63


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("number", [-1, 256, 300, -129, 2**31, 2**63, -(2**63) - 1, 2**64])
def test_comparisons_are_right_whatever_the_number(dtype, number):
    """PyTorch lets the number wrap around first, and finds that 300 equals the uint8 44."""
    values = [0, 1, 44, 127]
    x = gs.tensor(values, dtype=dtype)
    assert (x == number).tolist() == [v == number for v in values]
    assert (x != number).tolist() == [v != number for v in values]
    assert (x < number).tolist() == [v < number for v in values]
    assert (x <= number).tolist() == [v <= number for v in values]
    assert (x > number).tolist() == [v > number for v in values]
    assert (x >= number).tolist() == [v >= number for v in values]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64"])
def test_integers_have_no_negative_powers(dtype):
    with pytest.raises(RuntimeError, match="negative integer powers"):
        gs.tensor([0, 3, 255 if dtype == "uint8" else 1], dtype=dtype) ** -1


def test_bounds_and_exponents_are_checked():
    x = gs.ones(2, dtype=gs.int8)
    for call in (lambda: x.clamp(max=300), lambda: x.clamp_min(200), lambda: x**300, lambda: gs.where(x > 0, x, 300)):
        with pytest.raises(RuntimeError, match="without overflow"):
            call()
    assert gs.where(x > 0, -1, x.to(gs.uint8)).tolist() == [255, 255]


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [(-1, "uint8", 255), ([-1, 3], "uint8", [255, 3]), (300, "int8", no), (-256, "uint8", no), (127.9, "int8", no),
     ([1, -0.9], "uint8", no), (nan, "int32", no), (1.9, "int8", 1), (1e40, "float32", inf)],
)  # fmt: skip
def test_data_has_to_fit(data, dtype, expected):
    if expected is no:
        with pytest.raises((RuntimeError, ValueError), match="overflow|NaN"):
            gs.tensor(data, dtype=dtype)
    else:
        assert gs.tensor(data, dtype=dtype).tolist() == expected


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
@pytest.mark.parametrize("divisor", [0, gs.tensor([0])], ids=["number", "tensor"])
def test_nothing_can_be_divided_by_zero(dtype, divisor):
    """As in PyTorch: no element, no error."""
    nothing = gs.zeros(0, 1, dtype=dtype)
    results = [nothing // divisor, nothing % divisor]
    results += [gs.div(nothing, divisor, rounding_mode=mode) for mode in ("floor", "trunc")]
    assert all(result.shape == (0, 1) for result in results)
    for op in (gs.floor_divide, gs.remainder):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            op(gs.ones(2, dtype=dtype), gs.tensor([0]))


@pytest.mark.parametrize(
    ("dtype", "number", "expected"),
    [("int8", 300, 44), ("uint8", -1.5, 255), ("int64", 1 + 2j, 1), ("float32", 1 + 2j, 1.0), ("float32", 1e300, inf),
     ("uint8", nan, 0), ("bool", 2j, True), ("float16", 2**40, inf), ("float64", 0.1, 0.1), ("complex64", 2j, 2j)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_a_copied_number_is_converted_like_a_tensor(dtype, number, expected):
    """As in PyTorch, where `fill_` refuses what does not fit."""
    assert gs.zeros(2, dtype=dtype).copy_(number).tolist() == [expected] * 2
    assert gs.zeros(2, dtype=dtype).copy_(gs.tensor(number, dtype=gs.complex128)).tolist() == [expected] * 2


# ---- alpha


@pytest.mark.parametrize(
    ("first", "second", "alpha", "words"),
    [("int64", "int64", 2.5, "must be an integer"), ("bool", "int8", 2j, "must be an integer"),
     ("float32", "float32", 2j, "must be real"), ("float32", "float32", True, "only when the result is"),
     ("int8", "int8", 300, "without overflow"), ("float16", "float16", 70000, "without overflow")],
)  # fmt: skip
def test_refused_alpha(first, second, alpha, words):
    x, y = gs.ones(2, dtype=first), gs.ones(2, dtype=second)
    for call in (lambda: gs.add(x, y, alpha=alpha), lambda: x.add_(y, alpha=alpha)):
        with pytest.raises(RuntimeError, match=words):
            call()
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize("alpha", [True, False, 2, 300, -1])
def test_sums_of_bools_are_bools(alpha):
    """As in PyTorch, where any number but zero is True."""
    flags, sums = gs.tensor([True, False]), [True, bool(alpha)]
    for other in (True, gs.tensor(True), gs.tensor([True, True])):
        assert gs.add(flags, other, alpha=alpha).tolist() == sums
        assert flags.clone().add_(other, alpha=alpha).tolist() == sums
        assert gs.add(flags, other, alpha=alpha, out=gs.zeros(2)).tolist() == sums
    assert gs.add(flags, False, alpha=alpha).tolist() == [True, False]
    assert gs.add(True, True, alpha=alpha).dtype == gs.bool
    with pytest.raises(RuntimeError, match="must be an integer"):
        gs.add(flags, True, alpha=2.0)


def test_alpha_has_no_dtype_of_its_own():
    flags = gs.tensor([True, False])
    assert gs.add(flags, flags, alpha=2).dtype == gs.bool_
    assert gs.add(gs.ones(2, dtype=gs.uint8), flags, alpha=2).dtype == gs.uint8
    assert gs.sub(gs.ones(2, dtype=gs.float16), gs.ones(2, dtype=gs.int8), alpha=2.5).dtype == gs.float16
    with pytest.raises(RuntimeError, match="bool tensor is not supported"):
        gs.sub(gs.ones(2), flags, alpha=2)


def test_thresholds_of_integers_are_integers():
    found = gs.nn.functional.threshold(gs.tensor([1, 2, 3]), 1.5, 2.5)
    assert found.dtype == gs.int64 and found.tolist() == [2, 2, 3]
    with pytest.raises(RuntimeError, match="no negative numbers"):
        gs.nn.functional.threshold(gs.tensor([1], dtype=gs.uint8), -1, 0)


WRITTEN = {
    "add_": lambda a, n: a + n,
    "sub_": lambda a, n: a - n,
    "mul_": lambda a, n: a * n,
    "clamp_min_": lambda a, n: max(a, n),
    "clamp_max_": lambda a, n: min(a, n),
}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("name", WRITTEN)
def test_integers_written_over_by_those_and_a_number(name, dtype):
    bounds = np.iinfo(dtype)
    elements = [0, 1, 7, 100, int(bounds.max), int(bounds.min)]
    for number in {0, 1, 3, 120, -1, -128, int(bounds.max) if dtype != "uint64" else 2**40, int(bounds.min)}:
        if not bounds.min <= number <= bounds.max:
            continue
        x = gs.tensor(np.array(elements, dtype))
        assert getattr(x, name)(number) is x and x.dtype == dtype
        count = bounds.bits
        expected = [WRITTEN[name](element, number) % 2**count for element in elements]
        assert [element % 2**count for element in x.tolist()] == expected
        matrix = gs.tensor(np.array([elements] * 3, dtype))
        getattr(matrix[:, ::2], name)(number)
        assert [element % 2**count for element in matrix[1, ::2].tolist()] == expected[::2]
        assert matrix[1, 1::2].tolist() == elements[1::2]


@pytest.mark.parametrize("number", [300, -1, 2**40])
def test_a_number_that_the_integers_do_not_have(number):
    x = gs.tensor([1, 2, 250], dtype=gs.uint8)
    expected = (x + number).tolist()
    assert x.add_(number).tolist() == expected
