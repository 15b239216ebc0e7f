"""Programs of JAX, compiled by its `jit`, and of HIPS autograd: functions of arrays, written in NumPy's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..cases import Array, Builders, Program, Run, arrays_of
from . import library, submodule


def compared(run: Run) -> Program:
    """A program whose result is what is compared."""
    return Program(run, lambda: arrays_of(run()))


def jitted(build: Callable[[Any, Any], Callable[..., Any]], *data: Any) -> Builders:
    """JAX's: `build` is given ``jax`` and ``jax.numpy`` and makes the function that is compiled and called."""
    return {"jax": partial(_jitted, build, data)}


def _jitted(build: Callable[[Any, Any], Callable[..., Any]], data: Sequence[Any]) -> Program:
    jax = library("jax")
    jnp = submodule("jax", "numpy")
    arguments = jax.tree_util.tree_map(jnp.asarray, tuple(data))
    function = jax.jit(build(jax, jnp))
    return compared(lambda: jax.block_until_ready(function(*arguments)))


def hips(build: Callable[[Any, Any], Callable[..., Any]], *data: Any) -> Builders:
    """HIPS autograd's: `build` is given ``autograd`` and ``autograd.numpy``."""

    def builder() -> Program:
        function = build(library("autograd"), submodule("autograd", "numpy"))
        return compared(lambda: function(*data))

    return {"autograd": builder}


def by_hand(function: Callable[..., Any], *data: Any) -> Builders:
    """NumPy's: a function of arrays that computes what is to be compared."""
    return {"numpy": lambda: compared(lambda: function(*data))}


def gradients_of(objective: Callable[..., Any], *data: Array, constants: Sequence[Any] = ()) -> Builders:
    """The value of an objective ``(np, *arrays, *constants)`` and its gradients by the arrays, of both."""
    places = tuple(range(len(data)))

    def of_jax(jax: Any, jnp: Any) -> Callable[..., Any]:
        return _flat(jax.value_and_grad(partial(objective, jnp), places))

    def of_autograd(autograd: Any, np: Any) -> Callable[..., Any]:
        return _flat(autograd.value_and_grad(partial(objective, np), places))

    return jitted(of_jax, *data, *constants) | hips(of_autograd, *data, *constants)


def _flat(function: Callable[..., Any]) -> Callable[..., Any]:
    def flat(*arrays: Any) -> Any:
        value, gradients = function(*arrays)
        return (value, *gradients)

    return flat


def values_of(objective: Callable[..., Any], *data: Any) -> Builders:
    """The value of an objective alone: JAX's and NumPy's own."""
    import numpy as np

    return jitted(lambda jax, jnp: partial(objective, jnp), *data) | by_hand(partial(objective, np), *data)
