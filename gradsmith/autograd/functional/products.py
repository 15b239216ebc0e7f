"""Products of a vector with a Jacobian or a Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradsmith.autograd.functional import strict as required
from gradsmith.autograd.functional.arguments import (
    Tensors,
    as_tensors,
    called,
    filled,
    gradients,
    released,
    renewed,
    require_number,
    unwrap,
    vector_for,
)
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.factories.creation import zeros_like

Function = Callable[..., Any]

ONE_OUTPUT = "the user-provided function returns"
ONE_INPUT = "the input to the user-provided function is"


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Product of a vector with the Jacobian of `func`, by reverse mode.

    Parameters
    ----------
    func : callable
        Takes tensors, gives a tensor or a tuple of tensors.
    inputs : Tensor or tuple of Tensor
        Where.
    v : Tensor or tuple of Tensor, optional
        The vector, shaped as the output; may be left out where that is a single number.
    create_graph : bool
        Record the computation, for derivatives of the results with respect to `inputs` and `v`.
    strict : bool
        Raise where the output does not depend on an input, instead of giving zeros.

    Returns
    -------
    outputs : Tensor or tuple of Tensor
        What `func` gives.
    vjp : Tensor or tuple of Tensor
        Shaped as the inputs.

    Examples
    --------
    >>> import gradsmith as gs
    >>> vjp(lambda x: x * x, gs.tensor([1.0, 2.0]), gs.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        many_inputs, given = as_tensors(inputs, "inputs", "vjp")
        points = renewed(given, create_graph, record=True)
        many_outputs, outputs = called(func, points, "vjp")
        if strict:
            required.require_recorded(outputs)
        vectors = vector_for(outputs, v, many_outputs, create_graph, "vjp", ONE_OUTPUT)
        found = gradients(outputs, points, vectors, create_graph=create_graph)
        products = _finished(found, points, create_graph, strict, "jacobian", "The output")
    return unwrap(released(outputs, create_graph), many_outputs), unwrap(products, many_inputs)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Product of the Jacobian of `func` with a vector, by forward mode.

    One run of `func` gives it. A function that has no forward mode, such as a custom one without ``jvp``, is
    differentiated backward twice instead.

    Parameters
    ----------
    func : callable
        Takes tensors, gives a tensor or a tuple of tensors.
    inputs : Tensor or tuple of Tensor
        Where.
    v : Tensor or tuple of Tensor, optional
        The vector, shaped as the inputs; may be left out where these are a single number.
    create_graph, strict : bool
        See `vjp`.

    Returns
    -------
    outputs : Tensor or tuple of Tensor
        What `func` gives.
    jvp : Tensor or tuple of Tensor
        Shaped as the outputs.

    Examples
    --------
    >>> import gradsmith as gs
    >>> jvp(lambda x: x * x, gs.tensor([1.0, 2.0]), gs.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        _, points, vectors = _points_and_vectors(inputs, v, create_graph, "jvp")
        many_outputs, outputs, tangents = directional(func, points, vectors, create_graph, "jvp")
        if strict:
            required.require_recorded(outputs)
            required.require_dependence(
                gradients(outputs, points, filled([None] * len(outputs), outputs), create_graph=True)
            )
        products = _finished(tangents, outputs, create_graph, strict, "jacobian", "The output")
    return unwrap(released(outputs, create_graph), many_outputs), unwrap(products, many_outputs)


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Product of a vector with the Hessian of `func`, by reverse mode over reverse mode.

    Parameters
    ----------
    func : callable
        Takes tensors, gives a tensor of one element.
    inputs : Tensor or tuple of Tensor
        Where.
    v : Tensor or tuple of Tensor, optional
        The vector, shaped as the inputs; may be left out where these are a single number.
    create_graph, strict : bool
        See `vjp`.

    Returns
    -------
    output : Tensor
        What `func` gives.
    vhp : Tensor or tuple of Tensor
        Shaped as the inputs.

    Examples
    --------
    >>> import gradsmith as gs
    >>> vhp(lambda x: (x**3).sum(), gs.tensor([1.0, 2.0]), gs.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        many_inputs, points, vectors = _points_and_vectors(inputs, v, create_graph, "vhp")
        output, firsts = value_and_gradient(func, points, strict, "vhp")
        found = gradients(firsts, points, vectors, create_graph=create_graph)
        products = _finished(found, points, create_graph, strict, "hessian", "The jacobian")
    return released([output], create_graph)[0], unwrap(products, many_inputs)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Product of the Hessian of `func` with a vector, by forward mode over reverse mode.

    It costs less than `vhp`, of which it is the transpose; the two are equal where `func` is twice continuously
    differentiable.

    Parameters
    ----------
    func : callable
        Takes tensors, gives a tensor of one element.
    inputs : Tensor or tuple of Tensor
        Where.
    v : Tensor or tuple of Tensor, optional
        The vector, shaped as the inputs; may be left out where these are a single number.
    create_graph, strict : bool
        See `vjp`.

    Returns
    -------
    output : Tensor
        What `func` gives.
    hvp : Tensor or tuple of Tensor
        Shaped as the inputs.

    Examples
    --------
    >>> import gradsmith as gs
    >>> hvp(lambda x: (x**3).sum(), gs.tensor([1.0, 2.0]), gs.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """

    def value_beside_gradient(*points: Any) -> Tensors:
        output, firsts = value_and_gradient(func, points, strict, "hvp")
        return (output, *filled(firsts, points))

    with enable_grad():
        many_inputs, points, vectors = _points_and_vectors(inputs, v, create_graph, "hvp")
        _, (output, *firsts), (_, *tangents) = directional(value_beside_gradient, points, vectors, create_graph, "hvp")
        products = _finished(tangents, firsts, create_graph, strict, "hessian", "The hessian")
    return released([output], create_graph)[0], unwrap(products, many_inputs)


