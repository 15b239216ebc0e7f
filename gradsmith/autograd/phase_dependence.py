"""Gradients of losses that depend on the phase of complex vectors."""

from __future__ import annotations

from gradsmith.runtime.switches.phases import is_phase_dependence_allowed, put_phase_dependence
from gradsmith.runtime.switches.threads import ThreadSwitch

__all__ = ["allow_phase_dependence", "is_phase_dependence_allowed"]


class allow_phase_dependence(ThreadSwitch):
    """Let losses depend on the phase of the complex vectors of `linalg.eig`, `linalg.eigh` and `linalg.svd`.

    An eigenvector remains one when it is multiplied by a number of magnitude one, and so does a pair of singular
    vectors. A loss that such a factor changes is ill-defined, and its backward raises a RuntimeError. The vectors that
    gradsmith gives have the phase that makes the greatest element of each real and positive, however. In this mode the
    gradient is that of the loss of just these vectors.

    The mode holds for the backward passes of this thread, inside of the block or from the call on.

    Parameters
    ----------
    mode : bool
        False forbids it, which is what holds at first.

    Examples
    --------
    >>> a = gradsmith.tensor([[2.0, 1.0j], [-1.0j, 3.0]], requires_grad=True)
    >>> vectors = gradsmith.linalg.eigh(a).eigenvectors
    >>> with gradsmith.autograd.allow_phase_dependence():
    ...     vectors.imag.sum().backward()
    """

    _get = staticmethod(is_phase_dependence_allowed)
    _put = staticmethod(put_phase_dependence)
