"""Logistic regression on a Dask array, of which a chunk at a time is in memory.

Needs `pip install 'gradsmith[dask]'`. The loss of all rows is a sum over chunks, and so is its gradient: each chunk
gives its value and gradient, which Dask's scheduler computes where the chunk is, in threads here and on all machines of
a cluster with a `dask.distributed.Client`. The exit code is 0 when the gradient is that of the whole array, and
Newton's method finds the weights that have made the data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np

import gradsmith as gs

FEATURES = 8
STEPS = 25
TOLERANCE = 1e-10


def data(rows: int, chunk: int, weights: np.ndarray) -> tuple[da.Array, da.Array]:
    """Inputs, and labels that are drawn with the probabilities of `weights`."""
    random = da.random.default_rng(0)
    inputs = random.standard_normal((rows, FEATURES), chunks=(chunk, FEATURES))
    chances = 1 / (1 + da.exp(-inputs @ weights))
    labels = (random.random(rows, chunks=chunk) < chances).astype(float)
    return dask.persist(inputs, labels)


def surprise(weights: np.ndarray, inputs: np.ndarray, labels: np.ndarray) -> Any:
    """Of some rows; written with NumPy."""
    scores = inputs @ weights
    return np.sum(np.logaddexp(0, scores) - labels * scores)


def chunks_of(*arrays: da.Array) -> list[tuple[Any, ...]]:
    """The pieces of arrays that are cut alike along the first dimension, each still to be computed."""
    return list(zip(*(array.to_delayed().reshape(-1) for array in arrays)))


def value_and_grad_of_sum(loss: Callable[..., Any], weights: np.ndarray, *arrays: da.Array) -> tuple[Any, np.ndarray]:
    """Of the sum of the loss over all chunks: chunk by chunk, then added up two by two, where they are."""
    of_chunk = dask.delayed(gs.value_and_grad(loss))
    parts = [of_chunk(weights, *chunks) for chunks in chunks_of(*arrays)]
    while len(parts) > 1:
        parts = [dask.delayed(added)(*parts[n : n + 2]) for n in range(0, len(parts), 2)]
    found: tuple[Any, np.ndarray] = parts[0].compute()
    return found


def added(first: tuple[Any, np.ndarray], second: tuple[Any, np.ndarray] | None = None) -> tuple[Any, np.ndarray]:
    return first if second is None else (first[0] + second[0], first[1] + second[1])


def curvature_of_sum(loss: Callable[..., Any], weights: np.ndarray, *arrays: da.Array) -> np.ndarray:
    """The Hessian, the same way: a sum of those of the chunks."""
    of_chunk = dask.delayed(gs.func.hessian(loss))
    total: np.ndarray = dask.delayed(sum)([of_chunk(weights, *chunks) for chunks in chunks_of(*arrays)]).compute()
    return total


def fitted(inputs: da.Array, labels: da.Array) -> np.ndarray:
    """Newton's method, each step one pass over the data for the gradient and one for the Hessian."""
    weights = np.zeros(FEATURES)
    for _ in range(STEPS):
        _, gradient = value_and_grad_of_sum(surprise, weights, inputs, labels)
        step = np.linalg.solve(curvature_of_sum(surprise, weights, inputs, labels), gradient)
        weights = weights - step
        if abs(step).max() < TOLERANCE:
            break
    return weights


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--chunk", type=int, default=10_000)
    options = parser.parse_args(arguments)

    truth = np.linspace(-1, 1, FEATURES)
    inputs, labels = data(options.rows, options.chunk, truth)
    value, gradient = value_and_grad_of_sum(surprise, truth, inputs, labels)
    whole_value, whole = gs.value_and_grad(surprise)(truth, inputs.compute(), labels.compute())
    difference = max(abs(gradient - whole).max() / abs(whole).max(), abs(value - whole_value) / whole_value)
    error = abs(fitted(inputs, labels) - truth).max()
    print(f"{inputs.numblocks[0]} chunks: the gradient differs from that of the whole array by {difference:.1e}")
    print(f"The weights are found to {error:.3f}")
    return 0 if difference < TOLERANCE and error < 20 / options.rows**0.5 else 1


if __name__ == "__main__":
    raise SystemExit(main())
