"""Containers of modules and of parameters."""

from collections import OrderedDict

import pytest

import gradsmith as gs
from gradsmith import nn


class Add(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x + self.number

    def __repr__(self):
        return f"Add({self.number})"


def numbers(container):
    return [module.number for module in container]


# ---- Sequential


def test_sequential_calls_one_after_the_other():
    assert nn.Sequential(Add(1), Add(2))(0) == 3 and nn.Sequential()(5) == 5
    named = nn.Sequential(OrderedDict(first=Add(1), second=Add(2)))
    assert list(named.state_dict()) == [] and list(dict(named.named_children())) == ["first", "second"]
    assert named.first is named[0] and named[-1] is named.second and len(named) == 2


def test_sequential_is_changed_like_a_list():
    net = nn.Sequential(*map(Add, range(5)))
    assert numbers(net[1:3]) == [1, 2] and isinstance(net[1:3], nn.Sequential)
    assert list(dict(net[1:3].named_children())) == ["1", "2"]
    net[0] = Add(10)
    del net[1]
    assert numbers(net) == [10, 2, 3, 4] and list(dict(net.named_children())) == ["0", "1", "2", "3"]
    del net[::2]
    assert numbers(net) == [2, 4]
    assert numbers(net.append(Add(5)).insert(0, Add(1)).extend([Add(6)])) == [1, 2, 4, 5, 6]
    net.insert(-1, Add(7))
    assert numbers(net) == [1, 2, 4, 5, 7, 6]
    assert net.pop(0).number == 1 and numbers(net.pop(slice(0, 2))) == [2, 4] and numbers(net) == [5, 7, 6]


def test_sums_and_multiples_of_sequentials():
    a, b = nn.Sequential(Add(1)), nn.Sequential(Add(2), Add(3))
    assert numbers(a + b) == [1, 2, 3] and (a + b)[0] is a[0]
    assert numbers(b * 2) == [2, 3, 2, 3] == numbers(2 * b)
    a += b
    b *= 2
    assert numbers(a) == [1, 2, 3] and numbers(b) == [2, 3, 2, 3]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s: s[5], IndexError, "index 5 is out of range"),
        (lambda s: s["a"], TypeError, "interpreted as an integer"),
        (lambda s: s.append(3), TypeError, "int is not a Module subclass"),
        (lambda s: s.insert(0, 3), AssertionError, "module should be of type"),
        (lambda s: s.insert(9, Add(1)), IndexError, "Index out of range: 9"),
        (lambda s: s.__add__([Add(1)]), ValueError, "add operator supports only objects of Sequential class"),
        (lambda s: s * 1.5, TypeError, r"unsupported operand type\(s\) for \*"),
        (lambda s: s * 0, ValueError, "Non-positive multiplication factor 0"),
    ],
)
def test_what_sequentials_refuse(change, error, message):
    net = nn.Sequential(Add(1))
    with pytest.raises(error, match=message):
        change(net)
    assert numbers(net) == [1]


# ---- ModuleList


def test_module_lists():
    modules = nn.ModuleList(map(Add, range(3)))
    modules.append(Add(3)).extend([Add(4)])
    modules.insert(0, Add(-1))
    modules += [Add(5)]
    assert numbers(modules) == [-1, 0, 1, 2, 3, 4, 5] and len(modules) == 7
    assert numbers(modules[-2:]) == [4, 5] and modules[-1].number == 5
    assert list(dict(modules[-2:].named_children())) == ["0", "1"]
    modules[0] = Add(9)
    del modules[1:3], modules[-1]
    assert numbers(modules) == [9, 2, 3, 4] and list(dict(modules.named_children())) == ["0", "1", "2", "3"]
    assert modules.pop(1).number == 2 and numbers(modules.__add__([Add(7)])) == [9, 3, 4, 7]
    with pytest.raises(NotImplementedError):
        modules(1)
    with pytest.raises(TypeError, match="ModuleList.extend should be called with an iterable, but got int"):
        modules.extend(3)
    with pytest.raises(IndexError, match="index 3 is out of range"):
        modules[3]
    with pytest.raises(TypeError, match="is not a Module subclass"):
        modules.insert(0, 3)
    assert numbers(modules) == [9, 3, 4]


