"""Compiled functions of NumPy's arrays: arrays are arguments of their programs, and results are arrays."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func

X = np.array([0.3, -1.2, 2.1])


def energy(x, scale=1.0):
    return np.sum(np.tanh(x) ** 2) * scale


def slope(x):
    return 2 * np.tanh(x) / np.cosh(x) ** 2


@pytest.mark.parametrize("function, expected", [(energy, energy), (gs.grad(energy), slope)])
def test_arrays_come_in_and_go_out(function, expected):
    compiled = gs.compile(function)
    array = X.copy()
    for seed in range(5):
        found = compiled(array)
        assert isinstance(found, np.ndarray if np.ndim(expected(X)) else np.floating)
        np.testing.assert_allclose(found, expected(array), rtol=1e-12)
        array[:] = np.random.default_rng(seed).normal(size=3)  # a constant of the program would not change
        np.testing.assert_allclose(compiled(array), expected(array), rtol=1e-12)
        np.testing.assert_allclose(compiled(array + 1), expected(array + 1), rtol=1e-12)
    assert len(compiled.programs) == 1
    compiled(array.astype(np.float32))
    assert len(compiled.programs) == 2
    compiled.clear()
    assert not compiled.programs


def test_transforms_and_trees():
    def loss(p, rows, labels):
        return np.mean((np.tanh(rows @ p["w"] + p["b"]) - labels) ** 2)

    rows, labels = np.random.default_rng(0).normal(size=(5, 3)), np.arange(5) % 2
    compiled = gs.compile(gs.value_and_grad(loss))
    p = {"w": X.copy(), "b": np.float64(0.1)}
    for _ in range(4):
        value, gradient = compiled(p, rows, labels)
        expected, other = gs.value_and_grad(loss)(p, rows, labels)
        assert isinstance(value, np.floating) and isinstance(gradient["w"], np.ndarray)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(gradient["w"], other["w"], rtol=1e-12)
        p = {"w": p["w"] - 0.1 * gradient["w"], "b": p["b"] - 0.1 * gradient["b"]}
    assert len(compiled.programs) == 1
    mapped = gs.compile(gs.vmap(func.hessian(energy)))
    for n in (1.0, 2.0):
        np.testing.assert_allclose(mapped(n * rows), gs.vmap(func.hessian(energy))(n * rows), rtol=1e-12)


def test_methods_mean_what_they_mean_in_numpy():
    rows = np.random.default_rng(0).normal(size=(4, 3))
    compiled = gs.compile(lambda x: (x - x.mean(axis=0)) / x.std(axis=0))
    for n in (1.0, 2.0):
        np.testing.assert_allclose(compiled(n * rows), (rows - rows.mean(0)) / rows.std(0), rtol=1e-12)


def test_tensors_and_numbers_of_python_stay_what_they_are():
    compiled = gs.compile(energy)
    assert isinstance(compiled(gs.tensor(X)), gs.Tensor)
    assert isinstance(compiled(X, 2.0), np.floating)
    np.testing.assert_allclose([compiled(X, n) for n in (2.0, 3.0, 2.0)], [energy(X, n) for n in (2.0, 3.0, 2.0)])
    powers = gs.compile(lambda x, n: np.sum(x**n) if n > 1 else np.sum(x))
    np.testing.assert_allclose([powers(X, n) for n in (1, 2, 3)], [np.sum(X**n) for n in (1, 2, 3)])


def test_what_looks_at_values_is_an_error():
    compiled = gs.compile(lambda x: np.sum(x) if x[0] > 0 else np.sum(x**2))
    with pytest.raises(gs.compiler.TraceError):
        compiled(X)
    eager = gs.compile(lambda x: np.sum(x) if x[0] > 0 else np.sum(x**2), on_escape="eager")
    with pytest.warns(UserWarning, match="run as they are"):
        np.testing.assert_allclose(eager(X), np.sum(X))
    np.testing.assert_allclose(eager(-X), np.sum(X**2))


def test_static_arguments_and_explanations():
    compiled = gs.compile(lambda x, n: np.sum(x) ** n, static=["n"])
    np.testing.assert_allclose([compiled(X, 2), compiled(2 * X, 2), compiled(X, 3)], np.sum(X) ** [2, 2, 3] * [1, 4, 1])
    assert "sum" in compiled.explain(X, 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.argpartition(x, 2),
        lambda x: np.lexsort((x[0], x[1])),
        lambda x: np.spacing(x),
        lambda x: np.nanargmax(x, axis=1),
        lambda x: np.nanmedian(x, axis=0),
        lambda x: np.nanquantile(x, [0.2, 0.5], axis=1),
        lambda x: np.nanpercentile(x, 30, keepdims=True),
        lambda x: np.histogram(x, bins=4, range=(-1, 1))[0],
        lambda x: np.histogram(x, bins=3)[1],
        lambda x: np.histogram(x, bins=[-1.0, 0.0, 1.0], density=True)[0],
        lambda x: np.histogram2d(x[0], x[1], bins=3)[0],
        lambda x: np.sort_complex(x[0]),
        lambda x: np.packbits(x > 0),
    ],
)
def test_functions_without_a_derivative(function):
    compiled = gs.compile(function)
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=(3, 5))
        x[1, seed] = np.nan if "nan" in function.__code__.co_names[1] else 0.0
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-12)
    assert len(compiled.programs) == 1


def test_gradients_of_quantiles_without_nan():
    compiled = gs.compile(gs.grad(lambda x: np.sum(np.nanquantile(x, [0.25, 0.6], axis=1) ** 2)))
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(3, 5))
        x[1, seed] = np.nan
        step, found = 1e-6, compiled(x)
        for at in np.ndindex(x.shape):
            moved = [np.nanquantile(x + sign * step * (np.indices(x.shape) == np.reshape(at, (2, 1, 1))).all(0),
                                    [0.25, 0.6], axis=1) for sign in (1, -1)]  # fmt: skip
            expected = 0.0 if np.isnan(x[at]) else np.sum(moved[0] ** 2 - moved[1] ** 2) / (2 * step)
            assert found[at] == pytest.approx(expected, abs=1e-7)
    assert len(compiled.programs) == 1
