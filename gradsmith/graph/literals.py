"""Types and numbers of NumPy's as C text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.graph.layout import NotExportable

C_TYPES = {
    "float64": "double", "float32": "float", "int64": "int64_t", "int32": "int32_t", "int16": "int16_t",
    "int8": "int8_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "bool": "uint8_t",
}  # fmt: skip


def c_type(dtype: np.dtype[Any]) -> str:
    if dtype.name not in C_TYPES:
        raise NotExportable(f"there is no C type for {dtype.name}")
    return C_TYPES[dtype.name]


def literal(number: Any, dtype: np.dtype[Any]) -> str:
    """The number in this type, exactly: floats are hexadecimal."""
    if isinstance(number, complex):
        raise NotExportable("complex numbers have no form in the exported C")
    if dtype.kind != "f":
        return _integer(int(np.asarray(number).astype(dtype)), dtype)
    with np.errstate(over="ignore"):
        value, suffix = float(dtype.type(number)), "f" if dtype.itemsize == 4 else ""
    if math.isnan(value):
        return f"({c_type(dtype)})NAN"
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}({c_type(dtype)})INFINITY)"
    text = value.hex() if value != int(value) or abs(value) >= 1e6 else f"{value:.1f}"
    return f"({text}{suffix})" if text.startswith("-") else f"{text}{suffix}"


def _integer(value: int, dtype: np.dtype[Any]) -> str:
    if dtype.name == "int64":
        return "INT64_MIN" if value == -(2**63) else f"INT64_C({value})"
    if dtype.name == "uint64":
        return f"UINT64_C({value})"
    return f"({c_type(dtype)})({value})" if value != -(2**31) else "INT32_MIN"
