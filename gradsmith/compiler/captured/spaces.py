"""Holders of values by name or position: objects, classes, modules, containers and closure cells."""

from __future__ import annotations

import pickle
import random
import types
from collections import deque
from collections.abc import Iterable, Iterator, Set
from typing import Any, NamedTuple

import numpy as np

from gradsmith.compiler.guards import PLAIN
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.module.registry import HOOK_TABLES, TABLES
from gradsmith.runtime.programs.reads import CONTENTS, LENGTH, MISSING, Read
from gradsmith.utils import pytree

MOST_TENSORS = 10_000  # what holds more is data
MOST_ITEMS = 1000  # the same of numbers, and of what lies deeper
ASKING = frozenset({"hasattr", "getattr"})  # whether there is an attribute
ALL = object()  # the name by which the items of a list are put there together
_OF_MODULES = frozenset({"training", *TABLES, *HOOK_TABLES})
_MOST_BYTES = 1 << 16  # of an array that is compared at each call


class Captured(NamedTuple):
    """Tensors from outside that a program reads in each run."""

    ids: set[int]
    arrays: list[Any]

    def shows(self, holder: Any) -> bool:
        return isinstance(holder, np.ndarray) and any(np.may_share_memory(holder, one) for one in self.arrays)


class Space:
    """Values by names, as they were before the function ran.

    Attributes
    ----------
    holder : object
        What a `Read` asks.
    owner : str
        Whose values they are, for messages.
    before : dict
        Those that there were.
    is_foreign : bool
        Are they the package's own, which changes them as it likes?
    """

    is_foreign = False

    def __init__(self, holder: Any, owner: str) -> None:
        self.holder, self.owner = holder, owner
        self.before = dict(self.items())

    def items(self) -> Iterable[tuple[Any, Any]]:
        """All values that may be tensors."""
        raise NotImplementedError

    def named(self, words: Set[str]) -> Iterable[tuple[Any, Any]]:
        """The values that code with these names and strings can reach."""
        return self.items()

    def changed(self, words: Set[str]) -> Iterator[tuple[Any, Any]]:
        """Names, and what is there now, or `MISSING`, of what the function may have changed."""
        now = dict(self.items())
        for name, value in now.items():
            if value is not self.before.get(name, MISSING) and not _is_equal(value, self.before.get(name, MISSING)):
                yield name, value
        yield from ((name, MISSING) for name in self.before if name not in now)

    def word_of(self, name: Any) -> str | None:
        """The name by which code loads and stores a value, if there is one."""
        return None

    def put_back(self, name: Any) -> None:
        """Have a place hold what it held before the function ran."""
        if name in self.before:
            self.put(name, self.before[name])
        else:
            self.remove(name)

    def put(self, name: Any, value: Any) -> None:
        raise NotImplementedError

    def remove(self, name: Any) -> None:
        raise NotImplementedError

    def reads(self, words: Set[str], captured: Captured) -> Iterator[Read]:
        """Everything the function may have read and did not change; of tensors, only those the program uses."""
        for name, value in self.before.items():
            if isinstance(value, Tensor) and id(value) in captured.ids and self._is_there(name, value):
                yield Read(self.holder, name, value)
        for name, value in list(self.named(words)):
            if value is self.before.get(name, MISSING) and not isinstance(value, Tensor):
                yield Read(self.holder, name, value)

    def _is_there(self, name: Any, value: Any) -> bool:
        return Read(self.holder, name, value).is_there()


class Named(Space):
    """Values with names, of which those that occur in code are followed."""

    def named(self, words: Set[str]) -> Iterable[tuple[Any, Any]]:
        return [(name, value) for name, value in self.items() if name in words]

    def word_of(self, name: Any) -> str | None:
        return str(name)

    def changed(self, words: Set[str]) -> Iterator[tuple[Any, Any]]:
        """Tensors also under other names, which may have been computed."""
        for name, value in super().changed(words):
            if (name in words and not _is_internal(name)) or _holds_tensors(value):
                yield name, value


