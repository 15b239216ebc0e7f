"""What functions leave in attributes, items and variables is there after each call, as in eager."""

import random
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn


class Holder:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


@dataclass
class State:
    h: Any
    c: Any


def weight() -> Any:
    return gs.tensor([1.0, 2.0, 3.0], requires_grad=True)


# Each gives the parameters, the function, and what a user looks at after a call.


def a_result_with_history():
    w, m = weight(), Holder(seen=None)

    def f(x):
        m.seen = (w * x).softmax(0)
        return m.seen * 2

    return [w], f, lambda: m.seen


def a_result_without_history():
    w, m = weight(), Holder()

    def f(x):
        y = w * x
        m.seen = y.detach()
        return y * 2

    return [w], f, lambda: m.seen


def under_a_computed_name():
    w, m = weight(), Holder()

    def f(x):
        for number in range(2):
            setattr(m, f"seen{number}", w * x + number)
        return x * w

    return [w], f, lambda: [m.seen0, m.seen1]


def by_a_hook():
    layer, seen = nn.Linear(3, 3), {}
    nn.init.ones_(layer.weight), nn.init.ones_(layer.bias)
    layer.register_forward_hook(lambda module, given, output: seen.__setitem__("layer", output))
    model = nn.Sequential(layer, nn.Tanh())
    return list(model.parameters()), lambda x: model(x), lambda: seen["layer"]


def by_a_hook_into_a_list_emptied_outside():
    layer, seen = nn.Linear(3, 3), []
    nn.init.ones_(layer.weight), nn.init.ones_(layer.bias)
    layer.register_forward_hook(lambda module, given, output: seen.append(output.detach()))
    model = nn.Sequential(layer, nn.Tanh())

    def look():
        found = list(seen)
        seen.clear()
        return found

    return list(model.parameters()), lambda x: model(x), look


def in_a_list_emptied_inside():
    w, seen = weight(), []

    def f(x):
        seen.clear()
        seen.append(w * x)
        seen.append(x)
        return w * x

    return [w], f, lambda: list(seen)


def in_a_list_that_grows():
    w, seen = weight(), []

    def f(x):
        seen.append((w * x).detach())
        return w * x

    return [w], f, lambda: list(seen)


def in_a_list_that_grows_and_is_summed():
    w, seen = weight(), []

    def f(x):
        seen.append(w * x)
        return sum(seen)

    return [w], f, lambda: list(seen)


def in_a_new_dict():
    w, m = weight(), Holder(seen={})

    def f(x):
        m.seen = {"a": w * x, "b": [(w * x).exp(), 3]}
        return w * x

    return [w], f, lambda: m.seen


def in_an_ordered_dict():
    w, seen = weight(), OrderedDict()

    def f(x):
        seen["loss"] = (w * x).sum().detach()
        return w * x

    return [w], f, lambda: dict(seen)


def in_a_variable():
    w, last = weight(), None

    def f(x):
        nonlocal last
        last = w * x
        return last * 2

    return [w], f, lambda: last


def in_slots():
    class Slotted:
        __slots__ = ("seen",)

    w, m = weight(), Slotted()

    def f(x):
        m.seen = w * x
        return w * 2

    return [w], f, lambda: m.seen


def in_a_class():
    class Shared:
        seen = None

    w = weight()

    def f(x):
        Shared.seen = (w * x).detach()
        return w * 2

    return [w], f, lambda: Shared.seen


def an_argument():
    w, m = weight(), Holder(seen=None)

    def f(x):
        m.seen = x
        return w * x

    return [w], f, lambda: m.seen


def a_state_of_two():
    w, m = weight(), Holder(state=(gs.zeros(3), gs.zeros(3)))

    def f(x):
        h, c = m.state
        h = h * w + x
        m.state = (h.detach(), (c + h).detach())
        return h * 2

    return [w], f, lambda: m.state


def a_state_in_a_dataclass():
    w, m = weight(), Holder(state=State(gs.zeros(3), gs.zeros(3)))

    def f(x):
        h = m.state.h * w + x
        m.state = State(h.detach(), (m.state.c + h).detach())
        return h * 2

    return [w], f, lambda: [m.state.h, m.state.c]


