"""Building blocks of networks."""

from gradsmith.nn import functional

__all__ = ["functional"]
