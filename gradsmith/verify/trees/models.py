"""The tables behind the rows: what the generator knows of an op, and a row does not say."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from gradsmith.codegen.build.build import load_outside
from gradsmith.codegen.extension import library_table, public_names
from gradsmith.codegen.spec.vocabulary import FUNCTIONS_MODULE

from .evaluator import Evaluator
from .functions import Functions

if TYPE_CHECKING:
    from gradsmith.codegen.model import Op, Table
    from gradsmith.generated.op_table import OpRow


@dataclass(frozen=True)
class Model:
    """An op with its formulas, and what evaluates them."""

    op: Op
    evaluator: Evaluator


class Models:
    """The models of all rows of a table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._ops = {op.name: op for op in table.ops}
        self._evaluator = Evaluator(Functions(table))

    def of(self, row: OpRow) -> Model:
        return Model(self._ops[row.name], self._evaluator)


@functools.cache
def own_models() -> Models:
    return Models(library_table())


def models_of(module: ModuleType, table: Path, functions: Path | None = None) -> Models:
    """Those of an external table that was loaded as `module`."""
    text = table.read_text(encoding="utf-8")
    names = public_names(functions.read_text(encoding="utf-8"), str(functions)) if functions else ()
    known = dict.fromkeys(names, FUNCTIONS_MODULE)
    return Models(load_outside(text, str(table), module.__name__, library_table(), known))
