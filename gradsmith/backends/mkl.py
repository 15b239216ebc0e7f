"""Intel's MKL, which is not used: matrix products and decompositions are those of the BLAS and LAPACK in NumPy."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether the package was compiled with MKL: no. NumPy may have been; ``numpy.show_config()`` tells."""
    return False
