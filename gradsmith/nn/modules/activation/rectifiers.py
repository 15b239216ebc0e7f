"""Activations that let positive numbers pass, more or less."""

from __future__ import annotations

import warnings
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn import init as initial_values
from gradsmith.nn.modules.module import Module
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import empty


def _listed(text: str, inplace: bool) -> str:
    """The extra text of a layer that can work in place."""
    return f"{text}, inplace=True" if inplace else text


class ReLU(Module):
    """The positive part of each element: ``max(0, x)``.

    Parameters
    ----------
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ReLU()(gs.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.relu`."""
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """Elements greater than a threshold; one value in place of the others.

    Parameters
    ----------
    threshold : float
    value : float
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Threshold(1.0, 20.0)(gs.tensor([0.5, 2.0]))
    tensor([20.,  2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.threshold`."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return _listed(f"threshold={self.threshold}, value={self.value}", self.inplace)


class LeakyReLU(Module):
    """Positive elements, and a part of the negative ones.

    Parameters
    ----------
    negative_slope : float, optional
        The factor of negative elements.
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LeakyReLU(0.5)(gs.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.leaky_relu`."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return _listed(f"negative_slope={self.negative_slope}", self.inplace)


class RReLU(Module):
    """Positive elements, and negative ones times a factor that is random in training.

    Parameters
    ----------
    lower : float, optional
    upper : float, optional
        Bounds of the factor, which is their mean when the module is not in training.
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.RReLU(0.25, 0.75).eval()(gs.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.rrelu`."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return _listed(f"lower={self.lower}, upper={self.upper}", self.inplace)


class Hardtanh(Module):
    """Elements within bounds, which take the place of what is beyond.

    Parameters
    ----------
    min_val : float, optional
    max_val : float, optional
    inplace : bool, optional
        Change the input itself.
    min_value : float, optional
        Old names of the bounds.
    max_value : float, optional

    Raises
    ------
    AssertionError
        The upper bound is not greater than the lower one.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Hardtanh()(gs.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        min_val = _renamed("min_value", "min_val", min_value, min_val)
        max_val = _renamed("max_value", "max_val", max_value, max_val)
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.hardtanh`."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return _listed(f"min_val={self.min_val}, max_val={self.max_val}", self.inplace)


def _renamed(old: str, new: str, old_value: float | None, value: float) -> float:
    if old_value is None:
        return value
    warnings.warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=3)
    return old_value


class ReLU6(Hardtanh):
    """The positive part of each element, at most 6.

    Parameters
    ----------
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ReLU6()(gs.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ELU(Module):
    """Positive elements, and ``alpha * (exp(x) - 1)`` of negative ones.

    Parameters
    ----------
    alpha : float, optional
        Minus the value that large negative elements approach.
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ELU()(gs.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.elu`."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return _listed(f"alpha={self.alpha}", self.inplace)


class CELU(Module):
    """Positive elements, and ``alpha * (exp(x / alpha) - 1)`` of negative ones.

    Parameters
    ----------
    alpha : float, optional
        Minus the value that large negative elements approach.
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.CELU()(gs.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.celu`."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return _listed(f"alpha={self.alpha}", self.inplace)


class SELU(Module):
    """`ELU` with the factors by which activations keep mean 0 and variance 1 from layer to layer.

    Parameters
    ----------
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.SELU()(gs.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.selu`."""
        return F.selu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class GELU(Module):
    """Each element times the probability that a normally distributed number is less.

    Parameters
    ----------
    approximate : {"none", "tanh"}, optional
        The exact function, or an approximation by the hyperbolic tangent.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.GELU()(gs.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.gelu`."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(Module):
    """Each element times its logistic function.

    Parameters
    ----------
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.SiLU()(gs.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.silu`."""
        return F.silu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Mish(Module):
    """Each element times the hyperbolic tangent of its softplus.

    Parameters
    ----------
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Mish()(gs.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.mish`."""
        return F.mish(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Hardswish(Module):
    """A piecewise polynomial like `SiLU`: ``x * relu6(x + 3) / 6``.

    Parameters
    ----------
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Hardswish()(gs.tensor([-1.0, 4.0]))
    tensor([-0.3333,  4.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.hardswish`."""
        return F.hardswish(input, self.inplace)


class PReLU(Module):
    """Positive elements, and negative ones times a factor that is learned.

    Parameters
    ----------
    num_parameters : int, optional
        1, or one factor for each channel, the second dimension of the input.
    init : float, optional
        The first value of the factors.
    device, dtype : optional
        Those of the factors.

    Attributes
    ----------
    weight : Parameter
        Of shape (num_parameters,).

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.PReLU()(gs.tensor([-1.0, 2.0])).detach()
    tensor([-0.2500,  2.0000])
    """

    __constants__ = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the factors to their first value."""
        initial_values.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.prelu`."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
