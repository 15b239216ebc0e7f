"""einsum of several operands, in the order of opt_einsum where it is installed and of NumPy elsewhere."""

import sys

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.formulas import einsum as plans

EQUATIONS = [
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
    ("a,b,c->", [(2,), (3,), (4,)]),
    ("...i,ij,...j->...", [(5, 3), (3, 4), (5, 4)]),
    ("ab,bc,cd,de,ea->", [(2, 3), (3, 4), (4, 5), (5, 6), (6, 2)]),
    ("ii,ij,jj->i", [(3, 3), (3, 4), (4, 4)]),
    ("ab,ab,b->a", [(2, 1), (2, 3), (3,)]),
    ("ij,jk,kl->il", [(3, 0), (0, 5), (5, 2)]),
]


def drawn(shapes):
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape) for shape in shapes]


@pytest.fixture(params=["with", "without"])
def finder(request, monkeypatch):
    if request.param == "with":
        pytest.importorskip("opt_einsum")
    else:
        monkeypatch.setitem(sys.modules, "opt_einsum", None)
    plans._opt_einsum.cache_clear()
    for function in vars(plans).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    yield request.param
    monkeypatch.undo()
    plans._opt_einsum.cache_clear()


@pytest.mark.parametrize("equation, shapes", EQUATIONS)
def test_einsum(equation, shapes, finder):
    arrays = drawn(shapes)
    tensors = [gs.tensor(array, requires_grad=True) for array in arrays]
    found = gs.einsum(equation, *tensors)
    np.testing.assert_allclose(found.numpy(force=True), np.einsum(equation, *arrays), rtol=1e-10, atol=1e-12)
    assert gs.autograd.gradcheck(lambda *operands: gs.einsum(equation, *operands), tensors)
    assert (plans._opt_einsum() is None) == (finder == "without")


def test_contract():
    opt_einsum = pytest.importorskip("opt_einsum")
    pytest.importorskip("gradsmith.utils.opt_einsum")
    arrays = drawn([(3, 4), (4, 5), (5, 2)])
    a, b, c = (gs.tensor(array, requires_grad=True) for array in arrays)
    product = arrays[0] @ arrays[1] @ arrays[2]
    found = opt_einsum.contract("ij,jk,kl->il", a, b, c)
    np.testing.assert_allclose(found.numpy(force=True), product)
    assert gs.autograd.gradcheck(lambda *operands: opt_einsum.contract("ij,jk,kl->li", *operands), (a, b, c))
    expression = opt_einsum.contract_expression("ij,jk,kl->li", (3, 4), b, (5, 2), constants=[1])
    np.testing.assert_allclose(expression(a, c).numpy(force=True), product.T)
    summed = opt_einsum.contract("ij,ij,jk->k", a, a, gs.tensor(arrays[1]))
    np.testing.assert_allclose(summed.numpy(force=True), np.einsum("ij,ij,jk->k", arrays[0], arrays[0], arrays[1]))


def test_contract_without_registration():
    """opt_einsum calls `tensordot`, `transpose` and `einsum` of the package that it finds, as NumPy's."""
    a, b = (gs.tensor(array, requires_grad=True) for array in drawn([(2, 3, 4), (4, 3, 5)]))
    expected = np.tensordot(a.detach().numpy(), b.detach().numpy(), axes=((1, 2), (1, 0)))
    np.testing.assert_allclose(gs.tensordot(a, b, axes=((1, 2), (1, 0))).numpy(force=True), expected)
    for found in (gs.transpose(a, (2, 0, 1)), gs.transpose(a, [2, 0, 1]), gs.transpose(a, axes=(2, 0, 1))):
        assert gs.equal(found, a.permute(2, 0, 1)) and found._base is a and found.grad_fn is not None
    assert gs.autograd.gradcheck(lambda a: gs.transpose(a, (2, 0, 1)), a)
    assert gs.transpose(a, dim0=0, dim1=2).shape == (4, 3, 2)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: gs.transpose(x), "missing 2 required arguments: 'dim0', 'dim1'"),
        (lambda x: gs.transpose(x, 1), "missing 1 required argument: 'dim1'"),
        (lambda x: gs.transpose(x, (1, 0), 0), "must be int"),
        (lambda x: gs.transpose("x", (0, 1)), "must be Tensor"),
    ],
)
def test_what_is_no_transposition(call, message):
    with pytest.raises(TypeError, match=message):
        call(gs.ones(2, 3))
