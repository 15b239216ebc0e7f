"""The function of a transform, its arguments and results: which are differentiated, and whether they can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradsmith.runtime.calls.captured import leave_call
from gradsmith.runtime.calls.forward_ad import alias, all_tangents
from gradsmith.runtime.graph.tensor import from_array, from_shared_array
from gradsmith.runtime.switches.array_functions import is_in_function_of_arrays
from gradsmith.runtime.switches.grad_mode import no_grad, set_grad_enabled
from gradsmith.runtime.switches.transformed import TransformedCall
from gradsmith.runtime.tensors.entry_points import leads_elsewhere
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree
from gradsmith.utils.pytree import Mismatch, TreeSpec

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]

_NUMBERS = (float, complex, np.floating, np.complexfloating)

# How errors write the call of a transform, where that is not ``transform(f)``; as in PyTorch, whose tests look for it.
_HEADS = {
    "grad_and_value": "grad_and_value(f)(*args)",
    "jvp": "jvp(f, primals, tangents)",
    "vjp": "vjp(f, *primals)",
}

# The transform that PyTorch builds another one on, and that its errors about the result of `f` name.
_BUILT_ON = {
    "grad": "grad_and_value",
    "jacfwd": "jvp",
    "jacrev": "vjp",
    "linearize": "jvp",
    "value_and_grad": "grad_and_value",
}


class Call:
    """One call of a transformed function, as errors name it: ``grad(f), f at model.py:12``."""

    def __init__(self, transform: str, func: Function) -> None:
        if not callable(func):
            raise TypeError(f"{transform}(): func must be callable, got {type(func).__name__}")
        self.transform = transform
        self.func = func

    def on(self, args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Any:
        """Call the function. Tensors made from here on are its own; those it captures cannot be changed in place."""
        kwargs = kwargs or {}
        with TransformedCall(self, tuple(args), kwargs):
            return self.func(*args, **kwargs)

    @staticmethod
    def leaves(tree: Any) -> list[Any]:
        return pytree.flatten(tree)[0]

    def error(self, text: str, kind: type[Exception] = RuntimeError) -> Exception:
        return _error_of(self.transform, place_of(self.func), text, kind)

    def error_of_complex(self, text: str) -> Exception:
        """The error for a complex number, which PyTorch begins with the bare name of the transform."""
        return RuntimeError(f"{self.transform}: {text} (f is {place_of(self.func)})")

    def error_of_result(self, text: str) -> Exception:
        """The error for something that is wrong with what the function gives."""
        inner = _BUILT_ON.get(self.transform)
        return self.error(f"{_HEADS[inner]}: {text}" if inner else text)

    def ended(self) -> EndedCall:
        return EndedCall(self.transform, place_of(self.func))


class EndedCall:
    """A call as errors name it after its end, without its function, whose closure may keep what keeps the call."""

    def __init__(self, transform: str, place: str) -> None:
        self.transform = transform
        self.place = place

    def error(self, text: str, kind: type[Exception] = RuntimeError) -> Exception:
        return _error_of(self.transform, self.place, text, kind)

    def ended(self) -> EndedCall:
        return self


def _error_of(transform: str, place: str, text: str, kind: type[Exception]) -> Exception:
    head = _HEADS.get(transform, f"{transform}(f)")
    return kind(f"{head}: {text} (f is {place})")


def place_of(func: Function) -> str:
    """Name of a function with file and line, as far as Python knows them."""
    inner: Any = func
    while hasattr(inner, "__wrapped__") or hasattr(inner, "func"):
        inner = getattr(inner, "__wrapped__", None) or inner.func  # of functools.wraps, of partial
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    name = getattr(inner, "__qualname__", None) or type(inner).__name__
    return f"{name}, {code.co_filename}:{code.co_firstlineno}" if code else name


# ---- positions of arguments


def checked_argnums(call: Call, argnums: Any, count: int) -> tuple[int, ...]:
    """Positions from 0 of the arguments to differentiate by."""
    many = isinstance(argnums, tuple)
    if not many and not _is_int(argnums):
        raise call.error(f"argnums must be int or Tuple[int, ...], got: {type(argnums).__name__}")
    given = argnums if many else (argnums,)
    if not given:
        raise call.error("argnums must be non-empty")
    for number in given:
        if not _is_int(number):
            raise call.error(f"argnum must be int, got: {type(number).__name__}")
        if not -count <= number < count:
            raise call.error(f"Got argnum={number}, but only {count} positional inputs")
    found = tuple(number % count for number in given)
    if len(set(found)) < len(found):
        raise call.error(f"argnums elements must be unique, got {argnums}")
    return found


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def with_arguments(args: Sequence[Any], positions: Sequence[int], others: Sequence[Any]) -> list[Any]:
    """`args` with others at some positions."""
    found = list(args)
    for position, other in zip(positions, others):
        found[position] = other
    return found


# ---- the tensors among them


def differentiable_leaves(call: Call, values: Sequence[Any], positions: Iterable[int]) -> tuple[list[Any], TreeSpec]:
    """Tensors of the arguments that are differentiated by, and the structure of these arguments.

    What is None in a tree of parameters stays None, and so does its gradient.
    """
    leaves, spec = pytree.flatten(tuple(values))
    if not leaves:
        raise call.error("Expected primals to contain at least one Tensor, to differentiate by; got none")
    if not all(map(is_differentiable, leaves)):
        leaves, spec = pytree.without_none(leaves, spec)
        if all(map(is_differentiable, leaves)):
            return leaves, spec
        if all(map(can_become_tensor, leaves)):
            raise ArraysGiven(call, leaves, spec, positions)
        for leaf, path in zip(leaves, _paths(spec, positions)):
            if not can_become_tensor(leaf):
                require_differentiable(call, leaf, path)
    return leaves, spec


class ArraysGiven(ValueError):
    """Arrays, or numbers of floating point, are differentiated by. Transforms that take none raise it as it is."""

    def __init__(self, call: Call, leaves: list[Any], spec: TreeSpec, positions: Iterable[int]) -> None:
        super().__init__()
        self.positions = tuple(positions)
        self.beside_tensors = any(map(is_tensor, leaves))
        self.found = call, leaves, spec

    def __str__(self) -> str:
        """Written when it is read, since most transforms go on with arrays."""
        call, leaves, spec = self.found
        wrong = next(n for n, leaf in enumerate(leaves) if not is_tensor(leaf))
        return str(_no_tensor(call, leaves[wrong], _paths(spec, self.positions)[wrong], "a Tensor"))


def can_become_tensor(value: Any) -> bool:
    """Is it a tensor, an array, or a number of floating point?"""
    if isinstance(value, (float, complex)) or is_differentiable(value):
        return True
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def is_differentiable(value: Any) -> bool:
    return is_tensor(value) and value.dtype.kind in "fc"


def _paths(spec: TreeSpec, positions: Iterable[int]) -> list[str]:
    return [path for n, child in zip(positions, spec.children) for path in child.paths(f"args[{n}]")]


def require_differentiable(call: Call, value: Any, what: str) -> None:
    if not is_tensor(value):
        raise _no_tensor(call, value, what, "a Tensor, or an array or number of floating point,")
    if value.dtype.kind not in "fc":
        raise call.error(
            f"only Tensors of floating point and complex dtype can be differentiated by, but {what} has dtype "
            f"{value.dtype}; convert it first, for example with .to(gradsmith.float32)"
        )


def _no_tensor(call: Call, value: Any, what: str, wanted: str) -> Exception:
    kind = type(value).__name__
    if isinstance(value, (np.ndarray, np.generic)):
        kind += f" of dtype {value.dtype}"
    return call.error(
        f"{what} must be {wanted} to be differentiated by, got {kind}; leave it out of argnums, or make it a tensor "
        "with gradsmith.tensor()",
        ValueError,
    )


def require_real(call: Call, tensors: Iterable[Any], what: str) -> None:
    for index, tensor in enumerate(tensors):
        if tensor.is_complex():
            raise call.error_of_complex(
                f"Expected all {what} to be real but received complex tensor at flattened {what[:-1]} idx: {index}"
            )


def private(tensors: Sequence[Any], recording: bool) -> list[Any]:
    """Tensors of the same memory whose gradients are nobody else's; recording leads back to those given."""
    with set_grad_enabled(recording):
        return [alias(tensor).requires_grad_() for tensor in tensors]


