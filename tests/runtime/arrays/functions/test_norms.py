"""Euclidean norms, which keep no array of squares: roots of NumPy's sums, with the bits of gradsmith's own."""

import numpy as np
import pytest

import gradsmith as gs

SHAPES = [(1,), (8,), (24, 25), (30, 600), (3, 5000), (300, 40), (1000, 3), (2, 3, 700), (70, 1, 90), (200_000,)]


def cases():
    for shape in SHAPES:
        for axes in (None, *range(len(shape)), (0, len(shape) - 1)):
            if not isinstance(axes, tuple) or len(set(axes)) == len(axes):
                yield pytest.param(shape, axes, id=f"{shape}, {axes}")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize(("shape", "axes"), list(cases()))
def test_a_norm_is_the_root_of_the_sum_of_squares(shape, axes, order, dtype):
    array = np.asarray(np.random.default_rng(3).normal(size=shape), dtype, order=order)
    x = gs.from_numpy(array)
    found = gs.linalg.vector_norm(x, dim=axes)
    exact = np.sqrt(np.sum(array.astype("f8") ** 2, axis=axes))
    np.testing.assert_allclose(found.numpy(), exact, rtol=1e-6 if dtype == "f4" else 1e-14)
    squares = x.square()
    summed = squares.sum() if axes is None else squares.sum(axes)
    np.testing.assert_array_equal(found.numpy(), summed.sqrt().numpy())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_norms_of_what_has_no_finite_square(dtype):
    large = np.finfo(dtype).max
    for element, expected in ((np.nan, np.nan), (np.inf, np.inf), (-np.inf, np.inf), (large, np.inf)):
        array = np.full(5000, element, dtype)
        assert gs.tensor(array).norm().item() == pytest.approx(expected, nan_ok=True)
    assert gs.zeros(0, dtype=getattr(gs, np.dtype(dtype).name)).norm().item() == 0
