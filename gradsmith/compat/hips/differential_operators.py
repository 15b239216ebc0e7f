"""The differential operators of HIPS autograd."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import gradsmith.generated as generated
from gradsmith.compat.hips.boxes import ArrayBox, boxed, leaf_of, tensor_of
from gradsmith.compat.hips.vector_spaces import vspace
from gradsmith.func import jvp as forward
from gradsmith.func import vjp as reverse
from gradsmith.func import vmap
from gradsmith.numpy.arguments import as_tensor, is_tensor, np, of_dtype
from gradsmith.utils import pytree

Argnum = Any  # an integer, or a tuple or list of them


def unary_to_nary(operator: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of functions of one argument, for functions of several of which some are differentiated by."""

    @functools.wraps(operator)
    def nary(fun: Callable[..., Any], argnum: Argnum = 0, *options: Any, **named: Any) -> Callable[..., Any]:
        if not isinstance(argnum, (int, tuple, list)):
            raise TypeError(f"argnum is an integer, or a tuple or list of them, not {type(argnum).__name__}")

        @functools.wraps(fun)
        def applied(*args: Any, **kwargs: Any) -> Any:
            def unary(x: Any) -> Any:
                given = list(args)
                for place, value in [(argnum, x)] if isinstance(argnum, int) else zip(argnum, x):
                    given[place] = value
                return fun(*given, **kwargs)

            x = args[argnum] if isinstance(argnum, int) else tuple(args[place] for place in argnum)
            return operator(unary, x, *options, **named)

        return applied

    return nary


class State(threading.local):
    """Of each thread: functions that are being traced, and steps recorded whose derivatives are rules in Python."""

    depth = 0
    python_rules = 0


_state = State()


@contextlib.contextmanager
def inside_a_trace() -> Iterator[None]:
    """Results of operators keep their history."""
    _state.depth += 1
    try:
        yield
    finally:
        _state.depth -= 1


def note_python_rule() -> None:
    """A step was recorded whose derivative is a rule of the user's."""
    _state.python_rules += 1


def _given(tensor: Any) -> Any:
    """A result of an operator: outside of all functions that are differentiated, nothing is recorded any more."""
    return boxed(tensor) if _state.depth else boxed(tensor.detach())


class Trace:
    """A function as one of flat lists of tensors, and what was seen of its result."""

    def __init__(self, fun: Callable[[Any], Any], x: Any, has_aux: bool = False) -> None:
        self.fun, self.has_aux = fun, has_aux
        leaves, self.spec = pytree.flatten(x)
        self.tensors = [leaf_of(leaf) for leaf in leaves]
        self.out_spec: Any = None
        self.depends = False
        self.python_rules = False
        self.aux: Any = None

    def __call__(self, *tensors: Any) -> Any:
        found = self.called([ArrayBox(tensor) for tensor in tensors])
        if not self.has_aux:
            return self.flat(found)
        result, aux = found
        leaves, spec = pytree.flatten(aux)
        places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, ArrayBox)]
        self.aux = (leaves, spec, places)
        return self.flat(result), [leaves[n].tensor for n in places]

    def called(self, boxes: list[Any]) -> Any:
        before = _state.python_rules
        try:
            with inside_a_trace():
                return self.fun(self.spec.unflatten(boxes))
        finally:
            self.python_rules = _state.python_rules != before

    def flat(self, result: Any) -> tuple[Any, ...]:
        leaves, self.out_spec = pytree.flatten(result)
        self.depends = any(isinstance(leaf, ArrayBox) for leaf in leaves)
        return tuple(leaf.tensor if isinstance(leaf, ArrayBox) else tensor_of(_float(leaf)) for leaf in leaves)

    def aux_of(self, tensors: Any) -> Any:
        leaves, spec, places = self.aux
        for place, tensor in zip(places, tensors):
            leaves[place] = _given(tensor)
        return spec.unflatten(leaves)


def _float(leaf: Any) -> Any:
    return float(leaf) if isinstance(leaf, int) else leaf


def _conjugated(tensor: Any) -> Any:
    """Here the gradient of a real function is its steepest ascent, there the conjugate of that."""
    return tensor.conj() if tensor.dtype.kind == "c" else tensor


def _like(value: Any, tensor: Any) -> Any:
    """A cotangent or tangent of the user's, in the shape and dtype of what it belongs to."""
    found = value.tensor if isinstance(value, ArrayBox) else as_tensor(np.asarray(value))
    return of_dtype(found, tensor.dtype).expand(tensor.shape)


