"""Speed of families of ops against NumPy, SciPy and, when it is installed, PyTorch.

    python benchmarks/ops.py [words of a row's name ...]

As in `speed.py`, contestants are interleaved; the output has gradsmith's time and the ratios gradsmith / other.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable

import numpy as np
from speed import Row, both, each, report, torch
from timing import Contestant

import gradsmith as gs

MILLION = 10**6


def numbers(*shape: int, dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(0).uniform(0.5, 1.5, shape).astype(dtype)


# ---- along a dimension


def there_and_back(name: str, *arguments: int, dtype: type = np.float64) -> dict[str, Contestant]:
    """An op of a million numbers, and the gradient of the sum of its result."""

    def build(lib: object, x: object) -> Contestant:
        def run() -> None:
            x.grad = None
            getattr(lib, name)(x, *arguments).sum().backward()

        return run

    return each(build, numbers(MILLION, dtype=dtype))


def reductions() -> list[Row]:
    """Ops along a dimension and their gradients, in both precisions, on one thread and on two."""
    names: dict[str, tuple[int, ...]] = {"sum": (), "mean": (), "var": (), "amax": (), "cumsum": (0,), "cumprod": (0,)}
    return [
        Row(
            f"{name} there and back, 1e6{', float32' * (dtype is np.float32)}{', 2 threads' * (threads == 2)}",
            lambda name=name, dims=dims, dtype=dtype: there_and_back(name, *dims, dtype=dtype),
            "torch 0.9",
            rounds=7,
            threads=threads,
        )
        for name, dims in names.items()
        for dtype in (np.float64, np.float32)
        for threads in (1, 2)
    ]


def forward(call: Callable[[object, object], object], *arrays: np.ndarray) -> dict[str, Contestant]:
    return each(lambda lib, *tensors: lambda: call(lib, *tensors), *arrays, requires_grad=False)


def places() -> np.ndarray:
    return np.random.default_rng(1).integers(0, MILLION, MILLION)


def sorting() -> list[Row]:
    half = numbers(MILLION)[: MILLION // 2]
    calls: dict[str, tuple[Callable[..., object], tuple[np.ndarray, ...]]] = {
        "sort": (lambda lib, x: lib.sort(x), (numbers(MILLION),)),
        "argsort": (lambda lib, x: lib.argsort(x), (numbers(MILLION),)),
        "topk of 100": (lambda lib, x: lib.topk(x, 100), (numbers(MILLION),)),
        "unique": (lambda lib, x: lib.unique(x), (places() // 100,)),
        "searchsorted": (lambda lib, edges, x: lib.searchsorted(edges, x), (np.sort(half), numbers(MILLION))),
        "gather": (lambda lib, x, i: lib.gather(x, 0, i), (numbers(MILLION), places())),
        "take": (lambda lib, x, i: lib.take(x, i), (numbers(MILLION), places())),
        "index_add": (lambda lib, x, i: lib.index_add(x, 0, i, x), (numbers(MILLION), places())),
    }
    return [
        Row(f"{name}, 1e6", lambda call=call, arrays=arrays: forward(call, *arrays), "torch 1.0", rounds=7)
        for name, (call, arrays) in calls.items()
    ]


# ---- matrices


def matrices(n: int, batch: int) -> np.ndarray:
    shape = (batch, n, n) if batch else (n, n)
    random = np.random.default_rng(0).standard_normal(shape)
    return random @ random.swapaxes(-1, -2) + n * np.eye(n)


def of_matrices(name: str, n: int, batch: int) -> dict[str, Contestant]:
    a = matrices(n, batch)
    if name == "solve":
        return forward(lambda lib, a, b: lib.linalg.solve(a, b), a, a[..., :1].copy())
    return forward(lambda lib, a: getattr(lib.linalg, name)(a), a)


def of_matrices_and_back(name: str, n: int, batch: int) -> dict[str, Contestant]:
    """A decomposition, and the gradient of the sum of its factors that depends on no choice of sign."""

    def build(lib: object, a: object) -> Contestant:
        def run() -> None:
            a.grad = None
            found = getattr(lib.linalg, name)(a)
            factors = found if isinstance(found, tuple) else (found,)
            sum((factor * factor).sum() for factor in factors).backward()

        return run

    def build_solve(lib: object, a: object, b: object) -> Contestant:
        def run() -> None:
            a.grad = b.grad = None
            lib.linalg.solve(a, b).sum().backward()

        return run

    a = matrices(n, batch)
    return each(build_solve, a, a[..., :1].copy()) if name == "solve" else each(build, a)


def linear_algebra() -> list[Row]:
    sizes = {"1000 of 4 x 4": (4, 1000, "torch 0.5"), "500 x 500": (500, 0, "torch 1.1")}
    ways = {"": of_matrices, " there and back": of_matrices_and_back}
    return [
        Row(f"linalg {name}{way}, {size}", lambda a=(name, n, batch), call=call: call(*a), must, rounds=7)
        for name in ("solve", "inv", "cholesky", "det", "eigh", "svd")
        for way, call in ways.items()
        for size, (n, batch, must) in sizes.items()
    ]


def transforms() -> list[Row]:
    def beside_numpy(name: str, array: np.ndarray) -> dict[str, Contestant]:
        found = forward(lambda lib, x: getattr(lib.fft, name)(x), array)
        return found | {"numpy": lambda: getattr(np.fft, name)(array)}

    return [
        Row("fft, 2^16", lambda: beside_numpy("fft", numbers(2**16) + 0j), "numpy 1.1"),
        Row("rfft2, 512 x 512", lambda: beside_numpy("rfft2", numbers(512, 512)), "numpy 1.1"),
    ]


# ---- elementwise


def special(name: str, in_scipy: str, n: int) -> dict[str, Contestant]:
    from scipy import special as scipy_special

    x = numbers(n)
    loop, tensor, function = getattr(scipy_special, in_scipy), gs.tensor(x), getattr(gs.special, name)
    count = 2 if name in ("beta", "xlog1py") else 1
    return {"gradsmith": lambda: function(*(tensor,) * count), "scipy": lambda: loop(*(x,) * count)}


def special_functions() -> list[Row]:
    if importlib.util.find_spec("scipy") is None:
        return []
    names = {
        "digamma": "psi",
        "gammaln": "gammaln",
        "erfcx": "erfcx",
        "i0e": "i0e",
        "bessel_j1": "j1",
        "beta": "beta",
        "xlog1py": "xlog1py",
        "ndtri": "ndtri",
    }
    return [
        Row(f"special {name}, {label}", lambda name=name, other=other, n=n: special(name, other, n), "scipy 1.1")
        for name, other in names.items()
        for label, n in {"1e4": 10**4, "1e6": 10**6}.items()
    ]


def recorded(name: str, in_numpy: str) -> dict[str, Contestant]:
    """An op of ten numbers that require grad, beside NumPy's alone."""
    x = numbers(10)
    tensor, function, loop = gs.tensor(x * 0.6, requires_grad=True), getattr(gs, name), getattr(np, in_numpy)
    array = x * 0.6
    return {"gradsmith": lambda: function(tensor), "numpy": lambda: loop(array)}


