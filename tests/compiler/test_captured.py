"""What a function reads, writes and gives from outside of itself: in each call what eager does."""

import functools
import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func, nn
from gradsmith.compiler import TraceError
from gradsmith.compiler.variant import Variant
from gradsmith.nn.utils.rnn import pack_sequence

CALLS = 3


def numbers(*shape: int, seed: int = 0) -> Any:
    return gs.tensor(np.random.default_rng(seed).standard_normal(shape))


def ones() -> Any:
    return gs.ones(3, dtype=gs.float64)


# ---- results


def test_results_that_no_step_reads() -> None:
    """A tensor from outside, one over an array, and one of the function's own."""
    array, outside = np.arange(3.0), numbers(2)
    compiled = gs.compile(lambda x: (x + 1, outside, gs.from_numpy(array), gs.from_numpy(np.array([5]))))
    for number in range(CALLS):
        array[0] = number
        found = compiled(gs.ones(2))
        assert found[1] is outside
        assert found[2].tolist() == [number, 1, 2]
        assert found[3].tolist() == [5]


def test_views_of_what_is_differentiated_too() -> None:
    """The leaf that a transform makes of a captured tensor is none of the program's."""
    outside = numbers(4)

    def function(x: Any) -> Any:
        return func.jacrev(lambda t: t.sin())(outside) @ x, outside[-1], outside[1:]

    compiled = gs.compile(function)
    for seed in range(CALLS):
        x = numbers(4, seed=seed)
        for found, expected in zip(compiled(x), function(x)):
            assert gs.equal(found, expected) and not found.requires_grad
        outside.mul_(1.5)
    assert len(compiled.programs) == 1


def test_data_of_a_captured_leaf_is_not_the_leaf() -> None:
    leaf = ones().requires_grad_()
    compiled = gs.compile(lambda x: (leaf.data, leaf, leaf.data, leaf * x))
    for number in range(CALLS):
        data, same, other, _ = compiled(gs.full((3,), number))
        assert same is leaf and other is not data
        assert not data.requires_grad and not other.requires_grad
        assert data.data_ptr() == leaf.data_ptr()


VIEWS_OF_ROWS: list[Any] = [
    lambda w: w[0],
    lambda w: w.T[:, 0],
    lambda w: w.unbind(0)[1],
    lambda w: w.ravel()[:2],
    lambda w: w.select(0, 1).view(2),
]


@pytest.mark.parametrize("view_of", VIEWS_OF_ROWS)
def test_views_of_a_captured_leaf_that_are_made_without_recording(view_of: Any) -> None:
    """They require grad as the leaf does, and have no history."""
    leaf = gs.ones(2, 2, requires_grad=True)

    def function(x: Any) -> Any:
        with gs.no_grad():
            view = view_of(leaf)
        return view * x, func.vmap(lambda x: x * view.sum())(x), gs.fori_loop(0, 70, lambda i, x: x * view, x)

    compiled = gs.compile(function)
    for number in range(CALLS):
        x = gs.full((2,), float(number))
        for found, expected in zip(compiled(x), function(x), strict=True):
            assert gs.equal(found, expected)
            assert (found.requires_grad, found.is_leaf) == (expected.requires_grad, expected.is_leaf) == (True, False)
            assert gs.autograd.grad(found.sum(), leaf, allow_unused=True, retain_graph=True) == (None,)


@pytest.mark.parametrize("view_of", VIEWS_OF_ROWS)
def test_a_view_without_history_of_a_captured_leaf_is_not_written_with_one(view_of: Any) -> None:
    leaf = gs.ones(2, 2, requires_grad=True)

    @gs.compile
    def function(x: Any) -> Any:
        with gs.no_grad():
            view = view_of(leaf)
        return view.add_(x) * 1

    for _ in range(CALLS):
        with pytest.raises(RuntimeError, match="view"):
            function(gs.ones(2))
        assert gs.equal(leaf, gs.ones(2, 2))


def test_packed_sequences() -> None:
    compiled = gs.compile(lambda a, b: pack_sequence([a, b]))
    for seed in range(CALLS):
        a, b = numbers(3, 2, seed=seed), numbers(2, 2, seed=seed)
        found, expected = compiled(a, b), pack_sequence([a, b])
        assert gs.equal(found.data, expected.data)
        assert found.batch_sizes.tolist() == [2, 2, 1]


