"""Attention: scaled products of queries and keys, and several heads of it with their projections."""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.names.missing import missing_attribute
from gradsmith.nn.attention.backends import SDPBackend, sdpa_kernel

if TYPE_CHECKING:
    from gradsmith.nn.attention import bias as bias

__all__ = ["SDPBackend", "bias", "sdpa_kernel"]

# Whether PyTorch would warn about ways to compute attention that it cannot take.
WARN_FOR_UNFUSED_KERNELS = False


def __getattr__(name: str) -> Any:
    """Masks are imported when they are asked for."""
    if name == "bias":
        return importlib.import_module(f"{__name__}.bias")
    if name == "flex_attention":  # it stands above `func`, whose `vmap` it calls
        return importlib.import_module("gradsmith.compat.torch.nn.attention.flex_attention")
    raise missing_attribute(__name__, name)
