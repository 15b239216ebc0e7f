"""`gradsmith.compiler` under the name of PyTorch's tracer."""

from typing import Any

from gradsmith.compat.torch._dynamo import config as config
from gradsmith.compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset

__all__ = [
    "allow_in_graph", "assume_constant_result", "disable", "graph_break", "is_compiling", "list_backends",
    "mark_dynamic", "mark_static", "maybe_mark_dynamic", "reset",
]  # fmt: skip


def graph_break(msg: str = "") -> None:
    """Nothing: what is not traced runs as it is."""


def mark_dynamic(t: Any, index: Any, **bounds: Any) -> None:
    """Do nothing: a compiled function makes a program for each shape."""


def mark_static(t: Any, index: Any = None) -> None:
    """Nothing."""


maybe_mark_dynamic = mark_dynamic
