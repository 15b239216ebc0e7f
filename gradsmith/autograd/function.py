"""Custom Functions: operations whose forward and backward are written in Python.

See docs/guide/custom_function.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from gradsmith.runtime.custom_function import function as custom_function
from gradsmith.runtime.custom_function import node as function_node
from gradsmith.runtime.custom_function.once_differentiable import once_differentiable
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class FunctionCtx:
    """The argument `ctx`, through which `forward` or `setup_context` pass values to `backward`.

    Attributes that are set on `ctx` are there in `backward` and `jvp`. Tensors that backward needs belong into
    `save_for_backward`: there, a change made in place is noticed, and memory is freed by the backward.
    """

    to_save: tuple[Any, ...] | None
    saved_for_forward: tuple[Any, ...] | None
    dirty_tensors: tuple[Any, ...] | None
    non_differentiable: tuple[Any, ...] | None
    materialize_grads: bool

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for `backward`, which finds them in ``ctx.saved_tensors``. To be called once.

        Parameters
        ----------
        *tensors : Tensor or None
            Inputs, outputs or intermediate results. Anything backward computes from intermediate results is not
            differentiable any further: compute them again from inputs for a second derivative, or return them too.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`, which finds them in ``ctx.saved_tensors``. To be called once.

        Parameters
        ----------
        *tensors : Tensor or None
            Inputs, outputs or intermediate results.
        """
        for position, tensor in enumerate(tensors):
            if tensor is not None and not is_tensor(tensor):
                raise AssertionError(
                    f"save_for_forward expects all arguments to be tensors, but argument {position} is of type "
                    f"{type(tensor).__name__}; you should save non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs forward has changed in place. Each has to be an output too. To be called once.

        Parameters
        ----------
        *tensors : Tensor
            The changed inputs.
        """
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which outputs have no gradient. To be called once.

        Parameters
        ----------
        *tensors : Tensor
            Outputs. Those of an integer or bool dtype need not be named. `backward` still gets an argument for each:
            zeros.
        """
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Say what `backward` and `jvp` get for a gradient that did not arrive.

        Parameters
        ----------
        value : bool
            True for zeros, which is the default; False for None.
        """
        self.materialize_grads = value


# The name that programs test contexts with.
_ContextMethodMixin = FunctionCtx


class BackwardCFunction(function_node.FunctionNode, FunctionCtx):
    """Base of the nodes of all custom Functions. Each Function has its own subclass, ``<name>Backward``."""

    _forward_cls: type[Function]

    @property
    def saved_variables(self) -> Any:
        """Old name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def apply(self, *grads: Any) -> Any:
        """Call the backward of the Function."""
        cls = self._forward_cls
        arguments = (list(grads),) if cls.boxed_grads_call else grads
        return function_node.backward_of(cls)(self, *arguments)


class FunctionMeta(type):
    """Gives every Function the class of its nodes."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        members = {"_forward_cls": cls, "__module__": cls.__module__}
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), members)


def _function_of(ctx: Any) -> str:
    """Name of the Function that a context belongs to."""
    return getattr(getattr(ctx, "_forward_cls", None), "__name__", "Function")


class Function(metaclass=FunctionMeta):
    """Base of custom Functions: subclass it, define `forward` and `backward`, call ``apply``.

    All methods are static. Recording is off while `forward` runs, so it may compute with gradsmith, with NumPy or with
    anything else; its outputs are recorded as results of one operation.

    Examples
    --------
    >>> class Exp(gradsmith.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         result = x.exp()
    ...         ctx.save_for_backward(result)
    ...         return result
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (result,) = ctx.saved_tensors
    ...         return grad * result
    >>> y = Exp.apply(gradsmith.ones(3, requires_grad=True))
    """

    # ``ctx.saved_tensors`` may be read once, and what it gave is freed as soon as backward drops it.
    clear_saved_tensors_on_access = False
    # ``backward(ctx, grads)`` gets one list, and frees the gradients that it takes out of it.
    boxed_grads_call = False
    # Under `vmap`, the methods are called with batched tensors; see also the static method `vmap`.
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"an instance of {type(self).__name__} was called: Legacy autograd function with non-static forward method "
            f"is not supported. Make forward a static method and call {type(self).__name__}.apply(...)."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: ``forward(ctx, *inputs)``, or ``forward(*inputs)`` together with `setup_context`.

        Parameters
        ----------
        ctx : FunctionCtx
            Takes what backward needs. Only without `setup_context`.
        *inputs : object
            The arguments of `apply`. Only tensors among them, not those inside lists or dicts, have gradients.

        Returns
        -------
        Tensor, or tuple of Tensor and other things
            What is no tensor is handed through.
        """
        name = _function_of(args[0]) if args else "Function"
        raise NotImplementedError(f"{name}: You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Say on `ctx` what backward needs, after a `forward` that has no `ctx`.

        Parameters
        ----------
        ctx : FunctionCtx
            As in `forward`.
        inputs : tuple
            The positional arguments of `forward`, with defaults.
        output : object
            What `forward` returned.
        """
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the inputs from those of the outputs.

        Parameters
        ----------
        ctx : FunctionCtx
            As `forward` left it; ``ctx.needs_input_grad[i]`` says whether this run asks for the gradient of input `i`.
        *grad_outputs : Tensor or None
            One per output.

        Returns
        -------
        Tensor, None, or tuple of these
            One per input; None for what has no gradient.
        """
        raise NotImplementedError(
            f"{_function_of(ctx)}: You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    # The other name that `backward` may be written under.
    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Tangents of the outputs from those of the inputs, for forward mode.

        Parameters
        ----------
        ctx : FunctionCtx
            As `forward` left it; ``ctx.saved_tensors`` has what `save_for_forward` was given.
        *tangents : Tensor or None
            One per input. That of an input which forward has written must be written and returned.

        Returns
        -------
        Tensor, None, or tuple of these
            One per output; None for zero. That of a view must be a view.
        """
        raise NotImplementedError(
            f"{_function_of(ctx)}: You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Compute the outputs for all slices under `gradsmith.func.vmap`, usually by another call of ``apply``.

        Needs `setup_context`. A Function whose methods consist of operations of gradsmith sets
        ``generate_vmap_rule = True`` in the place of this method.

        Parameters
        ----------
        info : VmapInfo
            Has a `batch_size`, the number of slices, and the `randomness` that `vmap` was called with.
        in_dims : tuple
            For each argument the dimension of the slices, 0, or None where the argument is the same for all; for a
            tuple or list, one of these.
        *args : object
            The arguments of `apply`, with all slices.

        Returns
        -------
        output : Tensor, or tuple of Tensor and other things
            With all slices.
        out_dims : int, None, or tuple of these
            Where the dimension of the slices is in each output; None where there is none.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set "
            "generate_vmap_rule=True."
        )

    apply: ClassVar[Callable[..., Any]] = classmethod(custom_function.apply)  # type: ignore[assignment]


upcalls.fill(function_type=Function)


class InplaceFunction(Function):
    """A Function with an attribute `inplace`, kept for programs that derive from it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
