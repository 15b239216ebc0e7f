"""Arguments, results and errors of the sparse transforms."""

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import gradsmith as gs
from gradsmith import func
from gradsmith.utils.checkpoint import checkpoint

X = [0.5, -1.0, 2.0, 0.25]


def x_of(dtype=gs.float64):
    return gs.tensor(X, dtype=dtype)


def differences(x):
    return x[1:] ** 2 - x[:-1]


def require_equal(found, expected):
    assert isinstance(found, sp.csr_array)
    np.testing.assert_allclose(found.toarray(), expected.detach().numpy().reshape(found.shape), rtol=1e-12)


def by_rows(f, x):
    """The Jacobian by one product for each row, also of what is written in place."""
    value, product = func.vjp(f, x)
    units = np.eye(value.numel(), dtype=value.dtype)
    return gs.stack([product(gs.tensor(unit.reshape(value.shape)))[0] for unit in units])


def every_mode(f, x):
    for mode in ("auto", "forward", "reverse"):
        yield func.sparse_jacobian(f, mode=mode, check=True)(x)


# ---- functions of all kinds


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x,
        lambda x: x.detach(),
        lambda x: gs.ones(3, dtype=x.dtype),
        lambda x: x[:0],
        lambda x: x.reshape(2, 2).T,
        lambda x: x.sum(),
        lambda x: x.reshape(2, 2) @ x.reshape(2, 2),
        lambda x: x[x > 0],
        lambda x: x.softmax(0),
        lambda x: gs.nn.functional.cross_entropy(x.reshape(2, 2), gs.tensor([0, 1]), reduction="none"),
        lambda x: checkpoint(lambda y: y.sin() * 2, x, use_reentrant=False),
        lambda x: func.grad(lambda y: (y**3).sum())(x),
        lambda x: func.jvp(lambda y: y**3 * y.flip(0), (x,), (gs.ones_like(x),))[1],
        lambda x: func.hvp(lambda y: (y[1:] ** 2 * y[:-1]).sum(), (x,), (gs.ones_like(x),))[1][0],
        lambda x: func.linearize(lambda y: y**2 * y.flip(0), x)[1](x),
        lambda x: gs.einsum("i,i->i", x, x.exp()),
    ],
)
def test_the_jacobian_is_that_of_jacrev(f):
    for found in every_mode(f, x_of()):
        require_equal(found, func.jacrev(f)(x_of()))


def test_writes_in_place():
    def f(x):
        y = gs.zeros(4, dtype=x.dtype)
        y[1:] = x[:-1] * 3
        y[0] += x[3]
        y[2:].mul_(x[2:])
        y[gs.tensor([0, 1])] = x[2]
        return y

    expected = by_rows(f, x_of())
    for found in every_mode(f, x_of()):
        require_equal(found, expected)
    entries = func.jacobian_pattern(f)(x_of()).array.toarray()
    assert entries[2:].tolist() == [[False, True, True, False], [False, False, True, True]]


def test_parts_of_complex_numbers():
    def f(x):
        z = x * (1 + 2j)
        z.real[:2] = x[2:]
        return z.imag * z.real

    for found in every_mode(f, x_of()):
        require_equal(found, by_rows(f, x_of()))


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_dtypes(dtype):
    found = func.sparse_jacobian(differences)(x_of(dtype))
    assert found.dtype == np.dtype(dtype)
    wide = func.sparse_jacobian(lambda x: x.to(gs.float64) ** 2, check=True)(x_of(dtype))
    assert wide.dtype == np.float64


@pytest.mark.parametrize("dtype", [gs.float16, gs.float32])
def test_indices_beyond_the_digits_of_the_dtype(dtype):
    x = gs.ones(5000, dtype=dtype)
    order = gs.tensor(np.random.default_rng(0).permutation(5000))
    pattern = func.jacobian_pattern(lambda x: x[order])(x)
    np.testing.assert_array_equal(pattern.array.indices, order.numpy())


