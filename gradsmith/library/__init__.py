"""Operators of one's own, as functions of Python with what is registered for them.

An entry of a table, `gradsmith.load_ops`, is a whole operator in one line, and an `autograd.Function` is its derivative
by hand; these are PyTorch's way to say the latter. What PyTorch's compilers need of an operator is not asked for here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from gradsmith.library.checks import opcheck
from gradsmith.library.custom_ops import CustomOpDef, custom_op, operator_named
from gradsmith.library.schemas import infer_schema
from gradsmith.names.missing import raise_missing

__all__ = [
    "Library", "custom_op", "infer_schema", "opcheck", "register_autograd", "register_fake", "register_kernel",
    "register_vmap",
]  # fmt: skip
__getattr__ = raise_missing(__name__)


class Library:
    """For imports and annotations only: `custom_op` makes an operator, and registers what belongs to it."""

    def __new__(cls, ns: str, kind: str, dispatch_key: str = "") -> NoReturn:
        raise NotImplementedError(
            f"library.Library({ns!r}, {kind!r}): operators are not declared apart from their functions in gradsmith. "
            "Make one with gradsmith.library.custom_op, or as an entry of a table: gradsmith.load_ops"
        )


def register_autograd(
    op: str | CustomOpDef,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """`CustomOpDef.register_autograd` of an operator, or of the one of a name."""
    _operator_of(op).register_autograd(backward, setup_context=setup_context)


def register_fake(
    op: str | CustomOpDef, func: Callable[..., Any] | None = None, /, *, lib: Any = None, allow_override: bool = False
) -> Any:
    """`CustomOpDef.register_fake` of an operator, or of the one of a name."""
    operator = _operator_of(op)
    return operator.register_fake if func is None else operator.register_fake(func)


def register_kernel(
    op: str | CustomOpDef, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None
) -> Any:
    """`CustomOpDef.register_kernel` of an operator, or of the one of a name."""
    return _operator_of(op).register_kernel(device_types, func)


def register_vmap(op: str | CustomOpDef, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_vmap` of an operator, or of the one of a name."""
    return _operator_of(op).register_vmap(func)


def _operator_of(op: str | CustomOpDef) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    found = operator_named(op)
    if found is None:
        raise RuntimeError(f"operator {op!r} does not exist; torch.library.custom_op makes operators")
    return found
