"""The conformance table: every word of the language, proven, and what no proof tells."""

import subprocess
import sys

import numpy as np
import pytest
from outside_tables import CONFORMANCE

import gradsmith as gs
from gradsmith.autograd import forward_ad, grad

pytestmark = pytest.mark.compiles


def test_every_entry_is_proven(ops):
    proofs = subprocess.run(
        [sys.executable, "-m", "gradsmith.verify", "--table", str(CONFORMANCE)], capture_output=True, text=True
    )
    assert proofs.returncode == 0, proofs.stdout + proofs.stderr


# ---- in place


def tangent_in_place(write, value, tangent):
    """Value and tangent of a tensor after a write to it."""
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(value), gs.tensor(tangent))
        write(dual)
        return tuple(part.tolist() for part in forward_ad.unpack_dual(dual))


def test_the_tangent_of_a_write_is_that_of_the_value_before(ops):
    assert tangent_in_place(ops.cubed_, [2.0, 1.0], [1.0, 1.0]) == ([8, 1], [12, 3])
    assert tangent_in_place(ops.exped_, [0.0], [2.0]) == ([1], [2])
    value, tangent = tangent_in_place(lambda t: ops.weighed_(t, gs.tensor([2.0])), [3.0], [1.0])
    assert value == [18] and tangent == [12]


def test_an_operand_that_the_write_changes_too(ops):
    """The square times the weight, where both are one tensor, or one is a view of the other."""
    for write in (lambda t: ops.weighed_(t, t), lambda t: ops.weighed_(t, t[:])):
        assert tangent_in_place(write, [2.0], [1.0]) == ([8], [12])


def test_a_write_to_a_part_of_a_dual_number(ops):
    value, tangent = tangent_in_place(lambda t: ops.cubed_(t[1:]), [2.0, 3.0], [1.0, 1.0])
    assert value == [2, 27] and tangent == [1, 27]


def test_levels_of_a_write(ops):
    with forward_ad.dual_level():
        outer = forward_ad.make_dual(gs.tensor([2.0]), gs.tensor([1.0]))
        with forward_ad.dual_level():
            inner = forward_ad.make_dual(outer * 1, gs.tensor([1.0]))
            ops.cubed_(inner)
            first = forward_ad.unpack_dual(inner).tangent
            assert first.tolist() == [12]
            assert forward_ad.unpack_dual(first, level=0).tangent.tolist() == [12]


def test_a_formula_reads_the_result_of_a_write_to_a_view(ops):
    x = gs.tensor([0.0, 1.0], requires_grad=True)
    y = x * 1
    ops.exped_(y[1:])
    (found,) = grad(y.sum(), x)
    np.testing.assert_allclose(found, [1, np.e])


# ---- requirements


@pytest.mark.parametrize("form", ["function", "method", "in place"])
def test_what_a_call_requires(ops, form):
    x = gs.ones(2, 3)
    call = {
        "function": lambda: ops.reciprocal_matrix(x),
        "method": lambda: x.reciprocal_matrix(),
        "in place": lambda: x.reciprocal_matrix_(),
    }[form]
    with pytest.raises(RuntimeError) as raised:
        call()
    assert str(raised.value) == (
        "reciprocal_matrix(): square matrices are wanted, but got self.ndim = 2 and self.shape = (2, 3)"
    )
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]] and x._version == 0


def calls_of_scaled(ops, x, count, out):
    """Each form of the op, and an op that it is a part of."""
    return {
        "function": lambda: ops.scaled(x, count),
        "method": lambda: x.scaled(count),
        "in place": lambda: x.scaled_(count),
        "out": lambda: ops.scaled(x, count, out=out),
        "part": lambda: ops.scaled_and_moved(x, count),
    }


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("form", ["function", "method", "in place", "out", "part"])
def test_every_form_asks_what_a_call_requires(ops, form, device):
    x, out = gs.ones(2, device=device), gs.zeros(2, device=device)
    with pytest.raises(RuntimeError) as raised:
        calls_of_scaled(ops, x, -1, out)[form]()
    assert str(raised.value) == "scaled(): count must be positive, but got count = -1"
    with pytest.raises(RuntimeError, match=r"a vector or a matrix is wanted, but got self.ndim = 3"):
        calls_of_scaled(ops, gs.ones(1, 1, 1, device=device), 1, out)[form]()
    assert x._version == 0 and out._version == 0
    assert device == "meta" or (x.tolist(), out.tolist()) == ([1, 1], [0, 0])


