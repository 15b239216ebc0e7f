"""Training steps: what they return, and what they leave in `.grad`."""

from collections.abc import Callable
from typing import Any

import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.utils import pytree

Parameters = tuple[Any, Any]
Step = Callable[[Parameters, Any], Any]


def parameters() -> Parameters:
    return gs.ones(3, requires_grad=True), gs.full((3,), 2.0, requires_grad=True)


def both(step: Step) -> list[tuple[Parameters, Callable[[Any], Any]]]:
    """The step of parameters of its own, as it is and compiled."""
    pairs = []
    for wrap in (lambda f: f, gs.compile):
        own = parameters()
        pairs.append((own, wrap(lambda x, own=own: step(own, x))))
    return pairs


# ---- results whose graph the function has used up


def loss_alone(own: Parameters, x: Any) -> Any:
    loss = ((x * own[0]).exp() * own[1]).sum()
    loss.backward()
    return loss


def loss_and_others(own: Parameters, x: Any) -> Any:
    inner = (x * own[0]).exp()
    loss = (inner * own[1]).sum()
    loss.backward()
    return loss, inner[0], (own[1] * x).sum(), inner, x, loss


def only_views(own: Parameters, x: Any) -> Any:
    inner = (x * own[0]).exp()
    inner.sum().backward()
    return inner.reshape(-1), inner[:2]


def gradients_apart(own: Parameters, x: Any) -> Any:
    loss = (own[0] * own[1] * x).sin().sum()
    return loss, gs.autograd.grad(loss, own[:1])


def without_recording(own: Parameters, x: Any) -> Any:
    with gs.no_grad():
        with gs.enable_grad():
            inner = (x * own[0]).exp()
            inner.sum().backward()
            other = (x * own[1]).sin()
        return inner, inner[0], other, other[1:]


def outcome(own: Parameters, result: Any) -> Any:
    """What is visible of a result, and what comes of its backward."""
    kind = result.requires_grad, result.is_leaf, result.grad_fn is None
    error = None
    for one in own:
        one.grad = None
    try:
        result.backward(gs.ones_like(result), retain_graph=True)
    except RuntimeError as caught:
        error = str(caught)
    return kind, error, [None if one.grad is None else one.grad.tolist() for one in own]


@pytest.mark.parametrize("step", [loss_alone, loss_and_others, only_views, gradients_apart, without_recording])
@pytest.mark.parametrize("needs_grad", [False, True])
def test_results_require_grad_after_a_backward_inside(step: Step, needs_grad: bool) -> None:
    """And another backward is the error that it is in eager."""
    pairs = both(step)
    for _ in range(3):
        x = gs.tensor([0.5, -1.0, 2.0], requires_grad=needs_grad)
        eager, compiled = ([outcome(own, one) for one in pytree.flatten(run(x))[0]] for own, run in pairs)
        assert compiled == eager
        assert any(error is not None for _, error, _ in eager)


def test_a_step_that_records_in_no_grad_itself() -> None:
    """As `optimizer.step(closure)` does."""

    def step(own: Parameters, x: Any) -> Any:
        with gs.enable_grad():
            loss = (own[0] * x).exp().sum()
        return loss, own[1] * x

    (eager_own, eager), (own, compiled) = both(step)
    with gs.no_grad():
        for _ in range(3):
            x = gs.tensor([0.5, -1.0, 2.0])
            found, expected = compiled(x), eager(x)
            assert [outcome(own, one) for one in found] == [outcome(eager_own, one) for one in expected]


# ---- gradients that are results


def new_gradients(own: Parameters, x: Any) -> Any:
    ((x * own[0]).exp() + own[1] ** 2).sum().backward()
    return own[0].grad, [own[1].grad], own[1].grad


def old_and_new(own: Parameters, x: Any) -> Any:
    old = own[0].grad
    own[0].grad = None
    ((x * own[0]).exp() + own[1] ** 2).sum().backward()
    return old, own[0].grad


def given_gradients(own: Parameters, x: Any) -> Any:
    own[0].grad = x * 2
    ((x * own[0]).exp() + own[1] ** 2).sum().backward()
    return own[0].grad, own[1].grad[0]


def only_read(own: Parameters, x: Any) -> Any:
    return own[0].grad


@pytest.mark.parametrize("step", [new_gradients, old_and_new, given_gradients, only_read])
def test_gradients_that_are_returned_are_those_of_the_leaves(step: Step) -> None:
    """The tensor itself, whichever it is in this call."""
    x = gs.tensor([0.5, -1.0, 2.0])
    pairs = both(step)
    for call in range(6):
        seen = []
        for own, run in pairs:
            if call == 3:
                own[0].grad = None
            if call == 5:
                own[0].grad = gs.ones(3)
            before = own[0].grad
            results = pytree.flatten(run(x))[0]
            known = [before, *(one.grad for one in own)]
            seen.append([(None if one is None else one.tolist(), [one is other for other in known]) for one in results])
        assert seen[0] == seen[1]


