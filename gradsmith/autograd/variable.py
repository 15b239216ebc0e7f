"""`Variable`, the former name of a tensor that takes part in differentiation."""

from __future__ import annotations

from typing import Any

from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.engine.introspection import is_checkpoint_valid, queue_callback
from gradsmith.runtime.graph.tensor import TensorBase


class _VariableMeta(type):
    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, TensorBase)


class _ExecutionEngine:
    """The engine, under the name by which PyTorch's users call it."""

    queue_callback = staticmethod(queue_callback)
    is_checkpoint_valid = staticmethod(is_checkpoint_valid)


class Variable(metaclass=_VariableMeta):
    """Every tensor is one: ``Variable(tensor)`` is a tensor with the same data."""

    _execution_engine = _ExecutionEngine()

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool | None = None) -> Any:
        if volatile is not None:
            warn_caller("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
            if volatile and requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        return data.detach().requires_grad_(requires_grad)
