"""Layers of a transformer on top of each other, and the whole."""

from __future__ import annotations

import copy
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn import init
from gradsmith.nn.modules.container import ModuleList
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.normalization import LayerNorm
from gradsmith.nn.modules.transformer.layers import Activation, TransformerDecoderLayer, TransformerEncoderLayer
from gradsmith.nn.modules.transformer.masks import (
    as_numbers,
    generate_square_subsequent_mask,
    is_causal_mask,
    steps_of,
)


class TransformerEncoder(Module):
    """Several encoder layers, each over the output of the one before.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer
        Copied for each layer.
    num_layers : int
    norm : Module, optional
        Called with the last output.
    enable_nested_tensor, mask_check : bool, optional
        Without effect: padding is computed with.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.TransformerEncoderLayer(8, nhead=2)
    >>> gs.nn.TransformerEncoder(layer, num_layers=2)(gs.ones(5, 3, 8)).shape
    (5, 3, 8)
    """

    norm: Module | None

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The sequence `src` after all layers; see `MultiheadAttention.forward` for the masks."""
        padding = as_numbers(src_key_padding_mask, "src_key_padding_mask", src.dtype, mask)
        mask = as_numbers(mask, "mask", src.dtype)
        is_causal = is_causal_mask(mask, is_causal, steps_of(src, _batch_first(self.layers)))
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Several decoder layers, each over the output of the one before.

    Parameters
    ----------
    decoder_layer : TransformerDecoderLayer
        Copied for each layer.
    num_layers : int
    norm : Module, optional
        Called with the last output.
    """

    norm: Module | None

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The sequence `tgt` after all layers, which attend to `memory`; see `MultiheadAttention.forward`."""
        tgt_is_causal = is_causal_mask(tgt_mask, tgt_is_causal, steps_of(tgt, _batch_first(self.layers)))
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of one sequence, and a decoder of another one that attends to it.

    Parameters
    ----------
    d_model, nhead : int, optional
        The size of a step, and the number of heads that attend.
    num_encoder_layers, num_decoder_layers : int, optional
    dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        See `TransformerEncoderLayer`.
    custom_encoder, custom_decoder : Module, optional
        In place of those that would be made.

    Notes
    -----
    Source: Vaswani et al., Attention is all you need, 2017.

    Examples
    --------
    >>> import gradsmith as gs
    >>> model = gs.nn.Transformer(8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
    >>> model(gs.ones(5, 3, 8), gs.ones(4, 3, 8)).shape
    (4, 3, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        settings = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device,
            dtype,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, norm()
        )
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The sequence `tgt` after the decoder, which attends to what the encoder made of `src`.

        Raises
        ------
        RuntimeError
            Batches or sizes of the sequences differ.
        """
        batch_dim = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch_dim] != tgt.shape[batch_dim]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(  # type: ignore[no-any-return]
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Minus infinity above the diagonal of a square: no step attends to one after it."""
        return generate_square_subsequent_mask(sz, device, dtype)


def _copies(layer: Module, count: int) -> ModuleList:
    if not isinstance(layer, Module):
        raise TypeError(f"a stack copies a layer, which must be a Module, not {type(layer).__name__}")
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def _batch_first(layers: Any) -> bool:
    attention = getattr(layers[0], "self_attn", None) if len(layers) else None
    return bool(getattr(attention, "batch_first", False))
