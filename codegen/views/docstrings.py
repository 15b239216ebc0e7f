"""Docstrings of an external table's functions and methods, which its package has as data.

Changed documentation then compiles nothing. Those of gradsmith's own functions stand in the modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..api.functions import make_face
from ..model import Table
from .tensor import all_faces


@dataclass(frozen=True)
class DocstringsView:
    functions: Mapping[str, Mapping[str, tuple[str, ...]]]  # by family and function, as lines
    methods: Mapping[str, str]  # and properties


def docstrings_view(table: Table) -> DocstringsView:
    members = [member for face in all_faces(table) for member in (*face.methods, *face.properties)]
    return DocstringsView(
        functions={family: _of_family(family, table) for family in table.families},
        methods={member.name: member.doc.summary for member in members},
    )


def _of_family(family: str, table: Table) -> dict[str, tuple[str, ...]]:
    faces = [make_face(table.by_base[base]) for base in dict.fromkeys(op.base for op in table.of_family(family))]
    return {function.name: function.doc.lines for face in faces for function in face.functions}
