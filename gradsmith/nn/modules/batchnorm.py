"""Batch normalization."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn import init
from gradsmith.nn.modules.lazy import LazyModuleMixin
from gradsmith.nn.modules.module import Module
from gradsmith.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter
from gradsmith.runtime.arrays.dtypes import float64, int64
from gradsmith.runtime.tensors.factories.creation import empty, ones, zeros

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
    "SyncBatchNorm",
]  # fmt: skip


class _NormBase(Module):
    """Base of the normalizations by statistics of channels.

    Parameters
    ----------
    num_features : int
        The number of channels.
    eps : float, optional
        Added to variances.
    momentum : float or None, optional
        The part of new statistics in the running ones; None for the mean of all so far.
    affine : bool, optional
        Whether there are a weight and a bias.
    track_running_stats : bool, optional
        Whether there are running statistics, which are used when the module is not in training.
    device, dtype : optional
        Those of the parameters.
    bias : bool, optional
        With `affine`: whether there is a bias.
    """

    _version = 2
    __constants__ = ("track_running_stats", "momentum", "eps", "num_features", "affine")
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            parameter = Parameter(empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, parameter)
        self.register_buffer(
            "running_mean", zeros(num_features, device=device, dtype=dtype) if track_running_stats else None
        )
        self.register_buffer(
            "running_var", ones(num_features, device=device, dtype=dtype) if track_running_stats else None
        )
        self.register_buffer(
            "num_batches_tracked", zeros((), dtype=int64, device=device) if track_running_stats else None
        )
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the statistics of the inputs so far."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Set weight and bias to one and zero, and forget the statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def _require_dims(self, input: Tensor, *allowed: int) -> None:
        if input.ndim not in allowed:
            names = " or ".join(f"{dims}D" for dims in allowed)
            raise ValueError(f"expected {names} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        """States of the first version have no count of batches."""
        version = local_metadata.get("version")
        if self.track_running_stats and (version is None or version < 2):
            own = self.num_batches_tracked
            known = own is not None and not own.is_meta
            state_dict.setdefault(prefix + "num_batches_tracked", own if known else zeros((), dtype=int64))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.batch_norm`."""
        self._check_input_dim(input)
        learns = self.training and self.track_running_stats
        uses_running = not self.training or self.track_running_stats
        mean = self.running_mean if uses_running else None
        variance = self.running_var if uses_running else None
        by_batch = self.training or (mean is None and variance is None)
        momentum = self._counted() if learns else self.momentum or 0.0
        return self._normalized(input, mean, variance, by_batch, momentum)

    def _normalized(
        self, input: Tensor, mean: Tensor | None, variance: Tensor | None, by_batch: bool, momentum: float | Tensor
    ) -> Tensor:
        return F.batch_norm(input, mean, variance, self.weight, self.bias, by_batch, momentum, self.eps)

    def _counted(self) -> float | Tensor:
        """Count one more batch; the part that it has in the running statistics, a tensor where that depends on them."""
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return 1.0 / self.num_batches_tracked.to(float64)
        return self.momentum or 0.0


