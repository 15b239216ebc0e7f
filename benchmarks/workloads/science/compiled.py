"""Compiled functions: programs of small ops and chains of large ones, beside eager runs, PyTorch, and JAX's jit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Program, Run, arrays_of
from ...contestants import eager, functional, library
from ..data import labels, normal, numbers
from ..training import digits
from . import bundle_adjustment, character_lstm, hand_tracking, lorenz, mixture, ode, rosenbrock

Objective = Callable[..., Any]


def own(build: Callable[[Any], Callable[..., Any]], *data: Array) -> Builders:
    """A function of gradsmith's tensors, compiled and as it is."""

    def program(is_compiled: bool) -> Program:
        gs = library("gradsmith")
        function, tensors = build(gs), [gs.tensor(array) for array in data]
        called = gs.compile(function) if is_compiled else function
        return Program(lambda: called(*tensors), lambda: arrays_of(called(*tensors)))

    return {"gradsmith": partial(program, True), "eager": partial(program, False)}


def gradients(objective: Objective, in_jax: Any, data: Sequence[Array], constants: Sequence[Array] = ()) -> Builders:
    """Value and gradients of ``objective(lib, *tensors, *constants)`` by the tensors."""

    def build(gs: Any) -> Callable[..., Any]:
        fixed = [gs.tensor(array) for array in constants]
        both = gs.func.value_and_grad(lambda *given: objective(gs, *given, *fixed), tuple(range(len(data))))

        def flat(*given: Any) -> Any:
            value, found = both(*given)
            return (value, *found)

        return flat

    torch = {"torch": eager.gradients_of(objective, *data, constants=constants)["torch"]}
    return own(build, *data) | torch | functional.jitted(in_jax, *data, *constants)


def by_jax(objective: Objective, count: int) -> Callable[..., Any]:
    """Value and gradients by the first arguments, of a function that JAX runs as it stands."""

    def build(jax: Any, jnp: Any) -> Callable[..., Any]:
        def flat(*given: Any) -> Any:
            value, found = jax.value_and_grad(partial(objective, jnp), tuple(range(count)))(*given)
            return (value, *found)

        return flat

    return build


def of_ode(steps: int, n: int) -> Builders:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((n, n)) / np.sqrt(n), rng.standard_normal(n)
    return gradients(ode.solution(steps), ode.in_jax(steps), data)


def of_lorenz(steps: int) -> Builders:
    data = [np.array(number) for number in lorenz.START]
    return gradients(lorenz.trajectory(steps), lorenz.in_jax(steps), data)


def of_scanned_lorenz(steps: int) -> Builders:
    """By `scan`, which is traced once."""
    data = [np.array(number) for number in lorenz.START]
    found = gradients(lorenz.scanned(steps), lorenz.in_jax(steps), data)
    return {name: build for name, build in found.items() if name != "torch"} | functional.by_hand(
        lorenz.by_hand(steps), *data
    )


def of_elements(n: int) -> Builders:
    def objective(lib: Any, x: Any) -> Any:
        return lib.tanh(x * x).sum() + (lib.sin(x) * x).sum()

    return gradients(objective, by_jax(objective, 1), [np.random.default_rng(0).standard_normal(n)])


def of_rosenbrock(n: int) -> Builders:
    return gradients(rosenbrock.rosenbrock, by_jax(rosenbrock.rosenbrock, 1), [numbers(n)])


def of_characters(*sizes: int) -> Builders:
    main, extra, *rest = character_lstm.data(*sizes)
    return gradients(character_lstm.of_tensors, character_lstm.jax_gradient, [main, extra], rest)


def of_mixture(*sizes: int) -> Builders:
    *parameters, points = mixture.data(*sizes)
    in_jax = by_jax(mixture.likelihood_of_arrays, len(parameters))
    return gradients(mixture.likelihood, in_jax, parameters, [points])


def of_chain(n: int) -> Builders:
    """Fifty elementwise ops of float32 and their gradient."""

    def objective(lib: Any, x: Any) -> Any:
        for _ in range(10):
            x = lib.tanh(x * 1.01)
            x = x + 0.5 * x
            x = lib.exp(x - 0.1) * 0.1
        return x.sum()

    return gradients(objective, by_jax(objective, 1), [normal(1, n)[0] * np.float32(np.sqrt(n))])


def of_hessian(n: int) -> Builders:
    data = [array.astype(np.float64) for array in (normal(n, seed=2), normal(n, n, seed=1), normal(1, n))]

    def build(lib: Any) -> Callable[..., Any]:
        return lambda x, v, w: lib.func.hessian(lambda x: (w @ lib.tanh(v @ x)).sum())(x)

    def run(lib: Any, *given: Any) -> Run:
        return lambda: build(lib)(*given)

    def in_jax(jax: Any, jnp: Any) -> Callable[..., Any]:
        return lambda x, v, w: jax.hessian(lambda x: (w @ jnp.tanh(v @ x)).sum())(x)

    torch = {"torch": eager.eager(run, *data, requires_grad=False)["torch"]}
    return own(build, *data) | torch | functional.jitted(in_jax, *data)


