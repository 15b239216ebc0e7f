"""Weights as a length and a direction, by hooks: the older form of `parametrizations.weight_norm`."""

from __future__ import annotations

import warnings
from typing import Any

from gradsmith.generated.linalg_namespace import vector_norm
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def lengths(weight: Tensor, dim: int) -> Tensor:
    """The norm of each slice of a dimension, which stays; with -1, of the whole, a number."""
    if dim == -1:
        return vector_norm(weight)
    others = [other for other in range(weight.ndim) if other != dim % weight.ndim]
    return vector_norm(weight, 2, dim=others, keepdim=True) if others else weight.abs()


def of_length(direction: Tensor, length: Tensor, dim: int) -> Tensor:
    """The weight of a direction that has given lengths."""
    return direction * (length / lengths(direction, dim))


class WeightNorm:
    """The hook: before each call, the weight is computed of ``weight_g`` and ``weight_v``."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Tensor:
        return of_length(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(lengths(weight, hook.dim).detach()))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Learn the length and the direction of a parameter apart: ``weight_g`` and ``weight_v``.

    Parameters
    ----------
    module : Module
    name : str, optional
    dim : int or None, optional
        The dimension whose slices have a length each; None for one length.

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    RuntimeError
        This was done already.

    Notes
    -----
    Deprecated in favour of `parametrizations.weight_norm`. Source: Salimans and Kingma, Weight normalization, 2016.

    Examples
    --------
    >>> import warnings
    >>> from gradsmith import nn
    >>> warnings.simplefilter("ignore")
    >>> sorted(name for name, _ in nn.utils.weight_norm(nn.Linear(2, 3)).named_parameters())
    ['bias', 'weight_g', 'weight_v']
    """
    warnings.warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make an ordinary parameter of one that `weight_norm` changed.

    Raises
    ------
    ValueError
        It was not changed.
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
