"""`backward` and `grad`: their arguments made what the engine takes, and checked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradsmith.runtime.batching.levels import Caller, at_once
from gradsmith.runtime.custom_function.gradient_edge import GradientEdge
from gradsmith.runtime.graph.gc_tracking import track_everything
from gradsmith.runtime.graph.tensor import TensorBase, from_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors import entry_points
from gradsmith.runtime.tensors.factories.creation import ones, zeros_like
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = ["backward", "grad"]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Sum of gradients of `tensors` with respect to graph leaves, added to the leaves' ``.grad``.

    Parameters
    ----------
    tensors : Tensor, GradientEdge or sequence of these
        What to differentiate.
    grad_tensors : Tensor, None or sequence of these, optional
        The vector in the vector-Jacobian product, one entry of the same shape per tensor. None means ones where
        the tensor has one real element.
    retain_graph : bool, optional
        Keep the saved values for another backward. Default: `create_graph`.
    create_graph : bool
        Record the computation of the gradient itself, for higher derivatives.
    grad_variables : optional
        Former name of `grad_tensors`.
    inputs : Tensor, GradientEdge, sequence of these or dict of Tensor, optional
        Accumulate into these only. A tensor that is not a leaf retains its gradient from then on.

    Raises
    ------
    RuntimeError
        A tensor has no graph, is not a scalar and has no gradient given, or the graph's saved values were freed by an
        earlier backward or changed in place since.
    """
    if grad_variables is not None:
        grad_tensors = _former_name(grad_tensors, grad_variables)
    is_plain = inputs is None and not create_graph
    if is_plain and entry_points.backward_in_short(tensors, grad_tensors, bool(retain_graph)):
        return
    roots = _as_list(tensors, "tensors")
    grads = _root_gradients(roots, _as_optional_list(grad_tensors, len(roots)))
    keep_graph = create_graph if retain_graph is None else bool(retain_graph)
    wanted = None if inputs is None else _retaining(inputs)
    if not create_graph:
        _run_backward(roots, grads, keep_graph, create_graph, wanted)
        return
    _warn_create_graph()
    try:
        _run_backward(roots, grads, keep_graph, create_graph, wanted)
    finally:
        track_everything()  # the history of a gradient leads back to the leaf that has it


def _retaining(inputs: Any) -> list[Any]:
    """The inputs that `backward` was asked for, which will keep their gradients."""
    wanted = _inputs_list(inputs, "backward")
    _check_inputs(wanted)
    for one in wanted:
        if is_tensor(one):
            one.retain_grad()
    return wanted


def _run_backward(
    roots: list[Any], grads: list[Any], keep_graph: bool, create_graph: bool, wanted: list[Any] | None
) -> None:
    if wanted is None:
        entry_points.run_backward(roots, grads, keep_graph, create_graph)
    else:
        entry_points.run_backward_to(roots, grads, keep_graph, create_graph, wanted)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Sum of gradients of `outputs` with respect to `inputs`; no ``.grad`` is touched.

    Parameters
    ----------
    outputs : Tensor, GradientEdge or sequence of these
        What to differentiate.
    inputs : Tensor, GradientEdge, sequence of these or dict of Tensor
        With respect to what. Only nodes on a path between the two run.
    grad_outputs : Tensor, None or sequence of these, optional
        The vector in the vector-Jacobian product; see `backward`.
    retain_graph, create_graph : bool, optional
        See `backward`.
    only_inputs : bool
        Deprecated and ignored.
    allow_unused : bool, optional
        Give None for an input that no output depends on, instead of raising. Default: `materialize_grads`.
    is_grads_batched : bool
        The first dimension of every entry of `grad_outputs` counts vectors: one product is computed for each, and the
        results are stacked along a first dimension.
    materialize_grads : bool
        Give zeros for an input that no output depends on.

    Returns
    -------
    tuple of Tensor, or dict of Tensor
        One gradient per input, of its shape and dtype; a dict with the keys of `inputs` when that is one.

    Raises
    ------
    RuntimeError
        An input does not require grad or is not used; see also `backward`.
    ValueError
        `materialize_grads` together with ``allow_unused=False``.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        _warn_only_inputs()
    allow_unused = materialize_grads if allow_unused is None else bool(allow_unused)
    keep_graph = create_graph if retain_graph is None else bool(retain_graph)
    if not is_grads_batched and not materialize_grads:
        found = entry_points.grad_in_short(outputs, inputs, grad_outputs, keep_graph, create_graph, allow_unused)
        if found is not None:
            return found
    roots = _as_list(outputs, "outputs")
    wanted = _inputs_list(inputs, "grad")
    vectors = _as_optional_list(grad_outputs, len(roots))

    def product(vectors: list[Any], keep_graph: bool) -> list[Any]:
        grads = _root_gradients(roots, vectors)
        _check_inputs(wanted)
        return entry_points.run_grad(roots, grads, keep_graph, create_graph, wanted, allow_unused)

    results = _batched(product, roots, vectors, keep_graph) if is_grads_batched else product(vectors, keep_graph)
    finished = _finish(results, wanted, allow_unused, materialize_grads, create_graph)
    return dict(zip(inputs, finished)) if type(inputs) is dict else tuple(finished)


