"""The one door upward: what the runtime needs of the layers above it.

`Tensor.backward` is a method of a lower layer than the engine. The engine adds gradients and undoes broadcasting
*differentiably* when the graph of the gradient is wanted, and indexing, copying and cloning are ops of the table. Who
calls a node gives gradients that have to be looked at, which is done above it. The runtime cannot import the generated
modules, which are built on it; they, and the modules that come later, fill these names when they are imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_Function = Callable[..., Any]


def _missing(*args: object) -> Any:
    raise RuntimeError("gradsmith.generated has not been imported; import gradsmith instead of a part of it")


backward: _Function = _missing
call_node: _Function = _missing
add: _Function = _missing
clone: _Function = _missing
clone_by_rows: _Function = _missing
copy_: _Function = _missing
expand: _Function = _missing
fill_: _Function = _missing
grad: _Function = _missing
real: _Function = _missing
sum_to: _Function = _missing
to: _Function = _missing
geometry_slice: _Function = _missing
geometry_scatter: _Function = _missing
where: _Function = _missing
unbind: _Function = _missing
basic_index: _Function = _missing
basic_index_backward: _Function = _missing
index: _Function = _missing
index_put_: _Function = _missing


def fill(**functions: _Function) -> None:
    """Set the functions; an unknown name is an error."""
    for name, function in functions.items():
        if name not in globals():
            raise TypeError(f"the runtime does not ask for {name!r}")
        globals()[name] = function
