"""Calls of PyTorch's first years, a factor before what it multiplies: `x.add_(0.5, y)`; they mean what today's mean."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradsmith as gs

pytestmark = pytest.mark.filterwarnings("ignore:This overload of")

# Op -> shapes of its input and of the tensors after it.
SHAPES = {
    "add": ((2, 3), (3,)),
    "sub": ((2, 3), (3,)),
    "addcmul": ((2, 3), (3,), (2, 3)),
    "addcdiv": ((2, 3), (3,), (2, 3)),
    "addmm": ((2, 3), (2, 4), (4, 3)),
    "addmv": ((2,), (2, 4), (4,)),
    "addr": ((2, 3), (2,), (3,)),
    "addbmm": ((2, 3), (5, 2, 4), (5, 4, 3)),
    "baddbmm": ((5, 2, 3), (5, 2, 4), (5, 4, 3)),
}
FACTORS: dict[str, list[tuple[str, ...]]] = {"add": [("alpha",)], "sub": [("alpha",)]}
FACTORS |= {"addcmul": [("value",)], "addcdiv": [("value",)]}
CASES = [(op, factors) for op in SHAPES for factors in FACTORS.get(op, [("beta",), ("beta", "alpha")])]
VALUES = {"alpha": 0.5, "beta": -2, "value": 0.25}


def tensors(op: str) -> list[gs.Tensor]:
    rng = np.random.default_rng(5)
    return [gs.tensor(rng.uniform(1, 2, shape), requires_grad=True) for shape in SHAPES[op]]


def gradients(result: gs.Tensor, inputs: list[gs.Tensor]) -> list[np.ndarray]:
    return [grad.numpy() for grad in gs.autograd.grad(result.square().sum(), inputs)]


def assert_same(result: gs.Tensor, wanted: gs.Tensor, inputs: list[gs.Tensor]) -> None:
    assert np.array_equal(result.detach().numpy(), wanted.detach().numpy())
    for found, expected in zip(gradients(result, inputs), gradients(wanted, inputs), strict=True):
        assert np.array_equal(found, expected)


def of_method(factors: tuple[str, ...], others: list[Any]) -> list[Any]:
    return [VALUES[factor] for factor in factors] + others


def of_function(factors: tuple[str, ...], inputs: list[Any]) -> list[Any]:
    """`beta` is before the input that it multiplies, other factors after it."""
    before = [VALUES[factor] for factor in factors if factor == "beta"]
    after = [VALUES[factor] for factor in factors if factor != "beta"]
    return [*before, inputs[0], *after, *inputs[1:]]


def today(factors: tuple[str, ...]) -> dict[str, float]:
    return {factor: VALUES[factor] for factor in factors}


@pytest.mark.parametrize(("op", "factors"), CASES)
def test_method(op, factors):
    inputs = tensors(op)
    result = getattr(inputs[0], op)(*of_method(factors, inputs[1:]))
    assert_same(result, getattr(inputs[0], op)(*inputs[1:], **today(factors)), inputs)


@pytest.mark.parametrize(("op", "factors"), CASES)
def test_method_in_place(op, factors):
    inputs = tensors(op)
    changed = inputs[0].clone()
    result = getattr(changed, op + "_")(*of_method(factors, inputs[1:]))
    assert result is changed
    assert_same(result, getattr(inputs[0].clone(), op + "_")(*inputs[1:], **today(factors)), inputs)


@pytest.mark.parametrize(("op", "factors"), CASES)
def test_function(op, factors):
    inputs = tensors(op)
    result = getattr(gs, op)(*of_function(factors, inputs))
    assert_same(result, getattr(gs, op)(*inputs, **today(factors)), inputs)


@pytest.mark.parametrize(("op", "factors"), CASES)
def test_function_with_out(op, factors):
    inputs = [t.detach() for t in tensors(op)]
    out = gs.empty(SHAPES[op][0], dtype=gs.float64)
    assert getattr(gs, op)(*of_function(factors, inputs), out=out) is out
    assert np.array_equal(out.numpy(), getattr(gs, op)(*inputs, **today(factors)).numpy())


@pytest.mark.parametrize(
    ("older", "wanted"),
    [
        (lambda x, y: x.add(2, other=y), [8.0, 11.0]),
        (lambda x, y: gs.add(x, 2, other=y), [8.0, 11.0]),
        (lambda x, y: x.addcmul(2, tensor1=y, tensor2=y), [20.0, 35.0]),
        (lambda x, y: x.add(0.5, 4), [4.0, 5.0]),
        (lambda x, y: gs.sub(x, 2, 1), [0.0, 1.0]),
        (lambda x, y: x.add(gs.tensor(2.0), y), [8.0, 11.0]),
        (lambda x, y: x.add(np.float32(2), y), [8.0, 11.0]),
        (lambda x, y: gs.add(1, 2, y), [7.0, 9.0]),
        (lambda x, y: gs.nn.Parameter(x).detach().add_(-1, y), [-1.0, -1.0]),
        (lambda x, y: gs.Tensor.sub_(x, 2, y), [-4.0, -5.0]),
        (lambda x, y: gs.func.vmap(lambda a, b: a.add(2, b))(x, y), [8.0, 11.0]),
        (lambda x, y: gs.compile(lambda a, b: a.add(2, b))(x, y), [8.0, 11.0]),
    ],
)
def test_forms_of_names_numbers_and_subclasses(older, wanted):
    assert older(gs.tensor([2.0, 3.0]), gs.tensor([3.0, 4.0])).tolist() == wanted


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.add("a", x), r"add\(\) takes at most 1 positional argument \(2 given\)\. The signature is add\("),
        (lambda x: x.add(0.5, x, x), r"add\(\) takes at most 1 positional argument \(3 given\)"),
        (lambda x: x.add(0.5, x, out=x), r"add\(\) takes at most 1 positional argument \(2 given\)"),
        (lambda x: x.add(x, x), r"add\(\) takes at most 1 positional argument \(2 given\)"),
        (lambda x: x.add(gs.tensor(1.0, requires_grad=True), x), r"add\(\) takes at most 1 positional argument"),
        (lambda x: x.mul(2, x), r"mul\(\) takes at most 1 positional argument \(2 given\)"),
        (lambda x: gs.addmm(x, 2, x, x), r"addmm\(\) takes exactly 3 positional arguments \(4 given\)"),
        (lambda x: gs.addmm(2, 3, x, x), r"addmm\(\) takes exactly 3 positional arguments \(4 given\)"),
        (lambda x: gs.addcmul(x, 2, x, x, vale=1), r"addcmul\(\)"),
        (lambda x: gs.addcmul(x, 2), r"addcmul\(\) missing 1 required argument: 'tensor2'"),
    ],
)
def test_other_calls_fail_as_before(call, message):
    with pytest.raises(TypeError, match=message):
        call(gs.ones(2, 2))


def test_errors_of_the_op_are_those_of_today():
    with pytest.raises(RuntimeError) as today_error:
        gs.ones(3).add(gs.ones(2), alpha=2)
    with pytest.raises(RuntimeError) as older_error:
        gs.ones(3).add(2, gs.ones(2))
    assert str(older_error.value) == str(today_error.value)


# Each form warns but once in a process.
PROGRAM = """
import warnings
import gradsmith as gs

