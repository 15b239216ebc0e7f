"""Views into texts: one function per generated file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jinja2

from .family_views import family_view
from .model import Table
from .printing import literal_text
from .stubs import stub_view, tensor_stub_view
from .table_rows import op_rows
from .tensor_view import package_view, tensor_view
from .views import FamilyView

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> jinja2.Environment:
    """Templates that fail at an unknown name instead of writing nothing."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    env.filters["chomp"] = chomp
    env.filters["literal"] = literal_text
    return env


def chomp(text: str) -> str:
    """What a macro wrote, as one item of a line: without the newline that ends it."""
    return text.removesuffix("\n")


def render(template: str, **views: object) -> str:
    text = environment().get_template(template).render(**views)
    return f"{text.rstrip()}\n"


def render_all(table: Table, compiled_functions: frozenset[str] = frozenset()) -> dict[str, str]:
    """Every generated file: name -> text.

    Parameters
    ----------
    table : Table
    compiled_functions : frozenset of str
        Modules of ``runtime/functions`` that have a .pxd and are called without a detour through Python.
    """
    families = [family_view(name, table, compiled_functions) for name in table.families]
    files: dict[str, str] = {}
    for family in families:
        files |= dict(family_files(family))
    files["tensor.pyx"] = render("tensor.pyx.j2", tensor=tensor_view(table))
    files["tensor.pxd"] = render("tensor.pxd.j2")
    files["tensor.pyi"] = render("tensor.pyi.j2", stub=tensor_stub_view(table))
    files["op_table.py"] = render("op_table.py.j2", rows=op_rows(table))
    files["__init__.py"] = render("package.py.j2", package=package_view(table))
    return files


def family_files(family: FamilyView) -> Iterator[tuple[str, str]]:
    yield f"{family.name}.pyx", render("family.pyx.j2", family=family)
    yield f"{family.name}.pxd", render("family.pxd.j2", family=family)
    yield f"{family.name}.pyi", render("family.pyi.j2", stub=stub_view(family))
    if family.has_kernels:
        yield f"{family.name}_kernels.h", render("kernels.h.j2", family=family)
        yield f"{family.name}_kernels.c", render("kernels.c.j2", family=family)
