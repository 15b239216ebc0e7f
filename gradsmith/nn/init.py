"""Initial values of parameters: every function fills a tensor in place, unrecorded, and returns it.

>>> import gradsmith as gs
>>> from gradsmith.nn import init
>>> init.constant_(gs.empty(2), 0.5)
tensor([0.5000, 0.5000])
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import diag, exp, sign
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import arange
from gradsmith.runtime.tensors.factories.creation import eye as identity

if TYPE_CHECKING:
    from gradsmith.runtime.tensors.factories.random import Generator

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_",
    "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
    "constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal", "sparse", "uniform",
    "xavier_normal", "xavier_uniform",
]  # fmt: skip

_LINEAR = ("linear", *(f"conv{kind}{dims}d" for kind in ("", "_transpose") for dims in (1, 2, 3)))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a nonlinearity makes its input smaller, which weights before it make up for.

    Parameters
    ----------
    nonlinearity : str
        Its name in `nn.functional`: ``"linear"``, ``"conv2d"`` and the like, ``"sigmoid"``, ``"tanh"``, ``"relu"``,
        ``"leaky_relu"`` or ``"selu"``.
    param : float, optional
        The slope of ``"leaky_relu"`` below zero.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        There is no such nonlinearity, or the slope is no number.

    Examples
    --------
    >>> from gradsmith.nn import init
    >>> init.calculate_gain("leaky_relu", 1.0)
    1.0
    """
    if nonlinearity in _LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