x = gs.ones(2)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        x.add_(0.5, x)
        gs.add(x, 0.5, x)
        gs.addmm(2, gs.ones(2, 2), 3, gs.ones(2, 2), gs.ones(2, 2))
for warning in caught:
    print(warning.category.__name__, warning.lineno, repr(str(warning.message)))
"""
WARNINGS = [
    "UserWarning 9 'This overload of add_ is deprecated:\\n\\tadd_(Number alpha, Tensor other)\\n"
    "Consider using one of the following signatures instead:\\n\\tadd_(Tensor other, *, Number alpha = 1)'",
    "UserWarning 10 'This overload of add is deprecated:\\n"
    "\\tadd(Tensor input, Number alpha, Tensor other)\\n"
    "Consider using one of the following signatures instead:\\n"
    "\\tadd(Tensor input, Tensor other, *, Number alpha = 1)'",
    "UserWarning 11 'This overload of addmm is deprecated:\\n"
    "\\taddmm(Number beta, Tensor input, Number alpha, Tensor mat1, Tensor mat2)\\n"
    "Consider using one of the following signatures instead:\\n"
    "\\taddmm(Tensor input, Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1)'",
]


def test_each_form_warns_once():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == WARNINGS


def test_a_warning_that_is_an_error_is_one():
    program = (
        "import warnings; warnings.simplefilter('error'); import gradsmith as gs; gs.ones(2).add_(0.5, gs.ones(2))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stderr.splitlines()[-4].startswith("UserWarning: This overload of add_ is deprecated")