def a_state_that_begins_with_none():
    w, m = weight(), Holder(h=None)

    def f(x):
        h = gs.zeros(3) if m.h is None else m.h
        h = h * w + x
        m.h = h.detach()
        return h * 2

    return [w], f, lambda: m.h


def a_state_before_the_last():
    w, m = weight(), Holder(now=gs.zeros(3), before=gs.zeros(3))

    def f(x):
        m.before = m.now
        m.now = (m.now + w * x).detach()
        return m.now * w

    return [w], f, lambda: [m.now, m.before]


def two_buffers_that_swap():
    w, m = weight(), Holder(a=gs.ones(3), b=gs.zeros(3))

    def f(x):
        m.a, m.b = m.b, m.a
        return w * m.a

    return [w], f, lambda: [m.a, m.b]


def what_was_there_stays_as_it_was():
    w, m, kept = weight(), Holder(seen=gs.zeros(3)), []

    def f(x):
        m.seen = (w * x).detach()
        return w * x

    def look():
        kept.append(m.seen)
        return list(kept)

    return [w], f, look


def of_another_shape():
    w, m = weight(), Holder(seen=gs.zeros(2))

    def f(x):
        m.seen = (w * x).detach()
        return w * x

    return [w], f, lambda: m.seen


def a_window():
    w, seen = weight(), deque(maxlen=2)

    def f(x):
        seen.append((w * x).detach())
        return sum(seen) * w

    return [w], f, lambda: list(seen)


def an_attribute_that_goes():
    w, m = weight(), Holder(once=gs.ones(3))

    def f(x):
        y = w * x
        if hasattr(m, "once"):
            y = y + m.once
            del m.once
        return y

    return [w], f, lambda: hasattr(m, "once")


def a_count_that_matters():
    w, m = weight(), Holder(step=0)

    def f(x):
        m.step += 1
        return w * x / m.step

    return [w], f, lambda: m.step


def a_count_that_matters_at_times():
    w, m = weight(), Holder(step=0)

    def f(x):
        m.step += 1
        return w * x if m.step % 3 else w * x * 2

    return [w], f, lambda: m.step


def a_count():
    w, m = weight(), Holder(calls=0)

    def f(x):
        m.calls += 1
        return w * x

    return [w], f, lambda: m.calls


def a_list_of_sizes():
    w, sizes = weight(), []

    def f(x):
        sizes.append(len(x))
        return w * x

    return [w], f, lambda: list(sizes)


def a_rate_that_falls():
    w, m = weight(), Holder(rate=0.5)

    def f(x):
        y = w * x * m.rate
        m.rate *= 0.9
        return y

    return [w], f, lambda: m.rate


def a_set_of_sizes():
    w, sizes = weight(), set()

    def f(x):
        first = len(x) not in sizes
        sizes.add(len(x))
        return w * x * (2 if first else 1)

    return [w], f, lambda: sorted(sizes)


def a_log_of_losses():
    w, log = weight(), {}

    def f(x):
        loss, penalty = (w * x).sum(), w.square().sum()
        log["loss"], log["penalty"] = loss.detach(), penalty.detach()
        (loss + penalty).backward()

    return [w], f, lambda: [dict(log), w.grad]


CASES = [
    a_result_with_history, a_result_without_history, under_a_computed_name, by_a_hook,
    by_a_hook_into_a_list_emptied_outside, in_a_list_emptied_inside, in_a_list_that_grows,
    in_a_list_that_grows_and_is_summed, in_a_new_dict, in_an_ordered_dict, in_a_variable, in_slots, in_a_class,
    an_argument, a_state_of_two, a_state_in_a_dataclass, a_state_that_begins_with_none, a_state_before_the_last,
    two_buffers_that_swap, what_was_there_stays_as_it_was, of_another_shape, a_window, an_attribute_that_goes,
    a_count_that_matters, a_count_that_matters_at_times, a_count, a_list_of_sizes, a_rate_that_falls, a_set_of_sizes,
    a_log_of_losses,
]  # fmt: skip


