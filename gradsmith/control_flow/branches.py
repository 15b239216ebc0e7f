"""`cond`: one of two functions, as a value says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.control_flow.checks import is_true, require_callable
from gradsmith.control_flow.choices.slices import chosen, differs, one_truth, operands_of
from gradsmith.control_flow.choices.traced import chosen_in_runs, is_traced
from gradsmith.control_flow.choices.ways import NotOneStep
from gradsmith.runtime.batching.batch import trace_of_thread


def cond(
    pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *args: Any, operands: Sequence[Any] = ()
) -> Any:
    """Call one of two functions.

    Parameters
    ----------
    pred : bool or Tensor
        One truth value.
    true_fn, false_fn : callable
        Take the arguments. Only the one that `pred` chooses is called, so what would be NaN in the other never arises.
    *args : object
        Arguments of both. One tuple or list alone has the arguments as its items, which is how PyTorch passes them.
    operands : sequence
        The same by PyTorch's name.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    TypeError
        `pred` is no truth value, a function cannot be called, or arguments are given in both ways.
    RuntimeError
        `pred` has more than one element; it differs between the slices of a `vmap`, and the functions give results of
        different structures, shapes or dtypes.

    Notes
    -----
    Slices of a `vmap` may go different ways: both functions are called for all of them then, and each slice has the
    result of its own, and of the operands its own gradient. By what the functions read from outside the gradient can
    be NaN where the other one's is, as with `where`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor(-4.0, requires_grad=True)
    >>> gs.cond(x > 0, gs.sqrt, gs.abs, x)
    tensor(4., grad_fn=<AbsBackward0>)
    """
    require_callable("cond", "true_fn", true_fn)
    require_callable("cond", "false_fn", false_fn)
    if args and operands:
        raise TypeError("cond(): give the arguments of both functions by position or as operands, not in both ways")
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    if is_traced(pred):
        return _in_program(pred, [true_fn, false_fn], (*args, *operands))
    if differs(pred):
        truth = one_truth("cond", "pred", pred)
        given = (*args, *operands)
        ways = true_fn(*operands_of(truth, given)), false_fn(*operands_of(~truth, given))
        return chosen("cond", truth, *ways)
    function = true_fn if is_true("cond", "pred", pred) else false_fn
    return function(*args, *operands)


def _in_program(pred: Any, functions: list[Callable[..., Any]], operands: tuple[Any, ...]) -> Any:
    """A step of a program, which chooses in each run; see choices/traced.py.

    Where no step can do what the functions do, the function is traced like all else, and the program is for this truth
    value alone.
    """

    def run(functions: list[Callable[..., Any]], given: tuple[Any, ...]) -> Any:
        return cond(given[0], functions[0], functions[1], *given[1])

    try:
        return chosen_in_runs("cond", functions, (pred, operands), run)
    except NotOneStep:
        pass
    return functions[0 if _guarded(pred) else 1](*operands)


def _guarded(pred: Any) -> bool:
    """The truth value in this run; that it is the same in others becomes a step."""
    trace = trace_of_thread()
    before, trace.guards = trace.guards, True
    try:
        return is_true("cond", "pred", pred if pred.dtype.kind == "b" else pred != 0)
    finally:
        trace.guards = before
