"""``torch.nn.attention.bias``: causal masks for queries and keys of different numbers.

>>> import gradsmith as gs
>>> gs.nn.attention.bias.causal_lower_right(2, 3)
tensor([[ True,  True, False],
        [ True,  True,  True]])
"""

from __future__ import annotations

from gradsmith.generated.tensor import Tensor
from gradsmith.names.missing import raise_missing
from gradsmith.runtime.arrays.dtypes import bool_
from gradsmith.runtime.tensors.factories.creation import ones

__all__ = ["causal_lower_right", "causal_upper_left"]
__getattr__ = raise_missing(__name__)


def causal_upper_left(*size: int) -> Tensor:
    """The mask that lets the first query see the first key, the second one two, and so on.

    Parameters
    ----------
    *size : int
        The numbers of queries and keys.

    Returns
    -------
    Tensor
        Of bools, for ``attn_mask`` of `nn.functional.scaled_dot_product_attention`. PyTorch's is of a class of its own.
    """
    return _triangle("causal_upper_left", size, 0)


def causal_lower_right(*size: int) -> Tensor:
    """The mask that lets the last query see all keys, the one before all but the last, and so on.

    Arguments and result are those of `causal_upper_left`.
    """
    return _triangle("causal_lower_right", size, 1)


def _triangle(op: str, size: tuple[int, ...], corner: int) -> Tensor:
    if len(size) != 2:
        raise RuntimeError(f"{op}(): expected the numbers of queries and keys, but got {len(size)} numbers")
    queries, keys = size
    return ones(queries, keys, dtype=bool_).tril(corner * (keys - queries))
