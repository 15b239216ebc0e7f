"""Gradient descent as functions of a gradient: `sgd`, `rmsprop`, `adam`.

``grad(x, i)`` gives the gradient at `x`, an array or a tree of arrays, in iteration `i`; ``callback(x, i, g)`` is
called in each. The steps themselves can be differentiated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradsmith.compat.hips import numpy as np
from gradsmith.compat.hips.misc.flatten import flatten

__all__ = ["adam", "rmsprop", "sgd", "unflatten_optimizer"]

Update = Callable[[Any, Any, int], tuple[Any, Any]]  # of gradient, state and iteration: the step and the next state


def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """An optimizer of vectors as one of trees."""

    @functools.wraps(optimize)
    def of_trees(grad: Any, x0: Any, callback: Any = None, *args: Any, **kwargs: Any) -> Any:
        vector, unflatten = flatten(x0)

        def slope(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def report(x: Any, i: int, g: Any) -> None:
            callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(slope, vector, report if callback else None, *args, **kwargs))

    return of_trees


def _descended(grad: Any, x: Any, callback: Any, num_iters: int, state: Any, update: Update) -> Any:
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        step, state = update(g, state, i)
        x = x + step
    return x


@unflatten_optimizer
def sgd(grad: Any, x: Any, callback: Any = None, num_iters: int = 200, step_size: Any = 0.1, mass: Any = 0.9) -> Any:
    """Descent with momentum: the velocity is a running mean of the gradients."""

    def update(g: Any, velocity: Any, i: int) -> tuple[Any, Any]:
        velocity = mass * velocity - (1.0 - mass) * g
        return step_size * velocity, velocity

    return _descended(grad, x, callback, num_iters, np.zeros(len(x)), update)


@unflatten_optimizer
def rmsprop(
    grad: Any, x: Any, callback: Any = None, num_iters: int = 100, step_size: Any = 0.1, gamma: Any = 0.9,
    eps: float = 10**-8,
) -> Any:  # fmt: skip
    """Steps along the gradient divided by the root of a running mean of its squares."""

    def update(g: Any, squares: Any, i: int) -> tuple[Any, Any]:
        squares = gamma * squares + (1 - gamma) * g**2
        return -step_size * g / (np.sqrt(squares) + eps), squares

    return _descended(grad, x, callback, num_iters, np.ones(len(x)), update)


@unflatten_optimizer
def adam(
    grad: Any, x: Any, callback: Any = None, num_iters: int = 100, step_size: Any = 0.001, b1: Any = 0.9,
    b2: Any = 0.999, eps: float = 10**-8,
) -> Any:  # fmt: skip
    """Kingma and Ba, Adam: a method for stochastic optimization, 2015."""

    def update(g: Any, moments: Any, i: int) -> tuple[Any, Any]:
        first = b1 * moments[0] + (1 - b1) * g
        second = b2 * moments[1] + (1 - b2) * g**2
        mean, square = first / (1 - b1 ** (i + 1)), second / (1 - b2 ** (i + 1))
        return -step_size * mean / (np.sqrt(square) + eps), (first, second)

    return _descended(grad, x, callback, num_iters, (np.zeros(len(x)), np.zeros(len(x))), update)
