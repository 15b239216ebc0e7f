"""What nodes, hooks, Functions of the user and profiles cost, in chains of ops of one element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager
from ..data import pair

STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "chain of y*b": lambda y, b: y * b,
    "chain of tanh": lambda y, b: y.tanh(),
    "mixed chain": lambda y, b: (y * b).tanh() * 0.5 + y,
}


def chain(step: str, length: int) -> Builders:
    """Backward alone over a chain that was built before."""

    def build(lib: Any, x: Any, b: Any) -> Run:
        y = x
        for _ in range(length):
            y = STEPS[step](y, b)
        y = y.sum()
        return lambda: y.backward(retain_graph=True)

    return eager(build, *pair(1))


def custom_function(saves: bool) -> Builders:
    """A Function that computes next to nothing: what `apply` and the way back through it cost."""

    def build(lib: Any, x: Any) -> Run:
        class Alias(lib.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                if saves:
                    ctx.save_for_backward(x)
                return x.detach()

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                if saves:
                    (_,) = ctx.saved_tensors
                return grad

        return lambda: Alias.apply(x).backward()

    return eager(build, np.ones((), np.float32))


def node_hooks(length: int) -> Builders:
    """Backward over a chain whose nodes have a hook each."""

    def build(lib: Any, x: Any, b: Any) -> Run:
        y = x
        for _ in range(length):
            y = y.exp()
            y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
        y = y.sum()
        return lambda: y.backward(retain_graph=True)

    return eager(build, *[array * np.float32(1e-3) for array in pair(1)])


def reentrant(length: int) -> Builders:
    """Backward over a chain at each of whose nodes a hook runs a small backward of its own."""

    def build(lib: Any, x: Any, b: Any) -> Run:
        inner = (b * 2.0).sum()
        y = x
        for _ in range(length):
            y = y * 1.0
            y.register_hook(lambda grad: inner.backward(retain_graph=True))
        y = y.sum()
        return lambda: y.backward(retain_graph=True)

    return eager(build, *pair(1))


def profiled(length: int) -> Builders:
    """Recording small products while a profile runs, and making its events."""

    def build(lib: Any, x: Any, y: Any) -> Run:
        def run() -> None:
            with lib.autograd.profiler.profile() as profile:
                for _ in range(length):
                    x * y
            assert len(profile.function_events) >= length

        return run

    return eager(build, *pair(1))


def named_block() -> Builders:
    """A block with a name while no profile runs."""

    def build(lib: Any, x: Any) -> Run:
        def run() -> None:
            with lib.profiler.record_function("block"):
                pass

        return run

    return eager(build, pair(1)[0])


def rows() -> Iterator[Case]:
    for step in STEPS:
        length = 250 if step == "mixed chain" else 1000
        yield Case(
            f"backward per node, {step}", chain, (step, length), (step, 10), "torch 1/40", "torch 1/60", per=1000
        )  # fmt: skip
    yield Case("custom Function, apply + backward", custom_function, (False,), must="torch 1/2")
    yield Case("custom Function that saves, apply + backward", custom_function, (True,), must="torch 1/2")
    yield Case("hook of a node, per call", node_hooks, (100,), (5,), must="torch 0.50", per=100)
    yield Case("backward inside backward, per call", reentrant, (100,), (5,), must="torch 0.50", per=100)
    yield Case("a*b in a profile, with its events", profiled, (1000,), (10,), must="torch 1/2", per=1000)
    yield Case("record_function without a profile", named_block, must="torch 1/2")
