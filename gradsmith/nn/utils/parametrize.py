"""Tensors of a module as functions of other tensors, which are learned in their place.

>>> import gradsmith as gs
>>> from gradsmith import nn
>>> from gradsmith.nn.utils import parametrize
>>> class Symmetric(nn.Module):
...     def forward(self, x):
...         return x.triu() + x.triu(1).T
>>> layer = nn.Linear(3, 3)
>>> _ = parametrize.register_parametrization(layer, "weight", Symmetric())
>>> bool((layer.weight == layer.weight.T).all())
True
>>> [name for name, _ in layer.named_parameters()]
['bias', 'parametrizations.weight.original']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.container import ModuleDict, ModuleList
from gradsmith.nn.modules.module import Module
from gradsmith.nn.parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip


class _Cache:
    """Values of parametrized tensors, kept while a block of `cached` is open."""

    def __init__(self) -> None:
        self.blocks = 0
        self.values: dict[tuple[int, str], Tensor] = {}


_cache = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once in a ``with`` block, however often it is used."""
    _cache.blocks += 1
    try:
        yield
    finally:
        _cache.blocks -= 1
        if not _cache.blocks:
            _cache.values.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after the other, and the tensors that they start from.

    Parameters
    ----------
    modules : sequence of Module
    original : Tensor
        The tensor that is parametrized. It becomes `original`; when the last `right_inverse` returns several tensors,
        these become `original0`, `original1` and so on.
    unsafe : bool, optional
        Whether shape and dtype may change.

    Raises
    ------
    ValueError
        There is no module, or what a module returns does not fit.
    """

    original: Any

    def __init__(self, modules: Sequence[Any], original: Any, unsafe: bool = False) -> None:
        if not len(modules):
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            start: Any = self._inverse_where_there_is_one(original)
        self.is_tensor = isinstance(start, Tensor)
        if not self.is_tensor and not isinstance(start, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(start).__name__}"
            )
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor:
            self._start_from_one(original, start)
        else:
            self._start_from_several(original, start)
        if not unsafe:
            _check_unchanged(self(), shape, dtype)

    def _inverse_where_there_is_one(self, value: Any) -> Any:
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                with suppress(NotImplementedError):
                    value = module.right_inverse(value)
        return value

    def _start_from_one(self, original: Any, start: Any) -> None:
        for what, own, new in (("dtype", original.dtype, start.dtype), ("device", original.device, start.device)):
            if own != new:
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\noriginal.{what}: {own}\n"
                    f"right_inverse(original).{what}: {new}"
                )
        original.data = start.detach()
        _register(self, "original", original)

    def _start_from_several(self, original: Any, start: Sequence[Any]) -> None:
        for number, one in enumerate(start):
            if not isinstance(one, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{number} of the sequence with type {type(one).__name__}."
                )
        for number, one in enumerate(start):
            if isinstance(original, Parameter):
                one = Parameter(one.detach(), original.requires_grad)
            _register(self, f"original{number}", one.requires_grad_(original.requires_grad))

    def right_inverse(self, value: Any) -> None:
        """Set the original tensors so that the parametrized one has a value: each module's `right_inverse`, backwards.

        Raises
        ------
        RuntimeError
            A module has no `right_inverse`.
        ValueError
            What one returns does not fit.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
        for name, new in zip(self._names(), self._as_originals(value)):
            if is_parametrized(self, name):
                setattr(self, name, new)
            else:
                getattr(self, name).data = new.detach()

    def _as_originals(self, value: Any) -> list[Any]:
        if self.is_tensor and not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if not self.is_tensor and not isinstance(value, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
        given = [value] if self.is_tensor else list(value)
        if len(given) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(given)}."
            )
        for number, (own, new) in enumerate(zip(self._originals(), given)):
            if not isinstance(new, Tensor) or new.dtype != own.dtype:
                found = f"dtype {new.dtype}" if isinstance(new, Tensor) else f"type {type(new).__name__}"
                raise ValueError(
                    f"Tensor {number} returned by `right_inverse` has {found} while `original{number}` has dtype "
                    f"{own.dtype}"
                )
        return given

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{number}" for number in range(self.ntensors)]

    def _originals(self) -> list[Any]:
        return [getattr(self, name) for name in self._names()]

    # An original may be parametrized too. What computes it is then a module of this list as well, without being one of
    # its elements.

    def __len__(self) -> int:
        return len(self._modules) - ("parametrizations" in self._modules)

    def __iter__(self) -> Iterator[Any]:
        return (module for name, module in self._modules.items() if name != "parametrizations")

    def __repr__(self) -> str:
        return Module.__repr__(self) if is_parametrized(self) else super().__repr__()

    def forward(self) -> Any:
        """The parametrized tensor."""
        first, *rest = self
        value = first(*self._originals())
        for module in rest:
            value = module(value)
        return value


