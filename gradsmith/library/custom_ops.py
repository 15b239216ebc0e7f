"""Operators of one's own as PyTorch's ``custom_op`` makes them: a function, and what is registered for it.

A call is that of an `autograd.Function`, to which tensors in lists are given one by one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradsmith.autograd.function import Function
from gradsmith.generated import stack
from gradsmith.generated.tensor import Tensor
from gradsmith.library.schemas import infer_schema, signature_of, written
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing
from gradsmith.runtime.switches.grad_mode import is_grad_enabled, no_grad
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree

Implementation = Callable[..., Any]

_operators: dict[str, CustomOpDef] = {}


def custom_op(
    name: str,
    fn: Implementation | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
) -> Any:
    """Make an operator of a function, which may compute with NumPy or anything else.

    Parameters
    ----------
    name : str
        "namespace::name"; ``torch.ops.namespace.name`` is the operator too.
    fn : callable, optional
        The function, with annotations. Without it, the result is a decorator.
    mutates_args : "unknown" or iterable of str
        The names of the tensors that the function writes to. Others it may not write to, and none may it return.
    device_types : str or sequence of str, optional
        There is one device: an operator for another one is not called.
    schema : str, optional
        The signature in PyTorch's words; by default that of the annotations.

    Returns
    -------
    CustomOpDef
        Called as the function is.

    Raises
    ------
    ValueError
        The name has no namespace, or `infer_schema` raises.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import numpy as np
    >>> @gs.library.custom_op("docs::sine", mutates_args=())
    ... def sine(x: gs.Tensor) -> gs.Tensor:
    ...     return gs.from_numpy(np.sin(x.detach().numpy()))
    >>> sine.register_autograd(
    ...     lambda ctx, grad: grad * ctx.saved_tensors[0].cos(),
    ...     setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    ... )
    >>> x = gs.zeros(2, requires_grad=True)
    >>> gs.ops.docs.sine(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """

    def make(function: Implementation) -> CustomOpDef:
        operator = CustomOpDef(name, function, mutates_args, schema, device_types)
        _operators[operator._qualname] = operator
        return operator

    return make if fn is None else make(fn)


def operator_named(name: str) -> CustomOpDef | None:
    """The operator of a name with its namespace, "namespace::name"."""
    return _operators.get(name)


def names_in(namespace: str) -> list[str]:
    """The names of the operators of a namespace."""
    return [name.removeprefix(f"{namespace}::") for name in _operators if name.startswith(f"{namespace}::")]


class CustomOpDef:
    """An operator that `custom_op` has made."""

    def __init__(
        self,
        name: str,
        function: Implementation,
        mutates_args: str | Iterable[str],
        schema: str | None,
        device_types: str | Sequence[str] | None,
    ) -> None:
        namespace, separator, own_name = name.partition("::")
        if not (separator and namespace and own_name):
            raise ValueError(f"custom_op(): expected name to be 'namespace::name', got {name!r}")
        self._qualname = name
        self._name = own_name
        self._signature = signature_of(function)
        self._schema = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        self._written = written(self._signature, mutates_args)
        self._kernel: Implementation | None = function if _is_for_cpu(device_types) else None
        self._init_fn = function
        self._fake: Implementation | None = None
        self._backward: Implementation | None = None
        self._setup_context: Implementation | None = None
        self._batched: Implementation | None = None
        self._gives_list = self._schema.endswith("-> Tensor[]")
        self._function = _function_of(self)
        self.__name__ = own_name
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __getattr__(self, overload: str) -> CustomOpDef:
        """The only overload, ``default``, is the operator itself."""
        if overload != "default":
            raise AttributeError(f"an operator has no attribute {overload!r}", name=overload)
        return self

    def __reduce__(self) -> Any:
        """There is one operator of a name, which copies and other processes find by it."""
        return operator_named, (self._qualname,)

    # ---- what is registered

    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Implementation | None = None, /) -> Any:
        """Another implementation for devices, of which "cpu" is the only one here."""

        def register(function: Implementation) -> Implementation:
            if _is_for_cpu(device_types):
                self._kernel = function
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn: Implementation, /) -> Implementation:
        """What is computed for tensors without data, on the device "meta": results of the right sizes."""
        self._fake = fn
        return fn

    def register_autograd(self, backward: Implementation, /, *, setup_context: Implementation | None = None) -> None:
        """The gradient: ``backward(ctx, *grads)`` gives one for each argument, None for what is no tensor.

        ``setup_context(ctx, inputs, output)`` is called after the operator, with the arguments as a tuple, and keeps
        what the gradient needs, as that of an `autograd.Function`.
        """
        if self._written:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self!r} with schema {self._schema}. "
                "Please create a functional operator and register an autograd formula for that."
            )
        self._backward, self._setup_context = backward, setup_context

    def register_vmap(self, func: Implementation | None = None) -> Any:
        """The operator for a batch: ``func(info, in_dims, *args)`` gives results and the places of their batches.

        Without it, it is called for each slice.
        """

        def register(function: Implementation) -> Implementation:
            self._batched = function
            return function

        return register if func is None else register(func)

    # ---- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._arguments(args, kwargs)
        if self._written:
            return self._call_that_writes(values)
        leaves, spec = pytree.flatten(values)
        return self._as_declared(self._function.apply(*leaves, spec))

    def _as_declared(self, results: Any) -> Any:
        return list(results) if self._gives_list else results

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """A value for each parameter."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise RuntimeError(f"{self._qualname}() {error}; its signature is {self._schema}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if self._signature.parameters[name].annotation is Tensor and not is_tensor(value):
                raise RuntimeError(
                    f"{self._qualname}() Expected a value of type 'Tensor' for argument '{name}' but instead found "
                    f"type {type(value).__name__!r}."
                )
        return tuple(bound.arguments.values())

    def _called(self, function: Implementation, values: Sequence[Any]) -> Any:
        """A function that takes what the operator does."""
        named = {
            name: value
            for (name, parameter), value in zip(self._signature.parameters.items(), values, strict=True)
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        return function(*values[: len(values) - len(named)], **named)

    def _call_that_writes(self, values: tuple[Any, ...]) -> Any:
        for name, value in zip(self._signature.parameters, values, strict=True):
            if name in self._written and is_grad_enabled() and any(map(_requires_grad, pytree.flatten(value)[0])):
                raise RuntimeError(
                    f"{self._qualname} writes to {name}, which requires grad, and has no gradient through that: "
                    "call it with no_grad(), or write an operator that returns what it computes"
                )
        with no_grad():
            return self._computed(values)

    def _computed(self, values: tuple[Any, ...]) -> Any:
        """The results, which may not share memory with the arguments."""
        tensors = [leaf for leaf in pytree.flatten(values)[0] if is_tensor(leaf)]
        if any(tensor.is_meta for tensor in tensors):
            return self._called(self._needed(self._fake, "fake impl", "register_fake"), values)
        results = self._called(self._needed(self._kernel, "kernel for the CPU", "register_kernel"), values)
        self._expect_own_memory(tensors, [leaf for leaf in pytree.flatten(results)[0] if is_tensor(leaf)])
        return results

    def _expect_own_memory(self, tensors: list[Any], results: list[Any]) -> None:
        for number, result in enumerate(results):
            if any(_share_memory(result, other) for other in [*tensors, *results[:number]]):
                raise RuntimeError(
                    f"{self._qualname}: The output of this custom operator (1) must not also be an input to this "
                    "custom operator and (2) may not alias any inputs to this custom operator or other returns. Return "
                    "a clone() of the offending output tensor."
                )

    def _needed(self, function: Implementation | None, what: str, register: str) -> Implementation:
        if function is None:
            raise RuntimeError(
                f"There was no {what} registered for {self!r}. Please use `{self._name}.{register}` to add one."
            )
        return function


class _Context:
    """The `ctx` of a backward, whose `needs_input_grad` has one answer for each argument; for a list, one of each."""

    def __init__(self, ctx: Any) -> None:
        vars(self)["_ctx"] = ctx

    @property
    def needs_input_grad(self) -> tuple[Any, ...]:
        """Which gradients are asked for."""
        *asked, _ = self._ctx.needs_input_grad
        found: tuple[Any, ...] = self._ctx.structure_of_arguments.unflatten(asked)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)


def _function_of(operator: CustomOpDef) -> type[Function]:
    """The Function whose calls are those of the operator: with the leaves of its arguments, then their structure."""

    def forward(*inputs: Any) -> Any:
        *leaves, spec = inputs
        results = operator._computed(spec.unflatten(leaves))
        return tuple(results) if type(results) is list else results

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *leaves, ctx.structure_of_arguments = inputs
        if operator._setup_context is not None:
            _set_up(operator, ctx, ctx.structure_of_arguments.unflatten(leaves), operator._as_declared(output))

    def backward(ctx: Any, *grads: Any) -> Any:
        if operator._backward is None:
            raise RuntimeError(
                f"Trying to backward through {operator._qualname} but no autograd formula was registered. Please use "
                "register_autograd to add one."
            )
        found = operator._backward(_Context(ctx), *([list(grads)] if operator._gives_list else grads))
        return *_gradients_of_leaves(operator, ctx.structure_of_arguments, found), None

    def vmap(info: Any, in_dims: tuple[Any, ...], *inputs: Any) -> Any:
        *leaves, spec = inputs
        dims = in_dims[: len(leaves)]
        if operator._batched is not None:
            return operator._batched(info, spec.unflatten(dims), *spec.unflatten(leaves))
        slices = []
        for number in range(info.batch_size):
            chosen = (one if dim is None else one.select(dim, number) for one, dim in zip(leaves, dims, strict=True))
            slices.append(operator._function.apply(*chosen, spec))
        if is_tensor(slices[0]):
            return stack(slices), 0
        columns = tuple(stack(list(column)) for column in zip(*slices, strict=True))
        return columns, (0,) * len(columns)

    methods = (forward, setup_context, backward, vmap)
    name = f"GeneratedBackwardFor_{operator._qualname.replace('::', '_')}_default"
    return type(name, (Function,), {method.__name__: staticmethod(method) for method in methods})


def _set_up(operator: CustomOpDef, ctx: Any, values: tuple[Any, ...], output: Any) -> None:
    """Call `setup_context`, with arguments that only go by name in a dict where it takes that."""
    parameters = operator._signature.parameters.values()
    named = {p.name: value for p, value in zip(parameters, values, strict=True) if p.kind is p.KEYWORD_ONLY}
    setup: Any = operator._setup_context
    inputs = values[: len(values) - len(named)]
    if "keyword_only_inputs" in inspect.signature(setup).parameters:
        setup(ctx=ctx, inputs=inputs, keyword_only_inputs=named, output=output)
    else:
        setup(ctx=ctx, inputs=inputs, output=output)


def _gradients_of_leaves(operator: CustomOpDef, spec: Any, found: Any) -> list[Any]:
    """One for each leaf of the arguments; None for an argument that is a list stands for all in it."""
    given = found if isinstance(found, tuple) else (found,)
    parameters = [p for p in operator._signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if len(given) != len(parameters):
        raise RuntimeError(
            f"{operator._qualname}: the backward that was registered gave {len(given)} gradients, expected one for "
            f"each of the {len(parameters)} arguments that go by position"
        )
    gradients: list[Any] = []
    for number, child in enumerate(spec.children):
        gradient = given[number] if number < len(given) else None
        count = child.num_leaves
        gradients += (
            [gradient] if count == 1 and not isinstance(gradient, (list, tuple)) else list(gradient or [None] * count)
        )
    return gradients


def _requires_grad(leaf: Any) -> bool:
    return is_tensor(leaf) and leaf.requires_grad


def _share_memory(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if is_tracing() or any(tensor.is_meta or is_batched_tensor(tensor) for tensor in (one, other)):
        return False  # their memory is not that of the program
    return np.shares_memory(one.detach().numpy(), other.detach().numpy())


def _is_for_cpu(device_types: str | Sequence[str] | None) -> bool:
    return device_types is None or "cpu" in ([device_types] if isinstance(device_types, str) else device_types)
