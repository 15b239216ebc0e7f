"""Function transforms: vectorized maps, Jacobians, Hessians, gradients of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Program, Run, arrays_of
from ...contestants import library
from ...contestants.eager import eager
from ...contestants.functional import hips, jitted
from ..data import labels, normal


def own(make: Callable[[Any], Run]) -> Callable[[], Program]:
    """A program of gradsmith's alone."""

    def builder() -> Program:
        run = make(library("gradsmith"))
        return Program(run, lambda: arrays_of(run()))

    return builder


def vmap_by_hand(*shape: int) -> Builders:
    """Ten ops of the elements of a slice, mapped, beside the same function called with all slices."""

    def ten_ops(gs: Any, x: Any) -> Any:
        y = gs.sin(x) * 2 + x
        y = gs.tanh(gs.exp(-y * y) + x)
        return y * x - y

    def mapped(gs: Any) -> Run:
        x, function = gs.tensor(normal(*shape)), gs.vmap(lambda x: ten_ops(gs, x))
        return lambda: function(x)

    def by_hand(gs: Any) -> Run:
        x = gs.tensor(normal(*shape))
        return lambda: ten_ops(gs, x)

    return {"gradsmith": own(mapped), "by hand": own(by_hand)}


def jacobians(name: str, count: int, n: int) -> Builders:
    """Of a network of one layer, for each of a number of inputs."""

    def build(lib: Any, x: Any, v: Any, w: Any) -> Run:
        mapped = lib.func.vmap(getattr(lib.func, name)(lambda x: w @ lib.tanh(v @ x)))
        return lambda: mapped(x)

    def in_jax(jax: Any, jnp: Any) -> Callable[..., Any]:
        return lambda x, v, w: jax.vmap(getattr(jax, name)(lambda x: w @ jnp.tanh(v @ x)))(x)

    data = normal(count, n), normal(n, n, seed=1), normal(n, n, seed=2)
    return eager(build, *data, requires_grad=False) | jitted(in_jax, *data)


def hessian(n: int) -> Builders:
    """Of a network with n inputs."""

    def build(lib: Any, x: Any, v: Any, w: Any) -> Run:
        function = lib.func.hessian(lambda x: (w @ lib.tanh(v @ x)).sum())
        return lambda: function(x)

    def in_jax(jax: Any, jnp: Any) -> Callable[..., Any]:
        return lambda x, v, w: jax.hessian(lambda x: (w @ jnp.tanh(v @ x)).sum())(x)

    def in_hips(autograd: Any, np: Any) -> Callable[..., Any]:
        return lambda x, v, w: autograd.hessian(lambda x: np.sum(w @ np.tanh(v @ x)))(x)

    data = normal(n, seed=2), normal(n, n, seed=1), normal(1, n)
    return eager(build, *data, requires_grad=False) | jitted(in_jax, *data) | hips(in_hips, *data)


def vectorized(name: str, n: int) -> Builders:
    """``jacobian`` and ``hessian`` of `autograd.functional` with ``vectorize=True``."""

    def build(lib: Any, x: Any, v: Any, w: Any) -> Run:
        transform = getattr(lib.autograd.functional, name)

        def net(x: Any) -> Any:
            hidden = lib.tanh(v @ x)
            return hidden if name == "jacobian" else (w @ hidden).sum()

        return lambda: transform(net, x, vectorize=True)

    return eager(build, normal(n, seed=2), normal(n, n, seed=1), normal(1, n), requires_grad=False)


def gradients_of_samples(count: int) -> Builders:
    """Of a network for the digits, one gradient for each image."""

    def build(lib: Any, images: Any, v: Any, b: Any, w: Any, c: Any) -> Run:
        def loss(p: dict[str, Any], image: Any, label: Any) -> Any:
            scores = lib.tanh(image @ p["v"] + p["b"]) @ p["w"] + p["c"]
            return lib.nn.functional.cross_entropy(scores, label)

        wanted, parameters = lib.tensor(labels(count, 10)), {"v": v, "b": b, "w": w, "c": c}
        gradients = lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))
        return lambda: gradients(parameters, images, wanted)

    arrays = normal(count, 64, seed=1), normal(64, 32), normal(32), normal(32, 10), normal(10)
    return eager(build, *arrays, requires_grad=False)


