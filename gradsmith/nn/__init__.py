"""What networks are made of."""

from gradsmith.nn import functional

__all__ = ["functional"]
