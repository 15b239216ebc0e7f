"""Layers whose weights are divided among the ranks; see Note [Replicated values] in `regions`.

The values at the start are those of the whole layer with the same random numbers: all ranks draw it, and keep their
part.
"""

from __future__ import annotations

from typing import Any

import gradsmith.nn.functional as F
from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributed.parallel.regions import (
    enter_parallel_region,
    gather_from_ranks,
    leave_parallel_region,
    own_part,
    split_among_ranks,
)
from gradsmith.distributed.world import group_of
from gradsmith.generated import where
from gradsmith.nn.modules.linear import Linear
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.sparse import Embedding
from gradsmith.nn.parameter import Parameter

__all__ = ["ColumnParallelLinear", "RowParallelLinear", "VocabParallelEmbedding"]


class ColumnParallelLinear(Module):
    """`nn.Linear` of which each rank computes some of the outputs.

    Parameters
    ----------
    in_features, out_features : int
        Of the whole layer; `out_features` is a multiple of the number of ranks.
    bias : bool
    gather_output : bool
        All ranks have all outputs; otherwise each has its own, which a `RowParallelLinear` takes.
    group : ProcessGroup, optional
        Default: the world.
    dtype : dtype, optional
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, gather_output: bool = True, group: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.group = group_of(group, "ColumnParallelLinear")
        self.gather_output = gather_output
        whole = Linear(in_features, out_features, bias, dtype=dtype)
        self.weight = _part(whole.weight, 0, self.group)
        self.bias = _part(whole.bias, 0, self.group) if bias else None

    def forward(self, x: Any) -> Any:
        """The outputs, or this rank's, for an input that all ranks have."""
        y = F.linear(enter_parallel_region(x, self.group), self.weight, self.bias)
        return gather_from_ranks(y, -1, self.group) if self.gather_output else y


class RowParallelLinear(Module):
    """`nn.Linear` of which each rank takes some of the inputs; their sum is the output of all ranks.

    Parameters
    ----------
    in_features, out_features : int
        Of the whole layer; `in_features` is a multiple of the number of ranks.
    bias : bool
    input_is_parallel : bool
        Each rank has its part of the input, from a `ColumnParallelLinear`; otherwise all have all of it.
    group : ProcessGroup, optional
    dtype : dtype, optional
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, input_is_parallel: bool = False,
        group: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.group = group_of(group, "RowParallelLinear")
        self.input_is_parallel = input_is_parallel
        whole = Linear(in_features, out_features, bias, dtype=dtype)
        self.weight = _part(whole.weight, 1, self.group)
        self.bias = whole.bias

    def forward(self, x: Any) -> Any:
        """The output, which all ranks have."""
        part = x if self.input_is_parallel else split_among_ranks(x, -1, self.group)
        y = leave_parallel_region(F.linear(part, self.weight), self.group)
        return y if self.bias is None else y + self.bias


class VocabParallelEmbedding(Module):
    """`nn.Embedding` of which each rank has some of the rows.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Of the whole table; `num_embeddings` is a multiple of the number of ranks.
    group : ProcessGroup, optional
    dtype : dtype, optional
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, group: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.group = group_of(group, "VocabParallelEmbedding")
        self.weight = _part(Embedding(num_embeddings, embedding_dim, dtype=dtype).weight, 0, self.group)
        self.start = self.group.rank() * self.weight.shape[0]

    def forward(self, indices: Any) -> Any:
        """The rows of all indices, which all ranks have."""
        places = indices - self.start
        is_here = (places >= 0) & (places < self.weight.shape[0])
        rows = F.embedding(where(is_here, places, 0), self.weight)
        return leave_parallel_region(where(is_here.unsqueeze(-1), rows, 0.0), self.group)


def _part(whole: Any, dim: int, group: Any) -> Parameter:
    with no_grad():
        part: Parameter = Parameter(own_part(whole.detach(), dim, group).clone())
    return part
