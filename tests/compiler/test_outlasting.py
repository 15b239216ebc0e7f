"""Tensors that outlast a compiled call get the histories, hooks and flags that they get in eager."""

import gc
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.nn import functional as F


def leaf():
    x = gs.tensor([1.0, -2.0, 3.0], requires_grad=True)
    return [x], [x]


def with_history():
    x = gs.tensor([1.0, -2.0, 3.0], requires_grad=True)
    return [x], [x * 2]


def plain():
    return [], [gs.tensor([1.0, -2.0, 3.0])]


def rows_with_history():
    x = gs.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], requires_grad=True)
    return [x], [x * 2]


def buffer_and_leaf():
    x = gs.tensor([1.0, -2.0, 3.0], requires_grad=True)
    return [x], [gs.zeros(3), x]


def tensor_and_view():
    x = gs.tensor([1.0, -2.0, 3.0], requires_grad=True)
    h = x * 2
    return [x], [h, h[:2]]


def write_row(h):
    h[0] = 1.0
    return h.sum()


def write_view(h):
    h[0].mul_(3)
    return h


def write_columns(h):
    h[:, 1:] += 1
    return h


def write_through_view(h, v):
    v.mul_(2)
    return h.sum()


def copy_into(buffer, x):
    buffer.copy_(x)
    return buffer * 2


def add_to(buffer, x):
    buffer += x
    return buffer.sum()


def write_element(buffer, x):
    buffer[0] = x[1]
    return buffer * 1


def hooked(x):
    x.register_hook(lambda g: g * 3)
    return x * 2


def hooked_after(x):
    x.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(3))
    return x * 2


def retained(x):
    x.retain_grad()
    return x * 2


def detached(x):
    x.detach_()
    return x * 2


def told_to_require_grad(x):
    return x.requires_grad_(True) * 2


def outcome(function, leaves, arguments, others=()):
    """Values, gradients of everything that has any, and what is left of it in the arguments."""
    results = [one for one in gs.utils.pytree.flatten(function(*arguments))[0] if isinstance(one, gs.Tensor)]
    tensors = [*results, *arguments, *others]
    total = sum((one * one).sum() for one in tensors if one.requires_grad)
    if isinstance(total, gs.Tensor):
        total.backward(retain_graph=True)
    return (
        [one.tolist() for one in tensors],
        [one.requires_grad for one in tensors],
        [one is other for one in arguments for other in results],
        [None if one.grad is None else one.grad.tolist() for one in leaves],
        [None if not one.retains_grad or one.grad is None else one.grad.tolist() for one in arguments],
    )


@pytest.mark.parametrize(
    "function, make",
    [
        (lambda h: h.mul_(2), with_history),
        (lambda h: F.leaky_relu_(h), with_history),
        (lambda h: F.leaky_relu(h, inplace=True) * 2, with_history),
        (lambda h: h.mul_(2), plain),
        (lambda h: h.unsqueeze_(0) * 2, with_history),
        (write_row, with_history),
        (write_view, rows_with_history),
        (write_columns, rows_with_history),
        (write_through_view, tensor_and_view),
        (copy_into, buffer_and_leaf),
        (add_to, buffer_and_leaf),
        (write_element, buffer_and_leaf),
        (lambda buffer, x: buffer.add_(x.exp()), buffer_and_leaf),
        (hooked, leaf),
        (hooked, with_history),
        (hooked_after, leaf),
        (retained, leaf),
        (retained, with_history),
        (detached, with_history),
        (told_to_require_grad, plain),
        (told_to_require_grad, leaf),
    ],
)
def test_arguments(function, make):
    compiled = gs.compile(function)
    expected = outcome(function, *make())
    for _ in range(3):
        assert outcome(compiled, *make()) == expected


def test_a_write_to_a_leaf_is_refused_as_ever():
    compiled = gs.compile(lambda x: x.mul_(2))
    x = gs.ones(3, requires_grad=True)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            compiled(x)
        assert x.tolist() == [1, 1, 1]


class TestCaptured:
    """The same of tensors that the function captures. `w` is a leaf in all of them."""

    def check(self, make, argument=(1.0, 1.0, 1.0), n_calls=3):
        outcomes = []
        for wrap in (lambda f: f, gs.compile):
            w = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
            function, others = make(w)
            called = wrap(function)
            found = []
            for _ in range(n_calls):
                w.grad = None
                found.append(outcome(called, [w], [gs.tensor(argument)], others))
            outcomes.append(found)
        assert outcomes[0] == outcomes[1]

    def test_a_buffer_gets_a_history(self):
        def make(w):
            buffer = gs.zeros(3)

            def function(x):
                buffer.add_(w * x)
                return x * 2

            return function, [buffer]

        self.check(make)

    def test_a_row_of_a_buffer_gets_a_history(self):
        def make(w):
            buffer = gs.zeros(2, 3)

            def function(x):
                buffer[0] = w * x
                return buffer * 2

            return function, [buffer]

        self.check(make)

    def test_a_view_that_was_there_gives_its_base_a_history(self):
        def make(w):
            buffer = gs.zeros(3)
            view = buffer[:2]

            def function(x):
                view.add_((w * x)[:2])
                return buffer * 2

            return function, [buffer, view]

        self.check(make)

    def test_what_has_a_history_is_written(self):
        def make(w):
            h = w * 2

            def function(x):
                h.mul_(2)
                return (x * h).sum()

            return function, [h]

        self.check(make)

    def test_a_history_is_cut(self):
        def make(w):
            h = w * 2

            def function(x):
                h.detach_()
                return (x * h * w).sum()

            return function, [h]

        self.check(make)

    def test_a_hook_is_added_at_each_call(self):
        def make(w):
            def function(x):
                w.register_hook(lambda g: g * 2)
                return (w * x).sum()

            return function, []

        self.check(make)


def test_a_network_that_the_step_freezes_and_frees_runs_as_a_program():
    """It requires grad again at the end of each call, so that nothing is left to do for a program."""
    frozen, learning = gs.nn.Linear(3, 3), gs.nn.Linear(3, 3)

    def step(x):
        for p in frozen.parameters():
            p.requires_grad_(False)
        loss = frozen(learning(x)).square().sum()
        loss.backward()
        for p in frozen.parameters():
            p.requires_grad_(True)
        return loss

    compiled = gs.compile(step)
    x = gs.ones(2, 3)
    for _ in range(3):
        learning.zero_grad()
        expected = step(x), learning.weight.grad
        learning.zero_grad()
        assert compiled(x) == expected[0]
        assert np.array_equal(learning.weight.grad.numpy(), expected[1].numpy())
        assert frozen.weight.grad is None and frozen.weight.requires_grad
    assert len(compiled.programs) == 1


def test_parameters_that_the_function_freezes_are_frozen_whenever_they_are_not():
    layer = gs.nn.Linear(3, 3)
    layer.weight.data.fill_(1.0)

    def function(x):
        layer.weight.requires_grad_(False)
        return layer(x).sum()

    compiled = gs.compile(function)
    x = gs.ones(3)
    for is_free in (True, False, False, True, True, False):
        layer.weight.requires_grad_(is_free)
        layer.zero_grad()
        compiled(x).backward()
        assert not layer.weight.requires_grad and layer.weight.grad is None
        assert layer.bias.grad.tolist() == [1, 1, 1]


def test_a_function_that_has_settled_becomes_a_program():
    layer = gs.nn.Linear(3, 3)

    def function(x):
        layer.weight.requires_grad_(False)
        return layer(x).sum()

    compiled = gs.compile(function)
    for _ in range(3):
        compiled(gs.ones(3))
    assert len(compiled.programs) == 1


class _Chosen(gs.autograd.Function):
    @staticmethod
    def forward(ctx, one, other):
        return other

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_custom_function_returns_an_input_as_it_is(requires_grad):
    captured = gs.tensor([5.0, 6.0])
    functions = [
        lambda x: _Chosen.apply(x, gs.tensor([5.0, 6.0])),
        lambda x: _Chosen.apply(captured, x),
        lambda x: _Chosen.apply(gs.tensor([1.0, 2.0]), x * 2),
        lambda x: _Chosen.apply(x, x * 2) + x,
    ]
    for function in functions:
        compiled = gs.compile(function)
        for _ in range(2):
            x = gs.tensor([1.0, 2.0], requires_grad=requires_grad)
            expected, found = function(x), compiled(x)
            assert found.tolist() == expected.tolist() and found.requires_grad == expected.requires_grad
            if found.requires_grad:
                expected.sum().backward()
                gradient, x.grad = x.grad, None
                found.sum().backward()
                assert (x.grad is None) == (gradient is None) and (gradient is None or gs.equal(x.grad, gradient))


def results_that_go(function, argument):
    """Whether results of a compiled call with a history are given back at once, without the collector."""
    compiled = gs.compile(function)
    for _ in range(2):
        compiled(argument)
    gc.disable()
    try:
        for backward in (False, True):
            results = gs.utils.pytree.flatten(compiled(argument))[0]
            references = [weakref.ref(one) for one in results if isinstance(one, gs.Tensor)]
            if backward:
                sum(one.sum() for one in results).backward()
            del results
            assert references and not any(reference() for reference in references)
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x * 2).tanh(),
        lambda x: ((x * 2).tanh(), {"a": x.exp()}),
        lambda x: F.dropout(x.exp(), 0.5),
        lambda x: gs.distributions.Normal(x, 1.0).log_prob(gs.ones(3)),
        lambda x: (x.exp(), x.view(-1), x[0]),
    ],
)
def test_results_with_a_history_are_given_back(function):
    """Their node must not hold them: nothing would ever find such a cycle."""
    results_that_go(function, gs.ones(3, requires_grad=True))


