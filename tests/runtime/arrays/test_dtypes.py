"""Names of dtypes, what is accepted as one, promotion, the default dtype."""

import json

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays.dtypes import SUPPORTED, as_dtype


@pytest.fixture
def default_dtype():
    before = gs.get_default_dtype()
    yield
    gs.set_default_dtype(before)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_every_spelling_of_a_dtype(dtype):
    for spelling in (dtype, dtype.type, dtype.name, dtype.str):
        assert as_dtype(spelling, "op") is as_dtype(dtype.name, "op")


def test_python_types():
    kinds = {bool: gs.bool, int: gs.int64, float: gs.float64, complex: gs.complex128}
    assert {kind: as_dtype(kind, "op") for kind in kinds} == kinds


def test_second_names():
    pairs = [(gs.float, gs.float32), (gs.double, gs.float64), (gs.half, gs.float16), (gs.long, gs.int64)]
    assert all(alias is dtype for alias, dtype in pairs)


def test_a_second_type_number_becomes_the_usual_one():
    assert as_dtype(np.dtype("longlong"), "op").num == np.dtype("int64").num


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            "flaot32",
            r"zeros\(\): unknown dtype 'flaot32'. Did you mean 'float32'\? Known: float64, .*and bool.",
        ),
        (3, r"zeros\(\): argument 'dtype' must be a dtype, not int"),
        ([], r"zeros\(\): argument 'dtype' must be a dtype, not list"),
        (np.dtype(object), "can't convert np.ndarray of type numpy.object_. The only supported types are: float64, "),
        ("U3", "can't convert np.ndarray of type numpy.str_"),
        ("M8[s]", "can't convert np.ndarray of type numpy.datetime64"),
        ([("a", "f4")], "must be a dtype, not list"),
    ],
)
def test_what_is_no_dtype(wrong, message):
    with pytest.raises(TypeError, match=message):
        gs.zeros(2, dtype=wrong)


def test_foreign_byte_order():
    with pytest.raises(ValueError, match="byte order"):
        gs.from_numpy(np.zeros(2, np.dtype(np.float32).newbyteorder()))


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ("bool", "uint8", "uint8"),
        ("int8", "uint8", "int16"),
        ("int64", "float32", "float32"),
        ("int64", "float16", "float16"),
        ("float64", "complex64", "complex128"),
        ("float16", "complex64", "complex64"),
        ("int64", "complex64", "complex64"),
        ("float32", "float64", "float64"),
    ],
)
def test_promote_types(first, second, result):
    assert gs.promote_types(first, second).name == result
    assert gs.promote_types(second, first).name == result


def test_no_integer_holds_both():
    with pytest.raises(RuntimeError, match="promotion of uint64 and int64"):
        gs.promote_types(gs.uint64, gs.int64)


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (gs.ones(2), 2.0, gs.float32),
        (gs.ones(2, dtype=gs.float16), 2.0, gs.float16),
        (gs.ones(2, dtype=gs.int64), 2.0, gs.float32),
        (gs.ones(2, dtype=gs.uint8), 300, gs.uint8),
        (gs.ones(2, dtype=gs.float64), 2j, gs.complex128),
        (gs.ones(2), gs.tensor(2.0, dtype=gs.float64), gs.float32),
        (gs.ones(2, dtype=gs.int64), gs.tensor(2.0, dtype=gs.float64), gs.float64),
        (gs.tensor(1), 2.0, gs.float32),
        (gs.ones(2), np.float64(1), gs.float32),
        (gs.ones(2, dtype=gs.int32), np.float64(1), gs.float32),
        (gs.ones(2, dtype=gs.int8), np.int64(3), gs.int8),
        (np.float64(1), np.float32(2), gs.float32),
        (2.0, 3, gs.float32),
        (True, 3, gs.int64),
    ],
)
def test_result_type(first, second, result):
    assert gs.result_type(first, second) == result
    assert gs.result_type(second, first) == result


def test_result_type_is_that_of_an_op():
    samples = [gs.ones(2, dtype=dtype) for dtype in (gs.bool, gs.uint8, gs.int64, gs.float32, gs.float64)]
    samples += [gs.tensor(1), gs.tensor(1.0, dtype=gs.float64), 2, 2.5]
    for first in samples:
        for second in samples:
            if isinstance(first, gs.Tensor) or isinstance(second, gs.Tensor):
                assert (first * second).dtype == gs.result_type(first, second)


def test_can_cast():
    assert gs.can_cast(gs.float64, gs.float32)
    assert gs.can_cast(gs.int64, gs.float16)
    assert not gs.can_cast(gs.float32, gs.int64)
    assert not gs.can_cast(gs.complex64, gs.float64)


def test_default_dtype(default_dtype):
    assert gs.tensor(1.0).dtype == gs.float32
    gs.set_default_dtype(gs.float64)
    assert gs.tensor([1.0]).dtype == gs.zeros(2).dtype == gs.rand(2).dtype == gs.float64
    assert gs.tensor(1j).dtype == gs.complex128
    assert (gs.tensor([1, 2]) / 2).dtype == gs.float64


def test_default_dtype_must_be_floating(default_dtype):
    with pytest.raises(TypeError, match="as the default type: .* got int32"):
        gs.set_default_dtype(gs.int32)
    assert gs.get_default_dtype() == gs.float32


