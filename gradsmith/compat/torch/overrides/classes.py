"""Overridable methods, operators and properties of tensors.

Each subclass of Tensor gets overridable versions of Tensor's members, except for those that it, or a class between the
two, defines itself. From then on the methods of plain tensors that take arguments are overridable as well, since the
class of ``y`` may override ``x.add(y)``, and so are the operators of classes such as Parameter that override nothing.
Operators of plain tensors can stay as they are: Python tries the right operand of ``x + y`` first if its class is a
subclass of the left one's. Once a mode has been entered, all members are overridable.
"""

from __future__ import annotations

import functools
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.overrides.dispatch import _disabled_torch_function_impl, start
from gradsmith.runtime.overrides.methods import (
    OverridableMethod,
    OverridableOperator,
    OverridableProperty,
    OverridableReflected,
)
from gradsmith.runtime.tensors.numpy_names.element_count import OverridableCount

# How Python makes and keeps an object: none of these computes anything.
_OF_OBJECTS = frozenset((
    "__new__", "__init__", "__init_subclass__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__",
    "__dict__", "__doc__", "__dir__", "__class__", "__sizeof__", "__subclasshook__", "__torch_function__",
    "__array_function__", "__array_ufunc__", "__array_priority__", "_make_subclass", "__reduce_cython__",
    "__setstate_cython__",
))  # fmt: skip
# The equivalent methods of operators, which overrides are given.
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
# For these it does not matter on which side a number is.
_EITHER_WAY = {"__radd__": "add", "__rmul__": "mul"}
_WITHOUT_ARGUMENTS = (None, "($self)", "($self, /)")


class OverridableSize(OverridableMethod):
    """`size`, which is the number of elements where it is not called."""

    def __get__(self, instance: Any, owner: type | None) -> Any:
        method = super().__get__(instance, owner)
        return method if instance is None else OverridableCount(instance, method)


def make_class_overridable(cls: type) -> None:
    """Make the members of a new subclass of Tensor overridable.

    Parameters
    ----------
    cls : type
        The subclass.
    """
    start()
    above = cls.__mro__[: cls.__mro__.index(Tensor)]
    own = frozenset[str]().union(*map(vars, above))
    for name, member in {**overridable_members(), "__iter__": _iter}.items():
        if name not in own:
            setattr(cls, name, member)


def make_methods_overridable() -> None:
    """Make the methods of plain tensors that take arguments overridable, and the operators of parameters."""
    for name, member in overridable_members().items():
        if isinstance(member, OverridableMethod) and _takes_arguments(name) and not name.startswith("__"):
            setattr(Tensor, name, member)
    for cls in Tensor.__subclasses__():
        if getattr(cls, "__torch_function__", None) is _disabled_torch_function_impl:
            make_operators_overridable(cls)


def make_operators_overridable(cls: type) -> None:
    """Make the operators of a subclass of Tensor overridable by the other operand."""
    for name, member in overridable_members().items():
        if isinstance(member, OverridableOperator) and name not in vars(cls):
            setattr(cls, name, member)


def make_all_members_overridable() -> None:
    """Make all members of plain tensors overridable."""
    for name, member in overridable_members().items():
        setattr(Tensor, name, member)


def _takes_arguments(name: str) -> bool:
    return getattr(getattr(Tensor, name), "__text_signature__", None) not in _WITHOUT_ARGUMENTS


@functools.cache
def overridable_members() -> dict[str, Any]:
    """The overridable version of each member of Tensor, by name."""
    found: dict[str, Any] = {}
    for base in reversed(Tensor.__mro__[:-1]):
        found.update((name, member) for name, member in vars(base).items() if name not in _OF_OBJECTS)
    made = {name: _overridable(name, member) for name, member in found.items() if name != "__iter__"}
    return {name: member for name, member in made.items() if member is not None}


def _overridable(name: str, member: Any) -> Any:
    if hasattr(type(member), "__get__") and hasattr(type(member), "__set__"):
        return OverridableProperty(member)
    if not callable(member) or isinstance(member, staticmethod):
        return None
    if name in _OPERATORS:
        return OverridableOperator(name, _method_of(name), Tensor)
    forward = name.replace("__r", "__", 1)
    if name.startswith("__r") and forward in _OPERATORS:
        return OverridableReflected(name, getattr(Tensor, _EITHER_WAY.get(name, name)), Tensor, _method_of(forward))
    return (OverridableSize if name == "size" else OverridableMethod)(getattr(Tensor, name))


def _method_of(operator: str) -> Any:
    return getattr(Tensor, _METHODS.get(operator, operator))


def _iter(self: Any) -> Any:
    """Iterate over the first dimension, by calls that are overridable."""
    return iter(self.unbind(0) if self.dim() else Tensor.__iter__(self))
