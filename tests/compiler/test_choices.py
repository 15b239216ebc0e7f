"""`cond` and `while_loop` on values of a compiled function, against eager."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.utils import pytree


def arguments(seed: int, count: int = 2) -> list[Any]:
    """Some with a positive sum, some with a negative one."""
    rng = np.random.default_rng(seed)
    first = np.abs(rng.standard_normal(3)) * (1 if seed % 2 else -1)
    return [gs.tensor(first), *[gs.tensor(rng.standard_normal(3)) for _ in range(count - 1)]]


def check(function: Any, count: int = 2, programs: int = 1) -> None:
    compiled = gs.compile(function)
    for seed in range(6):
        found, expected = (
            pytree.flatten(compiled(*arguments(seed, count))),
            pytree.flatten(function(*arguments(seed, count))),
        )
        assert found[1] == expected[1]
        for one, other in zip(found[0], expected[0]):
            # A sum of gradients may be taken in another order than eager's.
            np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-13, 1e-13)
    assert len(compiled.programs) == programs


def branching(x: Any, y: Any) -> Any:
    s = y * 2
    z = gs.cond(x.sum() > 0, lambda a: (a * s).sin(), lambda a: a.exp() - s, x)
    return (z * x).sum()


def looping(x: Any, y: Any) -> Any:
    s = x.exp()
    steps, w = gs.while_loop(
        lambda i, v: (v * v).sum() < 50, lambda i, v: (i + 1, v * 1.5 + 0.1 * s), (gs.tensor(0), y)
    )
    return (w * w).sum() + steps


def nested(x: Any, y: Any) -> Any:
    def halved(v: Any) -> Any:
        return gs.cond(v.max() > 3, lambda v: v + 1 + x * x, lambda v: v * 2, v)

    return gs.while_loop(lambda v: v.sum() < 20, halved, y.abs() + 0.5, max_steps=100).sum()


FUNCTIONS = [branching, looping, nested]
TRANSFORMS = {
    "value": lambda f: f,
    "grad": lambda f: gs.func.grad(f, (0, 1)),
    "value_and_grad": gs.func.value_and_grad,
    "hessian": gs.func.hessian,
    "jacfwd": gs.func.jacfwd,
    "jvp": lambda f: lambda x, y: gs.func.jvp(lambda x: f(x, y), (x,), (y,)),
    "third": lambda f: gs.func.grad(lambda x, y: gs.func.hessian(f)(x, y).sum()),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_as_in_eager(function: Any, transform: str) -> None:
    check(TRANSFORMS[transform](function))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_backward_of_a_recorded_call(function: Any) -> None:
    compiled = gs.compile(function)
    for seed in range(6):
        found = []
        for called in (compiled, function):
            x, y = [one.requires_grad_() for one in arguments(seed)]
            called(x, y).backward()
            found.append((x.grad.numpy(), y.grad.numpy()))
        np.testing.assert_array_equal(*found)


def test_captured_parameters_have_gradients() -> None:
    weight = gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64, requires_grad=True)

    def loss(x: Any) -> Any:
        return gs.cond(x.sum() > 0, lambda v: v * weight, lambda v: v - weight, x).sum()

    compiled = gs.compile(loss)
    for seed in range(4):
        found = []
        for called in (compiled, loss):
            weight.grad = None
            called(arguments(seed, 1)[0]).backward()
            found.append(weight.grad.numpy())
        np.testing.assert_array_equal(*found)


def test_functions_of_all_kinds() -> None:
    class Scale:
        factor = 3.0

        def __call__(self, v: Any) -> Any:
            return v * self.factor

        def method(self, v: Any) -> Any:
            return v * self.factor * 2

    def scaled(v: Any, by: Any, *, more: Any = None) -> Any:
        return v * by + more

    def both(x: Any, y: Any) -> Any:
        first = gs.cond(x.sum() > 0, partial(scaled, by=y, more=x), Scale().method, x)
        return gs.cond(y.sum() > 0, Scale(), lambda v, by=y: v * by, first)

    check(both)


def test_trees() -> None:
    def function(x: Any, y: Any) -> Any:
        return gs.cond(
            x.sum() > 0, lambda p: {"a": p["a"] * 2, "b": [y]}, lambda p: {"a": p["b"], "b": [x]}, {"a": x, "b": y}
        )

    check(function, programs=2)


def test_branches_that_give_views_or_their_argument() -> None:
    def function(x: Any, y: Any) -> Any:
        z = x * 1
        first = gs.cond(x.sum() > 0, lambda v: v[1:], lambda v: v[:2] + 1, z)
        second = gs.cond(y.sum() > 0, lambda v: v, lambda v: v.flip(0), z)
        return first * 2 + z[:2], second.sin() * z

    compared(function, [arguments(seed) for seed in range(6)])
    compared(
        gs.func.grad(lambda x, y: sum(one.sum() for one in function(x, y))), [arguments(seed) for seed in range(6)]
    )


def compared(function: Any, calls: list[Any], programs: int | None = None) -> None:
    """In each call the compiled function gives, records, writes and returns of its arguments what the function does."""
    compiled = gs.compile(function)
    for call in calls:
        seen = []
        for called in (compiled, function):
            given = [one.clone().requires_grad_(one.requires_grad) for one in call]
            results = pytree.flatten(called(*given))[0]
            recorded = [one for one in results if one.requires_grad]
            wanted = [one for one in given if one.requires_grad]
            gradients: Any = []
            if recorded:
                gradients = gs.autograd.grad(recorded, wanted, list(map(gs.ones_like, recorded)), allow_unused=True)
            facts = [(one.requires_grad, [one is other for other in [*given, *results]]) for one in results]
            values = [None if one is None else one.detach().numpy() for one in [*results, *given, *gradients]]
            seen.append((facts, values))
        assert seen[0][0] == seen[1][0]
        for one, other in zip(seen[0][1], seen[1][1], strict=True):
            np.testing.assert_array_equal(one, other)
    if programs is not None:
        assert len(compiled.programs) == programs


def leaves(seed: int) -> list[Any]:
    return [one.requires_grad_() for one in arguments(seed)]


CALLS = [leaves(seed) for seed in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: gs.cond(x.sum() > 0, lambda v: v, lambda v: v * 2, y),
        lambda x, y: gs.cond(x.sum() > 0, lambda v: (v, v), lambda v: (v * 2, v), y),
        lambda x, y: gs.cond(x.sum() > 0, lambda v, w: v * 2, lambda v, w: w * 3, x, y),
        lambda x, y: gs.cond(x.sum() > 0, lambda v: v.detach() * 2, lambda v: v * 3, x * 1),
        lambda x, y: gs.cond(x.sum() > 0, lambda v: v * y, lambda v: v * v, x),
        lambda x, y: gs.cond(x.sum() > 0, lambda v: v.sum(), lambda v: v * v, y),
        lambda x, y: gs.while_loop(lambda v: v.sum() < 0, lambda v: v + 1 + y, x),
    ],
)
def test_branches_that_differ(function: Any) -> None:
    """In what they return themselves, have gradients for, or in shapes: each way has a program of its own."""
    compared(function, CALLS, programs=2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: gs.cond(x.sum() > 0, lambda v, w: v * 2, lambda v, w: w * 3, y, y),
        lambda x, y: gs.cond(x.sum() > 0, lambda v, w: (v * 2, w), lambda v, w: (w * 3, v), y, y),
        lambda x, y: gs.cond(x.sum() > 0, lambda v: v * y, lambda v: v * 3 + y, y),
    ],
)
def test_an_operand_that_is_given_twice(function: Any) -> None:
    compared(function, CALLS)


def test_gradients_that_a_branch_has_not_are_none_in_second_derivatives() -> None:
    def function(x: Any, y: Any) -> Any:
        return gs.cond(x.detach().sum() > 0, lambda v: v * 3, lambda v: v * v, y)

    compiled = gs.compile(function)
    for x, y in CALLS:
        found = []
        for called in (compiled, function):
            (slope,) = gs.autograd.grad(called(x, y).sum(), y, create_graph=True)
            found.append(slope.requires_grad)
        assert found[0] == found[1]


def test_an_unread_operand_adds_no_zeros() -> None:
    """Zero times the infinite slope of a root would be NaN."""

    def function(x: Any, y: Any) -> Any:
        return gs.cond(y.sum() > 0, lambda v, w: w * 2, lambda v, w: v, x.sqrt(), y).sum() + x.sum()

    zero = gs.zeros(3, dtype=gs.float64, requires_grad=True)
    compared(function, [(zero, leaves(n)[0]) for n in (1, 2, 3)])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: gs.cond(x.sum() > 0, lambda v: v.mul_(2), lambda v: v, y * 1) * y,
        lambda x, y: gs.cond(x.sum() > 0, lambda v: v * 1, lambda v: v.mul_(2), x.detach().clone()),
        lambda x, y: gs.cond(x.sum() > 0, lambda v: v[1:], lambda v: v[:2], y * 1).mul_(2),
    ],
)
def test_branches_that_write_or_give_views(function: Any) -> None:
    compared(function, CALLS, programs=2)


def test_a_branch_writes_to_an_argument() -> None:
    def function(x: Any, y: Any) -> Any:
        gs.cond(y.sum() > 0, lambda v: v.add_(1), lambda v: v, x)
        return x * 2

    compared(function, [arguments(seed) for seed in (2, 1, 3, 4)], programs=2)


def test_a_branch_changes_a_dict_that_it_is_given() -> None:
    def added(state: Any) -> Any:
        state["z"] = state["v"] * 2
        return state["v"]

    def function(x: Any) -> Any:
        state = {"v": x * 1}
        given = gs.cond(x.sum() > 0, added, lambda state: state["v"], state)
        return given, state.get("z", given)

    compared(function, [arguments(seed, 1) for seed in (2, 1, 3, 4)], programs=2)


def test_modules_in_a_branch_have_gradients() -> None:
    layer = gs.nn.Linear(3, 3, dtype=gs.float64)

    def function(x: Any) -> Any:
        return gs.cond(x.sum() > 0, lambda v: layer(v), lambda v: v, x)

    compiled = gs.compile(function)
    for seed in range(4):
        found = []
        for called in (compiled, function):
            layer.zero_grad()
            x = arguments(seed, 1)[0].requires_grad_()
            called(x).sum().backward()
            found.append([x.grad.numpy(), *[one.grad is None or one.grad.numpy() for one in layer.parameters()]])
        for one, other in zip(*found):
            np.testing.assert_array_equal(one, other)


def test_choices_of_many_ways_run_as_they_are() -> None:
    def function(x: Any) -> Any:
        for i in range(5):
            x = gs.cond(x[i] > 0, lambda v: v.flip(0).clone(), lambda v: v, x)
        return x * 1

    compiled = gs.compile(function)
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="8 programs already"):
        for _ in range(40):
            x = gs.tensor(rng.standard_normal(5))
            assert gs.equal(compiled(x), function(x))
    assert len(compiled.programs) <= 8


def test_a_choice_that_python_makes_is_no_step() -> None:
    compiled = gs.compile(lambda x, flag: gs.cond(flag, gs.sin, gs.cos, x))
    x = gs.ones(3)
    assert gs.equal(compiled(x, True), x.sin()) and gs.equal(compiled(x, False), x.cos())
    assert len(compiled.programs) == 2


def test_random_numbers_of_a_branch() -> None:
    def function(x: Any) -> Any:
        return gs.cond(
            x.sum() > 0, lambda v: v + gs.rand(3, dtype=v.dtype), lambda v: v - gs.randn(3, dtype=v.dtype), x
        )

    compiled = gs.compile(function)
    for seed in range(4):
        found = []
        for called in (compiled, function):
            gs.manual_seed(seed)
            found.append([called(arguments(seed, 1)[0]).numpy() for _ in range(3)])
        np.testing.assert_array_equal(*found)
    slope = gs.func.grad(lambda x: (function(x) * x).sum())
    compiled = gs.compile(slope)
    for seed in range(4):
        found = []
        for called in (compiled, slope):
            gs.manual_seed(seed)
            found.append([called(arguments(seed, 1)[0]).numpy() for _ in range(3)])
        np.testing.assert_array_equal(*found)


# ---- what cannot be done


def test_loops_may_not_write() -> None:
    x = gs.ones(3)
    compiled = gs.compile(lambda x: gs.while_loop(lambda v: v.sum() < 9, lambda v: v.mul_(2), x))
    with pytest.raises(RuntimeError, match="may not write"):
        compiled(x)
    assert x.tolist() == [1.0] * 3


def test_max_steps() -> None:
    compiled = gs.compile(lambda x: gs.while_loop(lambda v: v.sum() < 100, lambda v: v + 1, x, max_steps=40))
    assert compiled(gs.ones(3)).tolist() == [34.0] * 3
    with pytest.raises(RuntimeError, match="max_steps=40"):
        compiled(gs.full((3,), -50.0))


def test_slices_that_choose_for_themselves() -> None:
    compiled = gs.compile(gs.vmap(lambda x: gs.cond(x > 0, gs.sin, gs.cos, x)))
    for x in (gs.ones(3), gs.tensor([-1.0, 2.0, -3.0])):
        assert gs.equal(compiled(x), gs.where(x > 0, x.sin(), x.cos()))
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_call_that_goes_another_way_draws_the_same_numbers(requires_grad: bool) -> None:
    """The short way to a program gives the run up, and with it what was drawn until then."""

    def function(x: Any) -> Any:
        noise = gs.rand(3)
        chosen = gs.cond(x.sum() > 0, lambda x: gs.rand(3) * noise if not x.requires_grad else x * noise, gs.sin, x)
        return gs.cond(chosen.sum() > 1, lambda x: x, lambda x: x * 2, chosen), gs.rand(3)

    compiled = gs.compile(function)
    for number in range(24):
        x = gs.full((3,), (-1) ** (number // 3) * number / 4, requires_grad=requires_grad)
        found = []
        for f in (function, compiled):
            gs.manual_seed(number)
            found.append([*f(x), gs.rand(3)])
        assert all(map(gs.equal, *found))
    assert 2 <= len(compiled.programs) <= 4


def test_choices_that_go_too_many_ways_run_as_they_are() -> None:
    sizes = [gs.ones(size) for size in range(1, 12)]
    place = gs.tensor(0)

    def function(place: Any) -> Any:
        for number, rows in enumerate(sizes):
            place = place - 1
            found = gs.cond(place < 0, lambda rows: rows * 2, lambda rows: rows[:0], rows)
            if found.shape[0]:
                return found, number
        return found, -1

    compiled = gs.compile(function)
    with pytest.warns(UserWarning, match="What varies: the way that its choices go. Such calls run as they are"):
        for number in [*range(11), *range(11)]:
            found, way = compiled(place + number)
            assert (way, found.tolist()) == (number, [2.0] * (number + 1))
    assert not compiled.programs and not compiled.entries


@pytest.mark.parametrize("step", [lambda x: x[...], lambda x: x.view(-1), lambda x: x.detach()])
def test_loops_that_give_views(step: Any) -> None:
    """A write to the operand shows in them."""

    def function(x: Any) -> Any:
        x = x * 1
        _, found = gs.while_loop(lambda i, _: i < x.numel(), lambda i, x: (i + 1, step(x)), (x.sum().long() * 0, x))
        x.mul_(2)
        return x, found

    compiled = gs.compile(function)
    for seed in range(3):
        x = gs.tensor(np.random.default_rng(seed).standard_normal(3))
        assert all(map(gs.equal, compiled(x), function(x)))
