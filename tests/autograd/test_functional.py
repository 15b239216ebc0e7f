"""Products with Jacobians and Hessians, and these themselves, against what calculus says."""

import itertools

import numpy as np
import pytest
from own_derivatives import custom

import gradsmith as gs
from gradsmith.autograd import functional, grad
from gradsmith.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(3, 2))
X, Y = RANDOM.normal(size=2), RANDOM.normal(size=3)
V, W = RANDOM.normal(size=2), RANDOM.normal(size=3)
CUBES = np.diag(6 * X)  # Hessian of the sum of x**3

STRATEGIES = ("reverse-mode", "forward-mode")
every_jacobian = pytest.mark.parametrize(
    "options",
    [{"strategy": s, "vectorize": v, "create_graph": c} for s, v, c in itertools.product(STRATEGIES, (0, 1), (0, 1))],
)


def tensor(values, **options):
    return gs.tensor(np.asarray(values), **options)


def same(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-14)


def linear(x, y):
    """Two outputs: Ax + sin(y), and the sum of squares of x."""
    return tensor(A) @ x + y.sin(), (x * x).sum()


def cubes(x):
    return (x**3).sum()


def product(x, y):
    return x.sum() ** 2 * (y * y).sum()


def test_the_module_is_there_without_importing_it():
    assert gs.autograd.functional is functional
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        gs.autograd.nonsense  # noqa: B018


# ---- products


def test_vjp():
    outputs, (of_x, of_y) = vjp(linear, (tensor(X), tensor(Y)), (tensor(W), tensor(2.0, dtype=gs.float64)))
    same(outputs[0], A @ X + np.sin(Y))
    same(outputs[1], X @ X)
    same(of_x, W @ A + 4 * X)
    same(of_y, W * np.cos(Y))


def test_jvp():
    outputs, (first, second) = jvp(linear, (tensor(X), tensor(Y)), (tensor(V), tensor(W)))
    same(outputs[0], A @ X + np.sin(Y))
    same(first, A @ V + np.cos(Y) * W)
    same(second, 2 * X @ V)


def test_second_order_products():
    for function in (vhp, hvp):
        output, found = function(cubes, tensor(X), tensor(V))
        same(output, np.sum(X**3))
        same(found, CUBES @ V)
        _, (of_x, of_y) = function(product, (tensor(X), tensor(Y)), (tensor(V), tensor(W)))
        same(of_x, np.full(2, 2 * V.sum() * (Y @ Y) + 4 * X.sum() * (Y @ W)))
        same(of_y, 2 * X.sum() ** 2 * W + 4 * X.sum() * V.sum() * Y)


def test_strict_and_vectorised_rows():
    for function in (jacobian, hessian):
        with pytest.raises(RuntimeError, match="strict=True and vectorize=True are not supported together"):
            function(lambda x: (x**3).sum(), tensor(X), strict=True, vectorize=True)


@pytest.mark.parametrize("function", [vjp, jvp, vhp, hvp])
def test_single_tensors_come_as_single_tensors(function):
    output, found = function(cubes, tensor(X), None if function is vjp else tensor(V))
    assert output.shape == () and found.shape == (() if function is jvp else (2,))


@pytest.mark.parametrize("function", [vjp, jvp, vhp, hvp])
def test_the_vector_may_be_left_out_for_one_number(function):
    _, found = function(lambda x: x**3, tensor(2.0))
    same(found, {vjp: 12, jvp: 12, vhp: 12, hvp: 12}[function])
    _, found = function(lambda x: x.sum() ** 2, tensor([3.0]))
    same(found, [[6.0], 6.0, [2.0], [2.0]][[vjp, jvp, vhp, hvp].index(function)])


@pytest.mark.parametrize("function", [vjp, jvp, vhp, hvp])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_results_have_no_history_unless_asked(function, requires_grad):
    x, v = tensor(X, requires_grad=requires_grad), None if function is vjp else tensor(V)
    for result in function(cubes, x, v):
        assert not result.requires_grad
    for result in function(cubes, x, v, create_graph=True):
        assert result.requires_grad
    assert x.grad is None


