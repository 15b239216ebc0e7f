"""`compile`: functions that are traced once for each kind of arguments, and run as programs after that."""

from __future__ import annotations

import dataclasses
import functools
import linecache
import os
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradsmith import collector
from gradsmith.compiler.arguments import Arguments, give_back, unmarked
from gradsmith.compiler.bodies import Planner
from gradsmith.compiler.captured.counting import depends_on, without_counts
from gradsmith.compiler.captured.names import CapturedNames
from gradsmith.compiler.captured.reach import Reach
from gradsmith.compiler.captured.values import CapturedValues
from gradsmith.compiler.errors import TraceError
from gradsmith.compiler.explaining import explained
from gradsmith.compiler.guards import PLAIN, is_apart, key_of_leaves, key_of_modes, objects_among
from gradsmith.compiler.options import Options
from gradsmith.compiler.tracing import Caller, Traced, Unrepeatable, Unsettled, trace_call
from gradsmith.compiler.variant import Variant, differs
from gradsmith.compiler.varying import ADVICE, what_moved, what_varies
from gradsmith.func.arrays import array_of, giving_tensors, with_arrays
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import innermost, is_tracing, trace_of_thread
from gradsmith.runtime.batching.levels import open_levels
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.engine.anomaly_mode import is_anomaly_enabled
from gradsmith.runtime.graph.tensor import from_array, from_shared_array
from gradsmith.runtime.history import saved_hooks
from gradsmith.runtime.overrides.dispatch import are_overridden
from gradsmith.runtime.programs.entry import NO_MATCH, Entry, called
from gradsmith.utils import pytree

_FOR_ENTRIES = frozenset({np.ndarray, np.float64, np.float32, *PLAIN})  # arguments that most calls for arrays have
MOST_VARIANTS = 8  # more of them warn: something varies from call to call

# Of modules that call the package again for what is a line of a user's, such as a ``with``.
_NOT_OF_USERS = frozenset({__name__.partition(".")[0], "contextlib", "functools", "copy"})
_all: weakref.WeakSet[Compiled] = weakref.WeakSet()


def forget_all() -> None:
    """Forget the programs of all compiled functions."""
    for compiled in list(_all):
        compiled.clear()


