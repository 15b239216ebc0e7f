"""Inference mode: what it makes, and what may be done with that outside."""

import threading

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def test_what_is_an_inference_tensor():
    x = leaf([1.0, 2.0, 3.0])
    with gs.inference_mode():
        assert gs.is_inference_mode_enabled()
        assert not gs.is_grad_enabled()
        made = gs.ones(3)
        product = x * 2
        view = x[1:]
        part = made[1:]
    assert not gs.is_inference_mode_enabled()
    assert gs.is_grad_enabled()
    assert made.is_inference() and product.is_inference() and part.is_inference()
    assert not product.requires_grad
    assert not x.is_inference() and not view.is_inference() and not x.detach().is_inference()
    assert made[1:].is_inference() and made.detach().is_inference() and made.data.is_inference()
    assert not made.clone().is_inference()
    assert not gs.ones(3).is_inference()


def test_nothing_is_recorded_whatever_is_enabled_inside():
    x = leaf([1.0])
    with gs.inference_mode(), gs.enable_grad():
        assert gs.is_grad_enabled()
        y = x * 2
    assert not y.requires_grad
    assert y.is_inference()


def test_a_way_out():
    x = leaf([1.0])
    with gs.inference_mode(), gs.inference_mode(False):
        assert not gs.is_inference_mode_enabled()
        y = x * 2
    assert y.requires_grad and not y.is_inference()
    with gs.no_grad(), gs.inference_mode(False):
        assert gs.is_grad_enabled()


@pytest.mark.parametrize("mode", [True, False])
def test_modes_are_restored(mode):
    for outer in (gs.no_grad(), gs.enable_grad(), gs.inference_mode()):
        with outer:
            before = gs.is_grad_enabled(), gs.is_inference_mode_enabled()
            with pytest.raises(KeyError), gs.inference_mode(mode):
                raise KeyError
            assert (gs.is_grad_enabled(), gs.is_inference_mode_enabled()) == before


def test_as_a_decorator():
    @gs.inference_mode()
    def with_call(x):
        return x * 2

    @gs.inference_mode
    def without_call(x):
        return x * 2

    @gs.inference_mode(mode=False)
    def ordinary(x):
        return x * 2

    @gs.inference_mode()
    def numbers():
        yield gs.is_inference_mode_enabled()

    x = leaf([1.0])
    assert with_call(x).is_inference()
    assert without_call(x).is_inference()
    with gs.inference_mode():
        assert ordinary(x).requires_grad
    generator = numbers()
    assert next(generator)
    assert not gs.is_inference_mode_enabled()


def test_no_version():
    with gs.inference_mode():
        made = gs.ones(3)
        made.add_(1)
    with pytest.raises(RuntimeError, match="do not track version counter"):
        _ = made._version


def test_not_saved_for_backward():
    x = leaf([1.0, 2.0])
    with gs.inference_mode():
        made = gs.ones(2, dtype=gs.float64)
    with pytest.raises(RuntimeError, match="cannot be saved for backward, and MulBackward0 needs one"):
        x * made
    (x + made).sum().backward()
    (x * made.clone()).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 2.0])


def test_not_changed_in_place_outside():
    with gs.inference_mode():
        made = gs.ones(3)
    for block in (gs.enable_grad(), gs.no_grad()):
        with block, pytest.raises(RuntimeError, match="add_: Inplace update to inference tensor"):
            made.add_(1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        gs.add(gs.ones(3), 1, out=made)
    with gs.inference_mode():
        made.add_(1)
    assert made.tolist() == [2.0, 2.0, 2.0]
    assert not gs.ones(3).copy_(made).is_inference()


def test_does_not_begin_to_require_grad_outside():
    with gs.inference_mode():
        made = gs.ones(3)
        inside = gs.ones(3, requires_grad=True)
    assert inside.requires_grad
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        made.requires_grad_()


def test_views_made_inside_of_ordinary_tensors():
    base = leaf([1.0, 2.0]) * 1
    with gs.inference_mode():
        view = base[:1]
        base.add_(1)
    assert base._version == 1
    with pytest.raises(RuntimeError, match="A view was created in inference mode .* in normal mode"):
        view.mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in inference mode"):
        view.view(1).mul_(2)
    with gs.no_grad():
        view.mul_(2)
    assert base.tolist() == [4.0, 3.0]


def test_of_one_thread():
    seen = []
    with gs.inference_mode():
        thread = threading.Thread(
            target=lambda: seen.append((gs.is_inference_mode_enabled(), gs.ones(1).is_inference()))
        )
        thread.start()
        thread.join()
    assert seen == [(False, False)]


def test_increment_version_is_for_others():
    with gs.inference_mode():
        made = gs.ones(3)
    gs.autograd.graph.increment_version(made)


def test_no_forward_mode_inside():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.ones(2), gs.ones(2))
        with gs.inference_mode():
            inside = x * 2
        with gs.no_grad():
            outside = x * 2
        assert forward_ad.unpack_dual(inside).tangent is None
        assert forward_ad.unpack_dual(outside).tangent.tolist() == [2.0, 2.0]


def test_the_function_asks_what_the_method_does():
    with gs.inference_mode():
        made = gs.ones(1)
    assert gs.is_inference(made) and made.is_inference() and not gs.is_inference(gs.ones(1))
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        gs.is_inference(3)
