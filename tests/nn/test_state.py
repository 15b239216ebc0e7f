"""`state_dict` and `load_state_dict`."""

import warnings
from collections import OrderedDict

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn


def model():
    return nn.Sequential(OrderedDict(first=nn.Linear(2, 3), norm=nn.BatchNorm1d(3), last=nn.Linear(3, 1, bias=False)))


NAMES = [
    "first.weight", "first.bias", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
    "norm.num_batches_tracked", "last.weight",
]  # fmt: skip


def test_a_state_has_the_tensors_and_the_versions():
    net = model()
    state = net.state_dict()
    assert list(state) == NAMES and isinstance(state, OrderedDict)
    assert state._metadata["norm"] == {"version": 2} and list(state._metadata) == ["", "first", "norm", "last"]
    assert not state["first.weight"].requires_grad
    state["first.weight"].fill_(7.0)  # it is the same memory
    assert net.first.weight[0, 0].item() == 7.0
    assert net.state_dict(keep_vars=True)["first.weight"] is net.first.weight
    assert next(iter(net.state_dict(prefix="net."))) == "net.first.weight"
    given = {}
    assert net.state_dict(destination=given) is given and list(given) == NAMES
    with pytest.warns(FutureWarning, match="Positional args"):
        assert next(iter(net.state_dict({}, "x."))) == "x.first.weight"


def test_a_state_goes_into_another_module():
    source, target = model(), model()
    parameters = list(target.parameters())
    result = target.load_state_dict(source.state_dict())
    assert repr(result) == "<All keys matched successfully>" and result.missing_keys == []
    assert all(a is b for a, b in zip(parameters, target.parameters()))
    for own, given in zip(target.state_dict().values(), source.state_dict().values()):
        np.testing.assert_array_equal(own.numpy(), given.numpy())
    target.first.weight.data.fill_(0.0)
    assert source.first.weight.any()


def test_tensors_can_be_assigned():
    target = model()
    state = {name: tensor.clone() for name, tensor in model().double().state_dict().items()}
    target.load_state_dict(state, assign=True)
    assert target.first.weight.dtype == gs.float64 and isinstance(target.first.weight, nn.Parameter)
    assert target.norm.running_mean is state["norm.running_mean"]
    assert target.first.weight.data_ptr() == state["first.weight"].data_ptr()


def test_errors_are_listed_together():
    state = model().state_dict()
    state["other.weight"] = state.pop("first.bias")
    state["first.extra"] = gs.ones(1)
    state["last.weight"] = gs.ones(2, 2)
    state["norm.weight"] = [1.0]
    target = model()
    with pytest.raises(RuntimeError) as raised:
        target.load_state_dict(state)
    assert str(raised.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "first.bias". \n'
        '\tUnexpected key(s) in state_dict: "other.weight", "first.extra". \n'
        '\tWhile copying the parameter named "norm.weight", expected gradsmith.Tensor or Tensor-like object from '
        "checkpoint but received <class 'list'>\n"
        "\tsize mismatch for last.weight: copying a param with shape (2, 2) from checkpoint, the shape in current "
        "model is (1, 3)."
    )


def test_names_need_not_fit():
    state = model().state_dict()
    del state["first.bias"]
    state["more"] = gs.ones(1)
    result = model().load_state_dict(state, strict=False)
    assert result == (["first.bias"], ["more"])
    assert repr(result) == "_IncompatibleKeys(missing_keys=['first.bias'], unexpected_keys=['more'])"
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'list'>"):
        model().load_state_dict([])


def test_a_state_is_not_changed_by_being_loaded():
    state = {"bias": gs.ones(3), "weight": gs.ones(3, 2)}
    layer = nn.Linear(2, 3)
    layer.register_load_state_dict_pre_hook(lambda module, state, *rest: state.clear())
    layer.load_state_dict(state, strict=False)
    assert len(state) == 2


def test_numbers_may_have_a_dimension_in_old_states():
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(gs.tensor(1.0))

    scale = Scale()
    scale.load_state_dict({"scale": gs.tensor([3.0])})
    assert scale.scale.item() == 3.0


def test_loading_is_not_recorded_and_needs_no_grad_mode():
    layer = nn.Linear(2, 3)
    layer.load_state_dict(nn.Linear(2, 3).state_dict(keep_vars=True))
    assert layer.weight.is_leaf and layer.weight.requires_grad


def test_a_state_on_meta_is_a_warning():
    with pytest.warns(UserWarning, match="copying from a non-meta parameter in the checkpoint to a meta parameter"):
        nn.Linear(2, 3, device="meta").load_state_dict(nn.Linear(2, 3).state_dict())
    layer = nn.Linear(2, 3, device="meta")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer.load_state_dict(nn.Linear(2, 3).state_dict(), assign=True)
    assert not layer.weight.is_meta


def test_batch_normalizations_of_the_first_version():
    state = dict(nn.BatchNorm1d(2).state_dict())
    del state["num_batches_tracked"]
    layer = nn.BatchNorm1d(2)
    layer.load_state_dict(state)
    assert layer.num_batches_tracked.item() == 0


# ---- more than tensors


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 3

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]


def test_extra_state():
    net = nn.Sequential(Counting())
    net[0].count = 5
    state = net.state_dict()
    assert state == {"0._extra_state": {"count": 5}}
    other = nn.Sequential(Counting())
    other.load_state_dict(state)
    assert other[0].count == 5
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0._extra_state"'):
        other.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "0._extra_state"'):
        nn.Sequential(nn.ReLU()).load_state_dict(state)
    with pytest.raises(RuntimeError, match="should never be called"):
        nn.ReLU().get_extra_state()


# ---- hooks


def test_hooks_of_states():
    calls = []
    layer = nn.Linear(1, 1)
    layer.register_state_dict_pre_hook(lambda module, prefix, keep_vars: calls.append(("pre", prefix, keep_vars)))
    layer.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.update(extra=metadata["version"]))
    net = nn.Sequential(layer)
    assert list(net.state_dict()) == ["0.weight", "0.bias", "extra"] and calls == [("pre", "0.", False)]
    instead = layer._register_state_dict_hook(lambda module, state, prefix, metadata: {"only": 1})
    assert layer.state_dict() == {"only": 1}
    instead.remove()
    layer.register_state_dict_post_hook(lambda *args: 3)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        layer.state_dict()


def test_hooks_of_loading():
    def rename(module, state, prefix, metadata, strict, missing, unexpected, errors):
        state[prefix + "weight"] = state.pop(prefix + "w")

    layer = nn.Linear(1, 1, bias=False)
    layer.register_load_state_dict_pre_hook(rename)
    layer.load_state_dict({"w": gs.ones(1, 1)})
    assert layer.weight.item() == 1.0

    other = nn.Linear(1, 1)
    handle = other.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert other.load_state_dict({}).missing_keys == []
    handle.remove()
    other.register_load_state_dict_post_hook(lambda module, keys: keys)
    with pytest.raises(AssertionError, match="not expected to return new values"):
        other.load_state_dict(other.state_dict())
