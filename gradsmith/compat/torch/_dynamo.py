"""`gradsmith.compiler` under the name of PyTorch's tracer."""

from types import SimpleNamespace

from gradsmith.compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset

__all__ = ["allow_in_graph", "assume_constant_result", "disable", "is_compiling", "list_backends", "reset"]

# Programs set options of PyTorch's tracer before they compile; none means anything here.
config = SimpleNamespace()
