"""Attributes that a user sets on tensors: what keeps, copies and collects them."""

import copy
import gc
import pickle
import weakref

import pytest

import gradsmith as gs


def with_attribute(requires_grad=True):
    x = gs.ones(2, requires_grad=requires_grad)
    x.notes = [1]
    return x


def test_a_tensor_takes_any_attribute():
    x = with_attribute()
    assert x.notes == [1] and x.__dict__ == vars(x) == {"notes": [1]} and "notes" in dir(x)
    assert gs.ones(1).__dict__ == {}
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = x.missing
    del x.notes
    assert not hasattr(x, "notes")
    with pytest.raises(AttributeError):
        del x.notes


def test_the_dict_can_be_replaced():
    x = with_attribute()
    x.__dict__ = {"a": 1}
    assert x.a == 1 and not hasattr(x, "notes")
    del x.__dict__
    assert x.__dict__ == {}
    with pytest.raises(TypeError, match="must be set to a dictionary"):
        x.__dict__ = 3


@pytest.mark.parametrize("name", ["shape", "is_leaf", "dtype", "grad_fn", "_version"])
def test_what_a_tensor_has_already_is_not_hidden(name):
    with pytest.raises(AttributeError):
        setattr(with_attribute(), name, 3)


def test_results_have_no_attributes_of_their_operands():
    x = with_attribute()
    for result in (x * 1, x.detach(), x.view(2), x.data, x.clone()):
        assert result.__dict__ == {}


def test_a_saved_tensor_has_its_attributes():
    x = with_attribute()
    assert x.sin().grad_fn._saved_self.notes is x.notes


def test_copies():
    x = with_attribute()
    deep, shallow, stored = copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))
    assert deep.notes == stored.notes == [1] and deep.notes is not x.notes
    assert shallow.notes is x.notes and shallow.__dict__ is not x.__dict__
    assert all(duplicate.requires_grad for duplicate in (deep, shallow, stored))


def test_copies_of_a_tensor_that_refers_to_itself():
    x = with_attribute()
    x.me = x
    for duplicate in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert duplicate.me is duplicate


def test_the_attributes_of_a_gradient_are_copied_with_it():
    x = with_attribute()
    x.grad = gs.ones(2)
    x.grad.count = 3
    assert copy.deepcopy(x).grad.count == 3


# ---- cycles


def leaf():
    return gs.ones(4, requires_grad=True)


def itself():
    x = gs.ones(2)
    x.me = x
    return x


def own_result():
    x = leaf()
    x.result = x.sin()
    return x


def gradient():
    x = leaf()
    x.sum().backward()
    x.grad.parameter = x
    return x


def gradient_that_was_attached_to():
    x, z = gs.ones(4), leaf()
    x.held = []
    z.grad = x
    x.held.append(z)
    return x


def saved_output():
    y = leaf().exp()
    y.result = (y * y).sum()
    return y


def through_the_dict():
    x = gs.ones(2)
    x.__dict__["me"] = x
    return x


def view_of_a_view():
    x = leaf() * 1
    x.result = x[:2].sin()
    return x


def recorded_after_the_attribute():
    x = gs.ones(4)
    x.results = []
    x.results.append(gs.cat([x, leaf()]).prod() * gs.stack([x, leaf()]).sum())
    return x


def after_a_number():
    x = gs.ones(4)
    x.number, x.text = 1, "one"
    x.result = (x * leaf()).sum()
    return x


def index_of_a_result():
    index = gs.tensor([0, 1])
    index.results = []
    index.results.append(leaf()[index])
    return index


CYCLES = [
    itself, own_result, gradient, gradient_that_was_attached_to, saved_output, through_the_dict, view_of_a_view,
    recorded_after_the_attribute, after_a_number, index_of_a_result,
]  # fmt: skip


@pytest.mark.parametrize("build", CYCLES, ids=lambda build: build.__name__)
def test_cycles_are_collected(build):
    gc.collect()
    watched = weakref.ref(build())
    gc.collect()
    assert watched() is None


def test_attributes_die_with_the_tensor():
    class Note:
        pass

    x, note = gs.ones(2), Note()
    x.note, watched = note, weakref.ref(note)
    del note, x
    assert watched() is None


def test_a_tensor_has_no_room_for_more_than_before():
    """Attributes cost nothing where there are none: neither memory nor a slower look-up of methods."""
    assert gs.Tensor.__dictoffset__ > 0
    assert gs.Tensor.__basicsize__ - object.__basicsize__ == 64
