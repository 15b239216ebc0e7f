"""PowerSGD: gradients of matrices are sent as products of two thin ones (Vogels, Karimireddy, Jaggi 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook, summed
from gradsmith.distributed.collectives import all_reduce
from gradsmith.distributed.ddp.grad_bucket import GradBucket
from gradsmith.distributed.world import ProcessGroup, group_of
from gradsmith.futures import Future
from gradsmith.generated import cat
from gradsmith.linalg import qr
from gradsmith.runtime.arrays.dtypes import float32, promote_types
from gradsmith.runtime.tensors.factories.creation import over_array

__all__ = ["PowerSGDState", "powerSGD_hook"]


class PowerSGDState:
    """What `powerSGD_hook` keeps from one backward to the next.

    Parameters
    ----------
    process_group : ProcessGroup or None
        Default: the world.
    matrix_approximation_rank : int, default 1
        Columns of the thin matrices. More of them are closer to the gradients, and more bytes.
    start_powerSGD_iter : int, default 1000
        Backwards before which gradients are averaged as they are.
    min_compression_rate : float, default 2
        A matrix is sent as it is unless the thin ones have fewer elements, by this factor.
    use_error_feedback : bool, default True
        What was left out is added to the gradients of the next backward.
    warm_start : bool, default True
        The thin matrices of a backward are where the next one starts.
    orthogonalization_epsilon : float, default 0
        Added to the lengths by which columns are divided; 0 makes them orthogonal by a QR decomposition.
    random_seed : int, default 0
        Of the first thin matrices.
    compression_stats_logging_frequency, batch_tensors_with_same_shape : optional
        Accepted and not used.

    Attributes
    ----------
    iter : int
        Backwards so far.
    numel_before_compression, numel_after_compression : int
        Elements of all matrices so far, and those that were sent for them.
    """

    def __init__(
        self,
        process_group: ProcessGroup | None,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, "
                "because PowerSGD can only be applied after the first two iterations in DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)
        self.error_dict: dict[int, Any] = {}  # by the number of the bucket
        self.q_memory_dict: dict[int, list[Any]] = {}
        self.iter = 0
        self.numel_before_compression = self.numel_after_compression = 0

    def compression_stats(self) -> tuple[float, int, int]:
        """How many times fewer elements were sent, elements of the gradients, and elements sent."""
        before, after = self.numel_before_compression, self.numel_after_compression
        return (before / after if after else 0), before, after

    # ---- one bucket

    def corrected(self, bucket: GradBucket) -> Any:
        """The gradients, with what was left out of the ones before."""
        gradients = bucket.buffer()
        if self.use_error_feedback and bucket.index() in self.error_dict:
            gradients.add_(self.error_dict[bucket.index()])
        return gradients

    def is_compressed(self, gradient: Any) -> bool:
        """Whether the thin matrices are that much smaller."""
        if gradient.ndim <= 1:
            return False
        rows, columns = matrix_of(gradient).shape
        rank = min(rows, columns, self.matrix_approximation_rank)
        return bool((rows + columns) * rank * self.min_compression_rate < rows * columns)

    def directions(self, index: int, matrices: Sequence[Any]) -> list[Any]:
        """Where to start: for each matrix orthogonal columns, the same on all ranks."""
        kept = self.q_memory_dict.get(index) if self.warm_start else None
        return kept if kept is not None else [self.orthogonal(self._random(matrix)) for matrix in matrices]

    def _random(self, matrix: Any) -> Any:
        rows, columns = matrix.shape
        drawn = self.rng.standard_normal((columns, min(rows, columns, self.matrix_approximation_rank)))
        return over_array(drawn).to(matrix.dtype)

    def orthogonal(self, matrix: Any) -> Any:
        """Orthogonal columns that span what those of the matrix do."""
        if not self.orthogonalization_epsilon:
            return qr(matrix.to(promote_types(matrix.dtype, float32)))[0].to(matrix.dtype)
        columns: list[Any] = []
        for column in matrix.T:
            for other in columns:
                column = column - (column @ other) * other
            columns.append(column / (column.norm() + self.orthogonalization_epsilon))
        return cat([column.unsqueeze(1) for column in columns], 1)

    def keep(self, bucket: GradBucket, directions: list[Any], error: Any) -> None:
        """For the next backward."""
        if self.warm_start:
            self.q_memory_dict[bucket.index()] = directions
        if self.use_error_feedback:
            self.error_dict[bucket.index()] = error
        self.count(bucket)

    def count(self, bucket: GradBucket) -> None:
        """A backward has ended with its last bucket."""
        self.iter += bucket.is_last()


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Any]:
    """Average the gradients over the ranks, those of matrices as products of two thin matrices.

    For a gradient M, and the Q of the backward before, ``P = M Q`` is summed over the ranks and made orthogonal, then
    ``Q = M^T P`` is averaged, and ``P Q^T`` takes the place of the average of all M. Gradients of other shapes are
    averaged as they are.

    Parameters
    ----------
    state : PowerSGDState
    bucket : GradBucket

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD
    >>> gs.distributed.init_process_group()
    >>> model = gs.nn.parallel.DistributedDataParallel(gs.nn.Linear(100, 100))
    >>> state = powerSGD.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)
    >>> model.register_comm_hook(state, powerSGD.powerSGD_hook)
    >>> for _ in range(3):
    ...     model(gs.ones(8, 100)).square().mean().backward()
    >>> state.compression_stats()
    (25.0, 10000, 400)
    >>> gs.distributed.destroy_process_group()
    """
    group = group_of(state.process_group, "powerSGD_hook")
    if state.iter < state.start_powerSGD_iter:
        state.count(bucket)
        return allreduce_hook(group, bucket)
    gradients = state.corrected(bucket)
    own = gradients.clone()
    parts = bucket.gradients()
    matrices = [matrix_of(part) for part in parts if state.is_compressed(part)]
    others = [part for part in parts if not state.is_compressed(part)]
    directions = state.directions(bucket.index(), matrices)
    products = [matrix @ q for matrix, q in zip(matrices, directions)]
    state.numel_before_compression += sum(matrix.numel() for matrix in matrices)
    state.numel_after_compression += sum(p.numel() + q.numel() for p, q in zip(products, directions))

    def decompress(future: Future[Any]) -> Any:
        sums = divided(future.value(), [*products, *others])
        for part, total in zip(others, sums[len(products) :]):
            part.copy_(total / group.size())
        bases = [state.orthogonal(total) for total in sums[: len(products)]]
        averages = average_of([matrix.T @ p for matrix, p in zip(matrices, bases)], group)
        for matrix, p, q in zip(matrices, bases, averages):
            matrix.copy_(p @ q.T)
        state.keep(bucket, averages, own - gradients)
        return gradients

    return summed(joined([*products, *others]), group).then(decompress)


def matrix_of(gradient: Any) -> Any:
    """A view of two dimensions: the first, and all others."""
    return gradient.view(gradient.shape[0], -1)


def joined(tensors: Sequence[Any]) -> Any:
    """All elements in one tensor."""
    return cat([tensor.reshape(-1) for tensor in tensors])


def divided(flat: Any, like: Sequence[Any]) -> list[Any]:
    """The tensors of these shapes that were joined."""
    return [part.view(one.shape) for part, one in zip(flat.split([one.numel() for one in like]), like)]


def average_of(tensors: Sequence[Any], group: ProcessGroup) -> list[Any]:
    """Over the ranks."""
    if not tensors:
        return []
    flat = joined(tensors)
    all_reduce(flat, group=group)
    return divided(flat / group.size(), tensors)
