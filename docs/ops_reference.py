"""The reference of the ops: a page per family, and the list of all names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from op_examples import ROWS, dtypes, example, shapes
from other_names import counterparts
from page_parts import MADE_BY, REFERENCE, code_list

from codegen import model
from codegen.api.latex import latex_of
from codegen.spec.names import name_within, namespace_of
from codegen.views.table_rows import OpRowView, op_rows

LIST_HEAD = f"""{MADE_BY}
# The ops

Every op of `derivatives.yaml` by family, in the order of the table; the page of a family says all about each.

"""

FAMILY_HEAD = """{made_by}
# {family}

One section per entry of `derivatives.yaml`. A formula is the gradient of its input: x is `self`, y
`other`, g the gradient of the result r. "Tangent" is forward mode: the formula of the result's tangent, or the rule.
"Forms" says how an op is called: `f` function, `m` method, `p` property, `i` in place (`name_`), `o` with `out=`,
`c` as the copying twin of a view (`name_copy`). Shapes, dtypes and examples are what calls of the op gave.

```python
>>> import gradsmith as gs
```

"""


def ops_pages(table: model.Table) -> dict[Path, str]:
    rows = [row for row in op_rows(table) if row.forms or row.operators]
    by_family = {family: [row for row in rows if row.family == family] for family in table.families}
    pages = {REFERENCE / "ops" / f"{family}.md": family_page(family, own) for family, own in by_family.items() if own}
    return pages | {REFERENCE / "ops.md": list_page(table)}


def list_page(table: model.Table) -> str:
    lines = [f"- [{family}](ops/{family}.md): {code_list(public_names(table, family))}" for family in table.families]
    return LIST_HEAD + "\n".join(lines) + "\n"


def public_names(table: model.Table, family: str) -> list[str]:
    """Public names of the ops of a family; ops that only formulas call have none."""
    ops = (op for op in table.of_family(family) if op.forms and "internal" not in op.forms)
    return list(dict.fromkeys(dotted(op.base) for op in ops))


def dotted(name: str) -> str:
    return f"{namespace_of(name)}.{name_within(name)}" if namespace_of(name) else name


def family_page(family: str, rows: list[OpRowView]) -> str:
    return FAMILY_HEAD.format(made_by=MADE_BY, family=family) + "\n".join(map(op_section, rows))


def op_section(row: OpRowView) -> str:
    lines = [f"## {dotted(row.base)}{'.' + row.overload if row.overload else ''}", "", row.doc, ""]
    lines += ["```text", row.name, "```", "", f"- forward: `{one_line(row.forward)}`"]
    lines += [
        f"- gradient of {inputs}{', derived' if inputs in row.derived else ''}: {formula_text(formula)}"
        for inputs, formula in row.gradients
    ]
    if row.nondifferentiable:
        lines.append(f"- no gradient: {row.nondifferentiable}")
    if row.saving:
        lines.append(f"- {row.saving}")
    lines += policy_lines(row)
    lines += behaviour_lines(row)
    forms = " ".join(form[0] for form in row.forms)
    faces = [f"forms: {forms or 'none'}"]
    faces += [f"operators: {code_list(method for method, _ in row.operators)}"] if row.operators else []
    faces += [f"also called {code_list(map(dotted, row.aliases))}"] if row.aliases else []
    return "\n".join([*lines, f"- {'; '.join(faces)}", *example_lines(row)]) + "\n"


def behaviour_lines(row: OpRowView) -> Iterator[str]:
    """The op's observed shapes and dtypes, and its names in other libraries."""
    called = ROWS[f"{row.base}.{row.overload}" if row.overload else row.base]
    if calls := shapes(called):
        yield f"- shapes: {', '.join(f'`{text}`' for text in calls)}"
    if found := dtypes(called):
        yield f"- dtypes: {found}"
    for library, names in counterparts(row.base, row.aliases).items():
        yield f"- in {library}: {code_list(names)}"


def example_lines(row: OpRowView) -> list[str]:
    text = example(ROWS[f"{row.base}.{row.overload}" if row.overload else row.base])
    return ["", "```python", *text.splitlines(), "```"] if text else []


def policy_lines(row: OpRowView) -> Iterator[str]:
    if row.latex:
        yield f"- value: $`{row.latex}`$"
    if row.tangent:
        yield f"- tangent: `{one_line(row.tangent)}`"
    for name, interval in row.domain:
        yield f"- domain of {name}: `{interval}`"
    if row.subgradient:
        yield f"- where there is no derivative: {row.subgradient}"
    if row.surrogate:
        yield f"- differentiated as: `{one_line(row.surrogate)}`"
    if row.cancellation:
        yield f"- in float32 the gradient loses digits: {row.cancellation}"
    if row.out_of_place:
        yield f"- not in place: {row.out_of_place}"


def formula_text(formula: str) -> str:
    """As the table has it, and as mathematics where it calls nothing but mathematical functions."""
    text, latex = f"`{one_line(formula)}`", latex_of(formula)
    return text if r"\_" in latex or "shape" in latex else f"{text}, $`{latex}`$"


def one_line(text: str) -> str:
    return " ".join(text.split())