def _make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    trace = Trace(fun, x)
    outputs, pullback = reverse(trace, *trace.tensors)
    return _vjp_of(trace, outputs, pullback), trace.out_spec.unflatten([_given(one) for one in outputs])


def _vjp_of(trace: Trace, outputs: Any, pullback: Any) -> Callable[[Any], Any]:
    if not trace.depends:
        warnings.warn("Output seems independent of input.", stacklevel=4)

    def vjp(cotangent: Any) -> Any:
        given = pytree.leaves_like(trace.out_spec, cotangent)
        vectors = tuple(_conjugated(_like(one, tensor)) for one, tensor in zip(given, outputs))
        found = pullback(vectors)
        return trace.spec.unflatten([_given(_conjugated(one)) for one in found])

    vjp.trace, vjp.outputs, vjp.pullback = trace, outputs, pullback  # type: ignore[attr-defined]
    return vjp


def _make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    def jvp(tangent: Any) -> tuple[Any, Any]:
        trace = Trace(fun, x)
        given = pytree.leaves_like(trace.spec, tangent)
        vectors = tuple(_like(one, tensor) for one, tensor in zip(given, trace.tensors))
        values, tangents = forward(trace, tuple(trace.tensors), vectors)
        return tuple(trace.out_spec.unflatten([_given(one) for one in found]) for found in (values, tangents))

    return jvp


_ONE = np.float64(1.0)

make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)


def _ones_of_number(operator: str, answer: Any) -> Any:
    if type(answer) is np.float64:  # by far the most common answer
        return _ONE
    space = vspace(answer)
    if space.size != 1:
        raise TypeError(
            f"{operator} only applies to real scalar-output functions. "
            "Try jacobian, elementwise_grad or holomorphic_grad."
        )
    return space.ones()


