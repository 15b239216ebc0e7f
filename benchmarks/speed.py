"""Speed of gradsmith against NumPy and, when it is installed, PyTorch.

    python benchmarks/speed.py [words of a row's name ...]

Every row interleaves its contestants in this process and prints gradsmith's time and the ratios gradsmith / other:
below 1 gradsmith is faster. "must" is the bar that the project sets itself.
"""

from __future__ import annotations

import importlib.util
import os

# BLAS libraries read this when they are loaded: every contestant's gemm runs on one thread unless a row says more.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from timing import Contestant, Timing, interleave, readable

import gradsmith as gs

try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None


@dataclass(frozen=True)
class Row:
    """One line of the table: what is timed, against whom, and the bar."""

    name: str
    contestants: Callable[[], dict[str, Contestant]]
    must: str
    per: int = 1  # operations in one call
    rounds: int = 15
    threads: int = 1


def pair(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform(0.5, 1.0, n).astype(np.float32), rng.uniform(0.5, 1.0, n).astype(np.float32)


def both(array: np.ndarray, requires_grad: bool = True) -> dict[str, object]:
    """The array as a tensor of each library that is here."""
    tensors = {"gradsmith": gs.tensor(array, requires_grad=requires_grad)}
    if torch is not None:
        tensors["torch"] = torch.tensor(array, requires_grad=requires_grad)
    return tensors


def each(build: Callable[..., Contestant], *arrays: np.ndarray, **options: bool) -> dict[str, Contestant]:
    """The same program for each library: `build` gets the library and its tensors."""
    tensors = [both(array, **options) for array in arrays]
    libraries = {"gradsmith": gs, "torch": torch}
    return {name: build(libraries[name], *[t[name] for t in tensors]) for name in tensors[0]}


# ---- small operations


def record_mul(n: int) -> dict[str, Contestant]:
    a, b = pair(n)
    found = each(lambda lib, x, y: lambda: x * y, a, b)
    return found | {"numpy": lambda: np.multiply(a, b)}


def record_mul_scalar(n: int) -> dict[str, Contestant]:
    a, _ = pair(n)
    return each(lambda lib, x: lambda: x * 2.0, a) | {"numpy": lambda: np.multiply(a, 2.0)}


def chain(step: Callable[[object, object], object], length: int, n: int) -> dict[str, Contestant]:
    """Backward alone over a chain that was built before."""

    def build(lib: object, x: object, b: object) -> Contestant:
        y = x
        for _ in range(length):
            y = step(y, b)
        y = y.sum()
        return lambda: y.backward(retain_graph=True)

    return each(build, *pair(n))


def custom_function(saves: bool) -> dict[str, Contestant]:
    """A Function that computes next to nothing: what `apply` and the way back through it cost."""
    one = np.ones((), np.float32)

    def build(lib: object, x: object) -> Contestant:
        class Alias(lib.autograd.Function):
            @staticmethod
            def forward(ctx: object, x: object) -> object:
                if saves:
                    ctx.save_for_backward(x)
                return x.detach()

            @staticmethod
            def backward(ctx: object, grad: object) -> object:
                if saves:
                    (_,) = ctx.saved_tensors
                return grad

        return lambda: Alias.apply(x).backward()

    return each(build, one)


def node_hooks(length: int) -> dict[str, Contestant]:
    """Backward over a chain whose nodes have a hook each."""

    def build(lib: object, x: object, b: object) -> Contestant:
        y = x
        for _ in range(length):
            y = y.exp()
            y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
        y = y.sum()
        return lambda: y.backward(retain_graph=True)

    return each(build, *[array * 1e-3 for array in pair(1)])


def reentrant(length: int) -> dict[str, Contestant]:
    """Backward over a chain at each of whose nodes a hook runs a small backward of its own."""

    def build(lib: object, x: object, b: object) -> Contestant:
        inner = (b * 2.0).sum()
        y = x
        for _ in range(length):
            y = y * 1.0
            y.register_hook(lambda grad: inner.backward(retain_graph=True))
        y = y.sum()
        return lambda: y.backward(retain_graph=True)

    return each(build, *pair(1))


def profiled(length: int) -> dict[str, Contestant]:
    """Recording small products while a profile runs, and making its events."""

    def build(lib: object, x: object, y: object) -> Contestant:
        def run() -> None:
            with lib.autograd.profiler.profile() as profile:
                for _ in range(length):
                    x * y
            assert len(profile.function_events) >= length

        return run

    return each(build, *pair(1))


def named_block() -> dict[str, Contestant]:
    """A block with a name while no profile runs."""

    def build(lib: object, x: object) -> Contestant:
        def run() -> None:
            with lib.profiler.record_function("block"):
                pass

        return run

    return each(build, pair(1)[0])


# ---- large arrays


def elementwise_chain(n: int) -> dict[str, Contestant]:
    def build(lib: object, x: object, b: object) -> Contestant:
        def run() -> None:
            y = x
            for _ in range(3):
                y = (y * b).tanh()
            y.sum().backward()
            x.grad = None
            b.grad = None

        return run

    return each(build, *pair(n))


def unary(name: str, n: int) -> dict[str, Contestant]:
    a, _ = pair(n)
    return each(lambda lib, x: lambda: getattr(lib, name)(x), a, requires_grad=False) | {
        "numpy": lambda: getattr(np, name)(a)
    }


def matmul(m: int, k: int, n: int, transposed: bool = False) -> dict[str, Contestant]:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(m, k)).astype(np.float32)
    b = rng.normal(size=(n, k) if transposed else (k, n)).astype(np.float32)
    if transposed:
        return each(lambda lib, x, y: lambda: x @ y.T, a, b, requires_grad=False) | {"numpy": lambda: a @ b.T}
    return each(lambda lib, x, y: lambda: x @ y, a, b, requires_grad=False) | {"numpy": lambda: a @ b}


