"""einsum: every kind of equation against NumPy, gradients against those of the definition, refusals."""

import numpy as np
import pytest

import gradsmith as gs

generator = np.random.default_rng(3)

EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,kj->ki", (2, 3), (4, 3)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("bij,bjk,k->bi", (5, 2, 3), (5, 3, 4), (4,)),
    ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 2), (2, 5)),
    ("i,j,k->kji", (2,), (3,), (4,)),
    ("i,i,i", (3,), (3,), (3,)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("ij->", (2, 3)),
    ("ij->ji", (2, 3)),
    ("ba", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iii->i", (2, 2, 2)),
    ("...ij,...jk", (5, 2, 3), (3, 4)),
    ("...ij,...jk->...ik", (5, 1, 2, 3), (4, 3, 2)),
    ("i...,i...->...", (3, 2), (3, 2)),
    ("b...,b->...", (3, 2, 4), (3,)),
    ("a,b->", (2,), (3,)),
    ("abc,cd,def->abef", (2, 3, 2), (2, 3), (3, 2, 2)),
    (",i->i", (), (3,)),
    ("->", ()),
    ("ij,jk->ik", (0, 3), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)),
]


def operands_of(sizes, dtype=np.float64):
    found = [generator.normal(size=size) for size in sizes]
    if np.dtype(dtype).kind == "c":
        found = [a + 1j * generator.normal(size=np.shape(a)) for a in found]
    return [np.asarray(a) for a in found]


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: e[0])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_value(equation, dtype):
    text, *sizes = equation
    arrays = operands_of(sizes, dtype)
    found = gs.einsum(text, *map(gs.from_numpy, arrays)).numpy()
    np.testing.assert_allclose(found, np.einsum(text, *arrays), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: e[0])
def test_gradient_is_linear_in_each_operand(equation):
    """A product is linear in an operand, so the operand times its gradient is the value again."""
    text, *sizes = equation
    leaves = [gs.from_numpy(a).requires_grad_() for a in operands_of(sizes)]
    value = gs.einsum(text, *leaves).sum()
    for leaf, grad in zip(leaves, gs.autograd.grad(value, leaves)):
        assert grad.shape == leaf.shape
        np.testing.assert_allclose((leaf * grad).sum().item(), value.item(), rtol=1e-10)


def test_sizes_of_one_are_stretched():
    a, b = operands_of([(2, 3), (1, 3)])
    found = gs.einsum("ij,ij->ij", gs.from_numpy(a), gs.from_numpy(b)).numpy()
    np.testing.assert_allclose(found, a * b)


def test_operands_as_a_list_and_spaces():
    a, b = operands_of([(2, 3), (3, 4)])
    found = gs.einsum(" i j , j k -> i k ", [gs.from_numpy(a), gs.from_numpy(b)])
    np.testing.assert_allclose(found.numpy(), a @ b)


@pytest.mark.parametrize(
    ("equation", "sizes", "message"),
    [
        ("ij,jk", [(2, 3), (2, 3)], "subscript j has size 2 in operand 1, but size 3 before"),
        ("i,i", [(2, 3), (2,)], "operand 0 has 2 dimensions, but its subscripts 'i' name 1"),
        ("ijk", [(2, 3)], "operand 0 has 2 dimensions"),
        ("i->j", [(2,)], "output subscript 'j' does not appear"),
        ("ij->ii", [(2, 3)], "appears more than once in the output"),
        ("ij", [(2, 3), (2, 3)], "has 1 operands, but 2 were given"),
        ("i&->i", [(2, 3)], "invalid subscript '&'"),
        ("i.j", [(2, 3)], r"invalid subscript '\.'"),
        ("ii", [(1, 3)], "repeated for dimensions of sizes 1 and 3"),
    ],
)
def test_refusals(equation, sizes, message):
    with pytest.raises(RuntimeError, match=message):
        gs.einsum(equation, *map(gs.from_numpy, operands_of(sizes)))


# ---- lists of subscripts

A, B = gs.arange(6.0).reshape(2, 3), gs.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("arguments", "equation", "operands"),
    [
        ((A, [0, 1], B, [1, 2], [0, 2]), "ij,jk->ik", (A, B)),
        ((A, [0, 1], B, [1, 2]), "ij,jk", (A, B)),
        ((A, [..., 1], B, [1, 2], [..., 2]), "...j,jk->...k", (A, B)),
        ((A, (0, 1), (1, 0)), "ij->ji", (A,)),
        ((A, [0, 51], [51, 0]), "ij->ji", (A,)),
        ((A, [0, 25], B, [25, 26], [0, 26]), "ij,jk->ik", (A, B)),
    ],
)
def test_lists_of_subscripts(arguments, equation, operands):
    np.testing.assert_array_equal(gs.einsum(*arguments).numpy(), gs.einsum(equation, *operands).numpy())


def test_gradients_through_lists_of_subscripts():
    x = A.clone().requires_grad_()
    gs.einsum(x, [0, 1], B, [1, 2], [0]).sum().backward()
    assert x.grad.tolist() == [[6, 22, 38]] * 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((A, [0, 52]), ValueError, "not within the valid range"),
        ((A, [0, -1]), ValueError, "not within the valid range"),
        ((A, [0, "a"]), TypeError, "subscripts are integers"),
        ((A,), ValueError, "must specify the equation"),
        ((), ValueError, "must specify the equation"),
        ((A, [0, 0], [0]), RuntimeError, "subscript A has size 3"),
        ((A, [0, 1], [0, 2]), RuntimeError, "does not appear"),
        ((A, B), TypeError, "list of subscripts"),
        ((A, [0, 1], B), TypeError, "list of subscripts"),
    ],
)
def test_wrong_lists_of_subscripts(arguments, error, message):
    with pytest.raises(error, match=message):
        gs.einsum(*arguments)


@pytest.mark.parametrize(
    ("equation", "shape"),
    [("ii->i", (3, 3)), ("iij->ji", (2, 2, 3)), ("ijij->ij", (2, 3, 2, 3)), ("ij->ji", (2, 3)), ("...->...", (2, 3))],
)
def test_one_operand_without_a_sum_gives_a_view(equation, shape):
    """As in PyTorch: written through, differentiated twice without a retained graph."""
    x = gs.randn(*shape, dtype=gs.float64, requires_grad=True)
    y = gs.einsum(equation, x)
    assert y is not x
    assert y._is_view() and not y.is_leaf
    y.sum().backward()
    y.sum().backward()
    np.testing.assert_array_equal(gs.einsum(equation, x.grad).numpy(), np.full(y.shape, 2.0))
    assert x.grad.sum().item() == 2 * y.numel()
    changed = x.clone()
    gs.einsum(equation, changed).mul_(0)
    (gradient,) = gs.autograd.grad(changed.sum(), x)
    assert gs.einsum(equation, changed).abs().sum().item() == 0
    assert gradient.sum().item() == x.numel() - y.numel()


def test_the_diagonal_of_an_expanded_tensor_has_the_gradient_of_its_elements():
    x = gs.tensor([[1.0], [2.0]], requires_grad=True).expand(2, 2)
    y = gs.einsum("ii->i", x)
    (gradient,) = gs.autograd.grad((y * y).sum(), x)
    assert gradient.tolist() == [[2, 0], [0, 4]]