def test_gradients_that_are_put_elsewhere() -> None:
    def step(own: Parameters, x: Any) -> Any:
        kept["old"] = own[0].grad
        (x * own[0]).exp().sum().backward()
        kept["new"] = own[0].grad

    x = gs.tensor([0.5, -1.0, 2.0])
    seen: list[Any] = []
    for own, run in both(step):
        kept: dict[str, Any] = {}
        for call in range(5):
            if call == 3:
                own[0].grad = None
            run(x)
            assert kept["new"] is own[0].grad
            seen.append([None if one is None else one.tolist() for one in kept.values()])
    assert seen[:5] == seen[5:]


LEAVES = {
    "rows": lambda: gs.ones(2, 3, 4),
    "columns": lambda: gs.ones(4, 3, 2).permute(2, 1, 0),
    "gaps": lambda: gs.ones(2, 3, 8)[..., ::2],
}


@pytest.mark.parametrize("leaf", LEAVES)
def test_gradients_lie_as_their_leaves(leaf: str) -> None:
    """Also where they come as views that lie otherwise, as those of permuted and flattened weights do."""

    def step(own: Parameters, given: Any) -> Any:
        for one in (*own, given):
            one.grad = None
            (one.transpose(0, 1).flatten(1, 2) * 2).exp().sum().backward()

    strides = []
    for wrap in (lambda f: f, gs.compile):
        captured, given = (LEAVES[leaf]().detach().requires_grad_() for _ in range(2))
        run = wrap(lambda x, captured=captured: step((captured, captured), x))
        for _ in range(2):
            run(given)
            strides.append((captured.grad.stride(), given.grad.stride()))
    assert len(set(strides)) == 1


# ---- optimizers

OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    "Adam": {"amsgrad": True, "weight_decay": 0.1, "maximize": True},
    "AdamW": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Adagrad": {"lr_decay": 0.1},
    "Adadelta": {"weight_decay": 0.1},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Rprop": {},
    "ASGD": {},
    "Adafactor": {},
    "Muon": {},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_of_groups_that_change(name: str) -> None:
    """Rates, frozen parameters, gradients that are taken away, states that are loaded, and evaluation in between."""
    found = []
    for wrap in (lambda f: f, gs.compile):
        gs.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 5, bias=False), nn.Dropout(0.3), nn.Linear(5, 3, bias=False))
        groups = [{"params": [model[0].weight]}, {"params": [model[2].weight], "lr": 0.05}]
        optimizer = getattr(gs.optim, name)(groups, lr=0.1, **OPTIMIZERS[name])

        def step(x: Any, model: Any = model, optimizer: Any = optimizer) -> Any:
            loss = model(x).square().mean()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            return loss, [p.grad for p in model.parameters()]

        run = wrap(step)
        for call in range(8):
            if call == 2:
                optimizer.param_groups[0]["lr"] = 0.02
            elif call == 3:
                model[0].weight.requires_grad_(False)
            elif call == 4:
                model[0].weight.requires_grad_(True)
                optimizer.zero_grad()
            elif call == 5:
                optimizer.load_state_dict(optimizer.state_dict())
            elif call == 6:
                model.eval()
            loss, gradients = run(gs.ones(2, 4) * call)
            found.append([loss.requires_grad, loss.item(), *(p.tolist() for p in model.parameters())])
            found[-1] += [None if one is None else one.tolist() for one in gradients]
    assert found[:8] == found[8:]


# ---- hooks on saved tensors


def test_checkpoints_of_compiled_modules() -> None:
    """They save the same when they are run again."""
    gs.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x, compiled = gs.randn(5, 3), gs.compile(model)
    expected = gs.autograd.grad(model(x).square().sum(), list(model.parameters()))
    for _ in range(3):
        compiled(x)
        found = gs.utils.checkpoint.checkpoint(compiled, x, use_reentrant=False)
        assert gs.autograd.graph.list_saved(found).total == 0
        gradients = gs.autograd.grad(found.square().sum(), list(model.parameters()))
        assert all(gs.allclose(one, other) for one, other in zip(gradients, expected))


def test_checkpoints_of_compiled_functions_in_forward_mode() -> None:
    """The level of the tangents has ended when the backward runs the function again."""
    function = gs.compile(lambda x: (x - 1).erf() * x)

    def tangent(x: Any, wrap: Any) -> Any:
        return gs.func.jvp(wrap, (x,), (gs.ones(3) * 0.5,))[1]

    x = gs.tensor([0.5, -1.0, 2.0], requires_grad=True)
    function(x)
    gradients = []
    for wrap in (function, lambda x: gs.utils.checkpoint.checkpoint(function, x, use_reentrant=False)):
        gradients.append(gs.autograd.grad(tangent(x, wrap).sum(), x)[0])
    assert gs.allclose(*gradients)


def test_hooks_see_the_same_in_each_call() -> None:
    seen: list[Any] = []
    compiled = gs.compile(lambda x: (x * x).exp().sum())
    counts = []
    for _ in range(3):
        x = gs.tensor([0.5, -1.0, 2.0], requires_grad=True)
        with gs.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
            result = compiled(x)
        result.backward()
        assert gs.allclose(x.grad, 2 * x * (x * x).exp())
        counts.append(len(seen))
        seen.clear()
    assert counts[0] == counts[1] == counts[2] > 0