# ---- a training step


def training_step(sizes: tuple[int, ...], batch: int) -> dict[str, Contestant]:
    """Forward, cross entropy, backward, gradient descent."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(batch, sizes[0])).astype(np.float32)
    labels = rng.integers(0, sizes[-1], batch)
    layers = list(zip(sizes[1:], sizes[:-1]))
    weights = [(rng.normal(size=s) / np.sqrt(s[1])).astype(np.float32) for s in layers]
    biases = [np.zeros(s[0], np.float32) for s in layers]
    found = {"gradsmith": _gradsmith_step(x, labels, weights, biases)}
    if torch is not None:
        found["torch"] = _torch_step(x, labels, weights, biases)
    return found


def _gradsmith_step(x: np.ndarray, labels: np.ndarray, weights: list, biases: list) -> Contestant:
    F = gs.nn.functional
    data, target = gs.tensor(x), gs.tensor(labels)
    parameters = [(gs.tensor(w, requires_grad=True), gs.tensor(b, requires_grad=True)) for w, b in zip(weights, biases)]
    flat = [p for layer in parameters for p in layer]

    def run() -> None:
        h = data
        for w, b in parameters[:-1]:
            h = F.relu(F.linear(h, w, b))
        loss = F.cross_entropy(F.linear(h, *parameters[-1]), target)
        loss.backward()
        with gs.no_grad():
            for p in flat:
                p.add_(p.grad, alpha=-0.01)
                p.grad = None

    return run


def _torch_step(x: np.ndarray, labels: np.ndarray, weights: list, biases: list) -> Contestant:
    F = torch.nn.functional
    data, target = torch.tensor(x), torch.tensor(labels)
    parameters = [
        (torch.tensor(w, requires_grad=True), torch.tensor(b, requires_grad=True)) for w, b in zip(weights, biases)
    ]
    optimizer = torch.optim.SGD([p for layer in parameters for p in layer], lr=0.01, fused=True)

    def run() -> None:
        h = data
        for w, b in parameters[:-1]:
            h = F.relu(F.linear(h, w, b))
        loss = F.cross_entropy(F.linear(h, *parameters[-1]), target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return run


# ---- training with optimizers


def optimizer_step(name: str, *shapes: tuple[int, ...], **settings: object) -> dict[str, Contestant]:
    """One step of an optimizer; PyTorch's in the form that the settings name."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]

    def build(lib: object, *params: object) -> Contestant:
        for p, array in zip(params, arrays):
            p.grad = lib.tensor(array)
        optimizer = getattr(lib.optim, name)(params, lr=1e-6, **settings)
        return optimizer.step

    return each(build, *arrays)


SMALL = ((10, 10), (10,), (16, 8), (16,), (8, 8), (8,), (4, 4), (4,), (32, 2), (2,))


def adam_training_step(sizes: tuple[int, ...], batch: int) -> dict[str, Contestant]:
    """Forward, cross entropy, backward, a step of Adam: the network of examples/digits.py."""
    x, *weights = (normal(*s) for s in ((batch, sizes[0]), *zip(sizes[1:], sizes[:-1])))
    labels = np.random.default_rng(0).integers(0, sizes[-1], batch)

    def build(lib: object, *weights: object) -> Contestant:
        F = lib.nn.functional
        data, target = lib.tensor(x), lib.tensor(labels)
        biases = [lib.zeros(w.shape[0]).requires_grad_() for w in weights]
        optimizer = lib.optim.Adam([*weights, *biases], lr=1e-4)

        def run() -> None:
            h = data
            for w, b in zip(weights[:-1], biases):
                h = F.relu(F.linear(h, w, b))
            optimizer.zero_grad()
            F.cross_entropy(F.linear(h, weights[-1], biases[-1]), target).backward()
            optimizer.step()

        return run

    return each(build, *weights)


def data_loader(count: int, batch: int) -> dict[str, Contestant]:
    """A pass over images and labels, in random order."""

    def build(lib: object, x: object, y: object) -> Contestant:
        loader = lib.utils.data.DataLoader(lib.utils.data.TensorDataset(x, y), batch, shuffle=True)

        def run() -> None:
            for _ in loader:
                pass

        return run

    return each(build, normal(count, 64), np.arange(count), requires_grad=False)


# ---- transforms


def sparse_jacobian(n: int) -> dict[str, Contestant]:
    """Bratu's equation on a line, beside one evaluation of it; the pattern is known."""

    def bratu(u: gs.Tensor) -> gs.Tensor:
        zero = gs.zeros(1, dtype=u.dtype)
        v = gs.cat([zero, u, zero])
        return (v[2:] - 2 * u + v[:-2]) * (n + 1.0) ** 2 + gs.exp(u)

    u = gs.tensor(np.random.default_rng(0).random(n))
    jacobian = gs.func.sparse_jacobian(bratu, pattern=gs.func.jacobian_pattern(bratu)(u))
    return {"gradsmith": lambda: jacobian(u), "evaluation": lambda: bratu(u)}


def twice(build: Callable[..., Contestant], **arrays: np.ndarray) -> dict[str, Contestant]:
    """The same transform of the same program, of gradsmith and of PyTorch: `build` gets the library and `func`."""
    found = {"gradsmith": build(gs, gs.func, **{name: gs.tensor(array) for name, array in arrays.items()})}
    if torch is not None:
        tensors = {name: torch.tensor(array) for name, array in arrays.items()}
        found["torch"] = build(torch, torch.func, **tensors)
    return found


