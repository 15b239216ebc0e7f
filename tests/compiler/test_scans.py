"""Scans of many steps in compiled functions: their steps are traced once. Against eager, bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.utils import pytree

pytestmark = pytest.mark.filterwarnings("error:compile")  # a program that does not repeat its run

N = 100
ONCE = f"{N} times"  # of `explain`: the loop is one step of the program


def leaves_of(tree: Any) -> list[Any]:
    return pytree.flatten(tree)[0]


def normal(*shape: int, seed: int = 0) -> Any:
    return gs.tensor(np.random.default_rng(seed).standard_normal(shape) * 0.5)


def operands(*shapes: tuple[int, ...]) -> list[list[Any]]:
    """Two sets."""
    return [[normal(*shape, seed=10 * turn + n) for n, shape in enumerate(shapes)] for turn in range(2)]


def with_gradients(function: Callable[..., Any], n: int) -> Callable[..., Any]:
    return gs.func.value_and_grad(function, tuple(range(n)))


def check(
    function: Callable[..., Any], given: list[list[Any]], is_once: bool | None = True, tolerance: float = 0.0
) -> Any:
    """Compiled and eager agree on all sets; and the scan is traced once, or step by step. None: either."""
    compiled = gs.compile(function)
    for one in given:
        for found, expected in zip(leaves_of(compiled(*one)), leaves_of(function(*one)), strict=True):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            if tolerance:
                np.testing.assert_allclose(found.numpy(), expected.numpy(), tolerance, tolerance)
            else:
                np.testing.assert_array_equal(found.numpy(), expected.numpy())
    assert len(compiled.programs) == 1
    text = compiled.explain(*given[0])
    assert is_once is None or (" = scan(" in text) == is_once, text
    return compiled


SHAPES = [(3,), (3, 3), (N, 3)]


def recurrent(x: Any, w: Any, rows: Any, **options: Any) -> Any:
    def step(h: Any, row: Any) -> Any:
        h = gs.tanh(w @ h + row)
        return h, h

    h, states = gs.scan(step, x, rows, **options)
    return (h * h).sum() + (states**3).sum()


def gated(x: Any, w: Any, rows: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        h, c = state["h"], state["c"]
        i, f, g = gs.sigmoid(w[0] * h + row), gs.sigmoid(w[1] * h - row), gs.tanh(w[2] * h + row)
        c = f * c + i * g
        h = gs.tanh(c) * f
        return {"h": h, "c": c}, {"out": h, "size": c.sum(), "none": None}

    state, found = gs.scan(step, {"h": x, "c": x * 0}, rows)
    return state["h"].sum() + (found["out"] * found["size"].unsqueeze(1)).sum()


def without_results(x: Any, w: Any, rows: Any) -> Any:
    return gs.scan(lambda h, row: (gs.tanh(w @ h + row) + 0.1 * h * h, None), x, rows)[0].sum()


def of_results_alone(x: Any, w: Any, rows: Any) -> Any:
    return (gs.scan(lambda h, row: (gs.tanh(w @ h + row), (h * row).sum()), x, rows)[1] ** 2).sum()


def delayed(x: Any, w: Any, rows: Any) -> Any:
    last, y = gs.scan(lambda h, row: (row, h * w[0] + row), x, rows)
    return (last * y).sum()


def carried_weights(x: Any, w: Any, rows: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        w, h = state
        return (w, gs.tanh(w @ h + row)), None

    return gs.scan(step, (w, x), rows)[0][1].sum()


def counted(x: Any, w: Any, rows: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        n, h = state
        return (n + 1, gs.tanh(w @ h + row * n)), n

    (_, h), numbers = gs.scan(step, (gs.tensor(0), x), rows)
    return (h * numbers[-1]).sum()


def swapped(x: Any, w: Any, rows: Any) -> Any:
    """The parts of the state that have a gradient change at every step."""
    (a, _), _ = gs.scan(lambda s, _: ((s[1] * 0.9, s[0] + 0.01 * s[0] * s[1]), None), (x, rows[0]), length=N + 1)
    return a.sum() * w.sum()


def only_swapped(x: Any, w: Any, rows: Any) -> Any:
    return gs.scan(lambda s, _: ((s[1], s[0]), None), (x, rows[0]), length=N + 1)[0][0].sum()


def writing(x: Any, w: Any, rows: Any) -> Any:
    """To memory of its own, which begins anew at each step."""

    def step(h: Any, row: Any) -> Any:
        out = gs.zeros(3, dtype=h.dtype)
        out[0] = h[1] * row[0]
        out[1:] = h[:2] + row[1:]
        return out, h.sum()

    h, y = gs.scan(step, x, rows)
    return h.sum() + y.sum()


def detached(x: Any, w: Any, rows: Any) -> Any:
    return gs.scan(lambda h, row: (gs.tanh(w @ h.detach() + row) + h * 0.5, None), x, rows)[0].sum()


def descending(x: Any, w: Any, rows: Any) -> Any:
    """A gradient in each step, of which the gradient is recorded."""

    def step(h: Any, row: Any) -> Any:
        return h - 0.1 * gs.func.grad(lambda h: gs.tanh(w @ h + row).sum())(h), None

    return gs.scan(step, x, rows)[0].sum()


@pytest.mark.parametrize(
    "function",
    [
        recurrent, gated, without_results, of_results_alone, delayed, carried_weights, counted, swapped,
        writing, detached, descending,
    ],
    ids=lambda one: one.__name__,
)  # fmt: skip
@pytest.mark.parametrize("dtype", [gs.float64, gs.float32])
def test_values_and_gradients(function: Any, dtype: Any) -> None:
    given = [[one.to(dtype) for one in ones] for ones in operands(*SHAPES)]
    check(function, given)
    check(with_gradients(function, 3), given)


def test_states_that_change_places_are_the_tensors_that_were_given() -> None:
    """Writes to the state after the loop are seen in those, so that each step is traced."""
    given = operands(*SHAPES)
    check(only_swapped, given, is_once=False)
    check(with_gradients(only_swapped, 3), given, is_once=False)

    def written(x: Any, w: Any, rows: Any) -> Any:
        first = x * 1
        state, _ = gs.scan(lambda s, _: ((s[1], s[0]), None), (first, x * 2), length=N + 1)
        state[0].mul_(3)
        state[1].mul_(5)
        return first, *state

    check(written, given, is_once=False)


@pytest.mark.parametrize("view", [False, True])
def test_a_state_that_no_step_changes_is_the_tensor_that_was_given(view: bool) -> None:
    def written(x: Any, w: Any, rows: Any) -> Any:
        first = x * 1
        (same, other), _ = gs.scan(
            lambda s, _: ((s[0][...] if view else s[0], s[1] * 0.5 + s[0]), None), (first, x * 2), length=N
        )
        same.mul_(3)
        return first, same, other

    check(written, operands(*SHAPES), is_once=not view)
    check(
        with_gradients(lambda *given: sum(one.sum() for one in written(*given)), 3), operands(*SHAPES), not view, 1e-12
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("checkpoint", [None, 7, "sqrt", 2 * N])
def test_checkpoints(reverse: bool, checkpoint: Any) -> None:
    """Gradients are added segment by segment; in eager too their bits depend on `checkpoint`."""

    def function(*given: Any) -> Any:
        return recurrent(*given, reverse=reverse, checkpoint=checkpoint)

    check(function, operands(*SHAPES))
    check(with_gradients(function, 3), operands(*SHAPES), tolerance=1e-14)


def test_what_is_used_after_the_loop_too() -> None:
    """Its gradients are added in another order than in eager."""

    def function(x: Any, w: Any, rows: Any) -> Any:
        return recurrent(x, w, rows) + (w * w).sum() + (x * w[0]).sum() + (rows * rows).sum()

    check(with_gradients(function, 3), operands(*SHAPES), tolerance=1e-12)


def test_batches_of_states() -> None:
    def function(x: Any, w: Any, rows: Any) -> Any:
        h, states = gs.scan(lambda h, row: (h := gs.tanh(h @ w + row), h), x, rows.transpose(0, 1))
        return h.sum() + (states**3).sum()

    check(with_gradients(function, 3), operands((4, 3), (3, 3), (4, N, 3)))


def test_nothing_is_not_zero() -> None:
    """A part of the state without a cotangent has no gradient: zeros would become NaN where a slope is infinite."""

    def function(x: Any) -> Any:
        return gs.scan(lambda s, _: ((s[0] * 0.5, gs.sqrt(s[0] * 0)), None), (x, x), length=N)[0][0]

    found = gs.compile(gs.func.grad(function))(gs.tensor(1.0))
    assert found.item() == 0.5**N == gs.func.grad(function)(gs.tensor(1.0)).item()


def test_nan_and_infinity() -> None:
    def function(x: Any, rows: Any) -> Any:
        return gs.scan(lambda h, row: (h + gs.sqrt(row) / h, None), x, rows)[0].sum()

    check(with_gradients(function, 2), operands((3,), (N, 3)))


def test_complex_numbers() -> None:
    check(lambda z: gs.scan(lambda h, _: (h * h * 0.5 + 0.1j, h), z, length=N), [[gs.tensor([0.1 + 0.2j, 0.3j])]])


def test_large_states() -> None:
    def function(x: Any, rows: Any) -> Any:
        return gs.scan(lambda h, row: (gs.tanh(h) * 0.99 + row, None), x, rows)[0].sum()

    check(with_gradients(function, 2), operands((20_000,), (70, 1)))


def test_empty_tensors() -> None:
    check(lambda x, rows: gs.scan(lambda h, row: (h + row, row), x, rows), [[gs.zeros(0), gs.zeros(N, 0)]])


# ---- derivatives of other kinds


def test_second_and_third_derivatives() -> None:
    x, w, rows = operands(*SHAPES)[0]

    def once(w: Any) -> Any:
        return recurrent(x, w, rows)

    def squared(function: Any) -> Any:
        return lambda w: (gs.func.grad(function)(w) ** 2).sum()

    check(gs.func.grad(squared(once)), [[w], [w * 0.7]], tolerance=1e-12)
    check(gs.func.grad(squared(squared(once))), [[w * 0.5]], tolerance=1e-11)


@pytest.mark.parametrize("checkpoint", [None, 10])
def test_products_of_a_hessian_and_a_vector(checkpoint: Any) -> None:
    x, w, rows = operands(*SHAPES)[0]

    def product(w: Any, v: Any) -> Any:
        def along(w: Any) -> Any:
            return (gs.func.grad(lambda w: recurrent(x, w, rows, checkpoint=checkpoint))(w) * v).sum()

        return gs.func.grad(along)(w)

    v = normal(3, 3, seed=5)
    check(product, [[w, v]], tolerance=1e-12)
    step = 1e-5
    slope = gs.compile(gs.func.grad(lambda w: recurrent(x, w, rows, checkpoint=checkpoint)))
    expected = (slope(w + step * v) - slope(w - step * v)) / (2 * step)
    np.testing.assert_allclose(gs.compile(product)(w, v).numpy(), expected.numpy(), 1e-6, 1e-7)


def test_gradients_by_differences() -> None:
    x, w, rows = operands(*SHAPES)[0]
    slope = gs.compile(gs.func.grad(recurrent, (0, 1, 2)))(x, w, rows)
    for number, gradient in enumerate(slope):
        direction, step = normal(*gradient.shape, seed=7), 1e-6
        ends = []
        for sign in (step, -step):
            given = [x, w, rows]
            given[number] = given[number] + sign * direction
            ends.append(recurrent(*given).item())
        assert (gradient * direction).sum().item() == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("transform", [gs.func.jacrev, gs.func.jacfwd, gs.func.hessian])
def test_jacobians(transform: Any) -> None:
    _, w, rows = operands(*SHAPES)[0]

    def function(x: Any) -> Any:
        h, _ = gs.scan(lambda h, row: (gs.tanh(w @ h + row), h), x, rows)
        return h if transform is not gs.func.hessian else h.sum()

    check(transform(function), [[normal(3, seed=3)]], is_once=None, tolerance=1e-14)
    check(gs.func.jacrev(recurrent, (0, 1, 2)), operands(*SHAPES), tolerance=1e-13)


@pytest.mark.parametrize("number", [0, 1])
def test_tangents(number: int) -> None:
    """Forward mode, over itself, over reverse mode and under it."""
    given = operands(*SHAPES)[0]

    def along(function: Any) -> Any:
        return lambda x, v: gs.func.jvp(function, (x,), (v,))

    def by_one(x: Any) -> Any:
        return recurrent(*given[:number], x, *given[number + 1 :])

    ones = [[given[number], normal(*given[number].shape, seed=4)]]
    check(along(by_one), ones)
    check(lambda x, v: along(lambda x: along(by_one)(x, v)[1])(x, v), ones, tolerance=1e-12)
    check(along(gs.func.grad(by_one)), ones, tolerance=1e-12)
    check(lambda x, v: gs.func.grad(lambda x: along(by_one)(x, v)[1])(x), ones, tolerance=1e-12)


def test_no_tangent_is_not_one_of_zeros() -> None:
    def function(x: Any, v: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            return (state[0] * 0.5, gs.sqrt(state[1])), None

        zero = x * 0
        return gs.func.jvp(lambda x: gs.scan(step, (x, zero), length=N)[0], (x,), (v,))

    check(function, [[gs.tensor(1.0), gs.tensor(2.0)]])


def test_a_tangent_of_a_backward() -> None:
    x, w, rows = operands(*SHAPES)[0]

    def function(v: Any) -> Any:
        _, pullback = gs.func.vjp(lambda x: gs.scan(lambda h, row: (gs.tanh(w @ h + row), None), x, rows)[0], x)
        return gs.func.jvp(lambda v: pullback(v)[0], (v,), (v,))

    check(function, [[normal(3, seed=4)]], tolerance=1e-14)


def test_vmap_outside_and_inside() -> None:
    _, w, rows = operands(*SHAPES)[0]
    xs = normal(4, 3, seed=6)
    check(gs.func.vmap(lambda x: recurrent(x, w, rows)), [[xs]], is_once=None, tolerance=1e-14)
    check(gs.func.vmap(gs.func.grad(lambda x: recurrent(x, w, rows))), [[xs]], is_once=None, tolerance=1e-14)

    def inside(xs: Any, w: Any, rows: Any) -> Any:
        def step(hs: Any, row: Any) -> Any:
            return gs.func.vmap(lambda h: gs.tanh(w @ h + row))(hs), None

        return gs.scan(step, xs, rows)[0].sum()

    check(with_gradients(inside, 3), [[xs, w, rows]])


def test_scans_in_scans() -> None:
    def function(x: Any, w: Any, rows: Any) -> Any:
        def step(h: Any, row: Any) -> Any:
            h, _ = gs.scan(lambda h, _: (h + 0.001 * gs.tanh(w @ h), None), h + 0.1 * row, length=70)
            return h * 0.9, h.sum()

        h, y = gs.scan(step, x, rows)
        return h.sum() + (y * y).sum()

    check(function, operands(*SHAPES))
    check(with_gradients(function, 3), operands(*SHAPES), tolerance=1e-11)


# ---- recorded calls, parameters, optimizers


@pytest.mark.parametrize("memory", [None, "min"])
def test_recorded_calls(memory: Any) -> None:
    compiled = gs.compile(recurrent, memory=memory)
    for ones in operands(*SHAPES):
        mine, others = ([one.clone().requires_grad_() for one in ones] for _ in range(2))
        compiled(*mine).backward()
        recurrent(*others).backward()
        for one, other in zip(mine, others):
            assert gs.equal(one.grad, other.grad)
    (slope,) = gs.autograd.grad(compiled(*mine), mine[:1], create_graph=True)
    (expected,) = gs.autograd.grad(recurrent(*mine), mine[:1], create_graph=True)
    found = gs.autograd.grad((slope**2).sum(), mine[1])[0]
    assert gs.allclose(found, gs.autograd.grad((expected**2).sum(), mine[1])[0])


def test_parameters_of_modules() -> None:
    rows = normal(N, 3, seed=2)

    def trained(is_compiled: bool) -> list[Any]:
        gs.manual_seed(0)
        cell = gs.nn.RNNCell(3, 3).double()
        optimizer = gs.optim.SGD(cell.parameters(), lr=0.01)

        def step(x: Any, rows: Any) -> Any:
            optimizer.zero_grad()
            _, states = gs.scan(lambda h, row: (h := cell(row.unsqueeze(0), h), h), x, rows)
            loss = (states * states).mean()
            loss.backward()
            optimizer.step()
            return loss

        called = gs.compile(step) if is_compiled else step
        losses = [called(gs.zeros(1, 3, dtype=gs.float64), rows).item() for _ in range(3)]
        if is_compiled:
            assert " = scan(" in called.explain(gs.zeros(1, 3, dtype=gs.float64), rows)
        return [losses, *[one.tolist() for one in cell.parameters()]]

    assert trained(True) == trained(False)


def test_a_parameter_that_is_captured_twice() -> None:
    gs.manual_seed(0)
    cell = gs.nn.RNNCell(3, 3).double()
    weight = cell.weight_hh

    def slopes(x: Any, rows: Any) -> Any:
        def step(h: Any, row: Any) -> Any:
            h = cell(row.unsqueeze(0), h) + 0.1 * (h @ weight)
            return h, h

        _, states = gs.scan(step, x, rows)
        return gs.autograd.grad((states * states).sum(), list(cell.parameters()))

    check(slopes, operands((1, 3), (N, 3)), is_once=False)


def test_captured_tensors_are_read_in_each_run() -> None:
    scale = normal(3, seed=8)
    compiled = gs.compile(lambda rows: gs.scan(lambda h, row: (h * 0.5 + scale * row, None), scale, rows)[0])
    rows = normal(N, 3)
    compiled(rows)
    scale.mul_(2)
    expected = gs.scan(lambda h, row: (h * 0.5 + scale * row, None), scale, rows)[0]
    assert gs.equal(compiled(rows), expected)


def test_results_are_new_in_each_run() -> None:
    compiled = gs.compile(lambda x: gs.scan(lambda h, _: (h * 0.9, h), x, length=N))
    first, states = compiled(gs.ones(2))
    kept = first.clone(), states.clone()
    compiled(gs.zeros(2))
    assert gs.equal(first, kept[0]) and gs.equal(states, kept[1])


# ---- what is traced step by step


def test_random_numbers() -> None:
    def function(x: Any, rows: Any) -> Any:
        return gs.scan(lambda h, row: (h + gs.randn(3, dtype=h.dtype) * row, None), x, rows)[0]

    compiled = gs.compile(function)
    for seed, given in enumerate(operands((3,), (N, 3))):
        streams = []
        for called in (compiled, function):
            gs.manual_seed(seed)
            streams.append((called(*given), gs.randn(2)))
        assert gs.equal(streams[0][0], streams[1][0]) and gs.equal(streams[0][1], streams[1][1])


def counting_calls(x: Any, rows: Any) -> Any:
    calls = 0

    def step(h: Any, row: Any) -> Any:
        nonlocal calls
        calls += 1
        return h * 0.9 + row, None

    return gs.scan(step, x, rows)[0] * calls


def using_the_count(x: Any, rows: Any) -> Any:
    calls = [0]

    def step(h: Any, row: Any) -> Any:
        calls[0] += 1
        return h * 0.9 + row / calls[0], None

    return gs.scan(step, x, rows)[0]


def keeping_tensors(x: Any, rows: Any) -> Any:
    kept = []

    def step(h: Any, row: Any) -> Any:
        kept.append(h)
        return h * 0.9 + row, None

    gs.scan(step, x, rows)
    return gs.stack(kept)


class Holder:
    value: Any = None


def keeping_an_attribute(x: Any, rows: Any) -> Any:
    holder = Holder()

    def step(h: Any, row: Any) -> Any:
        holder.value = h * 0.9 + row
        return holder.value, None

    gs.scan(step, x, rows)
    return holder.value


def of_a_hidden_value(x: Any, rows: Any) -> Any:
    holder = Holder()
    holder.value = x * 2
    return gs.scan(lambda h, row: (h * holder.value + row, None), x, rows)[0]


def writing_elsewhere(x: Any, rows: Any) -> Any:
    total = x * 0

    def step(h: Any, row: Any) -> Any:
        total.add_(row)
        return h * 0.9 + total, None

    return gs.scan(step, x, rows)[0] + total


class Slotted:
    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls = 0


def counting_in_a_slot(x: Any, rows: Any) -> Any:
    holder = Slotted()

    def step(h: Any, row: Any) -> Any:
        holder.calls += 1
        return h * 0.9 + row, None

    return gs.scan(step, x, rows)[0] * holder.calls


def using_up_an_iterator(x: Any, rows: Any) -> Any:
    numbers = iter(range(1000))

    def step(h: Any, row: Any) -> Any:
        next(numbers)
        return h * 0.9 + row, None

    return gs.scan(step, x, rows)[0] * next(numbers)


def with_a_condition(x: Any, rows: Any) -> Any:
    return gs.scan(lambda h, row: (gs.cond(h.sum() > 0, gs.sin, gs.cos, h) + row, None), x, rows)[0]


@pytest.mark.parametrize(
    "function",
    [
        counting_calls, using_the_count, keeping_tensors, keeping_an_attribute, of_a_hidden_value, writing_elsewhere,
        counting_in_a_slot, using_up_an_iterator, with_a_condition,
    ],
    ids=lambda one: one.__name__,
)  # fmt: skip
def test_steps_that_one_cannot_stand_for(function: Any) -> None:
    check(function, operands((3,), (N, 3)), is_once=False)


def test_variables_that_change_before_the_backward() -> None:
    def function(x: Any, w: Any) -> Any:
        factor = 0.9

        def step(h: Any, _: Any) -> Any:
            return gs.tanh(w @ h) * factor, None

        w = w.detach().requires_grad_()
        h, _ = gs.scan(step, x, length=N)
        factor = 0.5
        return gs.autograd.grad((h * h).sum(), w)[0] * factor

    check(function, operands((3,), (3, 3)))


def test_a_step_that_changes_before_the_backward() -> None:
    settings = Holder()

    def function(x: Any) -> Any:
        settings.value = 0.9
        h, _ = gs.scan(lambda h, _: (gs.tanh(h) * settings.value, None), x, length=N)
        settings.value = 0.5
        return gs.autograd.grad(h.sum(), x)[0]

    with pytest.raises(gs.compiler.TraceError, match="does something else when it is called again"):
        gs.compile(lambda x: function(x.detach().requires_grad_()))(gs.ones(3))


def test_values_that_are_asked_for() -> None:
    def function(x: Any, rows: Any) -> Any:
        return gs.scan(lambda h, row: (h * 0.5 if h.sum() > 0 else h + row, None), x, rows)[0]

    x, rows = operands((3,), (N, 3))[0]
    with pytest.raises(gs.compiler.TraceError, match=r"test_scans.py:\d+: .*h \* 0.5 if h.sum\(\) > 0"):
        gs.compile(function)(x, rows)
    guarded = gs.compile(function, on_escape="guard")
    assert gs.equal(guarded(x, rows), function(x, rows)) and gs.equal(guarded(x, rows), function(x, rows))


@pytest.mark.parametrize(
    "step, message",
    [
        (lambda h, row: ((h, h), None), "carry must keep its structure"),
        (lambda h, row: (h.float(), None), "carry must keep its shape and dtype"),
        (lambda h, row: (h.sum(), None), "carry must keep its shape and dtype"),
        (lambda h, row: h, r"f must give a pair \(carry, y\)"),
    ],
)
def test_errors_are_those_of_eager(step: Any, message: str) -> None:
    x, rows = operands((3,), (N, 3))[0]
    for function in (gs.scan, gs.compile(lambda *given: gs.scan(step, *given))):
        with pytest.raises((RuntimeError, TypeError), match=message):
            function(*((step, x, rows) if function is gs.scan else (x, rows)))


# ---- fori_loop


def test_fori_loop() -> None:
    def function(x: Any, w: Any) -> Any:
        return gs.fori_loop(0, N, lambda i, h: gs.tanh(w @ h) + h * 0.1, x).sum()

    check(with_gradients(function, 2), operands((3,), (3, 3)))


@pytest.mark.parametrize(
    "body",
    [
        lambda i, h: h * (1 + i * 1e-3),
        lambda i, h: h * 0.5 if i == 70 else h * 1.01,
        lambda i, h: h * 0.5 if i % 10 == 7 else h,
        lambda i, h: h * {70: 2.0}.get(i, 1.0),
        lambda i, h: h * float(f"1.{i}"),
        lambda i, h: h + gs.tensor(i) * 1e-3,
        lambda i, h: h + h[:i].sum() * 1e-3,
        lambda i, h: h.add(i),
    ],
)
def test_bodies_that_use_the_number(body: Any) -> None:
    check(lambda x: gs.fori_loop(0, N, body, x), operands((3,)), is_once=False)


def test_captured_tensors_that_are_written_before_the_backward() -> None:
    """What the backward reads may not change, and what it does not read may."""
    factor, shift = normal(3, seed=5), normal(3, seed=6)

    def function(x: Any, rows: Any) -> Any:
        x = x.detach().requires_grad_()
        h, _ = gs.scan(lambda h, row: (gs.tanh(h * factor + shift) + row, None), x, rows)
        (shift if rows.shape[0] == N else factor).mul_(1.0)
        return gs.autograd.grad((h * h).sum(), x)[0]

    check(function, operands((3,), (N, 3)))
    for called in (function, gs.compile(function)):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            called(normal(3), normal(N + 1, 3))


def tangent(function: Any, x: Any, direction: Any) -> Any:
    return gs.func.jvp(function, (x,), (direction,))[1]


@pytest.mark.parametrize(
    "slope",
    [
        lambda h, w: tangent(lambda h: gs.sin(w @ h) * h, h, gs.ones_like(h)),
        lambda h, w: tangent(lambda h: gs.sin(w @ h) * h, h, h * h),
        lambda h, w: tangent(lambda h: gs.sin(h) * 2, h[:2], gs.ones(2, dtype=h.dtype)).sum(),
        lambda h, w: tangent(gs.func.grad(lambda h: (gs.sin(w @ h) * h).sum()), h, gs.ones_like(h)),
        lambda h, w: tangent(lambda h: tangent(gs.sin, h, gs.ones_like(h)), h, h.clone()),
        lambda h, w: gs.func.jacfwd(lambda h: gs.sin(w @ h))(h).sum(0),
        lambda h, w: gs.func.hessian(lambda h: gs.sin(w @ h).sum())(h).sum(0),
        lambda h, w: gs.func.linearize(lambda h: gs.tanh(w @ h), h)[1](gs.ones_like(h)),
    ],
)
@pytest.mark.parametrize("checkpoint", [None, "sqrt"])
def test_forward_mode_in_steps(slope: Any, checkpoint: Any) -> None:
    def function(x: Any, w: Any, rows: Any) -> Any:
        h, slopes = gs.scan(lambda h, row: (0.9 * h + 0.1 * slope(h, w) + row, h), x, rows, checkpoint=checkpoint)
        return h.sum() + slopes.sum()

    given = operands(*SHAPES)
    check(function, given)
    check(with_gradients(function, 2), given, tolerance=1e-12)
    second = lambda *one: tangent(lambda x: gs.func.grad(function)(x, *one[1:]), one[0], gs.ones_like(one[0]))  # noqa: E731
    check(second, given, tolerance=1e-10)


def test_what_needs_no_gradient_in_a_scan_requires_none() -> None:
    w = gs.ones(3, dtype=gs.float64, requires_grad=True)

    def function(x: Any) -> Any:
        (plain, other), (kept, made) = gs.scan(
            lambda s, row: ((s[0] * 0.5, s[1] * w), (s[0] + row, s[1] * row)), (x, x + 1), gs.ones(N, 3, dtype=x.dtype)
        )
        return plain, other, kept, made

    compiled = gs.compile(function)
    for _ in range(2):
        found = compiled(normal(3))
        assert [one.requires_grad for one in found] == [False, True, False, True]
    assert " = scan(" in compiled.explain(normal(3))


def test_results_of_the_first_step_may_be_the_only_ones_with_a_history() -> None:
    def function(x: Any) -> Any:
        return gs.scan(lambda s, _: (s.detach() * 0.5, s), x, None, 80)

    def slope(x: Any) -> Any:
        return gs.func.grad(lambda x: (function(x)[1] ** 2).sum())(x)

    compiled = gs.compile(slope)
    for _ in range(2):
        x = gs.tensor([1.0, -2.0])
        assert gs.equal(compiled(x), 2 * x)


# ---- which gradients there are

STEPS = 71


def of_parts(x: Any, w: Any, v: Any) -> Any:
    (a, b), (c, d) = gs.scan(lambda s, _: ((s[0] * w, s[1].sin()), (s[0] * 2, s[1] * v)), (x, w * 1), None, STEPS)
    return a, b, c, d


def of_rows(x: Any, w: Any, v: Any) -> Any:
    return gs.scan(lambda s, row: (s.sin(), row * w), x, gs.stack([v] * STEPS))


def exchanged(x: Any, w: Any, v: Any) -> Any:
    return gs.fori_loop(0, STEPS, lambda i, s: (s[1], s[0] * 0.5, s[2] * v), (x, w * 1, v * 1))


def cut_off(x: Any, w: Any, v: Any) -> Any:
    return gs.scan(lambda s, _: (s.detach().sin() * v, (s * w, v.exp())), x, None, STEPS)


def in_segments(x: Any, w: Any, v: Any) -> Any:
    return gs.scan(lambda s, _: ((s[0] * w, s[1]), s[1] * v), (x, v * 1), None, STEPS)[0]


def in_segments_compiled(x: Any, w: Any, v: Any) -> Any:
    return gs.scan(lambda s, _: ((s[0] * w, s[1]), s[1] * v), (x, v * 1), None, STEPS, checkpoint="sqrt")[0]


def of_rows_alone(x: Any, w: Any, v: Any) -> Any:
    return gs.scan(lambda s, row: (row * w,) * 2, x, gs.stack([v] * STEPS))


def of_a_layer() -> Callable[..., Any]:
    layer = gs.nn.Linear(3, 3)

    def function(x: Any, w: Any, v: Any) -> Any:
        return gs.scan(lambda s, _: ((s[0] + layer(s[0]), s[1] * v), None), (x, w * 1), None, STEPS)[0]

    return function


@pytest.mark.parametrize(
    ("function", "compiled"),
    [
        (of_parts, of_parts),
        (of_rows, of_rows),
        (of_rows_alone, of_rows_alone),
        (exchanged, exchanged),
        (cut_off, cut_off),
        (in_segments, in_segments_compiled),
        (of_layer := of_a_layer(), of_layer),
    ],
)
def test_results_have_gradients_of_what_they_come_from_alone(function: Any, compiled: Any) -> None:
    """Other inputs have None, as in eager, and not zeros."""
    compiled = gs.compile(compiled)
    for _ in range(2):
        leaves = [gs.tensor([0.5, 0.2, 0.1], requires_grad=True) for _ in range(3)]
        found, expected = (gs.utils.pytree.flatten(f(*leaves))[0] for f in (compiled, function))
        for one, other in zip(found, expected, strict=True):
            assert one.requires_grad == other.requires_grad
            if one.requires_grad:
                slopes, wanted = (
                    gs.autograd.grad(result.sum(), leaves, allow_unused=True, retain_graph=True)
                    for result in (one, other)
                )
                assert [slope is None for slope in slopes] == [slope is None for slope in wanted]
                assert all(gs.allclose(s, w) for s, w in zip(slopes, wanted) if s is not None)


def test_gradients_of_one_of_several_gradients() -> None:
    """Through the states that a loop keeps for its backward."""

    def function(x: Any, w: Any, v: Any) -> Any:
        def end(x: Any, w: Any) -> Any:
            (a, b), rows = gs.scan(lambda s, _: ((s[0] * w, (s[1] * s[0]).sin()), s[1] * v), (x, w * 1), None, STEPS)
            return a.sum() + b.sum() + rows.sum()

        return gs.func.grad(end, (0, 1))(x, w)

    compiled = gs.compile(function)
    for _ in range(2):
        leaves = [gs.tensor([0.9, 0.8, 1.01], dtype=gs.float64, requires_grad=True) for _ in range(3)]
        for one, other in zip(compiled(*leaves), function(*leaves), strict=True):
            found, expected = (
                gs.autograd.grad(result.sum(), leaves, allow_unused=True, retain_graph=True) for result in (one, other)
            )
            assert all(gs.allclose(a, b) if b is not None else a is None for a, b in zip(found, expected, strict=True))
