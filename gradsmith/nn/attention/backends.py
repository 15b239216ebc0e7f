"""Which of PyTorch's ways to compute attention are enabled: kept and given back, without effect.

Here attention is computed one way, of the same results whatever is chosen.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.Enum):
    """PyTorch's ways to compute `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


class _Enabled:
    backends = frozenset(SDPBackend) - {SDPBackend.ERROR}


_enabled = _Enabled()


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """A block in which only some ways to compute attention are enabled. It is computed as everywhere.

    Parameters
    ----------
    backends : SDPBackend or list of SDPBackend
        What `gradsmith.backends.cuda.flash_sdp_enabled` and its like say within the block.
    set_priority : bool
        Without effect.

    Raises
    ------
    RuntimeError
        When nothing is enabled, with which nothing could be computed.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.nn.attention import SDPBackend, sdpa_kernel
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     print(gs.backends.cuda.flash_sdp_enabled(), gs.backends.cuda.math_sdp_enabled())
    False True
    """
    chosen = frozenset([backends] if isinstance(backends, SDPBackend) else _listed(backends))
    if not chosen - {SDPBackend.ERROR}:
        raise RuntimeError("sdpa_kernel(): no backend is enabled, so that no attention could be computed")
    before = _enabled.backends
    _enabled.backends = chosen
    try:
        yield {}
    finally:
        _enabled.backends = before


def _listed(backends: Any) -> list[SDPBackend]:
    if not isinstance(backends, list) or not all(isinstance(backend, SDPBackend) for backend in backends):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    return backends


def is_enabled(backend: SDPBackend) -> bool:
    """Whether a way to compute attention is enabled."""
    return backend in _enabled.backends


def enable(backend: SDPBackend, enabled: bool) -> None:
    """Enable a way to compute attention, or disable it."""
    _enabled.backends = _enabled.backends | {backend} if enabled else _enabled.backends - {backend}
