"""Functions with derivatives of one's own: ``primitive``, ``defvjp``, ``defjvp``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.autograd.function import Function as CustomFunction
from gradsmith.compat.hips.boxes import ArrayBox, boxed, getval, has_box, unboxed_values
from gradsmith.compat.hips.boxes import ArrayBox as Box
from gradsmith.compat.hips.operators import note_python_rule
from gradsmith.compat.hips.vector_spaces import VSpace, vspace
from gradsmith.numpy.arguments import as_tensor, np, of_dtype, wrapped
from gradsmith.runtime.tensors.factories.creation import zeros_like

__all__ = [
    "Box", "VSpace", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum",
    "defvjp_argnums", "notrace_primitive", "primitive", "register_notrace", "vspace",
]  # fmt: skip


class Primitive:
    """A function of arrays whose derivatives are given by rules."""

    def __init__(self, raw: Callable[..., Any]) -> None:
        functools.update_wrapper(self, raw)
        self.raw = raw
        self.name = getattr(raw, "__name__", repr(raw))
        self.vjps: Callable[..., Any] | None = None  # of (argnums, answer, args, kwargs), gives a function of g
        self.jvps: Callable[..., Any] | None = None  # of (argnums, gs, answer, args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if has_box(kwargs):
            raise TypeError(f"{self.name}: derivatives go by positional arguments; a named one has a box in it")
        places = [n for n, arg in enumerate(args) if isinstance(arg, ArrayBox)]
        if not places:
            return self.raw(*unboxed_values(args), **kwargs)
        note_python_rule()
        call = Call(self, unboxed_values(args), kwargs, places)
        found = Applied.apply(call, *[args[n].tensor for n in places])
        return boxed(found if call.several is None else call.several(found))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


class Call:
    """One call of a primitive: its arguments as arrays, and which of them are differentiated by."""

    def __init__(self, primitive: Primitive, args: Any, kwargs: Any, places: list[int]) -> None:
        self.primitive, self.args, self.kwargs, self.places = primitive, args, kwargs, places
        self.several: Callable[[Any], Any] | None = None  # the type of a result that is a tuple or list

    def arguments(self, tensors: Any) -> list[Any]:
        """The arguments, for rules: boxes where derivatives of the rule are wanted."""
        args = list(self.args)
        for place, tensor in zip(self.places, tensors):
            args[place] = boxed(tensor)
        return args

    def answer(self, tensors: Any) -> Any:
        return boxed(tensors[0] if self.several is None else self.several(tensors))


class Applied(CustomFunction):
    """A primitive as a node of the graph."""

    @staticmethod
    def forward(ctx: Any, call: Call, *tensors: Any) -> Any:
        args = list(call.args)
        for place, tensor in zip(call.places, tensors):
            args[place] = getval(ArrayBox(tensor))
        found = call.primitive.raw(*args, **call.kwargs)
        call.several = type(found) if isinstance(found, (tuple, list)) else None
        results = tuple(wrapped(np.array(one)) for one in (found if call.several else (found,)))
        ctx.call = call
        ctx.save_for_backward(*tensors, *results)
        ctx.save_for_forward(*tensors, *results)
        return results if call.several else results[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        call, count = ctx.call, len(ctx.call.places)
        tensors, results = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        if call.primitive.vjps is None:
            raise NotImplementedError(f"VJP of {call.primitive.name} wrt argnums {call.places} not defined")
        rule = call.primitive.vjps(call.places, call.answer(results), call.arguments(tensors), call.kwargs)
        given = [boxed(_conjugated(one)) for one in gradients]
        found = rule(given[0] if call.several is None else call.several(given))
        return (None, *(_conjugated(_as_gradient(one, like)) for one, like in zip(found, tensors)))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        call, count = ctx.call, len(ctx.call.places)
        tensors, results = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        if call.primitive.jvps is None:
            raise NotImplementedError(f"JVP of {call.primitive.name} wrt argnums {call.places} not defined")
        known = [n for n, tangent in enumerate(tangents) if tangent is not None]
        found = call.primitive.jvps(
            [call.places[n] for n in known], [boxed(tangents[n]) for n in known], call.answer(results),
            call.arguments(tensors), call.kwargs,
        )  # fmt: skip
        several = found if call.several else (found,)
        changes = tuple(_as_gradient(one, like) for one, like in zip(several, results))
        return changes if call.several else changes[0]


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


def register_notrace(trace_type: Any, primitive_fun: Primitive) -> None:
    """No derivative passes through a primitive."""
    _required(primitive_fun).vjps = lambda argnums, answer, args, kwargs: lambda g: [None] * len(argnums)
    primitive_fun.jvps = lambda argnums, gs, answer, args, kwargs: np.zeros_like(unboxed_values(answer))


def _required(fun: Any) -> Primitive:
    if not isinstance(fun, Primitive):
        raise TypeError(f"rules are given to what `primitive` has made, not to {fun!r}")
    return fun


# ---- rules of reverse mode


def defvjp_argnums(fun: Primitive, vjpmaker: Callable[..., Any]) -> None:
    """One rule for all arguments: of (argnums, answer, args, kwargs), gives a function of g with as many results."""
    _required(fun).vjps = vjpmaker


def defvjp_argnum(fun: Primitive, vjpmaker: Callable[..., Any]) -> None:
    """One rule for each argument: of (argnum, answer, args, kwargs), gives a function of g."""

    def rule(argnums: Sequence[int], answer: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
        rules = [vjpmaker(argnum, answer, args, kwargs) for argnum in argnums]
        return lambda g: [one(g) for one in rules]

    _required(fun).vjps = rule


def defvjp(fun: Primitive, *vjpmakers: Any, argnums: Sequence[int] | None = None) -> None:
    """A rule for each argument: of (answer, *args, **kwargs), gives a function of g. None is a zero gradient."""
    rules = dict(zip(range(len(vjpmakers)) if argnums is None else argnums, vjpmakers))

    def rule(argnum: int, answer: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
        if argnum not in rules:
            raise NotImplementedError(f"VJP of {fun.name} wrt argnum {argnum} not defined")
        return (lambda g: None) if rules[argnum] is None else rules[argnum](answer, *args, **kwargs)

    defvjp_argnum(fun, rule)


# ---- rules of forward mode


def defjvp_argnums(fun: Primitive, jvpmaker: Callable[..., Any]) -> None:
    """One rule for all arguments: of (argnums, gs, answer, args, kwargs), gives the tangent."""
    _required(fun).jvps = jvpmaker


def defjvp_argnum(fun: Primitive, jvpmaker: Callable[..., Any]) -> None:
    """One rule for each argument: of (argnum, g, answer, args, kwargs), gives the tangent."""

    def rule(argnums: Sequence[int], gs: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        found = [jvpmaker(argnum, g, answer, args, kwargs) for argnum, g in zip(argnums, gs)]
        return functools.reduce(_added, [one for one in found if one is not None], 0.0)

    _required(fun).jvps = rule


def _added(a: Any, b: Any) -> Any:
    if not isinstance(b, (tuple, list)):
        return a + b
    return b if isinstance(a, float) else type(b)(x + y for x, y in zip(a, b))


def defjvp(fun: Primitive, *jvpfuns: Any, argnums: Sequence[int] | None = None) -> None:
    """A rule for each argument: of (g, answer, *args, **kwargs), gives the tangent. "same" says that it is linear."""
    rules = dict(zip(range(len(jvpfuns)) if argnums is None else argnums, jvpfuns))

    def rule(argnum: int, g: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        if argnum not in rules:
            raise NotImplementedError(f"JVP of {fun.name} wrt argnum {argnum} not defined")
        chosen = rules[argnum]
        if chosen == "same":
            return fun(*(g if n == argnum else arg for n, arg in enumerate(args)), **kwargs)
        return None if chosen is None else chosen(g, answer, *args, **kwargs)

    defjvp_argnum(fun, rule)


def def_linear(fun: Primitive) -> None:
    """A primitive that is linear in each of its arguments."""
    defjvp_argnum(fun, lambda argnum, g, answer, args, kwargs: fun(*args[:argnum], g, *args[argnum + 1 :], **kwargs))
