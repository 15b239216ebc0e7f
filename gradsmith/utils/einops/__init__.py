"""einops on tensors: importing this module makes the functions of einops take them.

    import gradsmith.utils.einops
    einops.rearrange(x, "b (h w) c -> b c h w", h=8)

It hands on the functions of einops, and `layers` has them as modules.
"""

from __future__ import annotations

import importlib
from typing import Any

from gradsmith.utils.optional import required

__all__ = ["asnumpy", "einsum", "layers", "pack", "parse_shape", "rearrange", "reduce", "repeat", "unpack"]

_einops = required("einops", "gradsmith.utils.einops", "einops")
importlib.import_module("gradsmith.utils.einops.backend")  # einops finds the class that it defines

asnumpy, einsum, pack, parse_shape = _einops.asnumpy, _einops.einsum, _einops.pack, _einops.parse_shape
rearrange, reduce, repeat, unpack = _einops.rearrange, _einops.reduce, _einops.repeat, _einops.unpack


def __getattr__(name: str) -> Any:
    """The layers are imported when they are first used."""
    if name == "layers":
        return importlib.import_module(f"{__name__}.layers")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
