"""Limits of gradients, in place."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from types import GeneratorType
from typing import Any

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import stack
from gradsmith.generated.linalg_namespace import vector_norm
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.programs.python_calls import traced_call
from gradsmith.runtime.tensors.factories.creation import tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

Tensors = Tensor | Iterable[Tensor]


def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all elements of several tensors, taken as one vector.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor
    norm_type : float, optional
        The exponent of the norm; infinity for the largest absolute value.
    error_if_nonfinite : bool, optional
        Raise when the norm is infinite or NaN.
    foreach : bool, optional
        Without effect.

    Returns
    -------
    Tensor
        A number; zero when there is no tensor.

    Raises
    ------
    RuntimeError
        The norm is not finite, and that is an error.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.utils.get_total_norm([gs.tensor([3.0]), gs.tensor([4.0])])
    tensor(5.)
    """
    norm_type = float(norm_type)
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not listed:
        return tensor(0.0)
    with no_grad():
        norms = [vector_norm(one, norm_type) for one in listed]
        total = vector_norm(stack(norms), norm_type)
    if error_if_nonfinite and is_tracing():
        traced_call(_expect_finite, total, norm_type)
    elif error_if_nonfinite:
        _expect_finite(total, norm_type)
    return total


def _expect_finite(total: Tensor, norm_type: float) -> None:
    if not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )


def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Multiply gradients by ``max_norm / total_norm``, unless that is more than one.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those whose gradients are changed, in place.
    max_norm : float
    total_norm : Tensor
        What `get_total_norm` gives for the gradients.
    foreach : bool, optional
        Without effect.
    """
    gradients = _gradients(parameters)
    if not gradients:
        return
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Shorten gradients, in place, so that the norm of all together is at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those whose gradients are changed.
    max_norm : float
    norm_type : float, optional
        The exponent of the norm; infinity for the largest absolute value.
    error_if_nonfinite : bool, optional
        Raise when the norm is infinite or NaN.
    foreach : bool, optional
        Without effect.

    Returns
    -------
    Tensor
        The norm before.

    Raises
    ------
    RuntimeError
        The norm is not finite, and that is an error.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x / 2).sum().backward()
    >>> gs.nn.utils.clip_grad_norm_(x, 1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not listed and isinstance(parameters, GeneratorType):
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total_norm = get_total_norm(_gradients(listed), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(listed, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    warnings.warn(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Limit each element of gradients, in place, to the range from ``-clip_value`` to ``clip_value``.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those whose gradients are changed.
    clip_value : float
    foreach : bool, optional
        Without effect.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor([3.0, -0.5], requires_grad=True)
    >>> (x * x / 2).sum().backward()
    >>> gs.nn.utils.clip_grad_value_(x, 1.0)
    >>> x.grad
    tensor([ 1.0000, -0.5000])
    """
    clip_value = float(clip_value)
    with no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-clip_value, clip_value)


def _gradients(parameters: Tensors) -> list[Tensor]:
    listed = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in listed if parameter.grad is not None]