@pytest.mark.parametrize(
    ("function", "of_x", "of_v"),
    [
        (vjp, 6 * X * V.sum(), None),
        (jvp, 6 * X * V, 3 * X**2),
        (vhp, 6 * V * V, 6 * X * V),
        (hvp, 6 * V * V, 6 * X * V),
    ],
)
def test_create_graph(function, of_x, of_v):
    """Derivatives of (result v) with respect to x and v."""
    x, v = tensor(X, requires_grad=True), tensor(V, requires_grad=True)
    if function is vjp:
        _, found = vjp(cubes, x, create_graph=True)
        (gradient,) = grad((found * V.sum()).sum(), x)
        same(gradient, of_x)
        return
    _, found = function(cubes, x, v, create_graph=True)
    target = found if function is jvp else (found * tensor(V)).sum()
    gradient_x, gradient_v = grad(target, (x, v))
    same(gradient_x, of_x)
    same(gradient_v, of_v)


def test_the_functions_own_use_of_an_input_does_not_count():
    x = tensor(X, requires_grad=True)
    same(jacobian(lambda y: x * y, x), np.diag(X))
    same(jacobian(lambda y: x * y, x, create_graph=True), np.diag(X))
    same(vjp(lambda y: x * y, x, tensor(V))[1], X * V)
    same(jvp(lambda y: x * y, x, tensor(V))[1], X * V)


def test_they_work_under_no_grad():
    with gs.no_grad():
        same(vjp(cubes, tensor(X))[1], 3 * X**2)
        same(jvp(cubes, tensor(X), tensor(V))[1], 3 * X**2 @ V)
        same(hvp(cubes, tensor(X), tensor(V))[1], CUBES @ V)
        same(vhp(cubes, tensor(X), tensor(V))[1], CUBES @ V)
        same(hessian(cubes, tensor(X), outer_jacobian_strategy="forward-mode"), CUBES)


def test_a_function_may_differentiate_by_itself():
    def slope(x):
        return grad(cubes(x), x, create_graph=True)[0]

    same(jvp(slope, tensor(X), tensor(V))[1], CUBES @ V)
    same(jacobian(slope, tensor(X)), CUBES)
    same(jacobian(slope, tensor(X), strategy="forward-mode"), CUBES)


def test_functions_without_forward_mode_are_differentiated_twice():
    calls = []

    def gradient(g, x):
        calls.append(g)
        return g * 3 * x**2

    cube = custom(lambda x: x**3, gradient)
    outputs, found = jvp(lambda x: (cube(x), x * 2), tensor(X), tensor(V))
    same(outputs[0], X**3)
    same(found[0], 3 * X**2 * V)
    same(found[1], 2 * V)
    assert calls
    same(hvp(lambda x: cube(x).sum(), tensor(X), tensor(V))[1], CUBES @ V)
    x = tensor(X, requires_grad=True)
    _, found = jvp(cube, x, tensor(V), create_graph=True)
    same(grad(found.sum(), x)[0], 6 * X * V)


def test_forward_mode_needs_one_run():
    calls = []
    jvp(lambda x: (calls.append(x), x * 2)[1], tensor(X), tensor(V))
    assert len(calls) == 1


def test_complex_numbers():
    z = X + 1j * V
    same(vjp(lambda z: z * z, tensor(z), tensor(z))[1], np.conj(2 * z) * z)
    same(jvp(lambda z: z * z, tensor(z), tensor(z))[1], 2 * z * z)
    same(jacobian(lambda z: z * z, tensor(z), strategy="forward-mode"), np.diag(2 * z))
    with pytest.raises(RuntimeError, match="real outputs only, but output 0 .* is complex128"):
        jacobian(lambda z: z * z, tensor(z))


# ---- matrices


@every_jacobian
def test_jacobian(options):
    ((a, b), (c, d)) = jacobian(linear, (tensor(X), tensor(Y)), **options)
    same(a, A)
    same(b, np.diag(np.cos(Y)))
    same(c, 2 * X)
    same(d, np.zeros(3))


