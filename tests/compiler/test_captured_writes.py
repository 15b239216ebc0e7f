"""Writes to captured tensors, by ops of all kinds: each call makes them as eager does."""

from typing import Any

import pytest

import gradsmith as gs


@pytest.mark.parametrize(
    "write",
    [
        lambda c: c.erfc_(),
        lambda c: c.xlogy_(0.5),
        lambda c: c.float_power_(0.5),
        lambda c: c.i0_(),
        lambda c: c.mul_(2),
        lambda c: c[0].erfc_(),
        lambda c: c.clamp_(c * 0.9, c * 1.1 - 0.1),
        lambda c: c.addcmul_(c, c),
    ],
)
@pytest.mark.parametrize("recording", [True, False])
def test_each_call_begins_with_what_the_last_one_left(write: Any, recording: bool) -> None:
    """The value that an in-place form keeps from before the write was that of the traced run."""
    captured, other = gs.tensor([2.0, 3.0]), gs.tensor([2.0, 3.0])
    compiled = gs.compile(lambda x: (write(captured), x * 2)[1])
    with gs.set_grad_enabled(recording):
        for _ in range(4):
            compiled(gs.ones(2))
            write(other)
            assert captured.tolist() == other.tolist()
    assert len(compiled.programs) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.unsqueeze_(0),
        lambda c: c.t_(),
        lambda c: c.squeeze_(),
        lambda c: c.resize_(1),
        lambda c: c.set_(gs.ones(3)),
        lambda c: c.as_strided_((1,), (1,)),
    ],
)
def test_another_shape_of_a_captured_tensor(change: Any) -> None:
    """The tensor kept a stand-in of the trace for its memory, so that nobody could use it any more."""
    captured, other = gs.tensor([[2.0, 3.0]]), gs.tensor([[2.0, 3.0]])
    compiled = gs.compile(lambda x: (change(captured), x * captured.sum())[1])
    for _ in range(2):
        found = compiled(gs.ones(2))
        change(other)
        assert gs.equal(found, gs.ones(2) * other.sum()) and gs.equal(captured, other)


def test_another_shape_of_a_view_of_a_captured_tensor() -> None:
    captured = gs.tensor([[2.0, 3.0]])
    compiled = gs.compile(lambda x: x * captured[0].unsqueeze_(1))
    for _ in range(2):
        assert gs.equal(compiled(gs.ones(2)), gs.ones(2) * captured[0][:, None])
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("memory", [None, "min"])
@pytest.mark.parametrize("chosen", [(1,), (2,), (1, 2), (0, 1)])
def test_gradients_of_some_results_of_a_function_that_writes(chosen: tuple[int, ...], memory: str | None) -> None:
    """The root of zero has an infinite slope, which makes NaN of the zeros that stand for what has no gradient."""
    steps = gs.zeros(())

    def function(x: Any, y: Any) -> Any:
        steps.add_(1)
        return x.sqrt(), x * y, (x * 2).sin() + y, y

    compiled = gs.compile(function, memory=memory)
    for n in range(3):
        found = []
        for called in (compiled, function):
            x, y = gs.tensor([0.0, 1.0, 4.0], requires_grad=True), gs.full((3,), 1.5 + n, requires_grad=True)
            results = [one for number, one in enumerate(called(x, y)) if number in chosen]
            found.append(gs.autograd.grad(results, (x, y), list(map(gs.ones_like, results)), allow_unused=True))
        for one, other in zip(*found):
            assert (one is None) == (other is None)
            assert one is None or gs.allclose(one, other, equal_nan=True)
    assert len(compiled.programs) == 1


def test_choices_among_the_gradients_of_a_function_that_writes() -> None:
    """Programs for the gradients of single results share no steps, in which each one notes what it plans."""
    steps = gs.zeros(())

    def function(x: Any, y: Any) -> Any:
        steps.add_(1)
        for _ in range(3):
            x = gs.cond(x.sum() > 0, lambda v: v * 0.5, lambda v: v + 1, x * 0.9)
        return x, y.sqrt(), x * y

    compiled = gs.compile(function)
    for start in (1.0, -2.0, 1.5, -1.0):
        for chosen in ((0,), (1, 2), (0, 1, 2)):
            found = []
            for called in (compiled, function):
                x, y = gs.full((2, 2), start, requires_grad=True), gs.eye(2).requires_grad_()
                results = [one for number, one in enumerate(called(x, y)) if number in chosen]
                found.append(gs.autograd.grad(results, (x, y), list(map(gs.ones_like, results)), allow_unused=True))
            for one, other in zip(*found):
                assert (one is None) == (other is None)
                assert one is None or gs.allclose(one, other, equal_nan=True)
