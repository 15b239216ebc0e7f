"""Observers: what a recorder sees of ops, also of those that raise."""

import pytest

import gradsmith as gs
from gradsmith.runtime.history.observers import install, uninstall
from gradsmith.runtime.observers.recorder import Recorder, record_function


@pytest.fixture
def recorder():
    made = Recorder(record_shapes=True)
    install(made)
    yield made
    uninstall(made)


def names(recorder):
    return [(span.name, span.parent and span.parent.name, span.failed) for span in recorder.take()]


def test_ops_are_seen_when_they_end_and_inside_what(recorder):
    x = gs.tensor([1.0, 2.0])
    (x * 2).tanh_()
    gs.std(x, 0, unbiased=False)
    assert names(recorder) == [
        ("mul", None, False),
        ("tanh_", None, False),
        ("std", "std", False),
        ("std", None, False),
    ]


def test_shapes_and_sequence_numbers(recorder):
    x = gs.ones((2, 3), requires_grad=True)
    y = x + gs.ones(3)
    (span,) = [s for s in recorder.take() if s.name == "add"]
    assert span.shapes == ((2, 3), (3,))
    assert span.sequence_nr == y.grad_fn._sequence_nr()
    assert span.start < span.end


def test_an_op_that_raises_has_failed(recorder):
    x = gs.ones((2, 3))
    for _ in range(3):
        with pytest.raises(RuntimeError):
            x @ x
    x + 1
    assert names(recorder) == [("matmul", None, True)] * 3 + [("add", None, False)]


def test_an_op_inside_one_that_goes_on(recorder):
    """The parts of a composite are inside it; a part that failed is too."""
    with record_function("mine"):
        with pytest.raises(RuntimeError):
            gs.ones(3).reshape_as(gs.ones(2))
        gs.ones(3) * 2
    seen = names(recorder)
    assert ("mul", "mine", False) in seen
    assert ("reshape_as", "mine", True) in seen
    assert ("reshape", "reshape_as", True) in seen
    assert seen[-1] == ("mine", None, False)


def test_observers_nest_and_leave_in_order(recorder):
    inner = Recorder()
    install(inner)
    gs.ones(2) * 2
    with pytest.raises(RuntimeError, match="innermost"):
        uninstall(recorder)
    uninstall(inner)
    gs.ones(2) + 2
    assert names(inner) == [("mul", None, False)]
    assert [name for name, _, _ in names(recorder)] == ["mul", "add"]


def test_nobody_is_watched_without_an_observer():
    made = Recorder()
    install(made)
    uninstall(made)
    gs.ones(2) * 2
    assert names(made) == []
