"""Transforms of functions that are written with NumPy."""

import math
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func

A = np.array([0.3, -1.2, 2.1])


def energy(x: Any) -> Any:
    return np.sum(np.tanh(x) ** 2)


def gradient_of_energy(x: Any) -> Any:
    return 2 * np.tanh(x) / np.cosh(x) ** 2


def assert_arrays(found: Any, expected: Any) -> None:
    assert isinstance(found, np.ndarray if np.ndim(expected) else np.floating)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


def test_gradients_of_arrays_are_arrays() -> None:
    assert_arrays(gs.grad(energy)(A), gradient_of_energy(A))
    value, gradient = gs.value_and_grad(energy)(A)
    assert_arrays(value, energy(A))
    assert_arrays(gradient, gradient_of_energy(A))
    assert gs.grad(energy)(A.astype(np.float32)).dtype == np.float32
    assert_arrays(func.grad_and_value(energy)(A)[0], gradient_of_energy(A))


def test_tensors_stay_tensors() -> None:
    found = gs.grad(energy)(gs.tensor(A))
    assert isinstance(found, gs.Tensor)
    np.testing.assert_allclose(found.numpy(), gradient_of_energy(A))
    both = gs.grad(lambda a, b: np.sum(a * b), argnums=(0, 1))(A, gs.tensor(A))
    assert all(isinstance(part, gs.Tensor) for part in both)


def test_numbers_give_numbers() -> None:
    assert gs.grad(np.sin)(0.5) == pytest.approx(math.cos(0.5))
    assert isinstance(gs.grad(np.sin)(0.5), float)
    assert gs.grad(gs.grad(gs.grad(np.sin)))(0.5) == pytest.approx(-math.cos(0.5))
    assert gs.grad(np.sin)(np.float32(0.5)).dtype == np.float32


@pytest.mark.parametrize("value", [3, True, np.arange(3), np.int64(3), "a", None])
def test_what_has_no_derivative_is_refused(value: Any) -> None:
    with pytest.raises((ValueError, RuntimeError), match=r"grad\(f\): .*must be a Tensor, or an array or number"):
        gs.grad(lambda x: np.sum(x))(value)


def test_trees_of_arrays() -> None:
    found = gs.grad(lambda p: np.sum(p["w"] * p["b"][0]))({"w": A, "b": [2.0]})
    assert_arrays(found["w"], np.full(3, 2.0))
    assert_arrays(found["b"][0], np.sum(A))


def test_other_arguments_stay_what_they_are() -> None:
    seen = []

    def loss(w: Any, x: Any, n: int = 2) -> Any:
        seen.append(type(x))
        return np.sum((x @ w) ** n)

    data = np.arange(6.0).reshape(2, 3)
    assert_arrays(gs.grad(loss)(A, data, n=2), 2 * data.T @ (data @ A))
    assert seen == [np.ndarray]


def test_aux() -> None:
    gradient, aux = gs.grad(lambda x: (energy(x), {"y": 2 * x, "text": "kept"}), has_aux=True)(A)
    assert_arrays(gradient, gradient_of_energy(A))
    assert_arrays(aux["y"], 2 * A)
    assert aux["text"] == "kept"


def test_a_constant_has_no_gradient() -> None:
    assert_arrays(gs.grad(lambda x: 3.0)(A), np.zeros(3))
    assert_arrays(gs.grad(lambda x: np.sum(np.ones(2)))(A), np.zeros(3))
    assert_arrays(func.jacrev(lambda x: np.ones(2))(A), np.zeros((2, 3)))


def test_jacobians_and_hessians() -> None:
    expected = np.diag(np.cos(A))
    assert_arrays(func.jacrev(np.sin)(A), expected)
    assert_arrays(func.jacfwd(np.sin)(A), expected)
    assert_arrays(func.hessian(lambda x: np.sum(np.sin(x)))(A), -np.diag(np.sin(A)))
    assert_arrays(func.jacrev(np.sin, chunk_size=2)(A), expected)
    both = func.jacrev(lambda a, b: a * b, argnums=(0, 1))(A, 2.0)
    assert_arrays(both[0], np.diag([2.0, 2.0, 2.0]))
    assert_arrays(both[1], A)


def test_products() -> None:
    value, product = func.vjp(np.sin, A)
    assert_arrays(value, np.sin(A))
    assert_arrays(product(np.ones(3))[0], np.cos(A))
    value, tangent = func.jvp(np.sin, (A,), (np.ones(3),))
    assert_arrays(tangent, np.cos(A))
    value, linear = func.linearize(np.sin, A)
    assert_arrays(linear(np.ones(3)), np.cos(A))
    assert_arrays(func.jvp(np.sin, (0.5,), (1.0,))[1], math.cos(0.5))
    value, (product_of_hessian,) = func.hvp(lambda x: np.sum(x**3), (A,), (np.ones(3),))
    assert_arrays(product_of_hessian, 6 * A)
    _, _, aux = func.vjp(lambda x: (np.sin(x), x), A, has_aux=True)
    assert_arrays(aux, A)


def test_vmap() -> None:
    rows = np.arange(6.0).reshape(2, 3)
    assert_arrays(gs.vmap(energy)(rows), np.array([energy(row) for row in rows]))
    assert_arrays(gs.vmap(gs.grad(energy))(rows), gradient_of_energy(rows))
    assert_arrays(gs.vmap(np.dot, in_dims=(0, None))(rows, A), rows @ A)
    assert_arrays(gs.vmap(lambda row: np.ones(2))(rows), np.ones((2, 2)))
    assert_arrays(gs.vmap(np.sin, chunk_size=1)(rows), np.sin(rows))
    assert isinstance(gs.vmap(np.multiply)(rows, gs.tensor(rows)), gs.Tensor)
    assert gs.vmap(lambda n: n * 2)(np.arange(3)).tolist() == [0, 2, 4]


def test_what_has_a_history_stays_a_tensor() -> None:
    w = gs.tensor([1.0, 2.0, 3.0], dtype=np.float64, requires_grad=True)
    found = gs.grad(lambda x: np.sum(x * w))(A)
    assert isinstance(found, gs.Tensor) and found.requires_grad
    nested = gs.grad(lambda y: np.sum(gs.grad(lambda x: np.sum(x**2 * y))(A)))(A)
    assert_arrays(nested, 2 * A)


@pytest.mark.parametrize(
    "lossy",
    [
        lambda x: math.sin(x[0]),
        lambda x: np.sum(np.asarray(x)),
        lambda x: np.sum(np.array([x[0], x[1]])),
        lambda x: x[0] + float(x[1]),
        lambda x: np.sum(x) + complex(x[0]).real,
        lambda x: assigned(np.zeros(2), x),
    ],
)
@pytest.mark.parametrize("transform", [gs.grad, lambda f: lambda x: func.jvp(f, (x,), (x,)), func.jacfwd])
def test_what_would_lose_the_gradient_is_an_error(lossy: Any, transform: Any) -> None:
    with pytest.raises((TypeError, RuntimeError, ValueError), match="lose its gradient|sequence|vmap"):
        transform(lossy)(A)


def assigned(array: np.ndarray, x: Any) -> Any:
    array[0] = x[0]
    return np.sum(array)


def test_constants_may_be_taken_out_where_one_says_so() -> None:
    assert_arrays(gs.grad(lambda x: np.sum(x) * x[0].item())(A), np.full(3, A[0]))
    assert_arrays(gs.grad(lambda x: np.sum(x * np.asarray(x.detach())))(A), A)
    assert_arrays(gs.grad(lambda x: np.sum(x[: int(x[2])]))(A), np.array([1.0, 1.0, 0.0]))


def test_the_argument_cannot_be_written() -> None:
    def overwriting(x: Any) -> Any:
        x[0] = 1.0
        return np.sum(x)

    with pytest.raises((RuntimeError, ValueError)):
        gs.grad(overwriting)(A)
    assert A[0] == 0.3


def test_errors_of_the_function_are_its_own() -> None:
    def broken(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError) as error:
        gs.grad(broken)(A)
    assert error.value.__context__ is None