class BatchNorm1d(_BatchNorm):
    """Normalization of each channel over all rows: input (rows, channels) or (rows, channels, length).

    Parameters
    ----------
    num_features : int
        The number of channels.
    eps : float, optional
        Added to variances.
    momentum : float or None, optional
        The part of new statistics in the running ones; None for the mean of all so far.
    affine : bool, optional
        Whether there are a weight and a bias, of shape (num_features,), at first 1 and 0.
    track_running_stats : bool, optional
        Whether there are running statistics, which are used when the module is not in training.
    device, dtype : optional
        Those of the parameters.
    bias : bool, optional
        With `affine`: whether there is a bias.

    Attributes
    ----------
    weight, bias : Parameter or None
        Of shape (num_features,).
    running_mean, running_var : Tensor or None
        Buffers of shape (num_features,).
    num_batches_tracked : Tensor or None
        How many inputs the running statistics have seen.

    Raises
    ------
    ValueError
        In a call, that the input has another number of dimensions, or one value for each channel.

    Notes
    -----
    Source: Ioffe and Szegedy, Batch normalization, 2015.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.BatchNorm1d(2)
    >>> layer(gs.tensor([[1.0, 5.0], [3.0, 9.0]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    >>> layer.running_mean
    tensor([0.2000, 0.7000])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._require_dims(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalization of each channel over all images, (images, channels, height, width).

    See `BatchNorm1d` for parameters and attributes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.BatchNorm2d(3)(gs.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._require_dims(input, 4)


class BatchNorm3d(_BatchNorm):
    """Normalization of each channel over all volumes, (images, channels, depth, height, width).

    See `BatchNorm1d` for parameters and attributes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.BatchNorm3d(3)(gs.ones(2, 3, 2, 2, 2)).shape
    (2, 3, 2, 2, 2)
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._require_dims(input, 5)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization of an input of any number of dimensions, in training by the statistics of all ranks' inputs.

    See `BatchNorm1d` for parameters and attributes. Where `distributed` was not set up, and for one rank, it is the
    normalization of its own input.

    Parameters
    ----------
    process_group : ProcessGroup, optional
        The ranks that it goes over; by default the world.

    Examples
    --------
    >>> import gradsmith as gs
    >>> model = gs.nn.Sequential(gs.nn.BatchNorm2d(3))
    >>> gs.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    Sequential(
      (0): SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    )
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _normalized(
        self, input: Tensor, mean: Tensor | None, variance: Tensor | None, by_batch: bool, momentum: float | Tensor
    ) -> Tensor:
        world = sys.modules.get("gradsmith.distributed.world")  # not imported by programs of one process
        if world is None or not (by_batch and self.training and world.is_initialized()):
            return super()._normalized(input, mean, variance, by_batch, momentum)
        group = world.group_of(self.process_group, "SyncBatchNorm")
        if group.size() == 1:
            return super()._normalized(input, mean, variance, by_batch, momentum)
        ranks = importlib.import_module("gradsmith.distributed.parallel.normalization")
        result: Tensor = ranks.synchronized_batch_norm(
            input, mean, variance, self.weight, self.bias, momentum, self.eps, group
        )
        return result

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module, with a `SyncBatchNorm` over the same tensors in the place of each batch normalization in it."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            for own, given in ((converted._parameters, module._parameters), (converted._buffers, module._buffers)):
                own.update(given)  # type: ignore[arg-type]
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Base of lazy normalizations; see `_NormBase` for the parameters."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = zeros((), dtype=int64, device=device)

    def reset_parameters(self) -> None:
        """Set weight and bias to one and zero, and forget the statistics, once they have shapes."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and buffers the shapes that the input asks for."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        waiting: Any = (self.weight, self.bias, self.running_mean, self.running_var)
        for tensor in waiting:
            if tensor is not None:
                tensor.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """`BatchNorm1d` whose channels are those of the first input.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LazyBatchNorm1d()(gs.ones(2, 3)).shape
    (2, 3)
    """

    cls_to_become = BatchNorm1d

    def _check_input_dim(self, input: Tensor) -> None:
        self._require_dims(input, 2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """`BatchNorm2d` whose channels are those of the first input.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LazyBatchNorm2d()(gs.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    cls_to_become = BatchNorm2d

    def _check_input_dim(self, input: Tensor) -> None:
        self._require_dims(input, 4)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """`BatchNorm3d` whose channels are those of the first input.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LazyBatchNorm3d()(gs.ones(2, 3, 2, 2, 2)).shape
    (2, 3, 2, 2, 2)
    """

    cls_to_become = BatchNorm3d

    def _check_input_dim(self, input: Tensor) -> None:
        self._require_dims(input, 5)