def test_inputs_without_elements():
    assert func.sparse_jacobian(lambda x: x * 2)(gs.ones(0)).shape == (0, 0)
    assert func.sparse_hessian(lambda x: (x**2).sum())(gs.ones(0)).shape == (0, 0)
    assert func.jacobian_pattern(lambda x: x.sum(0))(gs.ones(0, 3)).nnz == 0


def test_a_number_in_and_out():
    assert func.sparse_jacobian(lambda x: x**2)(gs.tensor(3.0)).toarray() == [[6.0]]


# ---- trees, arguments, aux


class Pair(NamedTuple):
    a: object
    b: object


def test_the_structure_is_that_of_jacrev():
    def f(scale, tree):
        return {"sum": scale * tree.a[1:] + tree.b, "square": tree.a**2}

    tree = Pair(x_of(), gs.tensor(2.0, dtype=gs.float64))
    found = func.sparse_jacobian(f, argnums=(1, 0))(gs.tensor(3.0, dtype=gs.float64), tree)
    expected = func.jacrev(f, argnums=(1, 0))(gs.tensor(3.0, dtype=gs.float64), tree)
    for name in ("sum", "square"):
        require_equal(found[name][0].a, expected[name][0].a)
        require_equal(found[name][0].b, expected[name][0].b)
        require_equal(found[name][1], expected[name][1])


def test_one_argument_of_several():
    require_equal(func.sparse_jacobian(lambda a, x: a * x, argnums=-1)(gs.tensor(2.0), gs.ones(3)), 2 * gs.eye(3))


def test_the_hessian_of_a_tree():
    def f(tree):
        return (tree["a"][1:] * tree["a"][:-1] * tree["b"]).sum()

    tree = {"a": x_of(), "b": gs.tensor(2.0, dtype=gs.float64)}
    found, expected = func.sparse_hessian(f, check=True)(tree), func.hessian(f)(tree)
    for row in tree:
        for column in tree:
            require_equal(found[row][column], expected[row][column])


def test_aux_is_handed_through():
    found, aux = func.sparse_jacobian(lambda x: (x * 2, x.sum()), has_aux=True)(x_of())
    require_equal(found, 2 * gs.eye(4, dtype=gs.float64))
    assert aux.item() == sum(X) and not aux.requires_grad
    found, aux = func.sparse_hessian(lambda x: ((x**2).sum(), "seen"), has_aux=True)(x_of())
    require_equal(found, 2 * gs.eye(4, dtype=gs.float64))
    assert aux == "seen"
    assert func.jacobian_pattern(lambda x: (x, None), has_aux=True)(x_of()).nnz == 4
    assert func.hessian_pattern(lambda x: ((x**2).sum(), None), has_aux=True)(x_of()).nnz == 4


def test_decorators():
    @func.sparse_jacobian(mode="forward")
    def f(x):
        return x * x

    assert f(gs.tensor([3.0])).toarray() == [[6.0]]
    assert f.__name__ == "f"
    assert func.sparse_hessian()(lambda x: (x * x).sum())(gs.tensor([3.0])).toarray() == [[2.0]]
    assert func.jacobian_pattern()(lambda x: x)(gs.ones(2)).nnz == 2
    assert func.hessian_pattern()(lambda x: (x * x).sum())(gs.ones(2)).nnz == 2


def test_nothing_is_left_on_the_arguments():
    x = x_of().requires_grad_()
    w = gs.ones(4, dtype=gs.float64, requires_grad=True)
    require_equal(func.sparse_jacobian(lambda y: y * w * x)(x), gs.tensor(np.diag(X)))
    assert x.grad is None and w.grad is None and x.grad_fn is None


# ---- patterns


def test_a_pattern_is_used_again_in_each_form():
    pattern = func.jacobian_pattern(differences)(x_of())
    expected = func.jacrev(differences)(3 * x_of())
    for form in (pattern, pattern.array, pattern.array.toarray(), pattern.array.tocoo(), sp.csc_array(pattern.array)):
        require_equal(func.sparse_jacobian(differences, pattern=form)(3 * x_of()), expected)


