"""A block of a transformer, and the gradients of all of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager
from ..data import images


def block_and_back(width: int, heads: int, places: int, batch: int) -> Builders:
    shapes = (
        (places, batch, width), (3 * width, width), (3 * width,), (width, width), (width,), (4 * width, width),
        (4 * width,), (width, 4 * width), (width,), (width,), (width,), (width,), (width,),
    )  # fmt: skip

    def build(lib: Any, *tensors: Any) -> Run:
        def run() -> Any:
            for tensor in tensors:
                tensor.grad = None
            value = block(lib, width, heads, *tensors).square().sum()
            value.backward()
            return value

        return run

    data = [images(*shape, seed=number) / np.float32(width**0.5) for number, shape in enumerate(shapes)]
    return eager(build, *data)


def block(lib: Any, width: int, heads: int, x: Any, *parameters: Any) -> Any:
    """Attention and two linear layers, each after a normalization and beside a shortcut."""
    functional = lib.nn.functional
    into, into_bias, out, out_bias, wide, wide_bias, narrow, narrow_bias, *norms = parameters
    y = functional.layer_norm(x, (width,), *norms[:2])
    attention, _ = functional.multi_head_attention_forward(
        y, y, y, width, heads, into, into_bias, None, None, False, 0.0, out, out_bias, need_weights=False
    )
    y = x + attention
    z = functional.layer_norm(y, (width,), *norms[2:])
    z = functional.gelu(functional.linear(z, wide, wide_bias))
    return y + functional.linear(z, narrow, narrow_bias)


def rows() -> Iterator[Case]:
    yield Case(
        "transformer block there and back", block_and_back, (64, 4, 32, 8), (4, 2, 3, 2), "torch 0.5", "torch 0.35"
    )