def recording() -> list[Row]:
    names = {"floor": "floor", "asin": "arcsin", "atan": "arctan", "exp2": "exp2", "log10": "log10", "asinh": "arcsinh"}
    return [
        Row(f"record {name}, 10 elements", lambda name=name, other=other: recorded(name, other), "numpy 0.6")
        for name, other in names.items()
    ]


def called_by_numpy(call: Callable[..., object], count: int) -> dict[str, Contestant]:
    """A function of NumPy's of ten numbers that require grad, beside the same of an array."""
    x = numbers(10)
    tensors, arrays = [gs.tensor(x, requires_grad=True)] * count, [x] * count
    return {"gradsmith": lambda: call(*tensors), "numpy": lambda: call(*arrays)}


def numpy_calls() -> list[Row]:
    calls = {
        "np.exp(t)": (np.exp, 1, "1.6"), "np.add(t, t)": (np.add, 2, "1.6"),
        "np.sum(t, axis=0)": (lambda t: np.sum(t, axis=0), 1, "2.0"),
    }  # fmt: skip
    return [
        Row(f"record {name}, 10 elements", lambda call=call, n=n: called_by_numpy(call, n), f"numpy {must}")
        for name, (call, n, must) in calls.items()
    ]


# ---- tables


def looked_up(rows: int, sparse: bool) -> dict[str, Contestant]:
    """4,096 rows of a table, and the gradient of their sum."""
    indices = np.random.default_rng(2).integers(0, rows, 4096)

    def build(lib: object, table: object) -> Contestant:
        embedding = importlib.import_module(f"{lib.__name__}.nn.functional").embedding
        wanted = lib.tensor(indices)

        def run() -> None:
            table.grad = None
            embedding(wanted, table, sparse=sparse).sum().backward()

        return run

    return each(build, numbers(rows, 64, dtype=np.float32))


