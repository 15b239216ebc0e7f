"""May a loss depend on the phase of complex eigenvectors and singular vectors."""

from __future__ import annotations

import threading

from gradsmith.runtime.switches.threads import register_switch


class _PhaseDependence(threading.local):
    allowed = False


_phase_dependence = _PhaseDependence()


def is_phase_dependence_allowed() -> bool:
    """True inside of `allow_phase_dependence`."""
    return _phase_dependence.allowed


def put_phase_dependence(mode: bool) -> None:
    _phase_dependence.allowed = mode


register_switch(is_phase_dependence_allowed, put_phase_dependence)
