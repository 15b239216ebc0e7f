"""Modules on several devices: there is one, so a module is called as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """A module under the name `module`: programs that were written for several devices find it there.

    Parameters
    ----------
    module : Module
    device_ids, output_device, dim : optional
        Accepted and not used.

    Examples
    --------
    >>> import gradsmith as gs
    >>> list(gs.nn.DataParallel(gs.nn.Linear(2, 1)).state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call a module with `inputs`, a tuple or one value."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
