"""Where HIPS programs look for the class of boxes."""

from gradsmith.compat.hips.boxes import ArrayBox

__all__ = ["ArrayBox"]
