"""Names of dtypes, what is accepted as one, promotion, the default dtype."""

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
    with pytest.raises(TypeError, match="as the default type: float32 or float64, got int32"):
        gs.set_default_dtype(gs.int32)
    assert gs.get_default_dtype() == gs.float32


def test_kind_of_a_tensor_or_dtype():
    assert gs.is_floating_point(gs.ones(2)) and gs.is_floating_point(gs.float16)
    assert gs.is_complex(gs.tensor(1j)) and not gs.is_complex("float32")


def test_limits():
    assert gs.finfo(gs.float32).eps == np.finfo(np.float32).eps
    assert gs.iinfo(gs.int16).max == 32767