def outcomes(make: Any, wrap: Any, n_calls: int) -> tuple[list[Any], Any]:
    """Of each call the results, what is to be seen, and the gradients of both."""
    parameters, function, look = make()
    called = wrap(function)
    found = []
    for number in range(n_calls):
        for p in parameters:
            p.grad = None
        result = called(gs.tensor([1.0, -1.0, 0.5]) * (number + 1))
        seen = gs.utils.pytree.flatten([result, look()])[0]
        tensors = [one for one in seen if isinstance(one, gs.Tensor)]
        total = sum((one * one).sum() for one in tensors if one.requires_grad)
        if isinstance(total, gs.Tensor):
            total.backward(retain_graph=True)
        values = [one.tolist() if isinstance(one, gs.Tensor) else one for one in seen]
        found.append((values, [one.requires_grad for one in tensors], [p.grad.tolist() for p in parameters]))
    return found, called


@pytest.mark.parametrize("make", CASES)
def test_as_in_eager(make: Any) -> None:
    expected, _ = outcomes(make, lambda f: f, 5)
    found, _ = outcomes(make, gs.compile, 5)
    assert found == expected


@pytest.mark.parametrize(
    "make, n_programs",
    [
        (a_result_with_history, 2), (by_a_hook, 2), (by_a_hook_into_a_list_emptied_outside, 1),
        (in_a_list_emptied_inside, 2), (in_a_variable, 2), (an_argument, 2), (a_state_of_two, 1),
        (a_state_in_a_dataclass, 1), (a_state_that_begins_with_none, 2), (what_was_there_stays_as_it_was, 1),
        (a_count, 1), (a_list_of_sizes, 1),
    ],
)  # fmt: skip
def test_programs_do_it(make: Any, n_programs: int) -> None:
    """The first finds nothing in the place, the second a tensor; a count is found to make no difference."""
    _, compiled = outcomes(make, gs.compile, 12)
    assert len(compiled.programs) == n_programs


@pytest.mark.filterwarnings("ignore:.*there are 8 programs already")
def test_what_differs_at_every_call_has_the_function_run_as_it_is() -> None:
    expected, _ = outcomes(a_rate_that_falls, lambda f: f, 20)
    found, compiled = outcomes(a_rate_that_falls, gs.compile, 20)
    assert found == expected and compiled.programs == []


def test_a_function_that_raises_leaves_no_traced_tensors() -> None:
    m = Holder(seen=None, tries=0)

    def f(x):
        m.tries += 1
        m.seen = x * 2
        raise KeyError("not yet")

    with pytest.raises(KeyError):
        gs.compile(f)(gs.ones(3))
    assert m.seen is None and m.tries == 1


def test_second_derivatives_leave_what_is_outside_alone() -> None:
    w, m = weight(), Holder(seen=None)

    def f(x):
        m.seen = (w * x) ** 3
        return m.seen * 2

    compiled = gs.compile(f)
    for _ in range(3):
        result = compiled(gs.ones(3))
        seen = m.seen
        (first,) = gs.autograd.grad(result.sum(), w, create_graph=True)
        assert m.seen is seen
        (second,) = gs.autograd.grad(first.sum(), w)
        assert second.tolist() == [12.0, 24.0, 36.0]


