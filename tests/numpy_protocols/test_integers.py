"""Integers and bools of NumPy programs: what is computed of them in floating point is in double precision."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.numpy as gnp

X = np.array([1.2, 3.3, 2.4])
P = np.array([0.0, 2.0, 1.0])

PROGRAMS = {
    "a place divided by a number": lambda np, x: (np.argmax(x) / 3) * x.sum(),
    "a number divided by a place": lambda np, x: 1 / (3 + np.argmax(x)) * x.sum(),
    "a mask times a number": lambda np, x: ((x > 1.5) * 0.1).dot(x),
    "a number times a mask": lambda np, x: (0.1 * (x > 1.5)).dot(x),
    "numbers of NumPy's": lambda np, x: (np.argsort(x) * np.float64(0.1)).dot(x),
    "a ufunc of places": lambda np, x: np.sqrt(np.argsort(x)).dot(x),
    "a ufunc with options": lambda np, x: np.sqrt(np.argsort(x), where=x > 1.5, out=np.zeros_like(x)).dot(x),
    "two places": lambda np, x: np.true_divide(np.argmin(x) + 1, np.argmax(x) + 2) * x.sum(),
    "a power": lambda np, x: np.argsort(x) ** 0.3 @ x,
    "a sum and a difference": lambda np, x: (np.argsort(x) + 0.1 - (x > 2) * 0.7).dot(x),
    "a remainder": lambda np, x: (np.argsort(x) % 0.3).dot(x),
    "a mean of bools": lambda np, x: (x > 1.5).mean() * x.sum(),
    "a mean of places": lambda np, x: np.argsort(x).mean(0) / 7 * x.sum(),
    "cut off": lambda np, x: (np.floor(x).astype(int) / 7).dot(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_in_double_precision(name):
    program = PROGRAMS[name]
    expected = [(program(np, X + step) - program(np, X - step)) / 0.2 for step in 0.1 * np.eye(3)]  # it is linear
    for found in (
        gs.grad(lambda x: program(np, x))(X),
        gs.func.jacfwd(lambda x: program(np, x))(X),
        gs.vmap(gs.grad(lambda x: program(np, x)))(np.stack([X, X]))[0],
    ):
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_have_the_dtypes_of_numpy(name):
    program = PROGRAMS[name]
    expected = program(np, X)
    value, _ = gs.value_and_grad(lambda x: program(np, x))(X)
    assert value.dtype == expected.dtype
    np.testing.assert_allclose(value, expected, rtol=1e-15)


def test_programs_of_tensors_keep_the_default_dtype():
    places = gs.tensor([0, 2, 1])
    assert gs.grad(lambda x: np.sum(x))(X).shape == (3,)  # a function of arrays has been called
    assert (places / 3).dtype == np.float32
    assert np.sqrt(places).dtype == np.float32
    assert (places * 0.5).dtype == np.float32


def test_integers_stay_integers():
    kinds = []

    def program(x):
        places = np.argsort(x)
        kinds.extend(one.dtype for one in (places + 1, places * places, places // 2, places % 2, -places, places**2))
        return x.sum()

    gs.grad(program)(X)
    assert set(kinds) == {np.dtype(np.int64)}


@pytest.mark.parametrize("namespace", [np, gnp])
@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda np, x: np.add(x, x[:, :2]), ValueError),
        (lambda np, x: np.multiply(x, x[:2]), ValueError),
        (lambda np, x: np.less(x, x[:, :2]), ValueError),
        (lambda np, x: np.rad2deg(x * 1j), TypeError),
    ],
)
def test_ufuncs_raise_what_those_of_numpy_raise(namespace, call, kind):
    with pytest.raises(kind):
        call(np, np.ones((3, 4)))
    with pytest.raises(kind):
        call(namespace, gs.ones(3, 4))


def test_ops_keep_the_errors_of_pytorch():
    with pytest.raises(RuntimeError, match="must match the size"):
        gs.add(gs.ones(3), gs.ones(4))
    with pytest.raises(RuntimeError, match="must match the size"):
        gs.ones(3) + gs.ones(4)


def test_comparisons_with_a_dtype_compare_the_operands():
    x = gs.tensor([0.5, 2.0, 3.0])
    np.testing.assert_array_equal(np.less(x, 2.5, dtype=bool), [True, True, False])
    np.testing.assert_array_equal(np.equal(x, 2.0, dtype=bool), [False, True, False])
    np.testing.assert_array_equal(np.signbit(-x, dtype=bool), [True, True, True])


def test_masked_elements_send_no_gradient():
    for namespace in (np, gnp):
        found = gs.grad(lambda x, np=namespace: np.sum(np.log(x, where=x.detach() > 0, out=gnp.zeros(3))))(P)
        np.testing.assert_allclose(found, [0.0, 0.5, 1.0])
        found = gs.grad(lambda x, np=namespace: np.sum(np.divide(1.0, x, where=x.detach() > 0, out=gnp.zeros(3))))(P)
        np.testing.assert_allclose(found, [0.0, -0.25, -1.0])