def _finish(
    results: list[Any], inputs: list[Any], allow_unused: bool, materialize: bool, create_graph: bool
) -> list[Any]:
    for index, result in enumerate(results):
        if result is not None:
            continue
        if not allow_unused:
            raise entry_points.unused_input(inputs, index)  # a path leads to it, but no gradient came along
        if materialize:
            results[index] = _zeros_like(inputs[index], create_graph)
    return results


def _zeros_like(wanted: Any, create_graph: bool) -> Any:
    if not is_tensor(wanted):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return zeros_like(wanted, requires_grad=create_graph)


# ---- several vectors at once


def _batched(product: Any, roots: list[Any], vectors: list[Any], keep_graph: bool) -> list[Any]:
    """One product for all vectors at once."""
    caller = Caller("grad(is_grads_batched=True)")
    return at_once(caller, lambda slices: product(slices, keep_graph), vectors, _batch_size(roots, vectors))


def _batch_size(roots: list[Any], vectors: list[Any]) -> int:
    for index, (root, vector) in enumerate(zip(roots, vectors)):
        if not is_tensor(vector) or vector.ndim == 0:
            found = "a Tensor without dimensions" if is_tensor(vector) else type(vector).__name__
            raise ValueError(
                f"is_grads_batched=True takes a batch of vectors for each output, got {found} at index {index}"
            )
        shape = _shape_of(root)
        if shape is not None and vector.shape[1:] != shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{index}] has a shape of {list(vector.shape[1:])} "
                f"and output[{index}] has a shape of {list(shape)}."
            )
    sizes: list[int] = [vector.shape[0] for vector in vectors]
    if len(set(sizes)) > 1:
        raise ValueError(f"Expected all grad_outputs to have the same batch size, their first dimension, got {sizes}")
    if not sizes or sizes[0] == 0:
        raise IndexError("is_grads_batched=True needs at least one vector in the batch")
    return sizes[0]


# ---- arguments


def _as_list(tensors: Any, name: str) -> list[Any]:
    if isinstance(tensors, (TensorBase, GradientEdge)):
        tensors = [tensors]
    if not hasattr(tensors, "__iter__"):
        raise TypeError(f"{name} must be a Tensor or a sequence of Tensors, got {type(tensors).__name__}")
    found = list(tensors)
    for index, tensor in enumerate(found):
        if isinstance(tensor, GradientEdge):
            entry_points.expected_gradient(tensor)  # raises when there is no such edge
        elif not isinstance(tensor, TensorBase):
            raise TypeError(f"{name}[{index}] must be a Tensor or a GradientEdge, got {type(tensor).__name__}")
    return found


def _inputs_list(inputs: Any, function: str) -> list[Any]:
    if not is_tensor(inputs) and isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
            "not supported."
        )
    found = _as_list(inputs.values() if type(inputs) is dict else inputs, "inputs")
    if not found:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return found