def test_vectors_of_products_within_a_function_of_arrays_may_be_arrays() -> None:
    ones = np.ones(3)

    def slope(x: Any) -> Any:
        return func.jvp(energy, (x,), (ones,))[1]

    def pulled(x: Any) -> Any:
        return np.sum(func.vjp(np.tanh, x)[1](ones)[0])

    def linear(x: Any) -> Any:
        return func.linearize(energy, x)[1](ones)

    h = 1e-5
    for function, value in (
        (slope, lambda x: gradient_of_energy(x).sum()),
        (linear, lambda x: gradient_of_energy(x).sum()),
        (pulled, lambda x: np.sum(1 / np.cosh(x) ** 2)),
    ):
        expected = [(value(A + h * e) - value(A - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(gs.grad(function)(A), expected, rtol=1e-7, atol=1e-9)
    second = func.jvp(slope, (A,), (ones,))[1]

    def value(s):
        return gradient_of_energy(A + s).sum()

    np.testing.assert_allclose(second, (value(h) - value(-h)) / (2 * h), rtol=1e-7)
    with pytest.raises(RuntimeError, match="Expected tangents to only contain Tensors"):
        func.jvp(lambda x: x.sum(), (gs.ones(3),), (np.ones(3),))


@pytest.mark.parametrize("make", [np.array, lambda x: gs.tensor(x, dtype=np.float64)], ids=["arrays", "tensors"])
def test_none_in_trees_stays_none(make: Any) -> None:
    tree = {"w": make([1.0, 2.0]), "b": None, "more": [make([3.0]), (None,)]}

    def loss(p: Any) -> Any:
        assert p["b"] is None and p["more"][1] == (None,)
        return (p["w"] ** 2).sum() * p["more"][0].sum()

    def check(found: Any) -> None:
        assert found["b"] is None and found["more"][1] == (None,)
        assert found["w"].tolist() == [6.0, 12.0] and found["more"][0].tolist() == [5.0]

    for transform in (gs.grad, func.jacrev, func.jacfwd, lambda f: lambda p: gs.value_and_grad(f)(p)[1]):
        check(transform(loss)(tree))
    check(func.vjp(loss, tree)[1](make(1.0))[0])
    assert func.hessian(loss)(tree)["w"]["more"][0].tolist() == [[2.0], [4.0]]
    for _, product in (func.jvp(loss, (tree,), (tree,)), (None, func.linearize(loss, tree)[1](tree))):
        assert float(product) == 45.0
    with pytest.raises(RuntimeError, match=r"tangents\[0\]\['b'\] is a .* where a NoneType is expected"):
        func.jvp(loss, (tree,), ({**tree, "b": make([1.0])},))
    both = gs.grad(lambda w, b: (w**2).sum(), argnums=(0, 1))(make([1.0]), None)
    assert both[0].tolist() == [2.0] and both[1] is None


def test_none_in_trees_of_a_vmap() -> None:
    gradient = gs.grad(lambda p: np.sum(p["w"] ** 2))
    rows = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "b": None}
    for options in ({}, {"in_dims": ({"w": 0, "b": None},)}, {"chunk_size": 1}):
        found = gs.vmap(gradient, **options)(rows)
        assert found["b"] is None and found["w"].tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_the_error_names_the_leaf_that_has_no_derivative() -> None:
    with pytest.raises(ValueError, match=r"args\[0\]\['b'\] must be .* got str"):
        gs.grad(lambda p: p["w"].sum())({"w": np.ones(2), "b": "x"})


MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]])
OF_TWO_DTYPES = {
    "a complex matrix": lambda x: np.sum(np.abs(x @ (x * 1j))),
    "a complex vector": lambda x: np.sum(np.abs(x @ (x[0] * 1j))),
    "a constant": lambda x: np.sum(np.abs((MATRIX + 1j) @ x) ** 2 + np.abs(x @ (MATRIX - 2j))),
    "integers": lambda x: np.sum((x @ np.arange(4).reshape(2, 2)) ** 2 + np.arange(4).reshape(2, 2) @ x),
    "truths": lambda x: np.sum(x @ (MATRIX > 2.5)),
    "lists": lambda x: np.sum(([[1, 2], [3, 5]] @ x) @ [1, 2]),
    "interpolation": lambda x: np.abs(np.interp(0.3, [0.0, 1.0], x[0] + 1j * x[1])),
}


@pytest.mark.parametrize("name", OF_TWO_DTYPES)
def test_dtypes_are_promoted_as_in_numpy(name: str) -> None:
    function, h = OF_TWO_DTYPES[name], 1e-6
    directions = np.eye(4).reshape(4, 2, 2)
    expected = [(function(MATRIX + h * d) - function(MATRIX - h * d)) / (2 * h) for d in directions]
    np.testing.assert_allclose(gs.grad(function)(MATRIX).ravel(), expected, rtol=1e-6, atol=1e-8)


def test_products_of_tensors_are_of_one_dtype() -> None:
    with pytest.raises(RuntimeError, match="same dtype"):
        gs.ones(2, 2) @ gs.ones(2, 2, dtype=np.float64)
    with pytest.raises(RuntimeError, match="same dtype"):
        gs.grad(lambda x: (x @ x.double()).sum())(gs.ones(2, 2))
    narrow = MATRIX.astype(np.float32)
    assert gs.grad(lambda x: np.sum(x @ MATRIX))(narrow).dtype == np.float32