def gradient_of_number() -> Builders:
    """`func.grad` of three ops of numbers, beside the same written with `backward`."""

    def transformed(gs: Any) -> Run:
        x, gradient = gs.tensor(0.3), gs.func.grad(lambda x: gs.sin(x) * x + x)
        return lambda: gradient(x)

    def by_backward(gs: Any) -> Run:
        x = gs.tensor(0.3)

        def run() -> Any:
            leaf = x.detach().requires_grad_()
            (gs.sin(leaf) * leaf + leaf).backward()
            return leaf.grad

        return run

    return {"gradsmith": own(transformed), "backward": own(by_backward)}


def gradient_of_arrays() -> Builders:
    """Of a NumPy function of ten ops, at five numbers."""

    def function(np: Any) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            y = np.sin(x) * x
            z = np.exp(-y) + np.tanh(x)
            return (z * z / (1 + x * x)).sum()

        return f

    x = np.linspace(0.1, 1.0, 5)

    def build(lib: Any, tensor: Any) -> Run:
        if lib.__name__ == "gradsmith":  # takes NumPy's function as it stands, and the array
            gradient = lib.grad(function(np))
            return lambda: gradient(x)
        of_tensor = lib.func.grad(function(lib))
        return lambda: of_tensor(tensor)

    found = eager(build, x, requires_grad=False) | jitted(lambda jax, jnp: jax.grad(function(jnp)), x)
    return found | hips(lambda autograd, np: autograd.grad(function(np)), x)


def sparse_jacobian(n: int) -> Builders:
    """Bratu's equation on a line, beside one evaluation of it; the pattern is known."""

    def bratu(gs: Any, u: Any) -> Any:
        zero = gs.zeros(1, dtype=u.dtype)
        v = gs.cat([zero, u, zero])
        return (v[2:] - 2 * u + v[:-2]) * (n + 1.0) ** 2 + gs.exp(u)

    def jacobian() -> Program:
        gs = library("gradsmith")
        u = gs.tensor(np.random.default_rng(0).random(n))
        pattern = gs.func.jacobian_pattern(lambda u: bratu(gs, u))(u)
        function = gs.func.sparse_jacobian(lambda u: bratu(gs, u), pattern=pattern)
        return Program(lambda: function(u), None)

    def evaluation() -> Program:
        gs = library("gradsmith")
        u = gs.tensor(np.random.default_rng(0).random(n))
        return Program(lambda: bratu(gs, u), None)

    return {"gradsmith": jacobian, "evaluation": evaluation}


def rows() -> Iterator[Case]:
    yield Case("vmap, 10 ops of 1000 slices of 1", vmap_by_hand, (1000,), (5,))
    yield Case("vmap, 10 ops of 1000 slices of 100", vmap_by_hand, (1000, 100), (5, 3), must="by hand 1.15")
    for name in ("jacrev", "jacfwd"):
        yield Case(f"vmap of {name}, 100 of 64 x 64", jacobians, (name, 100, 64), (name, 3, 4), must="torch 1/3")
    for n in (10, 50, 200):
        must = "torch 1/4" if n == 50 else ""
        yield Case(f"hessian, network of {n}", hessian, (n,), (4,), must=must, series="hessian", size=n)
    yield Case("jacobian(vectorize=True), 100 x 100", vectorized, ("jacobian", 100), ("jacobian", 4), must="torch 0.50")
    yield Case("hessian(vectorize=True), 50", vectorized, ("hessian", 50), ("hessian", 4), must="torch 0.50")
    yield Case("gradients of 256 samples", gradients_of_samples, (256,), (3,), must="torch 1/1.5")
    yield Case("func.grad of a number", gradient_of_number)
    yield Case("gradient of a NumPy function, 10 ops of 5", gradient_of_arrays, must="torch 1/20, autograd 1/10")
    yield Case("sparse Jacobian, tridiagonal 1e5", sparse_jacobian, (10**5,), (20,), must="evaluation 5")
