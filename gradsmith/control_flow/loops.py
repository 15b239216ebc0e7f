"""`fori_loop` and `while_loop`: a state that is carried from step to step."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from gradsmith.control_flow.checks import is_true, require_callable
from gradsmith.control_flow.choices.slices import chosen, differs, holds_for_any, is_known, one_truth, operands_of
from gradsmith.control_flow.choices.traced import chosen_in_runs, is_traced
from gradsmith.control_flow.once import ran_in_trace
from gradsmith.control_flow.steps import Steps
from gradsmith.control_flow.trees import TensorTree
from gradsmith.control_flow.unknown import Unknown
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.tensors.factories.python_data import is_tensor


def fori_loop(lower: int, upper: int, body: Callable[[int, Any], Any], carry: Any) -> Any:
    """Apply ``carry = body(i, carry)`` for i from `lower` to `upper` - 1.

    Parameters
    ----------
    lower, upper : int
        Bounds of i, an ``int``; tensors of one integer are taken too. There is no step unless `lower` is smaller.
    body : callable
        Takes i and the state, and gives the next state.
    carry : tree of tensors
        The state before the first step. Numbers and arrays become tensors.

    Returns
    -------
    tree of tensors
        The state after the last step.

    Raises
    ------
    RuntimeError
        A step changes the structure of the state, or the shape or dtype of a tensor in it.
    TypeError
        A bound is no integer, or the state has something that is no tensor.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.fori_loop(1, 4, lambda i, x: x * i, gs.tensor(1.0))
    tensor(6.)
    """
    require_callable("fori_loop", "body", body)
    state = TensorTree("fori_loop", "carry", carry)
    numbers = range(_bound("lower", lower), _bound("upper", upper))
    if is_tracing() and numbers:
        return state.built(_ran_in_trace(body, state, numbers))
    tensors = state.tensors
    for i in numbers:
        tensors = state.flat(body(i, state.built(tensors)))
    return state.built(tensors)


def _ran_in_trace(body: Callable[[int, Any], Any], state: TensorTree, numbers: range) -> list[Any]:
    """As a scan without rows and results. It is traced once if the body does nothing with i but hand it on."""
    each = iter(numbers)

    def step(carry: Any, _: Any) -> tuple[Any, None]:
        return body(next(each), carry), None

    steps = Steps(step, state, TensorTree("fori_loop", "xs", None), False)
    of_any = partial(_step_of_any, body, Unknown())
    return ran_in_trace(steps, state.tensors, (), len(numbers), f=of_any)


def _step_of_any(body: Callable[[Any, Any], Any], i: Unknown, carry: Any, _: Any) -> tuple[Any, None]:
    return body(i, carry), None


def _bound(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"fori_loop(): argument '{name}' must be an integer, not {type(value).__name__}") from None


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carry: Any, max_steps: int | None = None
) -> Any:
    """Apply ``carry = body_fn(carry)`` as long as ``cond_fn(carry)`` holds.

    Backward goes through the steps that were made.

    Parameters
    ----------
    cond_fn : callable
        Takes the state, and gives a bool or a tensor of one element.
    body_fn : callable
        Takes the state, and gives the next.
    carry : tree of tensors
        The state before the first step. Numbers and arrays become tensors. Both functions take a tuple or a list item
        by item, as in PyTorch, unless `cond_fn` has room for one argument only.
    max_steps : int, optional
        More steps than that are an error, so that no loop runs for ever.

    Returns
    -------
    tree of tensors
        The first state for which `cond_fn` does not hold.

    Raises
    ------
    RuntimeError
        `max_steps` were made and `cond_fn` still holds; a step changes the structure of the state, or the shape or
        dtype of a tensor in it; `cond_fn` gives several values.
    TypeError
        `cond_fn` gives no truth value, or the state has something that is no tensor.

    Notes
    -----
    In a `vmap` the loop goes on until `cond_fn` holds for no slice, and a slice keeps the first state for which it does
    not. Steps are computed for all slices, also for those that are done.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.while_loop(lambda x: x < 100, lambda x: x * 3, gs.tensor(2.0))
    tensor(162.)
    >>> gs.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, gs.tensor(1.0)))
    (tensor(3), tensor(8.))
    """
    require_callable("while_loop", "cond_fn", cond_fn)
    require_callable("while_loop", "body_fn", body_fn)
    state = TensorTree("while_loop", "carry", carry)
    is_spread = isinstance(carry, (tuple, list)) and not hasattr(carry, "_fields") and _takes(cond_fn, len(carry))
    tensors = state.tensors
    steps = 0
    running: Any = True
    while True:
        current = state.built(tensors)
        args = tuple(current) if is_spread else (current,)
        holds = cond_fn(*args)
        if is_traced(holds) or (differs(holds) and not is_known(holds)):
            left = None if max_steps is None else max_steps - steps
            return _in_program([cond_fn, body_fn], carry if steps == 0 else current, left)
        running = _going_on(running, holds)
        if not holds_for_any(running):
            return current
        if max_steps is not None and steps >= max_steps:
            raise RuntimeError(f"while_loop(): cond_fn still holds after max_steps={max_steps} steps")
        following = state.flat(body_fn(*(operands_of(running, args) if differs(running) else args)))
        tensors = chosen("while_loop", running, following, tensors) if differs(running) else following
        steps += 1


def _going_on(running: Any, holds: Any) -> Any:
    """Does a loop that is `running` go on? From where slices of a `vmap` differ on, a truth value for each."""
    what = "what cond_fn gives"
    if not (differs(running) or differs(holds)):
        return is_true("while_loop", what, holds)
    truth = one_truth("while_loop", what, holds) if is_tensor(holds) else is_true("while_loop", what, holds)
    return truth & running


def _in_program(functions: list[Callable[..., Any]], carry: Any, max_steps: int | None) -> Any:
    """A step of a program, which makes as many steps as each run needs. See choices/traced.py."""

    def run(functions: list[Callable[..., Any]], given: Any) -> Any:
        return while_loop(functions[0], functions[1], given, max_steps)

    return chosen_in_runs("while_loop", functions, carry, run)


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Can it be called with so many arguments? Of some builtins nobody knows."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True