@every_jacobian
def test_shapes_of_a_jacobian(options):
    x = tensor(RANDOM.normal(size=(2, 3)))
    assert jacobian(lambda x: x.sum(0), x, **options).shape == (3, 2, 3)
    assert [block.shape for block in jacobian(lambda x: (x.sum(0), x.sum()), x, **options)] == [(3, 2, 3), (2, 3)]
    assert [block.shape for block in jacobian(lambda x: x.sum(0), (x,), **options)] == [(3, 2, 3)]
    ((block,),) = jacobian(lambda x: (x.sum(0),), (x,), **options)
    assert block.shape == (3, 2, 3)
    assert jacobian(lambda x: x * 2, gs.ones(0, 2), **options).shape == (0, 2, 0, 2)
    assert jacobian(lambda x: x.sum(), gs.ones(0, 2), **options).shape == (0, 2)
    assert jacobian(lambda x: x * 2, tensor(1.5), **options).shape == ()


@every_jacobian
def test_jacobian_of_what_does_not_depend(options):
    same(jacobian(lambda x: tensor(W), tensor(X), **options), np.zeros((3, 2)))
    same(jacobian(lambda x, y: x * 2, (tensor(X), tensor(Y)), **options)[1], np.zeros((2, 3)))


@every_jacobian
def test_history_of_a_jacobian(options):
    x = tensor(X, requires_grad=True)
    found = jacobian(lambda x: x**3, x, **options)
    assert found.requires_grad is bool(options["create_graph"])
    if options["create_graph"]:
        same(grad(found.sum(), x)[0], 6 * X)


def test_dtypes_of_a_jacobian():
    """A gradient is like the input, a tangent like the output."""
    x = gs.ones(2, dtype=gs.float32)
    assert jacobian(lambda x: x.to(gs.float64), x).dtype == gs.float32
    assert jacobian(lambda x: x.to(gs.float64), x, strategy="forward-mode").dtype == gs.float64


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_a_jacobian_costs(strategy):
    calls = []
    jacobian(lambda x: (calls.append(x), x.sum())[1], tensor(Y), strategy=strategy)
    assert len(calls) == {"reverse-mode": 1, "forward-mode": 3}[strategy]


def test_vectorized_columns_take_one_run():
    calls = []
    x, y = tensor(X), tensor(Y)
    options = {"strategy": "forward-mode", "vectorize": True}
    (by_x, by_y), (none_x, none_y) = jacobian(
        lambda x, y: (calls.append(x), (x.sum() * y * y, gs.ones(2)))[1], (x, y), **options
    )
    assert len(calls) == 1 and none_x.tolist() == [[0, 0]] * 2 and none_y.tolist() == [[0, 0, 0]] * 2
    same(by_x, np.outer(Y * Y, [1, 1]))
    same(by_y, np.diag(2 * X.sum() * Y))
    with pytest.raises(RuntimeError, match=r"jacobian\(vectorize=True\): .* rand\(\) draws random numbers"):
        jacobian(lambda x: x * gs.rand(2), x, **options)
    same(jacobian(lambda x: x * x.sum().item(), x, **options), X.sum() * np.eye(2))  # values are the same for all


@pytest.mark.parametrize("vectorize", [False, True])
def test_vectorize_asks_once(monkeypatch, vectorize):
    calls = []
    from gradsmith.autograd.functional import arguments

    original = arguments.grad
    monkeypatch.setattr(arguments, "grad", lambda *a, **k: (calls.append(k), original(*a, **k))[1])
    jacobian(lambda x: x * x, tensor(Y), vectorize=vectorize)
    assert len(calls) == (1 if vectorize else 3)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
def test_hessian(strategy, vectorize, create_graph):
    options = {"outer_jacobian_strategy": strategy, "vectorize": vectorize, "create_graph": create_graph}
    same(hessian(cubes, tensor(X), **options), CUBES)
    ((xx, xy), (yx, yy)) = hessian(product, (tensor(X), tensor(Y)), **options)
    same(xx, np.full((2, 2), 2 * Y @ Y))
    same(xy, np.tile(4 * X.sum() * Y, (2, 1)))
    same(yx, xy.detach().numpy().T)
    same(yy, 2 * X.sum() ** 2 * np.eye(3))
    ((block,),) = hessian(cubes, (tensor(X),), **options)
    same(block, CUBES)
    same(hessian(lambda x: x.sum(), tensor(X), **options), np.zeros((2, 2)))
    x = tensor(X, requires_grad=True)
    found = hessian(cubes, x, **options)
    assert found.requires_grad is create_graph
    if create_graph:
        same(grad(found.sum(), x)[0], np.full(2, 6.0))


