"""The pages, and the parts of pages, that are made from the op table and from the generator's own vocabulary.

The words of the table's language are constants of codegen, and read from there, so that the reference says what the
generator does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from coverage_of_names import coverage_pages
from ops_reference import ops_pages, public_names
from page_parts import MADE_BY, REFERENCE, ROOT, code_block, code_list

from codegen import model
from codegen.arrays import python_names
from codegen.arrays.scipy_names import SCIPY_FUNCTIONS
from codegen.entries import reader
from codegen.entries.forms import PRESETS
from codegen.formula.callees import helpers
from codegen.spec import schema_types, vocabulary

SHOWN_IN_README = 8

ERRORS_PAGE_HEAD = f"""{MADE_BY}
# Errors of the generator

Each section shows a table with an error in it, taken from the tests, and the message of the generator: line, column,
op, problem, and what would have been right. All errors of a run are reported together, except those that only follow
from another one. The language itself is in [yaml_reference.md](yaml_reference.md).

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
        "Functions of loops besides ufuncs": code_block(vocabulary.INTRINSICS.strip().splitlines()),
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


def ufuncs() -> str:
    def of(operands: int) -> list[str]:
        return sorted(name for name, count in vocabulary.UFUNCS.items() if count == operands)

    only = sorted(vocabulary.UFUNCS.keys() - vocabulary.LOOP_UFUNCS)
    return bullets({"of one operand": of(1), "of two operands": of(2), "not inside a compiled loop": only}.items())


def array_functions() -> dict[str, list[str]]:
    """Module of runtime/arrays/functions -> its functions that the table may call."""
    found: dict[str, list[str]] = {}
    for name, module in vocabulary.scan_functions(ROOT / "runtime/arrays/functions").items():
        found.setdefault(f"`runtime/arrays/functions/{module.replace('.', '/')}`", []).append(name)
    return dict(sorted(found.items()))


def bullets(items: Iterable[tuple[str, Iterable[str]]]) -> str:
    return "\n".join(f"- {title}: {code_list(sorted(names))}" for title, names in items)


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


# ---- README.md


def readme_table(table: model.Table) -> str:
    """The families, with how many names each has and the first of them."""
    lines = ["", "| family | operators |", "| --- | --- |"]
    for family in table.families:
        names = public_names(table, family)
        rest = f" and {len(names) - SHOWN_IN_README} more" if len(names) > SHOWN_IN_README else ""
        lines.append(f"| [{family}](docs/reference/ops/{family}.md) | {code_list(names[:SHOWN_IN_README])}{rest} |")
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
        readme: spliced(readme.read_text(encoding="utf-8"), "ops", lambda: readme_table(table)),
        **ops_pages(table),
        **coverage_pages(),
    }