def _renew_locks() -> None:
    """In a forked child no thread is left that could give them back."""
    for compiled in list(_all):
        compiled.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class Compiled:
    """A function that runs as a program where its arguments are of a kind that it has been called with before.

    Attributes
    ----------
    programs : list of Variant
        One for each kind of arguments.
    """

    __wrapped__: Callable[..., Any]  # the function that was given

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, options
        self.arguments: Arguments | None = None
        if options.static or options.donate:
            self.arguments = Arguments(function, _name_of(function), options.static, options.donate)
            self.function = functools.update_wrapper(unmarked(function), function)
        self.captured = CapturedNames(function)
        self.variants: dict[Any, list[Variant]] = {}
        self.runs_eagerly: set[Any] = set()
        self.unsettled: set[Any] = set()  # kinds of arguments whose last trace changed which tensors require grad
        self.entries: list[Entry] = []  # of calls whose arguments are leaves
        self.entries_of_trees: list[tuple[pytree.TreeSpec, Entry]] = []
        self.lock = threading.RLock()  # held while a program is made
        self.of_arrays: Compiled | None = None  # the same for NumPy's arrays, made when it is first called with some
        _all.add(self)

    @property
    def programs(self) -> list[Variant]:
        own = [variant for variants in list(self.variants.values()) for variant in variants]
        return own if self.of_arrays is None else own + self.of_arrays.programs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.arguments is None:
            return self._called(args, kwargs)
        given = self.arguments.given_away(args, kwargs)
        found = self._called(*self.arguments.marked(args, kwargs))
        self.arguments.end(given, pytree.flatten(found)[0])
        return found

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not kwargs:
            if (found := called(self.entries, args)) is not NO_MATCH:
                return found
            if self.of_arrays is not None and _FOR_ENTRIES.issuperset(map(type, args)):
                found = called(self.of_arrays.entries, tuple([tensor_over(one) for one in args]))
                if found is not NO_MATCH:
                    return array_of(found) if isinstance(found, Tensor) else with_arrays(found)
        leaves, spec = pytree.flatten((args, kwargs))
        for known, entry in self.entries_of_trees:
            if known == spec and (found := entry.call(leaves)) is not NO_MATCH:
                return found
        if _is_for_eager(leaves):
            return self.function(*args, **kwargs)
        if are_arrays(leaves):
            over = list(map(tensor_over, leaves))
            used = spec.unflatten(over)
            found = with_arrays(self.for_arrays()._called(*used))
            give_back((args, kwargs), used, dict(zip(map(id, over), leaves)))
            return found
        key = (spec, key_of_leaves(leaves), key_of_modes(), self.captured.key())
        if key in self.runs_eagerly:
            return self.function(*args, **kwargs)
        found = self._run(key, leaves, spec)
        if found is None:
            with self.lock:
                found = self._run(key, leaves, spec)  # another thread may have made the program meanwhile
                if found is None:
                    return self._traced(key, leaves, spec, lambda: self.function(*args, **kwargs))
        return found[0]

    def for_arrays(self) -> Compiled:
        """What is called with tensors in place of NumPy's arrays; in the function methods mean what they do in NumPy.

        Arrays themselves would be constants of a program, which would not see them change.
        """
        if self.of_arrays is None:
            made = Compiled(giving_tensors(self.function), dataclasses.replace(self.options, static=(), donate=()))
            made.captured = self.captured
            self.of_arrays = made
        return self.of_arrays

    def _run(self, key: Any, leaves: list[Any], spec: pytree.TreeSpec) -> tuple[Any] | None:
        """What a program for such a call gives, if there is one."""
        for variant in self.variants.get(key, ()):
            if variant.is_for(leaves) and (found := variant.run_or_none(self._again(spec), leaves)) is not None:
                return found
        return None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method: bound to its instance as a function is."""
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> Any:
        """By its name where that is its own, else with the function that it is made of; programs are made anew."""
        name = getattr(self, "__qualname__", "")
        if "<locals>" not in name and getattr(sys.modules.get(self.__module__), name, None) is self:
            return name
        return Compiled, (self.__wrapped__, self.options)

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """The steps of the program for these arguments, which is made if need be, as text."""
        if self.arguments is not None:
            args, kwargs = self.arguments.marked(args, kwargs)
        leaves, spec = pytree.flatten((args, kwargs))
        if are_arrays(leaves):
            args, kwargs = spec.unflatten(list(map(tensor_over, leaves)))
            return self.for_arrays().explain(*args, **kwargs)
        key = (spec, key_of_leaves(leaves), key_of_modes(), self.captured.key())
        if key not in self.variants:
            self._called(args, kwargs)
        return "\n\n".join(explained(variant) for variant in self.variants.get(key, ()))

    def clear(self) -> None:
        """Forget all programs."""
        self.variants.clear()
        self.entries.clear()
        self.entries_of_trees.clear()
        self.runs_eagerly.clear()
        self.unsettled.clear()
        self.of_arrays = None

    def _again(self, spec: pytree.TreeSpec) -> Callable[[list[Any]], Any]:
        """The function itself, of leaves."""

        def run(leaves: list[Any]) -> Any:
            args, kwargs = spec.unflatten(leaves)
            return self.function(*args, **kwargs)

        run.__name__ = _name_of(self.function)
        return run

    # -- tracing

    def _traced(self, key: Any, leaves: list[Any], spec: pytree.TreeSpec, in_eager: Callable[[], Any]) -> Any:
        if len(self.programs) == MOST_VARIANTS:
            self._warn_of_variants(key)
        # A trace makes many objects that live until its end; to search these for garbage takes as long again.
        with collector.stopped():
            return self._made_and_called(key, leaves, spec, in_eager)

    def _made_and_called(self, key: Any, leaves: list[Any], spec: pytree.TreeSpec, in_eager: Callable[[], Any]) -> Any:
        try:
            traced, values = self._trace(leaves, spec)
        except TraceError as error:
            if self.options.on_escape != "eager":
                raise
            warnings.warn(f"{error}. Such calls run as they are", stacklevel=5)
            self.runs_eagerly.add(key)
            return in_eager()
        except Unsettled:
            if key in self.unsettled:  # it does so every time
                self.runs_eagerly.add(key)
            self.unsettled.add(key)
            return in_eager()
        except Unrepeatable:
            self.runs_eagerly.add(key)
            return in_eager()
        try:
            traced.reads = values.reads([*traced.trace.captured.values(), *traced.trace.constants.values()])
            traced.changes = values.changes
            values.forget()
            return self._planned(traced, key, leaves, spec, values.reach.codes)
        except BaseException:
            traced.trace.restore()
            raise
        finally:
            traced.trace.release()

    def _trace(self, leaves: list[Any], spec: pytree.TreeSpec) -> tuple[Traced, CapturedValues]:
        values = self._captured_values(leaves)
        if values.reach.iterators:
            raise Unrepeatable("an iterator from outside goes on with each call")
        try:
            return self._traced_with(values, leaves, spec), values
        except Unrepeatable:
            if not values.states:
                raise
        again = self._captured_values(leaves)
        return self._traced_with(again, leaves, spec, values.states), again

    def _captured_values(self, leaves: list[Any]) -> CapturedValues:
        reach = Reach([*self.captured.roots(), *objects_among(leaves)])
        return CapturedValues(reach, Caller(_name_of(self.function), line_of_user))

    def _traced_with(
        self, values: CapturedValues, leaves: list[Any], spec: pytree.TreeSpec, states: Sequence[Any] = ()
    ) -> Traced:
        """Trace the function, which reads copies of `states`."""

        def function(*args: Any, **kwargs: Any) -> Any:
            given = pytree.flatten((args, kwargs))
            try:
                values.copy_states(states)
                found = self.function(*args, **kwargs)
                _expect_as_given(given, (args, kwargs))
                if are_overridden([*trace_of_thread().captured.values(), *pytree.flatten(found)[0]]):
                    raise Unrepeatable("a program gives tensors of no class that overrides calls")
                made = values.take_out(found)
            except BaseException as error:
                values.restore(everything=isinstance(error, (TraceError, Unrepeatable)))
                raise
            return (found, made) if values.changes else found

        guards = self.options.on_escape == "guard"
        return trace_call(function, values.caller, leaves, spec, guards, Planner(), values.expect_nothing_left)

    def _planned(
        self, traced: Traced, key: Any, leaves: list[Any], spec: pytree.TreeSpec, codes: list[types.CodeType]
    ) -> Any:
        """The results of a traced run, with a program for the calls to come."""
        variant = Variant(traced, self.options.memory)
        variant.sharing = variant.sharing_of(leaves)
        difference = differs(variant, traced, leaves)
        if difference is not None:
            warnings.warn(
                f"compile({_name_of(self.function)}): the program does not repeat the run that it was made from "
                f"({difference} differs). The function runs as it is",
                stacklevel=6,
            )
            self.runs_eagerly.add(key)
        elif self._varies_on(variant) and len(self.variants.get(key, ())) == MOST_VARIANTS:
            self.runs_eagerly.add(key)
            self._forget(key)
        else:
            self._add(variant, key, codes)
            self._add_entry(variant, traced, leaves, spec)
        return variant.first_results(traced, leaves, self._again(spec))

    def _varies_on(self, variant: Variant) -> bool:
        """May each call need another program, as what it leaves outside, or the way that its choices go, is another?"""
        return bool(variant.changes) or (variant.has_guards and self.options.on_escape != "guard")

    def _add(self, variant: Variant, key: Any, codes: list[types.CodeType]) -> None:
        """Have calls of a kind run it, also those that find other counts than it did if that makes no difference."""
        variants = self.variants.setdefault(key, [])
        alike = [other for other in variants if other.signature == variant.signature] if variant.signature else []
        for other in alike:
            changes = without_counts(other.changes, variant.changes, codes)
            if changes is not None:
                variant.changes = changes
                variant.reads = [read for read in variant.reads if not depends_on(read, changes)]
                variants.remove(other)
                break
        variants.append(variant)

    def _add_entry(self, variant: Variant, traced: Traced, leaves: list[Any], spec: pytree.TreeSpec) -> None:
        entry = variant.short_way = variant.entry(traced, leaves, self.captured, self._again(spec))
        if entry is None or not is_apart(leaves):  # entries do not compare which arguments are the same
            return
        args, kwargs = spec.unflatten(leaves)
        if not kwargs and all(map(_is_leaf, args)):
            self.entries.insert(0, entry)
        else:
            self.entries_of_trees.insert(0, (spec, entry))

    def _forget(self, key: Any) -> None:
        """Drop the programs for a kind of calls."""
        dropped = [variant.short_way for variant in self.variants.pop(key)]
        self.entries = [entry for entry in self.entries if entry not in dropped]
        self.entries_of_trees = [(spec, entry) for spec, entry in self.entries_of_trees if entry not in dropped]

    def _warn_of_variants(self, key: Any) -> None:
        moved = [read for variant in self.variants.get(key, ()) for read in variant.moved()]
        if moved:
            varies, advice = what_moved(moved)
        else:
            varies, advice = what_varies(self.function, list(self.variants), key), ADVICE
        if not varies:
            varies, advice = "the way that its choices go", "Such calls run as they are"
        warnings.warn(
            f"compile({_name_of(self.function)}): there are {MOST_VARIANTS} programs already, and this call needs "
            f"another one. What varies: {varies}. {advice}",
            stacklevel=5,
        )


def are_arrays(leaves: list[Any]) -> bool:
    """Are there arrays of NumPy's, or its numbers of floating point, and no tensors?"""
    found = [leaf for leaf in leaves if isinstance(leaf, (np.ndarray, np.generic))]
    if not found or not all(map(_can_become_tensor, found)):
        return False
    return not any(isinstance(leaf, Tensor) for leaf in leaves)


