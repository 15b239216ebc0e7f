"""Values of tensors that are being differentiated, as Python numbers: constants, as in PyTorch."""

import math
import warnings

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func

TWO, ONE = gs.tensor(2.0), gs.tensor(1.0)
TRANSFORMS = {
    "grad": func.grad,
    "jvp": lambda f: lambda x: func.jvp(f, (x,), (ONE,))[1],
    "vjp": lambda f: lambda x: func.vjp(f, x)[1](ONE)[0],
    "jacrev": func.jacrev,
    "jacfwd": func.jacfwd,
    "linearize": lambda f: lambda x: func.linearize(f, x)[1](ONE),
    "nested": lambda f: lambda x: func.grad(lambda y: func.grad(lambda z: f(z) * y)(y))(x),
}
# Each with its factor at 2; the derivative of `x * factor` is that factor.
SILENT = {
    "item": (lambda x: x.item(), 2.0),
    "int": (lambda x: int(x), 2.0),
    "bool": (lambda x: 3.0 if bool(x > 0) else 0.0, 3.0),
    "if": (lambda x: 3.0 if x > 0 else 0.0, 3.0),
    "while": (lambda x: doublings(x), 4.0),
    "tolist": (lambda x: x.tolist(), 2.0),
    "index": (lambda x: [1, 2, 5][x.long()], 5.0),
    "in": (lambda x: float(2.0 in x.reshape(1)), 1.0),
    "tensor": (lambda x: gs.tensor([x, x]).sum(), 4.0),
    "as_tensor": (lambda x: gs.as_tensor([x, x]).sum(), 4.0),
    "format": (lambda x: float(f"{x:.1f}") + float(f"{x}"), 4.0),
}
WARNED = {
    "float": (lambda x: float(x), 2.0),
    "complex": (lambda x: complex(x).real, 2.0),
    "math": (lambda x: math.log2(x), 1.0),
}


def doublings(x: gs.Tensor) -> int:
    count = 0
    while x.norm() < 20:
        x, count = x * 2, count + 1
    return count


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", SILENT)
def test_values_are_constants(name: str, transform: str) -> None:
    factor, expected = SILENT[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = TRANSFORMS[transform](lambda x: x * factor(x))(TWO)
    assert found.item() == pytest.approx(expected)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", WARNED)
def test_numbers_warn(name: str, transform: str) -> None:
    factor, expected = WARNED[name]
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        found = TRANSFORMS[transform](lambda x: x * factor(x))(TWO)
    assert found.item() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["item", "int", "bool", "if", "tolist", "float", "complex", "math", "index", "in"])
@pytest.mark.parametrize("inner", [lambda f: f, func.grad], ids=["vmap", "of grad"])
def test_slices_have_no_value(name: str, inner: object) -> None:
    factor, _ = {**SILENT, **WARNED}[name]
    with pytest.raises(RuntimeError, match="differs from slice to slice"):
        func.vmap(inner(lambda x: x * factor(x)))(gs.tensor([1.0, 2.0]))


def test_what_is_not_differentiated_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert func.grad(lambda x, y: x * float(y))(TWO, gs.tensor(3.0)).item() == 3.0
        assert func.grad(lambda x: x * float(x.detach()))(TWO).item() == 2.0
        assert float(gs.tensor(2.0, requires_grad=True)) == 2.0


def test_functions_of_arrays_are_told() -> None:
    for function in (lambda x: x * float(x), lambda x: x * math.exp(x), lambda x: func.grad(lambda y: y * float(x))(x)):
        with pytest.raises(TypeError, match="would lose its gradient"):
            func.grad(function)(2.0)
    with pytest.raises(TypeError, match="would lose its gradient"):
        func.jacfwd(lambda x: x * float(x[0]))(np.ones(2))
