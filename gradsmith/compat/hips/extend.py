"""Functions with derivatives of one's own: ``primitive``, ``defvjp``, ``defjvp``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradsmith.autograd.function import Function as CustomFunction
from gradsmith.compat.hips.boxes import ArrayBox, Box, Lifted, boxed, getval, has_box, unboxed_values
from gradsmith.compat.hips.containers import (
    added,
    beside,
    boxes_in,
    emptied,
    filled,
    filled_among_zeros,
    mapped_leaves,
)
from gradsmith.compat.hips.differential_operators import _make_jvp as forward
from gradsmith.compat.hips.differential_operators import _make_vjp as reverse
from gradsmith.compat.hips.differential_operators import note_python_rule
from gradsmith.compat.hips.vector_spaces import VSpace, vspace
from gradsmith.numpy.arguments import as_tensor, is_tensor, np, of_dtype, wrapped
from gradsmith.runtime.tensors.factories.creation import zeros_like

__all__ = [
    "Box", "VSpace", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum",
    "defvjp_argnums", "notrace_primitive", "primitive", "register_notrace", "vspace",
]  # fmt: skip


class Primitive:
    """A function of arrays, and of containers of them, whose derivatives are given by rules."""

    def __init__(self, raw: Callable[..., Any]) -> None:
        functools.update_wrapper(self, raw)
        self.raw = self.fun = raw
        self.name = getattr(raw, "__name__", repr(raw))
        self.vjps: Callable[..., Any] | None = None  # of (argnums, answer, args, kwargs), gives a function of g
        self.jvps: Callable[..., Any] | None = None  # of (argnums, gs, answer, args, kwargs)
        self.argnums: set[int] | None = set()  # that rules have been given for; None are all

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if has_box(kwargs):
            raise TypeError(f"{self.name}: derivatives go by positional arguments; a named one has a box in it")
        boxes = {n: found for n, arg in enumerate(args) if (found := boxes_in(arg))}
        if not any(isinstance(args[n], ArrayBox) or self.has_rule(n) for n in boxes):
            return self.raw(*args, **kwargs)  # what it does with boxes in containers is recorded step by step
        note_python_rule()
        call = Call(self, [emptied(arg) if n in boxes else arg for n, arg in enumerate(args)], kwargs, list(boxes))
        return boxed(call.answer(Applied.apply(call, *[box.tensor for found in boxes.values() for box in found])))

    def has_rule(self, argnum: int) -> bool:
        return self.argnums is None or argnum in self.argnums

    def note(self, argnums: Iterable[int]) -> None:
        """Rules have been given for some arguments."""
        if self.argnums is not None:
            self.argnums.update(argnums)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


class Call:
    """One call of a primitive: its arguments and its result, with empty boxes for what is differentiated."""

    def __init__(self, primitive: Primitive, args: list[Any], kwargs: Any, places: list[int]) -> None:
        self.primitive, self.args, self.kwargs, self.places = primitive, args, kwargs, places
        self.result: Any = None

    def filled(self, values: Any) -> list[Any]:
        """The arguments with values in their boxes."""
        following = iter(values)
        return [filled(arg, following) if n in self.places else arg for n, arg in enumerate(self.args)]

    def arguments(self, tensors: Any) -> list[Any]:
        """The arguments, for rules: boxes where derivatives of the rule are wanted."""
        return self.filled(map(boxed, tensors))

    def answer(self, tensors: Any) -> Any:
        return filled(self.result, map(boxed, tensors))

    def by_place(self, values: Sequence[Any]) -> list[tuple[int, Any]]:
        """(place of an argument, its values) of one value for each box."""
        following = iter(values)
        return [(n, [next(following) for _ in boxes_in(self.args[n])]) for n in self.places]


class Applied(CustomFunction):
    """A primitive as a node of the graph."""

    @staticmethod
    def forward(ctx: Any, call: Call, *tensors: Any) -> Any:
        found = call.primitive.raw(*call.filled(getval(ArrayBox(tensor)) for tensor in tensors), **call.kwargs)
        results: list[Any] = []
        call.result = mapped_leaves(lambda leaf: _taken(leaf, results), found)
        ctx.call = call
        ctx.save_for_backward(*tensors, *results)
        ctx.save_for_forward(*tensors, *results)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        call: Call = ctx.call
        tensors, results = _divided(call, ctx.saved_tensors)
        if call.primitive.vjps is None:
            raise NotImplementedError(f"VJP of {call.primitive.name} wrt argnums {call.places} not defined")
        rule = call.primitive.vjps(call.places, call.answer(results), call.arguments(tensors), call.kwargs)
        found = rule(filled_among_zeros(call.result, [boxed(_conjugated(one)) for one in gradients]))
        parts = [part for n, one in zip(call.places, found) for part in beside(call.args[n], one)]
        return (None, *(_conjugated(_as_gradient(one, like)) for one, like in zip(parts, tensors)))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        call: Call = ctx.call
        tensors, results = _divided(call, ctx.saved_tensors)
        if call.primitive.jvps is None:
            raise NotImplementedError(f"JVP of {call.primitive.name} wrt argnums {call.places} not defined")
        full = [zeros_like(x.detach()) if change is None else change for x, change in zip(tensors, tangents)]
        known = [n for n, changes in call.by_place(tangents) if any(change is not None for change in changes)]
        gs = [filled_among_zeros(call.args[n], map(boxed, one)) for n, one in call.by_place(full) if n in known]
        found = call.primitive.jvps(known, gs, call.answer(results), call.arguments(tensors), call.kwargs)
        return tuple(_as_gradient(one, like) for one, like in zip(beside(call.result, found), results))


def _taken(leaf: Any, results: list[Any]) -> Any:
    """Puts a number or an array of a result on a list, as a tensor; anything else stays in its place."""
    tensor = wrapped(np.array(leaf))
    if not is_tensor(tensor):
        return leaf
    results.append(tensor)
    return ArrayBox(None)


def _divided(call: Call, saved: Any) -> tuple[Any, Any]:
    """The tensors of the arguments, and those of the result."""
    count = sum(len(boxes_in(call.args[n])) for n in call.places)
    return saved[:count], saved[count:]


def _conjugated(tensor: Any) -> Any:
    return tensor.conj() if tensor.dtype.kind == "c" else tensor


def _as_gradient(value: Any, like: Any) -> Any:
    """What a rule gives, in the shape of what it belongs to; axes that were broadcast are summed."""
    if value is None:
        return zeros_like(like.detach())
    found = of_dtype(value.tensor if isinstance(value, ArrayBox) else as_tensor(np.asarray(value)), like.dtype)
    if tuple(found.shape) == tuple(like.shape):
        return found
    try:
        return found.sum_to_size(tuple(like.shape))
    except RuntimeError:
        return found.expand(like.shape)


def primitive(raw: Callable[..., Any]) -> Primitive:
    """A function of arrays that is a step of its own, with derivatives by `defvjp` and `defjvp`.

    Examples
    --------
    >>> import numpy
    >>> import gradsmith.compat.hips.numpy as np
    >>> from gradsmith.compat.hips import grad
    >>> from gradsmith.compat.hips.extend import defvjp, primitive
    >>> @primitive
    ... def logsumexp(x):
    ...     top = numpy.max(x)
    ...     return top + numpy.log(numpy.sum(numpy.exp(x - top)))
    >>> defvjp(logsumexp, lambda ans, x: lambda g: np.full(x.shape, g) * np.exp(x - np.full(x.shape, ans)))
    >>> grad(logsumexp)(np.array([1.0, 1.0]))
    array([0.5, 0.5])
    """
    return Primitive(raw)


def notrace_primitive(raw: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the values alone, through which no derivative passes."""

    @functools.wraps(raw)
    def values_only(*args: Any, **kwargs: Any) -> Any:
        return raw(*unboxed_values(args), **unboxed_values(kwargs))

    return values_only