# ---- gradients


def nested(transform: Callable[..., Any]) -> Callable[..., Any]:
    return transform(transform(lambda x: (x.sin() * x.exp() + x**3).sum()))


def along_ones(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: func.jvp(f, (x,), (gs.ones_like(x),))[1]


@pytest.mark.parametrize(
    "function", [func.hessian(lambda x: (x**3).sum()), nested(func.jacfwd), nested(func.jacrev), nested(along_ones)]
)
def test_third_derivatives_through_what_the_forward_writes(function: Any) -> None:
    """Forward mode fills tangents with what it was given: the backward reads them as they are then, not as zeros."""
    compiled = gs.compile(lambda x: function(x) * 1)
    for seed in range(CALLS):
        found, expected = numbers(3, seed=seed).requires_grad_(), numbers(3, seed=seed).requires_grad_()
        compiled(found).sum().backward()
        function(expected).sum().backward()
        assert gs.allclose(found.grad, expected.grad)
    assert len(compiled.programs) == 1


def loss(w: Any, x: Any) -> Any:
    return (w * x).sin().sum()


@pytest.mark.parametrize(
    "function",
    [
        lambda w, x: func.grad(loss)(w, x).sum(),
        lambda w, x: func.jvp(lambda one: loss(one, x), (w,), (x,))[1],
        lambda w, x: func.vjp(lambda one: loss(one, x), w)[1](gs.tensor(1.0, dtype=gs.float64))[0].sum(),
        lambda w, x: (w.data * w * x).sum(),
    ],
    ids=["grad", "jvp", "vjp", "data"],
)
def test_gradients_of_captured_leaves_that_are_seen_by_another_name(function: Any) -> None:
    w = numbers(3).requires_grad_()
    compiled = gs.compile(lambda x: function(w, x))
    for seed in range(CALLS):
        gradients = []
        for run in (compiled, lambda x: function(w, x)):
            w.grad, x = None, numbers(3, seed=seed).requires_grad_()
            run(x).backward()
            gradients.append((w.grad, x.grad))
        for found, expected in zip(*gradients):
            assert gs.allclose(found, expected)
    assert len(compiled.programs) == 1


def test_one_step_of_a_learner_that_learns() -> None:
    """Without any argument that requires a gradient."""
    model = nn.Linear(3, 2).double()
    params = dict(model.named_parameters())

    def error(params: Any, x: Any) -> Any:
        return (func.functional_call(model, params, (x,)) ** 2).mean()

    def step(x: Any) -> Any:
        slopes = func.grad(error)(params, x)
        return error({name: one - 0.1 * slopes[name] for name, one in params.items()}, x)

    compiled = gs.compile(step)
    for seed in range(CALLS):
        gradients = []
        for run in (compiled, step):
            model.zero_grad()
            run(numbers(5, 3, seed=seed)).backward()
            gradients.append([one.grad for one in model.parameters()])
        assert all(map(gs.allclose, *gradients))
    assert len(compiled.programs) == 1


def test_a_backward_that_gives_something_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Variant.__init__

    def spoiled(self: Any, *args: Any) -> None:
        make(self, *args)
        self.wanted_slots = self.wanted_slots[::-1]

    monkeypatch.setattr(Variant, "__init__", spoiled)
    compiled = gs.compile(lambda x, y: (x * y).sum())
    x, y = numbers(3).requires_grad_(), numbers(3, seed=1).requires_grad_()
    with pytest.warns(UserWarning, match="does not repeat the run that it was made from .gradient %"):
        compiled(x, y)
    compiled(x, y).backward()
    assert gs.equal(x.grad, y.detach())


# ---- writes


def averaged(target: Any) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        target.data.copy_(target.data * 0.5 + x)
        target.data[0] = 7
        return x * 2

    return step


def test_writes_through_data_of_what_is_captured() -> None:
    found, expected = ones(), ones()
    compiled, step = gs.compile(averaged(found)), averaged(expected)
    for seed in range(CALLS):
        compiled(numbers(3, seed=seed))
        step(numbers(3, seed=seed))
        assert gs.equal(found, expected)


def test_data_that_is_exchanged_is_refused() -> None:
    target = ones()

    def step(x: Any) -> Any:
        target.data = target.data - x
        return x * 2

    with pytest.raises(TraceError, match=r"x\.data\.copy_\(new\).*target\.data = target\.data - x"):
        gs.compile(step)(ones())
    assert target.tolist() == [1, 1, 1]


# ---- attributes


class Averaging(nn.Module):
    """Puts a new tensor into a buffer, and another into an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", ones() * 0)
        self.last = ones() * 0

    def forward(self, x: Any) -> Any:
        before = self.mean * 2
        self.mean = self.mean * 0.5 + x.detach().mean(0) * 0.5
        self.last = self.mean - self.last
        return x - self.mean + before


@pytest.mark.parametrize("make", [gs.compile, lambda model: gs.compile(lambda x: model(x))], ids=["module", "function"])
def test_tensors_put_into_attributes(make: Any) -> None:
    """They are written to those that were there, at the end of each run."""
    found, expected = Averaging(), Averaging()
    compiled, buffer = make(found), found.mean
    for seed in range(CALLS):
        x = numbers(4, 3, seed=seed)
        assert gs.equal(compiled(x), expected(x))
        assert gs.equal(found.mean, expected.mean) and gs.equal(found.last, expected.last)
    assert found.mean is buffer


def test_states_of_an_object() -> None:
    class Cell:
        def __init__(self) -> None:
            self.h = ones()

        def step(self, x: Any) -> Any:
            self.h = gs.tanh(self.h + x)
            return self.h * 2

    found, expected = Cell(), Cell()
    compiled = gs.compile(found.step)
    for seed in range(CALLS):
        assert gs.equal(compiled(numbers(3, seed=seed)), expected.step(numbers(3, seed=seed)))
        assert gs.equal(found.h, expected.h)


@pytest.mark.parametrize(
    ("before", "value", "message"),
    [
        (gs.ones(2), lambda x, old: x * old.sum(), r"which was one of shape \[2\] and float32 before"),
        (ones(), lambda x, old: (x * 2 * old).requires_grad_(), r"it has a history.*detach\(\) it"),
    ],
    ids=["shape", "history"],
)
def test_attributes_that_a_program_cannot_write(before: Any, value: Any, message: str) -> None:
    """The error names them, and they are as before."""
    model = nn.Module()
    model.state = before

    def step(x: Any) -> Any:
        model.state = value(x, model.state)
        return x * 3

    with pytest.raises(TraceError, match=rf"into 'state' of a Module.*{message}"):
        gs.compile(step)(ones())
    assert model.state is before
    with pytest.warns(UserWarning, match="run as they are"):
        gs.compile(step, on_escape="eager")(ones())
    assert model.state.tolist() == [2, 2, 2]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("wrap", [nn.utils.weight_norm, nn.utils.spectral_norm], ids=["weight", "spectral"])
def test_weights_that_a_hook_computes_anew(wrap: Any) -> None:
    """What the attribute was before is not read, so that it need not be written."""
    layer, twin = (wrap(nn.Linear(3, 2).double()) for _ in range(2))
    twin.load_state_dict(layer.state_dict())
    compiled = gs.compile(lambda x: layer(x))
    for seed in range(CALLS):
        x = numbers(4, 3, seed=seed)
        for found, expected in zip(
            gs.autograd.grad(compiled(x).sum(), layer.parameters()), gs.autograd.grad(twin(x).sum(), twin.parameters())
        ):
            assert gs.allclose(found, expected)
    assert len(compiled.programs) == 1


def test_results_that_show_an_attribute_that_is_written() -> None:
    model = nn.Module()
    model.state = ones()

    def step(x: Any) -> Any:
        old, model.state = model.state, model.state + x
        return old

    with pytest.raises(TraceError, match=r"return a clone\(\)"):
        gs.compile(step)(ones())
    assert model.state.tolist() == [1, 1, 1]


class Cells(nn.Module):
    """States in a list and in a dict, and one in an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.states, self.named, self.h = [ones(), ones() * 2], {"a": ones()}, ones()

    def forward(self, x: Any) -> Any:
        for number, state in enumerate(self.states):
            x = self.states[number] = state * 0.5 + x
        self.named["a"] = self.named["a"] + x
        self.h = self.h - self.named["a"]
        return x * 1 + self.h


def test_states_in_lists_and_dicts() -> None:
    found, expected = Cells(), Cells()
    compiled = gs.compile(found)
    for seed in range(CALLS):
        x = numbers(3, seed=seed)
        assert gs.equal(compiled(x), expected(x))
        for one, other in zip(
            [*found.states, found.named["a"], found.h], [*expected.states, expected.named["a"], expected.h]
        ):
            assert gs.equal(one, other)


@pytest.mark.parametrize("has_list", [True, False])
def test_states_that_begin_anew(has_list: bool) -> None:
    """A tensor put into an attribute between calls is another one than the program reads."""
    found, expected = Cells(), Cells()
    if not has_list:
        found.states = expected.states = ()
    compiled = gs.compile(found)
    for number in range(2 * CALLS):
        for model in (found, expected):
            if number % 3 == 2:
                model.h = ones() * 0
                model.named["a"] = ones() * number
        x = numbers(3, seed=number)
        assert gs.equal(compiled(x), expected(x))


def test_lists_and_dicts_of_tensors_that_change_between_calls() -> None:
    weights, named = [ones(), ones() * 2], {"a": ones()}
    compiled = gs.compile(lambda x: x * weights[0] + weights[1] * named["a"])
    for number in range(CALLS):
        assert compiled(ones()).tolist() == [float(number + 1 + 2 * (number + 1))] * 3
        assert compiled(ones()).tolist() == [float(number + 1 + 2 * (number + 1))] * 3
        weights[0], named["a"] = ones() * (number + 2), ones() * (number + 2)
    weights.clear()
    with pytest.raises(IndexError):
        compiled(ones())


def test_attributes_that_vary_are_named() -> None:
    model = nn.Module()
    compiled = gs.compile(lambda x: x * model.batch)
    with pytest.warns(
        UserWarning, match=r"What varies: the tensor in attribute or item batch\. Hand it over as an arg"
    ):
        for number in range(9):
            model.batch = ones() * number
            assert compiled(ones()).tolist() == [number] * 3


@pytest.mark.parametrize("backward_inside", [False, True])
def test_hooks_of_captured_leaves_are_called_once_for_each_gradient(backward_inside: bool) -> None:
    layers = [nn.Linear(3, 2, dtype=gs.float64), nn.Linear(3, 2, dtype=gs.float64)]
    layers[1].load_state_dict(layers[0].state_dict())
    seen: list[int] = []
    for layer in layers:
        layer.weight.register_hook(lambda gradient: gradient * 0.5)
        layer.bias.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.numel()))

    def call(layer: Any, x: Any) -> Any:
        loss = layer(x).pow(2).sum()
        if backward_inside:
            loss.backward()
        return loss

    compiled = gs.compile(lambda x: call(layers[1], x))
    for seed in range(CALLS):
        one, other = call(layers[0], numbers(3, seed=seed)), compiled(numbers(3, seed=seed))
        if not backward_inside:
            one.backward()
            other.backward()
        assert gs.equal(one.detach(), other.detach())
        assert gs.allclose(layers[0].weight.grad, layers[1].weight.grad, rtol=1e-6)
        assert gs.allclose(layers[0].bias.grad, layers[1].bias.grad, rtol=1e-6)
    if not backward_inside:
        assert len(seen) == 2 * CALLS


