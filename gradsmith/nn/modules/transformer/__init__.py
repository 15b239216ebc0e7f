"""Transformers: attention and small networks, in layers."""

from gradsmith.nn.modules.transformer.layers import TransformerDecoderLayer, TransformerEncoderLayer
from gradsmith.nn.modules.transformer.layers import _function as _get_activation_fn
from gradsmith.nn.modules.transformer.masks import generate_square_subsequent_mask as _generate_square_subsequent_mask
from gradsmith.nn.modules.transformer.stacks import Transformer, TransformerDecoder, TransformerEncoder
from gradsmith.nn.modules.transformer.stacks import _copies as _get_clones

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
    "_generate_square_subsequent_mask", "_get_activation_fn", "_get_clones",
]  # fmt: skip