def register_notrace(trace_type: Any, primitive_fun: Any) -> None:
    """No derivative passes through a primitive."""
    ruled = _ruled(primitive_fun)
    ruled.vjps = lambda argnums, answer, args, kwargs: lambda g: [None] * len(argnums)
    ruled.jvps = lambda argnums, gs, answer, args, kwargs: None
    ruled.argnums = None


def _ruled(fun: Any) -> Primitive:
    """The primitive that rules belong to. For a function of NumPy, they replace its own from then on.

    Rules of a function that is no primitive are never used, so they are dropped.
    """
    if isinstance(fun, Lifted):
        fun.rules = fun.rules or _with_own_rules(fun)
        return fun.rules  # type: ignore[no-any-return]
    return fun if isinstance(fun, Primitive) else Primitive(fun)


def _with_own_rules(fun: Lifted) -> Primitive:
    """A primitive with the derivatives that a function of NumPy has, until others are given."""
    made = Primitive(fun.without_rules)
    made.name = fun.__name__

    def part(argnums: Sequence[int], args: Any, kwargs: Any) -> tuple[Callable[[Any], Any], list[Any]]:
        def of_chosen(chosen: Any) -> Any:
            given = dict(zip(argnums, chosen))
            return fun.without_rules(*(given.get(n, arg) for n, arg in enumerate(args)), **kwargs)

        return of_chosen, [args[n] for n in argnums]

    made.vjps = lambda argnums, answer, args, kwargs: reverse(*part(argnums, args, kwargs))[0]
    made.jvps = lambda argnums, gs, answer, args, kwargs: forward(*part(argnums, args, kwargs))(gs)[1]
    return made