def without_history_of(tensors: list[Any], results: Sequence[Any], recording: bool) -> list[Any]:
    """Results as they are outside of the transform: private tensors are constants there."""
    return [_without_history(tensors, result, recording) for result in results]


def aux_without_history(tensors: list[Any], aux: Any, recording: bool) -> Any:
    """The same of a tree, in which not all leaves need be tensors."""
    return pytree.tree_map(lambda leaf: _without_history(tensors, leaf, recording), aux)


def _without_history(tensors: list[Any], result: Any, recording: bool) -> Any:
    if not is_tensor(result) or not with_history([result]) or (recording and has_other_history([result], tensors)):
        return leave_call(result)
    with no_grad():
        return alias(result)


def has_other_history(results: Sequence[Any], tensors: list[Any]) -> bool:
    """Could results, or their tangents, be differentiated by anything but `tensors`?"""
    recorded = with_history(results)
    return bool(recorded) and leads_elsewhere(recorded, tensors)


def with_history(tensors: Sequence[Any]) -> list[Any]:
    """Those of the tensors and of their tangents that require grad."""
    found = [tensor for tensor in tensors if tensor.requires_grad]
    return found + [tangent for tensor in tensors for tangent in all_tangents(tensor) if tangent.requires_grad]


# ---- results of the function


