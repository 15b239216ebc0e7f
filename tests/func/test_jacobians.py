"""jacrev, jacfwd, hessian and hvp."""

from functools import partial

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd.functional import hessian as hessian_of
from gradsmith.autograd.functional import jacobian as jacobian_of

X = gs.tensor([1.0, 2.0])
BOTH = pytest.mark.parametrize("jacobian", [func.jacrev, func.jacfwd])


@BOTH
def test_shapes_are_those_of_output_and_input(jacobian):
    w = gs.tensor(np.arange(6.0).reshape(2, 3))
    found = jacobian(lambda w: w * w.sum(0))(w)
    assert found.shape == (2, 3, 2, 3)
    array = w.numpy()
    expected = np.einsum("ik,jl->ijkl", np.eye(2), np.eye(3)) * array.sum(0)[None, :, None, None]
    expected = expected + array[:, :, None, None] * np.eye(3)[None, :, None, :]
    np.testing.assert_allclose(found.numpy(), expected)
    assert jacobian(lambda x: x.sum())(X).tolist() == [1.0, 1.0]
    assert jacobian(lambda x: x * X)(gs.tensor(3.0)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("derivative", "shape"),
    [
        (func.jacrev, (4, 3)),
        (func.jacfwd, (4, 3)),
        (lambda f: func.hessian(lambda x: f(x).sum()), (3, 3)),
        (lambda f: lambda x: func.vmap(func.jacrev(f))(x.expand(2, 3)), (2, 4, 3)),
        (lambda f: partial(jacobian_of, f, vectorize=True), (4, 3)),
        (lambda f: partial(jacobian_of, f, vectorize=True, strategy="forward-mode"), (4, 3)),
        (lambda f: partial(hessian_of, lambda x: f(x).sum(), vectorize=True), (3, 3)),
    ],
)
def test_without_data_they_have_shapes(derivative, shape):
    weight = gs.ones(4, 3, device="meta")
    found = derivative(lambda x: (x.sin() * weight).sum(-1))(gs.ones(3, device="meta"))
    assert (found.shape, found.device) == (shape, "meta")


@BOTH
def test_trees_of_inputs_within_trees_of_outputs(jacobian):
    def f(first, other):
        return {"y": first["a"] * other, "z": [first["b"].sum()]}

    first = {"a": X, "b": gs.ones(3)}
    found = jacobian(f, argnums=(0, 1))(first, gs.tensor(5.0))
    assert found["y"][0]["a"].tolist() == [[5.0, 0.0], [0.0, 5.0]]
    assert found["y"][0]["b"].tolist() == [[0.0, 0.0, 0.0]] * 2
    assert found["y"][1].tolist() == [1.0, 2.0]
    assert found["z"][0][0]["a"].tolist() == [0.0, 0.0] and found["z"][0][0]["b"].tolist() == [1.0, 1.0, 1.0]
    assert found["z"][0][1].tolist() == 0.0
    assert jacobian(f)(first, gs.tensor(5.0))["z"][0]["b"].tolist() == [1.0, 1.0, 1.0]


@BOTH
def test_second_results(jacobian):
    found, aux = jacobian(lambda x: (x * x, ("kept", 2 * x)), has_aux=True)(X)
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert aux[0] == "kept" and aux[1].tolist() == [2.0, 4.0] and not aux[1].requires_grad


@BOTH
@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_nothing_to_differentiate(jacobian, shape):
    assert jacobian(lambda x: x * 2)(gs.ones(shape)).shape == shape + shape
    assert jacobian(lambda x: gs.ones(4))(gs.ones(shape)).shape == (4, *shape)
    assert jacobian(lambda x: gs.ones(shape))(X).shape == (*shape, 2)


@BOTH
def test_transforms_are_decorators(jacobian):
    @jacobian(argnums=1)
    def f(x, y):
        return x * y

    assert f(X, gs.tensor(2.0)).tolist() == [1.0, 2.0]


@BOTH
def test_a_jacobian_is_differentiable(jacobian):
    w = gs.tensor(3.0, requires_grad=True)
    found = jacobian(lambda x: w * x**3)(X)
    assert gs.autograd.grad(found.sum(), w)[0].item() == 15.0


def test_hessian_of_several_arguments():
    x, y = gs.tensor([1.0, 2.0], dtype=gs.float64), gs.tensor(3.0, dtype=gs.float64)
    (xx, xy), (yx, yy) = func.hessian(lambda x, y: (x**2).sum() * y**3, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(xx.numpy(), 54.0 * np.eye(2))
    np.testing.assert_allclose(xy.numpy(), [54.0, 108.0])
    np.testing.assert_allclose(yx.numpy(), [54.0, 108.0])
    assert yy.item() == 90.0
    assert func.hessian(lambda x: x**3)(X).shape == (2, 2, 2)


def test_hessian_vector_products():
    x, v = gs.tensor([1.0, 2.0], dtype=gs.float64), gs.tensor([0.5, -1.0], dtype=gs.float64)

    def f(x):
        return gs.exp(x).prod() + (x**3).sum()

    value, (product,) = func.hvp(f, (x,), (v,))
    np.testing.assert_allclose(product.numpy(), func.hessian(f)(x).numpy() @ v.numpy())
    assert value.item() == f(x).item()
    _, products = func.hvp(lambda a, b: (a * b["k"]).sum(), (x, {"k": v}), (v, {"k": x}))
    assert products[0].tolist() == x.tolist() and products[1]["k"].tolist() == v.tolist()


# ---- random numbers


def test_randomness():
    gs.manual_seed(3)
    noisy = lambda x: x * gs.rand(2)  # noqa: E731
    with pytest.raises(RuntimeError, match=r"jacfwd\(f\): .* rand\(\) draws random numbers, .* randomness='same'"):
        func.jacfwd(noisy)(X)
    gs.manual_seed(3)
    expected = gs.rand(2)
    gs.manual_seed(3)
    found = func.jacfwd(noisy, randomness="same")(X)
    np.testing.assert_array_equal(found.numpy(), np.diag(expected.numpy()))
    different = func.jacfwd(noisy, randomness="different")(X)
    assert different[0, 0].item() not in found.numpy()
    gs.manual_seed(3)
    np.testing.assert_array_equal(func.jacrev(noisy)(X).numpy(), found.numpy())  # one call, one draw


# ---- errors


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: func.jacrev(gs.sin, chunk_size=0), ValueError, r"jacrev: `chunk_size` should be greater than 0"),
        (lambda: func.jacfwd(gs.sin, randomness="none"), RuntimeError, r"jacfwd: Only allowed values .* Got 'none'"),
        (
            lambda: func.jacrev(gs.sin)(gs.tensor([1j])),
            RuntimeError,
            r"jacrev: Expected all inputs to be real .* idx: 0",
        ),
        (lambda: func.jacfwd(gs.sin)(gs.tensor([1j])), RuntimeError, r"all inputs to be real"),
        (lambda: func.jacrev(lambda x: x * 1j)(X), RuntimeError, r"all outputs to be real .* output idx: 0"),
        (lambda: func.jacfwd(lambda x: x * 1j)(X), RuntimeError, r"all outputs to be real"),
        (lambda: func.jacfwd(lambda x: None)(X), RuntimeError, r"jvp\(f, primals, tangents\): .* lack a return"),
        (lambda: func.jacrev(lambda x: None)(X), RuntimeError, r"vjp\(f, \*primals\): .* lack a return"),
        (lambda: func.hessian(lambda x: None)(X), RuntimeError, r"lack a return"),
        (lambda: func.hvp(gs.sin, X, X), RuntimeError, r"primals to be a tuple"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