# ---- rules of reverse mode


def defvjp_argnums(fun: Any, vjpmaker: Callable[..., Any]) -> None:
    """One rule for all arguments: of (argnums, answer, args, kwargs), gives a function of g with as many results."""
    ruled = _ruled(fun)
    ruled.vjps, ruled.argnums = vjpmaker, None


def defvjp_argnum(fun: Any, vjpmaker: Callable[..., Any]) -> None:
    """One rule for each argument: of (argnum, answer, args, kwargs), gives a function of g."""
    defvjp_argnums(fun, _one_by_one(vjpmaker))


def _one_by_one(vjpmaker: Callable[..., Any]) -> Callable[..., Any]:
    def rule(argnums: Sequence[int], answer: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
        rules = [vjpmaker(argnum, answer, args, kwargs) for argnum in argnums]
        return lambda g: [one(g) for one in rules]

    return rule


def defvjp(fun: Any, *vjpmakers: Any, argnums: Sequence[int] | None = None) -> None:
    """A rule for each argument: of (answer, *args, **kwargs), gives a function of g. None is a zero gradient."""
    ruled = _ruled(fun)
    rules = dict(zip(range(len(vjpmakers)) if argnums is None else argnums, vjpmakers))

    def rule(argnum: int, answer: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
        if argnum not in rules:
            raise NotImplementedError(f"VJP of {ruled.name} wrt argnum {argnum} not defined")
        return (lambda g: None) if rules[argnum] is None else rules[argnum](answer, *args, **kwargs)

    ruled.vjps = _one_by_one(rule)
    ruled.note(rules)


# ---- rules of forward mode


def defjvp_argnums(fun: Any, jvpmaker: Callable[..., Any]) -> None:
    """One rule for all arguments: of (argnums, gs, answer, args, kwargs), gives the tangent."""
    ruled = _ruled(fun)
    ruled.jvps, ruled.argnums = jvpmaker, None


def defjvp_argnum(fun: Any, jvpmaker: Callable[..., Any]) -> None:
    """One rule for each argument: of (argnum, g, answer, args, kwargs), gives the tangent."""
    defjvp_argnums(fun, _summed(jvpmaker))


def _summed(jvpmaker: Callable[..., Any]) -> Callable[..., Any]:
    def rule(argnums: Sequence[int], gs: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        found = [jvpmaker(argnum, g, answer, args, kwargs) for argnum, g in zip(argnums, gs)]
        known = [one for one in found if one is not None]
        return functools.reduce(added, known) if known else None

    return rule


def defjvp(fun: Any, *jvpfuns: Any, argnums: Sequence[int] | None = None) -> None:
    """A rule for each argument: of (g, answer, *args, **kwargs), gives the tangent. "same" says that it is linear."""
    ruled = _ruled(fun)
    rules = dict(zip(range(len(jvpfuns)) if argnums is None else argnums, jvpfuns))

    def rule(argnum: int, g: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        if argnum not in rules:
            raise NotImplementedError(f"JVP of {ruled.name} wrt argnum {argnum} not defined")
        chosen = rules[argnum]
        if chosen == "same":
            return fun(*(g if n == argnum else arg for n, arg in enumerate(args)), **kwargs)
        return None if chosen is None else chosen(g, answer, *args, **kwargs)

    ruled.jvps = _summed(rule)
    ruled.note(rules)


def def_linear(fun: Any) -> None:
    """A primitive that is linear in each of its arguments."""
    defjvp_argnum(fun, lambda argnum, g, answer, args, kwargs: fun(*args[:argnum], g, *args[argnum + 1 :], **kwargs))