class TestResultsThatTakeNoPart:
    """Several results, only some of which are differentiated."""

    @staticmethod
    def parts(x: Any, y: Any) -> tuple[Any, ...]:
        return x * 2, x.log(), y.sqrt()

    def test_their_infinities_do_not_matter(self) -> None:
        compiled = gs.compile(self.parts)
        for _ in range(2):
            x, y = (gs.tensor([0.0, 1.0], requires_grad=True) for _ in range(2))
            doubled, _, _ = compiled(x, y)
            doubled.sum().backward()
            assert x.grad.tolist() == [2, 2] and y.grad is None

    def test_inputs_that_only_they_read_have_no_gradient(self) -> None:
        compiled = gs.compile(self.parts)
        for _ in range(2):
            x, y = (gs.tensor([1.0, 4.0], requires_grad=True) for _ in range(2))
            _, _, root = compiled(x, y)
            root.sum().backward()
            assert x.grad is None and y.grad.tolist() == [0.5, 0.25]

    def test_infinities_of_those_that_do_are_kept(self) -> None:
        compiled = gs.compile(self.parts)
        for _ in range(2):
            x, y = (gs.tensor([0.0, 1.0], requires_grad=True) for _ in range(2))
            _, logarithm, _ = compiled(x, y)
            logarithm.sum().backward()
            assert x.grad.tolist() == [np.inf, 1] and y.grad is None

    def test_second_derivatives(self) -> None:
        compiled = gs.compile(self.parts)
        x, y = (gs.tensor([0.0, 1.0], requires_grad=True, dtype=gs.float64) for _ in range(2))
        for _ in range(2):
            squared = compiled(x * x, y)[0]
            (first,) = gs.autograd.grad(squared.sum(), x, create_graph=True)
            assert first.tolist() == [0, 4]
            assert gs.autograd.grad(first.sum(), x)[0].tolist() == [4, 4]


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.choice, self.place = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        h = self.body(x).tanh()
        place = gs.distributions.Normal(self.place(h), h.new_full((2,), 0.5))
        return gs.distributions.Categorical(logits=self.choice(h)), gs.distributions.Independent(place, 1)


def test_distributions_are_results() -> None:
    """An object that holds what a run makes is made anew by each run."""
    gs.manual_seed(0)
    policy, x = Policy(), gs.randn(5, 4)
    compiled = gs.compile(lambda x: policy(x))
    found = []
    for called in (policy, compiled, compiled, compiled):
        policy.zero_grad()
        gs.manual_seed(1)
        choice, place = called(x)
        a, b = choice.sample(), place.rsample()
        loss = (choice.log_prob(a) * (b * b).sum(-1) - choice.entropy() + place.log_prob(b.detach())).sum()
        loss.backward()
        found.append((a.tolist(), b.tolist(), loss.item(), [p.grad.norm().item() for p in policy.parameters()]))
        assert type(place) is gs.distributions.Independent and choice.batch_shape == (5,)
    assert found[1:] == [found[1]] * 3 and found[0][:2] == found[1][:2]
    assert found[0][2] == pytest.approx(found[1][2]) and found[0][3] == pytest.approx(found[1][3])
    assert len(compiled.programs) == 1


class Output:
    def __init__(self, value: Any, name: str) -> None:
        self.value, self.name, self.parts = value, name, [Holder(root=value.sqrt())]


def test_objects_of_the_user() -> None:
    compiled = gs.compile(lambda x: Output(x**3, "cube"))
    outputs = []
    for number in range(1, 4):
        x = gs.full((2,), float(number), requires_grad=True, dtype=gs.float64)
        outputs.append(compiled(x))
        (first,) = gs.autograd.grad(outputs[-1].value.sum(), x, create_graph=True)
        assert gs.autograd.grad(first.sum(), x)[0].tolist() == [6.0 * number] * 2
    assert [one.value.tolist() for one in outputs] == [[1, 1], [8, 8], [27, 27]]
    assert [one.parts[0].root[0].item() for one in outputs] == pytest.approx([1, 8**0.5, 27**0.5])
    assert len(set(map(id, outputs))) == 3 and {one.name for one in outputs} == {"cube"}


def test_an_object_that_was_there_is_given_back_itself() -> None:
    there = Holder(value=gs.ones(3))
    compiled = gs.compile(lambda x: (x * there.value, there))
    assert all(compiled(gs.ones(3))[1] is there for _ in range(2))


def test_an_object_is_kept_in_an_attribute() -> None:
    m = Holder(last=None)

    def f(x: Any) -> Any:
        m.last = Output(x * x, "square")
        return x + 1

    compiled = gs.compile(f)
    for number in range(4):
        compiled(gs.full((2,), float(number)))
        assert m.last.value.tolist() == [number**2] * 2 and m.last.parts[0].root.tolist() == [number] * 2