def test_modules_that_look_the_same_are_shown_once():
    modules = nn.ModuleList([Add(1), Add(1), Add(2), nn.Sequential(Add(1))])
    assert repr(modules) == (
        "ModuleList(\n  (0-1): 2 x Add(1)\n  (2): Add(2)\n  (3): Sequential(\n    (0): Add(1)\n  )\n)"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"


# ---- ModuleDict


def test_module_dicts():
    modules = nn.ModuleDict({"a": Add(1), "b": Add(2)})
    modules["c"] = Add(3)
    modules.update([("d", Add(4))])
    modules.update(nn.ModuleDict({"e": Add(5)}))
    assert list(modules) == list(modules.keys()) == list("abcde") and len(modules) == 5 and "c" in modules
    assert [module.number for module in modules.values()] == [1, 2, 3, 4, 5]
    assert modules.pop("a").number == 1 and dict(modules.items())["b"] is modules["b"]
    del modules["b"]
    modules.clear()
    assert len(modules) == 0
    with pytest.raises(KeyError):
        modules["a"]
    with pytest.raises(TypeError, match="iterable of key/value pairs, but got int"):
        modules.update(3)
    with pytest.raises(ValueError, match="sequence element #0 has length 1; 2 is required"):
        modules.update([("a",)])
    with pytest.raises(KeyError, match="attribute 'keys' already exists"):
        modules["keys"] = Add(1)


# ---- parameters


def test_parameter_lists():
    values = nn.ParameterList([gs.ones(1), nn.Parameter(gs.ones(2)), "text"])
    values.append(gs.ones(4)).extend([gs.ones(5)])
    values += [gs.ones(6)]
    assert len(values) == 6 and [name for name, _ in values.named_parameters()] == ["0", "1", "3", "4", "5"]
    assert values[2] == "text" and all(isinstance(value, nn.Parameter) for value in values if value != "text")
    assert [value.shape for value in values[-2:]] == [(5,), (6,)] and isinstance(values[:1], nn.ParameterList)
    values[0] = gs.zeros(3)
    assert values[0].shape == (3,) and values[0].requires_grad
    assert values.pop(1).shape == (2,) and [name for name, _ in values.named_parameters()] == ["0", "2", "3", "4"]
    assert values.pop().shape == (6,) and len(values) == 4
    for refused in (3, gs.ones(2)):
        with pytest.raises(TypeError, match="ParameterList.extend should be called with an iterable"):
            values.extend(refused)
    with pytest.raises(IndexError, match="index 9 is out of range"):
        values[9]
    with pytest.raises(RuntimeError, match="ParameterList should not be called"):
        values(1)


def test_parameter_dicts():
    values = nn.ParameterDict({"b": gs.ones(2), "a": gs.ones(1)})
    assert list(values) == ["a", "b"]  # a plain dict is sorted
    assert list(nn.ParameterDict(OrderedDict(b=gs.ones(2), a=gs.ones(1)))) == ["b", "a"]
    values["c"] = "text"
    assert values.setdefault("d", gs.ones(4)).shape == (4,) and values.get("e", 3) == 3 and values.get("e") is None
    assert [name for name, _ in values.named_parameters()] == ["a", "b", "d"] and len(values) == 4
    assert list(reversed(values)) == ["d", "c", "b", "a"]
    assert values.popitem()[0] == "d" and values.pop("c") == "text"
    joined = values | nn.ParameterDict({"z": gs.ones(1)})
    assert list(joined) == ["a", "b", "z"] and joined["a"] is values["a"]
    values |= {"y": gs.ones(1)}
    assert list({"x": gs.ones(1)} | values) == ["x", "a", "b", "y"]
    assert list(values.copy()) == ["a", "b", "y"] and list(values.fromkeys(["k"], 1).items()) == [("k", 1)]
    del values["a"]
    values.clear()
    assert list(values.keys()) == list(values.values()) == []
    with pytest.raises(AttributeError, match="'ParameterDict' object has no attribute 'a'"):
        values["a"]
    with pytest.raises(TypeError, match="cannot be used as a key as it is not a string"):
        values[3] = gs.ones(1)
    with pytest.raises(KeyError):
        values.popitem()
    with pytest.raises(RuntimeError, match="ParameterDict should not be called"):
        values(1)


def test_containers_of_parameters_as_text():
    assert repr(nn.ParameterList([gs.ones(2, 3), 3])) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [gradsmith.float32 of size 2x3]\n"
        "    (1): Object of type: int\n"
        ")"
    )
    assert repr(nn.ParameterDict({"a": gs.tensor(1.0)})) == (
        "ParameterDict(  (a): Parameter containing: [torch.FloatTensor of size ])"
    )
    assert repr(nn.ParameterDict({"a": nn.Parameter(gs.tensor([3]), False)})).endswith("[torch.LongTensor of size 1])")
    lazy = nn.UninitializedParameter()
    assert repr(nn.ParameterList([lazy])) == "ParameterList(  (0): <UninitializedParameter>)"
    assert repr(nn.ParameterDict({"a": lazy})) == "ParameterDict(  (a): <UninitializedParameter>)"


def test_the_old_container():
    with pytest.warns(FutureWarning, match="deprecated"):
        assert list(dict(nn.Container(a=Add(1)).named_children())) == ["a"]


def test_modules_that_contain_themselves_and_very_deep_ones():
    """Calls of one Sequential by another are no calls of Python functions, of which Python would count the depth."""
    around = nn.Sequential()
    around.add_module("inner", around)
    deep = nn.Identity()
    for _ in range(100_000):
        deep = nn.Sequential(deep)
    for module in (around, deep):
        with pytest.raises(RecursionError, match="modules in turn"):
            module(gs.ones(2))
