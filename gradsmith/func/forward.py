"""Forward mode: Jacobian-vector products, and functions that are linear in the tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.autograd.forward_ad import dual_level, make_dual, set_fwd_grad_enabled, unpack_dual
from gradsmith.func.arguments import (
    ArraysGiven,
    Call,
    Function,
    differentiable_leaves,
    output_and_aux,
    private,
    require_inexact,
    tensor_outputs,
    vector_leaves,
    with_arguments,
    without_history_of,
)
from gradsmith.func.arrays import ArrayFunction, as_given, giving_tensors, with_tensors
from gradsmith.func.transformed import refuse_to_pickle
from gradsmith.runtime.calls.captured import leave_call
from gradsmith.runtime.switches.grad_mode import enable_grad, is_grad_enabled
from gradsmith.runtime.tensors.entry_points import run_grad
from gradsmith.runtime.tensors.factories.creation import zeros_like
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Value of `func` and the product of its Jacobian with a vector.

    Parameters
    ----------
    func : callable
        Takes tensors, or trees of them, and gives a tensor or a tree of them.
    primals : tuple
        Its arguments.
    tangents : tuple
        The vector, of the structure of `primals`.
    strict : bool
        Raise where a result does not depend on the primals, instead of giving zeros.
    has_aux : bool
        `func` gives a pair, of which the first is differentiated.

    Returns
    -------
    output : Tensor or tree of Tensor
        What `func` gives.
    jvp_out : Tensor or tree of Tensor
        The product, in the structure of `output`.
    aux
        With `has_aux`: the second result of `func`.

    Raises
    ------
    RuntimeError
        `primals` is no tuple, `tangents` do not fit, or `func` gives something else than tensors.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.jvp(lambda x, y: x * y, (gs.tensor(2.0), gs.tensor(3.0)), (gs.tensor(1.0), gs.tensor(0.0)))
    (tensor(6.), tensor(3.))
    """
    call = Call("jvp", func)
    if not isinstance(primals, tuple):
        raise call.error(
            f"Expected primals to be a tuple, got {type(primals).__name__}. E.g. it should be valid to call "
            "f(*primals); of a single argument, primals is (x,)"
        )
    positions = range(len(primals))
    try:
        leaves, spec = differentiable_leaves(call, primals, positions)
    except ArraysGiven as raised:
        given: ArraysGiven | None = raised
    else:
        given = None
    if given is not None:
        tensors = tuple(map(with_tensors, primals)), with_tensors(tangents)
        return as_given(jvp(giving_tensors(func), *tensors, strict=strict, has_aux=has_aux), given)
    vectors = vector_leaves(call, leaves, spec, tangents, "tangents", "primals")
    push = Pushforward(call, primals, tuple(positions), has_aux, strict)
    output, product, aux = push(leaves, spec, vectors)
    return (output, product, aux) if has_aux else (output, product)


