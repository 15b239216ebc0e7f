"""grad, grad_and_value and vjp: structures of arguments and results, and what the caller's graph sees of them."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd import forward_ad

Weights = namedtuple("Weights", "matrix shift")


@dataclass
class Model:
    weights: Weights
    scale: object


def loss(model, x):
    return ((x @ model["w"] + model["b"][0]) ** 2).sum() * model["b"][1]


def test_a_gradient_has_the_structure_of_its_argument():
    model = {"w": gs.tensor([[1.0], [2.0]]), "b": [gs.tensor(3.0), gs.tensor(0.5)]}
    x = gs.tensor([[1.0, -1.0]])
    found = func.grad(loss)(model, x)
    assert found["w"].tolist() == [[2.0], [-2.0]]
    assert [one.tolist() for one in found["b"]] == [2.0, 4.0]
    assert type(found) is dict and type(found["b"]) is list


def test_named_tuples_and_dataclasses():
    model = Model(Weights(gs.tensor([1.0, 2.0]), gs.tensor(1.0)), gs.tensor(3.0))
    found = func.grad(lambda m: ((m.weights.matrix + m.weights.shift) * m.scale).sum())(model)
    assert isinstance(found, Model) and isinstance(found.weights, Weights)
    assert found.weights.matrix.tolist() == [3.0, 3.0]
    assert (found.weights.shift.item(), found.scale.item()) == (6.0, 5.0)


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [(0, 3.0), (1, 2.0), (-1, 2.0), ((0, 1), (3.0, 2.0)), ((-1, 0), (2.0, 3.0)), ((1,), (2.0,))],
)
def test_argnums(argnums, expected):
    found = func.grad(lambda x, y: x * y, argnums=argnums)(gs.tensor(2.0), gs.tensor(3.0))
    assert (tuple(one.item() for one in found) if isinstance(expected, tuple) else found.item()) == expected


def test_other_arguments_may_be_anything():
    found = func.grad(lambda x, name, *, power: x**power, argnums=0)(gs.tensor(2.0), "cube", power=3)
    assert found.item() == 12.0


def test_values_and_second_results():
    x = gs.tensor(3.0)
    assert [one.item() for one in func.grad_and_value(gs.square)(x)] == [6.0, 9.0]
    assert [one.item() for one in func.value_and_grad(gs.square)(x)] == [9.0, 6.0]
    gradient, (value, (aux, text)) = func.grad_and_value(lambda x: (x * x, (2 * x, "kept")), has_aux=True)(x)
    assert (gradient.item(), value.item(), aux.item(), text) == (6.0, 9.0, 6.0, "kept")
    assert not (gradient.requires_grad or value.requires_grad or aux.requires_grad)
    (value, aux), gradient = func.value_and_grad(lambda x: (x * x, 2 * x), has_aux=True)(x)
    assert (gradient.item(), value.item(), aux.item()) == (6.0, 9.0, 6.0)
    gradient, aux = func.grad(lambda x: (x * x, None), has_aux=True)(x)
    assert gradient.item() == 6.0 and aux is None


def test_transforms_are_decorators():
    @func.grad
    def cube(x):
        """The third power."""
        return x**3

    @gs.value_and_grad(argnums=1)
    def product(x, y):
        return x * y

    assert cube(gs.tensor(2.0)).item() == 12.0
    assert (cube.__name__, cube.__doc__) == ("cube", "The third power.")
    assert [one.item() for one in product(gs.tensor(2.0), gs.tensor(3.0))] == [6.0, 2.0]
    assert gs.grad is func.grad


def test_what_the_function_does_not_use_has_a_gradient_of_zeros():
    x = gs.tensor([1.0, 2.0])
    assert func.grad(lambda x, y: x.sum(), argnums=1)(x, x).tolist() == [0.0, 0.0]
    assert func.grad(lambda x: gs.tensor(1.0))(x).tolist() == [0.0, 0.0]
    assert func.grad(lambda x: x.detach().sum())(x).tolist() == [0.0, 0.0]


def test_the_same_tensor_as_two_arguments():
    x = gs.tensor(3.0)
    assert [one.item() for one in func.grad(lambda a, b: a * a * b, argnums=(0, 1))(x, x)] == [18.0, 9.0]
    assert [one.item() for one in func.grad(lambda pair: pair[0] * pair[0] * pair[1])([x, x])] == [18.0, 9.0]


# ---- the graph of the caller


def test_the_arguments_stay_as_they_are():
    x = gs.tensor([1.0, 2.0])
    func.grad(lambda x: (x * x).sum())(x)
    assert not x.requires_grad and x.grad is None
    w = gs.tensor([1.0], requires_grad=True)
    func.grad(lambda x: (x * w).sum())(x)
    assert w.grad is None


def test_results_without_a_history_outside_have_none():
    x = gs.tensor([1.0, 2.0])
    gradient, value = func.grad_and_value(lambda x: (x**3).sum())(x)
    assert gradient.grad_fn is None and value.grad_fn is None
    output, vjp_fn = func.vjp(lambda x: x * x, x)
    assert output.grad_fn is None and vjp_fn(x)[0].grad_fn is None


def test_results_are_differentiable_by_what_requires_grad_outside():
    w = gs.tensor([2.0, 3.0], requires_grad=True)
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    gradient, value = func.grad_and_value(lambda x: (w * x**3).sum())(x)
    assert [one.tolist() for one in gs.autograd.grad(value, (w, x), retain_graph=True)] == [[1.0, 8.0], [6.0, 36.0]]
    assert [one.tolist() for one in gs.autograd.grad(gradient.sum(), (w, x))] == [[3.0, 12.0], [12.0, 36.0]]


def test_backward_through_a_gradient():
    w = gs.tensor([2.0, 3.0], requires_grad=True)
    func.grad(lambda x: (w * x * x).sum())(gs.tensor([1.0, 2.0])).sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]


def test_no_grad_outside_makes_results_constants_only():
    w = gs.tensor([2.0, 3.0], requires_grad=True)
    with gs.no_grad():
        found = func.grad(lambda x: (w * x * x).sum())(w)
        assert found.tolist() == [8.0, 18.0] and not found.requires_grad
        assert not gs.is_grad_enabled()


def test_no_grad_inside_makes_constants():
    def f(x):
        with gs.no_grad():
            constant = x * x
        return x - constant

    assert func.grad(f)(gs.tensor(5.0)).item() == 1.0
    assert func.grad(func.grad(lambda x: f(x) * x))(gs.tensor(5.0)).item() == 2.0


def test_grad_mode_is_as_before_when_the_function_raises():
    def fails(x):
        gs.set_grad_enabled(False)
        raise KeyError("mine")

    with gs.enable_grad():
        with pytest.raises(KeyError, match="mine"):
            func.grad(fails)(gs.tensor(1.0))
        assert gs.is_grad_enabled()


def test_an_argument_may_not_be_written():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        func.grad(lambda x: x.mul_(2).sum())(gs.tensor([1.0]))


def test_gradients_inside_the_function():
    def f(x):
        (inner,) = gs.autograd.grad((x**3).sum(), x, create_graph=True)
        return (inner * x).sum()

    assert func.grad(f)(gs.tensor([2.0])).tolist() == [36.0]

    def with_backward(x):
        w = gs.tensor(3.0, requires_grad=True)
        (w * x.detach()).backward()
        return w.grad * x

    assert func.grad(with_backward)(gs.tensor(2.0)).item() == 2.0


# ---- nesting


def test_levels_are_not_confused():
    assert func.grad(lambda x: x * func.grad(lambda y: x + y)(gs.tensor(1.0)))(gs.tensor(3.0)).item() == 1.0
    assert func.grad(lambda x: x * func.grad(lambda y: x * y)(x))(gs.tensor(3.0)).item() == 6.0
    inner = func.grad(lambda x: func.grad(lambda y: x * x * y * y)(gs.tensor(3.0)))
    assert inner(gs.tensor(2.0)).item() == 24.0


def test_deep_nesting():
    f = gs.exp
    for _ in range(6):
        f = func.grad(f)
    assert f(gs.tensor(0.0, dtype=gs.float64)).item() == pytest.approx(1.0)
    power = lambda x: x**7  # noqa: E731
    for _ in range(7):
        power = func.grad(power)
    assert power(gs.tensor(1.5, dtype=gs.float64)).item() == pytest.approx(5040.0)


# ---- vector-Jacobian products


def test_vjp_of_trees():
    x, y = gs.tensor([1.0, 2.0]), gs.tensor([[3.0], [4.0]])
    output, vjp_fn = func.vjp(lambda x, y: {"product": x @ y, "sum": (x.sum(), y)}, x, y)
    assert output["product"].tolist() == [11.0] and output["sum"][0].item() == 3.0
    vectors = {"sum": (gs.tensor(10.0), 0 * y), "product": gs.tensor([1.0])}  # in another order
    assert [one.tolist() for one in vjp_fn(vectors)] == [[13.0, 14.0], [[1.0], [2.0]]]


def test_vjp_can_be_repeated_and_differentiated():
    x = gs.tensor([1.0, 2.0])
    output, vjp_fn = func.vjp(gs.exp, x)
    for scale in (1.0, -2.0):
        (found,) = vjp_fn(scale * gs.ones(2))
        np.testing.assert_allclose(found.numpy(), scale * np.exp([1.0, 2.0]), rtol=1e-6)
    assert func.grad(lambda v: vjp_fn(v)[0].sum())(gs.ones(2)).tolist() == output.tolist()
    with pytest.raises(RuntimeError, match="second time|already been freed"):
        vjp_fn(gs.ones(2), retain_graph=False)
        vjp_fn(gs.ones(2))


def test_vjp_of_complex_functions():
    z = gs.tensor([1.0 + 2.0j])
    output, vjp_fn = func.vjp(lambda z: z * z, z)
    assert output.tolist() == [-3 + 4j]
    assert vjp_fn(gs.tensor([1.0 + 0j]))[0].tolist() == [2 - 4j]


def test_vjp_with_aux():
    output, vjp_fn, aux = func.vjp(lambda x: (x * x, {"twice": 2 * x}), gs.tensor(3.0), has_aux=True)
    assert (output.item(), vjp_fn(gs.tensor(1.0))[0].item(), aux["twice"].item()) == (9.0, 6.0, 6.0)
    assert not aux["twice"].requires_grad


def test_outputs_that_are_inputs_or_constants():
    x = gs.tensor([1.0, 2.0])
    (same, _constant), vjp_fn = func.vjp(lambda x: (x, gs.ones(3)), x)
    assert same.tolist() == [1.0, 2.0] and not same.requires_grad
    assert vjp_fn((x, gs.ones(3)))[0].tolist() == [1.0, 2.0]


def test_a_tangent_goes_through():
    """The value and the gradient of a dual number are dual numbers."""
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor(3.0), gs.tensor(1.0))
        gradient, value = func.grad_and_value(lambda x: x**3)(x)
        assert forward_ad.unpack_dual(value).tangent.item() == 27.0
        assert forward_ad.unpack_dual(gradient).tangent.item() == 18.0


# ---- errors

X = gs.tensor([1.0, 2.0])


def nothing(x):
    pass


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: func.grad(3), TypeError, r"grad\(\): func must be callable, got int"),
        (lambda: func.grad(nothing)(X), RuntimeError, r"grad\(f\): .* a Tensor, got None: does f lack a return"),
        (lambda: func.grad(lambda x: x)(X), RuntimeError, r"a scalar Tensor, got tensor with 1 dims, of shape \[2\]"),
        (lambda: func.grad(lambda x: 1.0)(X), RuntimeError, r"to return a Tensor, got float"),
        (lambda: func.grad(lambda x: x.sum().to(gs.int64))(X), RuntimeError, r"got Tensor with dtype int64"),
        (lambda: func.grad(lambda x: x.sum())(gs.tensor([1])), RuntimeError, r"args\[0\] has dtype int64; convert"),
        (lambda: func.grad(lambda x: x.sum())(gs.tensor([1j])), RuntimeError, r"all outputs to be real"),
        (lambda: func.grad(lambda x: x[0].sum())([X, 3]), ValueError, r"args\[0\]\[1\] must be a Tensor, .* got int"),
        (lambda: func.grad(lambda x: x)("2"), ValueError, r"args\[0\] must be a Tensor, .* got str; leave it out"),
        (lambda: func.grad(lambda x: x)({}), RuntimeError, r"at least one Tensor"),
        (lambda: func.grad(nothing, argnums=1)(X), RuntimeError, r"argnum=1, but only 1 positional inputs"),
        (lambda: func.grad(nothing, argnums=-2)(X), RuntimeError, r"argnum=-2, but only 1 positional"),
        (lambda: func.grad(nothing, argnums=())(X), RuntimeError, r"argnums must be non-empty"),
        (lambda: func.grad(nothing, argnums=(0, -1))(X), RuntimeError, r"must be unique, got \(0, -1\)"),
        (lambda: func.grad(nothing, argnums=[0])(X), RuntimeError, r"argnums must be int .* got: list"),
        (lambda: func.grad(nothing, argnums=(0.0,))(X), RuntimeError, r"argnum must be int, got: float"),
        (
            lambda: func.grad(lambda x: x.sum(), has_aux=True)(X),
            RuntimeError,
            r"grad_and_value\(f\)\(\*args\): output of function f should be a tuple: \(output, aux\) .* got Tensor",
        ),
        (lambda: func.vjp(nothing, X), RuntimeError, r"vjp\(f, \*primals\): .* non-empty output .* lack a return"),
        (lambda: func.vjp(lambda x: (), X), RuntimeError, r"non-empty output"),
        (
            lambda: func.vjp(lambda x: [x, 1], X),
            RuntimeError,
            r"vjp\(f, \*primals\): expected f\(\*primals\) to return only tensors, .* output\[1\] is int",
        ),
        (lambda: func.vjp(lambda x: x.argmax(), X), RuntimeError, r"dtype int64"),
        (lambda: func.vjp(gs.sin, X)[1]((X,)), RuntimeError, r"cotangents is a tuple where a leaf is expected"),
        (lambda: func.vjp(gs.sin, X)[1](gs.ones(3)), RuntimeError, r"cotangents has shape \[3\], .* has shape \[2\]"),
        (lambda: func.vjp(gs.sin, X)[1](X.to(gs.float64)), RuntimeError, r"dtype float64, .* float32; convert it with"),
        (lambda: func.vjp(gs.sin, X)[1](None), RuntimeError, r"cotangents to only contain Tensors, got .*NoneType"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_errors_name_the_function_and_its_line():
    line = nothing.__code__.co_firstlineno
    with pytest.raises(RuntimeError, match=rf"f is nothing, .*test_reverse\.py:{line}\)"):
        func.grad(func.grad(nothing))(X)
