"""Padding: more elements at both ends of the last dimensions."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.utils import _ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip

Sizes = Any  # an int, or one for each end of each dimension


class _PadNd(Module):
    """The constructor that padding without a value has in common.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on. Negative numbers take
        elements away.
    """

    dims: int
    mode: str

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self.dims)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.pad`."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.pad`."""
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input: Tensor) -> None:
        fewer, more = self.dims + 1, self.dims + 2
        if input.ndim not in (fewer, more):
            raise ValueError(f"expected {fewer}D or {more}D input (got {input.ndim}D input)")


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class _ConstantPadNd(Module):
    """Padding with one value."""

    dims: int

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self.dims)(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.pad`."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """One value at both ends of the last dimension.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.
    value : float

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ConstantPad1d(2, 3.5)(gs.ones(1, 1, 4)).shape
    (1, 1, 8)
    """

    dims = 1


class ConstantPad2d(_ConstantPadNd):
    """One value at both ends of the last two dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.
    value : float

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ConstantPad2d(2, 3.5)(gs.ones(1, 1, 4, 4)).shape
    (1, 1, 8, 8)
    """

    dims = 2


class ConstantPad3d(_ConstantPadNd):
    """One value at both ends of the last three dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.
    value : float

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ConstantPad3d(2, 3.5)(gs.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 8, 8, 8)
    """

    dims = 3


class ZeroPad1d(ConstantPad1d):
    """Zeros at both ends of the last dimension.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ZeroPad1d(2)(gs.ones(1, 1, 4)).shape
    (1, 1, 8)
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros at both ends of the last two dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ZeroPad2d(2)(gs.ones(1, 1, 4, 4)).shape
    (1, 1, 8, 8)
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros at both ends of the last three dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ZeroPad3d(2)(gs.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 8, 8, 8)
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(_ReflectionPadNd):
    """The elements themselves in reverse order, without the one at the end, at both ends of the last dimension.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ReflectionPad1d(2)(gs.ones(1, 1, 4)).shape
    (1, 1, 8)
    """

    dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """The elements themselves in reverse order, without the one at the end, at both ends of the last two dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ReflectionPad2d(2)(gs.ones(1, 1, 4, 4)).shape
    (1, 1, 8, 8)
    """

    dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """The elements themselves in reverse order, without the one at the end, at both ends of the last three dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ReflectionPad3d(2)(gs.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 8, 8, 8)
    """

    dims = 3


class ReplicationPad1d(_ReplicationPadNd):
    """The element at the end, repeated, at both ends of the last dimension.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ReplicationPad1d(2)(gs.ones(1, 1, 4)).shape
    (1, 1, 8)
    """

    dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """The element at the end, repeated, at both ends of the last two dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ReplicationPad2d(2)(gs.ones(1, 1, 4, 4)).shape
    (1, 1, 8, 8)
    """

    dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """The element at the end, repeated, at both ends of the last three dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ReplicationPad3d(2)(gs.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 8, 8, 8)
    """

    dims = 3


class CircularPad1d(_CircularPadNd):
    """The elements of the other end at both ends of the last dimension.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.CircularPad1d(2)(gs.ones(1, 1, 4)).shape
    (1, 1, 8)
    """

    dims = 1


class CircularPad2d(_CircularPadNd):
    """The elements of the other end at both ends of the last two dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.CircularPad2d(2)(gs.ones(1, 1, 4, 4)).shape
    (1, 1, 8, 8)
    """

    dims = 2


class CircularPad3d(_CircularPadNd):
    """The elements of the other end at both ends of the last three dimensions.

    Parameters
    ----------
    padding : int or tuple of int
        Elements added before and after the last dimension, then the one before it, and so on; or one number for all.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.CircularPad3d(2)(gs.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 8, 8, 8)
    """

    dims = 3
