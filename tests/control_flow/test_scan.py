"""`scan` against the loop that it stands for."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd import grad

RNG = np.random.default_rng(3)
CHECKPOINTS = [None, 1, 3, 7, 20, "sqrt"]


@pytest.fixture
def given():
    tensors = {
        "u": RNG.standard_normal(7), "start": RNG.standard_normal(3), "w": 0.4 * RNG.standard_normal((3, 3)),
        "b": RNG.standard_normal(3),
    }  # fmt: skip
    return {name: gs.tensor(value, requires_grad=True) for name, value in tensors.items()}


def by_hand(u, start, w, b, reverse=False):
    x, total = start, 0
    for n in reversed(range(len(u))) if reverse else range(len(u)):
        x = (w @ x + b * u[n]).tanh()
        total = total + (n + 1) * (x**2).sum()
    return x.sum() + total


def scanned(u, start, w, b, **options):
    def step(x, force):
        x = (w @ x + b * force).tanh()
        return x, {"square": x**2, "nothing": None}

    last, results = gs.scan(step, start, u, **options)
    assert results["nothing"] is None
    weights = gs.arange(1, len(u) + 1, dtype=u.dtype)
    return last.sum() + (results["square"].sum(1) * weights).sum()


def all_close(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_value_and_gradients(given, checkpoint, reverse):
    found, expected = scanned(**given, checkpoint=checkpoint, reverse=reverse), by_hand(**given, reverse=reverse)
    all_close([found], [expected])
    all_close(grad(found, list(given.values())), grad(expected, list(given.values())))


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_second_and_third_derivatives(given, checkpoint):
    inputs = list(given.values())

    def derivatives(value):
        first = grad(value, inputs, create_graph=True)
        second = grad(sum((one**2).sum() for one in first), inputs, create_graph=True)
        return grad(sum((one**2).sum() for one in second), inputs)

    all_close(derivatives(scanned(**given, checkpoint=checkpoint)), derivatives(by_hand(**given)))


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_gradients_add_up_in_leaves(given, checkpoint):
    for _ in range(2):
        scanned(**given, checkpoint=checkpoint).backward()
    expected = grad(by_hand(**given), list(given.values()))
    all_close([one.grad for one in given.values()], [2 * one for one in expected])


@pytest.mark.parametrize("checkpoint", [2, "sqrt"])
@pytest.mark.parametrize("read_both", [False, True])
def test_captured_tensors_with_a_history(given, checkpoint, read_both):
    w, u, start = given["w"], given["u"], given["start"]

    def value(**options):
        scaled = 1.5 * w

        def step(x, force):
            x = (scaled @ x + (w.sum() if read_both else 1) * force).sin()
            return x, None

        return gs.scan(step, start, u, **options)[0].sum()

    all_close(grad(value(checkpoint=checkpoint), [w, u, start]), grad(value(), [w, u, start]))


@pytest.mark.parametrize("checkpoint", [None, 3])
def test_inside_transforms(given, checkpoint):
    u, start, w, b = (one.detach() for one in given.values())

    def value(u, w):
        return scanned(u, start, w, b, checkpoint=checkpoint)

    def expected(u, w):
        return by_hand(u, start, w, b)

    for transform in (func.grad, func.hessian, func.jacrev):
        all_close([transform(value)(u, w)], [transform(expected)(u, w)])
    tangents = gs.ones_like(u), gs.ones_like(w)
    all_close([func.jvp(value, (u, w), tangents)[1]], [func.jvp(expected, (u, w), tangents)[1]])
    many = gs.stack([u, 2 * u, -u])
    all_close(
        [func.vmap(func.grad(value), (0, None))(many, w)], [gs.stack([func.grad(expected)(one, w) for one in many])]
    )


def test_scan_in_scan():
    x = gs.tensor([[1.0, 2, 3], [4, 5, 6]], requires_grad=True)

    def value(inner, outer):
        def step(total, row):
            return gs.scan(lambda a, b: (a * b.sin() + b, None), total, row, checkpoint=inner)[0], None

        return gs.scan(step, gs.tensor(0.5), x, checkpoint=outer)[0]

    (expected,) = grad(value(None, None), x)
    for inner, outer in ((1, None), (None, 1), (2, 1), ("sqrt", "sqrt")):
        np.testing.assert_allclose(grad(value(inner, outer), x)[0].numpy(), expected.numpy(), rtol=1e-5)


@pytest.mark.parametrize("checkpoint", [None, 4])
def test_random_numbers_are_drawn_once(checkpoint):
    x = gs.ones(2, dtype=gs.float64, requires_grad=True)
    gs.manual_seed(5)
    last, noises = gs.scan(
        lambda a, _: (a * (noise := gs.rand(2, dtype=gs.float64)), noise), x, length=10, checkpoint=checkpoint
    )
    following = gs.rand(3)
    (found,) = grad(last.sum(), x)
    np.testing.assert_allclose(found.numpy(), noises.detach().numpy().prod(0))
    gs.manual_seed(5)
    np.testing.assert_array_equal(
        noises.detach().numpy(), np.stack([gs.rand(2, dtype=gs.float64).numpy() for _ in range(10)])
    )
    np.testing.assert_array_equal(following.numpy(), gs.rand(3).numpy())


def test_trees_numbers_and_arrays():
    carry, results = gs.scan(
        lambda c, x: ((c[0] + x["a"], c[1]), c[0]), (0.0, None), {"a": np.arange(3, dtype=np.float32)}
    )
    assert carry[0].item() == 3 and carry[1] is None
    assert results.tolist() == [0, 0, 1]


def test_no_step():
    x = gs.ones(2)
    carry, results = gs.scan(lambda c, _: (c, c), x, length=0)
    assert carry is x and results is None


def test_more_steps_than_a_node_has_inputs():
    x = gs.ones((), requires_grad=True)
    _, results = gs.scan(lambda c, row: (c, c * row), x, gs.ones(70_000))
    assert results.shape == (70_000,)
    results.sum().backward()
    assert x.grad.item() == 70_000


def test_nodes_of_one_segment_at_a_time():
    from gradsmith.runtime.graph.node import live_nodes

    alive = []

    def step(x, _):
        alive.append(live_nodes())
        return x.sin().cos().exp(), None

    x = gs.ones((), requires_grad=True)
    before = live_nodes()
    gs.scan(step, x, length=900, checkpoint="sqrt")[0].backward()
    assert len(alive) == 1 + 2 * 900  # one to see what it captures
    assert max(alive) - before < 900


def test_a_captured_tensor_may_not_change_before_backward():
    w, x = gs.ones(2, requires_grad=True), gs.ones(2, requires_grad=True)
    last, _ = gs.scan(lambda c, _: (c * w, None), x, length=4, checkpoint=2)
    with gs.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        last.sum().backward()


def test_another_tensor_read_on_the_second_run():
    parameters = [gs.ones(2, requires_grad=True) for _ in range(4)]
    calls = iter(range(100))
    x = gs.ones(2, requires_grad=True)
    last, _ = gs.scan(lambda c, _: (c * parameters[min(next(calls) // 3, 3)], None), x, length=4, checkpoint=2)
    with pytest.raises(RuntimeError, match="hand such tensors over in carry or xs"):
        last.sum().backward()


def test_an_error_in_a_step_leaves_the_random_stream_alone():
    def step(x, _):
        gs.rand(1)
        raise ArithmeticError

    gs.manual_seed(1)
    with pytest.raises(ArithmeticError):
        gs.scan(step, gs.ones(2, requires_grad=True), length=3, checkpoint=1)
    found = gs.rand(2).tolist()
    gs.manual_seed(1)
    assert found == gs.rand(2).tolist()


def keep(carry, x):
    return carry, None


def in_a_dict(carry, x):
    return {"a": carry["a"].double()}, x


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gs.scan(keep, 0.0), ValueError, "give xs or length"),
        (lambda: gs.scan(keep, 0.0, length=-1), ValueError, "must not be negative"),
        (lambda: gs.scan(keep, 0.0, gs.ones(3), length=2), ValueError, "length must be that of xs, 3, but is 2"),
        (lambda: gs.scan(keep, 0.0, (gs.ones(3), gs.ones(2))), ValueError, r"have lengths \[2, 3\]"),
        (lambda: gs.scan(keep, 0.0, gs.tensor(1.0)), ValueError, "must have a dimension"),
        (lambda: gs.scan(keep, 0.0, length=2, checkpoint=0), ValueError, "positive number of steps"),
        (lambda: gs.scan(keep, 0.0, length=2, checkpoint="root"), ValueError, "'root'"),
        (lambda: gs.scan(None, 0.0, length=2), TypeError, "must be callable"),
        (lambda: gs.scan(keep, "text", length=2), TypeError, "carry must be a tensor, a number or None, but is a str"),
        (lambda: gs.scan(lambda c, x: c, 0.0, length=2), TypeError, "must give a pair"),
        (lambda: gs.scan(lambda c, x: ((c, c), x), 0.0, length=2), RuntimeError, "must keep its structure"),
        (lambda: gs.scan(lambda c, x: (gs.ones(2), x), 0, length=2), RuntimeError, r"\[\], .* \[2\]"),
        (lambda: gs.scan(lambda c, x: (c.double(), x), 0.0, length=2), RuntimeError, "was float32.*is float64"),
        (lambda: gs.scan(in_a_dict, {"a": 0.0}, length=2), RuntimeError, r"carry\['a'\]"),
        (lambda: gs.scan(lambda c, x: ((c[0],) * 2, x), (1.0, None), length=2), RuntimeError, "None where it had None"),
        (lambda: gs.scan(lambda c, x: (c, gs.ones(int(x))), 0, gs.tensor([1, 2])), RuntimeError, "y must keep its"),
    ],
)  # fmt: skip
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_states_that_are_results_as_they_come_in(given, checkpoint):
    """The state is a leaf of the step that finds out what else it reads."""
    u, start, w = given["u"], given["start"], given["w"]
    last, states = gs.scan(lambda x, force: ((w @ x).tanh() + force, x), start, u, checkpoint=checkpoint)
    x, total = start, 0
    for n in range(len(u)):
        x, total = (w @ x).tanh() + u[n], total + x.sum()
    for one, other in zip(grad(last.sum() + states.sum(), (u, start, w)), grad(x.sum() + total, (u, start, w))):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("checkpoint", [None, 2, "sqrt"])
@pytest.mark.parametrize("wrap", [lambda f: f, gs.compile])
def test_states_that_no_result_comes_from_have_no_gradient(wrap, checkpoint, order):
    """With checkpoints as without them."""

    def first(a, b):
        (a, _), _ = gs.scan(lambda c, _: ((c[0] ** 2 / 2, c[1].sin()), None), (a, b), None, 5, checkpoint=checkpoint)
        return a

    a, b = gs.ones(3, requires_grad=True), gs.ones(3, requires_grad=True)
    found = wrap(first)(a, b)
    for n in range(order):
        found, other = gs.autograd.grad(found.sum(), [a, b], allow_unused=True, create_graph=n < order - 1)
        assert found is not None and other is None