def test_kind_of_a_tensor_or_dtype():
    assert gs.is_floating_point(gs.ones(2)) and gs.is_floating_point(gs.float16)
    assert gs.is_complex(gs.tensor(1j)) and not gs.is_complex("float32")


def test_limits():
    assert gs.finfo(gs.float32).eps == np.finfo(np.float32).eps
    assert gs.iinfo(gs.int16).max == 32767


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_dtypes_have_pytorchs_attributes(dtype):
    kinds = {"f": (True, False, True), "c": (False, True, True), "i": (False, False, True)}
    expected = kinds.get(dtype.kind, (False, False, False))
    for one in (dtype, np.dtype(dtype.str), gs.zeros(1, dtype=dtype).dtype):
        assert (one.is_floating_point, one.is_complex, one.is_signed) == expected
    assert dtype.to_real() == np.zeros(1, dtype).real.dtype


def test_complex_dtypes_of_real_ones():
    assert gs.float32.to_complex() == gs.complex64.to_complex() == gs.complex64
    assert gs.float64.to_complex() == gs.complex128 and gs.complex128.to_real() == gs.float64
    for dtype in (gs.int64, gs.float16, gs.bool):
        with pytest.raises(RuntimeError, match="there is no complex dtype of two"):
            dtype.to_complex()
    assert gs.bfloat16.is_floating_point and not gs.bfloat16.is_complex and gs.complex32.is_complex


def test_attributes_of_numpy_are_kept():
    assert np.dtype(np.float32).itemsize == 4
    with pytest.raises(AttributeError, match="has no attribute 'is_float'"):
        _ = np.dtype(np.float32).is_float


def test_limits_are_numbers_of_python():
    """Each as PyTorch has it; as a number of the dtype, twice the largest would be infinite."""
    limits = gs.finfo(gs.float32)
    values = (limits.eps, limits.max, limits.min, limits.tiny, limits.smallest_normal, limits.resolution)
    smallest = 1.1754943508222875e-38
    assert values == (2.0**-23, 3.4028234663852886e38, -3.4028234663852886e38, smallest, smallest, 1e-6)
    assert {type(value) for value in values} == {float} and (limits.bits, limits.dtype) == (32, "float32")
    assert limits.max * 2 == 6.805646932770577e38
    assert gs.tensor([0.5, 1 - gs.finfo(gs.float64).eps]).dtype == gs.float32
    assert json.dumps(gs.finfo(gs.float16).max) == "65504.0"
    assert gs.finfo() == limits == gs.finfo(gs.complex64) != gs.finfo(type=gs.float16)
    whole = gs.iinfo(gs.int16)
    assert (whole.min, whole.max, whole.bits, whole.dtype) == (-32768, 32767, 16, "int16")
    assert type(whole.max) is type(whole.min) is int and whole == gs.iinfo("int16") != gs.iinfo(gs.int8)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (
            lambda: gs.finfo(gs.float16),
            "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, "
            "tiny=6.10352e-05, dtype=float16)",
        ),
        (
            lambda: gs.finfo(gs.complex128),
            "finfo(resolution=1e-15, min=-1.79769e+308, max=1.79769e+308, eps=2.22045e-16, "
            "smallest_normal=2.22507e-308, tiny=2.22507e-308, dtype=float64)",
        ),
        (lambda: gs.iinfo(gs.uint8), "iinfo(min=0, max=255, dtype=uint8)"),
        (lambda: gs.iinfo(gs.int64), "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"),
    ],
)
def test_limits_are_shown_in_a_line(limits, expected):
    assert repr(limits()) == expected


def test_limits_of_the_other_kind_are_refused():
    with pytest.raises(TypeError, match="finfo\\(\\) requires a floating point input type, got int32"):
        gs.finfo(gs.int32)
    with pytest.raises(TypeError, match="iinfo\\(\\) requires an integer input type, got float32"):
        gs.iinfo(gs.float32)
    with pytest.raises(TypeError, match="bool is not supported by iinfo"):
        gs.iinfo(gs.bool)


def test_default_dtype_of_half_precision(default_dtype):
    gs.set_default_dtype(gs.float16)
    counts = gs.arange(3)
    for made in (
        gs.ones(2),
        gs.tensor([1.5]),
        counts / 2,
        counts * 1.5,
        counts.exp(),
        gs.linspace(0, 1, 3),
        gs.rand(2),
    ):
        assert made.dtype == gs.float16
    assert gs.get_default_dtype() == gs.float16 and gs.result_type(counts, 1.5) == gs.float16
    assert gs.nn.Linear(2, 2)(gs.ones(1, 2)).dtype == gs.float16
    assert (gs.ones(2, dtype=gs.float32) * 1.5).dtype == gs.float32


def test_promotion_with_a_dtype_that_no_tensor_has():
    half, brain = gs.float16, gs.bfloat16
    for other, wanted in (
        (gs.bool, brain), (gs.int64, brain), (gs.uint8, brain), (brain, brain), (half, gs.float32),
        (gs.float32, gs.float32), (gs.float64, gs.float64), (gs.complex64, gs.complex64),
    ):  # fmt: skip
        assert gs.promote_types(brain, other) is gs.promote_types(other, brain) is wanted
    assert gs.can_cast(brain, gs.float32) and gs.can_cast(gs.int64, brain) and gs.can_cast(half, brain)
    assert not gs.can_cast(brain, gs.int64) and not gs.can_cast(gs.complex64, brain)
    with pytest.raises(TypeError, match="complex32"):
        gs.promote_types(gs.complex32, brain)
