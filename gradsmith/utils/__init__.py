"""Tools around the graph."""

from gradsmith.utils import checkpoint

__all__ = ["checkpoint"]