def test_the_result_can_be_changed():
    pattern = func.jacobian_pattern(differences)(x_of())
    jacobian = func.sparse_jacobian(differences, pattern=pattern)
    found = jacobian(gs.zeros(4))
    found.eliminate_zeros()
    assert found.nnz == 3
    require_equal(jacobian(x_of()), func.jacrev(differences)(x_of()))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_check_notices_a_missing_entry(mode):
    pattern = np.eye(3, 4)
    with pytest.raises(
        ValueError, match=r"sparse_jacobian\(f\): the pattern misses an entry.*of which the first is that"
    ):
        func.sparse_jacobian(differences, pattern=pattern, mode=mode, check=True)(x_of())
    with pytest.raises(ValueError, match=r"sparse_hessian\(f\): the pattern misses an entry"):
        func.sparse_hessian(lambda x: (x[1:] * x[:-1]).sum(), pattern=np.eye(4), check=True)(x_of())


def test_check_lets_numbers_pass_that_are_not_finite():
    assert np.isinf(func.sparse_jacobian(gs.sqrt, check=True)(gs.zeros(2)).data).all()


def test_branches_by_value_are_found_anew_in_each_call():
    def f(x):
        return x.flip(0) if x[0] > 0 else x

    jacobian = func.sparse_jacobian(f)
    assert jacobian(gs.tensor([1.0, 2.0])).toarray().tolist() == [[0, 1], [1, 0]]
    assert jacobian(gs.tensor([-1.0, 2.0])).toarray().tolist() == [[1, 0], [0, 1]]


def test_constants_of_the_function_are_no_dependences():
    """Not what is detached, and not the gradient of what is linear."""
    assert func.jacobian_pattern(lambda x: x * x.sum().detach())(x_of()).nnz == 4
    assert func.hessian_pattern(lambda x: (3 * x).sum())(x_of()).nnz == 0
    assert func.jacobian_pattern(lambda x: gs.sign(x))(x_of()).nnz == 0
    assert func.hessian_pattern(lambda x: (x[:2] * x[2:]).sum())(x_of()).nnz == 4


@pytest.mark.parametrize("f", [lambda x: gs.cat(x.split(1)), lambda x: gs.stack([p.exp() for p in x.unbind(0)])])
def test_nodes_of_many_inputs_and_results(f):
    assert func.jacobian_pattern(f)(gs.ones(100)).nnz == 100


def test_a_laplacian_in_two_dimensions():
    def f(u):
        padded = gs.zeros(u.shape[0] + 2, u.shape[1] + 2, dtype=u.dtype)
        padded[1:-1, 1:-1] = u
        return padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2] - 4 * u + u**3

    u = gs.tensor(np.random.default_rng(0).random((6, 7)))
    pattern = func.jacobian_pattern(f)(u)
    assert pattern.nnz == 5 * 42 - 2 * 6 - 2 * 7
    assert pattern.n_colors <= 8
    require_equal(func.sparse_jacobian(f, pattern=pattern)(u), by_rows(f, u))


def test_a_large_tridiagonal_system_takes_three_products():
    x = gs.tensor(np.random.default_rng(0).random(100_000))

    def f(x):
        y = (3 - 2 * x) * x + 1
        y[1:] -= x[:-1]
        y[:-1] -= 2 * x[1:]
        return y

    pattern = func.jacobian_pattern(f)(x)
    assert (pattern.nnz, pattern.n_colors) == (299_998, 3)
    found = func.sparse_jacobian(f, pattern=pattern)(x)
    np.testing.assert_allclose(found.diagonal(), 3 - 4 * x.numpy())
    np.testing.assert_array_equal(found.diagonal(1), -2)
    np.testing.assert_array_equal(found.diagonal(-1), -1)
    energy = func.hessian_pattern(lambda x: (x[1:] * x[:-1]).exp().sum())(x)
    assert (energy.nnz, energy.n_colors) == (299_998, 3)


