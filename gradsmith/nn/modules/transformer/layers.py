"""One layer of a transformer's encoder, or decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.activation.attention import MultiheadAttention
from gradsmith.nn.modules.dropout import Dropout
from gradsmith.nn.modules.linear import Linear
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.normalization import LayerNorm
from gradsmith.nn.modules.transformer.masks import as_numbers

Activation = str | Callable[[Tensor], Tensor]


class _Layer(Module):
    """Base of both layers: self-attention, and a feedforward network of two layers."""

    activation: Any

    def _set_up(
        self, attentions: tuple[str, ...], norms: int, d_model: int, nhead: int, dim_feedforward: int, dropout: float,
        activation: Activation, eps: float, batch_first: bool, norm_first: bool, bias: bool, where: dict[str, Any],
    ) -> None:  # fmt: skip
        for name in attentions:
            attention = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **where)
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **where)
        self.norm_first = norm_first
        for number in range(1, norms + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=eps, bias=bias, **where))
        for number in range(1, norms + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = _function(activation)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__({"activation": F.relu, **state})

    def _added(self, norm: Module, x: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
        """`x` and what a part makes of it, normalized before or after."""
        return x + part(norm(x)) if self.norm_first else norm(x + part(x))

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        attended, _ = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )
        return self.dropout1(attended)  # type: ignore[no-any-return]


class TransformerEncoderLayer(_Layer):
    """Attention within a sequence, then a network of two layers for each step; each added to its input.

    Parameters
    ----------
    d_model, nhead : int
        The size of a step, and the number of heads that attend.
    dim_feedforward : int, optional
        The size between the two layers.
    dropout : float, optional
        The probability of a zero, in training.
    activation : {"relu", "gelu"} or callable, optional
        Between the two layers.
    layer_norm_eps : float, optional
    batch_first : bool, optional
        Whether sequences are (batch, steps, size) instead of (steps, batch, size).
    norm_first : bool, optional
        Whether inputs are normalized, instead of sums.
    bias : bool, optional
        Whether linear layers and normalizations have a bias.
    device, dtype : optional
        Those of the parameters.

    Notes
    -----
    Source: Vaswani et al., Attention is all you need, 2017.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.TransformerEncoderLayer(8, nhead=2)(gs.ones(5, 3, 8)).shape
    (5, 3, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_up(
            ("self_attn",), 2, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, {"device": device, "dtype": dtype},
        )  # fmt: skip

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The sequence `src` after the layer; see `MultiheadAttention.forward` for the masks."""
        padding = as_numbers(src_key_padding_mask, "src_key_padding_mask", src.dtype, src_mask)
        mask = as_numbers(src_mask, "src_mask", src.dtype)
        x = self._added(self.norm1, src, lambda x: self._sa_block(x, mask, padding, is_causal))
        return self._added(self.norm2, x, self._ff_block)

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x)  # type: ignore[no-any-return]


class TransformerDecoderLayer(_Layer):
    """Attention within a sequence, then to another one, then a network of two layers; each added to its input.

    Takes the parameters of `TransformerEncoderLayer`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.TransformerDecoderLayer(8, nhead=2)(gs.ones(4, 3, 8), gs.ones(5, 3, 8)).shape
    (4, 3, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_up(
            ("self_attn", "multihead_attn"), 3, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
            batch_first, norm_first, bias, {"device": device, "dtype": dtype},
        )  # fmt: skip

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The sequence `tgt` after the layer, which attends to `memory`; see `MultiheadAttention.forward`."""
        x = self._added(self.norm1, tgt, lambda x: self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self._added(
            self.norm2,
            x,
            lambda x: self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal),
        )
        return self._added(self.norm3, x, self._ff_block)

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        attended, _ = self.multihead_attn(
            x,
            mem,
            mem,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )
        return self.dropout2(attended)  # type: ignore[no-any-return]

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(x)  # type: ignore[no-any-return]


def _function(activation: Any) -> Any:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)
