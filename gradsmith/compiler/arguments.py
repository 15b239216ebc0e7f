"""Arguments that a caller has said something about: static ones, and those that are given away."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradsmith.func.arrays import with_arrays
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import VmapLevel, batched
from gradsmith.runtime.programs.entry import exchange_memory
from gradsmith.runtime.tensors.factories.creation import zeros
from gradsmith.utils import pytree


class Static:
    """A value that a program takes for granted; equal to that of an equal value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Arguments:
    """Which parameters of a function are static, and which are given away.

    Parameters
    ----------
    function : callable
    name : str
        Of the function, for errors.
    static, donate : sequence of str or int
        Parameters, by name or position.
    """

    def __init__(self, function: Callable[..., Any], name: str, static: Sequence[Any], donate: Sequence[Any]) -> None:
        self.name = name
        self.parameters = list(inspect.signature(function).parameters.values())
        self.static, self.donate = self._named("static", static), self._named("donate", donate)
        if both := self.static & self.donate:
            raise ValueError(f"compile({name}): {sorted(both)[0]!r} is both in static and in donate")
        self._known: dict[Any, Static] = {}

    def marked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call, static ones as `Static`, which is the same object for equal values."""
        if not self.static:
            return args, kwargs
        names = self._names_of(args)
        marked = tuple([self._mark(name, one) if name in self.static else one for name, one in zip(names, args)])
        return marked, {name: self._mark(name, one) if name in self.static else one for name, one in kwargs.items()}

    def given_away(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Tensor]]:
        """Tensors that belong to the function from now on, with the names of their parameters."""
        named = [*zip(self._names_of(args), args), *kwargs.items()]
        found = [
            (name, leaf)
            for name, one in named
            if name in self.donate
            for leaf in pytree.flatten(one)[0]
            if isinstance(leaf, Tensor)
        ]
        for name, tensor in found:
            if tensor.requires_grad:
                raise RuntimeError(
                    f"compile({self.name}): argument {name!r} is donated, but requires grad: its backward will want "
                    "it; detach() it, or leave it out of donate="
                )
        return found

    def end(self, given: list[tuple[str, Tensor]], results: list[Any]) -> None:
        """Have donated tensors refuse to be used, but for those that are results themselves."""
        for name, tensor in given:
            if all(tensor is not one for one in results):
                end_tensor(tensor, Donated(self.name, name))

    def _names_of(self, args: tuple[Any, ...]) -> Iterator[str]:
        """Of positional arguments; those of ``*args`` have none."""
        for place in range(len(args)):
            parameter = self.parameters[place] if place < len(self.parameters) else None
            if parameter is None or parameter.kind not in (
                inspect.Parameter.POSITIONAL_ONLY,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
            ):
                yield from ("",) * (len(args) - place)
                return
            yield parameter.name

    def _mark(self, name: str, value: Any) -> Static:
        if isinstance(value, Tensor):
            raise TypeError(
                f"compile({self.name}): argument {name!r} is static, but is a tensor: leave it out of static="
            )
        try:
            return self._known.setdefault((type(value), value), Static(value))
        except TypeError:
            raise TypeError(
                f"compile({self.name}): argument {name!r} is static and of type {type(value).__name__}, which cannot "
                "be hashed; a tuple can, or an object with __hash__ and __eq__"
            ) from None

    def _named(self, option: str, wanted: Sequence[Any]) -> set[str]:
        names = [parameter.name for parameter in self.parameters]
        found = set()
        for one in wanted:
            is_place = isinstance(one, int) and not isinstance(one, bool)
            if is_place and -len(names) <= one < len(names):
                found.add(names[one])
            elif isinstance(one, str) and one in names:
                found.add(one)
            else:
                raise ValueError(
                    f"compile({self.name}): {option}= has {one!r}, but the parameters are {', '.join(names) or 'none'}"
                )
        return found


def unmarked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of arguments some of which are `Static`."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_value_of, args), **{name: _value_of(one) for name, one in kwargs.items()})

    return called


def _value_of(one: Any) -> Any:
    return one.value if isinstance(one, Static) else one


class Donated:
    """Makes the error of a tensor that has been given away."""

    def __init__(self, function: str, argument: str) -> None:
        self.function, self.argument = function, argument

    def error(self, text: str, kind: type[Exception] = RuntimeError) -> Exception:
        return kind(
            f"compile({self.function}): a tensor that was donated to it as {self.argument!r} is used; clone() it "
            "before the call, or leave it out of donate="
        )

    def ended(self) -> Donated:
        return self


def end_tensor(tensor: Tensor, call: Donated) -> None:
    """Let go of its memory, and have every use of it raise the error that `call` makes."""
    level = VmapLevel(1, "same", call)
    ended = batched(zeros((), dtype=tensor.dtype).expand(1, *tensor.shape), level)
    level.close()
    exchange_memory(tensor, ended)


def give_back(given: Any, used: Any, originals: dict[int, Any]) -> Any:
    """Put what a function did to its copies of lists and dicts into those that its caller gave; returns the argument.

    Parameters
    ----------
    given, used : object
        An argument, and what the function was called with: the same, with tensors over its arrays.
    originals : dict
        The arrays by the ids of these tensors.
    """
    if type(given) is not type(used) or not isinstance(given, (tuple, list, dict)):
        return originals[id(used)] if id(used) in originals else with_arrays(used)
    if isinstance(given, dict):
        entries = {key: give_back(given.get(key), other, originals) for key, other in used.items()}
        if entries.keys() != given.keys() or any(entries[key] is not given[key] for key in given):
            given.clear()
            given.update(entries)
        return given
    known = (*given, *[None] * (len(used) - len(given)))
    found = [give_back(one, other, originals) for one, other in zip(known, used)]
    if isinstance(given, list):
        given[:] = found
    return given
