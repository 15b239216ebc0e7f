"""ADBench's bundle adjustment: errors of points seen by cameras, and the Jacobian of all at once.

A camera has eleven parameters: rotation (axis times angle), centre, focal length, principal point, and two of radial
distortion. The two errors of an observation depend on its own camera, point and weight alone, so that two gradients of
sums give all blocks of the sparse Jacobian. The sizes are those of the first published problem: 49 cameras, 7,776
points, 31,843 observations; the data are random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Run
from ...contestants import eager, functional

OBSERVATIONS = 31_843
CAMERAS, POINTS = 49, 7776


def data(observations: int) -> tuple[Array, ...]:
    """For each observation, in columns: its camera, point, weight, and what was seen."""
    rng = np.random.default_rng(0)
    cameras = np.concatenate(
        [
            rng.uniform(0.1, 0.5, (3, CAMERAS)), rng.uniform(-1, 1, (3, CAMERAS)), rng.uniform(0.8, 1.2, (1, CAMERAS)),
            rng.uniform(-0.1, 0.1, (4, CAMERAS)),
        ]
    )  # fmt: skip
    points = rng.uniform(-1, 1, (3, POINTS)) + np.array([[0.0], [0.0], [6.0]])
    camera, point = rng.integers(0, CAMERAS, observations), rng.integers(0, POINTS, observations)
    weights, seen = rng.uniform(0.5, 1, observations), rng.uniform(-1, 1, (2, observations))
    return cameras[:, camera], points[:, point], weights, seen


# ---- the errors, in names that all contestants have


def errors(lib: Any, cameras: Any, points: Any, weights: Any, seen: Any) -> Any:
    """Weighted differences of where points are projected and where they were seen: (2, observations)."""
    turned = rotated(lib, cameras[0:3], points - cameras[3:6])
    flat = turned[0:2] / turned[2]
    square = (flat * flat).sum(0)
    distortion = 1 + cameras[9] * square + cameras[10] * square * square
    return weights * (cameras[6] * distortion * flat + cameras[7:9] - seen)


def rotated(lib: Any, rotation: Any, points: Any) -> Any:
    """Rodrigues' formula."""
    angle = lib.sqrt((rotation * rotation).sum(0))
    axis = rotation / angle
    cosine = lib.cos(angle)
    along = (axis * points).sum(0) * (1 - cosine)
    return points * cosine + cross(lib, axis, points) * lib.sin(angle) + axis * along


def cross(lib: Any, a: Any, b: Any) -> Any:
    return lib.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


# ---- the Jacobian: blocks by camera, point and weight, of the first error and of the second


def eager_blocks(seen: Array) -> Callable[..., Run]:
    def build(lib: Any, cameras: Any, points: Any, weights: Any) -> Run:
        wanted, parameters = lib.tensor(seen), (cameras, points, weights)

        def run() -> Any:
            found = errors(lib, cameras, points, weights, wanted)
            first = lib.autograd.grad(found[0].sum(), parameters, retain_graph=True)
            return (found, *first, *lib.autograd.grad(found[1].sum(), parameters))

        return run

    return build


def jax_blocks(jax: Any, jnp: Any) -> Callable[..., Any]:
    def both(cameras: Any, points: Any, weights: Any, seen: Any) -> Any:
        found, back = jax.vjp(partial(errors, jnp, seen=seen), cameras, points, weights)
        zero, one = jnp.zeros(len(weights)), jnp.ones(len(weights))
        return (found, *back(jnp.stack([one, zero])), *back(jnp.stack([zero, one])))

    return both


def hips_blocks(autograd: Any, np: Any) -> Callable[..., Any]:
    def both(cameras: Any, points: Any, weights: Any, seen: Any) -> Any:
        def of_all(parameters: Any) -> Any:
            cameras, points, weights = parameters
            return errors(np, cameras, points, weights, seen)

        back, found = autograd.make_vjp(of_all)((cameras, points, weights))
        zero, one = np.zeros(len(weights)), np.ones(len(weights))
        return (found, *back(np.stack([one, zero])), *back(np.stack([zero, one])))

    return both


def by_hand(cameras: Array, points: Array, weights: Array, seen: Array) -> Any:
    """The chain rule, with the derivative of a rotation by its vector after Gallego and Yezzi (2014)."""
    rotation, centred, focal = cameras[0:3], points - cameras[3:6], cameras[6]
    matrix = np.stack([rotated(np, rotation, np.eye(3)[:, [i]]) for i in range(3)], 1)
    turned = np.einsum("ijp,jp->ip", matrix, centred)
    flat = turned[:2] / turned[2]
    square = (flat * flat).sum(0)
    distortion = 1 + cameras[9] * square + cameras[10] * square * square
    slope = 2 * (cameras[9] + 2 * cameras[10] * square)
    by_flat = focal * (distortion * np.eye(2)[:, :, None] + slope * flat[:, None] * flat)
    by_turned = np.concatenate([by_flat, -(by_flat * flat).sum(1)[:, None]], 1) / turned[2]
    by_point = weights * np.einsum("aip,ijp->ajp", by_turned, matrix)
    by_rotation = -np.einsum("aip,ijp->ajp", by_point, rotation_slope(rotation, matrix, centred))
    plain = np.broadcast_to(np.eye(2)[:, :, None] * weights, by_flat.shape)
    scaled = weights * flat
    others = np.stack([distortion * scaled, focal * square * scaled, focal * square**2 * scaled], 1)
    by_camera = np.concatenate([by_rotation, -by_point, others[:, :1], plain, others[:, 1:]], 1)
    residual = focal * distortion * flat + cameras[7:9] - seen
    return weights * residual, by_camera[0], by_point[0], residual[0], by_camera[1], by_point[1], residual[1]


def rotation_slope(rotation: Array, matrix: Array, points: Array) -> Array:
    """What, multiplied by minus the matrix, is the derivative of the rotated points by the rotation."""
    transposed = matrix.swapaxes(0, 1) - np.eye(3)[:, :, None]
    inner = rotation[:, None] * rotation + np.einsum("ijp,jkp->ikp", transposed, crossing(rotation))
    return np.asarray(np.einsum("ijp,jkp->ikp", crossing(points), inner) / (rotation * rotation).sum(0))


def crossing(v: Array) -> Array:
    """The matrices whose products are cross products with the columns."""
    zero = np.zeros_like(v[0])
    return np.array([[zero, -v[2], v[1]], [v[2], zero, -v[0]], [-v[1], v[0], zero]])


def objective(observations: int) -> Builders:
    return eager.values_of(errors, *data(observations)) | functional.values_of(errors, *data(observations))


def jacobian(observations: int) -> Builders:
    *parameters, seen = data(observations)
    found = eager.eager(eager_blocks(seen), *parameters) | functional.jitted(jax_blocks, *parameters, seen)
    return found | functional.hips(hips_blocks, *parameters, seen) | functional.by_hand(by_hand, *parameters, seen)


def rows() -> Iterator[Case]:
    name = "BA 49 cameras, 31,843 observations"
    yield Case(f"{name}, objective", objective, (OBSERVATIONS,), (7,), tolerance=1e-9, rounds=9)
    yield Case(
        f"{name}, Jacobian", jacobian, (OBSERVATIONS,), (7,), "torch 0.4", "torch 0.25", tolerance=1e-8, rounds=9,
        objective=f"{name}, objective",
    )  # fmt: skip
