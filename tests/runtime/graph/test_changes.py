"""The error for a saved tensor that was changed in place says what changed it, and where."""

import sys

import numpy as np
import pytest

import gradsmith as gs

HERE = "test_changes.py"


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def line():
    return sys._getframe(1).f_lineno


def message_of(root):
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        root.sum().backward()
    return str(caught.value)


def test_an_op_is_named():
    y = leaf([1.0, 2.0]) * 2
    z = y * y
    y.mul_(3); where = line()  # fmt: skip  # noqa: E702
    text = message_of(z)
    assert f"changed by mul_ at {__file__}:{where}, in test_an_op_is_named." in text
    assert "is at version 1; expected version 0" in text


def test_a_change_through_a_view():
    y = leaf([1.0, 2.0]) * 2
    z = y * y
    y[0] = 5.0; where = line()  # fmt: skip  # noqa: E702
    text = message_of(z)
    assert f"{HERE}:{where}, in test_a_change_through_a_view" in text


def test_a_change_of_the_base_of_a_saved_view():
    y = leaf([1.0, 2.0]) * 2
    z = y[1:] * y[1:]
    with gs.no_grad():
        y.zero_(); where = line()  # fmt: skip  # noqa: E702
    assert f"changed by zero_ at {__file__}:{where}," in message_of(z)


def test_an_output_that_was_changed():
    x = leaf([1.0, 2.0])
    y = x.exp()
    end = y * 1
    y.mul_(2.0); where = line()  # fmt: skip  # noqa: E702
    assert f"changed by mul_ at {__file__}:{where}," in message_of(y)
    del y
    assert f"changed by mul_ at {__file__}:{where}," in message_of(end)


def test_several_changes_in_order():
    y = leaf([1.0, 2.0]) * 2
    y.add_(1)
    z = y * y
    y.mul_(3)
    gs.autograd.graph.increment_version(y)
    text = message_of(z)
    assert text.index("mul_ at") < text.index("then by increment_version at")
    assert "add_" not in text


def test_out():
    y = leaf([1.0, 2.0]) * gs.ones(2)
    constant = gs.ones(2, dtype=gs.float64)
    z = y * constant
    gs.add(constant, constant, out=constant)
    assert "changed by add at" in message_of(z)


def test_a_refused_change_is_not_named():
    y = leaf([1.0, 2.0]) * 2
    z = y * y
    with pytest.raises(RuntimeError):
        y.add_(gs.ones(3, 2, dtype=gs.float64))
    y.mul_(2)
    text = message_of(z)
    assert "mul_ at" in text
    assert "add_" not in text


def test_no_notes_of_what_is_not_saved():
    from gradsmith.runtime.graph import changes

    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    noted = []
    before = changes.note
    changes.note = lambda *arguments: noted.append(arguments)
    try:
        with gs.no_grad():
            x.mul_(2)
        y = x * x
        with gs.no_grad():
            x.mul_(2)
    finally:
        changes.note = before
    assert len(noted) == 1
    del y