def normal(*shape: int) -> np.ndarray:
    return (np.random.default_rng(0).standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def vmap_by_hand(*shape: int) -> dict[str, Contestant]:
    """Ten ops of the elements of a slice, mapped, beside the same function called with all slices."""

    def ten_ops(x: gs.Tensor) -> gs.Tensor:
        y = gs.sin(x) * 2 + x
        y = gs.tanh(gs.exp(-y * y) + x)
        return y * x - y

    x = gs.tensor(normal(*shape))
    mapped = gs.vmap(ten_ops)
    return {"gradsmith": lambda: mapped(x), "by hand": lambda: ten_ops(x)}


def jacobians(name: str) -> dict[str, Contestant]:
    def build(lib: object, func: object, x: object, v: object, w: object) -> Contestant:
        mapped = func.vmap(getattr(func, name)(lambda x: w @ lib.tanh(v @ x)))
        return lambda: mapped(x)

    return twice(build, x=normal(100, 64), v=normal(64, 64), w=normal(64, 64))


def hessian_of_net() -> dict[str, Contestant]:
    def build(lib: object, func: object, x: object, v: object, w: object) -> Contestant:
        hessian = func.hessian(lambda x: (w @ lib.tanh(v @ x)).sum())
        return lambda: hessian(x)

    return twice(build, x=normal(50), v=normal(50, 50), w=normal(1, 50))


def vectorized(name: str, n: int) -> dict[str, Contestant]:
    """``jacobian`` and ``hessian`` of `autograd.functional` with ``vectorize=True``."""

    def build(lib: object, func: object, x: object, v: object, w: object) -> Contestant:
        transform = getattr(lib.autograd.functional, name)
        net = (lambda x: lib.tanh(v @ x)) if name == "jacobian" else lambda x: (w @ lib.tanh(v @ x)).sum()
        return lambda: transform(net, x, vectorize=True)

    return twice(build, x=normal(n), v=normal(n, n), w=normal(1, n))


def gradients_of_samples() -> dict[str, Contestant]:
    """Of a network for the digits, one gradient for each of 256 images."""

    def build(lib: object, func: object, images: object, labels: object, **p: object) -> Contestant:
        def loss(p: dict, image: object, label: object) -> object:
            scores = lib.tanh(image @ p["v"] + p["b"]) @ p["w"] + p["c"]
            return lib.nn.functional.cross_entropy(scores, label)

        gradients = func.vmap(func.grad(loss), in_dims=(None, 0, 0))
        return lambda: gradients(p, images, labels)

    labels = np.random.default_rng(0).integers(0, 10, 256)
    arrays = {"v": normal(64, 32), "b": normal(32), "w": normal(32, 10), "c": normal(10)}
    return twice(build, images=normal(256, 64), labels=labels, **arrays)


def gradient_of_number() -> dict[str, Contestant]:
    """`func.grad` of three ops of numbers, beside the same written with `backward`."""

    def steps(x: gs.Tensor) -> gs.Tensor:
        return gs.sin(x) * x + x

    def by_backward() -> gs.Tensor:
        leaf = x.detach().requires_grad_()
        steps(leaf).backward()
        return leaf.grad

    x = gs.tensor(0.3)
    gradient = gs.func.grad(steps)
    return {"gradsmith": lambda: gradient(x), "backward": by_backward}


def gradient_of_arrays() -> dict[str, Contestant]:
    """Of a NumPy function of ten ops, at five numbers; beside HIPS autograd where it is installed."""

    def program(np: Any) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            y = np.sin(x) * x
            z = np.exp(-y) + np.tanh(x)
            return np.sum(z * z / (1 + x * x))

        return f

    x = np.linspace(0.1, 1.0, 5)
    gradients = {"gradsmith": gs.grad(program(np))}
    if torch:
        of_tensor, tensor = torch.func.grad(program(torch)), torch.tensor(x)
        gradients["torch"] = lambda x: of_tensor(tensor)
    if importlib.util.find_spec("autograd"):
        autograd = importlib.import_module("autograd")
        gradients["autograd"] = autograd.grad(program(importlib.import_module("autograd.numpy")))
    return {name: lambda gradient=gradient: gradient(x) for name, gradient in gradients.items()}


# ---- distributions


def log_density(name: str, n: int) -> dict[str, Contestant]:
    """A distribution is made, and its log density at n values differentiated in two parameters."""
    values = np.random.default_rng(1).uniform(0.1, 0.9, n).astype(np.float32)

    def build(lib: object, a: object, b: object) -> Contestant:
        x, kind = lib.tensor(values), getattr(lib.distributions, name)
        return lambda: kind(a, b, validate_args=False).log_prob(x).sum().backward()

    return each(build, *pair(n))


def drawn_with_gradients(name: str, n: int) -> dict[str, Contestant]:
    """n reparameterised samples, and the way back to two parameters."""

    def build(lib: object, a: object, b: object) -> Contestant:
        kind = getattr(lib.distributions, name)
        return lambda: kind(a, b, validate_args=False).rsample().sum().backward()

    return each(build, *pair(n))


def variational_step(n: int) -> dict[str, Contestant]:
    """A sample and a divergence from the prior, as in an autoencoder, and the way back."""

    def build(lib: object, a: object, b: object) -> Contestant:
        prior = lib.distributions.Normal(lib.zeros(n), lib.ones(n))

        def step() -> None:
            found = lib.distributions.Normal(a, b, validate_args=False)
            divergence = lib.distributions.kl_divergence(found, prior)
            (found.rsample().sum() + divergence.sum()).backward()

        return step

    return each(build, *pair(n))


ROWS = [
    Row("record a*b, 1 element", lambda: record_mul(1), "numpy 0.50, torch 1/12"),
    Row("record a*b, 10 elements", lambda: record_mul(10), "numpy 0.50, torch 1/12"),
    Row("record a*b, 1000 elements", lambda: record_mul(1000), ""),
    Row("record a*2.0, 1 element", lambda: record_mul_scalar(1), "torch 1/20"),
    Row("backward per node, chain of y*b", lambda: chain(lambda y, b: y * b, 1000, 1), "torch 1/20", per=1000),
    Row("backward per node, chain of tanh", lambda: chain(lambda y, b: y.tanh(), 1000, 1), "torch 1/20", per=1000),
    Row(
        "backward per node, mixed chain",
        lambda: chain(lambda y, b: (y * b).tanh() * 0.5 + y, 250, 1),
        "torch 1/20",
        per=1000,
    ),
    Row("custom Function, apply + backward", lambda: custom_function(False), "torch 1/2"),
    Row("custom Function that saves, apply + backward", lambda: custom_function(True), "torch 1/2"),
    Row("hook of a node, per call", lambda: node_hooks(100), "torch 0.50", per=100),
    Row("backward inside backward, per call", lambda: reentrant(100), "torch 0.50", per=100),
    Row("a*b in a profile, with its events", lambda: profiled(1000), "torch 1/2", per=1000),
    Row("record_function without a profile", named_block, "torch 1/2"),
    Row("elementwise chain fwd+bwd, 1e7", lambda: elementwise_chain(10**7), "torch 1/3", rounds=5),
    Row(
        "elementwise chain fwd+bwd, 1e7, 2 threads", lambda: elementwise_chain(10**7), "torch 1/3", rounds=5, threads=2
    ),
    Row("exp 1e5", lambda: unary("exp", 10**5), "torch 1/1.5"),
    Row("exp 1e6", lambda: unary("exp", 10**6), "torch 1/1.5"),
    Row("exp 1e6, 2 threads", lambda: unary("exp", 10**6), "torch 1/1.5", threads=2),
    Row("tanh 1e5", lambda: unary("tanh", 10**5), "torch 1/4"),
    Row("tanh 1e6", lambda: unary("tanh", 10**6), "torch 1/4"),
    Row("tanh 1e6, 2 threads", lambda: unary("tanh", 10**6), "torch 1/4", threads=2),
    Row("matmul 32x784x256", lambda: matmul(32, 784, 256), "torch 1.05"),
    Row("matmul 32x784x256 transposed", lambda: matmul(32, 784, 256, True), "torch 1.05"),
    Row("matmul 128", lambda: matmul(128, 128, 128), "torch 1.05"),
    Row("matmul 256", lambda: matmul(256, 256, 256), "torch 1.05"),
    Row("matmul 512", lambda: matmul(512, 512, 512), "torch 1.05"),
    Row("matmul 1024", lambda: matmul(1024, 1024, 1024), "torch 1.05", rounds=7),
    Row("vmap, 10 ops of 1000 slices of 1", lambda: vmap_by_hand(1000), ""),
    Row("vmap, 10 ops of 1000 slices of 100", lambda: vmap_by_hand(1000, 100), "by hand 1.15"),
    Row("vmap of jacrev, 100 of 64 x 64", lambda: jacobians("jacrev"), "torch 1/3"),
    Row("vmap of jacfwd, 100 of 64 x 64", lambda: jacobians("jacfwd"), "torch 1/3"),
    Row("hessian, network of 50", hessian_of_net, "torch 1/4"),
    Row("jacobian(vectorize=True), 100 x 100", lambda: vectorized("jacobian", 100), "torch 0.50"),
    Row("hessian(vectorize=True), 50", lambda: vectorized("hessian", 50), "torch 0.50"),
    Row("gradients of 256 samples", gradients_of_samples, "torch 1/1.5"),
    Row("func.grad of a number", gradient_of_number, ""),
    Row("gradient of a NumPy function, 10 ops of 5", gradient_of_arrays, "torch 1/20, autograd 1/10"),
    Row("sparse Jacobian, tridiagonal 1e5", lambda: sparse_jacobian(10**5), "evaluation 5"),
    Row("Adam, step over 10 small tensors", lambda: optimizer_step("Adam", *SMALL, foreach=True), "torch 1/8"),
    Row("SGD, step over 10 small tensors", lambda: optimizer_step("SGD", *SMALL, foreach=True), "torch 1/8"),
    Row("Adam, step over 1e6", lambda: optimizer_step("Adam", (10**6,), fused=True), "torch 1"),
    Row("Adam, step over 1e6, 2 threads", lambda: optimizer_step("Adam", (10**6,), fused=True), "torch 1", threads=2),
    Row("Normal, log_prob fwd+bwd, 10", lambda: log_density("Normal", 10), "torch 1/8"),
    Row("Normal, log_prob fwd+bwd, 1e5", lambda: log_density("Normal", 10**5), "torch 0.50"),
    Row("Beta, log_prob fwd+bwd, 10", lambda: log_density("Beta", 10), "torch 1"),
    Row("Normal, sample and divergence, 10", lambda: variational_step(10), "torch 1/4"),
    Row("Normal, sample and divergence, 1e5", lambda: variational_step(10**5), ""),
    Row("Gamma, rsample fwd+bwd, 1e5", lambda: drawn_with_gradients("Gamma", 10**5), ""),
    Row("digits step 64-128-128-10, batch 32, Adam", lambda: adam_training_step((64, 128, 128, 10), 32), "torch 1/5"),
    Row("DataLoader, 1000 samples, batch 32", lambda: data_loader(1000, 32), "torch 1/5"),
    Row("training step 8-16-4, batch 1", lambda: training_step((8, 16, 4), 1), "torch 1/20"),
    Row("training step 784-256-10, batch 32", lambda: training_step((784, 256, 10), 32), "torch 1/1.5"),
]


def set_threads(count: int) -> None:
    gs.set_num_threads(count)
    if torch is not None:
        torch.set_num_threads(count)


def report(row: Row) -> str:
    set_threads(row.threads)
    timings = interleave(row.contestants(), rounds=row.rounds)
    own = timings.pop("gradsmith")
    ratios = "  ".join(f"{name}: {_ratio(own, other)}" for name, other in timings.items())
    must = f"   must: {row.must}" if row.must else ""
    return f"{row.name:44s} {readable(own.minimum / row.per):>9s}   {ratios}{must}"


def _ratio(own: Timing, other: Timing) -> str:
    """Ratio of minima and of medians; also as a fraction when gradsmith is much faster."""
    least, middle = own.minimum / other.minimum, own.median / other.median
    fraction = f" (1/{1 / least:.1f})" if least < 0.5 else ""
    return f"{least:.2f} min, {middle:.2f} median{fraction}"


# ---- what cannot be repeated in a loop: memory of a long chain, import time


def long_chain(length: int = 1_000_000) -> Iterator[str]:
    """Build, run backward and free a chain of a million operations, each library in turn."""
    own = _long_chain(gs, length)
    yield f"chain of {length:,} ops   {_describe(own)}   must: 500 bytes"
    if torch is not None:
        other = _long_chain(torch, length)
        fraction = sum(other[:3]) / sum(own[:3])
        yield f"    torch   {_describe(other)}; gradsmith takes 1/{fraction:.1f}   must: 1/10"


def _describe(chain: tuple[float, float, float, float]) -> str:
    build, backward, free = (f"{seconds * 1e9:.0f}" for seconds in chain[:3])
    return f"build {build}, backward {backward}, free {free} ns per op; {chain[3]:.0f} bytes per op"


def _long_chain(lib: object, length: int) -> tuple[float, float, float, float]:
    x = lib.ones(1, requires_grad=True)
    b = lib.ones(1, requires_grad=True)
    before = _resident_bytes()
    start = time.perf_counter()
    y = x
    for _ in range(length):
        y = y * b
    built = time.perf_counter()
    used = _resident_bytes() - before
    y.backward()
    ran = time.perf_counter()
    del y
    freed = time.perf_counter()
    return (built - start) / length, (ran - built) / length, (freed - ran) / length, used / length


def _resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def import_time(rounds: int = 7) -> str:
    """Milliseconds of ``import gradsmith`` above ``import numpy``, interleaved in fresh processes.

    As every time but the first: from the bytecode that Python has kept.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(code: str) -> float:
        program = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        command = [sys.executable, "-c", program]
        return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

    run("import gradsmith")
    with_package, alone = [], []
    for _ in range(rounds):
        alone.append(run("import numpy"))
        with_package.append(run("import gradsmith"))
    return (
        f"import gradsmith above import numpy: {(min(with_package) - min(alone)) * 1e3:.1f} ms (minima)   must: 60 ms"
    )


def main(words: list[str]) -> None:
    print(
        f"gradsmith {gs.__version__}, numpy {np.__version__}, torch {torch.__version__ if torch else 'not installed'}"
    )
    for row in ROWS:
        if all(word in row.name for word in words):
            print(report(row), flush=True)
    if not words or "chain" in words:
        for line in long_chain():
            print(line, flush=True)
    if not words or "import" in words:
        print(import_time())


if __name__ == "__main__":
    main(sys.argv[1:])
