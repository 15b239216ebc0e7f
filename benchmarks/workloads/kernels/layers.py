"""Functions of `nn.functional`, and the gradients of the sum of their results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager, uncompared
from ..data import images, labels

Shapes = tuple[tuple[int, ...], ...]


class Layer(NamedTuple):
    """A function, the shapes of its tensors, and what follows them: as measured, and small."""

    function: str
    shapes: Shapes
    settings: tuple[Any, ...]
    small: Shapes
    small_settings: tuple[Any, ...]
    must: str


DIGITS, FEW_DIGITS = (32, 16, 28, 28), (2, 4, 6, 6)
FEATURES, FEW_FEATURES = (4, 64, 56, 56), (1, 3, 7, 7)
ROWS, FEW_ROWS = (1000, 1000), (4, 5)
BATCH_NORM = (None, None, None, None, True)
FEW_FILTERS: Shapes = (FEW_DIGITS, (3, 4, 3, 3), (3,))

LAYERS = {
    "conv2d 1 to 16, 28 x 28": Layer("conv2d", ((32, 1, 28, 28), (16, 1, 3, 3), (16,)), (), FEW_FILTERS, (), "1.2"),
    "conv2d 16 to 32, 28 x 28": Layer("conv2d", (DIGITS, (32, 16, 3, 3), (32,)), (), FEW_FILTERS, (), "1.2"),
    "conv2d 64 to 64, 56 x 56": Layer("conv2d", (FEATURES, (64, 64, 3, 3), (64,)), (), FEW_FILTERS, (), "1.3"),
    "conv2d depthwise, 28 x 28": Layer(
        "conv2d", ((4, 128, 28, 28), (128, 1, 3, 3)), (None, 1, 1, 1, 128),
        (FEW_DIGITS, (4, 1, 3, 3)), (None, 1, 1, 1, 4), "1.3",
    ),
    "conv1d 64 to 64, 1,000": Layer(
        "conv1d", ((4, 64, 1000), (64, 64, 3), (64,)), (), ((2, 3, 9), (4, 3, 3), (4,)), (), "1.3"
    ),
    "max_pool2d": Layer("max_pool2d", (DIGITS,), (2,), (FEW_DIGITS,), (2,), "1.0"),
    "max_pool2d, overlapping": Layer("max_pool2d", (FEATURES,), (3, 2, 1), (FEW_FEATURES,), (3, 2, 1), "1.0"),
    "avg_pool2d": Layer("avg_pool2d", (DIGITS,), (2,), (FEW_DIGITS,), (2,), "1.0"),
    "interpolate, bilinear 64 to 128": Layer(
        "interpolate", ((8, 16, 64, 64),), (128, None, "bilinear"), (FEW_DIGITS,), (12, None, "bilinear"), "2.0"
    ),
    "interpolate, bilinear 224 to 112, antialias": Layer(
        "interpolate", ((4, 3, 224, 224),), (112, None, "bilinear", False, None, True),
        (FEW_DIGITS,), (3, None, "bilinear", False, None, True), "1.0",
    ),
    "interpolate, bicubic 224 to 112, antialias": Layer(
        "interpolate", ((4, 3, 224, 224),), (112, None, "bicubic", False, None, True),
        (FEW_DIGITS,), (3, None, "bicubic", False, None, True), "1.0",
    ),
    "grid_sample, 64 to 128": Layer(
        "grid_sample", ((8, 16, 64, 64), (8, 128, 128, 2)), ("bilinear", "zeros", False),
        (FEW_DIGITS, (2, 5, 5, 2)), ("bilinear", "zeros", False), "2.0",
    ),
    "batch_norm": Layer("batch_norm", (DIGITS,), BATCH_NORM, (FEW_DIGITS,), BATCH_NORM, "1.0"),
    "layer_norm": Layer("layer_norm", (ROWS,), ((1000,),), (FEW_ROWS,), ((5,),), "1.0"),
    "layer_norm, short rows": Layer("layer_norm", ((256, 64),), ((64,),), (FEW_ROWS,), ((5,),), "1.0"),
    "gelu": Layer("gelu", ((256, 256),), (), (FEW_ROWS,), (), "1.0"),
    "group_norm": Layer("group_norm", (DIGITS,), (4,), (FEW_DIGITS,), (2,), "1.0"),
    "instance_norm": Layer("instance_norm", (DIGITS,), (), (FEW_DIGITS,), (), "1.0"),
    "rms_norm": Layer("rms_norm", (ROWS,), ((1000,),), (FEW_ROWS,), ((5,),), "1.0"),
    "softmax": Layer("softmax", (ROWS,), (-1,), (FEW_ROWS,), (-1,), "0.9"),
    "log_softmax": Layer("log_softmax", (ROWS,), (-1,), (FEW_ROWS,), (-1,), "0.9"),
    "softmax of columns": Layer("softmax", (ROWS,), (0,), (FEW_ROWS,), (0,), "0.9"),
    "attention, 8 heads x 64 x 64": Layer(
        "scaled_dot_product_attention", ((8, 64, 64),) * 3, (), ((2, 4, 3),) * 3, (), "0.9"
    ),
    "attention, 2,048 x 64": Layer(
        "scaled_dot_product_attention", ((1, 2048, 64),) * 3, (), ((1, 5, 3),) * 3, (), "1.1"
    ),
    "dropout, 1e7": Layer("dropout", ((10**7,),), (0.3,), ((10,),), (0.3,), "0.6"),
    "alpha_dropout, 1e7": Layer("alpha_dropout", ((10**7,),), (0.3, True), ((10,),), (0.3, True), "0.6"),
}  # fmt: skip


def layer_and_back(name: str, small: bool) -> Builders:
    layer = LAYERS[name]
    shapes, settings = (layer.small, layer.small_settings) if small else (layer.shapes, layer.settings)
    data = [images(*shape, seed=3 + number) for number, shape in enumerate(shapes)]
    if layer.function == "grid_sample":
        data[1] = np.random.default_rng(5).uniform(-0.9, 0.9, shapes[1]).astype(np.float32)

    def build(lib: Any, *tensors: Any) -> Run:
        function = getattr(lib.nn.functional, layer.function)
        # The sum of a normalization has no gradient but rounding errors: a gradient is given.
        given = lib.tensor(images(*shapes[0], seed=9)) if "norm" in name or "softmax" in name else None

        def run() -> None:
            for tensor in tensors:
                tensor.grad = None
            result = function(*tensors, *settings)
            (result.sum() if given is None else result).backward(given)

        return run

    return (uncompared if "dropout" in name else eager)(build, *data)


def given_statistics(*shape: int) -> Builders:
    """`batch_norm` by running statistics, and its gradients."""
    channels = images(2, shape[1], seed=4)

    def build(lib: Any, x: Any, factor: Any, term: Any) -> Run:
        mean, var = lib.tensor(channels[0]), lib.tensor(channels[1] ** 2)
        given = lib.tensor(images(*shape, seed=9))

        def run() -> None:
            x.grad = factor.grad = term.grad = None
            lib.nn.functional.batch_norm(x, mean, var, factor, term).backward(given)

        return run

    return eager(build, images(*shape), images(shape[1], seed=5), images(shape[1], seed=6))


def classes_and_back(rows: int, classes: int) -> Builders:
    """The loss of rows of scores, and its gradient."""
    target = labels(rows, classes)

    def build(lib: Any, scores: Any) -> Run:
        wanted = lib.tensor(target)

        def run() -> None:
            scores.grad = None
            lib.nn.functional.cross_entropy(scores, wanted).backward()

        return run

    return eager(build, images(rows, classes))


def rows() -> Iterator[Case]:
    for name, layer in LAYERS.items():
        must = f"torch {layer.must}"
        yield Case(f"{name} there and back", layer_and_back, (name, False), (name, True), must=must, rounds=7)
    yield Case(
        "batch_norm, given statistics, there and back", given_statistics, DIGITS, FEW_DIGITS, must="torch 1.0", rounds=7
    )
    yield Case("cross_entropy there and back", classes_and_back, (1000, 1000), (4, 5), must="torch 0.9", rounds=7)
