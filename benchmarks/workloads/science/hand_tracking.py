"""ADBench's hand tracking: a hand of 22 bones is posed by 26 numbers, and its skin set against points that were seen.

The mathematics are those of the published benchmark ("simple", first problem: 544 vertices, 100 correspondences);
bones, skin and points are random. The Jacobian of 300 errors has 26 columns, so forward mode gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Run
from ...contestants import eager, functional

PARAMETERS, BONES, FINGERS, JOINTS = 26, 22, 5, 4
PALM = BONES - FINGERS * JOINTS


def angles_of_parameters() -> Array:
    """Which parameter is which angle, two of a finger's first joint and one of the next two: (3 of 22 bones, 26)."""
    found = np.zeros((BONES, 3, PARAMETERS))
    parameter = 6  # after rotation and translation of the whole hand
    for finger in range(FINGERS):
        for joint in range(JOINTS - 1):
            for angle in range(2 if joint == 0 else 1):
                found[PALM + finger * JOINTS + joint, angle, parameter] = 1
                parameter += 1
    return found.reshape(-1, PARAMETERS)


def data(vertices: int, points: int) -> tuple[Array, ...]:
    """Parameters; then the hand: relative positions of bones, weighted skin of each; points, and their vertices."""
    rng = np.random.default_rng(0)
    relative = np.tile(np.eye(4), (BONES, 1, 1))
    relative[:, :3, 3] = rng.uniform(-0.5, 0.5, (BONES, 3))
    weights = rng.dirichlet(np.full(BONES, 0.1), vertices).T
    skin = np.concatenate([rng.standard_normal((3, vertices)), np.ones((1, vertices))])
    weighted = in_own_frames(relative) @ (skin * weights[:, None])
    theta = rng.uniform(0.1, 0.5, PARAMETERS)
    return (
        theta,
        angles_of_parameters(),
        relative,
        weighted,
        rng.standard_normal((3, points)),
        rng.integers(0, vertices, points),
    )


def in_own_frames(relative: Array) -> Array:
    """The inverse of each bone's position at rest."""
    straight = np.zeros((BONES, 3))
    palm, fingers = absolute(np, relative, turned(np, straight))
    return np.asarray(np.linalg.inv(in_order(np, palm, fingers)))


# ---- the errors, in names that all contestants have


def errors(lib: Any, theta: Any, angles: Any, relative: Any, weighted: Any, points: Any, vertices: Any) -> Any:
    """Differences of points and their vertices of the posed hand: (3, points)."""
    palm, fingers = absolute(lib, relative, turned(lib, (angles @ theta).reshape(BONES, 3)))
    bones = in_order(lib, palm, fingers)
    posed = lib.einsum("bij,bjn->in", bones[:, :3], weighted)
    placed = rotation(lib, theta[0:3]) @ posed + theta[3:6].reshape(3, 1)
    return points - placed[:, vertices]


def turned(lib: Any, angles: Any) -> Any:
    """Matrices of rotations about x, then y, then z, by angles that are in the order x, z, y."""
    (a, c, b), (s, u, t) = lib.cos(angles).T, lib.sin(angles).T
    zero, one = 0 * a, 0 * a + 1
    entries = [
        b * c, s * t * c - a * u, a * t * c + s * u, zero, b * u, s * t * u + a * c, a * t * u - s * c, zero,
        -t, s * b, a * b, zero, zero, zero, zero, one,
    ]  # fmt: skip
    return lib.stack(entries).T.reshape(-1, 4, 4)


def absolute(lib: Any, relative: Any, turns: Any) -> tuple[Any, Any]:
    """Positions of the bones of the palm, one on the other, and of the joints of all fingers on the last of these."""
    steps = relative @ turns
    palm = [steps[0]]
    for bone in range(1, PALM):
        palm.append(palm[-1] @ steps[bone])
    joints, last = [], palm[-1]
    for joint in range(JOINTS):
        last = last @ steps[PALM + joint :: JOINTS]
        joints.append(last)
    return palm, joints


def in_order(lib: Any, palm: list[Any], joints: list[Any]) -> Any:
    """All bones: those of the palm, then finger by finger."""
    fingers = [joint[finger] for finger in range(FINGERS) for joint in joints]
    return lib.stack([*palm, *fingers])


def rotation(lib: Any, vector: Any) -> Any:
    """Rodrigues' matrix of an axis times an angle."""
    angle = lib.sqrt((vector * vector).sum())
    x, y, z = vector / angle
    c, s = lib.cos(angle), lib.sin(angle)
    d = 1 - c
    entries = [
        x * x * d + c, x * y * d - z * s, x * z * d + y * s, x * y * d + z * s, y * y * d + c, y * z * d - x * s,
        x * z * d - y * s, y * z * d + x * s, z * z * d + c,
    ]  # fmt: skip
    return lib.stack(entries).reshape(3, 3)


# ---- the Jacobian


def eager_jacobian(constants: list[Array]) -> Callable[..., Run]:
    def build(lib: Any, theta: Any) -> Run:
        fixed = [lib.tensor(array) for array in constants]
        jacobian = lib.func.jacfwd(lambda theta: errors(lib, theta, *fixed))
        return lambda: jacobian(theta)

    return build


def jax_jacobian(jax: Any, jnp: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = jax.jacfwd(lambda theta, *hand: errors(jnp, theta, *hand))
    return function


def hips_jacobian(autograd: Any, np: Any) -> Callable[..., Any]:
    """In reverse mode: not all of these functions have a forward mode there."""
    function: Callable[..., Any] = autograd.jacobian(lambda theta, *hand: errors(np, theta, *hand))
    return function


def objective(*sizes: int) -> Builders:
    return eager.values_of(errors, *data(*sizes)) | functional.values_of(errors, *data(*sizes))


def jacobian(*sizes: int) -> Builders:
    theta, *hand = data(*sizes)
    found = eager.eager(eager_jacobian(hand), theta, requires_grad=False)
    found |= functional.jitted(jax_jacobian, theta, *hand)
    return found | functional.hips(hips_jacobian, theta, *hand)


def rows() -> Iterator[Case]:
    name = "hand, 26 parameters, 100 points"
    sizes, small = (544, 100), (9, 4)
    yield Case(f"{name}, objective", objective, sizes, small, tolerance=1e-9, rounds=9)
    yield Case(
        f"{name}, Jacobian", jacobian, sizes, small, "torch 0.4", "torch 0.25", tolerance=1e-8, rounds=5,
        objective=f"{name}, objective",
    )  # fmt: skip