class Scaled:
    def __init__(self) -> None:
        self.scale, self.name, self.calls, self.unrelated = 2.0, "sin", 0, 0

    def of(self, x: Any) -> Any:
        self.calls += 1
        return getattr(gs, self.name)(x) * self.factor

    @property
    def factor(self) -> float:
        return self.scale + 1


def test_numbers_and_strings_in_attributes_and_items() -> None:
    one, other = Scaled(), Scaled()
    config: dict[str, Any] = {"scale": 2.0, "power": 3}
    orders = [1, 2]
    dropout = nn.Dropout(0.5)
    functions = [
        one.of,
        lambda x: other.of(x) * 2,
        lambda x: x ** config["power"] * config["scale"],
        lambda x: sum(x**n for n in orders),
        dropout,
    ]
    compiled = [gs.compile(function) for function in functions]

    def expect_equal(programs: int) -> None:
        for function, other_function in zip(functions, compiled):
            for seed in range(3):
                x = numbers(5, seed=seed)
                gs.manual_seed(seed)
                expected = function(x)
                gs.manual_seed(seed)
                assert gs.equal(other_function(x), expected)
        assert [len(one.programs) for one in compiled[:-1]] == [programs] * 4

    expect_equal(1)
    one.unrelated, other.unrelated = 5, 6  # which the methods do not name
    expect_equal(1)
    one.scale, other.name, config["scale"], orders[1], dropout.p = 5.0, "cos", 7.0, 4, 0.25
    expect_equal(2)
    one.scale, other.name, config["scale"], orders[1], dropout.p = 2.0, "sin", 2.0, 2, 0.5
    expect_equal(2)