def test_gradients_that_hooks_of_the_backward_keep() -> None:
    layer, seen = nn.Linear(2, 2), {}
    layer.register_full_backward_hook(lambda module, given, gradients: seen.update(gradient=gradients[0]))
    compiled = gs.compile(lambda x: layer(x).square().sum())
    for number in range(1, 4):
        x = gs.full((1, 2), float(number), requires_grad=True)
        compiled(x).backward()
        assert gs.equal(seen["gradient"], 2 * layer(x).detach())


def from_python(x: Any) -> Any:
    return x * random.random()


def by_choice(x: Any) -> Any:
    return x + 1 if random.random() < 0.5 else x - 1


def from_numpy(x: Any) -> Any:
    return x * gs.from_numpy(np.random.rand(3))


def permuted(x: Any) -> Any:
    return x[np.random.permutation(3)]


def from_a_generator(generator: Any) -> Any:
    return lambda x: x * float(generator.random())


def from_an_attribute(generator: Any) -> Any:
    m = Holder(generator=generator)
    return lambda x: x * float(m.generator.random())


@pytest.mark.parametrize(
    "make",
    [
        lambda: from_python, lambda: by_choice, lambda: from_numpy, lambda: permuted,
        lambda: from_a_generator(random.Random(1)), lambda: from_a_generator(np.random.default_rng(2)),
        lambda: from_a_generator(np.random.RandomState(3)), lambda: from_an_attribute(np.random.default_rng(4)),
    ],
    ids=["random", "choice", "numpy", "permutation", "Random", "default_rng", "RandomState", "attribute"],
)  # fmt: skip
def test_random_numbers_of_others_are_drawn_at_each_call(make: Any) -> None:
    found = []
    for wrap in (lambda f: f, gs.compile):
        random.seed(0), np.random.seed(0)
        called = wrap(make())
        found.append([called(gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64)).tolist() for _ in range(5)])
    assert found[0] == found[1] and len(set(map(str, found[0]))) > 1


def trained(wrap: Any, optimizer: str, draws: bool) -> Any:
    """Losses and parameters of steps that count, schedule, and draw from Python's generator if `draws`."""
    gs.manual_seed(0), random.seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    opt = getattr(gs.optim, optimizer)(model.parameters(), lr=0.1)
    schedule = gs.optim.lr_scheduler.ExponentialLR(opt, 0.9)
    m = Holder(calls=0, last=None)

    def step(x: Any) -> Any:
        opt.zero_grad()
        loss = (model(x) - (random.random() if draws else 0.5)).square().mean()
        loss.backward()
        opt.step()
        schedule.step()
        m.calls += 1
        m.last = loss.detach()
        return loss.detach()

    called = wrap(step)
    losses = [called(gs.full((5, 3), float(number), dtype=gs.float64)).item() for number in range(6)]
    assert m.calls == 6 and m.last.item() == losses[-1]
    return losses, [p.detach().numpy() for p in model.parameters()], schedule.get_last_lr(), opt.param_groups[0]["lr"]


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_training_steps(optimizer: str, draws: bool) -> None:
    """Where a trace comes to nothing, the step that its optimizer has made is taken back."""
    (losses, parameters, *rates), (found, others, *other_rates) = (
        trained(wrap, optimizer, draws) for wrap in (lambda f: f, gs.compile)
    )
    assert found == pytest.approx(losses, rel=1e-12) and rates == other_rates
    for one, other in zip(parameters, others):
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-13)


def test_a_step_that_raises_takes_nothing() -> None:
    model = nn.Linear(2, 1)
    opt = gs.optim.Adam(model.parameters(), lr=0.1)

    def step(x: Any) -> None:
        model(x).sum().backward()
        opt.step()
        raise KeyError("too late")

    before = model.weight.tolist()
    for _ in range(2):
        with pytest.raises(KeyError):
            gs.compile(step)(gs.ones(3, 2))
        assert model.weight.tolist() == before and not opt.state_dict()["state"]