class Names(Named):
    """The `__dict__` of a module or of an object, which hides attributes of its class."""

    holder: dict[str, Any]

    def __init__(self, holder: Any, owner: str, of_class: Attributes | None = None) -> None:
        self.of_class = of_class
        super().__init__(holder, owner)

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self.holder.items()

    def put(self, name: Any, value: Any) -> None:
        self.holder[name] = value

    def remove(self, name: Any) -> None:
        del self.holder[name]

    def reads(self, words: Set[str], captured: Captured) -> Iterator[Read]:
        yield from super().reads(words, captured)
        if self.of_class is not None:
            hidden = [name for name in self.of_class.hidden_by_objects(words) if name not in self.holder]
            yield from (Read(self.holder, name, MISSING) for name in hidden)
        if not words.isdisjoint(ASKING) and len(self.before) == len(self.holder):
            yield Read(self.holder, LENGTH, len(self.holder))


class OfModule(Names):
    """That of a module of a network, whose tables are compared by its snapshot."""

    def named(self, words: Set[str]) -> Iterable[tuple[Any, Any]]:
        return [(name, value) for name, value in super().named(words) if name not in _OF_MODULES]

    def changed(self, words: Set[str]) -> Iterator[tuple[Any, Any]]:
        yield from ((name, value) for name, value in super().changed(words) if name not in _OF_MODULES)


class Variables(Names):
    """The globals that a function names."""

    def __init__(self, holder: Any, owner: str, words: Set[str]) -> None:
        self.words = set(words)
        super().__init__(holder, owner)

    def items(self) -> Iterable[tuple[Any, Any]]:
        return [(name, self.holder[name]) for name in self.words if name in self.holder]

    def named(self, words: Set[str]) -> Iterable[tuple[Any, Any]]:
        return self.items()

    def reads(self, words: Set[str], captured: Captured) -> Iterator[Read]:
        return Space.reads(self, words, captured)


class Items(Space):
    """All items of a dict, list or tuple: a loop or a computed index may read any of them."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        return list(self.holder.items() if isinstance(self.holder, dict) else enumerate(self.holder))

    def named(self, words: Set[str]) -> Iterable[tuple[Any, Any]]:
        return self.items() if len(self.holder) <= MOST_ITEMS else ()

    def put(self, name: Any, value: Any) -> None:
        if name is ALL:
            self.holder[:] = value
        else:
            self.holder[name] = value

    def remove(self, name: Any) -> None:
        del self.holder[name]

    def reads(self, words: Set[str], captured: Captured) -> Iterator[Read]:
        if isinstance(self.holder, tuple):
            return
        yield from super().reads(words, captured)
        if len(self.before) == len(self.holder):
            yield Read(self.holder, LENGTH, len(self.holder))

    def changed(self, words: Set[str]) -> Iterator[tuple[Any, Any]]:
        """Of a list that is longer or shorter, all of it at once."""
        found = list(super().changed(words))
        if isinstance(self.holder, list) and len(self.before) != len(self.holder):
            found = [(ALL, list(self.holder))]
        yield from found

    def put_back(self, name: Any) -> None:
        if name is ALL:
            self.holder[:] = self.before.values()
        else:
            super().put_back(name)


class Buffers(Items):
    """Those of a module, which its snapshot compares."""

    def reads(self, words: Set[str], captured: Captured) -> Iterator[Read]:
        yield from ()


class Attributes(Named):
    """Attributes of a class and of its bases that the user wrote; the package's own classes do not change."""

    def __init__(self, holder: Any, owner: str, bases: list[type]) -> None:
        self.bases = bases
        super().__init__(holder, owner)

    def items(self) -> Iterable[tuple[Any, Any]]:
        found: dict[str, Any] = {}
        for base in self.bases:
            for name, value in vars(base).items():
                found.setdefault(name, value)
        return found.items()

    def hidden_by_objects(self, words: Set[str]) -> list[str]:
        """Names whose meaning changes once an instance gets an attribute of that name."""
        found = [name for name, value in self.named(words) if not hasattr(type(value), "__set__")]
        return ["forward", *found] if issubclass(self.holder, Module) and "forward" not in found else found

    def put(self, name: Any, value: Any) -> None:
        setattr(self.holder, name, value)

    def remove(self, name: Any) -> None:
        delattr(self.holder, name)