def _points_and_vectors(inputs: Any, v: Any, create_graph: bool, function: str) -> tuple[bool, Tensors, Tensors]:
    """Are the inputs a tuple; the inputs, as leaves that record; and a vector of the shape of each."""
    many_inputs, given = as_tensors(inputs, "inputs", function)
    points = renewed(given, create_graph, record=True)
    return many_inputs, points, vector_for(points, v, many_inputs, create_graph, function, ONE_INPUT)


def value_and_gradient(func: Function, points: Tensors, strict: bool, function: str) -> tuple[Any, Tensors]:
    """The one output of `func`, and its gradient as part of the graph."""
    is_tuple, outputs = called(func, points, function)
    if strict:
        required.require_recorded(outputs)
    require_number(outputs, is_tuple, function)
    firsts = gradients(outputs, points, [None], create_graph=True)
    if strict:
        required.require_varying_gradient(firsts)
    return outputs[0], firsts


def _finished(found: Any, like: Any, create_graph: bool, strict: bool, matrix: str, what: str) -> Tensors:
    """Products as the user gets them: zeros, or an error, where there is no dependence."""
    if strict:
        required.require_dependence(found, what)
    products = filled(found, like)
    if strict and create_graph:
        required.require_history(products, matrix)
    return released(products, create_graph)


# ---- directional derivatives


def directional(
    func: Function, points: Tensors, vectors: Tensors, create_graph: bool, function: str
) -> tuple[bool, Tensors, Tensors]:
    """Does `func` give a tuple; its outputs; their derivatives along the vectors, None where there is none."""
    try:
        return forward_run(func, points, vectors, function)
    except NotImplementedError:
        return _backward_twice(func, points, vectors, create_graph, function)


def forward_run(func: Function, points: Tensors, vectors: Tensors, function: str) -> tuple[bool, Tensors, Tensors]:
    """The same by forward mode; a vector may be None, for an input that stays where it is."""
    with dual_level():
        duals = tuple(p if v is None else make_dual(p, v) for p, v in zip(points, vectors))
        is_tuple, outputs = called(func, duals, function)
        primals, tangents = zip(*(unpack_dual(output) for output in outputs))
    return is_tuple, primals, tangents


def _backward_twice(
    func: Function, points: Tensors, vectors: Tensors, create_graph: bool, function: str
) -> tuple[bool, Tensors, Tensors]:
    """A gradient is linear in the vector it starts from; the gradient of that map is the derivative wanted."""
    is_tuple, outputs = called(func, points, function)
    starts = tuple(zeros_like(output.detach()).requires_grad_() for output in outputs)
    firsts = gradients(outputs, points, starts, create_graph=True)
    pairs = [(first, vector) for first, vector in zip(firsts, vectors) if first is not None]
    ends, given = zip(*pairs) if pairs else ((), ())
    return is_tuple, outputs, gradients(ends, starts, given, create_graph=create_graph)
