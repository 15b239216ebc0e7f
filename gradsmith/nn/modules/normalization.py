"""Normalization of each input for itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn import init
from gradsmith.nn.modules.module import Module
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import empty

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LocalResponseNorm(Module):
    """Each element divided by a power of the mean square of its neighbours in other channels.

    Parameters
    ----------
    size : int
        How many channels are neighbours.
    alpha, beta, k : float, optional
        The divisor is ``(k + alpha * mean)**beta``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LocalResponseNorm(2)(gs.ones(1, 3, 4, 4)).shape
    (1, 3, 4, 4)
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.local_response_norm`."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class _OverLastDims(Module):
    """Weight and bias of normalizations over the last dimensions."""

    normalized_shape: tuple[int, ...]
    bias: Parameter | None

    def _set_up(self, normalized_shape: Any, eps: Any, affine: bool) -> None:
        is_one = hasattr(normalized_shape, "__index__")
        self.normalized_shape = (int(normalized_shape),) if is_one else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = affine

    def _add_parameter(self, name: str, wanted: bool, device: Any, dtype: Any) -> None:
        parameter = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if wanted else None
        self.register_parameter(name, parameter)


class LayerNorm(_OverLastDims):
    """Elements less their mean, by their standard deviation, over the last dimensions.

    Parameters
    ----------
    normalized_shape : int or tuple of int
        The sizes of these dimensions.
    eps : float, optional
        Added to variances.
    elementwise_affine : bool, optional
        Whether there are a weight and a bias.
    bias : bool, optional
        Whether there is a bias, then.
    device, dtype : optional
        Those of the parameters.

    Attributes
    ----------
    weight, bias : Parameter or None
        Of shape `normalized_shape`, at first 1 and 0.

    Notes
    -----
    Source: Ba, Kiros and Hinton, Layer normalization, 2016.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LayerNorm(2)(gs.tensor([[1.0, 3.0]])).detach()
    tensor([[-1.0000,  1.0000]])
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_up(normalized_shape, eps, elementwise_affine)
        self._add_parameter("weight", elementwise_affine, device, dtype)
        self._add_parameter("bias", elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias to one and zero."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.layer_norm`."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_OverLastDims):
    """Elements by the root of their mean square, over the last dimensions.

    Parameters
    ----------
    normalized_shape : int or tuple of int
        The sizes of these dimensions.
    eps : float, optional
        Added to the mean square; the precision of the dtype when it is not given.
    elementwise_affine : bool, optional
        Whether there is a weight.
    device, dtype : optional
        Those of the weight.

    Attributes
    ----------
    weight : Parameter or None
        Of shape `normalized_shape`, at first 1.

    Notes
    -----
    Source: Zhang and Sennrich, Root mean square layer normalization, 2019.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.RMSNorm(2)(gs.tensor([[1.0, 7.0]])).detach()
    tensor([[0.2000, 1.4000]])
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_up(normalized_shape, eps, elementwise_affine)
        self._add_parameter("weight", elementwise_affine, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to one."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """See `nn.functional.rms_norm`."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Elements less their mean, by their standard deviation, over groups of channels.

    Parameters
    ----------
    num_groups, num_channels : int
    eps : float, optional
        Added to variances.
    affine : bool, optional
        Whether there are a weight and a bias.
    device, dtype : optional
        Those of the parameters.
    bias : bool, optional
        With `affine`: whether there is a bias.

    Attributes
    ----------
    weight, bias : Parameter or None
        Of shape (num_channels,), at first 1 and 0.

    Raises
    ------
    ValueError
        The channels cannot be divided into the groups.

    Notes
    -----
    Source: Wu and He, Group normalization, 2018.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.GroupNorm(3, 6)(gs.ones(2, 6, 4, 4)).shape
    (2, 6, 4, 4)
    """

    __constants__ = ("num_groups", "num_channels", "eps", "affine")
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            parameter = Parameter(empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias to one and zero."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.group_norm`."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )
