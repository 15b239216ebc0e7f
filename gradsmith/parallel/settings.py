"""The caller's modes, sent along to tasks in other processes. Threads inherit the whole state of the calling thread."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from gradsmith.parallel.limits import limited
from gradsmith.runtime.arrays.device import get_default_device, set_default_device
from gradsmith.runtime.arrays.dtypes import get_default_dtype, set_default_dtype
from gradsmith.runtime.engine.anomaly_mode import (
    is_anomaly_check_inf_enabled,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
)
from gradsmith.runtime.switches.grad_mode import (
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    set_grad_enabled,
)


def _anomaly_mode() -> tuple[bool, bool, bool]:
    return is_anomaly_enabled(), is_anomaly_check_nan_enabled(), is_anomaly_check_inf_enabled()


class Settings(NamedTuple):
    """The state of a program that its results depend on."""

    grad_enabled: bool
    inference_mode: bool
    dtype: Any
    device: Any
    anomaly_mode: tuple[bool, bool, bool]
    threads: int | None = None  # of kernels and BLAS; None leaves them as they are

    @classmethod
    def here(cls, threads: int | None = None) -> Settings:
        return cls(
            is_grad_enabled(), is_inference_mode_enabled(), get_default_dtype(), get_default_device(), _anomaly_mode(),
            threads,
        )  # fmt: skip

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Have them in this thread, and then again what there was."""
        before = get_default_dtype(), get_default_device(), _anomaly_mode()
        with contextlib.ExitStack() as stack:
            if self.threads is not None:
                stack.enter_context(limited(self.threads))
            if self.inference_mode:
                stack.enter_context(inference_mode())
            stack.enter_context(set_grad_enabled(self.grad_enabled))
            stack.callback(_put, *before)
            _put(self.dtype, self.device, self.anomaly_mode)
            yield


def _put(dtype: Any, device: Any, anomaly_mode: tuple[bool, bool, bool]) -> None:
    set_default_dtype(dtype)
    set_default_device(device)
    set_anomaly_enabled(*anomaly_mode)