@pytest.mark.parametrize("form", ["function", "method", "in place", "part"])
def test_requirements_in_forward_mode(ops, form):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.ones(2), gs.ones(2))
        with pytest.raises(RuntimeError, match="count must be positive"):
            calls_of_scaled(ops, dual, 0, None)[form]()
        assert [part.tolist() for part in forward_ad.unpack_dual(dual)] == [[1, 1], [1, 1]]


# ---- gradients


def test_a_condition_that_indexes_past_a_shape(ops):
    """The message is that of the condition; the type says what went wrong."""
    assert ops.rows_of_three(gs.ones(2, 3)).shape == (2, 3)
    with pytest.raises(
        RuntimeError, match=r"rows_of_three\(\): rows of three are wanted, but got self.shape = \(3, 2\)"
    ):
        ops.rows_of_three(gs.ones(3, 2))
    for call in (ops.rows_of_three, gs.Tensor.rows_of_three_):
        with pytest.raises(
            IndexError, match=r"rows_of_three\(\): rows of three are wanted, but got self.shape = \(3,\)"
        ):
            call(gs.ones(3))


def test_linear_functions_of_two_dtypes(ops):
    x = gs.tensor([[1.0, 2.0]], dtype=gs.float32, requires_grad=True)
    y = gs.tensor([[3.0], [4.0]], dtype=gs.float64, requires_grad=True)
    result = ops.contracted(x, y)
    firsts = grad(result.sum(), [x, y], create_graph=True)
    assert [(g.dtype, g.tolist()) for g in firsts] == [(gs.float32, [[3, 4]]), (gs.float64, [[1], [2]])]
    seconds = grad(firsts[0].pow(2).sum() + firsts[1].pow(2).sum(), [x, y])
    assert [(g.dtype, g.tolist()) for g in seconds] == [(gs.float32, [[2, 4]]), (gs.float64, [[6], [8]])]
    with forward_ad.dual_level():
        dual = ops.contracted(forward_ad.make_dual(x.detach(), gs.ones(1, 2)), y.detach())
        tangent = forward_ad.unpack_dual(dual).tangent
    assert (tangent.dtype, tangent.tolist()) == (gs.float64, [[7]])


def test_matrix_products_of_two_dtypes(ops):
    """In formulas, to any order; an op that multiplies refuses them, as PyTorch does."""
    x = gs.tensor([[1.0, 2.0]], requires_grad=True)
    y = gs.tensor([[3.0], [4.0]], dtype=gs.float64, requires_grad=True)
    assert x.dtype == gs.float32
    firsts = grad(ops.product(x, y).sum(), (x, y), create_graph=True)
    assert [(g.dtype, g.tolist()) for g in firsts] == [(gs.float32, [[3, 4]]), (gs.float64, [[1], [2]])]
    seconds = grad((firsts[0] ** 2).sum() + (firsts[1] ** 2).sum(), (x, y))
    assert [(g.dtype, g.tolist()) for g in seconds] == [(gs.float32, [[2, 4]]), (gs.float64, [[6], [8]])]
    with pytest.raises(RuntimeError, match="expected both operands to have the same dtype"):
        x @ y


def test_a_formula_that_gives_none(ops):
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        grad(ops.multiplied(x, 0).sum(), x)
    assert grad(ops.multiplied(x, 0).sum(), x, allow_unused=True) == (None,)
    assert grad(ops.multiplied(x, 0).sum(), x, materialize_grads=True)[0].tolist() == [0, 0]
    assert tangent_in_place(lambda t: t.copy_(ops.multiplied(t, 0)), [1.0], [5.0]) == ([0], [0])


def test_the_gradient_of_the_tangent_of_a_write(ops):
    """Of x = exp(x), along v: exp(x) v. The tangent is overwritten, and its history needs what it was."""
    x, along = gs.tensor([0.5], requires_grad=True), gs.tensor([2.0], requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x * 1, along * 1) * 1
        ops.exped_(dual)
        tangent = forward_ad.unpack_dual(dual).tangent
        found = grad(tangent.sum(), (x, along))
    np.testing.assert_allclose(found, np.exp([[0.5], [0.5]]) * [[2], [1]], rtol=1e-6)