# ---- strict

INDEPENDENT = "independent of input 1"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda f, x, y, **o: vjp(f, (x, y), **o), f"The output of .* is {INDEPENDENT}"),
        (lambda f, x, y, **o: jvp(f, (x, y), (x, y), **o), f"The output of .* is {INDEPENDENT}"),
        (lambda f, x, y, **o: vhp(f, (x, y), (x, y), **o), f"The output of .* is {INDEPENDENT}"),
        (lambda f, x, y, **o: hvp(f, (x, y), (x, y), **o), f"The output of .* is {INDEPENDENT}"),
        (lambda f, x, y, **o: jacobian(f, (x, y), **o), f"Output 0 of .* is {INDEPENDENT}"),
        (lambda f, x, y, **o: jacobian(f, (x, y), strategy="forward-mode", **o), f"Output 0 of .* is {INDEPENDENT}"),
        (lambda f, x, y, **o: hessian(f, (x, y), **o), f"The output of .* is {INDEPENDENT}"),
    ],
)
def test_strict_refuses_an_unused_input(call, text):
    x, y = tensor(X), tensor(Y)
    with pytest.raises(RuntimeError, match=f"{text}. This is not allowed in strict mode"):
        call(lambda x, y: (x**3).sum(), x, y, strict=True)
    call(lambda x, y: (x**3).sum(), x, y)
    call(lambda x, y: (x**3).sum() * (y**3).sum(), x, y, strict=True)


@pytest.mark.parametrize("function", [vjp, jvp, vhp, hvp, jacobian, hessian])
def test_strict_refuses_a_constant(function):
    vector = () if function in (jacobian, hessian, vjp) else (tensor(V),)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
        function(lambda x: gs.ones(()), tensor(X), *vector, strict=True)


@pytest.mark.parametrize("function", [vhp, hvp, hessian])
def test_strict_refuses_a_constant_gradient(function):
    vector = () if function is hessian else (tensor(V),)
    with pytest.raises(
        RuntimeError, match="jacobian of the user-provided function with respect to input 0 is independ"
    ):
        function(lambda x: x.sum(), tensor(X), *vector, strict=True)


def test_strict_refuses_a_gradient_that_depends_on_other_inputs_only():
    """The gradient of x y with respect to x is y, so nothing second depends on x alone."""
    x, y = tensor(X), tensor(V)
    for function in (vhp, hvp):
        same(function(lambda x, y: (x * y).sum(), (x, y), (tensor(W[:2]), tensor(V)), strict=True)[1][0], V)
    with pytest.raises(RuntimeError, match="Output 0 of .* is independent of input 0"):
        hessian(lambda x, y: (x * y).sum(), (x, y), strict=True)


@pytest.mark.parametrize(
    ("call", "matrix"),
    [
        (lambda x: vjp(lambda x: x.sum() * 2, x, create_graph=True, strict=True), "jacobian"),
        (lambda x: jvp(lambda x: x * 2, x, tensor(V), create_graph=True, strict=True), "jacobian"),
        (lambda x: vhp(lambda x: (x * x).sum(), x, tensor(V), create_graph=True, strict=True), "hessian"),
        (lambda x: hvp(lambda x: (x * x).sum(), x, tensor(V), create_graph=True, strict=True), "hessian"),
        (lambda x: jacobian(lambda x: x * 2, x, create_graph=True, strict=True), "jacobian"),
        (
            lambda x: jacobian(lambda x: x * 2, x, create_graph=True, strict=True, strategy="forward-mode"),
            "jacobian",
        ),
    ],
)
def test_strict_refuses_results_that_are_constant(call, matrix):
    with pytest.raises(RuntimeError, match=f"{matrix} .*independent of input 0.*strict mode when create_graph=True"):
        call(tensor(X, requires_grad=True))


# ---- arguments