def test_numbers_that_vary_are_named() -> None:
    model = nn.Module()
    compiled = gs.compile(lambda x: x * model.epoch)
    with pytest.warns(UserWarning, match=r"What varies: the value in attribute or item epoch\. A Python number that"):
        for number in range(9):
            model.epoch = float(number)
            assert compiled(ones()).tolist() == [number] * 3


def test_gradients_are_added_where_they_are() -> None:
    """As in eager every holder of `.grad` sees the sum: one buffer may hold the gradients of all parameters."""
    found = []
    for wrap in (lambda function: function, gs.compile):
        layer = nn.Linear(3, 2, dtype=gs.float64)
        gs.nn.init.constant_(layer.weight, 0.5)
        gs.nn.init.constant_(layer.bias, 0.1)
        flat = gs.zeros(8, dtype=gs.float64)
        layer.weight.grad, layer.bias.grad = flat[:6].view(2, 3), flat[6:]

        def step(x: Any, layer: Any = layer) -> Any:
            for part in x.chunk(2):
                layer(part).pow(2).sum().backward()

        called = wrap(step)
        held = layer.weight.grad
        for seed in range(CALLS):
            called(numbers(4, 3, seed=seed))
            found.append(flat.clone())
        assert layer.weight.grad is held
    for one, other in zip(found[:CALLS], found[CALLS:]):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


