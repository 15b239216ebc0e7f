"""``functorch``, which comes with PyTorch: its transforms are those of `gradsmith.func`, and modules become functions.

>>> import gradsmith as gs
>>> from gradsmith.compat.functorch import grad, make_functional
>>> model = gs.nn.Linear(2, 1)
>>> apply, weights = make_functional(model)
>>> gradients = grad(lambda weights, x: apply(weights, x).sum())(weights, gs.tensor([[1.0, 2.0]]))
>>> gradients[0]
tensor([[1., 2.]])
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import gradsmith
from gradsmith.func import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    vjp,
    vmap,
)
from gradsmith.names.missing import raise_missing
from gradsmith.nn.modules.module import Module

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functionalize", "grad",
    "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional", "make_functional_with_buffers", "vjp",
    "vmap",
]  # fmt: skip

__version__ = gradsmith.__version__
__getattr__ = raise_missing(__name__)


class FunctionalModuleWithBuffers(Module):
    """A module as a function of its parameters, its buffers and its arguments. `make_functional_with_buffers` makes it.

    Parameters
    ----------
    module : Module
        Called with the tensors that the function is given. It is a submodule of the function, so that ``train()`` and
        ``eval()`` reach it.
    """

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.stateless_model = module
        self.param_names = tuple(name for name, _ in module.named_parameters())
        self.buffer_names = tuple(name for name, _ in module.named_buffers())

    def forward(self, params: Sequence[Any], buffers: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """What the module gives with these parameters and buffers, in the order of their names."""
        tensors = dict(zip(self.param_names, params)) | dict(zip(self.buffer_names, buffers))
        return functional_call(self.stateless_model, tensors, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without buffers as a function of its parameters and its arguments. `make_functional` makes it."""

    def forward(self, params: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """What the module gives with these parameters, in the order of their names."""
        return super().forward(params, (), *args, **kwargs)


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, tuple[Any, ...]]:
    """A module as a function of its parameters, and these.

    Parameters
    ----------
    model : Module
        It is copied, and changes no more with the function.
    disable_autograd_tracking : bool
        The parameters do not require gradients, for transforms that differentiate the function.

    Returns
    -------
    FunctionalModule, tuple of Tensor
        Call it with parameters and the arguments of the module.

    Raises
    ------
    RuntimeError
        The module has buffers: `make_functional_with_buffers` takes them too.
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    function = FunctionalModule(copy.deepcopy(model))
    return function, _parameters(function, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Any, ...]]:
    """A module as a function of its parameters and buffers, and these.

    Parameters
    ----------
    model : Module
        It is copied, and changes no more with the function.
    disable_autograd_tracking : bool
        The parameters do not require gradients, for transforms that differentiate the function.

    Returns
    -------
    FunctionalModuleWithBuffers, tuple of Tensor, tuple of Tensor
        Call it with parameters, buffers and the arguments of the module.
    """
    function = FunctionalModuleWithBuffers(copy.deepcopy(model))
    return function, _parameters(function, disable_autograd_tracking), tuple(function.stateless_model.buffers())


def combine_state_for_ensemble(
    models: Sequence[Any],
) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Any, ...]]:
    """Modules of one class and one shape as a single function, for `vmap` over their stacked parameters and buffers.

    Parameters
    ----------
    models : sequence of Module
        All in training mode, or none.

    Returns
    -------
    FunctionalModuleWithBuffers, tuple of Tensor, tuple of Tensor
        The function of one module, and the parameters and buffers of all, with a dimension for the modules in front.
        They require no gradients.

    Raises
    ------
    RuntimeError
        There is no module, or they differ in class or mode.
    """
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, parameters, buffers = zip(*map(make_functional_with_buffers, models))
    return functions[0], _stacked(parameters), _stacked(buffers)


def _parameters(function: FunctionalModuleWithBuffers, is_untracked: bool) -> tuple[Any, ...]:
    parameters = tuple(function.stateless_model.parameters())
    if is_untracked:
        for parameter in parameters:
            parameter.requires_grad_(False)
    return parameters


def _stacked(of_modules: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(gradsmith.stack(same).detach() for same in zip(*of_modules))