def bags(mode: str) -> dict[str, Contestant]:
    """1,024 bags of 20 rows, and the gradient of their sum."""
    indices = np.random.default_rng(2).integers(0, 50_000, (1024, 20))

    def build(lib: object, table: object) -> Contestant:
        embedding_bag = importlib.import_module(f"{lib.__name__}.nn.functional").embedding_bag
        wanted = lib.tensor(indices)

        def run() -> None:
            table.grad = None
            embedding_bag(wanted, table, mode=mode).sum().backward()

        return run

    return each(build, numbers(50_000, 64, dtype=np.float32))


def tables() -> list[Row]:
    return [
        Row("embedding there and back, 4,096 of 50,000 x 64", lambda: looked_up(50_000, False), "torch 1.0", rounds=7),
        Row("embedding there and back, sparse", lambda: looked_up(50_000, True), "torch 1.0", rounds=7),
        *(
            Row(f"embedding_bag there and back, {mode}", lambda mode=mode: bags(mode), "torch 1.0", rounds=7)
            for mode in ("sum", "mean", "max")
        ),
    ]


# ---- random numbers


def draws() -> list[Row]:
    many = 10 * MILLION
    calls: dict[str, Callable[[object, object], object]] = {
        "rand": lambda lib, x: lib.rand(many),
        "rand, float64": lambda lib, x: lib.rand(many, dtype=lib.float64),
        "randn": lambda lib, x: lib.randn(many),
        "randn, float64": lambda lib, x: lib.randn(many, dtype=lib.float64),
        "randint": lambda lib, x: lib.randint(10, (many,)),
    }
    return [
        Row(f"{name}, 1e7", lambda call=call: forward(call, numbers(1)), "torch 0.6", rounds=5)
        for name, call in calls.items()
    ]


# ---- networks


def layer_and_back(
    name: str, settings: tuple[object, ...], x: np.ndarray, *weights: np.ndarray
) -> dict[str, Contestant]:
    """A function of `nn.functional`, and the gradients of the sum of its result."""

    def build(lib: object, *tensors: object) -> Contestant:
        function = getattr(importlib.import_module(f"{lib.__name__}.nn.functional"), name)

        def run() -> None:
            for tensor in tensors:
                tensor.grad = None
            function(*tensors, *settings).sum().backward()

        return run

    return each(build, x, *weights)