def register_parametrization(module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False) -> Any:
    """Compute a tensor of a module by another module, whose input is learned in its place.

    Parameters
    ----------
    module : Module
        It becomes one of a class of its own, whose attribute is the parametrized tensor.
    tensor_name : str
        The name of a parameter or buffer.
    parametrization : Module
        Called with the original tensor. Its `right_inverse`, if there is one, gives the original at first, and when the
        attribute is assigned to.
    unsafe : bool, optional
        Whether shape and dtype may change.

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    ValueError
        There is no tensor of that name, or what the parametrization returns does not fit.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = module.parametrizations[tensor_name]
        if not unsafe:
            _check_next(parametrization, getattr(module, tensor_name))
        chain.append(parametrization)
        chain.unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    chain = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        module.__class__ = _class_with_properties(type(module))
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = chain
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Is a tensor of a module parametrized, or any of them when no name is given?"""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make an ordinary parameter or buffer of a parametrized tensor.

    Parameters
    ----------
    module : Module
    tensor_name : str
    leave_parametrized : bool, optional
        Whether it keeps its value; otherwise it gets that of the original.

    Returns
    -------
    Module
        `module`, of its former class when nothing of it is parametrized any more.

    Raises
    ------
    ValueError
        The tensor is not parametrized, or has several originals and shall get their value.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if not chain.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    plain = _plain(chain, getattr(module, tensor_name), leave_parametrized)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, plain)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def _plain(chain: Any, value: Any, keep_value: bool) -> Any:
    if not chain.is_tensor or is_parametrized(chain, "original"):
        value = value if keep_value else chain.original
        return Parameter(value.detach()) if value.requires_grad else value
    if keep_value:
        chain.original.data = value.detach()
    return chain.original


def type_before_parametrizations(module: Any) -> type:
    """The class that a module had before anything of it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Parametrize tensors of a module as those of another one, with the same originals.

    Parameters
    ----------
    from_module, to_module : Module
    tensor_name : str, optional
        One name; all that are parametrized when it is not given.

    Returns
    -------
    Module
        `to_module`.
    """
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        chain = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for parametrization in chain:
            register_parametrization(to_module, name, parametrization)
        for own in chain._names():
            setattr(to_module.parametrizations[name], own, getattr(chain, own))
    return to_module


# ---- the class of a parametrized module


def _class_with_properties(cls: Any) -> Any:
    """A class over `cls` for one module, which may have properties of its own."""
    methods: dict[str, Any] = {"__getstate__": _refuse_state}
    if not hasattr(cls, "__deepcopy__"):
        methods["__deepcopy__"] = _copied
    return type(f"Parametrized{cls.__name__}", (cls,), methods)


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        cls: Any = type(self)
        memo[id(self)] = copy = cls.__new__(cls)
        copy.__dict__.update(deepcopy(self.__dict__, memo))
    return memo[id(self)]


def _refuse_state(self: Any) -> Any:
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")


def _property(name: str) -> property:
    def value(self: Any) -> Any:
        chain = self.parametrizations[name]
        if not _cache.blocks:
            return chain()
        key = (id(self), name)
        if key not in _cache.values:
            _cache.values[key] = chain()
        return _cache.values[key]

    def assign(self: Any, new: Any) -> None:
        self.parametrizations[name].right_inverse(new)

    return property(value, assign)


def _register(module: Any, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


# ---- checks


def _check_unchanged(value: Any, shape: Any, dtype: Any) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
    for what, before, after in (("dtype", dtype, value.dtype), ("shape", shape, value.shape)):
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
            )


def _check_next(parametrization: Any, before: Any) -> None:
    """May a parametrization follow those that a tensor has already?"""
    after = parametrization(before)
    _check_unchanged(after, before.shape, before.dtype)
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what, own, new in (("dtype", before.dtype, back.dtype), ("shape", before.shape, back.shape)):
        if own != new:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as the parametrized "
                f"one, unless the `unsafe` flag is enabled.\nown {what}: {own}\nreturned {what}: {new}"
            )
