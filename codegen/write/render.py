"""Views into texts: one function per generated file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import jinja2
from jinja2.ext import Extension

from ..formula.printing import literal_text
from ..model import Table
from ..spec.vocabulary import DOCSTRINGS_MODULE, METHODS_MODULE, NAMESPACES
from ..views.docstrings import docstrings_view
from ..views.family import family_view
from ..views.model import FamilyView
from ..views.table_rows import op_rows
from ..views.tensor import namespace_view, package_view, tensor_view
from .json_schema import table_schema
from .kernel_formulas import kernel_formulas
from .line_width import within_width
from .stubs import stub_view, tensor_stub_view
from .used_imports import imported_names, with_one_import, with_used_imports

TEMPLATES = Path(__file__).parents[1] / "templates"


class MacroLines(Extension):
    """A call of a macro in a line of its own stands for the lines that the macro writes, and adds none."""

    _LINE = re.compile(r"^(\{\{ \w+\(.*\) \}\})\n", re.MULTILINE)

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return self._LINE.sub(r"\1", source)


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
        extensions=[MacroLines],
    )
    env.filters["literal"] = literal_text
    env.filters["docstring"] = docstring_text
    return env


def docstring_text(text: str) -> str:
    """Text for the inside of three quotes, its backslashes and quotes escaped."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def render(template: str, table: Table, **views: object) -> str:
    """Fill in a template; what every file says of its origin comes from the table."""
    remake = "build it again" if table.library else "run `make generate`"
    text = environment().get_template(template).render(file_name=table.file_name, remake=remake, **views)
    text = with_used_imports(text) if template.endswith(".pyx.j2") else text
    text = within_width(text) if template.endswith((".pyx.j2", ".pxd.j2")) else text
    return f"{text.rstrip()}\n"


def render_all(table: Table, compiled_functions: frozenset[str] = frozenset()) -> dict[str, str]:
    """Every generated file: name -> text.

    Parameters
    ----------
    table : Table
    compiled_functions : frozenset of str
        Modules of ``runtime/arrays/functions`` that have a .pxd and are called without a detour through Python.
    """
    files = dict(_all_families(table, compiled_functions))
    files |= dict(_with_shared_names(table, {name: text for name, text in files.items() if name.endswith(".pyx")}))
    files["tensor.pyx"] = render("tensor.pyx.j2", table, tensor=tensor_view(table))
    files["tensor.pxd"] = render("tensor.pxd.j2", table)
    files["tensor.pyi"] = render("tensor.pyi.j2", table, stub=tensor_stub_view(table))
    files["op_table.py"] = render("op_table.py.j2", table, rows=op_rows(table))
    files["__init__.py"] = render("package.py.j2", table, package=package_view(table))
    for name in NAMESPACES:
        files[f"{name}_namespace.py"] = render("namespace.py.j2", table, namespace=namespace_view(name, table))
    files["table.schema.json"] = table_schema()
    files["kernel_formulas.json"] = kernel_formulas(table, compiled_functions)
    return files


def _with_shared_names(table: Table, families: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The modules of families with what they use of the runtime imported from one, and that one."""
    family = environment().get_template("family.pyx.j2")
    shared = render("runtime.pxd.j2", table, imports="".join(family.blocks["runtime_names"](family.new_context())))
    names = imported_names(shared)
    yield "runtime.pxd", shared
    for name, text in families.items():
        yield name, with_one_import(text, "gradsmith.generated.runtime", names)


def render_package(table: Table, *, methods_of: str = "") -> dict[str, str]:
    """Every file of the package of an external table: name -> text.

    Parameters
    ----------
    table : Table
    methods_of : str
        In whose name the package gives the Tensor class methods when it is imported; "" when it does not.
    """
    files = dict(_all_families(table, frozenset()))
    if methods_of:
        files[f"{METHODS_MODULE}.pyx"] = render("methods.pyx.j2", table, tensor=tensor_view(table))
    files[f"{DOCSTRINGS_MODULE}.py"] = render("docstrings.py.j2", table, docstrings=docstrings_view(table))
    files["op_table.py"] = render("extension_op_table.py.j2", table, rows=op_rows(table))
    files["__init__.py"] = render(
        "extension_package.py.j2",
        table,
        package=package_view(table),
        name=table.package,
        families=table.families,
        methods_of=methods_of,
        methods_module=METHODS_MODULE,
        docstrings_module=DOCSTRINGS_MODULE,
    )
    files["py.typed"] = ""
    return files


def _all_families(table: Table, compiled_functions: frozenset[str]) -> Iterator[tuple[str, str]]:
    for name in table.families:
        yield from family_files(family_view(name, table, compiled_functions), table)


def family_files(family: FamilyView, table: Table) -> Iterator[tuple[str, str]]:
    yield f"{family.name}.pyx", render("family.pyx.j2", table, family=family)
    yield f"{family.name}.pxd", render("family.pxd.j2", table, family=family)
    yield f"{family.name}.pyi", render("family.pyi.j2", table, stub=stub_view(family))
    if family.has_kernels:
        yield f"{family.name}_kernels.h", render("kernels.h.j2", table, family=family)
        yield f"{family.name}_kernels.c", render("kernels.c.j2", table, family=family)
