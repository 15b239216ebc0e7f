"""Products of vectors, matrices and tensors against NumPy, and what is refused."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(4)


def real(*shape):
    return rng.normal(size=shape)


@pytest.mark.parametrize("dims", [0, 1, 2, ([0], [2]), ([-1, 0], [0, 2])])
def test_tensordot(dims):
    a, b = real(2, 4, 3), real(3, 4, 2) if dims != 2 else real(4, 3, 2)
    np.testing.assert_allclose(gs.tensordot(gs.tensor(a), gs.tensor(b), dims).numpy(), np.tensordot(a, b, dims))


@pytest.mark.parametrize(
    "left, right, dims, letters",
    [
        ((3, 4), (1, 5), ([0], [0]), "ij,kl->jl"),
        ((1, 4), (3, 5), ([0], [0]), "ij,kl->jl"),
        ((2, 3, 4), (1, 4, 5), ([0, 2], [0, 1]), "ijk,lkm->jm"),
        ((2, 1), (1, 3), 2, "ij,kl->"),
        ((3, 1), (1, 2), 1, "ij,jk->ik"),
    ],
)
def test_contracted_dimensions_of_one_broadcast(left, right, dims, letters):
    a, b = real(*left), real(*right)
    np.testing.assert_allclose(
        gs.tensordot(gs.tensor(a), gs.tensor(b), dims).numpy(), np.einsum(letters, a, b), rtol=1e-12
    )


def test_what_broadcasts_keeps_its_dtype_and_has_gradients():
    a, b = gs.ones(3, 2, dtype=gs.int32), gs.ones(1, 4, dtype=gs.int32)
    assert gs.tensordot(a, b, ([0], [0])).dtype == gs.int32
    x, y = (gs.tensor(real(*shape), requires_grad=True) for shape in ((3, 2), (1, 4)))
    assert gs.autograd.gradgradcheck(lambda x, y: gs.tensordot(x, y, ([0], [0])), (x, y))


def test_contracted_dimensions_have_to_match():
    with pytest.raises(RuntimeError, match="contracted dimensions need to match"):
        gs.tensordot(gs.ones(2, 3), gs.ones(2, 3), 1)


def test_vecdot_counts_dimensions_from_the_end_of_what_is_broadcast():
    a, b = real(3), real(2, 4, 3)
    np.testing.assert_allclose(gs.linalg.vecdot(gs.tensor(a), gs.tensor(b)).numpy(), (a * b).sum(-1))


def test_an_ignored_input_may_be_nan():
    a, b, c = gs.full((2, 2), gs.nan), gs.ones(2, 3), gs.ones(3, 2)
    assert gs.addmm(a, b, c, beta=0).tolist() == [[3, 3], [3, 3]]
    x = gs.ones(2, 2)
    assert x.addmm_(b, c, alpha=2) is x and x.tolist() == [[7, 7], [7, 7]]


def test_products_of_several_matrices():
    factors = [real(3), real(3, 5), real(5, 2), real(2)]
    found = gs.linalg.multi_dot([gs.tensor(factor) for factor in factors])
    np.testing.assert_allclose(found.numpy(), np.linalg.multi_dot(factors))
    with pytest.raises(RuntimeError, match="tensor 1 must be 2D but got 1D"):
        gs.linalg.multi_dot([gs.ones(2, 3), gs.ones(3), gs.ones(3, 2)])
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        gs.linalg.multi_dot([gs.ones(2, 3), gs.ones(2, 3)])


def test_cross_products():
    a, b = real(3, 2, 3), real(3, 2, 3)
    np.testing.assert_allclose(gs.cross(gs.tensor(a), gs.tensor(b)).numpy(), np.cross(a, b, axis=0))
    np.testing.assert_allclose(gs.linalg.cross(gs.tensor(a), gs.tensor(b)).numpy(), np.cross(a, b))
    with pytest.raises(RuntimeError, match="no dimension of size 3"):
        gs.cross(gs.ones(2), gs.ones(2))


@pytest.mark.parametrize("beta", [0, 1, 0.5])
def test_a_product_with_an_addition_is_computed_once(beta):
    with gs.profiler.profile() as profile:
        gs.addmm(gs.ones(2, 4), gs.ones(2, 3), gs.ones(3, 4), beta=beta)
        gs.ones(2, 2, 4).baddbmm_(gs.ones(2, 2, 3), gs.ones(2, 3, 4), beta=beta)
    assert [event.name for event in profile.events() if event.name in ("mm", "bmm")] == ["mm", "bmm"]


SUMS = {
    "addmm": lambda dtype: [gs.ones(s, dtype=dtype) for s in ((2, 2), (2, 2), (2, 2))],
    "addmv": lambda dtype: [gs.ones(s, dtype=dtype) for s in ((2,), (2, 2), (2,))],
    "addr": lambda dtype: [gs.ones(s, dtype=dtype) for s in ((2, 2), (2,), (2,))],
    "addbmm": lambda dtype: [gs.ones(s, dtype=dtype) for s in ((2, 2), (1, 2, 2), (1, 2, 2))],
    "baddbmm": lambda dtype: [gs.ones(s, dtype=dtype) for s in ((1, 2, 2), (1, 2, 2), (1, 2, 2))],
}


@pytest.mark.parametrize("factor", ["alpha", "beta"])
@pytest.mark.parametrize("op", SUMS)
def test_factors_of_sums_of_products_have_to_fit_the_dtype(op, factor):
    function = getattr(gs, op)
    if op == "addr":
        with pytest.raises(RuntimeError, match="Boolean beta and alpha are only supported for Boolean results"):
            function(*SUMS[op](gs.float32), **{factor: True})
        with pytest.raises(RuntimeError, match="beta and alpha must not be floating point numbers: got 0.5 for int64"):
            function(*SUMS[op](gs.int64), **{factor: 0.5})
    with pytest.raises(RuntimeError, match="beta and alpha must be real"):
        function(*SUMS[op](gs.float32), **{factor: 1j})
    assert function(*SUMS[op](gs.int64), **{factor: 2}).dtype == gs.int64


@pytest.mark.parametrize("op", [op for op in SUMS if op != "addr"])
def test_factors_of_integers_lose_their_fraction(op):
    function, tensors = getattr(gs, op), SUMS[op](gs.int64)
    for alpha, beta in ((1.9, 0.5), (-2.5, 3.7), (True, False)):
        found = function(*tensors, alpha=alpha, beta=beta)
        assert found.dtype == gs.int64
        assert found.equal(function(*tensors, alpha=int(alpha), beta=int(beta)))
    mixed = function(tensors[0], *SUMS[op](gs.float64)[1:], beta=0.5)
    assert mixed.equal(function(*SUMS[op](gs.float64), beta=0.5))


def test_products_of_a_chain_of_nothing_are_refused():
    from gradsmith.generated.products import chain

    for factors in ([], [gs.ones(3)], [gs.ones(2, 3), gs.ones(3)]):
        with pytest.raises(RuntimeError, match="expected matrices"):
            chain(factors)


def test_kronecker_products_of_unequal_dimensions():
    for left, right in (((), (3,)), ((2, 3), (2,)), ((2,), (2, 1, 3)), ((), ())):
        a, b = np.asarray(real(*left)), np.asarray(real(*right))
        np.testing.assert_allclose(gs.kron(gs.tensor(a), gs.tensor(b)).numpy(), np.kron(a, b))


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("beta", [0, 1, 0.5])
def test_a_matrix_plus_an_outer_product(beta, order):
    rng = np.random.default_rng(0)
    v, w = rng.standard_normal(300), rng.standard_normal(200)
    for shape in ((300, 200), (200,), (1, 200), (300, 1), ()):
        m = np.asarray(rng.standard_normal(shape), order=order)
        found = gs.addr(gs.from_numpy(m), gs.from_numpy(v), gs.from_numpy(w), beta=beta, alpha=3)
        np.testing.assert_allclose(found.numpy(), beta * m + 3 * np.outer(v, w), rtol=1e-13, atol=1e-13)
    for m, wrong in (((2, 3), (2, 1)), ((2, 3), ())):
        with pytest.raises(RuntimeError, match="addr.*vec1 and vec2 must be vectors"):
            gs.addr(gs.ones(m), gs.ones(wrong), gs.ones(3))
    with pytest.raises(RuntimeError, match="size"):
        gs.addr(gs.ones(4, 3), gs.ones(2), gs.ones(3))