def images(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def convolutional_step() -> dict[str, Contestant]:
    """A whole step of a network for images of 28 x 28 pixels, 32 at once: the loss and all gradients."""

    def build(lib: object, x: object, labels: object, *parameters: object) -> Contestant:
        functional = importlib.import_module(f"{lib.__name__}.nn.functional")
        first, first_bias, second, second_bias, last, last_bias = parameters

        def run() -> None:
            for parameter in parameters:
                parameter.grad = None
            values = functional.conv2d(x, first, first_bias, padding=1)
            values = functional.max_pool2d(functional.relu(values), 2)
            values = functional.conv2d(values, second, second_bias, padding=1)
            values = functional.max_pool2d(functional.relu(values), 2)
            scores = functional.linear(values.flatten(1), last, last_bias)
            functional.cross_entropy(scores, labels).backward()

        return run

    shapes = ((16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 32 * 7 * 7), (10,))
    labels = np.random.default_rng(4).integers(0, 10, 32)
    data = [both(array, requires_grad=False) for array in (images(32, 1, 28, 28), labels)]
    parameters = [both(images(*shape) * np.float32(0.1)) for shape in shapes]
    libraries = {"gradsmith": gs, "torch": torch}
    return {name: build(libraries[name], *[t[name] for t in (*data, *parameters)]) for name in data[0]}


def layers() -> list[Row]:
    digits, features, rows = images(32, 16, 28, 28), images(4, 64, 56, 56), images(1000, 1000)
    points = np.random.default_rng(5).uniform(-1, 1, (8, 128, 128, 2)).astype(np.float32)
    heads, sequence = images(8, 64, 64), images(1, 2048, 64)
    calls: dict[str, tuple[str, tuple[object, ...], tuple[np.ndarray, ...], str]] = {
        "conv2d 1 to 16, 28 x 28": ("conv2d", (), (images(32, 1, 28, 28), images(16, 1, 3, 3), images(16)), "1.2"),
        "conv2d 16 to 32, 28 x 28": ("conv2d", (), (digits, images(32, 16, 3, 3), images(32)), "1.2"),
        "conv2d 64 to 64, 56 x 56": ("conv2d", (), (features, images(64, 64, 3, 3), images(64)), "1.3"),
        "conv2d depthwise, 28 x 28": (
            "conv2d", (None, 1, 1, 1, 128), (images(4, 128, 28, 28), images(128, 1, 3, 3)), "1.3",
        ),
        "conv1d 64 to 64, 1,000": ("conv1d", (), (images(4, 64, 1000), images(64, 64, 3), images(64)), "1.3"),
        "max_pool2d": ("max_pool2d", (2,), (digits,), "1.0"),
        "max_pool2d, overlapping": ("max_pool2d", (3, 2, 1), (features,), "1.0"),
        "avg_pool2d": ("avg_pool2d", (2,), (digits,), "1.0"),
        "interpolate, bilinear 64 to 128": ("interpolate", (128, None, "bilinear"), (images(8, 16, 64, 64),), "2.0"),
        "grid_sample, 64 to 128": (
            "grid_sample", ("bilinear", "zeros", False), (images(8, 16, 64, 64), points), "2.0",
        ),
        "batch_norm": ("batch_norm", (None, None, None, None, True), (digits,), "1.0"),
        "layer_norm": ("layer_norm", ((1000,),), (rows,), "1.0"),
        "group_norm": ("group_norm", (4,), (digits,), "1.0"),
        "instance_norm": ("instance_norm", (), (digits,), "1.0"),
        "rms_norm": ("rms_norm", ((1000,),), (rows,), "1.0"),
        "softmax": ("softmax", (-1,), (rows,), "0.9"),
        "log_softmax": ("log_softmax", (-1,), (rows,), "0.9"),
        "softmax of columns": ("softmax", (0,), (rows,), "0.9"),
        "attention, 8 heads x 64 x 64": ("scaled_dot_product_attention", (), (heads,) * 3, "0.9"),
        "dropout, 1e7": ("dropout", (0.3,), (images(10 * MILLION),), "0.6"),
        "alpha_dropout, 1e7": ("alpha_dropout", (0.3, True), (images(10 * MILLION),), "0.6"),
        "attention, 2,048 x 64": ("scaled_dot_product_attention", (), (sequence,) * 3, "1.1"),
    }  # fmt: skip
    return [
        Row(f"{row} there and back", lambda a=(name, settings, *arrays): layer_and_back(*a), f"torch {must}", rounds=7)
        for row, (name, settings, arrays, must) in calls.items()
    ] + [Row("convolutional network, whole step", convolutional_step, "torch 1.0", rounds=7)]


def classes_and_back() -> dict[str, Contestant]:
    """The loss of 1,000 rows of 1,000 scores, and its gradient."""
    target = np.random.default_rng(4).integers(0, 1000, 1000)

    def build(lib: object, scores: object) -> Contestant:
        functional = importlib.import_module(f"{lib.__name__}.nn.functional")
        wanted = lib.tensor(target)

        def run() -> None:
            scores.grad = None
            functional.cross_entropy(scores, wanted).backward()

        return run

    return each(build, images(1000, 1000))


def block_and_back(width: int, heads: int, places: int, batch: int) -> dict[str, Contestant]:
    """A block of a transformer, and the gradients of all of its parameters."""
    shapes = (
        (places, batch, width), (3 * width, width), (3 * width,), (width, width), (width,), (4 * width, width),
        (4 * width,), (width, 4 * width), (width,), (width,), (width,), (width,), (width,),
    )  # fmt: skip

    def build(lib: object, *tensors: object) -> Contestant:
        functional = importlib.import_module(f"{lib.__name__}.nn.functional")
        x, into, into_bias, out, out_bias, wide, wide_bias, narrow, narrow_bias, *norms = tensors

        def run() -> None:
            for tensor in tensors:
                tensor.grad = None
            y = functional.layer_norm(x, (width,), *norms[:2])
            y = (
                x
                + functional.multi_head_attention_forward(
                    y, y, y, width, heads, into, into_bias, None, None, False, 0.0, out, out_bias, need_weights=False
                )[0]
            )
            z = functional.layer_norm(y, (width,), *norms[2:])
            z = functional.gelu(functional.linear(z, wide, wide_bias))
            (y + functional.linear(z, narrow, narrow_bias)).sum().backward()

        return run

    return each(build, *(images(*shape) / np.float32(width**0.5) for shape in shapes))


def transformers() -> list[Row]:
    return [
        Row("cross_entropy there and back", classes_and_back, "torch 0.9", rounds=7),
        Row("transformer block there and back", lambda: block_and_back(64, 4, 32, 8), "torch 0.6", rounds=15),
    ]


# ---- sequences


def sequence_and_back(name: str, gates: int) -> dict[str, Contestant]:
    """A layer of 64 elements over 50 steps of 32 sequences of 64 features, and the gradients of its weights."""
    weights = [images(gates * 64, 64) * 0.1, images(gates * 64, 64) * 0.1, images(gates * 64), images(gates * 64)]

    def build(lib: object, x: object, h: object, *params: object) -> Contestant:
        x, h = x.detach(), h.detach()

        def run() -> None:
            for tensor in params:
                tensor.grad = None
            state = (h, h) if name == "lstm" else h
            getattr(lib, name)(x, state, list(params), True, 1, 0.0, True, False, False)[0].sum().backward()

        return run

    return each(build, images(50, 32, 64), images(1, 32, 64) * 0.1, *weights)


def alignments_and_back() -> dict[str, Contestant]:
    """The loss of 50 labels in 400 steps of 16 sequences, and the gradient of scores of 40 classes."""
    labels = np.random.default_rng(4).integers(1, 40, (16, 50))

    def build(lib: object, x: object) -> Contestant:
        functional = importlib.import_module(f"{lib.__name__}.nn.functional")
        targets = lib.tensor(labels)

        def run() -> None:
            x.grad = None
            functional.ctc_loss(functional.log_softmax(x, 2), targets, [400] * 16, [50] * 16).backward()

        return run

    return each(build, images(400, 16, 40))


def sequences() -> list[Row]:
    layers = {"lstm": (4, "0.5"), "gru": (3, "0.5"), "rnn_tanh": (1, "0.5"), "rnn_relu": (1, "0.5")}
    return [
        *(
            Row(f"{name} of 50 steps there and back", lambda a=(name, gates): sequence_and_back(*a), f"torch {must}")
            for name, (gates, must) in layers.items()
        ),
        Row("ctc_loss there and back", alignments_and_back, "torch 0.9", rounds=7),
    ]


# ---- modules


def classifier_by_hand(parameters: list[object]) -> Callable[[object, object], object]:
    f = gs.nn.functional

    def loss(x: object, y: object) -> object:
        w, b, v, c = parameters
        return f.cross_entropy(f.linear(f.relu(f.linear(x, w, b)), v, c), y)

    return loss


def step_of(loss: Callable[[object, object], object], parameters: list[object], x: object, y: object) -> Contestant:
    def run() -> None:
        loss(x, y).backward()
        with gs.no_grad():
            for p in parameters:
                p.sub_(p.grad, alpha=0.1)
                p.grad = None

    return run


def module_step(inputs: int, hidden: int, batch: int) -> dict[str, Contestant]:
    """A training step through modules, and the same step by hand with the functions that they call."""
    nn = gs.nn
    net, loss = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 10)), nn.CrossEntropyLoss()
    parameters = list(net.parameters())
    x, y = gs.rand(batch, inputs), gs.randint(0, 10, (batch,))
    return {
        "gradsmith": step_of(lambda x, y: loss(net(x), y), parameters, x, y),
        "by hand": step_of(classifier_by_hand(parameters), parameters, x, y),
    }


def modules() -> list[Row]:
    return [
        Row(
            f"step of modules {inputs}-{hidden}-10, batch of {batch}",
            lambda sizes=(inputs, hidden, batch): module_step(*sizes),
            "by hand 1.15",
            rounds=60,
        )
        for inputs, hidden, batch in ((64, 32, 32), (784, 256, 32))
    ]


ROWS = [
    *reductions(),
    *sorting(),
    *linear_algebra(),
    *transforms(),
    *special_functions(),
    *recording(),
    *numpy_calls(),
    *tables(),
    *draws(),
    *layers(),
    *transformers(),
    *sequences(),
    *modules(),
]


def main(words: list[str]) -> None:
    found = torch.__version__ if torch else "not installed"
    print(f"gradsmith {gs.__version__}, numpy {np.__version__}, torch {found}")
    for row in ROWS:
        if all(word in row.name for word in words):
            print(report(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
