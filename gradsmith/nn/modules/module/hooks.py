"""Registration of hooks of one module; see calls.py, saving.py and loading.py for when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.nn.modules.module.registry import Registry
from gradsmith.runtime.switches.hooks import RemovableHandle, add_hook


class Hooks(Registry):
    """Every method returns a handle, whose ``remove()`` takes the hook away."""

    # ---- of calls

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before every call of this module.

        Parameters
        ----------
        hook : callable
            What it returns, a tuple or one value, takes the place of the positional arguments.
        prepend : bool, optional
            Call it before the hooks that are there.
        with_kwargs : bool, optional
            Call ``hook(module, args, kwargs)``, which returns None or ``(args, kwargs)``.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import gradsmith as gs
        >>> doubling = gs.nn.Identity()
        >>> handle = doubling.register_forward_pre_hook(lambda module, args: args[0] * 2)
        >>> doubling(gs.tensor(3.0))
        tensor(6.)
        >>> handle.remove()
        """
        handle = add_hook(self._forward_pre_hooks, hook, self._forward_pre_hooks_with_kwargs)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        if prepend:
            self._forward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after every call of this module.

        Parameters
        ----------
        hook : callable
            What it returns, unless None, takes the place of the output.
        prepend : bool, optional
            Call it before the hooks that are there.
        with_kwargs : bool, optional
            Call ``hook(module, args, kwargs, output)``.
        always_call : bool, optional
            Call it even when the module raises; its own exceptions are then warnings.

        Returns
        -------
        RemovableHandle
        """
        handle = add_hook(self._forward_hooks, hook, self._forward_hooks_with_kwargs, self._forward_hooks_always_called)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        if prepend:
            self._forward_hooks.move_to_end(handle.id, last=False)
        return handle

    # ---- of backward

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the gradients of the module are computed.

        What it returns, unless None, takes the place of `grad_output`, a tuple.
        """
        handle = add_hook(self._backward_pre_hooks, hook)
        if prepend:
            self._backward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the module's inputs are computed.

        Parameters
        ----------
        hook : callable
            What it returns, unless None, takes the place of `grad_input`, a tuple with None for what is no tensor.
            Arguments by name are not seen.
        prepend : bool, optional
            Call it before the hooks that are there.

        Returns
        -------
        RemovableHandle

        Raises
        ------
        RuntimeError
            The module has hooks of `register_backward_hook`.

        Notes
        -----
        The inputs and outputs of the module are views then, which may not be changed in place.
        """
        handle = self._added_backward_hook(hook, full=True)
        if prepend:
            self._backward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """A hook of the operation that makes the output: `register_full_backward_hook` sees the module's gradients.

        Raises
        ------
        RuntimeError
            The module has hooks of `register_full_backward_hook`.
        """
        return self._added_backward_hook(hook, full=False)

    def _added_backward_hook(self, hook: Callable[..., Any], *, full: bool) -> RemovableHandle:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = full
        return add_hook(self._backward_hooks, hook)

    # ---- of states

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the module's part of a `state_dict()` is made."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` once the module's part is made.

        It changes `state_dict` in place and returns None.
        """
        return add_hook(self._state_dict_hooks, _InPlace(hook))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The same, for hooks that may return another dict."""
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook before the module takes its part of a state.

        It is called with ``(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)``, where it may change `state_dict`, a copy, in place.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return add_hook(self._load_state_dict_pre_hooks, _BeforeLoading(hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` once the module has taken its part of a state.

        The lists `missing_keys` and `unexpected_keys` of `incompatible_keys` may be changed in place.
        """
        return add_hook(self._load_state_dict_post_hooks, hook)


class _InPlace:
    """A hook of `register_state_dict_post_hook`, which returns nothing."""

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook

    def __call__(self, *args: Any) -> None:
        if self.hook(*args) is not None:
            raise RuntimeError("state_dict post-hook must return None")


class _BeforeLoading:
    """A hook of loading, which wants the module as its first argument or not."""

    def __init__(self, hook: Callable[..., Any], with_module: bool) -> None:
        self.hook, self.with_module = hook, with_module

    def __call__(self, module: Any, *args: Any) -> None:
        if self.with_module:
            self.hook(module, *args)
        else:
            self.hook(*args)