@unary_to_nary
def grad(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives the gradient of `fun`, which gives one real number, in the type of the argument.

    Parameters
    ----------
    fun : callable
        Of arrays, numbers, and trees of these.
    argnum : int, or tuple or list of int
        The argument to differentiate by; of several the gradient is a tuple.

    Examples
    --------
    >>> import gradsmith.compat.hips.numpy as np
    >>> from gradsmith.compat.hips import grad
    >>> grad(lambda p: np.sum(p["w"] ** 2) * p["b"])({"w": np.array([1.0, 2.0]), "b": 3.0})
    {'w': array([ 6., 12.]), 'b': np.float64(5.0)}
    """
    vjp, answer = _make_vjp(fun, x)
    return vjp(_ones_of_number("Grad", answer))


@unary_to_nary
def value_and_grad(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives the value of `fun` and its gradient, as `scipy.optimize` takes them."""
    vjp, answer = _make_vjp(fun, x)
    return answer, vjp(_ones_of_number("value_and_grad", answer))


@unary_to_nary
def elementwise_grad(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives the sum of each column of the Jacobian; of elementwise functions that is its diagonal."""
    vjp, answer = _make_vjp(fun, x)
    if vspace(answer).iscomplex:
        raise TypeError("Elementwise_grad only applies to real-output functions.")
    return vjp(vspace(answer).ones())


@unary_to_nary
def deriv(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives the derivative in forward mode, in the direction of ones."""
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives the Jacobian, of shape (*output, *input), of a function from array to array."""
    vjp, _ = _make_vjp(fun, x)
    if len(vjp.outputs) != 1 or len(vjp.trace.tensors) != 1:
        raise TypeError("jacobian applies to functions from one array to one array")
    (output,), (tensor,) = vjp.outputs, vjp.trace.tensors
    rows = _rows(vjp, output)
    return _given(rows.reshape((*output.shape, *tensor.shape)))


def _rows(vjp: Any, output: Any) -> Any:
    """All gradients at once; one by one through rules that are written in Python, which see arrays."""
    count = output.numel()
    units = as_tensor(np.eye(count).reshape(count, *output.shape), output.dtype)

    def row(unit: Any) -> Any:
        return _conjugated(vjp.pullback((unit,))[0])

    if count == 0:
        return output.new_zeros((0, *vjp.trace.tensors[0].shape))
    if vjp.trace.python_rules:
        return generated.stack([row(unit) for unit in units.unbind(0)])
    return vmap(row)(units)


@unary_to_nary
def holomorphic_grad(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives the derivative of a holomorphic function."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=2)
    return grad(lambda z: fun(z).real)(x)


def grad_named(fun: Callable[..., Any], argname: str) -> Callable[..., Any]:
    """Function that gives the gradient by the argument of a name."""
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))  # type: ignore[no-any-return]


@unary_to_nary
def grad_and_aux(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives the gradient of the first result of `fun`, and the second one as it is."""
    trace = Trace(fun, x, has_aux=True)
    outputs, pullback, aux = reverse(trace, *trace.tensors, has_aux=True)
    vjp = _vjp_of(trace, outputs, pullback)
    answer = trace.out_spec.unflatten([_given(one) for one in outputs])
    return vjp(_ones_of_number("grad_and_aux", answer)), trace.aux_of(aux)


def multigrad_dict(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Function that gives the gradients by all arguments, as a dict with their names."""
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def by_names(named: Any) -> Any:
            given = inspect.BoundArguments(signature, OrderedDict(named))
            return fun(*given.args, **given.kwargs)

        return OrderedDict(grad(by_names)(dict(bound.arguments)))

    return gradients


# ---- of second order, and products


@unary_to_nary
def hessian(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives the Hessian, of shape (*input, *input)."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives products of the Hessian at a point with vectors, and the gradient there."""
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Function of the arguments and a tensor that gives the product of the Hessian with the tensor."""
    gradient = grad(fun, argnum)

    def contracted(*args: Any, **kwargs: Any) -> Any:
        *given, vector = args
        return _tensordot(gradient(*given, **kwargs), vector, np.ndim(_shape_of(vector)))

    return grad(contracted, argnum)  # type: ignore[no-any-return]


def tensor_jacobian_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Function of the arguments and a tensor that gives the product of the tensor with the Jacobian."""

    def contracted(*args: Any, **kwargs: Any) -> Any:
        *given, vector = args
        return _tensordot(vector, fun(*given, **kwargs), np.ndim(_shape_of(vector)))

    return jacobian(contracted, argnum)  # type: ignore[no-any-return]


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


def _shape_of(value: Any) -> Any:
    """Something of as many dimensions, without derivatives."""
    return np.empty(value.shape) if isinstance(value, ArrayBox) else value


def _tensordot(a: Any, b: Any, count: int) -> Any:
    from gradsmith.compat.hips.numpy import tensordot

    return tensordot(a, b, count)


@unary_to_nary
def make_jvp_reversemode(fun: Callable[[Any], Any], x: Any) -> Any:
    """Function that gives products of the Jacobian with vectors, by reverse mode twice."""
    vjp, answer = _make_vjp(fun, x)
    twice, _ = _make_vjp(vjp, vspace(answer).zeros())
    return twice


def _half_square(x: Any) -> Any:
    return (x * x).sum(axis=-1) / 2 if np.ndim(_shape_of(x)) else x * x / 2


def make_ggnvp(fun: Callable[..., Any], g: Callable[..., Any] = _half_square, f_argnum: int = 0) -> Callable[..., Any]:
    """Function that gives products with the generalized Gauss-Newton matrix of ``g(fun(x))``."""

    @unary_to_nary
    def make(fun: Callable[[Any], Any], x: Any) -> Any:
        pull, answer = _make_vjp(fun, x)
        curve, slope = _make_vjp(grad(g), answer)
        push, _ = _make_vjp(pull, vspace(slope).zeros())
        return lambda vector: pull(curve(push(vector)))

    return make(fun, f_argnum)  # type: ignore[no-any-return]


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose intermediate values are computed again for its gradient, instead of being kept."""
    from gradsmith.utils.checkpoint import checkpoint as recomputed

    @functools.wraps(fun)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = pytree.flatten((args, kwargs))
        places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, ArrayBox)]
        if not places:
            return fun(*args, **kwargs)

        def of_tensors(*tensors: Any) -> Any:
            given = list(leaves)
            for place, tensor in zip(places, tensors):
                given[place] = boxed(tensor)
            some, named = spec.unflatten(given)
            return _with_tensors(fun(*some, **named))

        found = recomputed(of_tensors, *[leaves[n].tensor for n in places], use_reentrant=False)
        return pytree.tree_map(lambda leaf: boxed(leaf) if is_tensor(leaf) else leaf, found)

    return wrapped


def _with_tensors(tree: Any) -> Any:
    return pytree.tree_map(lambda leaf: leaf.tensor if isinstance(leaf, ArrayBox) else leaf, tree)