class Counted:
    """An object whose method is compiled: its programs are those of all instances."""

    def __init__(self, scale: float, seed: int) -> None:
        self.scale, self.weights, self.shifts = scale, numbers(3, seed=seed), [1.0, 2.0]
        self.sum = gs.zeros(3, dtype=gs.float64)

    @gs.compile
    def scaled(self, x: Any) -> Any:
        return x * self.weights * self.scale + self.shifts[0]

    @gs.compile
    def added(self, x: Any) -> Any:
        self.sum = self.sum + x * self.scale
        return self.sum * 2

    def expected(self, x: Any) -> Any:
        return x * self.weights * self.scale + self.shifts[0]


def test_attributes_of_objects_that_are_arguments() -> None:
    one, two, x = Counted(2.0, 1), Counted(3.0, 2), numbers(3)

    def check() -> None:
        for _ in range(2):
            for each in (one, two):
                np.testing.assert_array_equal(each.scaled(x).numpy(), each.expected(x).numpy())

    check()
    one.scale = 7.0
    check()
    two.weights = numbers(3, seed=3)
    check()
    one.shifts[0] = 5.0
    check()
    two.weights.mul_(2)
    check()


def test_states_of_an_object_that_is_an_argument() -> None:
    one, x = Counted(2.0, 1), numbers(3)
    expected = gs.zeros(3, dtype=gs.float64)
    for number in range(6):
        one.scale = 2.0 if number < 3 else 0.5
        if number == 4:
            one.sum = gs.ones(3, dtype=gs.float64)
            expected = gs.ones(3, dtype=gs.float64)
        expected = expected + x * one.scale
        np.testing.assert_array_equal(one.added(x).numpy(), (expected * 2).numpy())
        np.testing.assert_array_equal(one.sum.numpy(), expected.numpy())


