"""What a function leaves in attributes, items and variables outside of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gradsmith.compiler.captured.spaces import ALL, Space
from gradsmith.compiler.guards import PLAIN
from gradsmith.compiler.objects import leaves_like
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.programs.reads import MISSING
from gradsmith.utils import pytree


class Made(NamedTuple):
    """A leaf that each run makes anew: its place among the tensors that changes hold."""

    number: int


class Change:
    """A place, and what each run puts there.

    Attributes
    ----------
    space : Space
    name : object
    leaves : list
        Of what is put there; tensors of the run as `Made`.
    spec : TreeSpec or None
        None where nothing is left.
    step : int or None
        By how much an integer grew.
    added : list or None
        Numbers and strings that came to a list, whose other items stayed.
    """

    def __init__(self, space: Space, name: Any, leaves: list[Any], spec: pytree.TreeSpec | None) -> None:
        self.space, self.name, self.leaves, self.spec = space, name, leaves, spec
        before, after = space.before, leaves[0] if len(leaves) == 1 else None
        is_count = type(after) is int and type(before.get(name)) is int
        self.step: int | None = after - before[name] if is_count else None
        self.added = _added(list(before.values()), spec.unflatten(leaves)) if name is ALL and spec is not None else None

    def apply(self, made: Sequence[Any]) -> None:
        """Put there what a run has made."""
        if self.spec is None:
            self.put(MISSING)
            return
        leaves = [made[leaf.number] if isinstance(leaf, Made) else leaf for leaf in self.leaves]
        self.space.put(self.name, self.spec.unflatten(leaves))

    def now(self) -> Any:
        """What is there, or `MISSING`."""
        if self.name is ALL:
            return list(self.space.holder)
        return dict(self.space.items()).get(self.name, MISSING)

    def put(self, value: Any) -> None:
        """Put there what `now` gave."""
        if value is not MISSING:
            self.space.put(self.name, value)
        elif self.now() is not MISSING:
            self.space.remove(self.name)

    def made_now(self) -> list[Any]:
        """Those of the leaves there that a run makes."""
        if self.spec is None:
            return []
        return [one for one, leaf in zip(leaves_like(self.spec, self.now()), self.leaves) if isinstance(leaf, Made)]


class Counted(Change):
    """A count that grows by as much in each run."""

    def __init__(self, change: Change) -> None:
        self.__dict__.update(change.__dict__)

    def apply(self, made: Sequence[Any]) -> None:
        self.put(self.now() + self.step)


class Added(Change):
    """A list to which each run adds the same items."""

    def __init__(self, change: Change) -> None:
        self.__dict__.update(change.__dict__)

    def apply(self, made: Sequence[Any]) -> None:
        self.space.holder.extend(self.added)


def _added(before: list[Any], after: list[Any]) -> list[Any] | None:
    stay = len(after) > len(before) and all(one is other for one, other in zip(before, after))
    added = after[len(before) :]
    return added if stay and all(map(_is_constant, added)) else None


def _is_constant(value: Any) -> bool:
    return type(value) in PLAIN or (isinstance(value, tuple) and all(map(_is_constant, value)))


def tensors_in(leaves: Iterable[Any]) -> list[Tensor]:
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]
