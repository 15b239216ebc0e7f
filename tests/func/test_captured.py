"""The function of a transform may change its arguments and what it makes in place, but no tensor that it captures."""

import threading
from functools import partial

import pytest

import gradsmith as gs
from gradsmith import func

X = gs.tensor([1.0, 2.0, 3.0])

TRANSFORMS = {
    "grad": lambda f: func.grad(lambda x: f(x).sum())(X),
    "value_and_grad": lambda f: func.value_and_grad(lambda x: f(x).sum())(X),
    "vjp": lambda f: func.vjp(f, X),
    "jvp": lambda f: func.jvp(f, (X,), (X,)),
    "linearize": lambda f: func.linearize(f, X),
    "jacrev": lambda f: func.jacrev(f)(X),
    "jacfwd": lambda f: func.jacfwd(f)(X),
    "hessian": lambda f: func.hessian(lambda x: f(x).sum())(X),
    "grad of vmap": lambda f: func.grad(lambda x: func.vmap(lambda _: f(x))(gs.ones(2)).sum())(X),
}

WRITES = {
    "add_": lambda buffer, x: buffer.add_(x),
    "of a constant": lambda buffer, x: buffer.add_(1) + x,
    "to a view": lambda buffer, x: buffer[1:].mul_(2).sum() + x,
    "to an element": lambda buffer, x: buffer.__setitem__(0, 5.0) or x * 2,
    "of random numbers": lambda buffer, x: buffer.normal_() + x,
    "of its shape": lambda buffer, x: buffer.unsqueeze_(0) + x,
    "out=": lambda buffer, x: gs.mul(gs.ones(3), 2, out=buffer) + x,
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_write_is_refused(transform, write):
    buffer = gs.zeros(3)
    with pytest.raises(RuntimeError, match=r"f calls \w+ on a captured tensor of shape .*test_captured\.py:\d+\)"):
        TRANSFORMS[transform](lambda x: WRITES[write](buffer, x))
    assert buffer.tolist() == [0, 0, 0]
    assert buffer.add_(1).tolist() == [1, 1, 1]


def test_the_text():
    buffer = gs.zeros(3)

    def f(x):
        return buffer.add_(x).sum()

    with pytest.raises(RuntimeError) as raised:
        func.grad(f)(X)
    text, _, place = str(raised.value).partition(" (f is ")
    assert text == (
        "grad(f): f calls add_ on a captured tensor of shape [3], which it would change in place. Give the tensor to f "
        "as an argument and return it, or write to a clone() of it"
    )
    assert "test_the_text.<locals>.f" in place


def test_recording_or_not():
    buffer = gs.zeros(3)

    def f(x):
        with gs.no_grad():
            buffer.add_(1)
        return x.sum()

    with pytest.raises(RuntimeError, match="captured"):
        func.grad(f)(X)


@pytest.mark.parametrize("write", WRITES)
def test_what_the_function_makes(write):
    expected = func.grad(lambda x: WRITES[write](gs.zeros(3), x).sum())(X)
    assert expected.shape == X.shape
    inner = func.grad(lambda x: (x * func.grad(lambda y: WRITES[write](gs.zeros(3), y).sum())(x)).sum())(X)
    assert inner.tolist() == expected.tolist()


@pytest.mark.parametrize("given", ["args", "kwargs", "tree", "view"])
def test_arguments(given):
    buffer = gs.zeros(4)
    part = buffer[:3]
    if given == "args":
        found = func.grad(lambda x, b: b.add_(x * x).sum())(X, part)
    elif given == "kwargs":
        found = func.grad(lambda x, b: b.add_(x * x).sum())(X, b=part)
    elif given == "tree":
        found = func.grad(lambda x, b: b["state"][0].add_(x * x).sum())(X, {"state": [part]})
    else:
        found = func.grad(lambda x, b: b[0:].add_(x * x).sum())(X, part)
    assert found.tolist() == [2, 4, 6]
    assert buffer.tolist() == [1, 4, 9, 0]


def test_the_captured_tensor_of_an_inner_transform():
    """The tensor is an argument of the outer function, or made by it, but captured by the inner one."""
    with pytest.raises(RuntimeError, match="captured"):
        func.grad(lambda x, b: func.grad(lambda y: (b.add_(1) * y).sum())(x).sum())(X, gs.zeros(3))

    def makes_and_writes(x):
        made = x * 2
        return func.grad(lambda y: (made.add_(1) * y).sum())(x).sum()

    with pytest.raises(RuntimeError, match="captured"):
        func.grad(makes_and_writes)(X)
    with pytest.raises(RuntimeError, match="captured"):  # an argument of the inner function, captured by the outer one
        buffer = gs.zeros(3)
        func.grad(lambda x: func.grad(lambda y, b: b.add_(y).sum())(x, buffer).sum())(X)


def test_results_of_a_transform_are_captured_by_the_next_one():
    gradient = func.grad(lambda x: (x * x).sum())(X)
    value, _, aux = func.vjp(lambda x: (gs.ones(3), gs.ones(3)), X, has_aux=True)
    primal, tangent = func.jvp(lambda x: gs.ones(3), (X,), (X,))
    for result in (gradient, value, aux, primal, tangent):
        with pytest.raises(RuntimeError, match="captured"):
            func.grad(partial(scaled_after_a_write, result))(X)


def scaled_after_a_write(buffer, x):
    return (buffer.add_(1) * x).sum()


def test_under_vmap():
    rows, other_rows = gs.ones(2, 3), gs.ones(2, 3)
    assert func.vmap(func.grad(lambda x, y: y.mul_(x).sum()))(rows, rows.clone()).tolist() == [[1] * 3] * 2
    assert func.grad(lambda w: func.vmap(lambda x: x.mul_(w))(gs.ones(2, 3)).sum())(gs.tensor(2.0)).item() == 6
    with pytest.raises(RuntimeError, match="captured"):
        func.vmap(lambda y: func.grad(lambda x: y.mul_(x).sum())(y))(rows)
    with pytest.raises(RuntimeError, match="captured"):
        func.grad(lambda w: func.vmap(lambda x: x.mul_(w))(other_rows).sum())(gs.tensor(2.0))
    shared = gs.zeros(2)
    with pytest.raises(RuntimeError, match="that stands for itself is written with values that differ"):
        func.vmap(lambda x: shared.add_(x))(gs.ones(3, 2))


def test_after_an_error_everything_may_be_written():
    buffer = gs.zeros(3)

    def f(x):
        raise KeyError("f")

    with pytest.raises(KeyError):
        func.grad(f)(X)
    assert buffer.add_(1).tolist() == [1, 1, 1]


def test_other_threads_have_calls_of_their_own():
    buffer = gs.zeros(3)

    def f(x):
        thread = threading.Thread(target=lambda: buffer.add_(1))
        thread.start()
        thread.join()
        return x.sum()

    func.grad(f)(X)
    assert buffer.tolist() == [1, 1, 1]


def test_a_detached_alias_is_made_by_the_function():
    buffer = gs.zeros(3)
    func.grad(lambda x: (buffer.detach().add_(1) * x).sum())(X)
    assert buffer.tolist() == [1, 1, 1]


def test_more_calls_than_a_tensor_can_count():
    def nested(depth, x):
        if depth == 0:
            return (gs.zeros(3).add_(x) * x).sum()
        return (func.grad(lambda y: nested(depth - 1, y))(x) * x).sum()

    assert nested(9, X).item() == 2**9 * (X * X).sum().item()
