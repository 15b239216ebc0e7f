"""The error that gradcheck raises. A module of its own, since all checks import it."""

from __future__ import annotations


class GradcheckError(RuntimeError):
    """A derivative is not what `gradcheck` or `gradgradcheck` expected."""

    __module__ = "gradsmith.autograd.gradcheck"