def tensor_over(leaf: Any) -> Any:
    """A tensor over the memory of an array, or with a number of NumPy's; all else, Python's numbers too, as it is."""
    if type(leaf) is np.ndarray:
        return from_shared_array(leaf)
    return from_array(np.asarray(leaf)) if isinstance(leaf, np.generic) else leaf


def _can_become_tensor(leaf: Any) -> bool:
    if not isinstance(leaf, np.ndarray):
        return bool(leaf.dtype.kind in "fciub")
    return type(leaf) is np.ndarray and leaf.dtype.kind in "fciub" and leaf.dtype.isnative


def _expect_as_given(given: tuple[list[Any], pytree.TreeSpec], arguments: Any) -> None:
    """Refuse changes of lists and dicts among the arguments: a program is called with what these hold."""
    leaves, spec = pytree.flatten(arguments)
    if spec != given[1] or any(one is not other for one, other in zip(leaves, given[0])):
        raise Unrepeatable("the function changes a list or a dict that it is given")


def _is_leaf(value: Any) -> bool:
    return isinstance(value, Tensor) or type(value) in PLAIN


def _is_for_eager(leaves: list[Any]) -> bool:
    """Is anything watching single ops, or what they save, or are the tensors stand-ins themselves?"""
    if is_tracing() or is_anomaly_enabled() or saved_hooks.are_set() or open_levels() or are_overridden(leaves):
        return True
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    return any(leaf.is_meta for leaf in tensors) or innermost(tensors) is not None or any(map(all_tangents, tensors))


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def line_of_user() -> str:
    """The innermost line that is not the package's own: place and text."""
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_OF_USERS:
        frame = frame.f_back
    if frame is None:
        return ""
    name, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(name, number).strip()
    return f"{name}:{number}: {text}" if text else f"{name}:{number}"