class Slots(Named):
    """Attributes of an object that its class has `__slots__` for."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        members = [member for base in type(self.holder).__mro__ for member in vars(base).items()]
        names = [name for name, member in members if isinstance(member, types.MemberDescriptorType)]
        return [(name, getattr(self.holder, name)) for name in names if hasattr(self.holder, name)]

    def put(self, name: Any, value: Any) -> None:
        object.__setattr__(self.holder, name, value)

    def remove(self, name: Any) -> None:
        object.__delattr__(self.holder, name)


class Cell(Space):
    """A variable of a function around the one that reads it."""

    def __init__(self, holder: Any, owner: str, word: str) -> None:
        super().__init__(holder, owner)
        self.word = word

    def word_of(self, name: Any) -> str | None:
        return self.word

    def items(self) -> Iterable[tuple[Any, Any]]:
        try:
            return [(None, self.holder.cell_contents)]
        except ValueError:  # not set yet
            return []

    def put(self, name: Any, value: Any) -> None:
        self.holder.cell_contents = value

    def remove(self, name: Any) -> None:
        del self.holder.cell_contents


class Contents(Space):
    """All that a small array, a set or a deque holds, which is not looked into by parts."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        holder = self.holder
        if isinstance(holder, np.ndarray):
            # Of an object array the elements would be compared by their addresses.
            if holder.nbytes > _MOST_BYTES or holder.dtype.hasobject:
                return []
            return [(CONTENTS, np.array(holder, order="C"))]
        elif len(holder) > MOST_ITEMS:
            return []
        return [(CONTENTS, holder.copy())]

    def named(self, words: Set[str]) -> Iterable[tuple[Any, Any]]:
        return [(number, one) for number, one in enumerate(self.holder)] if isinstance(self.holder, deque) else []

    def changed(self, words: Set[str]) -> Iterator[tuple[Any, Any]]:
        found = [Read(self.holder, CONTENTS, copy) for copy in self.before.values()]
        yield from ((CONTENTS, self.holder) for read in found if not read.is_there())

    def put_back(self, name: Any) -> None:
        before = self.before[name]
        if isinstance(self.holder, np.ndarray):
            self.holder[...] = before
        else:
            self.holder.clear()
            (self.holder.extend if isinstance(self.holder, deque) else self.holder.update)(before)

    def reads(self, words: Set[str], captured: Captured) -> Iterator[Read]:
        if captured.shows(self.holder):
            return
        found = [Read(self.holder, CONTENTS, copy) for copy in self.before.values()]
        yield from (read for read in found if read.is_there())


class Draws(Space):
    """The state of a generator of random numbers that is not the package's own: a program would keep what it drew."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        if isinstance(self.holder, random.Random):
            return [(CONTENTS, self.holder.getstate())]
        if isinstance(self.holder, np.random.RandomState):
            return [(CONTENTS, self.holder.get_state())]
        return [(CONTENTS, self.holder.bit_generator.state)]

    def named(self, words: Set[str]) -> Iterable[tuple[Any, Any]]:
        return ()

    def changed(self, words: Set[str]) -> Iterator[tuple[Any, Any]]:
        now = dict(self.items())
        if pickle.dumps(now[CONTENTS]) != pickle.dumps(self.before[CONTENTS]):
            yield CONTENTS, now

    def put_back(self, name: Any) -> None:
        if isinstance(self.holder, random.Random):
            self.holder.setstate(self.before[name])
        elif isinstance(self.holder, np.random.RandomState):
            self.holder.set_state(self.before[name])
        else:
            self.holder.bit_generator.state = self.before[name]

    def reads(self, words: Set[str], captured: Captured) -> Iterator[Read]:
        yield from ()


def generators_of_all() -> list[Any]:
    """Python's and NumPy's, which functions of these modules draw from."""
    return [random.random.__self__, np.random.mtrand._rand]  # type: ignore[attr-defined]


def _is_equal(value: Any, before: Any) -> bool:
    return type(value) is type(before) and type(value) in PLAIN and value == before


def _holds_tensors(value: Any) -> bool:
    return any(isinstance(leaf, Tensor) for leaf in pytree.flatten(value)[0])


def _is_internal(name: Any) -> bool:
    """A name that the interpreter gives, such as `__warningregistry__`."""
    return isinstance(name, str) and name.startswith("__") and name.endswith("__")
