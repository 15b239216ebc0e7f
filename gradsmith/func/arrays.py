"""Transforms of functions of NumPy: arrays go in and come out, tensors are what the function sees.

The arguments that are differentiated by decide. Where they are arrays, or numbers of floating point, tensors stand in
for them, and results become arrays again; without dimensions, NumPy's numbers, as from NumPy's own functions. Where one
of them is a tensor, all results are tensors. What has a history outside of the transform stays a tensor too, since an
array would lose it. Other arguments stay what they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.func.arguments import ArraysGiven, Function, tensor_of
from gradsmith.func.transformed import refuse_to_pickle, transformed
from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.calls.captured import was_made_in_ended_call
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.switches.array_functions import call_of_arrays
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree


def taking_arrays(transform: Callable[[Function], Any], func: Function) -> Callable[[Function], Any]:
    """Decorator of the transformed `func`: for arrays, `transform` is applied to it once more, with tensors."""

    def decorate(of_tensors: Function) -> Any:
        @transformed(transform, func)
        def of_either(*args: Any, **kwargs: Any) -> Any:
            try:
                return of_tensors(*args, **kwargs)
            except ArraysGiven as raised:
                given = raised
            return of_arrays(transform, func, args, given, kwargs)

        return of_either

    return decorate


def of_arrays(
    transform: Callable[[Function], Any],
    func: Function,
    args: Sequence[Any],
    given: ArraysGiven,
    kwargs: dict[str, Any],
) -> Any:
    """What the transform of `func` gives for arrays. Beside tensors they are tensors too."""
    tensors = list(args)
    for position in given.positions:
        tensors[position] = with_tensors(args[position])
    found = transform(giving_tensors(func))(*tensors, **kwargs)
    return as_given(found, given)


def with_tensors(tree: Any) -> Any:
    """Tensors in place of arrays and numbers of floating point."""
    return pytree.tree_map(tensor_of, tree)


def with_arrays(tree: Any) -> Any:
    """Arrays in place of tensors, unless these have a history."""
    return pytree.tree_map(array_of, tree)


def array_of(leaf: Any) -> Any:
    """The array of a tensor without a history; anything else as it is."""
    if not is_tensor(leaf) or all_tangents(leaf) or is_batched_tensor(leaf) or leaf.is_meta or _has_history(leaf):
        return leaf
    return leaf.detach().numpy()[()]


def _has_history(tensor: Any) -> bool:
    """Does it lead back to a leaf that is still there? Those of nested transforms ended with their calls."""
    if not tensor.requires_grad or tensor.is_leaf:
        return bool(tensor.requires_grad)
    waiting, seen = [tensor.grad_fn], {id(tensor.grad_fn)}
    while waiting:
        node = waiting.pop()
        leaf = getattr(node, "variable", None)
        if leaf is not None and not was_made_in_ended_call(leaf):
            return True
        new = [found for found, _ in node.next_functions if found is not None and id(found) not in seen]
        seen.update(map(id, new))
        waiting += new
    return False


def giving_tensors(func: Function) -> Function:
    """The function of arrays as `run_of_arrays` runs it."""

    @functools.wraps(func)
    def with_constants(*args: Any, **kwargs: Any) -> Any:
        return run_of_arrays(func, args, kwargs)

    with_constants.is_given_arrays = True  # type: ignore[attr-defined]  # read by float(x), which is an error there
    return with_constants


def run_of_arrays(func: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What a function of arrays gives for tensors. Results that are arrays, or numbers, become tensors: constants."""
    found = call_of_arrays(func, tuple(args), kwargs)
    return found if is_tensor(found) else with_tensors(found)


class ArrayFunction:
    """A function of tensors that a transform gives, such as the product with a Jacobian, for arrays."""

    def __init__(self, function: Function, given: ArraysGiven) -> None:
        self.function = function
        self.given = given

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return as_given(self.function(*map(with_tensors, args), **kwargs), self.given)

    def __reduce__(self) -> Any:
        raise refuse_to_pickle(self.function.call.transform)  # type: ignore[attr-defined]


def as_given(found: Any, given: ArraysGiven) -> Any:
    """Results as the arguments were."""
    return found if given.beside_tensors else with_arrays(found)
