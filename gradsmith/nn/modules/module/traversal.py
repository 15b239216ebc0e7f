"""Walks over a module and all that is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module.registry import Registry
from gradsmith.nn.parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

    from gradsmith.nn.modules.module.module import Module


class Traversal(Registry):
    """Names of modules in modules are joined by dots: ``"encoder.0.weight"``."""

    # ---- modules

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the modules directly in this one, each once."""
        seen: set[Any] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly in this one, each once."""
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """(name, module) of this module, whose name is `prefix`, and of all modules in it.

        Parameters
        ----------
        memo : set of Module, optional
            Modules that are passed over; those that were found are added.
        prefix : str, optional
        remove_duplicate : bool, optional
            Whether a module that has several names comes once.
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)  # type: ignore[arg-type]
        yield prefix, self  # type: ignore[misc]
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all modules in it, each once."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    # ---- parameters and buffers

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(name, parameter) of this module and, with `recurse`, of all modules in it.

        Parameters
        ----------
        prefix : str, optional
            Stands before all names.
        recurse : bool, optional
        remove_duplicate : bool, optional
            Whether a parameter that has several names comes once.

        Examples
        --------
        >>> from gradsmith import nn
        >>> [name for name, _ in nn.Sequential(nn.Linear(2, 3), nn.Tanh()).named_parameters()]
        ['0.weight', '0.bias']
        """
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, with `recurse`, of all modules in it, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(name, buffer) of this module and, with `recurse`, of all modules in it; see `named_parameters`."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, with `recurse`, of all modules in it, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[Any] = set()
        modules: Any = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else None
        for module_prefix, module in [(prefix, self)] if modules is None else modules:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield f"{module_prefix}.{name}" if module_prefix else name, member

    # ---- one by its name

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name; the empty name is this one's.

        Raises
        ------
        AttributeError
            There is no such attribute, or it is no module.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            found = _attribute(found, name)
            if not isinstance(found, Registry):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module under a dotted name, in place of the one that is there.

        Parameters
        ----------
        target : str
        module : Module
        strict : bool, optional
            Whether there must be a module of that name.

        Raises
        ------
        ValueError
            The name is empty, or `module` is no module.
        AttributeError
            The name leads nowhere, or to something that is no module.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Registry):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(_attribute(parent, name), Registry):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name.

        Raises
        ------
        AttributeError
            There is no such attribute, or it is no parameter.
        """
        path, _, name = target.rpartition(".")
        found = _attribute(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name.

        Raises
        ------
        AttributeError
            There is no such attribute, or it is no buffer.
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = _attribute(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found  # type: ignore[no-any-return]

    # ---- changes of all

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` with every module in this one, from the innermost outward, and with this one.

        Examples
        --------
        >>> from gradsmith import nn
        >>> def fill(module):
        ...     if isinstance(module, nn.Linear):
        ...         nn.init.ones_(module.weight)
        >>> nn.Sequential(nn.Linear(2, 1, bias=False)).apply(fill)[0].weight
        Parameter containing:
        tensor([[1., 1.]], requires_grad=True)
        """
        for module in self.children():
            module.apply(fn)
        fn(self)  # type: ignore[arg-type]
        return self

    def train(self, mode: bool = True) -> Self:
        """Set `training` of this module and of all in it: dropout drops and batch normalization learns statistics.

        Raises
        ------
        ValueError
            `mode` is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Unset `training` of this module and of all in it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Start, or stop, recording operations on all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters, or set them to zero in place."""
        for parameter in self.parameters():
            gradient = parameter.grad
            if gradient is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                cut = gradient.detach_() if gradient.grad_fn is not None else gradient.requires_grad_(False)
                cut.zero_()


def _attribute(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)