def test_modules_that_are_arguments_are_those_of_each_call() -> None:
    layer, dropout, x = nn.Linear(3, 3).double(), nn.Dropout(0.5), gs.ones(2, 3, dtype=gs.float64)
    called = gs.compile(lambda module, x: module(x))
    for change in (
        lambda: None,
        lambda: layer.weight.data.mul_(2),
        lambda: setattr(layer, "weight", nn.Parameter(gs.ones(3, 3, dtype=gs.float64))),
        lambda: setattr(layer.bias, "data", gs.ones(3, dtype=gs.float64)),
    ):
        change()
        for _ in range(2):
            assert gs.equal(called(layer, x), layer(x))
    called(dropout, x)
    dropout.eval()
    assert gs.equal(called(dropout, x), x)
    dropout.train()
    for p in (0.0, 1.0):
        dropout.p = p
        assert gs.equal(called(dropout, x), x * (1 - p))


class Settings:
    def __init__(self, scale: float) -> None:
        self.scale, self.weights, self.unrelated = scale, numbers(3), 0

    def scaled(self, x: Any) -> Any:
        return x * self.scale * self.weights


class Configured:
    """Objects and containers inside of others."""

    def __init__(self) -> None:
        self.settings, self.orders, self.table = Settings(2.0), [[1.0, 2.0]], {"inner": {"power": 2}}

    def __call__(self, x: Any) -> Any:
        return self.settings.scaled(x) ** self.table["inner"]["power"] + self.orders[0][1]


def with_default(x: Any, factors: Any = [2.0]) -> Any:  # noqa: B006
    return x * factors[0]


def test_numbers_and_tensors_deep_inside_of_objects() -> None:
    one, x, factors = Configured(), numbers(3, seed=1), [3.0]
    functions = [
        one,
        one.__call__,
        lambda x: one(x) * 2,
        with_default,
        functools.partial(with_default, factors=factors),
    ]
    compiled = [gs.compile(function) for function in functions]

    def check() -> int:
        for _ in range(2):
            for found, function in zip(compiled, functions):
                np.testing.assert_array_equal(found(x).numpy(), function(x).numpy())
        return len(compiled[0].programs)

    def change(number: int) -> None:
        if number == 0:
            one.settings.scale = 5.0
        elif number == 1:
            one.settings.weights = numbers(3, seed=2)
        elif number == 2:
            one.settings = Settings(3.0)
        elif number == 3:
            one.table["inner"]["power"] = 3
        elif number == 4:
            one.orders[0] = [1.0, 4.0]
        else:
            one.orders = [[2.0, 5.0]]
        with_default.__defaults__[0][0] = float(number)  # type: ignore[index]
        factors[0] = float(number)

    count = check()
    one.settings.unrelated = 5
    assert check() == count
    for number in range(6):
        change(number)
        assert check() > count
        count = len(compiled[0].programs)


@pytest.mark.parametrize("view_of", VIEWS_OF_ROWS)
def test_tangents_that_show_a_captured_tensor_that_is_written(view_of: Any) -> None:
    eagers, ours = (gs.tensor([[1.0, 2.0], [3.0, 4.0]]) for _ in range(2))

    def function(tensor: Any, x: Any) -> Any:
        value, tangent = func.jvp(view_of, (tensor,), (tensor,))
        value += x
        return value, tangent

    compiled = gs.compile(lambda x: function(ours, x))
    for number in range(CALLS):
        x = gs.full((2,), float(number))
        assert all(map(gs.equal, compiled(x), function(eagers, x)))
        assert gs.equal(ours, eagers)
    assert len(compiled.programs) == 1


def test_programs_of_functions_that_change_things_do_not_keep_what_was_there() -> None:
    holder = SimpleNamespace(factor=2.0, spare=gs.ones(3), is_used=False)

    def scaled(x: Any) -> Any:
        holder.is_used = True
        return x * holder.factor if holder.factor else x * holder.spare

    compiled = gs.compile(scaled)
    compiled(gs.ones(3))
    spare = weakref.ref(holder.spare)
    holder.spare = None
    gc.collect()
    assert spare() is None and holder.is_used
    assert compiled(gs.ones(3)).tolist() == [2.0] * 3
