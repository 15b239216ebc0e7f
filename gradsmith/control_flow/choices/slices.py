"""Choices that differ between the slices of a `vmap`.

All slices are computed together, so both branches are, and a loop goes on as long as it does for any slice. Each slice
then has what its own choice gives. The other branch has a gradient of zero, in which a factor that is infinite or NaN
leaves NaN; so operands are constants to a branch in the slices that do not take it. What a function reads from outside
is not, as with `where`.
"""

from __future__ import annotations

from typing import Any

from gradsmith.control_flow.choices.traced import is_traced
from gradsmith.generated import broadcast_to, where
from gradsmith.runtime.batching.batch import is_batched_tensor, physical
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.tensors.factories.creation import tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree

NUMBERS = (bool, int, float, complex)


def differs(truth: Any) -> bool:
    """Does a truth value differ between the slices of a `vmap`?"""
    return is_tensor(truth) and is_batched_tensor(truth) and not is_traced(truth)


def is_known(truth: Any) -> bool:
    """Is there a value for each slice, outside of a program that computes it in each run?"""
    while is_batched_tensor(truth):
        if is_traced(truth):
            return False
        truth = physical(truth)
    return True


def holds_for_any(truth: Any) -> bool:
    """Is it true of any slice? Of a plain truth value: is it true?"""
    if not is_tensor(truth):
        return bool(truth)
    while is_batched_tensor(truth):
        truth = physical(truth)
    return bool(truth.any())


def one_truth(op: str, what: str, truth: Any) -> Any:
    """The truth value of each slice, without dimensions."""
    if truth.numel() != 1:
        raise RuntimeError(
            f"{op}(): {what} must be one truth value for each slice of a vmap, but has shape {list(truth.shape)} there"
        )
    return truth.reshape(()).bool()


def operands_of(truth: Any, operands: Any) -> Any:
    """A tree of operands as the branch gets it: with its history in those slices alone that take the branch."""
    return pytree.tree_map(lambda leaf: _constant_elsewhere(truth, leaf) if is_tensor(leaf) else leaf, operands)


def _constant_elsewhere(truth: Any, operand: Any) -> Any:
    if operand.dtype.kind not in "fc" or not _has_history(operand):
        return operand
    return where(broadcast_to(truth, operand.shape), operand, operand.detach())


def _has_history(operand: Any) -> bool:
    """Has it one, or the values of all slices together?"""
    while is_batched_tensor(operand) and not operand.requires_grad:
        operand = physical(operand)
    return bool(operand.requires_grad or all_tangents(operand))


def chosen(op: str, truth: Any, first: Any, second: Any) -> Any:
    """For each slice the first tree or the second one.

    Raises
    ------
    RuntimeError
        They differ in structure, in the shape or dtype of a tensor, or in what is no tensor and no number.
    """
    leaves, spec = pytree.flatten(first)
    try:
        others = pytree.leaves_like(spec, second, "the result")
    except pytree.Mismatch as error:
        raise RuntimeError(
            f"{op}(): slices of a vmap go different ways, so that both functions must give the same structure: {error}"
        ) from None
    return spec.unflatten([_chosen_leaf(op, truth, one, other) for one, other in zip(leaves, others)])


def _chosen_leaf(op: str, truth: Any, one: Any, other: Any) -> Any:
    if one is other:
        return one
    if not all(is_tensor(value) or isinstance(value, NUMBERS) for value in (one, other)):
        if type(one) is type(other) and one == other:
            return one
        raise RuntimeError(
            f"{op}(): slices of a vmap go different ways, and neither {one!r} nor {other!r} can be the result of all"
        )
    one, other = (value if is_tensor(value) else tensor(value) for value in (one, other))
    looks = [f"{value.dtype} of shape {list(value.shape)}" for value in (one, other)]
    if looks[0] != looks[1]:
        raise RuntimeError(
            f"{op}(): slices of a vmap go different ways, so that both functions must give tensors of the same shape "
            f"and dtype, but they gave {looks[0]} and {looks[1]}"
        )
    return where(broadcast_to(truth, one.shape), one, other)
