"""Hooks that are called for every module: of calls, of backward, and of what is registered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from gradsmith.runtime.switches.hooks import RemovableHandle, add_hook

Table = OrderedDict[int, Any]


class GlobalHooks:
    """The tables; there is one object of this class."""

    def __init__(self) -> None:
        self.forward_pre: Table = OrderedDict()
        self.forward: Table = OrderedDict()
        self.forward_with_kwargs: Table = OrderedDict()
        self.forward_always_called: Table = OrderedDict()
        self.backward_pre: Table = OrderedDict()
        self.backward: Table = OrderedDict()
        self.backward_are_full: bool | None = None
        self.of_parameters: Table = OrderedDict()
        self.of_buffers: Table = OrderedDict()
        self.of_modules: Table = OrderedDict()
        # Looked at by every call of every module: is there anything in the tables of calls?
        self.calls: tuple[Table, ...] = (self.forward_pre, self.forward, self.backward_pre, self.backward)


GLOBAL = GlobalHooks()


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before every call of any module; a result takes the place of the arguments."""
    return add_hook(GLOBAL.forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after every call of any module; a result takes the place of the output.

    Parameters
    ----------
    hook : callable
    with_kwargs : bool, optional
        Call ``hook(module, args, kwargs, output)``.
    always_call : bool, optional
        Call it even when the module raises.
    """
    handle = add_hook(GLOBAL.forward, hook, GLOBAL.forward_with_kwargs, GLOBAL.forward_always_called)
    if with_kwargs:
        GLOBAL.forward_with_kwargs[handle.id] = True
    if always_call:
        GLOBAL.forward_always_called[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the gradients of any module are computed."""
    return add_hook(GLOBAL.backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs of any module are computed.

    Raises
    ------
    RuntimeError
        There are hooks of `register_module_backward_hook`.
    """
    return _added_backward_hook(hook, full=True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """The hook of the last operation of every module; `register_module_full_backward_hook` sees the module's gradients.

    Raises
    ------
    RuntimeError
        There are hooks of `register_module_full_backward_hook`.
    """
    return _added_backward_hook(hook, full=False)


def _added_backward_hook(hook: Callable[..., Any], *, full: bool) -> RemovableHandle:
    if GLOBAL.backward_are_full is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
            "Please use only one of them."
        )
    GLOBAL.backward_are_full = full
    return add_hook(GLOBAL.backward, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` for every buffer that is registered; a result takes its place."""
    return add_hook(GLOBAL.of_buffers, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` for every module that is registered; a result takes its place."""
    return add_hook(GLOBAL.of_modules, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` for every parameter that is registered; a result takes its place."""
    return add_hook(GLOBAL.of_parameters, hook)
