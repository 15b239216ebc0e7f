"""Modules with other tensors in the place of their parameters and buffers, by the older names of `gradsmith.func`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from gradsmith.func import stateless

__all__ = ["functional_call"]


def functional_call(
    module: Any,
    parameters_and_buffers: Mapping[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """What `gradsmith.func.functional_call` does; PyTorch advises against this name."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return stateless.functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _reparametrize_module(
    module: Any,
    parameters_and_buffers: Mapping[str, Any],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> AbstractContextManager[None]:
    """A block in which the module has other tensors; `stack_weights` says in which order they are put back."""
    return stateless.with_other_tensors(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict)
