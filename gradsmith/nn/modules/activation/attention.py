"""Attention of several heads."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn import init
from gradsmith.nn.modules.linear import NonDynamicallyQuantizableLinear
from gradsmith.nn.modules.module import Module
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import empty


class MultiheadAttention(Module):
    """Means of values, weighted by how well their keys fit each query, in several projections at once.

    Parameters
    ----------
    embed_dim, num_heads : int
        The size of queries and outputs, which the heads divide among themselves.
    dropout : float, optional
        The probability of a zero among the weights, in training.
    bias : bool, optional
        Whether projections have a bias.
    add_bias_kv : bool, optional
        Whether a key and a value that are learned are added to each sequence.
    add_zero_attn : bool, optional
        Whether a key and a value of zeros are added.
    kdim, vdim : int, optional
        The sizes of keys and values; `embed_dim` when they are not given.
    batch_first : bool, optional
        Whether sequences are (batch, steps, size) instead of (steps, batch, size).
    device, dtype : optional
        Those of the parameters.

    Attributes
    ----------
    in_proj_weight : Parameter or None
        Of shape (3 * embed_dim, embed_dim), for queries, keys and values; `q_proj_weight`, `k_proj_weight` and
        `v_proj_weight` when their sizes differ.
    in_proj_bias : Parameter or None
        Of shape (3 * embed_dim,).
    out_proj : Linear

    Raises
    ------
    ValueError, AssertionError
        A number is not positive, or the heads do not divide the size.

    Notes
    -----
    Source: Vaswani et al., Attention is all you need, 2017.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.ones(5, 3, 8)
    >>> output, weights = gs.nn.MultiheadAttention(8, num_heads=2)(x, x, x)
    >>> output.shape, weights.shape
    ((5, 3, 8), (3, 5, 5))
    """

    __constants__ = ("batch_first",)
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        for name, shape in self._shapes(bias).items():
            self.register_parameter(name, shape and Parameter(empty(shape, device=device, dtype=dtype)))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            learned = Parameter(empty((1, 1, embed_dim), device=device, dtype=dtype)) if add_bias_kv else None
            setattr(self, name, learned)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _shapes(self, bias: bool) -> dict[str, Any]:
        """The shapes of the projections' parameters; None for those that there are not."""
        size, together = self.embed_dim, self._qkv_same_embed_dim
        separate = {
            "q_proj_weight": None if together else (size, size),
            "k_proj_weight": None if together else (size, self.kdim),
            "v_proj_weight": None if together else (size, self.vdim),
        }
        joint = {"in_proj_weight": (3 * size, size) if together else None}
        ordered = {**joint, **separate} if together else {**separate, **joint}
        return {**ordered, "in_proj_bias": (3 * size,) if bias else None}

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)  # type: ignore[arg-type]
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Parameters
        ----------
        query, key, value : Tensor
            Of shape (steps, batch, size), with the first two exchanged when `batch_first`, or (steps, size).
        key_padding_mask : Tensor, optional
            Of shape (batch, steps of keys): True, or minus infinity, for keys that are passed over.
        need_weights : bool, optional
            Whether the weights are returned.
        attn_mask : Tensor, optional
            Of shape (steps of queries, steps of keys), or with heads and batch before: True for pairs that are
            passed over, or numbers that are added to the scores.
        average_attn_weights : bool, optional
            Whether the mean of all heads' weights is returned.
        is_causal : bool, optional
            Whether `attn_mask` passes over all keys after each query.

        Returns
        -------
        output : Tensor
            Of the shape of the query.
        weights : Tensor or None
            Of shape (batch, steps of queries, steps of keys), with the heads after the batch unless they are averaged.
        """
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = (sequence.transpose(0, 1) for sequence in (query, key, value))
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return output.transpose(0, 1) if turned else output, weights
