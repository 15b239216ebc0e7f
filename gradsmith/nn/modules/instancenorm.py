"""Instance normalization."""

from __future__ import annotations

import warnings
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]  # fmt: skip


class _InstanceNorm(_NormBase):
    dims: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        self._require_dims(input, self.dims + 1, self.dims + 2)

    def _get_no_batch_dim(self) -> int:
        return self.dims + 1

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.instance_norm`."""
        self._check_input_dim(input)
        self._check_channels(input, input.ndim - self._get_no_batch_dim())
        if input.ndim == self._get_no_batch_dim():
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)

    def _check_channels(self, input: Tensor, dim: int) -> None:
        if input.shape[dim] == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                f"{input.shape[dim]}."
            )
        warnings.warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in "
            "num_features, which is not used because affine=False",
            stacklevel=4,
        )

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum or 0.0,
            self.eps,
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        """States without a version may have statistics that are not tracked."""
        if local_metadata.get("version") is None and not self.track_running_stats:
            names = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if names:
                error_msgs = rest[-1]
                listed = " and ".join(f'"{name}"' for name in names)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {listed} for {type(self).__name__} with "
                    "track_running_stats=False. Please remove these keys from state_dict. If the running stats are "
                    f"actually needed, instead set track_running_stats=True in {type(self).__name__} to enable them."
                )
            for name in names:
                state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class InstanceNorm1d(_InstanceNorm):
    """Normalization of each channel of each signal: (images, channels, length), or without the images.

    Parameters
    ----------
    num_features : int
        The number of channels.
    eps : float, optional
        Added to variances.
    momentum : float, optional
        The part of new statistics in the running ones.
    affine : bool, optional
        Whether there are a weight and a bias, of shape (num_features,), at first 1 and 0.
    track_running_stats : bool, optional
        Whether there are running statistics, which are used when the module is not in training.
    device, dtype : optional
        Those of the parameters.
    bias : bool, optional
        With `affine`: whether there is a bias.

    Notes
    -----
    Source: Ulyanov, Vedaldi and Lempitsky, Instance normalization, 2016.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.InstanceNorm1d(3)(gs.ones(2, 3, 4)).shape
    (2, 3, 4)
    """

    dims = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalization of each channel of each image: (images, channels, height, width), or without the images.

    See `InstanceNorm1d` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.InstanceNorm2d(3)(gs.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    dims = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalization of each channel of each volume: (images, channels, depth, height, width), or without the images.

    See `InstanceNorm1d` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.InstanceNorm3d(3)(gs.ones(2, 3, 4, 4, 4)).shape
    (2, 3, 4, 4, 4)
    """

    dims = 3


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm1d` whose channels are those of the first input.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LazyInstanceNorm1d()(gs.ones(2, 3, 4)).shape
    (2, 3, 4)
    """

    cls_to_become = InstanceNorm1d
    dims = 1


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm2d` whose channels are those of the first input.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LazyInstanceNorm2d()(gs.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    cls_to_become = InstanceNorm2d
    dims = 2


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm3d` whose channels are those of the first input.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LazyInstanceNorm3d()(gs.ones(2, 3, 4, 4, 4)).shape
    (2, 3, 4, 4, 4)
    """

    cls_to_become = InstanceNorm3d
    dims = 3
