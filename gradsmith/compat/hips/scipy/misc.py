"""Where old programs find `logsumexp`."""

from gradsmith.compat.hips.scipy.special import logsumexp

__all__ = ["logsumexp"]
