"""A program that raises on its way leaves nothing outside half-changed."""

import signal
from typing import Any

import numpy as np
import pytest

import gradsmith as gs


def fails_after_a_write(x: Any, matrix: Any) -> Any:
    x.mul_(2)
    return gs.linalg.inv(matrix) @ x


def test_an_argument_is_as_it_was() -> None:
    compiled, eye = gs.compile(fails_after_a_write), gs.eye(3)
    x = gs.ones(3)
    compiled(x, eye)
    compiled(x, eye)
    assert x.tolist() == [4.0, 4.0, 4.0]
    with pytest.raises(np.linalg.LinAlgError):
        compiled(x, gs.zeros(3, 3))
    assert x.tolist() == [4.0, 4.0, 4.0]
    compiled(x, eye)
    assert x.tolist() == [8.0, 8.0, 8.0]


def test_captured_tensors_and_views_are_as_they_were() -> None:
    state = gs.arange(6.0).reshape(2, 3)

    def function(index: Any) -> Any:
        state[0].add_(1)
        found = gs.ones(4)[index]
        state[1] = 0
        return found

    compiled, before = gs.compile(function), state.clone()
    compiled(gs.tensor([1]))
    state.copy_(before)
    with pytest.raises(IndexError):
        compiled(gs.tensor([7]))
    assert gs.equal(state, before)
    compiled(gs.tensor([3]))
    assert state.tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]


def test_programs_that_write_last_keep_no_copies() -> None:
    def step(x: Any, w: Any) -> Any:
        loss = (x @ w).sum()
        w.sub_(0.1 * x.sum(0)[:, None] * gs.ones(2))
        return loss

    compiled = gs.compile(step)
    compiled(gs.ones(4, 3), gs.ones(3, 2))
    assert [variant.forward.guarded for variant in compiled.programs] == [[]]
    guarded = gs.compile(fails_after_a_write)
    guarded(gs.ones(3), gs.eye(3))
    assert [len(variant.forward.guarded) for variant in guarded.programs] == [1]


def test_an_optimizer_of_large_and_small_parameters_keeps_no_copies() -> None:
    parameters = [gs.ones(n, n, requires_grad=True) for n in (200, 3, 300)]

    def step(x: Any) -> None:
        sum((p * p).sum() for p in parameters).mul(x.sum()).backward()
        with gs.no_grad():
            for p in parameters:
                p.sub_(p.grad, alpha=0.25)
                p.grad = None

    compiled = gs.compile(step)
    for n in range(3):
        compiled(gs.ones(1))
        assert all(gs.equal(p, gs.full_like(p, 0.5 ** (n + 1))) for p in parameters)
    assert [variant.forward.guarded for variant in compiled.programs] == [[]]


def test_a_write_that_may_need_a_copy_of_its_operand_is_guarded() -> None:
    def step(a: Any, b: Any) -> None:
        a.mul_(2)
        b[1:].add_(b[:-1])

    compiled, a, b = gs.compile(step), gs.ones(40_000), gs.arange(40_001.0)
    compiled(a, b)
    assert b[:3].tolist() == [0.0, 1.0, 3.0]
    assert [len(variant.forward.guarded) for variant in compiled.programs] == [2]


def test_an_interrupt_undoes_writes() -> None:
    def long(x: Any) -> None:
        for _ in range(30_000):
            x.mul_(1.0001)

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    compiled, x = gs.compile(long), gs.ones(4, dtype=gs.float64)
    compiled(x)
    before = signal.signal(signal.SIGALRM, stop)
    interrupted = 0
    try:
        for _ in range(300):
            x.fill_(1.0)
            # On a busy machine the signal may come before the call or after it, hence all of it is tried.
            try:
                signal.setitimer(signal.ITIMER_REAL, 3e-5)
                compiled(x)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
                assert x.tolist() in ([1.0] * 4, [pytest.approx(1.0001**30_000)] * 4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted
