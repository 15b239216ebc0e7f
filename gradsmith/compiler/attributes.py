"""Tensors in attributes and buffers, and in lists and dicts that are attributes; numbers and strings beside them.

A traced tensor is nothing outside of its trace. Where a function puts one into an attribute, the tensor that was there
before stays, and takes the values of the new one at the end of each run. What a program reads of attributes has to be
the very tensors that it was made with. Numbers and strings that the function may have looked at have to be as they
were, but for those that it changed itself: it may count its calls.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Set
from typing import Any, NamedTuple

import numpy as np

from gradsmith.compiler.guards import PLAIN, key_of_value
from gradsmith.compiler.tracing import Caller
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module
from gradsmith.runtime.batching.batch import is_batched_tensor, physical, trace_of_thread
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.utils import pytree

_NO_OWNERS = (types.ModuleType, types.FunctionType, types.MethodType, type)
_OF_MODULES = ("_parameters", "_modules", "_buffers")
_MOST = 10_000  # what holds more is data
_MOST_OWNERS = 1000  # objects that are looked into
_MOST_NUMBERS = 100  # the same of numbers without names, and of what lies inside of others
_MISSING = object()


class Read(NamedTuple):
    """A tensor that a program reads, or what else its function looked at, and where it was found."""

    names: Any
    name: Any
    value: Any

    def is_there(self) -> bool:
        found = _item(self.names, self.name)
        if found is self.value:
            return True
        return not isinstance(self.value, Tensor) and key_of_value(found) == key_of_value(self.value)


class _Table(NamedTuple):
    """A dict or list with what it held, and by which attributes and items it was found."""

    owner: Any
    names: Any
    before: dict[Any, Any]
    path: tuple[Read, ...]

    def items(self) -> list[tuple[Any, Any]]:
        return list(_items(self.names))


class Attributes:
    """Those of the objects that a function captures.

    Parameters
    ----------
    objects : iterable
        Of modules, with the modules inside them, of lists and dicts, and of other objects their own attributes.
    caller : Caller
        Makes errors.
    looked_up : set of str
        Names of attributes and items by which the function may come to objects inside of others.
    """

    def __init__(self, objects: Iterable[Any], caller: Caller, looked_up: Set[str]) -> None:
        self.caller, self.looked_up = caller, looked_up
        self.tables = list(_tables(objects, looked_up))

    def write(self, found: Any) -> None:
        """Write tensors that have been put into attributes to those before; `found` is what the function gives."""
        changed = [
            (table, name, value)
            for table in self.tables
            for name, value in table.items()
            if isinstance(value, Tensor) and value is not table.before.get(name) and is_batched_tensor(value)
        ]
        pairs = []
        for table, name, value in changed:
            old = table.before.get(name, _MISSING)
            why_not = None if old is _MISSING else _why_not(old, value)
            if why_not is not None and _may_have_been_read(old):
                raise self.caller.error(
                    f"the function puts a tensor of shape {list(value.shape)} into {name!r} of a "
                    f"{type(table.owner).__name__}, {why_not}"
                )
            if old is _MISSING or why_not is not None:
                continue  # reading it outside of the program raises an error that says to return it
            pairs.append((old, value.detach()))
            table.names[name] = old
        if pairs:
            self._expect_unseen([old for old, _ in pairs], found)
            values = [value if len(pairs) == 1 else value.clone() for _, value in pairs]
            with no_grad():
                for (old, _), value in zip(pairs, values):
                    old.copy_(value)

    def read(self, captured: Iterable[Any]) -> list[Read]:
        """Where those are that the program reads, and what its function may have looked at by one of the names."""
        known = set(map(id, captured))
        found: dict[tuple[int, Any], Read] = {}
        for table in self.tables:
            reads = [
                Read(table.names, name, value)
                for name, value in table.before.items()
                if (id(value) in known if isinstance(value, Tensor) else self._is_looked_at(table, name, value))
            ]
            path = [one for one in table.path if one.is_there()] if reads else []  # others the function has changed
            found.update(((id(one.names), one.name), one) for one in (*path, *reads))
        return list(found.values())

    def _is_looked_at(self, table: _Table, name: Any, value: Any) -> bool:
        if type(value) not in PLAIN or name == "training":  # which the key of a call has
            return False
        is_named = name in self.looked_up if isinstance(name, str) else len(table.before) <= _MOST_NUMBERS
        return is_named and _item(table.names, name) is value

    def restore(self) -> None:
        """Put back what was there, after a trace that has failed."""
        for table in self.tables:
            for name, value in reversed(table.items()):
                if not (isinstance(value, Tensor) and is_batched_tensor(value)):
                    continue
                if name in table.before:
                    table.names[name] = table.before[name]
                else:
                    del table.names[name]

    def _expect_unseen(self, written: list[Tensor], found: Any) -> None:
        """Refuse results that share memory with an attribute, which is overwritten before the caller sees them."""
        for one in pytree.flatten(found)[0]:
            if not isinstance(one, Tensor):
                continue
            array = array_behind(physical(one) if is_batched_tensor(one) else one)
            if any(np.may_share_memory(array, array_behind(old)) for old in written):
                raise self.caller.error(
                    "the function returns the memory of an attribute that it puts another tensor into: return a clone()"
                )


def _item(names: Any, name: Any) -> Any:
    if isinstance(names, dict):
        return names.get(name, _MISSING)
    return names[name] if name < len(names) else _MISSING


def _why_not(old: Any, value: Tensor) -> str | None:
    """Why a program cannot write `value` to what was there before, and what to do; None where it can."""
    if not isinstance(old, Tensor):
        return (
            f"which was {type(old).__name__} before: later calls would not see it. Make a tensor of that shape before "
            "the first call, or return it"
        )
    if value.requires_grad or old.requires_grad:
        return "and it has a history, which ends with the call: detach() it, or return it"
    if old.shape != value.shape or old.dtype != value.dtype:
        return (
            f"which was one of shape {list(old.shape)} and {old.dtype.name} before. A program writes to tensors that "
            "there are: keep the shape and the dtype, or return it"
        )
    return None


def _may_have_been_read(old: Any) -> bool:
    """Not so the weight that a hook of `weight_norm` computes before anything else."""
    return not isinstance(old, Tensor) or any(old is one for one in trace_of_thread().captured.values())


def _is_looked_through(value: Any) -> bool:
    return type(value) in (list, dict) and len(value) <= _MOST


def _items(names: Any) -> Iterable[tuple[Any, Any]]:
    return names.items() if isinstance(names, dict) else enumerate(names)


def _tables(objects: Iterable[Any], looked_up: Set[str]) -> Iterator[_Table]:
    """Each dict or list that may hold tensors."""
    seen: set[int] = set()
    owners = [owner for one in objects for owner in (one.modules() if isinstance(one, Module) else [one])]
    waiting: list[tuple[Any, tuple[Read, ...]]] = [(owner, ()) for owner in reversed(owners)]
    while waiting and len(seen) < _MOST_OWNERS:
        owner, path = waiting.pop()
        if id(owner) in seen or isinstance(owner, _NO_OWNERS):
            continue
        seen.add(id(owner))
        for names, where in _names_of(owner, path):
            if names is not owner and id(names) in seen:
                continue
            seen.add(id(names))
            yield _Table(owner, names, dict(_items(names)), where)
            if names is owner or _is_of_user(owner):
                waiting += [(one.value, (*where, one)) for one in _inner(names, looked_up)]


def _names_of(owner: Any, path: tuple[Read, ...]) -> Iterator[tuple[Any, tuple[Read, ...]]]:
    """Dicts and lists of an object, its own and those in its attributes, and by which way each is found."""
    if _is_looked_through(owner):
        yield owner, path
    names = getattr(owner, "__dict__", None)
    if not isinstance(names, dict) or isinstance(owner, Tensor):
        return
    yield names, path
    for name, value in names.items():
        if _is_looked_through(value) and name not in _OF_MODULES:
            yield value, (*path, Read(names, name, value))
    if isinstance(owner, Module):
        yield owner._buffers, path


def inner_objects(objects: Iterable[Any]) -> list[Any]:
    """Objects that others hold in attributes and items, however deep."""
    found: dict[int, Any] = {}
    waiting = list(objects)
    while waiting and len(found) < _MOST_OWNERS:
        owner = waiting.pop()
        for names in (owner if _is_looked_through(owner) else None, getattr(owner, "__dict__", None)):
            if names is None or isinstance(owner, _NO_OWNERS) or not (names is owner or _is_of_user(owner)):
                continue
            new = [one.value for one in _inner(names, None) if id(one.value) not in found]
            found.update((id(one), one) for one in new)
            waiting += new
    return list(found.values())


def _inner(names: Any, looked_up: Set[str] | None) -> list[Read]:
    """What a dict or list holds that may hold numbers or tensors itself; what has a name by one of those looked up."""
    if not _is_small(names):
        return []
    named = [
        Read(names, name, value) for name, value in _items(names) if looked_up is None or _is_named(name, looked_up)
    ]
    return [one for one in named if _is_small(one.value) or _has_attributes(one.value)]


def _is_small(value: Any) -> bool:
    return _is_looked_through(value) and len(value) <= _MOST_NUMBERS


def _is_named(name: Any, looked_up: Set[str]) -> bool:
    return type(name) is not str or name in looked_up


def _has_attributes(value: Any) -> bool:
    if isinstance(value, (*_NO_OWNERS, Tensor, Module)) or not _is_of_user(value):
        return False
    return isinstance(getattr(value, "__dict__", None), dict)


def _is_of_user(owner: Any) -> bool:
    """Not an optimizer or a generator: what these hold is read in each run."""
    return isinstance(owner, Module) or type(owner).__module__.partition(".")[0] not in ("gradsmith", "numpy")
