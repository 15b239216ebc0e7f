"""What is raised where a derivative is wrong."""

from __future__ import annotations


class GradcheckError(RuntimeError):
    """A derivative is not what `gradcheck` or `gradgradcheck` expected."""