def _as_optional_list(grads: Any, count: int) -> list[Any]:
    if grads is None:
        return [None] * count
    if not isinstance(grads, (TensorBase, list, tuple)):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grads).__name__}")
    found = [grads] if isinstance(grads, TensorBase) else list(grads)
    if len(found) != count:
        raise RuntimeError(
            f"got {count} tensors and {len(found)} gradients; one gradient (or None) per tensor is needed"
        )
    return found


def _former_name(grad_tensors: Any, grad_variables: Any) -> Any:
    warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=3)
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
            "`grad_tensors`."
        )
    return grad_variables


def _check_inputs(inputs: list[Any]) -> None:
    for index, tensor in enumerate(inputs):
        if is_tensor(tensor) and not tensor.requires_grad:
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad: inputs[{index}], of shape "
                f"{list(tensor.shape)}. Set requires_grad=True on it before the computation."
            )


# ---- the gradients that the roots begin with


def _shape_of(root: Any) -> Any:
    return root.shape if is_tensor(root) else entry_points.expected_gradient(root)[0]


def _dtype_of(root: Any) -> Any:
    return root.dtype if is_tensor(root) else entry_points.expected_gradient(root)[1]


def _grad_dtype_of(root: Any) -> Any:
    """The dtype that an initial gradient is converted to; None for no conversion."""
    return root.grad_dtype if is_tensor(root) and root.is_leaf else _dtype_of(root)


def _device_of(root: Any) -> Any:
    return root.device if is_tensor(root) else entry_points.expected_gradient(root)[2]


def _root_gradients(roots: list[Any], grads: list[Any]) -> list[Any]:
    """A checked gradient per root; roots that take part in nothing are refused."""
    checked = [_root_gradient(index, root, given) for index, (root, given) in enumerate(zip(roots, grads))]
    for index, root in enumerate(roots):
        if is_tensor(root) and not entry_points.takes_gradient(root):
            raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
    return checked


def _root_gradient(index: int, root: Any, given: Any) -> Any:
    if given is None:
        return _implicit_gradient(index, root)
    if not is_tensor(given):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(given).__name__} at index {index}")
    shape, dtype, device = _shape_of(root), _dtype_of(root), _device_of(root)
    if shape is not None and given.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {list(given.shape)} and output[{index}] has a "
            f"shape of {list(shape)}."
        )
    if device is not None and given.device != device:
        given = _moved(index, given, device)
    if dtype is not None and (given.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {given.dtype} and output[{index}] has a dtype of {dtype}."
        )
    expected = _grad_dtype_of(root)
    return given if expected is None else given.to(expected)


def _moved(index: int, given: Any, device: Any) -> Any:
    """A gradient without dimensions goes to where it is expected."""
    if given.ndim:
        raise RuntimeError(f"invalid gradient at index {index} - expected device {device} but got {given.device}")
    return given.to(device)


def _implicit_gradient(index: int, root: Any) -> Any:
    one = entry_points.gradient_of_scalar(root) if is_tensor(root) else None
    if one is not None:
        return one
    shape, dtype = _shape_of(root), _dtype_of(root)
    if is_tensor(root) and not root.requires_grad:
        return from_array(np.zeros(shape, dtype))  # refused later, for what it lacks
    if shape is None or any(size != 1 for size in shape):
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs, but output {index} has shape "
            f"{None if shape is None else list(shape)}; give its gradient, or sum() it first"
        )
    if dtype.kind == "c":
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
    return ones(shape, dtype=_grad_dtype_of(root) or dtype, device=_device_of(root))


# ---- warnings


def _warn_only_inputs() -> None:
    warnings.warn(
        "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other "
        "parts of the graph, please use gradsmith.autograd.backward.",
        FutureWarning,
        stacklevel=3,
    )


def _warn_create_graph() -> None:
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which lives until Python's cyclic collector finds it. Use autograd.grad instead, or reset the .grad fields to "
        "None after use.",
        UserWarning,
        stacklevel=4,
    )


upcalls.fill(backward=backward, grad=grad)
