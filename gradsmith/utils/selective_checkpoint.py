"""Selective checkpoints: which results a checkpointed function keeps, so that they are not computed again."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from gradsmith.runtime.observers.selective import Giving, Keeping

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow

__all__ = ["CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"]


class CheckpointPolicy(enum.Enum):
    """Policy for the result of an op: keep it, or compute it again.

    ``PREFER`` may be overruled by tools that know more, ``MUST`` may not. Here both mean the same. The policies that
    offload keep the result where it is: there is no other device.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_RECOMPUTED = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)


class SelectiveCheckpointContext:
    """Context of a policy call, besides the op.

    Attributes
    ----------
    is_recompute : bool
        False: policies are asked during the first run only.
    op_output : object
        What the op has returned.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


_Policy = Callable[..., "CheckpointPolicy | bool"]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: _Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[Keeping, Giving]:
    """Contexts of a checkpoint that keeps the results of some ops.

    Parameters
    ----------
    policy_fn_or_list : callable or list
        ``policy(ctx, op, *operands)`` gives a `CheckpointPolicy`, or True for `MUST_SAVE` and False for
        `PREFER_RECOMPUTE`. `ctx` is a `SelectiveCheckpointContext`; `op` is the name of the op, ``"matmul"``. A list
        has the ops to save, as names or as functions: ``["matmul"]`` or ``[gradsmith.matmul]``.

        Ops that write in place or give a view are always computed again, and of ops that consist of other ops those are
        asked for: there is nothing in them to save.
    allow_cache_entry_mutation : bool
        Keep a copy of a kept result that is changed in place, instead of raising RuntimeError in the recomputation.

    Returns
    -------
    tuple of two context managers
        For the first run and for recomputations; both serve one call of `checkpoint`.

    Examples
    --------
    >>> from functools import partial
    >>> import gradsmith as gs
    >>> from gradsmith.utils.checkpoint import checkpoint
    >>> x = gs.ones(10, 10, requires_grad=True)
    >>> keep_products = partial(create_selective_checkpoint_contexts, [gs.matmul])
    >>> y = checkpoint(lambda t: (t @ t).sin().exp(), x, use_reentrant=False, context_fn=keep_products)
    >>> gs.autograd.graph.list_saved(y)
    node          attribute   shape     dtype    bytes
    ExpBackward0  checkpoint  [10, 10]  float32    400
    total                                          400
    """
    if isinstance(policy_fn_or_list, list):
        names = frozenset(map(_name_of, policy_fn_or_list))
        keeping = Keeping(lambda name, operands, result: name in names, allow_cache_entry_mutation)
    elif callable(policy_fn_or_list):
        keeping = Keeping(_asking(policy_fn_or_list), allow_cache_entry_mutation)
    else:
        raise TypeError(
            f"policy_fn_or_list must be either a function or a list of ops, got {type(policy_fn_or_list).__name__}"
        )
    return keeping, Giving(keeping)


def _asking(policy: _Policy) -> Callable[[str, tuple[Any, ...], Any], bool]:
    def keeps(name: str, operands: tuple[Any, ...], result: Any) -> bool:
        answer = policy(SelectiveCheckpointContext(is_recompute=False, op_output=result), name, *operands)
        if isinstance(answer, CheckpointPolicy):
            return answer not in _RECOMPUTED
        if isinstance(answer, bool):
            return answer
        raise TypeError(f"the policy should give a CheckpointPolicy for '{name}', got {type(answer).__name__}")

    return keeps


def _name_of(op: Any) -> str:
    """The name that an op of a list runs under."""
    name = op if isinstance(op, str) else getattr(op, "__name__", None)
    if not isinstance(name, str):
        raise ValueError(
            f"expected an op of the list to be a function or a name, got {op!r} of type {type(op).__name__}"
        )
    rows = _rows().get(name) or _rows().get(name.removesuffix("_"))
    if rows is None:
        if isinstance(op, str):
            raise ValueError(f"there is no op '{name}'; an op of a table outside gradsmith is given as its function")
        return name
    why_not = None if name in _rows() else "writes in place"
    why_not = why_not or _why_never_kept(rows)
    if why_not is not None:
        raise ValueError(f"'{name}' {why_not}: a selective checkpoint always runs it again")
    return rows[0].base


@cache
def _rows() -> dict[str, list[OpRow]]:
    """The entries of the table under each name and alias."""
    from gradsmith.generated.op_table import OPS  # as long to import as half of gradsmith, and seldom needed

    found: dict[str, list[OpRow]] = {}
    for row in OPS:
        for name in (row.base, *row.aliases):
            found.setdefault(name, []).append(row)
    return found


def _why_never_kept(rows: list[OpRow]) -> str | None:
    if not all(row.is_view or row.is_composite or "(a!)" in row.name for row in rows):
        return None
    if any("(a!)" in row.name for row in rows):
        return "writes in place"
    if any(row.is_view for row in rows):
        return "gives a view"
    parts = {word for row in rows for word in re.findall(r"\w+(?=\()", row.forward) if word in _rows()}
    return f"consists of other ops ({', '.join(sorted(parts))})" if parts else "consists of other ops"
