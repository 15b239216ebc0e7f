"""What gradcheck raises. It knows nothing of the checks, which all raise it."""

from __future__ import annotations


class GradcheckError(RuntimeError):
    """A derivative is not what `gradcheck` or `gradgradcheck` expected."""

    __module__ = "gradsmith.autograd.gradcheck"
