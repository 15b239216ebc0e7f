"""Settings of CUDA, which is not used: they may be set, and change nothing."""

from __future__ import annotations

import contextlib
import enum
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from gradsmith.nn.attention.backends import SDPBackend, enable, is_enabled, sdpa_kernel

__all__ = [
    "can_use_cudnn_attention", "can_use_efficient_attention", "can_use_flash_attention", "cudnn_sdp_enabled",
    "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp", "flash_sdp_enabled",
    "is_built", "is_flash_attention_available", "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled",
    "preferred_blas_library", "preferred_linalg_library", "sdp_kernel",
]  # fmt: skip

matmul = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True
)


class _LinalgBackend(enum.Enum):
    Default = "default"
    Cusolver = "cusolver"
    Magma = "magma"


class _BlasBackend(enum.Enum):
    Default = "default"
    Cublas = "cublas"
    Cublaslt = "cublaslt"
    Ck = "ck"


_preferred: dict[type[enum.Enum], enum.Enum] = {}


def preferred_linalg_library(backend: str | None = None) -> enum.Enum:
    """The library that programs have named for linear algebra on CUDA, which is not used."""
    return _preferred_of(_LinalgBackend, backend)


def preferred_blas_library(backend: str | None = None) -> enum.Enum:
    """The library that programs have named for products on CUDA, which is not used."""
    return _preferred_of(_BlasBackend, backend)


def _preferred_of(kind: Any, backend: Any) -> enum.Enum:
    if isinstance(backend, str):
        known = [one.value for one in kind]
        if backend not in known:
            raise RuntimeError(f"Unknown input value {backend!r}. Choose from: {', '.join(known)}.")
        _preferred[kind] = kind(backend)
    elif backend is not None:
        _preferred[kind] = kind(backend)
    found: enum.Enum = _preferred.get(kind, kind.Default)
    return found


def is_built() -> bool:
    """Whether the package was compiled with CUDA: no."""
    return False


# ---- ways to compute attention, of which there is one: see gradsmith/nn/attention/backends.py


def flash_sdp_enabled() -> bool:
    """Whether flash attention is enabled."""
    return is_enabled(SDPBackend.FLASH_ATTENTION)


def enable_flash_sdp(enabled: bool) -> None:
    """Enable flash attention, or disable it."""
    enable(SDPBackend.FLASH_ATTENTION, enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether attention in little memory is enabled."""
    return is_enabled(SDPBackend.EFFICIENT_ATTENTION)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Enable attention in little memory, or disable it."""
    enable(SDPBackend.EFFICIENT_ATTENTION, enabled)


def math_sdp_enabled() -> bool:
    """Whether attention by plain products is enabled."""
    return is_enabled(SDPBackend.MATH)


def enable_math_sdp(enabled: bool) -> None:
    """Enable attention by plain products, or disable it."""
    enable(SDPBackend.MATH, enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether attention by cuDNN is enabled."""
    return is_enabled(SDPBackend.CUDNN_ATTENTION)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Enable attention by cuDNN, or disable it."""
    enable(SDPBackend.CUDNN_ATTENTION, enabled)


def is_flash_attention_available() -> bool:
    """Whether the package was compiled with flash attention for CUDA: no."""
    return False


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """Whether CUDA's flash attention would compute this: never."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[dict[Any, Any]]:
    """The older form of `gradsmith.nn.attention.sdpa_kernel`."""
    warnings.warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please "
        "see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
        FutureWarning,
        stacklevel=3,
    )
    asked = {
        SDPBackend.FLASH_ATTENTION: enable_flash,
        SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
        SDPBackend.MATH: enable_math,
        SDPBackend.CUDNN_ATTENTION: enable_cudnn,
    }
    with sdpa_kernel([backend for backend, enabled in asked.items() if enabled]) as found:
        yield found