# ---- errors


def test_errors_name_the_transform_and_the_function():
    with pytest.raises(RuntimeError, match=r"sparse_jacobian: Expected all inputs to be real .*differences"):
        func.sparse_jacobian(differences)(gs.ones(3, dtype=gs.complex128))
    with pytest.raises(RuntimeError, match=r"jacobian_pattern: Expected all outputs to be real"):
        func.jacobian_pattern(lambda x: x * 1j)(x_of())
    with pytest.raises(
        RuntimeError, match=r"sparse_jacobian\(f\): expected f.* to return only tensors, .* output\[1\] is"
    ):
        func.sparse_jacobian(lambda x: (x, 3))(x_of())
    with pytest.raises(RuntimeError, match="only Tensors of floating point .* dtype int64"):
        func.sparse_jacobian(differences)(gs.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="All outputs of f must be floating-point"):
        func.sparse_jacobian(lambda x: x > 0)(x_of())
    with pytest.raises(ValueError, match="must be a Tensor.* to be differentiated by, got str"):
        func.sparse_jacobian(differences)("text")
    with pytest.raises(RuntimeError, match="to return a scalar Tensor, got tensor with 1 dims"):
        func.sparse_hessian(differences)(x_of())
    with pytest.raises(TypeError, match=r"sparse_hessian\(\): func must be callable, got int"):
        func.sparse_hessian(3)


def test_inputs_without_data():
    with pytest.raises(RuntimeError, match=r"jacobian_pattern\(f\): inputs on the meta device have no data"):
        func.jacobian_pattern(differences)(gs.ones(3, device="meta"))


def test_a_mode_or_shape_that_does_not_fit():
    with pytest.raises(ValueError, match="mode must be one of 'auto', 'forward', 'reverse', got 'columns'"):
        func.sparse_jacobian(differences, mode="columns")
    with pytest.raises(ValueError, match=r"the pattern has shape \(4, 4\), but f gives 3 elements of 4"):
        func.sparse_jacobian(differences, pattern=np.eye(4))(x_of())


def test_what_is_not_sparse_is_refused_before_memory_runs_out():
    with pytest.raises(
        MemoryError, match=r"jacobian_pattern\(f\): \w+Backward\d connects 10000000000 pairs of elements"
    ):
        func.jacobian_pattern(lambda x: x - x.mean())(gs.zeros(100_000))


def test_without_scipy():
    code = (
        "import sys; sys.modules['scipy.sparse'] = None\n"
        "import gradsmith as gs\n"
        "gs.func.sparse_jacobian(lambda x: x)(gs.ones(2))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        "ModuleNotFoundError: sparse_jacobian() needs scipy.sparse, which is not installed: pip install"
    )


def test_arrays_and_functions_of_numpy():
    def f(x):
        return np.square(x[1:]) - np.sin(x[:-1])

    x = np.arange(4.0)
    expected = np.diag(2 * x[1:]) @ np.eye(3, 4, 1) - np.diag(np.cos(x[:-1])) @ np.eye(3, 4)
    pattern = func.jacobian_pattern(f)(x)
    np.testing.assert_array_equal(pattern.array.toarray(), np.eye(3, 4, 1) + np.eye(3, 4))
    for jacobian in (func.sparse_jacobian(f), func.sparse_jacobian(f, pattern=pattern, check=True)):
        np.testing.assert_allclose(jacobian(x).toarray(), expected)
    by_both, aux = func.sparse_jacobian(lambda x, y: (f(x * y), y), (0, 1), has_aux=True)(x, 2.0)
    assert by_both[0].shape == (3, 4) and by_both[1].shape == (3, 1) and isinstance(aux, float)
    hessian = func.sparse_hessian(lambda x: np.sum(x**3))
    np.testing.assert_allclose(hessian(x).toarray(), np.diag(6 * x))
    assert func.hessian_pattern(lambda x: np.sum(x**3))(x).array.nnz == 4