SCALAR = "should contain a single element, got one of shape"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: vjp(cubes, 3.0), TypeError, "inputs given to vjp must be .* given inputs has type float"),
        (lambda: jvp(cubes, (tensor(X), 3)), TypeError, "value at index 1 has type int"),
        (lambda: vjp(lambda x: 3.0, tensor(X)), TypeError, "outputs of the user-provided function given to vjp"),
        (lambda: vjp(cubes, tensor(X), 2.0), TypeError, "The v given to vjp"),
        (lambda: hessian(lambda x: 3.0, tensor(X)), TypeError, "given to hessian"),
        (lambda: vjp(lambda x: x * 2, tensor(X)), RuntimeError, "v can only be None if .* returns a single"),
        (lambda: jvp(cubes, tensor(X)), RuntimeError, "v can only be None if the input to .* is a single"),
        (lambda: vhp(cubes, tensor(X)), RuntimeError, "v can only be None"),
        (lambda: hvp(cubes, tensor(X)), RuntimeError, "v can only be None"),
        (
            lambda: jvp(linear, (tensor(X), tensor(Y)), (tensor(V),)),
            RuntimeError,
            "tuple of invalid length: should be 2 but got 1",
        ),
        (lambda: jvp(cubes, tensor(X), (tensor(V), tensor(V))), RuntimeError, "v should contain a single Tensor"),
        (
            lambda: jvp(linear, (tensor(X), tensor(Y)), (tensor(V), tensor(V))),
            RuntimeError,
            r"Entry 1 in v has invalid size: should be \[3\] but got \[2\]",
        ),
        (lambda: jvp(cubes, tensor(X), tensor(W)), RuntimeError, r"^v has invalid size: should be \[2\] but got \[3\]"),
        (lambda: hessian(lambda x: x * 2, tensor(X)), RuntimeError, f"to hessian {SCALAR}"),
        (lambda: hessian(lambda x: (x.sum(),), tensor(X)), RuntimeError, "hessian should return a single Tensor"),
        (lambda: vhp(lambda x: x * 2, tensor(X), tensor(V)), RuntimeError, f"to vhp {SCALAR}"),
        (lambda: hvp(lambda x: x * 2, tensor(X), tensor(V)), RuntimeError, f"to hvp {SCALAR}"),
        (lambda: hvp(lambda x: (x.sum(),), tensor(X), tensor(V)), RuntimeError, "hvp should return a single Tensor"),
        (lambda: vjp(lambda x: x * 2, gs.arange(3), gs.arange(3)), RuntimeError, "floating point"),
        (lambda: jacobian(cubes, tensor(X), strategy="both"), AssertionError, "forward-mode.*got 'both'.*Hint"),
        (lambda: hessian(cubes, tensor(X), outer_jacobian_strategy="both"), AssertionError, "got 'both'"),
    ],
)
def test_arguments_that_make_no_sense(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_standard_basis():
    tensors = gs.ones(2), gs.ones(1, dtype=gs.float64)
    first, second = functional._construct_standard_basis_for(tensors, (2, 1))
    assert first.tolist() == [[1, 0], [0, 1], [0, 0]] and second.tolist() == [[0], [0], [1]]
    assert (first.dtype, second.dtype) == (gs.float32, gs.float64)
    with pytest.raises(AssertionError, match="Expected at least one tensor"):
        functional._construct_standard_basis_for((), ())


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_matrices_of_functions_on_meta(dtype):
    """Of what depends on its inputs, and of what does not."""
    x, y = gs.empty(3, device="meta", dtype=dtype), gs.empty(2, device="meta", dtype=dtype)
    found = functional.jacobian(lambda x, y: (x * 2, y.sum()), (x, y))
    assert [[block.shape for block in row] for row in found] == [[(3, 3), (3, 2)], [(3,), (2,)]]
    rows = functional.hessian(lambda x, y: (x * x).sum() + y.prod(), (x, y))
    assert [[block.shape for block in row] for row in rows] == [[(3, 3), (3, 2)], [(2, 3), (2, 2)]]
    for block in (block for row in (*found, *rows) for block in row):
        assert block.is_meta and block.dtype == dtype
