"""Every name that generated text makes of the names in the table.

One place knows them, so that the check that no two entries make the same name needs nothing of what writes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from .schema import Signature
from .vocabulary import NAMESPACES

# Name of `self` in functions, as in PyTorch's.
FIRST_TENSOR = "input"

# Parameters that are also known by the name that NumPy gives them.
SECOND_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), FIRST_TENSOR: ("x", "a", "x1", "A"), "other": ("x2",)}


# ---- namespaces


def namespace_of(name: str) -> str:
    """``linalg`` of ``linalg_det``, or ""."""
    first, _, rest = name.partition("_")
    return first if first in NAMESPACES and rest else ""


def name_within(name: str) -> str:
    """``det`` of ``linalg_det``: what users call it in its namespace."""
    return name.removeprefix(f"{namespace_of(name)}_") if namespace_of(name) else name


# ---- forms of an op


@dataclass(frozen=True)
class Form:
    """Effect of a function on its result, besides returning it."""

    suffix: str  # of its name
    remark: str = ""  # what its documentation adds

    @property
    def inplace(self) -> bool:
        return self == INPLACE


PLAIN = Form("")
INPLACE = Form("_")
COPY = Form("_copy", "Copied into memory of its own.")


# ---- what Python calls


def call_name(signature: Signature, form: Form = PLAIN) -> str:
    """``call_max_dim``, the C function between Python and the C entries."""
    overload = f"_{signature.overload}" if signature.overload else ""
    return f"call_{signature.base}{overload}{form.suffix}"


def result_name(signature: Signature) -> str:
    """``MaxDimResult``, the named tuple of several results."""
    words = [word for word in f"{signature.base}_{signature.overload}".split("_") if word]
    return f"{''.join(word.capitalize() for word in words)}Result"


def binder_names(base: str, form: Form, *, own: bool) -> tuple[str, str]:
    """The binder of overloads and its table: those of the method's `own`, or those of the function."""
    name = f"{base}{form.suffix}"
    return f"{'method_bind' if own else 'bind'}_{name}", f"{name.upper()}_{'METHODS' if own else 'OVERLOADS'}"


# ---- C entries; `stem` is ``mul_tensor`` of ``op_mul_tensor``


def inplace_name(stem: str) -> str:
    return f"inplace_{stem}"


def by_ops_name(stem: str) -> str:
    """The function that evaluates a pointwise expression by ops, where its loop does not serve."""
    return f"{stem}_by_ops"


def tangents_name(stem: str) -> str:
    return f"tangents_{stem}"


def packed_name(stem: str) -> str:
    """The op as it is called with a tuple of its arguments."""
    return f"packed_{stem}"


def parts_name(stem: str) -> str:
    """The ops that take the place of the op where it is batched."""
    return f"parts_of_{stem}"


def batch_rule_name(stem: str) -> str:
    return f"batched_{stem}"


def forward_kernel_name(stem: str) -> str:
    return f"{stem.upper()}_FORWARD"


def backward_table_name(stem: str) -> str:
    return f"{stem.upper()}_BACKWARD"


def scipy_name(base: str) -> str:
    """Stand-in for SciPy in the expression of an op, which knows the op's name."""
    return f"scipy_of_{base}"


# ---- locals


def tangent_name(name: str) -> str:
    """``self`` has the tangent ``self_t``."""
    return f"{name}_t"


def edge_name(name: str) -> str:
    return f"{name}_edge"


def array_name(name: str) -> str:
    return f"{name}_array"
