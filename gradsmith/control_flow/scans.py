"""`scan`: a state carried over the rows of tensors, and what each step gives, stacked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradsmith.control_flow.checks import require_callable
from gradsmith.control_flow.once import ran_in_trace
from gradsmith.control_flow.segments import ran_in_segments
from gradsmith.control_flow.steps import Steps
from gradsmith.control_flow.trees import TensorTree
from gradsmith.runtime.batching.batch import is_tracing


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    checkpoint: int | str | None = None,
) -> tuple[Any, Any]:
    """Apply ``carry, y = f(carry, x)`` for each row x of `xs`, and stack the y.

    Parameters
    ----------
    f : callable
        Takes the state and a row, and gives the next state and a result: trees of tensors, or None for no result.
    carry : tree of tensors
        The state before the first step. Numbers and arrays become tensors.
    xs : tree of tensors, optional
        Their first dimension, of one length n, is gone through. Without it every x is None.
    length : int, optional
        The number n of steps, which is needed where `xs` does not tell it.
    reverse : bool
        Begin with the last row. Results keep the order of the rows.
    checkpoint : int or "sqrt", optional
        Keep for backward only the states after every so many steps, and run the steps between them again: memory for
        n / k states and k steps in place of n steps. "sqrt" takes the root of n, which needs the least memory. `f` must
        do the same when it is called again; random numbers are drawn as in the first run. Where tangents are carried
        along, or slices by a `vmap`, everything is kept.

    In a compiled function a loop of many steps is traced once, if one step stands for all.

    Returns
    -------
    carry : tree of tensors
        The state after the last step.
    ys : tree of tensors
        The results of all steps, of shape (n, ...). None if there was no step.

    Raises
    ------
    RuntimeError
        A step changes the structure of the state or of the result, or the shape or dtype of a tensor in them. During
        backward, with checkpoints: `f` reads a tensor that requires grad and that its first step had not read.
    ValueError
        Lengths do not agree, or none is given.
    TypeError
        `f` does not give a pair, or something is no tensor.

    Examples
    --------
    >>> import gradsmith as gs
    >>> def step(x, u):
    ...     x = 0.5 * x + u
    ...     return x, x**2
    >>> u = gs.ones(1000, requires_grad=True)
    >>> x, squares = gs.scan(step, gs.tensor(0.0), u, checkpoint="sqrt")
    >>> squares.sum().backward()
    >>> u.grad[:2]
    tensor([7.9960, 7.9920])
    """
    require_callable("scan", "f", f)
    state, rows = TensorTree("scan", "carry", carry), TensorTree("scan", "xs", xs)
    n = _length(rows, length)
    segment = _segment_length(checkpoint, n)
    steps = Steps(f, state, rows, bool(reverse))
    if n == 0:
        return state.built(state.tensors), None
    if is_tracing():  # a program has its own memory
        tensors = ran_in_trace(steps, state.tensors, rows.tensors, n, segment)
    elif segment is None:
        tensors = steps.run(state.tensors, rows.tensors, n)
    else:
        tensors = ran_in_segments(steps, state.tensors, rows.tensors, n, segment)
    return steps.trees_of(tensors)


def _length(rows: TensorTree, length: int | None) -> int:
    if any(tensor.ndim == 0 for tensor in rows.tensors):
        raise ValueError("scan(): each tensor of xs must have a dimension to go through, but one has none")
    lengths = sorted({tensor.shape[0] for tensor in rows.tensors})
    if len(lengths) > 1:
        raise ValueError(f"scan(): the first dimensions of xs must have one length, but have lengths {lengths}")
    if length is None and not lengths:
        raise ValueError("scan(): give xs or length, which say how many steps there are")
    if length is not None and length < 0:
        raise ValueError(f"scan(): length must not be negative, but is {length}")
    if length is not None and lengths and lengths != [length]:
        raise ValueError(f"scan(): length must be that of xs, {lengths[0]}, but is {length}")
    return lengths[0] if lengths else int(length or 0)


def _segment_length(checkpoint: int | str | None, n: int) -> int | None:
    """Steps between two states that are kept; None keeps all."""
    if checkpoint is None:
        return None
    if checkpoint == "sqrt":
        return max(math.isqrt(n), 1)
    if isinstance(checkpoint, int) and not isinstance(checkpoint, bool) and checkpoint > 0:
        return checkpoint
    raise ValueError(f"scan(): checkpoint must be a positive number of steps, 'sqrt' or None, but is {checkpoint!r}")
