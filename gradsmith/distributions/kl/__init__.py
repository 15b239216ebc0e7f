"""The divergence of Kullback and Leibler of two distributions, and the functions for pairs of their classes."""

from gradsmith.distributions.kl import crossed, normals, same_family  # noqa: F401  # they register their functions
from gradsmith.distributions.kl.registry import _KL_REGISTRY as _KL_REGISTRY
from gradsmith.distributions.kl.registry import kl_divergence, register_kl

__all__ = ["kl_divergence", "register_kl"]
