"""Hooks, hooks of saved tensors, retain_grad, checkpoints, anomaly mode and backward, under transforms and `vmap`."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd import detect_anomaly
from gradsmith.autograd.graph import saved_tensors_hooks
from gradsmith.utils.checkpoint import checkpoint

X = gs.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
TWICE = (2 * X).tolist()


def leaf(values):
    return gs.tensor(values, requires_grad=True)


# ---- hooks: what they see and change is as in PyTorch 2.13


def scaled_on_the_way(shapes):
    def f(x):
        y = x * x
        if y.requires_grad:
            y.register_hook(lambda grad: (shapes.append(tuple(grad.shape)), grad * 2)[1])
        return y.sum()

    return f


@pytest.mark.parametrize(
    "transform, expected, seen",
    [
        (lambda f: func.grad(f), 4 * X, [(3, 2)]),
        (lambda f: func.vmap(func.grad(f)), 4 * X, [(2,)]),
        (lambda f: func.grad(lambda x: func.vmap(f)(x).sum()), 2 * X, []),  # nothing requires grad inside
    ],
)
def test_a_hook_of_a_tensor_of_the_function(transform, expected, seen):
    shapes = []
    assert transform(scaled_on_the_way(shapes))(X).tolist() == expected.tolist()
    assert shapes == seen


def hook_of_an_argument(x):
    x.register_hook(lambda grad: grad * 10)
    return (x * x).sum()


def hook_of_a_node(x):
    y = x * x
    y.grad_fn.register_hook(lambda inputs, outputs: tuple(grad * 10 for grad in inputs))
    return y.sum()


def prehook_of_a_node(x):
    y = x * x
    y.grad_fn.register_prehook(lambda outputs: tuple(grad * 10 for grad in outputs))
    return y.sum()


@pytest.mark.parametrize("f", [hook_of_an_argument, hook_of_a_node, prehook_of_a_node])
def test_hooks_change_gradients(f):
    for transform in (func.grad(f), func.vmap(func.grad(f)), lambda x: func.vjp(f, x)[1](gs.tensor(1.0))[0]):
        assert transform(X).tolist() == (20 * X).tolist()
    with pytest.raises((RuntimeError, AttributeError), match="doesn't require gradient|has no attribute"):
        func.vmap(f)(X)


def test_hooks_of_leaves_outside():
    seen = []
    x, w = leaf(X.tolist()), leaf([1.0, 2.0])
    for one in (x, w):
        one.register_hook(lambda grad: (seen.append(tuple(grad.shape)), grad * 3)[1])
        one.register_post_accumulate_grad_hook(lambda one: seen.append(("grad", tuple(one.grad.shape))))
    func.vmap(lambda x: (x * w).sum())(x).sum().backward()
    assert sorted(seen, key=str) == sorted([(3, 2), ("grad", (3, 2)), (2,), ("grad", (2,))], key=str)
    assert x.grad.tolist() == [[3, 6]] * 3 and w.grad.tolist() == [27, 36]


def test_a_post_accumulate_hook_of_an_argument_is_not_called():
    called = []

    def f(x):
        x.register_post_accumulate_grad_hook(called.append)
        return (x * x).sum()

    assert func.grad(f)(X).tolist() == TWICE and func.vmap(func.grad(f))(X).tolist() == TWICE
    assert not called


# ---- where PyTorch refuses


def test_retain_grad():
    def f(x):
        y = x * x
        y.retain_grad()
        return y.sum()

    assert func.grad(f)(X).tolist() == TWICE and func.vmap(func.grad(f))(X).tolist() == TWICE
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        func.vmap(f)(X)


def test_hooks_of_saved_tensors():
    shapes = []

    def hooks():
        return saved_tensors_hooks(lambda t: (shapes.append(tuple(t.shape)), t)[1], lambda t: t * 2)

    def f(x):
        with hooks():
            return (x * x).sum()

    for transform, shape in [
        (func.grad(f), (3, 2)),
        (func.vmap(func.grad(f)), (2,)),
        (func.grad(lambda x: func.vmap(f)(x).sum()), (3, 2)),
    ]:
        assert transform(X).tolist() == (4 * X).tolist() and set(shapes) == {shape}
        shapes.clear()
    assert func.vmap(f)(X).tolist() == [5, 25, 61] and not shapes
    with hooks():
        assert func.vmap(func.grad(lambda x: (x * x).sum()))(X).tolist() == (4 * X).tolist()


def sine_of_square(x):
    return (x * x).sin().sum()


def checkpointed(x):
    return checkpoint(sine_of_square, x, use_reentrant=False)


@pytest.mark.parametrize(
    "transform",
    [
        func.grad,
        lambda f: func.vmap(func.grad(f)),
        lambda f: func.grad(lambda x: func.vmap(f)(x).sum()),
        lambda f: func.grad(lambda x: func.vmap(func.vmap(f))(x.reshape(3, 2, 1)).sum()),
        lambda f: func.vmap(func.hessian(f)),
        lambda f: func.jacrev(func.vmap(f)),
        lambda f: func.jacfwd(func.vmap(f)),
        lambda f: func.jacrev(func.jacrev(lambda x: func.vmap(f)(x).sum())),
        lambda f: func.hessian(lambda x: func.vmap(f)(x).sum()),
        lambda f: func.vmap(lambda x: func.jvp(f, (x,), (x,))[1]),
        lambda f: lambda x: func.linearize(func.vmap(f), x)[1](x),
    ],
)
def test_checkpoints(transform):
    expected = transform(sine_of_square)(X).numpy()
    np.testing.assert_allclose(transform(checkpointed)(X).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_checkpoints_around_vmap_and_after_it():
    def around(x):
        return checkpoint(lambda y: func.vmap(sine_of_square)(y).sum(), x, use_reentrant=False)

    expected = func.grad(sine_of_square)(X).tolist()
    assert func.grad(around)(X).tolist() == expected
    x = leaf(X.tolist())
    func.vmap(checkpointed)(x).sum().backward()
    assert x.grad.tolist() == expected


def test_a_checkpoint_draws_the_same_random_numbers_for_each_slice():
    def f(x):
        return checkpoint(lambda y: y * y * gs.rand(2), x, use_reentrant=False)

    x = leaf(X.tolist())
    y = func.vmap(f, randomness="different")(x)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * (y / x).detach().numpy(), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_reentrant_checkpoints_are_refused():
    def f(x):
        return checkpoint(sine_of_square, x, use_reentrant=True)

    with pytest.raises(RuntimeError, match=r"use_reentrant=True, .* is incompatible with .grad\(\)"):
        func.grad(f)(X)
    with pytest.raises(RuntimeError, match="CheckpointFunction must override the setup_context"):
        func.vmap(f)(leaf(X.tolist()))


# ---- anomaly mode


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "transform", [func.grad, lambda f: func.vmap(func.grad(f)), lambda f: func.grad(lambda x: func.vmap(f)(x).sum())]
)
def test_anomaly_mode(transform):
    with detect_anomaly():
        assert transform(lambda x: (x * x).sum())(X).tolist() == TWICE
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
            transform(lambda x: (x.sqrt() * 0).sum())(gs.tensor([[1.0, 0.0]] * 3))


# ---- backward and grad


def test_gradients_inside_of_mapped_functions():
    w = leaf([1.0, 2.0])

    def by_captured(x):
        return gs.autograd.grad((x * w).sum(), w)[0]

    def by_own(x):
        x = x.detach().requires_grad_()
        return gs.autograd.grad((x * x).sum(), x)[0]

    assert func.vmap(by_captured)(X).tolist() == X.tolist()
    assert func.vmap(by_own)(X).tolist() == TWICE
    assert func.grad(lambda x: (by_own(x) * x).sum())(X).tolist() == TWICE  # detached


def test_backward_inside_of_a_mapped_function():
    w = leaf([1.0, 2.0])

    def f(x):
        (x * w).sum().backward()
        return x

    func.vmap(f)(X)
    assert w.grad.tolist() == [9, 12]  # the sum over the slices


def test_backward_inside_of_a_transform():
    def f(x):
        y = (x * x).sum()
        y.backward()
        return y

    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        func.grad(f)(X)
    with pytest.raises(RuntimeError, match="does not require grad"):
        func.vmap(f)(X)
    assert X.grad is None


def test_saved_views_keep_their_tangents():
    """Hooks give the values back; the tangents are those that the saved view showed of its base."""

    def function(x):
        with saved_tensors_hooks(lambda t: [t.data], lambda kept: kept[0]):
            return (x.T * x.view(3, 1)).sum() + x[0, 1:].exp().sum()

    x = gs.tensor([[0.5, -1.0, 2.0]], dtype=gs.float64)
    expected = np.diag(2 + np.exp([-np.inf, -1.0, 2.0]))
    np.testing.assert_allclose(func.jacfwd(func.jacrev(function))(x).numpy().reshape(3, 3), expected)
