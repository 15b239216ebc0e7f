"""Reverse mode: gradients and vector-Jacobian products."""

from __future__ import annotations

import functools
from typing import Any

from gradsmith.func.arguments import (
    Argnums,
    ArraysGiven,
    Call,
    Function,
    aux_without_history,
    checked_argnums,
    differentiable_leaves,
    has_other_history,
    output_and_aux,
    private,
    require_inexact,
    require_number,
    require_real,
    tensor_outputs,
    vector_leaves,
    with_arguments,
    with_history,
    without_history_of,
)
from gradsmith.func.arrays import (
    ArrayFunction,
    array_of,
    as_given,
    giving_tensors,
    of_arrays,
    taking_arrays,
    with_tensors,
)
from gradsmith.func.transformed import refuse_to_pickle, transformed
from gradsmith.runtime.batching.levels import has_recorded_data
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.switches.grad_mode import enable_grad, is_grad_enabled, set_grad_enabled
from gradsmith.runtime.tensors.entry_points import run_grad, run_transform
from gradsmith.runtime.tensors.factories.creation import ones_like, zeros_like
from gradsmith.runtime.tensors.transforms import plain_gradient, plain_gradient_of_array


def grad(func: Function | None = None, argnums: Argnums = 0, has_aux: bool = False) -> Any:
    """Function that gives the gradient of `func`.

    Parameters
    ----------
    func : callable, optional
        Takes tensors, or trees of them, and gives a tensor without dimensions. Without it, the result is a decorator.
        It may be made of functions of NumPy: they take tensors.
    argnums : int or tuple of int
        The positional arguments to differentiate by; a negative number counts from the last one.
    has_aux : bool
        `func` gives a pair, of which the first is differentiated.

    Returns
    -------
    callable
        Takes what `func` takes. Gives the gradient in the structure of the argument, a tuple of these for a tuple
        `argnums`; with `has_aux` a pair of that and the second result of `func`. Arrays and numbers may stand for the
        tensors that are differentiated by: then the results are arrays.

    Raises
    ------
    RuntimeError
        When the function is called: the result of `func` is no number, an argument number is wrong, or a tensor that
        is differentiated by has no dtype for it.
    ValueError
        An argument that is differentiated by has leaves that are neither tensors nor arrays.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.grad(gs.sin)(gs.tensor(0.0))
    tensor(1.)
    >>> func.grad(func.grad(lambda x: x**3))(gs.tensor(2.0))
    tensor(12.)
    >>> import numpy as np
    >>> func.grad(lambda x: np.sum(x**2))(np.arange(3.0))
    array([0., 2., 4.])
    >>> @func.grad(argnums=(0, 1))
    ... def product(x, y):
    ...     return x * y
    >>> product(gs.tensor(2.0), gs.tensor(3.0))
    (tensor(3.), tensor(2.))
    """
    again = functools.partial(grad, argnums=argnums, has_aux=has_aux)
    if func is None:
        return again
    call = Call("grad", func)
    of_arrays_call = Call("grad", giving_tensors(func))
    position = argnums if type(argnums) is int and not has_aux else None

    def finish(result: Any, tensor: Any, recording: bool) -> Any:
        return _finished(call, result, False, [tensor], recording)[0][0]

    def finish_of_array(result: Any, tensor: Any, recording: bool) -> Any:
        return _finished(of_arrays_call, with_tensors(result), False, [tensor], recording)[0][0]

    @transformed(again, func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        if position is not None:
            place = position if position >= 0 else position + len(args)
            found = plain_gradient(call, args, kwargs, place, finish)
            if found is not None:
                return found
            found = plain_gradient_of_array(of_arrays_call, func, args, kwargs, place, finish_of_array)
            if found is not None:
                return array_of(found)
        try:
            found, _, aux = _gradient_value_aux(call, argnums, has_aux, args, kwargs)
        except ArraysGiven as raised:
            given = raised
        else:
            return (found, aux) if has_aux else found
        return of_arrays(again, func, args, given, kwargs)

    return gradient


def grad_and_value(func: Function | None = None, argnums: Argnums = 0, has_aux: bool = False) -> Any:
    """Function that gives the gradient of `func` and its value.

    Parameters
    ----------
    func, argnums, has_aux
        See `grad`.

    Returns
    -------
    callable
        Gives the pair of gradient and value; with `has_aux` the gradient and the pair that `func` gives.

    Raises
    ------
    RuntimeError, ValueError
        See `grad`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.grad_and_value(lambda x: x * x)(gs.tensor(3.0))
    (tensor(6.), tensor(9.))
    """
    again = functools.partial(grad_and_value, argnums=argnums, has_aux=has_aux)
    return again if func is None else _with_value(again, func, argnums, has_aux, value_first=False)


def value_and_grad(func: Function | None = None, argnums: Argnums = 0, has_aux: bool = False) -> Any:
    """Function that gives the value of `func` and its gradient: `grad_and_value` in the order of JAX.

    Parameters
    ----------
    func, argnums, has_aux
        See `grad`.

    Returns
    -------
    callable
        Gives the pair of value and gradient; with `has_aux` the pair that `func` gives, and the gradient.

    Raises
    ------
    RuntimeError, ValueError
        See `grad`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.value_and_grad(lambda x: x * x)(gs.tensor(3.0))
    (tensor(9.), tensor(6.))
    """
    again = functools.partial(value_and_grad, argnums=argnums, has_aux=has_aux)
    return again if func is None else _with_value(again, func, argnums, has_aux, value_first=True)


def _with_value(
    again: functools.partial[Any], func: Function, argnums: Argnums, has_aux: bool, value_first: bool
) -> Any:
    call = Call(again.func.__name__, func)

    @taking_arrays(again, func)
    def both(*args: Any, **kwargs: Any) -> Any:
        found, value, aux = _gradient_value_aux(call, argnums, has_aux, args, kwargs)
        given = (value, aux) if has_aux else value
        return (given, found) if value_first else (found, given)

    return both


def _gradient_value_aux(
    call: Call, argnums: Argnums, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any, Any]:
    positions = checked_argnums(call, argnums, len(args))
    leaves, spec = differentiable_leaves(call, [args[n] for n in positions], positions)
    recording = is_grad_enabled()
    tensors = private(leaves, recording)
    with enable_grad():
        result = call.on(with_arguments(args, positions, spec.unflatten(tensors)), kwargs)
    gradients, value, aux = _finished(call, result, has_aux, tensors, recording)
    found = spec.unflatten(gradients)
    return found if isinstance(argnums, tuple) else found[0], value, aux


def _finished(
    call: Call, result: Any, has_aux: bool, tensors: list[Any], recording: bool
) -> tuple[list[Any], Any, Any]:
    """Gradients, value and second result, of what the function has given."""
    output, aux = output_and_aux(call, result, has_aux)
    require_number(call, output)
    gradients = _gradients_of(output, tensors, recording)
    (value,) = without_history_of(tensors, [output], recording)
    return gradients, value, aux_without_history(tensors, aux, recording)


def _gradients_of(output: Any, tensors: list[Any], recording: bool) -> list[Any]:
    if not output.requires_grad:
        return [zeros_like(tensor.detach()) for tensor in tensors]
    with set_grad_enabled(recording):
        vectors = [ones_like(output.detach())]
        outside = recording and has_recorded_data()
        if recording and not outside and not all_tangents(output):
            return _materialized(run_transform([output], vectors, tensors), tensors)
        create_graph = outside or (recording and has_other_history([output], tensors))
        return _materialized(run_grad([output], vectors, create_graph, create_graph, tensors), tensors)


def _materialized(gradients: list[Any], tensors: list[Any]) -> list[Any]:
    return [
        zeros_like(tensor.detach()) if gradient is None else gradient for gradient, tensor in zip(gradients, tensors)
    ]


# ---- vector-Jacobian products


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Value of `func`, and a function for products of vectors with its Jacobian.

    Parameters
    ----------
    func : callable
        Takes tensors, or trees of them, and gives a tensor or a tree of them.
    *primals : Tensor or tree of Tensor
        Its arguments.
    has_aux : bool
        `func` gives a pair, of which the first is differentiated.

    Returns
    -------
    output : Tensor or tree of Tensor
        What `func` gives.
    vjp_fn : callable
        Takes a vector of the structure of `output` and gives its product with the Jacobian, a tuple with a tree for
        each of the primals. It can be called any number of times.
    aux
        With `has_aux`: the second result of `func`.

    Raises
    ------
    RuntimeError
        `func` gives something else than tensors of floating point or complex dtype, or a vector does not fit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> value, vjp_fn = func.vjp(gs.sin, gs.tensor([0.0, 0.0]))
    >>> vjp_fn(gs.tensor([1.0, 2.0]))
    (tensor([1., 2.]),)
    """
    call = Call("vjp", func)
    try:
        product = Pullback(call, primals, tuple(range(len(primals))), has_aux)
    except ArraysGiven as raised:
        given = raised
    else:
        return (product.output, product, product.aux) if has_aux else (product.output, product)
    output, of_tensors, *aux = vjp(giving_tensors(func), *map(with_tensors, primals), has_aux=has_aux)
    return (as_given(output, given), ArrayFunction(of_tensors, given), *(as_given(one, given) for one in aux))


class Pullback:
    """Product of a vector with the Jacobian of one call of a function."""

    def __init__(
        self, call: Call, args: tuple[Any, ...], positions: tuple[int, ...], has_aux: bool, *, of_real: bool = False
    ) -> None:
        leaves, self.primals_spec = differentiable_leaves(call, [args[n] for n in positions], positions)
        if of_real:
            require_real(call, leaves, "inputs")
        recording = is_grad_enabled()
        self.call = call
        self.tensors = private(leaves, recording)
        with enable_grad():
            result = call.on(with_arguments(args, positions, self.primals_spec.unflatten(self.tensors)))
        output, aux = output_and_aux(call, result, has_aux)
        self.outputs, self.spec = tensor_outputs(call, output)
        require_inexact(call, self.outputs)
        if of_real:
            require_real(call, self.outputs, "outputs")
        self.results = without_history_of(self.tensors, self.outputs, recording)
        self.aux = aux_without_history(self.tensors, aux, recording) if has_aux else None
        self.has_history = bool(with_history(self.results))

    def __reduce__(self) -> Any:
        raise refuse_to_pickle(self.call.transform)

    @property
    def output(self) -> Any:
        """What the function gives, in its structure."""
        return self.spec.unflatten(self.results)

    def __call__(self, cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        """Product of the vector `cotangents` with the Jacobian, in the structure of the primals."""
        vectors = vector_leaves(self.call, self.outputs, self.spec, cotangents, "cotangents", "the output of f")
        return self.primals_spec.unflatten(self.product(vectors, retain_graph, create_graph))

    def product(self, vectors: list[Any], retain_graph: bool = True, create_graph: bool | None = None) -> list[Any]:
        """The same for flat vectors."""
        recording = is_grad_enabled() if create_graph is None else create_graph
        create_graph = recording and (self.has_history or bool(with_history(vectors)) or has_recorded_data())
        pairs = [(output, vector) for output, vector in zip(self.outputs, vectors) if output.requires_grad]
        if not pairs:
            return _materialized([None] * len(self.tensors), self.tensors)
        roots, given = (list(column) for column in zip(*pairs))
        found = run_grad(roots, given, retain_graph or create_graph, create_graph, self.tensors)
        gradients = _materialized(found, self.tensors)
        return without_history_of(self.tensors, gradients, create_graph)
