"""`x.at[i].set(v)` and the like: copies with other elements, as JAX has them."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.numpy as gnp

A = np.random.default_rng(2).normal(size=(3, 4))
ROWS = np.array([0, 2, 0])


def written(x, index, values):
    result = x.copy()
    result[index] = values
    return result


def by(ufunc):
    def changed(x, index, values):
        result = x.copy()
        ufunc.at(result, index, values)
        return result

    return changed


CHANGES = {
    "set": written, "add": by(np.add), "subtract": by(np.subtract), "multiply": by(np.multiply), "mul": by(np.multiply),
    "divide": by(np.divide), "min": by(np.minimum), "max": by(np.maximum),
}  # fmt: skip
INDICES = {
    "a row": 1, "from the end": -1, "an element": (1, 2), "a slice": slice(1, 3), "a column": (slice(None), 1),
    "from behind": (..., slice(None, None, 2)), "a mask": A > 0, "rows": ROWS[:2],
    "places": (ROWS[:2], np.array([1, 3])), "all": ..., "a list": [0, 2],
}  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("name", CHANGES)
def test_values(name, index):
    places = INDICES[index]
    for values in (0.7, np.random.default_rng(1).uniform(0.5, 1.5, A[places].shape)):
        x = gs.tensor(A)
        found = getattr(x.at[places], name)(values)
        np.testing.assert_allclose(found, CHANGES[name](A, places, values))
        np.testing.assert_array_equal(x, A)


@pytest.mark.parametrize("name", set(CHANGES) - {"set"})
def test_places_that_come_twice_are_changed_twice(name):
    values = np.array([[1.5], [0.5], [0.7]])
    found = getattr(gs.tensor(A).at[ROWS], name)(values)
    np.testing.assert_allclose(found, CHANGES[name](A, ROWS, values))


@pytest.mark.parametrize("name", CHANGES)
def test_gradients(name):
    values, weights = np.array([1.5, 0.5]), np.random.default_rng(4).normal(size=A.shape)

    def loss(x, v):
        return (gs.tensor(weights) * getattr(x.at[:2, 1], name)(v)).sum()

    assert gs.autograd.gradcheck(loss, (gs.tensor(A, requires_grad=True), gs.tensor(values, requires_grad=True)))


def test_get_power_and_apply():
    x = gs.tensor(np.abs(A))
    np.testing.assert_array_equal(x.at[1].get(), np.abs(A)[1])
    np.testing.assert_allclose(x.at[1].power(3)[1], np.abs(A)[1] ** 3)
    np.testing.assert_allclose(x.at[:, 0].apply(gs.sqrt)[:, 0], np.sqrt(np.abs(A)[:, 0]))


def test_slices_of_a_batch():
    x, values, places = gnp.array(A), gnp.array([1.0, 2.0]), gnp.array([0, 2])
    for name in CHANGES:
        expected = np.stack([CHANGES[name](A, at, value) for at, value in zip([0, 2], [1.0, 2.0])])
        found = gs.vmap(lambda at, value, name=name: getattr(x.at[at], name)(value))(places, values)
        np.testing.assert_allclose(found, expected)
    found = gs.vmap(lambda row: row.at[1].set(7.0))(x)
    np.testing.assert_allclose(found, written(A, (slice(None), 1), 7.0))


def test_a_loop_that_fills_its_state():
    def trajectory(start):
        states = gnp.zeros((4, 2)).at[0].set(start)
        return gs.fori_loop(0, 3, lambda t, states: states.at[t + 1].set(states[t] * 2 + 1), states)

    start = gnp.array([1.0, 3.0])
    np.testing.assert_array_equal(trajectory(start)[3], [15.0, 31.0])
    np.testing.assert_array_equal(gs.func.jacrev(trajectory)(start)[3], 8 * np.eye(2))
    np.testing.assert_array_equal(gs.compile(trajectory)(start)[3], [15.0, 31.0])


def test_values_have_the_dtype_of_the_tensor():
    x = gs.tensor([1, 2, 3])
    assert x.at[0].set(2.5).tolist() == [2, 2, 3]
    assert gs.ones(3).at[0].add(np.float64(0.5)).dtype == np.float32
