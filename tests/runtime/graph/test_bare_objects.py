"""Objects that Python makes without what they need are harmless."""

import copy

import pytest

import gradsmith as gs
from gradsmith.runtime.graph import node, tensor
from gradsmith.runtime.history import accumulate_grad, copy_slices
from gradsmith.runtime.tensors import variable


@pytest.mark.parametrize("cls", [tensor.TensorBase, variable.Variable, gs.Tensor])
def test_a_tensor_without_an_array_has_no_elements(cls):
    bare = cls.__new__(cls)
    assert bare.shape == (0,) and bare.numel() == 0 and not bare.requires_grad
    assert cls is tensor.TensorBase or "[]" in repr(bare)


def node_classes():
    found, waiting = [], [node.Node]
    while waiting:
        cls = waiting.pop()
        found.append(cls)
        waiting += cls.__subclasses__()
    return found


def test_nodes_are_not_constructed():
    assert len(node_classes()) > 100
    for cls in node_classes():
        with pytest.raises(TypeError, match="recording operations"):
            cls()


def test_a_bare_node_answers_every_question():
    for cls in node_classes():
        bare = cls.__new__(cls)
        assert bare.next_functions == ()
        assert isinstance(bare.name(), str) and repr(bare)
        for name in dir(bare):
            if name.startswith("_saved_"):
                assert not getattr(bare, name)


def test_special_nodes():
    assert accumulate_grad.AccumulateGrad.__new__(accumulate_grad.AccumulateGrad).variable is None
    assert copy_slices.CopySlices.__new__(copy_slices.CopySlices).metadata == {}


def test_a_saved_tensor_without_a_node_says_so():
    cls = type((gs.ones(2, requires_grad=True).exp()).grad_fn._raw_saved_result)
    bare = cls.__new__(cls)
    for use in (lambda: bare.data, bare.unpack, lambda: bare.register_hooks(lambda t: t, lambda t: t)):
        with pytest.raises(RuntimeError, match="belongs to no node"):
            use()


def test_subclasses_share_the_array():
    class Parameter(gs.Tensor):
        pass

    data = gs.ones(3)
    parameter = gs.Tensor._make_subclass(Parameter, data, True)
    assert type(parameter) is Parameter and parameter.requires_grad and parameter.is_leaf
    assert parameter.data_ptr() == data.data_ptr()
    (parameter * 2).sum().backward()
    assert parameter.grad.tolist() == [2, 2, 2]
    assert type(copy.deepcopy(parameter)) is Parameter
