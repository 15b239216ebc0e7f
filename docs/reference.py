"""The pages, and the parts of pages, that are made from the op table and from the generator's own vocabulary.

The words of the table's language are constants of codegen, and read from there, so that the reference says what the
generator does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from codegen import model
from codegen.api.latex import latex_of
from codegen.arrays import python_names
from codegen.arrays.scipy_names import SCIPY_FUNCTIONS
from codegen.entries import reader
from codegen.entries.forms import PRESETS
from codegen.extension import library_table
from codegen.formula.callees import helpers, intrinsics
from codegen.spec import schema_types, vocabulary
from codegen.views.table_rows import OpRowView, op_rows

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
MADE_BY = "<!-- Made by `make docs`. Do not edit. -->\n"

ERRORS_PAGE_HEAD = f"""{MADE_BY}
# Errors of the generator

Each section shows a table with an error in it, taken from the tests, and the message of the generator: line, column,
op, problem, and what would have been right. All errors of a run are reported together, except those that only follow
from another one. The language itself is in [yaml_reference.md](yaml_reference.md).

"""

OPS_PAGE_HEAD = f"""{MADE_BY}
# The ops

One section per family of `derivatives.yaml`. A formula is the gradient of its input: x is `self`, y
`other`, g the gradient of the result r. "Tangent" is forward mode: the formula of the result's tangent, or the rule.
"Forms" says how an op is called: `f` function, `m` method, `p` property, `i` in place (`name_`), `o` with `out=`,
`c` as the copying twin of a view (`name_copy`).

