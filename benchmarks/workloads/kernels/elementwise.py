"""Elementwise functions of float32, forward, and forward and backward."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Run
from ...contestants.eager import eager
from ...contestants.functional import by_hand, jitted
from ..data import pair, short

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
ASKED = (10**5, 10**6)  # the sizes that have a bar, and are measured with two threads too

Function = Callable[..., Any]

BINARY: dict[str, Function] = {"add": operator.add, "mul": operator.mul}
UNARY = ("exp", "log", "sin", "tanh", "sigmoid", "gelu", "erf")
NAMES = (*BINARY, *UNARY)


def of_tensors(name: str, lib: Any) -> Function:
    """The function, of tensors."""
    if name in BINARY:
        return BINARY[name]
    found: Function = getattr(lib.nn.functional if name == "gelu" else lib, name)
    return found


def of_jax(name: str, jax: Any, jnp: Any) -> Function:
    if name in BINARY:
        return BINARY[name]
    special: dict[str, Function] = {
        "sigmoid": jax.nn.sigmoid, "gelu": lambda a: jax.nn.gelu(a, approximate=False), "erf": jax.scipy.special.erf
    }  # fmt: skip
    return special.get(name) or getattr(jnp, name)


# NumPy's value, and what the value and the arguments make of a gradient. It has no `erf`, and so no `gelu`.
HAND: dict[str, Function] = {
    "add": np.add, "mul": np.multiply, "exp": np.exp, "log": np.log, "sin": np.sin, "tanh": np.tanh,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
}  # fmt: skip
HAND_BACK: dict[str, Function] = {
    "add": lambda g, y, a, b: (g, g), "mul": lambda g, y, a, b: (g * b, g * a), "exp": lambda g, y, a: (g * y,),
    "log": lambda g, y, a: (g / a,), "sin": lambda g, y, a: (g * np.cos(a),),
    "tanh": lambda g, y, a: (g * (1 - y * y),), "sigmoid": lambda g, y, a: (g * y * (1 - y),),
}  # fmt: skip


def arguments(name: str, n: int) -> tuple[Array, ...]:
    return pair(n) if name in BINARY else pair(n)[:1]


def forward(name: str, n: int) -> Builders:
    data = arguments(name, n)
    found = eager(lambda lib, *x: partial(of_tensors(name, lib), *x), *data, requires_grad=False)
    found |= jitted(lambda jax, jnp: of_jax(name, jax, jnp), *data)
    return found | (by_hand(HAND[name], *data) if name in HAND else {})


def there_and_back(name: str, n: int) -> Builders:
    """The value, and its gradients for a gradient of the result that is given."""
    data, seed = arguments(name, n), np.ones(n, np.float32)

    def build(lib: Any, *x: Any) -> Run:
        function, given = of_tensors(name, lib), lib.tensor(seed)

        def run() -> Any:
            y = function(*x)
            return (y, *lib.autograd.grad(y, x, given))

        return run

    return eager(build, *data) | jitted(with_vjp(name), seed, *data) | back_by_hand(name, seed, data)


def with_vjp(name: str) -> Callable[[Any, Any], Function]:
    def build(jax: Any, jnp: Any) -> Function:
        def both(seed: Any, *x: Any) -> Any:
            y, back = jax.vjp(of_jax(name, jax, jnp), *x)
            return (y, *back(seed))

        return both

    return build


def back_by_hand(name: str, seed: Array, data: tuple[Array, ...]) -> Builders:
    if name not in HAND:
        return {}

    def both(*x: Array) -> Any:
        y = HAND[name](*x)
        return (y, *HAND_BACK[name](seed, y, *x))

    return by_hand(both, *data)


def rows() -> Iterator[Case]:
    ways = {
        "forward": (forward, "torch 1.0", "torch 0.7"),
        "there and back": (there_and_back, "torch 0.8", "torch 0.5"),
    }
    for way, (make, must, aim) in ways.items():
        for name in NAMES:
            for n in SIZES:
                bars = {"must": must, "aim": aim, "threads": (1, 2)} if n in ASKED else {}
                yield Case(
                    f"{name} {way}, {short(n)}", make, (name, n), (name, 100), series=f"{way}: {name}", size=n,
                    rounds=5 if n >= 10**7 else 15, **bars,  # type: ignore[arg-type]
                )  # fmt: skip
    yield Case("elementwise chain fwd+bwd, 1e7", chain, (10**7,), (100,), must="torch 1/3", rounds=5, threads=(1, 2))


def chain(n: int) -> Builders:
    """Three times a product and `tanh`, and the way back."""

    def build(lib: Any, x: Any, b: Any) -> Run:
        def run() -> None:
            x.grad = b.grad = None
            y = x
            for _ in range(3):
                y = (y * b).tanh()
            y.sum().backward()

        return run

    return eager(build, *pair(n))
