"""Attention: scaled products of queries and keys, and several heads of it with their projections."""

from gradsmith.names.missing import raise_missing
from gradsmith.nn.attention.backends import SDPBackend, sdpa_kernel

__all__ = ["SDPBackend", "sdpa_kernel"]
__getattr__ = raise_missing(__name__)

# Whether PyTorch would warn about ways to compute attention that it cannot take.
WARN_FOR_UNFUSED_KERNELS = False
