"""Anomaly mode: where a failing node was recorded, and gradients that are no numbers."""

import threading
import warnings

import pytest

import gradsmith as gs

autograd = gs.autograd


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def failing(run):
    """The exception of `run`, and the warnings that came with it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises((RuntimeError, ValueError)) as error:
            run()
    return str(error.value), [str(warning.message) for warning in caught]


def test_nan_names_node_output_and_place():
    with autograd.set_detect_anomaly(True):
        y = leaf(4.0, -1.0).sqrt()  # the line that is shown
        message, warned = failing(lambda: y.sum().backward())
    assert "Function 'SqrtBackward0' returned nan values in its 0th output: 1 of 2 elements" in message
    assert "first at index [1] of shape [2]" in message
    (text,) = warned
    assert text.startswith("Error detected in SqrtBackward0. Traceback of forward call that caused the error:")
    assert "the line that is shown" in text


def test_infinity_too_unless_told_otherwise():
    with autograd.set_detect_anomaly(True):
        message, _ = failing(lambda: leaf(0.0).sqrt().sum().backward())
        assert "returned inf values" in message
    x = leaf(0.0)
    with autograd.set_detect_anomaly(True, check_inf=False):
        x.sqrt().sum().backward()
    assert x.grad.item() == float("inf")
    with autograd.set_detect_anomaly(True, check_nan=False, check_inf=False):
        leaf(-1.0).sqrt().sum().backward()


def test_an_error_of_a_hook_keeps_its_type():
    def fail(_):
        raise ValueError("in the hook")

    with autograd.set_detect_anomaly(True):
        y = leaf(1.0).exp()
        y.register_hook(fail)
        message, warned = failing(lambda: y.sum().backward())
    assert message == "in the hook"
    assert [text.split(".")[0] for text in warned] == ["Error detected in ExpBackward0"]


def test_the_chain_of_parents():
    """A node recorded by a backward names the node that was running."""
    with autograd.set_detect_anomaly(True, check_inf=False):
        x = leaf(0.0)
        y = x.sqrt()  # the first forward
        (g,) = autograd.grad(y.sum(), x, create_graph=True)
        _, warned = failing(lambda: autograd.grad((g * 0).sum(), x))
    assert len(warned) == 2
    assert warned[0].startswith("Error detected in ")
    assert "Previous calculation was induced by SqrtBackward0" in warned[1]
    assert "the first forward" in warned[1]


def test_a_forward_outside_of_the_mode():
    y = leaf(-1.0).sqrt()
    with autograd.set_detect_anomaly(True):
        _, (text,) = failing(lambda: y.sum().backward())
    assert "No forward pass information available" in text


def test_the_mode_is_of_all_threads():
    seen = []

    def work():
        y = leaf(-1.0).sqrt()
        seen.append(autograd.is_anomaly_enabled())
        with pytest.raises(RuntimeError, match="returned nan"), pytest.warns(UserWarning, match="Error detected"):
            y.backward()
        seen.append("done")

    with autograd.set_detect_anomaly(True):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [True, "done"]


def test_the_mode_is_restored():
    assert not autograd.is_anomaly_enabled()
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"), autograd.detect_anomaly():
        assert autograd.is_anomaly_enabled()
        with autograd.set_detect_anomaly(False):
            assert not autograd.is_anomaly_enabled()
        assert autograd.is_anomaly_enabled()
    assert not autograd.is_anomaly_enabled()
    y = leaf(1.0).exp()
    assert y.grad_fn.metadata == {}


def test_warnings_that_are_errors_do_not_take_the_place_of_the_error(capsys):
    with autograd.set_detect_anomaly(True):
        y = leaf(4.0, -1.0).sqrt()
        with warnings.catch_warnings(), pytest.raises(RuntimeError, match="returned nan values") as error:
            warnings.simplefilter("error")
            y.sum().backward()
    assert error.value.__cause__ is None and error.value.__context__ is None
    assert "UserWarning: Error detected in SqrtBackward0. Traceback of forward call" in capsys.readouterr().err
    x = leaf(1.0)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2] and not autograd.is_anomaly_enabled()


def test_a_warning_that_is_an_error_leaves_the_mode_off():
    with warnings.catch_warnings(), pytest.raises(UserWarning, match="Anomaly Detection has been enabled"):
        warnings.simplefilter("error")
        autograd.detect_anomaly()
    assert not autograd.is_anomaly_enabled()
