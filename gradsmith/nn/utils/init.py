"""Modules whose parameters are not initialized."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters have memory and no values, since others will be put into it.

    Parameters
    ----------
    module_cls : type
        A class of modules that takes `device`.
    *args, **kwargs
        The arguments of the class.

    Raises
    ------
    RuntimeError
        The class is no Module, or takes no `device`.

    Examples
    --------
    >>> from gradsmith import nn
    >>> nn.utils.skip_init(nn.Linear, 5, 1).weight.shape
    (1, 5)
    """
    from gradsmith.nn.modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)