class Pushforward:
    """Runs a function on dual numbers."""

    def __init__(
        self, call: Call, args: tuple[Any, ...], positions: tuple[int, ...], has_aux: bool = False, strict: bool = False
    ) -> None:
        self.call, self.args, self.positions = call, args, positions
        self.has_aux, self.strict = has_aux, strict

    def __call__(self, leaves: Sequence[Any], spec: pytree.TreeSpec, vectors: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Value, tangent and second result, for the tangents `vectors` of the primals `leaves`."""
        with set_fwd_grad_enabled(True), dual_level():
            duals = [make_dual(leaf, vector) for leaf, vector in zip(leaves, vectors)]
            result = self.call.on(with_arguments(self.args, self.positions, spec.unflatten(duals)))
            output, aux = output_and_aux(self.call, result, self.has_aux)
            outputs, out_spec = tensor_outputs(self.call, output)
            pairs = [self._unpacked(output, path) for output, path in zip(outputs, out_spec.paths("output"))]
            aux = pytree.tree_map(lambda one: leave_call(unpack_dual(one).primal) if is_tensor(one) else one, aux)
        values, tangents = zip(*pairs)
        return out_spec.unflatten(values), out_spec.unflatten(tangents), aux

    def _unpacked(self, output: Any, path: str) -> tuple[Any, Any]:
        value, tangent = unpack_dual(output)
        leave_call(value)
        if tangent is not None:
            return value, leave_call(tangent)
        if self.strict:
            raise self.call.error(
                f"The output of f is independent of the inputs: {path} does not depend on the primals. This is not "
                "allowed with strict=True"
            )
        return value, zeros_like(value.detach())


def linearize(func: Function, *primals: Any) -> tuple[Any, Any]:
    """Value of `func`, and its linear part there as a function of tangents.

    `func` is called once. Its linear part can then be applied any number of times, each for about the price of a
    backward; `jvp` calls `func` again each time.

    Parameters
    ----------
    func : callable
        Takes tensors, or trees of them, and gives a tensor or a tree of them.
    *primals : Tensor or tree of Tensor
        Where.

    Returns
    -------
    output : Tensor or tree of Tensor
        What `func` gives.
    jvp_fn : callable
        Takes a tangent for each of the primals and gives the tangent of `output`.

    Raises
    ------
    RuntimeError
        `func` gives something else than tensors of floating point or complex dtype, or tangents do not fit.

    Notes
    -----
    The product of a vector u with the Jacobian J is recorded as a function of u; it is linear, and the gradient of its
    product with a tangent v is J v.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> value, jvp_fn = func.linearize(gs.exp, gs.tensor(0.0))
    >>> jvp_fn(gs.tensor(3.0))
    tensor(3.)
    """
    call = Call("linearize", func)
    try:
        linear = Linearization(call, primals)
    except ArraysGiven as raised:
        given = raised
    else:
        return linear.output, linear
    output, of_tensors = linearize(giving_tensors(func), *map(with_tensors, primals))
    return as_given(output, given), ArrayFunction(of_tensors, given)


class Linearization:
    """The Jacobian of one call of a function, as a map of tangents."""

    def __init__(self, call: Call, primals: tuple[Any, ...]) -> None:
        leaves, self.primals_spec = differentiable_leaves(call, primals, range(len(primals)))
        recording = is_grad_enabled()
        self.call = call
        self.tensors = private(leaves, recording)
        with enable_grad():
            outputs, self.spec = tensor_outputs(call, call.on(self.primals_spec.unflatten(self.tensors)))
            require_inexact(call, outputs)
            self.stand_ins = [zeros_like(output.detach()).requires_grad_() for output in outputs]
            self.products = self._products(outputs)
        self.zeros = [zeros_like(output.detach()) for output in outputs]
        self.output = self.spec.unflatten(without_history_of(self.tensors, outputs, recording))

    def _products(self, outputs: list[Any]) -> list[Any]:
        """For each primal the product of the stand-ins with the Jacobian, None where it is zero."""
        pairs = [(output, vector) for output, vector in zip(outputs, self.stand_ins) if output.requires_grad]
        if not pairs:
            return [None] * len(self.tensors)
        roots, vectors = (list(column) for column in zip(*pairs))
        return run_grad(roots, vectors, True, True, self.tensors)

    def __reduce__(self) -> Any:
        raise refuse_to_pickle(self.call.transform)

    def __call__(self, *tangents: Any) -> Any:
        """The tangent of the output for tangents of the primals."""
        vectors = vector_leaves(self.call, self.tensors, self.primals_spec, tangents, "tangents", "primals")
        return self.spec.unflatten(self.product(vectors))

    def product(self, vectors: list[Any]) -> list[Any]:
        """The same for flat tangents."""
        recording = is_grad_enabled()
        pairs = [
            (product, vector)
            for product, vector in zip(self.products, vectors)
            if product is not None and product.requires_grad
        ]
        if not pairs:
            return list(self.zeros)
        roots, given = (list(column) for column in zip(*pairs))
        found = run_grad(roots, given, True, recording, self.stand_ins)
        filled = [zero if one is None else one for one, zero in zip(found, self.zeros)]
        return without_history_of([*self.tensors, *self.stand_ins], filled, recording)
