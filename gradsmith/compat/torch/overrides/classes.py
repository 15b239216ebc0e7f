"""Methods, operators and properties of tensors that ask classes first.

Each class over Tensor gets members of its own around those of Tensor; what it, or a class between, defines itself
stays. As soon as there is such a class, methods of plain tensors that take arguments ask too: ``x.add(y)`` may be taken
over by the class of ``y``. So do operators of classes that take nothing over, such as Parameter; Python itself prefers
the right operand of ``x + y`` when its class is one over that of the left. From the first mode on, all members ask.
"""

from __future__ import annotations

import functools
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.overrides.methods import AskingMethod, AskingOperator, AskingProperty, AskingReflected
from gradsmith.runtime.overrides.taken_over import _disabled_torch_function_impl, start

# How Python makes and keeps an object: none of these computes anything.
_OF_OBJECTS = frozenset((
    "__new__", "__init__", "__init_subclass__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__",
    "__dict__", "__doc__", "__dir__", "__class__", "__sizeof__", "__subclasshook__", "__torch_function__",
    "__array_function__", "__array_ufunc__", "__array_priority__", "_make_subclass", "__reduce_cython__",
    "__setstate_cython__",
))  # fmt: skip
# What classes are asked about is the method that an operator stands for.
_METHODS = {
    "__add__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_", "__mul__": "mul", "__imul__": "mul_",
    "__truediv__": "div", "__itruediv__": "div_", "__mod__": "remainder", "__matmul__": "matmul", "__neg__": "neg",
    "__pos__": "positive", "__abs__": "abs", "__invert__": "bitwise_not", "__ne__": "ne", "__lt__": "lt",
    "__le__": "le", "__gt__": "gt", "__ge__": "ge",
}  # fmt: skip
# Operators that refuse an operand by NotImplemented, with two tensors or one.
_OPERATORS = frozenset(
    (*_METHODS, "__and__", "__eq__", "__floordiv__", "__lshift__", "__or__", "__pow__", "__rshift__", "__xor__")
)
# It does not matter where a number stands.
_EITHER_WAY = {"__radd__": "add", "__rmul__": "mul"}
_WITHOUT_ARGUMENTS = (None, "($self)", "($self, /)")


def ask_class(cls: type) -> None:
    """Have the methods, operators and properties of a class over Tensor ask it first.

    Parameters
    ----------
    cls : type
        Just made.
    """
    start()
    above = cls.__mro__[: cls.__mro__.index(Tensor)]
    own = frozenset[str]().union(*map(vars, above))
    for name, member in {**asking_members(), "__iter__": _iter}.items():
        if name not in own:
            setattr(cls, name, member)


def ask_in_methods() -> None:
    """Have the methods of plain tensors that take arguments ask, and the operators of parameters."""
    for name, member in asking_members().items():
        if isinstance(member, AskingMethod) and _takes_arguments(name) and not name.startswith("__"):
            setattr(Tensor, name, member)
    for cls in Tensor.__subclasses__():
        if getattr(cls, "__torch_function__", None) is _disabled_torch_function_impl:
            ask_in_operators(cls)


def ask_in_operators(cls: type) -> None:
    """Have the operators of a class over Tensor ask that of the other operand."""
    for name, member in asking_members().items():
        if isinstance(member, AskingOperator) and name not in vars(cls):
            setattr(cls, name, member)


def ask_in_all_members() -> None:
    """Have all members of plain tensors ask."""
    for name, member in asking_members().items():
        setattr(Tensor, name, member)


def _takes_arguments(name: str) -> bool:
    return getattr(getattr(Tensor, name), "__text_signature__", None) not in _WITHOUT_ARGUMENTS


@functools.cache
def asking_members() -> dict[str, Any]:
    """What stands for each member of Tensor, by name."""
    found: dict[str, Any] = {}
    for base in reversed(Tensor.__mro__[:-1]):
        found.update((name, member) for name, member in vars(base).items() if name not in _OF_OBJECTS)
    asking = {name: _asking(name, member) for name, member in found.items() if name != "__iter__"}
    return {name: member for name, member in asking.items() if member is not None}


def _asking(name: str, member: Any) -> Any:
    if hasattr(type(member), "__get__") and hasattr(type(member), "__set__"):
        return AskingProperty(member)
    if not callable(member) or isinstance(member, staticmethod):
        return None
    if name in _OPERATORS:
        return AskingOperator(name, _method_of(name), Tensor)
    forward = name.replace("__r", "__", 1)
    if name.startswith("__r") and forward in _OPERATORS:
        return AskingReflected(name, getattr(Tensor, _EITHER_WAY.get(name, name)), Tensor, _method_of(forward))
    return AskingMethod(getattr(Tensor, name))


def _method_of(operator: str) -> Any:
    return getattr(Tensor, _METHODS.get(operator, operator))


def _iter(self: Any) -> Any:
    """The slices along the first dimension, which have the class that results have."""
    return iter(self.unbind(0) if self.dim() else Tensor.__iter__(self))
