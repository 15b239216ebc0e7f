"""Tensors that modules know as theirs: parameters, buffers, and both before their shape is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import float16, float32, float64
from gradsmith.runtime.overrides.dispatch import _disabled_torch_function_impl
from gradsmith.runtime.tensors.factories.creation import empty

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy",
]  # fmt: skip


class _MarkedClass(type(Tensor)):  # type: ignore[misc]
    """Class of which a tensor of any class is an instance once it is marked so."""

    mark: str

    def __instancecheck__(cls, instance: Any) -> bool:
        marked = "mark" in cls.__dict__ and isinstance(instance, Tensor) and getattr(instance, cls.mark, False)
        return bool(marked) or super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_MarkedClass):
    """A tensor that a module learns: assigned to an attribute of a module, it is one of its `parameters()`.

    Parameters
    ----------
    data : Tensor, optional
        Whose memory the parameter shares, without its history; an empty tensor when it is not given. Of a class
        written over Tensor, the parameter is of this class too, and still ``isinstance(p, Parameter)``.
    requires_grad : bool, optional
        Whether operations are recorded; also under `no_grad`.

    Raises
    ------
    TypeError
        `data` is no tensor.
    RuntimeError
        A gradient is asked for of integers.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Parameter(gs.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    mark = "_is_param"
    # What is computed with a parameter is a plain tensor.
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter(): argument 'data' must be Tensor, not {type(data).__name__}")
        if type(data) in (Tensor, Parameter):
            return Tensor._make_subclass(cls, data, requires_grad)
        own = Tensor._make_subclass(type(data), data, requires_grad)
        own._is_param = True  # type: ignore[attr-defined]
        return own

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A parameter with the same values and no gradient."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor, metaclass=_MarkedClass):
    """A tensor that belongs to the state of a module, though it is not learned: assigned, it is one of its `buffers()`.

    What is made is a tensor of the class of `data` with a mark, for which ``isinstance(b, Buffer)`` holds.

    Parameters
    ----------
    data : Tensor, optional
        Whose memory the buffer shares; an empty tensor when it is not given.
    persistent : bool, optional
        Whether it is part of the module's `state_dict()`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> module = gs.nn.Module()
    >>> module.steps = gs.nn.Buffer(gs.tensor(0))
    >>> list(module.state_dict())
    ['steps']
    """

    mark = "_is_buffer"
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = empty(0)
        own: Any = Tensor._make_subclass(type(data), data, data.requires_grad)
        own.persistent, own._is_buffer = persistent, True
        return own


# ---- before the shape is known

# All that may be done to a tensor without a shape, besides what is not a tensor's.
_ALLOWED = {
    "__class__", "__dict__", "__hash__", "__deepcopy__", "__reduce_ex__", "__repr__", "_make_subclass", "_version",
    "copy_", "cpu", "data", "device", "dtype", "get_device", "grad", "grad_fn", "is_complex", "is_cpu", "is_cuda",
    "is_floating_point", "is_leaf", "is_meta", "name", "requires_grad", "requires_grad_", "size",
}  # fmt: skip
_OPERATORS = (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "pow", "rpow", "matmul",
    "rmatmul", "neg", "abs", "lt", "le", "gt", "ge", "getitem", "setitem", "len", "iter", "bool", "float", "int",
)  # fmt: skip


class UninitializedTensorMixin:
    """Base of parameters and buffers without a shape: they can only be converted and materialized."""

    cls_to_become: Any = None
    __torch_function__ = _disabled_torch_function_impl

    def materialize(self: Any, shape: Sequence[int], device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter or buffer of this shape, whose values are not set yet.

        Parameters
        ----------
        shape : tuple of int
        device, dtype : optional
            Those that the tensor has when they are not given.

        Raises
        ------
        TypeError
            `shape` is no tuple of ints.
        """
        if isinstance(shape, (str, bytes)):
            raise TypeError(f"materialize(): argument 'shape' must be a tuple of ints, not {type(shape).__name__}")
        place, kind = self.data.device, self.data.dtype
        self.data = empty(shape, device=place if device is None else device, dtype=kind if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def detach(self) -> Any:
        """The tensor itself: there is nothing that could be detached."""
        return self

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        """What is not initialized either, of another dtype or on another device; see ``Tensor.to``."""
        converted = Tensor.to(self, *args, **kwargs)
        if converted is self:
            return self
        own = Tensor._make_subclass(type(self), converted.detach(), self.requires_grad)
        own.__dict__.update(self.__dict__)
        return own

    def __getattribute__(self, name: str) -> Any:
        if name not in _ALLOWED and hasattr(Tensor, name) and name not in UninitializedTensorMixin.__dict__:
            raise _not_initialized(self, name)
        return super().__getattribute__(name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)


def _not_initialized(tensor: Any, what: str) -> ValueError:
    return ValueError(
        f"Attempted to use an uninitialized parameter in {what}. This error happens when you are using a `LazyModule` "
        f"or explicitly manipulating `gradsmith.nn.parameter.{type(tensor).__name__}` objects. When using LazyModules "
        "Call `forward` with a dummy batch to initialize the parameters before calling functions of tensors"
    )


def _refusing(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        raise _not_initialized(self, name)

    method.__name__ = name
    return method


def _converting(dtype: Any) -> Any:
    def method(self: Any) -> Any:
        return self.to(dtype)

    return method


for _operator in _OPERATORS:
    setattr(UninitializedTensorMixin, f"__{_operator}__", _refusing(f"__{_operator}__"))
for _name, _dtype in (("half", float16), ("float", float32), ("double", float64)):
    setattr(UninitializedTensorMixin, _name, _converting(_dtype))


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter of a shape that is not known yet: the first call of a lazy module materializes it.

    Parameters
    ----------
    requires_grad : bool, optional
    device, dtype : optional
        What the parameter will have.

    Examples
    --------
    >>> import gradsmith as gs
    >>> weight = gs.nn.UninitializedParameter()
    >>> weight
    <UninitializedParameter>
    >>> weight.materialize((2, 3))
    >>> type(weight).__name__, weight.shape
    ('Parameter', (2, 3))
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return Tensor._make_subclass(cls, empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


class MaterializedBuffer(Tensor):
    """What an `UninitializedBuffer` becomes: Python turns no object into one of a class written in C."""

    __torch_function__ = _disabled_torch_function_impl


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer of a shape that is not known yet; see `UninitializedParameter`."""

    cls_to_become = MaterializedBuffer

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        own: Any = Tensor._make_subclass(cls, empty(0, device=device, dtype=dtype), requires_grad)
        own.persistent, own._is_buffer = persistent, True
        return own

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype, self.persistent)
        return memo[id(self)]


def is_lazy(param: Any) -> bool:
    """Is `param` a parameter or buffer whose shape is not known yet?"""
    return isinstance(param, UninitializedTensorMixin)
