"""``autograd.util``: tuples with other items, and graphs in order.

`flatten`, `flatten_func` and `quick_grad_check` were here in HIPS autograd's older releases.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradsmith.compat.hips.misc.flatten import flatten, flatten_func
from gradsmith.compat.hips.test_util import check_grads

__all__ = ["flatten", "flatten_func", "func", "quick_grad_check", "subval", "subvals", "toposort"]


def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """The items of `x`, with values in place of some: `ivs` has pairs of a place and its value."""
    items = list(x)
    for place, value in ivs:
        items[place] = value
    return tuple(items)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """The items of `x`, with a value in place of one."""
    return subvals(x, [(i, v)])


def func(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a method: in Python 3 the method of a class is one already."""
    return f


def toposort(end_node: Any, parents: Callable[[Any], Iterable[Any]] = operator.attrgetter("parents")) -> Iterator[Any]:
    """The nodes of a graph, each before its parents."""
    children: Counter[Any] = Counter()
    waiting = [end_node]
    while waiting:
        node = waiting.pop()
        children[node] += 1
        if children[node] == 1:
            waiting.extend(parents(node))
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            children[parent] -= 1
            if not children[parent]:
                ready.append(parent)


def quick_grad_check(
    fun: Callable[..., Any],
    arg0: Any,
    extra_args: Any = (),
    kwargs: dict[str, Any] | None = None,
    verbose: bool = True,
    eps: float = 1e-4,
    rtol: float = 1e-4,
    atol: float = 1e-6,
    rs: Any = None,
) -> None:
    """`check_grads` of the gradient by the first argument; what says how has no effect."""
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)
