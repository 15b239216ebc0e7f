"""Programs as they are written with NumPy alone, differentiated as they stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func

R = np.random.default_rng(3)


def assert_gradient(f: Callable[[Any], Any], x: np.ndarray) -> None:
    """The gradient against differences, and forward mode against the gradient."""
    found = gs.grad(f)(x)
    assert type(found) is np.ndarray and found.shape == x.shape
    direction = R.normal(size=x.shape)
    expected = (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6
    assert np.sum(found * direction) == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert func.jvp(f, (x,), (direction,))[1] == pytest.approx(np.sum(found * direction))


def logsumexp(a: Any, axis: int) -> Any:
    top = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.sum(np.exp(a - top), axis=axis))


def test_logistic_regression() -> None:
    X, y = R.normal(size=(20, 3)), R.integers(0, 2, 20)

    def loss(w: Any) -> Any:
        p = 1 / (1 + np.exp(-(X @ w[:3] + w[3])))
        return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))

    assert_gradient(loss, R.normal(size=4))
    w = np.zeros(4)
    for _ in range(50):
        w -= 0.5 * gs.grad(loss)(w)
    assert type(w) is np.ndarray
    assert loss(w) < loss(np.zeros(4))


def test_rosenbrock_by_newtons_method() -> None:
    def rosenbrock(x: Any) -> Any:
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)

    x = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
    assert_gradient(rosenbrock, x)
    for _ in range(30):
        x = x - np.linalg.solve(func.hessian(rosenbrock)(x), gs.grad(rosenbrock)(x))
    np.testing.assert_allclose(x, np.ones(5))


def test_recurrent_network_by_hand() -> None:
    inputs, target = R.normal(size=(6, 2)), R.normal(size=3)
    shapes = {"W": (3, 3), "U": (3, 2), "b": (3,)}

    def loss(flat: Any) -> Any:
        W, U, b = (part.reshape(shape) for part, shape in zip(np.split(flat, [9, 15]), shapes.values()))
        h = np.zeros(3)
        for x in inputs:
            h = np.tanh(np.dot(W, h) + U @ x + b)
        return np.linalg.norm(h - target) ** 2

    assert_gradient(loss, 0.5 * R.normal(size=18))


def test_likelihood_of_a_mixture_of_gaussians() -> None:
    data = R.normal(size=(15, 2))

    def likelihood(p: Any) -> Any:
        logits, means, scales = p[:3], np.reshape(p[3:9], (3, 2)), np.exp(p[9:])
        weights = logits - logsumexp(logits, 0)
        distances = np.sum((data[:, None, :] - means) ** 2, axis=-1)
        log_densities = -0.5 * distances / scales**2 - 2 * np.log(scales) - np.log(2 * np.pi)
        return np.sum(logsumexp(log_densities + weights, axis=1))

    assert_gradient(likelihood, R.normal(size=12))


def test_likelihood_of_a_gaussian_process() -> None:
    x = np.linspace(0, 3, 8)
    y = np.sin(x)

    def loss(p: Any) -> Any:
        length, noise = np.exp(p)
        K = np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / length**2) + noise * np.eye(8)
        L = np.linalg.cholesky(K)
        alpha = np.linalg.solve(L, y)
        return 0.5 * np.dot(alpha, alpha) + np.sum(np.log(np.diag(L)))

    assert_gradient(loss, np.array([0.1, -1.0]))


def test_signal_by_its_spectrum() -> None:
    target = R.normal(size=16)

    def loss(signal: Any) -> Any:
        spectrum = np.fft.rfft(signal - target)
        return np.sum(np.abs(spectrum) ** 2 * np.arange(9.0)) + np.mean(np.convolve(signal, [1.0, -1.0], "valid") ** 2)

    assert_gradient(loss, R.normal(size=16))


def test_ordinary_differential_equation() -> None:
    def flow(state: Any, p: Any) -> Any:
        prey, predators = state
        return np.stack([p[0] * prey - p[1] * prey * predators, p[2] * prey * predators - p[3] * predators])

    def loss(p: Any) -> Any:
        state = np.array([1.0, 0.5])
        for _ in range(20):
            k1 = flow(state, p)
            k2 = flow(state + 0.05 * k1, p)
            state = state + 0.1 * k2
        return np.sum(state**2)

    assert_gradient(loss, np.array([1.1, 0.4, 0.3, 0.9]))


def test_network_with_a_tree_of_parameters() -> None:
    images, labels = R.normal(size=(10, 4)), R.integers(0, 3, 10)
    layers = [(0.5 * R.normal(size=(4, 5)), np.zeros(5)), (0.5 * R.normal(size=(5, 3)), np.zeros(3))]

    def loss(parameters: Any) -> Any:
        hidden = images
        for weight, bias in parameters:
            outputs = hidden @ weight + bias
            hidden = np.where(outputs > 0, outputs, 0.1 * outputs)
        log_p = outputs - logsumexp(outputs, 1)[:, None]
        return -np.mean(log_p[np.arange(10), labels])

    before = loss(layers)
    for _ in range(30):
        gradients = gs.grad(loss)(layers)
        layers = [(w - 0.3 * dw, b - 0.3 * db) for (w, b), (dw, db) in zip(layers, gradients)]
    assert all(type(part) is np.ndarray for layer in layers for part in layer)
    assert loss(layers) < 0.7 * before


def test_gradients_of_single_examples() -> None:
    X, y = R.normal(size=(6, 3)), R.normal(size=6)
    w = R.normal(size=3)

    def loss(w: Any, x: Any, y: Any) -> Any:
        return (np.dot(x, w) - y) ** 2

    found = gs.vmap(gs.grad(loss), in_dims=(None, 0, 0))(w, X, y)
    np.testing.assert_allclose(found, 2 * (X @ w - y)[:, None] * X)


def test_polynomials_lose_zeros_ahead_and_differences_are_taken_in_the_common_dtype():
    zeros_ahead, other = np.array([0.0, 0.0, 2.0, 1.0]), np.array([3.0, 1.0])
    found = np.polymul(gs.tensor(zeros_ahead), other)
    np.testing.assert_array_equal(found.numpy(), np.polymul(zeros_ahead, other))
    assert gs.func.vmap(lambda p: np.polymul(p, other))(gs.tensor(zeros_ahead)[None]).tolist() == [
        [0.0, 0.0, 6.0, 5.0, 1.0]
    ]
    assert np.polysub(gs.tensor([1.0, 2.0]), gs.tensor([3], dtype=gs.uint8)).tolist() == [1.0, -1.0]


# ---- arrays that are filled step by step


def running(x: Any) -> Any:
    out = np.zeros_like(x)
    out[0] = x[0]
    for n in range(1, len(x)):
        out[n] = out[n - 1] * 0.5 + x[n] ** 2
    return out


def made_like(x: Any) -> Any:
    out = np.full_like(x, 2.0) * np.ones_like(x)
    out[1:3] = x[:2] ** 2
    np.copyto(out, x**3, where=np.array([False, False, False, True]))
    np.add.at(out, [0, 0], x[:2])
    return out


def of_a_list(x: Any) -> Any:
    out = np.zeros_like(x)
    out[:] = [x[0] ** 2, 2.0, x[1] * x[2], 7]
    return out


def of_bytes(x: Any) -> Any:
    return x[np.array([0, 1, 1, 0], np.uint8)] ** 2 + x[np.array([3], np.uint8)]


def written_twice(x: Any) -> Any:
    """Of values at one place the last one stays, and has the gradient."""
    out = x * 2.0
    out[[0, -4, 1]] = x[1:] ** 2
    grid = np.outer(x, x)
    grid[[0, 1, 0], [1, 2, 1]] = x[:3] ** 2
    grid[:, [3, 3]] = np.stack([x, x * 5.0], 1)
    grid[..., [2, 2], :][:] = 0.0
    return out + grid.sum(axis=0)


FILLED = [running, made_like, of_a_list, of_bytes, written_twice]


@pytest.mark.parametrize("function", FILLED)
def test_gradients_of_what_is_filled(function: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(3, 4))
    weights, h = np.array([1.0, -2.0, 0.5, 3.0]), 1e-6

    def loss(x: Any) -> Any:
        return np.sum(function(x) * weights)

    expected = [[(loss(row + h * e) - loss(row - h * e)) / (2 * h) for e in np.eye(4)] for row in rows]
    for n in range(3):
        np.testing.assert_allclose(gs.grad(loss)(rows[n]), expected[n], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(gs.vmap(gs.grad(loss))(rows), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(gs.vmap(gs.func.jacfwd(loss))(rows), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(gs.vmap(function)(rows), [function(row) for row in rows], rtol=1e-12)


def test_bytes_are_numbers_in_functions_of_arrays_and_masks_beside_tensors() -> None:
    x, labels = np.array([2.0, 3.0]), np.array([0, 1], np.uint8)
    np.testing.assert_allclose(gs.grad(lambda x: np.sum(x[labels] ** 2))(x), [4.0, 6.0])
    compiled = gs.compile(gs.grad(lambda x, labels: np.sum(x[labels] ** 2)))
    for _ in range(2):
        np.testing.assert_allclose(compiled(x, labels), [4.0, 6.0])
    with pytest.warns(UserWarning, match="uint8"):
        assert gs.tensor(x)[gs.tensor(labels)].tolist() == [3.0]