def of_bundles(observations: int) -> Builders:
    """The blocks of the Jacobian of bundle adjustment."""
    *parameters, seen = bundle_adjustment.data(observations)

    def build(gs: Any) -> Callable[..., Any]:
        wanted = gs.tensor(seen)

        def blocks(*given: Any) -> Any:
            found, back = gs.func.vjp(partial(bundle_adjustment.errors, gs, seen=wanted), *given)
            zero, one = gs.zeros_like(given[-1]), gs.ones_like(given[-1])
            return (found, *back(gs.stack([one, zero])), *back(gs.stack([zero, one])))

        return blocks

    rivals = bundle_adjustment.jacobian(observations)
    return own(build, *parameters) | {name: rivals[name] for name in ("torch", "jax")}


def of_hand(*sizes: int) -> Builders:
    """The Jacobian of hand tracking, in forward mode."""
    theta, *hand = hand_tracking.data(*sizes)

    def build(gs: Any) -> Callable[..., Any]:
        fixed = [gs.tensor(array) for array in hand]
        found: Callable[..., Any] = gs.func.jacfwd(lambda theta: hand_tracking.errors(gs, theta, *fixed))
        return found

    rivals = hand_tracking.jacobian(*sizes)
    return own(build, theta) | {name: rivals[name] for name in ("torch", "jax")}


def of_network(sizes: tuple[int, ...], batch: int) -> Builders:
    """A step with SGD, by hand in gradsmith, by the fused optimizer in PyTorch."""
    rivals = digits.step_without_optimizer(sizes, batch)

    def program(is_compiled: bool) -> Program:
        gs = library("gradsmith")
        x, target = gs.tensor(normal(batch, sizes[0], seed=1)), gs.tensor(labels(batch, sizes[-1]))
        params = [gs.tensor(array, requires_grad=True) for array in digits.parameters(sizes)]
        advance = digits.descent(gs, params)

        def step(x: Any, target: Any) -> None:
            digits.loss(gs, params, x, target).backward()
            advance()

        run = gs.compile(step) if is_compiled else step
        return Program(lambda: run(x, target), lambda: eager.outcome(lambda: run(x, target), params))

    own_programs = {"gradsmith": partial(program, True), "eager": partial(program, False)}
    return own_programs | {name: rivals[name] for name in ("torch", "jax")}


def rows() -> Iterator[Case]:
    yield Case("compiled ODE, 1,000 steps", of_ode, (1000, 4), (5, 3), "torch 0.0045", "torch 0.003", tolerance=1e-8)
    yield Case("compiled Lorenz, 1,000 steps", of_lorenz, (1000,), (5,), "torch 0.001", "torch 0.0005", tolerance=1e-6)
    yield Case("compiled Lorenz by scan, 1,000 steps", of_scanned_lorenz, (1000,), (100,), tolerance=1e-6)
    yield Case("compiled gradient, 50 numbers", of_elements, (50,), (5,), "torch 0.03", "torch 0.012", tolerance=1e-8)
    yield Case(
        "compiled character LSTM, 2 layers, 1,024 characters", of_characters, (2, 1024, 14), (2, 5, 3),
        "torch 0.006, jax 0.4", "torch 0.003, jax 0.2", tolerance=1e-8, rounds=5,
    )  # fmt: skip
    yield Case("compiled Hessian, 50 numbers", of_hessian, (50,), (5,), "torch 0.0046, jax 1", "torch 0.0025, jax 0.5",
               tolerance=1e-8)  # fmt: skip
    yield Case("compiled Rosenbrock, n = 100", of_rosenbrock, (100,), (5,), tolerance=1e-9)
    yield Case("compiled GMM, d 10, K 25, 1,000 points", of_mixture, (10, 25, 1000), (3, 4, 6), tolerance=1e-8)
    yield Case(
        "compiled BA 49 cameras, 31,843 observations, Jacobian", of_bundles, (bundle_adjustment.OBSERVATIONS,), (7,),
        "torch 0.4, jax 0.5", tolerance=1e-8, rounds=5,
    )  # fmt: skip
    yield Case("compiled hand, 26 parameters, 100 points, Jacobian", of_hand, (544, 100), (9, 4), "torch 0.25, jax 0.5",
               tolerance=1e-8, rounds=5)  # fmt: skip
    yield Case("compiled chain of 50 ops, 1e6, float32", of_chain, (1_000_000,), (100,), "torch 0.1", "torch 0.05",
               threads=(1, 2), tolerance=1e-3)  # fmt: skip
    for sizes, must, aim in (((64, 64, 10), "torch 0.13", "torch 0.09"), ((784, 256, 10), "eager 1", "eager 0.95")):
        name = "-".join(map(str, sizes))
        yield Case(f"compiled step {name}, SGD", of_network, (sizes, 32), ((5, 4, 3), 6), must, aim, tolerance=1e-4)
