"""Calls of modules and their attributes, which are found by compiled code: what Python would do, it does too."""

import gc
import sys

import pytest

import gradsmith as gs
from gradsmith import nn


class Doubling(nn.Module):
    def forward(self, x=1, *more, scale=2, **named):
        return (x * scale, *more, *named.items()) if more or named else x * scale


def test_arguments_arrive():
    double = Doubling()
    assert double(3) == 6 and double() == 2 and double(3, scale=5) == 15 and double(x=4) == 8
    many = tuple(range(10))
    assert double(*many) == (0, *many[1:])
    assert double(1, 2, other=3) == (2, 2, ("other", 3))
    assert double(*[7], scale=1) == 7
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        double(1, x=2)


def test_errors_come_through():
    class Failing(nn.Module):
        def forward(self, x):
            raise KeyError(x)

    with pytest.raises(KeyError, match="'a'"):
        Failing()("a")


def test_forward_may_be_anything():
    class Static(nn.Module):
        @staticmethod
        def forward(x):
            return x + 1

    class ByClass(nn.Module):
        @classmethod
        def forward(cls, x):
            return cls.__name__, x

    class Borrowed(nn.Module):
        forward = abs

    assert Static()(1) == 2 and ByClass()(1) == ("ByClass", 1) and Borrowed()(-2) == 2
    module = Static()
    module.forward = lambda x: x * 10
    assert module(1) == 10
    del module.forward
    assert module(1) == 2
    Static.forward = lambda self, x: x - 1
    assert module(1) == 0


def test_calls_can_be_overridden_and_patched():
    class Loud(Doubling):
        def __call__(self, x):
            return "loud", super().__call__(x)

    class Child(Loud):
        pass

    class Plain(Doubling):
        pass

    plain = Plain()
    assert Loud()(1) == ("loud", 2) == Child()(1) and plain(1) == 2
    Plain.__call__ = lambda self, x: "patched"
    assert plain(1) == "patched"
    del Plain.__call__
    assert plain(1) == 2
    assert nn.Module.__call__(plain, 2) == 4


def test_a_module_that_was_not_initialized():
    class Forgetful(Doubling):
        def __init__(self):
            pass

    with pytest.raises(AttributeError, match=r"cannot call a module before Module.__init__\(\) call"):
        Forgetful()(1)
    with pytest.raises(AttributeError, match="'Forgetful' object has no attribute 'weight'"):
        Forgetful().weight  # noqa: B018


# ---- attributes


def test_own_ways_to_find_attributes():
    class Wrapping(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    class Outer(Wrapping):
        pass

    for cls in (Wrapping, Outer):
        wrapped = cls(nn.Linear(2, 3))
        assert wrapped.in_features == 2 and wrapped.weight is wrapped.inner.weight
        with pytest.raises(AttributeError, match="'Linear' object has no attribute 'none'"):
            wrapped.none  # noqa: B018


def test_classes_may_change_later():
    class Late(nn.Module):
        pass

    late = Late()
    assert not hasattr(late, "answer")
    Late.__getattr__ = lambda self, name: 42
    assert late.answer == 42
    del Late.__getattr__
    assert not hasattr(late, "answer")
    Late.__getattribute__ = lambda self, name: "all"
    assert late.training == "all"
    del Late.__getattribute__
    assert late.training is True
    Late.weight = property(lambda self: "of the class")
    late._parameters["weight"] = nn.Parameter(gs.ones(1))
    assert late.weight == "of the class"


def test_a_property_that_fails_falls_back_on_the_tables():
    class Failing(nn.Module):
        @property
        def weight(self):
            raise AttributeError("not yet")

        @property
        def other(self):
            raise ValueError("broken")

    module = Failing()
    with pytest.raises(AttributeError, match="'Failing' object has no attribute 'weight'"):
        module.weight  # noqa: B018
    module._parameters["weight"] = weight = nn.Parameter(gs.ones(1))
    assert module.weight is weight
    with pytest.raises(ValueError, match="broken"):
        module.other  # noqa: B018


def test_tables_may_be_replaced():
    module = nn.Linear(1, 1)
    module.__dict__["_parameters"] = {"weight": 3}
    assert module.weight == 3 and not hasattr(module, "bias")
    module.__dict__["_buffers"] = None  # what is no table is passed over by the search
    module.__dict__["_parameters"] = {}
    assert module.training is True


def test_other_bases_are_possible():
    class Keyed(nn.Module, dict):
        pass

    keyed = Keyed()
    keyed["a"] = 1
    keyed.weight = nn.Parameter(gs.ones(1))
    assert keyed == {"a": 1} and list(keyed.state_dict()) == ["weight"]


def test_nothing_leaks():
    module, x = nn.Linear(2, 2), gs.ones(1, 2)
    name = "".join(["wei", "ght"])
    counts = []
    for _ in range(3):
        for _ in range(200):
            module(x)
            getattr(module, name)
            getattr(module, "none", None)
        gc.collect()
        counts.append((sys.getrefcount(module), sys.getrefcount(module.weight), sys.getrefcount(module.__dict__)))
    assert counts[0] == counts[1] == counts[2]