# ---- plain distributions


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with numbers that are distributed uniformly from `a` to `b`."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with normally distributed numbers."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with numbers of the normal distribution that lie from `a` to `b`.

    Parameters
    ----------
    tensor : Tensor
        Of a floating dtype.
    mean, std : float, optional
        Of the distribution before it is cut off.
    a, b : float, optional
    generator : Generator, optional

    Returns
    -------
    Tensor
        `tensor`.

    Notes
    -----
    Numbers are drawn until they are accepted: from the normal distribution where a good part of it lies within the
    bounds, and otherwise from the uniform one, each with a probability in proportion to its density.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.nn.init.trunc_normal_(gs.empty(1000), a=-1.0, b=0.5)
    >>> bool((x >= -1.0).all() and (x <= 0.5).all())
    True
    """
    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    with no_grad():
        drawn = tensor.new_empty(tensor.numel())
        pending = arange(tensor.numel())
        draw = _from_normal if _share_within(mean, std, a, b) > 0.3 else _from_uniform
        while pending.numel():
            candidates = tensor.new_empty(pending.numel())
            accepted = draw(candidates, mean, std, a, b, generator)
            drawn[pending[accepted]] = candidates[accepted]
            pending = pending[~accepted]
        return tensor.copy_(drawn.view(tensor.shape))


def _share_within(mean: float, std: float, a: float, b: float) -> float:
    """The probability that a normally distributed number lies from `a` to `b`."""
    below_b, below_a = (math.erf((bound - mean) / std / math.sqrt(2.0)) for bound in (b, a))
    return (below_b - below_a) / 2


def _from_normal(
    candidates: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    candidates.normal_(mean, std, generator=generator)
    return (candidates >= a) & (candidates <= b)


def _from_uniform(
    candidates: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    candidates.uniform_(a, b, generator=generator)
    peak = ((max(a, min(mean, b)) - mean) / std) ** 2
    density = exp((peak - ((candidates - mean) / std) ** 2) / 2)
    return candidates.new_empty(candidates.shape).uniform_(generator=generator) < density


# ---- constants


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on its diagonal and zeros elsewhere: a linear layer passes its input on.

    Raises
    ------
    ValueError
        The tensor is no matrix.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(identity(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it passes on as many channels as it can.

    Parameters
    ----------
    tensor : Tensor
        Of shape (channels out, channels in, *sizes) with 1, 2 or 3 sizes.
    groups : int, optional
        The groups of channels, each of which is passed on.

    Raises
    ------
    ValueError
        The tensor has another number of dimensions, or its channels cannot be divided into the groups.
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.is_meta:
        return tensor
    per_group = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.shape[1])):
                place = (group * per_group + channel, channel, *middle)
                tensor[place] = 1
    return tensor


# ---- by the number of inputs and outputs


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output of a layer with this weight depends on, and how many outputs an input acts on."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    places = math.prod(tensor.shape[2:])
    return tensor.shape[1] * places, tensor.shape[0] * places


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with uniformly distributed numbers up to ``gain * sqrt(6 / (inputs + outputs))``, also called Glorot's.

    Raises
    ------
    ValueError
        The tensor has less than two dimensions.

    Notes
    -----
    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010.
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with normally distributed numbers of deviation ``gain * sqrt(2 / (inputs + outputs))``; see above."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with uniformly distributed numbers up to ``gain * sqrt(3 / fan)``, also called He's.

    Parameters
    ----------
    tensor : Tensor
        Of at least two dimensions.
    a : float, optional
        The slope below zero of the leaky rectifier after the layer.
    mode : {"fan_in", "fan_out"}, optional
        Whether values keep their size on the way forward or gradients on the way back.
    nonlinearity : str, optional
        See `calculate_gain`.
    generator : Generator, optional

    Returns
    -------
    Tensor
        `tensor`.

    Raises
    ------
    ValueError
        The tensor has less than two dimensions, or mode or nonlinearity are unknown.

    Notes
    -----
    Source: He, Zhang, Ren and Sun, Delving deep into rectifiers, 2015.
    """
    if not tensor.numel():
        return _warned_of_no_elements(tensor)
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normally distributed numbers of deviation ``gain / sqrt(fan)``; see `kaiming_uniform_`."""
    if not tensor.numel():
        return _warned_of_no_elements(tensor)
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def _warned_of_no_elements(tensor: Tensor) -> Tensor:
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return tensor


# ---- matrices


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill with `gain` times a random matrix whose rows, or columns if there are fewer, are orthonormal.

    Parameters
    ----------
    tensor : Tensor
        A matrix; dimensions after the first are taken for one.
    gain : float, optional
    generator : Generator, optional

    Returns
    -------
    Tensor
        `tensor`.

    Raises
    ------
    ValueError
        The tensor has less than two dimensions.

    Notes
    -----
    The orthogonal factor of a matrix of normally distributed numbers, with the signs by which all orthogonal matrices
    are equally likely. Source: Saxe, McClelland and Ganguli, Exact solutions to the nonlinear dynamics of learning,
    2013; Mezzadri, How to generate random matrices from the classical compact groups, 2006.
    """
    from gradsmith.generated.linalg_namespace import qr

    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel() or tensor.is_meta:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        drawn = tensor.new_empty((max(rows, columns), min(rows, columns))).normal_(0, 1, generator=generator)
        q, r = qr(drawn)
        q = q * sign(diag(r)) * gain
        return tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix with normally distributed numbers, and a share of each column with zeros.

    Parameters
    ----------
    tensor : Tensor
        A matrix.
    sparsity : float
        The share of zeros, rounded up to whole elements.
    std : float, optional
    generator : Generator, optional

    Raises
    ------
    ValueError
        The tensor is no matrix.
    """
    from gradsmith.runtime.tensors.factories.random import randperm

    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows, generator=generator)[:zeros], column] = 0
    return tensor


# ---- old names


def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Any = None) -> Tensor:
    """`uniform_`, as programs that are older call it."""
    return uniform_(tensor, a, b, generator)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Any = None) -> Tensor:
    return normal_(tensor, mean, std, generator)


def _no_grad_trunc_normal_(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any = None
) -> Tensor:
    return trunc_normal_(tensor, mean, std, a, b, generator)


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    return constant_(tensor, val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    return zeros_(tensor)


def _old_name(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    new = function.__name__

    @wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{new[:-1]}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = new[:-1]
    renamed.__doc__ = f"The old name of `{new}`."
    return renamed


uniform = _old_name(uniform_)
normal = _old_name(normal_)
constant = _old_name(constant_)
eye = _old_name(eye_)
dirac = _old_name(dirac_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
orthogonal = _old_name(orthogonal_)
sparse = _old_name(sparse_)
