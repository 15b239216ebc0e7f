"""`gs.sparse`: products and solves with matrices of scipy.sparse, against dense ones and finite differences."""

import numpy as np
import pytest
import scipy.sparse

import gradsmith as gs
from gradsmith.autograd import gradcheck, gradgradcheck

VALUED = ("csr", "csc", "coo")
FORMATS = (*VALUED, "lil", "dia", "bsr")


def random_matrix(rows, columns, form, dtype=np.float64):
    random = np.random.default_rng(rows * columns)
    dense = random.standard_normal((rows, columns)) * (random.random((rows, columns)) < 0.5)
    if rows == columns:
        dense += 4 * np.eye(rows)
    return scipy.sparse.coo_array(dense.astype(dtype)).asformat(form)


def real(*shape):
    return gs.tensor(np.random.default_rng(1).standard_normal(shape), requires_grad=True)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(4,), (4, 3), (2, 4, 3), (4, 0)])
def test_matrix_on_the_left(form, shape):
    a, x = random_matrix(5, 4, form), real(*shape)
    np.testing.assert_allclose(gs.sparse.matmul(a, x).detach(), a.toarray() @ x.detach().numpy())
    assert gradcheck(lambda x: gs.sparse.matmul(a, x), (x,))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_matrix_on_the_right(form, shape):
    a, x = random_matrix(5, 4, form), real(*shape)
    np.testing.assert_allclose(gs.sparse.matmul(x, a).detach(), x.detach().numpy() @ a.toarray())
    assert gradcheck(lambda x: gs.sparse.matmul(x, a), (x,))


@pytest.mark.parametrize("form", VALUED)
def test_gradients_of_stored_values(form):
    a, square = random_matrix(5, 4, form), random_matrix(5, 5, form)
    for function, matrix, x in ((gs.sparse.matmul, a, real(4, 2)), (gs.sparse.spsolve, square, real(5))):
        values = gs.tensor(matrix.data, requires_grad=True)

        def of_both(v, x, function=function, matrix=matrix):
            return function(matrix, x, values=v)

        assert gradcheck(of_both, (values, x))
        assert gradgradcheck(of_both, (values, x))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(5,), (5, 2), (3, 5, 1)])
def test_solve(form, shape):
    a, b = random_matrix(5, 5, form), real(*shape)
    columns = b.detach().numpy() if b.ndim > 1 else b.detach().numpy()[:, None]
    expected = np.linalg.solve(a.toarray(), columns)
    np.testing.assert_allclose(gs.sparse.spsolve(a, b).detach().numpy().reshape(expected.shape), expected)
    assert gradcheck(lambda b: gs.sparse.spsolve(a, b), (b,))


def test_a_solve_leaves_the_matrix_as_it_is():
    unsorted = scipy.sparse.csr_array(([1.0, 4.0, 5.0, 2.0, 3.0], [2, 0, 1, 2, 0], [0, 2, 3, 5]), shape=(3, 3))
    indices, data = unsorted.indices.copy(), unsorted.data.copy()
    b = gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64)
    np.testing.assert_allclose(gs.sparse.spsolve(unsorted, b), np.linalg.solve(unsorted.toarray(), b.numpy()))
    np.testing.assert_array_equal(unsorted.indices, indices)
    np.testing.assert_array_equal(unsorted.data, data)


def test_other_values_are_solved_anew():
    a = random_matrix(4, 4, "csr")
    values, b = gs.tensor(a.data), real(4).detach()
    first = gs.sparse.spsolve(a, b, values=values)
    np.testing.assert_allclose(gs.sparse.spsolve(a, b, values=2 * values), first / 2)


def test_complex_and_integer_values():
    a, x = random_matrix(4, 4, "csr", np.complex128), real(4)
    np.testing.assert_allclose(gs.sparse.matmul(a, x).detach(), a.toarray() @ x.detach().numpy())
    values = gs.tensor(a.data * (1 + 1j), requires_grad=True)
    assert gradcheck(lambda v, x: gs.sparse.matmul(a, x, values=v), (values, x))
    assert gradcheck(lambda v, x: gs.sparse.spsolve(a, x, values=v), (values, x))
    whole = scipy.sparse.csr_array([[1, 0], [2, 3]])
    assert gs.sparse.matmul(whole, gs.ones(2)).tolist() == [1.0, 5.0]


def test_vmap():
    a = random_matrix(5, 4, "csr")
    x = real(7, 4).detach()
    np.testing.assert_allclose(gs.vmap(lambda x: gs.sparse.matmul(a, x))(x), x.numpy() @ a.toarray().T)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a, x: gs.sparse.matmul(x, x), TypeError, "one operand should be a scipy.sparse matrix"),
        (lambda a, x: gs.sparse.matmul(a, a), TypeError, "both are"),
        (lambda a, x: gs.sparse.matmul(a, gs.ones(3)), RuntimeError, r"A has shape \[5, 4\]"),
        (lambda a, x: gs.sparse.matmul(a, x, values=gs.ones(2)), RuntimeError, "values must have an element for each"),
        (lambda a, x: gs.sparse.matmul(a.tolil(), x, values=gs.ones(2)), ValueError, "formats csr, csc and coo"),
        (lambda a, x: gs.sparse.spsolve(a, gs.ones(5)), RuntimeError, "A must be square"),
        (lambda a, x: gs.sparse.spsolve(scipy.sparse.csr_array((3, 3)), gs.ones(3)), np.linalg.LinAlgError, "singular"),
        (lambda a, x: gs.sparse.spsolve(x, x), TypeError, "A should be a scipy.sparse matrix"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(random_matrix(5, 4, "csr"), gs.ones(4))
