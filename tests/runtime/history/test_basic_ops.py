"""Nodes that stand for what cannot be differentiated."""

import pytest

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.runtime.history import basic_ops


def test_delayed_error_is_the_identity_until_it_is_differentiated():
    x = gs.ones(2, requires_grad=True)
    a, none, b = basic_ops.delayed_error("the reason", [x * 2, None, x.detach()], [x])
    assert a.tolist() == [2, 2] and none is None and b.requires_grad and b.data_ptr() == x.data_ptr()
    assert isinstance(a.grad_fn, basic_ops.Error) and b.output_nr == 2
    for use in (lambda: (a * 3).sum().backward(), lambda: grad(b.sum(), x)):
        with pytest.raises(RuntimeError, match="^the reason$"):
            use()
    assert x.grad is None


def test_not_implemented():
    x = gs.ones(2, requires_grad=True)
    (y,) = basic_ops.not_implemented("some_op", [x])
    assert y.grad_fn.name() == "NotImplemented"
    with pytest.raises(NotImplementedError, match="the derivative for 'some_op' is not implemented"):
        y.sum().backward()


def test_gradients_end_at_an_undefined_one():
    x = gs.ones(2, requires_grad=True)
    (y,) = basic_ops.undefined_grad([x * 2])
    (y + x).sum().backward()
    assert x.grad.tolist() == [1, 1]
    assert grad(y.sum(), x, allow_unused=True) == (None,)


def test_what_has_no_gradient_has_no_history():
    (index,) = basic_ops.undefined_grad([gs.arange(3)])
    assert index.grad_fn is None and index.tolist() == [0, 1, 2]