@pytest.mark.parametrize(
    "function", [lambda x: x.contiguous(), lambda x: x.to(gs.float32), lambda x: (x + 1, x), lambda x: (x * 2,) * 2]
)
def test_arguments_and_equal_results_keep_their_histories(function):
    compiled = gs.compile(function)
    for _ in range(3):
        x = gs.ones(3, requires_grad=True)
        found, expected = (gs.utils.pytree.flatten(f(x))[0] for f in (compiled, function))
        assert x.is_leaf and [one is x for one in found] == [one is x for one in expected]
        sum(one.sum() for one in found).backward()
        gradient, x.grad = x.grad, None
        sum(one.sum() for one in expected).backward()
        assert gs.equal(x.grad, gradient)


def views_without_history(x):
    with gs.no_grad():
        view = x[0]
    return x * 2, view


@pytest.mark.parametrize(
    "function",
    [
        views_without_history,
        lambda x: x.detach().requires_grad_(),
        lambda x: (x * 2, x.detach().requires_grad_()),
        lambda x: (x * 2, gs.ones(2, requires_grad=True), gs.tensor([1.0, 2.0], requires_grad=True)),
    ],
)
@pytest.mark.parametrize("with_grad", [True, False])
def test_leaves_that_the_function_makes_are_leaves(function, with_grad):
    compiled = gs.compile(function)
    for _ in range(3):
        x = gs.ones(3, requires_grad=True)
        with gs.set_grad_enabled(with_grad):
            found, expected = (gs.utils.pytree.flatten(f(x))[0] for f in (compiled, function))
        assert [(one.requires_grad, one.is_leaf) for one in found] == [(o.requires_grad, o.is_leaf) for o in expected]
        if with_grad and found[0].grad_fn is not None:
            found[0].sum().backward()
            assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize("view_of", [lambda x: x.view(-1), lambda x: x[None][0], lambda x: x.unbind(0)[0]])
@pytest.mark.parametrize("with_grad", [True, False])
def test_a_written_view_of_a_leaf_that_is_made_without_recording(view_of, with_grad):
    """It requires grad, and its history may not even be asked for."""

    def function(x):
        with gs.no_grad():
            view = view_of(x)
            view += 1
        return x.detach() * 2, view

    compiled = gs.compile(function)
    for _ in range(3):
        for f in (function, compiled):
            x = gs.ones(1, 3, requires_grad=True)
            with gs.set_grad_enabled(with_grad):
                doubled, view = f(x)
            assert x.tolist() == [[2, 2, 2]] and doubled.tolist() == [[4, 4, 4]]
            assert view.requires_grad
            with pytest.raises(RuntimeError, match="view"):
                view.grad_fn  # noqa: B018


def test_leaves_that_a_result_does_not_depend_on():
    """A node that led to them would have what a transform gives require grad."""
    outside = gs.ones(3, requires_grad=True)

    def function(x):
        unused = (outside * 2).exp()
        return (x.sin() * x).sum() + (unused > 0).sum()

    compiled = gs.compile(function)
    for f in (function, compiled, compiled):
        value, pull = gs.func.vjp(f, gs.ones(3))
        assert not value.requires_grad and not pull(gs.tensor(1.0))[0].requires_grad
        assert not gs.func.grad(f)(gs.ones(3)).requires_grad
        x = gs.ones(3, requires_grad=True)
        f(x).backward()
        assert outside.grad is None and gs.allclose(x.grad, gs.ones(3).sin() + gs.ones(3).cos())


def test_leaves_behind_some_of_the_results():
    outside, other = gs.ones(3, requires_grad=True), gs.ones(3, requires_grad=True)

    def function(x):
        unused = other * 2
        return (x * x).sum(), (x * outside).sum() + (unused > 0).sum(), outside.exp()

    compiled = gs.compile(function)
    for place in range(3):
        for _ in range(2):
            x = gs.ones(3, requires_grad=True)
            found, expected = (
                gs.autograd.grad(f(x)[place].sum(), [x, outside, other], allow_unused=True)
                for f in (compiled, function)
            )
            assert [one if one is None else one.tolist() for one in found] == [
                one if one is None else one.tolist() for one in expected
            ]


@pytest.mark.parametrize(
    "view_of", [lambda x: gs.vmap(lambda row: row[...])(x), lambda x: gs.vmap(lambda row: row[:1])(x)]
)
def test_a_view_by_vmap_in_no_grad_does_not_require_grad(view_of):
    compiled = gs.compile(lambda x: (view_of(x), x * 2))
    for _ in range(3):
        x = gs.ones(2, 2, requires_grad=True)
        with gs.no_grad():
            found, expected = compiled(x)[0], view_of(x)
        assert gs.equal(found, expected)
        assert found.requires_grad == expected.requires_grad