"""


# ---- the words of docs/reference/yaml_reference.md


def words() -> str:
    """Every closed vocabulary of the generator."""
    sections = {
        "Keys of an entry": code_list(reader.KEYS) + "\n\nBesides these, every input of the op, or several joined by"
        " commas.",
        "Families": code_list(vocabulary.FAMILIES),
        "Types": types(),
        "Variants": code_list(sorted(model.FORMS)),
        "Sets of variants": code_list(PRESETS),
        "Operators": bullets(vocabulary.OPERATORS.items()),
        "Ufuncs": ufuncs(),
        "Functions of loops besides ufuncs": loop_functions(),
        "Attributes in formulas": bullets(
            (title, (vocabulary.UNDOTTED_ATTRIBUTES.get(name, f"x.{name}") for name in names))
            for title, names in (
                ("of a tensor", vocabulary.ATTRIBUTES),
                ("of a list of tensors", vocabulary.LIST_ATTRIBUTES),
            )
        ),
        "Names in samples": code_list(sorted(vocabulary.SAMPLE_NAMES)),
        "Names in references, besides the arguments": code_list(sorted(vocabulary.REFERENCE_NAMES)),
        "Facts of a run in formulas": code_list([f"{vocabulary.GRAD_INPUT_MASK}[i]", *vocabulary.RUN_FACTS]),
        "Constants and dtypes in formulas": code_list([*vocabulary.CONSTANTS, *sorted(vocabulary.DTYPES)]),
        "Helpers of formulas": code_block(sorted(str(helper.signature) for helper in helpers())),
        "Functions that `array(...)` may call": bullets(array_functions().items()),
        "NumPy in `array(...)`, samples and references": bullets(
            [("np", python_names.NUMPY_NAMES), *((f"np.{m}", n) for m, n in python_names.NUMPY_MODULES.items())]
        ),
        "SciPy there": bullets((f"scipy.{m}", n) for m, n in SCIPY_FUNCTIONS.items()),
        "Attributes of values there": code_list(sorted(python_names.VALUE_ATTRIBUTES)),
    }
    return "".join(f"## {title}\n\n{text}\n\n" for title, text in sections.items()).rstrip()


def types() -> str:
    shown = list(schema_types.SCHEMA_TYPES)
    shown += [f"{name}?" for name in schema_types.OPTIONAL_TYPES]
    shown += [f"{name}[]" for name in schema_types.LIST_TYPES]
    shown += [f"{name}[]?" for name in schema_types.LIST_TYPES]
    shown += [f"{name}[2]" for name in schema_types.SIZED_TYPES]
    shown += ["Tensor?[]", "Tensor|Scalar", "Tensor(a)", "Tensor(a)[]", "Tensor(a!)"]
    for text in shown:
        schema_types.Type.parse(text)  # what is no type must not be listed
    return code_list(shown)


def loop_functions() -> str:
    """The functions, and which of them an external table cannot call."""
    alone = [name for name in intrinsics() if name not in library_table().by_base]
    names = " and ".join(f"`{name}`" for name in alone)
    remark = (
        f"{names} are no ops, and so for gradsmith's own table alone. Another one writes `array(...)` with SciPy's."
    )
    return f"{code_block(vocabulary.INTRINSICS.strip().splitlines())}\n\n{remark}"


def ufuncs() -> str:
    def of(operands: int) -> list[str]:
        return sorted(name for name, count in vocabulary.UFUNCS.items() if count == operands)

    only = sorted(vocabulary.UFUNCS.keys() - vocabulary.LOOP_UFUNCS)
    return bullets({"of one operand": of(1), "of two operands": of(2), "not inside a compiled loop": only}.items())


def array_functions() -> dict[str, list[str]]:
    """Module of runtime/arrays/functions -> its functions that the table may call."""
    found: dict[str, list[str]] = {}
    for name, module in vocabulary.scan_functions(ROOT / "runtime/arrays/functions").items():
        found.setdefault(f"`runtime/arrays/functions/{module}`", []).append(name)
    return dict(sorted(found.items()))


def code_list(items: Iterable[str]) -> str:
    return ", ".join(f"`{item}`" for item in items)


def bullets(items: Iterable[tuple[str, Iterable[str]]]) -> str:
    return "\n".join(f"- {title}: {code_list(sorted(names))}" for title, names in items)


def code_block(lines: Iterable[str]) -> str:
    return "\n".join(["```text", *(line.strip() for line in lines), "```"])


# ---- docs/reference/yaml_errors.md

MESSAGE_MARK = "#| "  # begins the lines of a case that quote its messages


def errors_page() -> str:
    cases = sorted((ROOT / "tests" / "codegen" / "fail").glob("*.yaml"))
    return ERRORS_PAGE_HEAD + "\n\n".join(map(error_section, cases)) + "\n"


def error_section(case: Path) -> str:
    """A bad table, and its messages with the lines of the table as it is shown here."""
    lines = case.read_text(encoding="utf-8").splitlines()
    messages = [line.removeprefix(MESSAGE_MARK) for line in lines if line.startswith(MESSAGE_MARK)]
    shown = [line for line in lines if not line.startswith(MESSAGE_MARK)]
    skipped = len(messages) + next((i for i, line in enumerate(shown) if line), 0)
    shown = shown[skipped - len(messages) :]
    shifted = [re.sub(r"(\.yaml:|at line )(\d+)", lambda m: f"{m[1]}{int(m[2]) - skipped}", text) for text in messages]
    title = case.stem.replace("_", " ")
    parts = [f"## {title}", *(["\n".join(["```yaml", *shown, "```"])] if any(shown) else []), code_block(shifted)]
    return "\n\n".join(parts)


# ---- docs/reference/ops.md


def ops_page(table: model.Table) -> str:
    rows = op_rows(table)
    sections = (family_section(family, [row for row in rows if row.family == family]) for family in table.families)
    return OPS_PAGE_HEAD + "\n".join(sections)


def family_section(family: str, rows: list[OpRowView]) -> str:
    public = [row for row in rows if row.forms or row.operators]
    return f"## {family}\n\n" + "\n".join(op_section(row) for row in public)


def op_section(row: OpRowView) -> str:
    lines = [f"### {row.base}{'.' + row.overload if row.overload else ''}", "", row.doc, ""]
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
    forms = " ".join(form[0] for form in row.forms)
    faces = [f"forms: {forms or 'none'}"]
    faces += [f"operators: {code_list(method for method, _ in row.operators)}"] if row.operators else []
    faces += [f"also called {code_list(row.aliases)}"] if row.aliases else []
    return "\n".join([*lines, f"- {'; '.join(faces)}", ""])


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


# ---- README.md


def readme_table(table: model.Table) -> str:
    """Family and the public ops in it, by name."""
    lines = ["", "| family | ops |", "| --- | --- |"]
    for family in table.families:
        ops = (op for op in table.of_family(family) if op.forms or op.operators)
        names = dict.fromkeys(op.base for op in ops if "internal" not in op.forms and op.forms)
        lines.append(f"| {family} | {code_list(names)} |")
    return "\n".join([*lines, ""])


def spliced(text: str, name: str, make: Callable[[], str]) -> str:
    """`text` with the part between ``<!-- name -->`` and ``<!-- /name -->`` replaced."""
    begin, end = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"there should be one '{begin.strip()}' ... '{end.strip()}'")
    before, rest = text.split(begin)
    return before + begin + make() + end + rest.split(end)[1]


def pages(table: model.Table) -> dict[Path, str]:
    """Every page that is made, wholly or in part: path -> text."""
    readme, manual = ROOT / "README.md", REFERENCE / "yaml_reference.md"
    return {
        manual: spliced(manual.read_text(encoding="utf-8"), "words", words),
        REFERENCE / "yaml_errors.md": errors_page(),
        REFERENCE / "ops.md": ops_page(table),
        readme: spliced(readme.read_text(encoding="utf-8"), "ops", lambda: readme_table(table)),
    }
