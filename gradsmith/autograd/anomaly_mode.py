"""Finding what makes a backward fail, or what makes its gradients NaN or infinite."""

from __future__ import annotations

import warnings

from gradsmith.runtime.engine.anomaly_mode import (
    is_anomaly_check_inf_enabled,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
)
from gradsmith.runtime.switches.truth import truth_of

__all__ = [
    "detect_anomaly",
    "is_anomaly_check_inf_enabled",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_detect_anomaly",
]


class _Restored:
    """Base of both: remembers the mode it has found, and restores it at the end of a ``with`` block."""

    def __init__(self) -> None:
        self.before = is_anomaly_enabled(), is_anomaly_check_nan_enabled(), is_anomaly_check_inf_enabled()

    def __exit__(self, *exc_info: object) -> None:
        set_anomaly_enabled(*self.before)


class detect_anomaly(_Restored):
    """Inside the ``with`` block a backward that fails says, in a warning, where its forward was called.

    For that the forward must run inside such a block, too. Gradients that are NaN or infinite are errors, which name
    the node and the first bad element. The mode holds for all threads and slows down everything: it is for debugging.

    Parameters
    ----------
    check_nan, check_inf : bool
        Raise for gradients that are NaN, and for infinite ones.

    Examples
    --------
    >>> x = gradsmith.tensor([4.0, -1.0], requires_grad=True)
    >>> with gradsmith.autograd.detect_anomaly():
    ...     x.sqrt().sum().backward()
    Traceback (most recent call last):
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output: ...
    """

    def __init__(self, check_nan: bool = True, check_inf: bool = True) -> None:
        super().__init__()
        self.checks = check_nan, check_inf
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, *self.checks)


class set_detect_anomaly(_Restored):
    """Switch anomaly mode on or off: at once when called, and back at the end when used in a ``with``.

    Parameters
    ----------
    mode : bool
        True switches it on.
    check_nan, check_inf : bool
        See `detect_anomaly`.
    """

    def __init__(self, mode: bool, check_nan: bool = True, check_inf: bool = True) -> None:
        super().__init__()
        set_anomaly_enabled(truth_of(mode, "set_detect_anomaly", "mode"), check_nan, check_inf)

    def __enter__(self) -> None:
        """It has been set by the call."""
