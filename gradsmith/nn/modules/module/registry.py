"""Parameters, buffers and submodules of a module, by name and as attributes."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.names.missing import reason_for
from gradsmith.nn.modules.module.global_hooks import GLOBAL
from gradsmith.nn.modules.module.wording import typename
from gradsmith.nn.parameter import Buffer, Parameter
from gradsmith.runtime.tensors.module_calls import call_by_hooks_or_forward, speed_up

TABLES = ("_parameters", "_buffers", "_modules")
# Methods of PyTorch's modules that ours have not: asking for one says why.
_ABSENT = frozenset({"bfloat16", "ipu", "mtia", "xpu"})
# Tables of hooks that every module has.
HOOK_TABLES = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


class Registry:
    """Base of Module, and of all its parts: an object is a module when it is one of these.

    The tables `_parameters`, `_buffers` and `_modules` are not looked into before an attribute was found nowhere else;
    assignment decides by the class of the value which table an attribute belongs to.
    """

    _version = 1
    dump_patches = False
    call_super_init = False
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _is_full_backward_hook: bool | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        speed_up(cls, Registry.__call__, Registry.__getattr__)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            raise TypeError(_unexpected(type(self).__name__, args, kwargs))
        attributes = self.__dict__
        attributes.update(
            training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set(), _is_full_backward_hook=None
        )
        attributes.update((table, OrderedDict()) for table in HOOK_TABLES)
        attributes["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take over pickled attributes; tables of hooks that were not known then are empty."""
        self.__dict__.update(state)
        for table in HOOK_TABLES:
            self.__dict__.setdefault(table, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward`, with hooks around it if there are any; see module_calls.pyx and calls.py."""
        return call_by_hooks_or_forward(self, args, kwargs)

    # ---- registration

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name, which becomes an attribute.

        Parameters
        ----------
        name : str
            Not empty, without dots.
        param : Parameter or None
            None keeps the name for a parameter that this module does without.

        Raises
        ------
        KeyError
            The name is not allowed, or taken by another attribute.
        TypeError
            `param` is no Parameter, or `name` no string.
        ValueError
            The parameter is the result of a recorded operation.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name("parameter", name)
        if hasattr(self, name) and name not in self._parameters:
            raise KeyError(f"attribute '{name}' already exists")
        if param is not None:
            _check_parameter(name, param)
            param = _passed_by(GLOBAL.of_parameters, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state and is not learned.

        Parameters
        ----------
        name : str
            Not empty, without dots.
        tensor : Tensor or None
            None keeps the name for a buffer that this module does without.
        persistent : bool, optional
            Whether it is part of `state_dict()`.

        Raises
        ------
        KeyError
            The name is not allowed, or taken by another attribute.
        TypeError
            `tensor` is no Tensor, or `name` no string.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name("buffer", name)
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (gradsmith Tensor or None required)"
            )
        self._buffers[name] = _passed_by(GLOBAL.of_buffers, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a module under a name, which becomes an attribute; None keeps the name free.

        Raises
        ------
        KeyError
            The name is empty, has dots, or is taken by another attribute.
        TypeError
            `module` is no Module, or `name` no string.
        """
        if module is not None and not isinstance(module, Registry):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = _passed_by(GLOBAL.of_modules, self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Another name of `add_module`."""
        self.add_module(name, module)

    # ---- attributes

    def __getattr__(self, name: str) -> Any:
        attributes = self.__dict__
        for table in TABLES:
            if table in attributes and name in attributes[table]:
                return attributes[table][name]
        problem = f"'{type(self).__name__}' object has no attribute '{name}'"
        if name in _ABSENT:
            raise AttributeError(f"{problem}: {reason_for('torch.nn', f'Module.{name}')}")
        raise AttributeError(problem)

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if isinstance(value, Parameter):
            self._require_tables("parameters")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif name in attributes.get("_parameters", ()):
            self._assign_to_parameter(name, value)
        elif isinstance(value, Registry):
            self._require_tables("module")
            self._forget(name, "_parameters", "_buffers")
            self._modules[name] = _passed_by(GLOBAL.of_modules, self, name, value)
        elif name in attributes.get("_modules", ()):
            self._assign_to_module(name, value)
        elif name in attributes.get("_buffers", ()) or isinstance(value, Buffer):
            self._assign_to_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _require_tables(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _forget(self, name: str, *tables: str) -> None:
        """Take the name away from wherever it was, before it is registered as something else."""
        for table in (self.__dict__, *(self.__dict__[table] for table in tables)):
            table.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _assign_to_parameter(self, name: str, value: Any) -> None:
        if value is not None:
            raise TypeError(
                f"cannot assign '{typename(value)}' as parameter '{name}' (gradsmith.nn.Parameter or None expected)"
            )
        self.register_parameter(name, value)

    def _assign_to_module(self, name: str, value: Any) -> None:
        if value is not None:
            raise TypeError(
                f"cannot assign '{typename(value)}' as child module '{name}' (gradsmith.nn.Module or None expected)"
            )
        self._modules[name] = _passed_by(GLOBAL.of_modules, self, name, value)

    def _assign_to_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' "
                "(gradsmith.nn.Buffer, gradsmith.Tensor or None expected)"
            )
        persistent = name not in self._non_persistent_buffers_set
        if isinstance(value, Buffer):
            persistent = value.persistent  # type: ignore[attr-defined]
        if _takes_persistent(self.register_buffer):
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted({name for name in names if not name[:1].isdigit()})


def _unexpected(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    if kwargs:
        return f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
    return f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {typename(name)}")
    if "." in name:
        raise KeyError(f'{what} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')


def _check_parameter(name: str, param: Any) -> None:
    if not isinstance(param, Parameter):
        raise TypeError(
            f"cannot assign '{typename(param)}' object to parameter '{name}' (gradsmith.nn.Parameter or None required)"
        )
    if param.grad_fn is not None:
        raise ValueError(
            f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
            f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
        )


def _passed_by(hooks: Mapping[int, Any], module: Any, name: str, value: Any) -> Any:
    """What is registered, once the hooks of registration have seen it."""
    for hook in hooks.values():
        instead = hook(module, name, value)
        value = value if instead is None else instead
    return value


def _takes_persistent(register: Any) -> bool:
    """Classes may have a `register_buffer` of their own, without that argument."""
    if getattr(register, "__func__", None) is Registry.register_buffer:
        return True
    return "persistent" in inspect.signature(register).parameters
