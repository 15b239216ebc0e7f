"""Where HIPS programs look for the vector spaces of arrays."""

from gradsmith.compat.hips.vector_spaces import ArrayVSpace, ComplexArrayVSpace, VSpace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace", "VSpace"]
