"""Python's containers and questions of type, which take a box for the array in it."""

from __future__ import annotations

import builtins as _python
from typing import Any

from gradsmith.compat.hips.boxes import ArrayBox, getval, has_box
from gradsmith.compat.hips.vector_spaces import (
    ContainerVSpace,
    DictVSpace,
    ListVSpace,
    NamedTupleVSpace,
    SequenceVSpace,
    TupleVSpace,
)

__all__ = [
    "ContainerVSpace", "DictBox", "DictVSpace", "ListVSpace", "NamedTupleVSpace", "SequenceBox", "SequenceVSpace",
    "TupleVSpace", "dict", "isinstance", "list", "tuple", "type",
]  # fmt: skip

isinstance_, type_, tuple_, list_, dict_ = _python.isinstance, _python.type, _python.tuple, _python.list, _python.dict


def isinstance(value: Any, kinds: Any) -> bool:
    """Python's, and of a box whether its value is one."""
    return isinstance_(value, kinds) or (isinstance_(value, ArrayBox) and isinstance_(getval(value), kinds))


def type(value: Any, *more: Any) -> Any:
    """Python's, of a box that of its value."""
    return type_(value, *more) if more else type_(getval(value))


# ---- containers
#
# Boxes live in Python's own lists, tuples and dicts. There, containers of boxes are of other classes, which libraries
# ask for and register beside Python's: hence classes of the same names, that make and recognize Python's.


class _Known(_python.type):
    """Of a class: what its instances are, and what is true of them besides."""

    own: Any
    boxes_alone = False

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance_(instance, cls.own) and (not cls.boxes_alone or has_box(instance))


class tuple(_python.tuple[Any, ...], metaclass=_Known):
    """Makes Python's tuples."""

    own = tuple_

    def __new__(cls, items: Any = ()) -> Any:
        return tuple_(items)


class list(_python.list[Any], metaclass=_Known):
    """Makes Python's lists."""

    own = list_

    def __new__(cls, items: Any = ()) -> Any:
        return list_(items)


class dict(_python.dict[Any, Any], metaclass=_Known):
    """Makes Python's dicts."""

    own = dict_

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return dict_(*args, **kwargs)


class SequenceBox(metaclass=_Known):
    """Lists and tuples with boxes in them are its instances."""

    own, boxes_alone = (list_, tuple_), True

    def __new__(cls, value: Any, *trace_and_node: Any) -> Any:
        return value


class DictBox(metaclass=_Known):
    """Dicts with boxes in them are its instances."""

    own, boxes_alone = dict_, True

    def __new__(cls, value: Any, *trace_and_node: Any) -> Any:
        return value
