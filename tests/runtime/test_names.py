"""Names: of ops in errors, classes in errors, in `repr` and in pickles."""

import inspect
import operator
import pickle
import sys

import pytest

import gradsmith as gs

WRITES = {
    # what is called: the call, on a tensor of the dtype
    "add_": lambda x, other: x.add_(other),
    "sub_": lambda x, other: x.sub_(other),
    "mul_": lambda x, other: x.mul_(other),
    "div_": lambda x, other: x.div_(other),
    "pow_": lambda x, other: x.pow_(other),
}
OPERATORS = {
    "add_": operator.iadd, "sub_": operator.isub, "mul_": operator.imul, "div_": operator.itruediv,
    "pow_": operator.ipow,
}  # fmt: skip


@pytest.mark.parametrize("calls", [WRITES, OPERATORS])
@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_does_not_fit_names_the_method(name, calls):
    with pytest.raises(RuntimeError, match=rf"^{name}: result type complex64 can't be cast to .* type float32"):
        calls[name](gs.ones(2, 3), gs.ones(2, 3, dtype=gs.complex64))
    with pytest.raises(RuntimeError, match=rf"^{name}: output with shape \[3\] doesn't match"):
        calls[name](gs.ones(3), gs.ones(2, 3))


@pytest.mark.parametrize(
    "name", ["eq_", "ne_", "lt_", "le_", "gt_", "ge_", "floor_divide_", "remainder_", "clamp_min_", "clamp_max_"]
)
def test_other_writes_do_too(name):
    with pytest.raises(RuntimeError, match=rf"^{name}: output with shape \[3\]"):
        getattr(gs.ones(3), name)(gs.ones(2, 3))


@pytest.mark.parametrize(
    "call, named",
    [
        (lambda: gs.bitwise_not(gs.ones(2)), "bitwise_not"),
        (lambda: ~gs.ones(2), "bitwise_not"),
        (lambda: gs.ones(2).bitwise_not_(), "bitwise_not"),
        (lambda: gs.ones(2) & gs.ones(2), "bitwise_and"),
    ],
)
def test_what_is_not_implemented_is_an_op(call, named):
    with pytest.raises(NotImplementedError, match=f'"{named}" not implemented for'):
        call()


# ---- classes


def test_a_tensor_is_a_gradsmith_tensor():
    assert f"{gs.Tensor}" == "<class 'gradsmith.Tensor'>"
    assert (gs.Tensor.__module__, gs.Tensor.__qualname__) == ("gradsmith", "Tensor")
    assert inspect.getmodule(gs.Tensor) is gs


@pytest.mark.parametrize(
    "call",
    [
        lambda: gs.ones(1).missing,
        lambda: setattr(gs.ones(1), "shape", 3),
        lambda: setattr(gs.ones(1), "grad_fn", 3),
        lambda: gs.ones(1).share_version_with(3),
        lambda: gs.Tensor.sin(3),
        lambda: gs.ones(1)(),
        # Python 3.10 says nothing but "__enter__".
        *([lambda: with_statement(gs.ones(1))] if sys.version_info >= (3, 11) else []),
    ],
)
def test_errors_say_so(call):
    with pytest.raises((AttributeError, TypeError), match=r"gradsmith\.Tensor") as error:
        call()
    assert "runtime" not in str(error.value) and "generated" not in str(error.value)


def with_statement(tensor):
    with tensor:
        pass


def test_public_classes_are_pickled_by_their_public_names():
    for cls in (gs.Tensor, gs.no_grad, gs.inference_mode, gs.device, gs.Generator, gs.autograd.SavedTensor):
        stored = pickle.dumps(cls)
        assert pickle.loads(stored) is cls and b"runtime" not in stored and b"generated" not in stored
    stored = pickle.dumps(gs.ones(2))
    assert pickle.loads(stored).tolist() == [1, 1] and b"generated" not in stored


def test_other_classes():
    assert repr(gs.no_grad) == "<class 'gradsmith.no_grad'>"
    assert repr(gs.autograd.graph.Node) == "<class 'gradsmith.autograd.graph.Node'>"
    assert repr(gs.device) == "<class 'gradsmith.device'>"
