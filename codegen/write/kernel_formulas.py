"""The loops of the table as data, for C that is written when a function is exported."""

from __future__ import annotations

import json
from typing import Any

from ..loops.kernels import Kernel, LoopBody
from ..model import Table
from ..views.family import family_view


def kernel_formulas(table: Table, compiled_functions: frozenset[str]) -> str:
    """JSON: name of a loop -> its operands, and the text of one element's work in float and double."""
    found: dict[str, Any] = {}
    for name in table.families:
        family = family_view(name, table, compiled_functions)
        kernels = [loop for node in family.backward_tables for loop in node.loops]
        kernels += [forward.kernel for forward in family.forward_kernels]
        found |= {kernel.name: _facts(kernel) for kernel in kernels}
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def _facts(kernel: Kernel) -> dict[str, Any]:
    return {
        "inputs": kernel.inputs,
        "scalars": kernel.scalars,
        "float32": _body(kernel.float_body),
        "float64": _body(kernel.double_body),
    }


def _body(body: LoopBody) -> dict[str, Any]:
    """The work for all arguments: that for small ones needs to look at a block of them."""
    body = body.far or body
    return {"locals": [[local.name, local.text] for local in body.locals], "result": body.result}
