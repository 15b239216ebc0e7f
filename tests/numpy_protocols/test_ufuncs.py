"""Ufuncs of NumPy and SciPy, and their methods and options, against NumPy on arrays."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.numpy_protocols.ufuncs import WITHOUT_OP

UFUNCS = {name: found for name in dir(np) if isinstance(found := getattr(np, name), np.ufunc)}
INTEGERS = {
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "invert",
    "gcd",
    "lcm",
    "bitwise_count",
}
STEPS = {
    "ceil", "floor", "trunc", "rint", "sign", "floor_divide", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "isfinite", "isinf", "isnan", "logical_and", "logical_or", "logical_xor", "logical_not", "signbit",
    "heaviside", "nextafter", "frexp", "divmod", "modf", "remainder", "fmod",
}  # fmt: skip


def operands(name: str) -> tuple[np.ndarray, ...]:
    ufunc = UFUNCS[name]
    name = ufunc.__name__
    r = np.random.default_rng(5)
    if name in INTEGERS:
        return (np.array([5, 12, 7, 3]), np.array([3, 2, 1, 4]))[: ufunc.nin]
    if name in ("matmul", "vecdot", "matvec", "vecmat"):
        shapes = {
            "matmul": [(3, 3), (3, 2)],
            "vecdot": [(3,), (3,)],
            "matvec": [(2, 3), (3,)],
            "vecmat": [(3,), (3, 2)],
        }
        return tuple(r.normal(size=shape) for shape in shapes[name])
    first = np.array([0.21, 0.64, 0.93, 0.35]) + (1.2 if name == "arccosh" else 0)
    if name == "ldexp":
        return first, np.array([1, -2, 3, 0])
    return (first, np.array([[1.3, 0.44, 0.72, 0.38], [0.2, 2.1, 0.5, 1.6]]))[: ufunc.nin]


def as_array(value: Any) -> Any:
    return value.detach().numpy() if isinstance(value, gs.Tensor) else np.asarray(value)


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_same(one, other)
        return
    assert isinstance(found, gs.Tensor)
    assert as_array(found).dtype == np.asarray(expected).dtype or as_array(found).dtype.kind in "iu"
    np.testing.assert_allclose(as_array(found), expected, rtol=1e-10)


@pytest.mark.parametrize("name", sorted(set(UFUNCS) - set(WITHOUT_OP)))
def test_values_are_those_of_numpy(name: str) -> None:
    given = operands(name)
    assert_same(UFUNCS[name](*map(gs.tensor, given)), UFUNCS[name](*given))


@pytest.mark.parametrize("name", sorted(n for n in set(UFUNCS) - set(WITHOUT_OP) if UFUNCS[n].nin == 2))
@pytest.mark.parametrize("place", [0, 1])
def test_arrays_may_stand_at_either_side(name: str, place: int) -> None:
    given = list(operands(name))
    expected = UFUNCS[name](*given)
    given[place] = gs.tensor(given[place])
    assert_same(UFUNCS[name](*given), expected)


@pytest.mark.parametrize("name", sorted(set(UFUNCS) - set(WITHOUT_OP) - STEPS - INTEGERS))
@pytest.mark.parametrize("place", [0, 1])
def test_gradients_are_differences(name: str, place: int) -> None:
    if UFUNCS[name].__name__ in STEPS | INTEGERS | set(WITHOUT_OP) or place >= UFUNCS[name].nin:
        return
    given: list[Any] = list(operands(name))
    if given[place].dtype.kind != "f":
        return
    x = gs.tensor(given[place], requires_grad=True)
    result = UFUNCS[name](*given[:place], x, *given[place + 1 :])
    weights = np.cos(np.arange(as_array(result).size)).reshape(as_array(result).shape)
    (found,) = gs.autograd.grad((result * weights).sum(), x)
    direction = np.sin(1 + np.arange(given[place].size)).reshape(given[place].shape)

    def value(step: float) -> float:
        moved = [*given[:place], given[place] + step * direction, *given[place + 1 :]]
        return float((UFUNCS[name](*moved) * weights).sum())

    expected = (value(1e-6) - value(-1e-6)) / 2e-6
    assert float((found.numpy() * direction).sum()) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", WITHOUT_OP)
def test_what_has_no_op_is_an_error_that_names_it(name: str) -> None:
    if name not in UFUNCS:
        return
    with pytest.raises(TypeError, match=rf"np\.{name}\(\) of tensors: there is no op for it"):
        UFUNCS[name](gs.tensor([1.0], requires_grad=True))


# ---- methods

REDUCED = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logaddexp", "subtract", "hypot")
KEYWORDS: tuple[dict[str, Any], ...] = ({}, {"axis": 1}, {"axis": -1, "keepdims": True})


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("kwargs", KEYWORDS)
def test_reduce(name: str, kwargs: dict[str, Any]) -> None:
    a = np.linspace(0.5, 1.7, 12).reshape(3, 4)
    np.testing.assert_allclose(as_array(UFUNCS[name].reduce(gs.tensor(a), **kwargs)), UFUNCS[name].reduce(a, **kwargs))


@pytest.mark.parametrize("axis", [None, (0, 1), (), 0])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum"])
def test_reduce_over_several_axes(name: str, axis: Any) -> None:
    a = np.linspace(0.5, 1.7, 12).reshape(3, 4)
    expected = UFUNCS[name].reduce(a, axis=axis)
    np.testing.assert_allclose(as_array(UFUNCS[name].reduce(gs.tensor(a), axis=axis)), expected)


def test_reduce_with_initial_and_where() -> None:
    a = np.linspace(-0.5, 1.7, 12).reshape(3, 4)
    t = gs.tensor(a)
    for kwargs in ({"initial": 2.0}, {"where": a > 0}, {"where": a > 0, "initial": 3.0, "axis": 1}):
        np.testing.assert_allclose(as_array(np.add.reduce(t, **kwargs)), np.add.reduce(a, **kwargs))
    expected = np.maximum.reduce(a, where=a > 0, initial=-1.0)
    np.testing.assert_allclose(as_array(np.maximum.reduce(t, where=a > 0, initial=-1.0)), expected)
    with pytest.raises(ValueError, match="no identity"):
        np.maximum.reduce(t, where=a > 0)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logaddexp", "subtract", "hypot"])
@pytest.mark.parametrize("axis", [0, 1])
def test_accumulate(name: str, axis: int) -> None:
    a = np.linspace(0.5, 1.7, 12).reshape(3, 4)[:, ::-1]
    found = UFUNCS[name].accumulate(gs.tensor(a), axis)
    np.testing.assert_allclose(as_array(found), UFUNCS[name].accumulate(a, axis))


@pytest.mark.parametrize("name", ["add", "multiply", "maximum"])
def test_reduceat(name: str) -> None:
    a = np.linspace(0.5, 1.7, 16).reshape(2, 8)
    for indices, axis in (([0, 3, 5], 1), ([0, 4, 1], 1), ([1], 0)):
        found = UFUNCS[name].reduceat(gs.tensor(a), indices, axis)
        np.testing.assert_allclose(as_array(found), UFUNCS[name].reduceat(a, indices, axis))
    with pytest.raises(IndexError, match="out-of-bounds"):
        UFUNCS[name].reduceat(gs.tensor(a), [9], 1)


@pytest.mark.parametrize("name", ["multiply", "add", "maximum", "arctan2", "equal"])
def test_outer(name: str) -> None:
    a, b = np.linspace(0.5, 1.7, 3), np.linspace(0.2, 1.7, 4).reshape(2, 2)
    for first, second in ((gs.tensor(a), gs.tensor(b)), (a, gs.tensor(b)), (gs.tensor(a), b)):
        np.testing.assert_allclose(as_array(UFUNCS[name].outer(first, second)), UFUNCS[name].outer(a, b))


def test_at_adds_as_often_as_a_place_is_named() -> None:
    a, places, values = np.zeros(4), np.array([1, 1, 3]), np.array([2.0, 3.0, 5.0])
    x = gs.tensor(values, requires_grad=True)
    t = gs.zeros(4, dtype=np.float64) + 0 * x.sum()
    np.add.at(a, places, values)
    np.add.at(t, places, x)
    np.testing.assert_array_equal(t.detach().numpy(), a)
    (t * np.arange(4.0)).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1.0, 1.0, 3.0])


def test_other_ufuncs_at_places_that_are_named_once() -> None:
    t = gs.tensor([1.0, 4.0, 9.0])
    np.sqrt.at(t, [0, 2])
    np.multiply.at(t, (np.array([1]),), 3.0)
    np.subtract.at(t, slice(0, 2), 1.0)
    assert t.tolist() == [0.0, 11.0, 3.0]
    with pytest.raises(TypeError, match=r"np\.multiply\.at\(\) of tensors with an index that comes twice"):
        np.multiply.at(t, [0, 0], 2.0)


def test_at_of_an_array_takes_constants_alone() -> None:
    a, x = np.zeros(3), gs.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"np\.add\.at\(\): the result has a gradient"):
        np.add.at(a, [0, 1], x)
    assert a.tolist() == [0, 0, 0]
    np.add.at(a, [0, 1], x.detach())
    assert a.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    "function",
    [np.add.reduce, np.multiply.reduce, np.maximum.reduce, np.subtract.reduce, np.add.accumulate, np.hypot.accumulate],
)
def test_gradients_of_methods(function: Callable[..., Any]) -> None:
    a = np.array([0.7, 1.9, 0.4])
    x = gs.tensor(a, requires_grad=True)
    (found,) = gs.autograd.grad(np.sum(function(x) ** 2), x)
    for n in range(3):
        step = np.zeros(3)
        step[n] = 1e-6
        expected = (np.sum(function(a + step) ** 2) - np.sum(function(a - step) ** 2)) / 2e-6
        assert found[n].item() == pytest.approx(expected, rel=1e-6)


# ---- options


def test_out_of_a_tensor_takes_over_the_history() -> None:
    x = gs.tensor([0.0, 1.0], requires_grad=True)
    out = gs.zeros(2)
    assert np.exp(x, out=out) is out
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([0.0, 1.0]), rtol=1e-6)


def test_out_of_an_array_takes_constants_alone() -> None:
    x = gs.tensor([0.0, 1.0], requires_grad=True)
    out = np.full(2, 7.0)
    with pytest.raises(RuntimeError, match=r"np\.exp\(\): the result has a gradient, which an ndarray cannot keep"):
        np.exp(x, out=out)
    assert out.tolist() == [7.0, 7.0]
    assert np.exp(x.detach(), out=out) is out
    np.testing.assert_allclose(out, np.exp([0.0, 1.0]), rtol=1e-6)
    assert np.sum(x.detach(), out=np.zeros(())) == 1


def test_an_array_that_is_changed_in_place_takes_constants_alone() -> None:
    a, x = np.ones(2), gs.tensor([2.0, 3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="leave the result a new tensor"):
        a += x
    assert isinstance(a, np.ndarray) and a.tolist() == [1, 1]
    a *= x.detach()
    assert isinstance(a, np.ndarray) and a.tolist() == [2, 3]
    with pytest.raises(TypeError, match="cannot cast the result from float32 to the int64 of out="):
        np.add(x.detach(), 1, out=np.zeros(2, int))
    with pytest.raises(ValueError, match=r"out has shape \[3\], but the result \[2\]"):
        np.add(x.detach(), 1, out=np.zeros(3))


def test_where_computes_the_chosen_elements_alone() -> None:
    a = np.array([0.0, 1.0, 4.0])
    x = gs.tensor(a, requires_grad=True)
    out = gs.tensor([7.0, 7.0, 7.0], dtype=np.float64)
    found = np.log(x, where=a > 0, out=out)
    np.testing.assert_allclose(found.detach().numpy(), [7.0, 0.0, np.log(4)])
    (gradient,) = gs.autograd.grad(found.sum(), x)
    assert gradient.tolist() == [0.0, 1.0, 0.25]
    assert np.log(x, where=a > 0).tolist() == pytest.approx([0.0, 0.0, np.log(4)])
    constants = np.full(3, 7.0)
    np.log(x.detach(), where=gs.tensor(a > 0), out=constants)
    np.testing.assert_allclose(constants, [7.0, 0.0, np.log(4)])


def test_dtype_is_that_of_the_computation() -> None:
    x = gs.tensor([1, 2], dtype=np.int32)
    assert np.add(x, 1, dtype=np.float64).dtype == np.float64
    assert np.multiply.reduce(x, dtype=np.float32).dtype == np.float32
    assert np.sum(x, dtype=np.float32).dtype == np.float32
    assert np.exp(gs.tensor([1.0]), signature="d->d").dtype == np.float64
    with pytest.raises(TypeError, match="Cannot cast"):
        np.exp(gs.tensor([1.0]), dtype=np.float16, casting="safe")


def test_numpy_numbers_are_numbers() -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    for result in (
        np.float64(2) * x,
        x * np.float64(2),
        np.multiply(np.float32(2), x),
        x * np.int64(2),
        np.int8(2) * x,
    ):
        assert result.dtype == np.float32 and result.requires_grad
        assert result.tolist() == [2, 4]
    assert (np.float64(1) - x).tolist() == [0, -1]
    assert (np.float64(2) ** x).tolist() == [2, 4]
    assert (np.float64(2) > x).tolist() == [True, False]


def test_another_class_with_ufuncs_of_its_own_is_asked() -> None:
    class Other:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> str:
            return f"mine: {ufunc.__name__}"

    assert np.add(gs.tensor([1.0]), Other()) == "mine: add"


# ---- SciPy


def test_ufuncs_of_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    points = {
        1: [np.array([0.31, 0.62, 0.87])], 2: [np.array([0.4, 1.2, 2.1]), np.array([0.31, 0.62, 0.87])],
        3: [np.array([0.4, 1.2]), np.array([1.3, 0.8]), np.array([0.31, 0.62])],
    }  # fmt: skip
    integers = {"expn", "kn", "yn", "jn"}
    for name in dir(special):
        ufunc = getattr(special, name)
        if not isinstance(ufunc, np.ufunc) or not hasattr(gs.special, name) or ufunc.nin > 3 or name == "hyp2f1":
            continue
        given: list[Any] = [2, points[1][0]] if name in integers else points[ufunc.nin]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = ufunc(*given)
            found = ufunc(*(gs.tensor(value) if isinstance(value, np.ndarray) else value for value in given))
        for one, other in zip(*((found, expected) if isinstance(expected, tuple) else ((found,), (expected,)))):
            np.testing.assert_allclose(as_array(one), other, rtol=1e-6, err_msg=name)


def test_ufuncs_of_scipy_have_gradients() -> None:
    special = pytest.importorskip("scipy.special")
    x = gs.tensor([0.3, 1.7], dtype=np.float64, requires_grad=True)
    special.gammaln(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), special.psi(x.detach().numpy()))
    with pytest.raises(TypeError, match=r"there is no op for it"):
        special.struve(1.0, x)