def test_an_array_without_dimensions() -> None:
    factor = np.array(2.0)
    compiled = gs.compile(lambda x: x * float(factor))
    assert compiled(gs.ones(1)).item() == 2
    factor[...] = 3
    assert compiled(gs.ones(1)).item() == 3


def test_parameters_are_results() -> None:
    """They are given back themselves, beside what is computed of them."""
    w = weight()
    compiled = gs.compile(lambda x: (w, w * x, w.detach()))
    for number in range(1, 4):
        w.grad = None
        itself, product, values = compiled(gs.full((3,), float(number)))
        assert itself is w and not values.requires_grad and values.tolist() == [1, 2, 3]
        (product.sum() + itself.sum()).backward()
        assert w.grad.tolist() == [number + 1.0] * 3


# ---- what branches and loops change, and what holds much


def noted(state: dict[str, Any], x: Any) -> None:
    state["last"] = x * 5


def counted(state: dict[str, Any], x: Any) -> None:
    state["count"] += 1


def listed(state: dict[str, Any], x: Any) -> None:
    state["all"].append(x * 5)


def in_a_branch(change: Any, state: dict[str, Any], x: Any) -> Any:
    def positive(x: Any) -> Any:
        change(state, x)
        return x * 2

    return gs.cond(x.sum() > 0, positive, lambda x: x * 3, x)


def in_steps(change: Any, state: dict[str, Any], x: Any) -> Any:
    def step(x: Any) -> Any:
        change(state, x)
        return x * 2

    return gs.while_loop(lambda x: x.abs().sum() < 10, step, x)


def in_a_condition(change: Any, state: dict[str, Any], x: Any) -> Any:
    def condition(x: Any) -> Any:
        change(state, x)
        return x.abs().sum() < 10

    return gs.while_loop(condition, lambda x: x * 2, x)


@pytest.mark.parametrize("function", [in_a_branch, in_steps, in_a_condition])
@pytest.mark.parametrize("change", [noted, counted, listed])
@pytest.mark.parametrize("has_tensors", [False, True])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_changes_by_choices(function: Any, change: Any, has_tensors: bool, requires_grad: bool) -> None:
    """Python makes them in a run, on copies of lists and dicts that have tensors."""
    states: list[dict[str, Any]] = [{"count": 0, "all": [], "last": None} for _ in range(2)]
    for state in states if has_tensors else ():
        state["tensor"] = gs.zeros(2)
    functions = [lambda x: function(change, states[0], x), gs.compile(lambda x: function(change, states[1], x))]
    for size in (1.0, 2.0, -1.0, 3.0, -1.0, 0.5):
        x = gs.full((2,), size, requires_grad=requires_grad)
        expected, found = (f(x) for f in functions)
        assert gs.equal(found, expected)
        eager, own = (gs.utils.pytree.flatten(state) for state in states)
        assert own[1] == eager[1]
        assert all(gs.equal(a, b) if isinstance(a, gs.Tensor) else a == b for a, b in zip(own[0], eager[0]))


def test_changes_of_what_holds_many_items() -> None:
    def lists() -> Any:
        return [gs.ones(2) for _ in range(150)], list(range(150)), set(range(150)), dict.fromkeys(range(150), 0)

    def function(held: Any, x: Any) -> Any:
        tensors, numbers, names, table = held
        tensors.append(x * 2)
        numbers[3] += 1
        names.add(len(names))
        table[len(table)] = x * 3
        return x * numbers[3] * len(names) + len(tensors) + numbers[5]

    ours, eagers = lists(), lists()
    compiled = gs.compile(lambda x: function(ours, x))
    for number in range(4):
        x = gs.full((2,), float(number))
        assert gs.equal(compiled(x), function(eagers, x))
        assert ours[1:3] == eagers[1:3]
        for one, other in ((ours[0], eagers[0]), (ours[3].values(), eagers[3].values())):
            assert [getattr(a, "tolist", lambda a=a: a)() for a in one] == [
                getattr(a, "tolist", lambda a=a: a)() for a in other
            ]
        ours[1][5] = eagers[1][5] = number
