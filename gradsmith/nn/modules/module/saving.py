"""`state_dict`: parameters and buffers of a module and of all in it, by dotted names."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

from gradsmith.nn.modules.module.registry import Registry

EXTRA_STATE = "_extra_state"


class Saving(Registry):
    """Making a state; loading.py takes it."""

    def get_extra_state(self) -> Any:
        """State other than tensors; a class that defines this also defines `set_extra_state`."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. A class whose state has "
            "something besides tensors defines get_extra_state() and set_extra_state()."
        )

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers of this module and of all in it.

        Parameters
        ----------
        destination : dict, optional
            Gets the state, and is returned.
        prefix : str, optional
            Stands before all names.
        keep_vars : bool, optional
            Give the tensors themselves, not detached ones.

        Returns
        -------
        OrderedDict
            Name -> tensor, which shares its memory with the module's.

        Examples
        --------
        >>> import gradsmith as gs
        >>> dict(gs.nn.PReLU().state_dict())
        {'weight': tensor([0.2500])}
        """
        destination, prefix, keep_vars = _with_positional(args, destination, prefix, keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            instead = hook(self, destination, prefix, local_metadata)
            destination = destination if instead is None else instead
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put this module's own state into `destination`; classes may do it otherwise."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Saving.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _own_state(self) -> dict[str, Any]:
        """The module's own parameters and persistent buffers, by name."""
        named = (*self._parameters.items(), *self._buffers.items())
        transient = self._non_persistent_buffers_set
        return {name: tensor for name, tensor in named if tensor is not None and name not in transient}


def _with_positional(args: tuple[Any, ...], destination: Any, prefix: str, keep_vars: bool) -> tuple[Any, str, bool]:
    """The arguments, some of which old programs give by position."""
    if not args:
        return destination, prefix, keep_vars
    warnings.warn(
        "Positional args of state_dict() are being deprecated, use destination=, prefix= and keep_vars= instead.",
        FutureWarning,
        stacklevel=3,
    )
    return (
        args[0] if destination is None else destination,
        args[1] if len(args) > 1 and prefix == "" else prefix,
        args[2] if len(args) > 2 and not keep_vars else keep_vars,
    )