def output_and_aux(call: Call, result: Any, has_aux: bool) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise call.error_of_result(
            "output of function f should be a tuple: (output, aux) if has_aux is True, got " + described(result)
        )
    return result


def require_number(call: Call, output: Any) -> None:
    if not is_tensor(output):
        raise call.error_of_result(f"Expected f(*args) to return a Tensor, got {described(output)}")
    if output.ndim:
        raise call.error_of_result(
            f"Expected f(*args) to return a scalar Tensor, got tensor with {output.ndim} dims, of shape "
            f"{list(output.shape)}. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    require_inexact(call, [output])
    require_real(call, [output], "outputs")


def tensor_outputs(call: Call, output: Any) -> tuple[list[Any], TreeSpec]:
    """The results of `func`, which must be tensors, at least one. None in a tree of them stays what it is."""
    leaves, spec = pytree.without_none(*pytree.flatten(output))
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        found = described(None if leaves else output)
        raise call.error_of_result(
            f"Expected f to be a function that has non-empty output (got output = {leaves}: {found})"
        )
    for n, leaf in enumerate(leaves):
        if not is_tensor(leaf):
            raise call.error_of_result(
                f"expected f(*primals) to return only tensors, got unsupported type {type(leaf)}: "
                f"{path_of_output(spec, n)} is {described(leaf)}"
            )
    return leaves, spec


def path_of_output(spec: TreeSpec, n: int) -> str:
    """How errors name leaf `n` of the output."""
    return list(spec.paths("output"))[n]


def require_inexact(call: Call, outputs: Iterable[Any]) -> None:
    for output in outputs:
        if output.dtype.kind not in "fc":
            raise call.error_of_result(
                f"All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {output.dtype}"
            )


def described(value: Any) -> str:
    return f"{type(value).__name__}" if value is not None else "None: does f lack a return?"


# ---- vectors


_SAME_STRUCTURE = {
    "cotangents": (
        "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function"
    ),
    "tangents": "Expected primals and tangents to have the same python structure",
}


def vector_leaves(call: Call, tensors: Sequence[Any], spec: TreeSpec, vectors: Any, what: str, like: str) -> list[Any]:
    """The leaves of cotangents or tangents, which must be like the tensors that they belong to.

    In a function of arrays they may be arrays, constants as the others of it.
    """
    try:
        found = pytree.leaves_like(spec, vectors, what)
    except Mismatch as error:
        raise call.error(
            f"{_SAME_STRUCTURE[what]}: {error}. {what}: {pytree.flatten(vectors)[1]}, {like}: {spec}"
        ) from None
    if is_in_function_of_arrays():
        found = [tensor_of(leaf) for leaf in found]
    if not all(map(_is_alike, tensors, found)):
        for tensor, vector, path in zip(tensors, found, spec.paths(what)):
            _require_alike(call, tensor, vector, path, like)
    return found


def tensor_of(leaf: Any) -> Any:
    """A tensor over the memory of an array, or with a number of floating point; anything else as it is."""
    if isinstance(leaf, np.ndarray):
        return from_shared_array(leaf)
    return from_array(np.asarray(leaf)) if isinstance(leaf, _NUMBERS) else leaf


def _is_alike(tensor: Any, vector: Any) -> bool:
    return is_tensor(vector) and vector.shape == tensor.shape and bool(vector.dtype == tensor.dtype)


def _require_alike(call: Call, tensor: Any, vector: Any, path: str, like: str) -> None:
    if not is_tensor(vector):
        what = path.partition("[")[0]
        raise call.error(
            f"Expected {what} to only contain Tensors, got {type(vector)}: {path} is {type(vector).__name__}"
        )
    if vector.shape != tensor.shape:
        raise call.error(
            f"Mismatch in shape: {path} has shape {list(vector.shape)}, but that of {like} has shape "
            f"{list(tensor.shape)}"
        )
    if vector.dtype != tensor.dtype:
        raise call.error(
            f"{path} has dtype {vector.dtype}, but that of {like} has dtype {tensor.dtype}; convert it with .to()"
        )
