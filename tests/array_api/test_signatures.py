"""Every name of the standard is there, with its parameters."""

import inspect
import operator
from pathlib import Path

import pytest

import gradsmith as gs
import gradsmith.array_api as xp

LINES = (Path(__file__).parent / "standard.txt").read_text(encoding="utf-8").splitlines()
CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64",
    "complex128",
]  # fmt: skip
MEMBERS = [
    "__abs__", "__add__", "__and__", "__array_namespace__", "__bool__", "__complex__", "__dlpack__",
    "__dlpack_device__", "__eq__", "__float__", "__floordiv__", "__ge__", "__getitem__", "__gt__", "__index__",
    "__int__", "__invert__", "__le__", "__lshift__", "__lt__", "__matmul__", "__mod__", "__mul__", "__ne__", "__neg__",
    "__or__", "__pos__", "__pow__", "__rshift__", "__setitem__", "__sub__", "__truediv__", "__xor__", "T", "device",
    "dtype", "mT", "ndim", "shape", "size", "to_device",
]  # fmt: skip


def parameters_of(signature):
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


def declared(line):
    """(name, signature) of a line such as ``add(x1, x2, /)``."""
    name, _, text = line.partition("(")
    scope = {"inf": float("inf")}
    exec(f"def function({text}: pass", scope)
    return name, inspect.signature(scope["function"])


@pytest.mark.parametrize("line", LINES)
def test_function(line):
    name, expected = declared(line)
    function = operator.attrgetter(name)(xp)
    found = {p[0]: p for p in parameters_of(inspect.signature(function))}
    assert list(found) == [p[0] for p in parameters_of(expected)]
    for parameter, kind, default in parameters_of(expected):
        either = inspect.Parameter.POSITIONAL_OR_KEYWORD  # takes more than the standard asks for
        assert found[parameter][1] in (kind, either)
        assert found[parameter][2] == default
    assert function.__doc__


def test_the_list_is_long():
    assert len(LINES) == 171


def test_no_name_is_missing_in_all():
    names = {declared(line)[0] for line in LINES}
    assert {name for name in names if "." not in name} <= set(xp.__all__)
    assert {name.removeprefix("linalg.") for name in names if name.startswith("linalg.")} == set(xp.linalg.__all__)
    assert {name.removeprefix("fft.") for name in names if name.startswith("fft.")} == set(xp.fft.__all__)


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name):
    assert getattr(xp, name) is getattr(gs, name)


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name):
    assert getattr(xp, name) == getattr(gs, name)
    assert xp.zeros(2, dtype=getattr(xp, name)).dtype == getattr(xp, name)


@pytest.mark.parametrize("name", MEMBERS)
def test_members_of_tensors(name):
    assert hasattr(gs.ones(2, 2), name)


def test_the_namespace_of_a_tensor():
    x = gs.ones(2)
    assert x.__array_namespace__() is xp
    for version in ("2021.12", "2022.12", "2023.12", "2024.12"):
        assert x.__array_namespace__(api_version=version) is xp
    assert xp.__array_api_version__ == "2024.12"
    for version in ("2020.12", "", 3):
        with pytest.raises(ValueError, match="is not followed; these are: 2021.12, .*2024.12"):
            x.__array_namespace__(api_version=version)
    with pytest.raises(TypeError):
        x.__array_namespace__("2024.12")


def test_what_the_namespace_says_of_itself():
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_device() == gs.ones(2).device
    assert info.devices() == [gs.device("cpu")]
    assert list(info.dtypes()) == DTYPES
    assert list(info.dtypes(kind="real floating")) == ["float32", "float64"]
    assert list(info.dtypes(kind=("bool", "complex floating"))) == ["bool", "complex64", "complex128"]
    assert info.default_dtypes() == {
        "real floating": gs.float32, "complex floating": gs.complex64, "integral": gs.int64, "indexing": gs.int64
    }  # fmt: skip
    gs.set_default_dtype(gs.float64)
    try:
        assert info.default_dtypes()["complex floating"] == gs.complex128
        assert xp.asarray(1.0).dtype == gs.float64
    finally:
        gs.set_default_dtype(gs.float32)
    assert xp.ones((1,) * 64).ndim == 64


def test_to_device():
    x = gs.ones(2, requires_grad=True)
    assert x.to_device(x.device) is x
    assert x.to_device("meta").is_meta
    with pytest.raises(ValueError, match="stream must be None"):
        x.to_device("cpu", stream=1)


def test_in_place_operators():
    x = xp.asarray([5, 7])
    y = x
    for change in (
        operator.iadd, operator.isub, operator.imul, operator.ifloordiv, operator.imod, operator.ipow, operator.iand,
        operator.ior, operator.ixor, operator.ilshift, operator.irshift,
    ):  # fmt: skip
        expected = change(x.numpy().copy(), 3)
        x = change(x, 3)
        assert x is y and x.tolist() == expected.tolist()
    z = w = xp.asarray([3.0, 4.0])
    z /= 2
    assert z is w and z.tolist() == [1.5, 2.0]
    m = xp.eye(2)
    m @= 2 * xp.eye(2)
    assert m.tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_numbers_of_tensors():
    assert (int(xp.asarray(3)), float(xp.asarray(2.5)), complex(xp.asarray(1 + 2j))) == (3, 2.5, 1 + 2j)
    assert bool(xp.asarray(True)) and [0, 1, 2][xp.asarray(1)] == 1
    with pytest.raises(TypeError, match="only integer tensors"):
        operator.index(xp.asarray(1.0))


@pytest.mark.parametrize("name", [m for m in MEMBERS if m.startswith("__") and hasattr(operator, m)])
def test_operators_can_be_inspected(name):
    parameters = parameters_of(inspect.signature(getattr(gs.Tensor, name)))
    assert parameters[0][0] == "self"
    assert getattr(gs.Tensor, name).__doc__
