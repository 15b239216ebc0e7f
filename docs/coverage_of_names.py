"""Which public names of PyTorch and NumPy gradsmith has, and why not the others.

python docs/coverage_of_names.py      list the names that are missing without a reason
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import yaml
from other_names import LIBRARIES, NAMES, names_of
from page_parts import MADE_BY, REFERENCE, ROOT, code_list

import gradsmith as gs

REASONS = NAMES / "reasons.yaml"
TABLE = ROOT / "gradsmith" / "names" / "table.py"  # what the errors of the package say

HEAD = f"""{MADE_BY}
# Names of other libraries

The public names of PyTorch and NumPy that gradsmith does not have under the same name, each with its reason. NumPy's
are looked for twice: among those of gradsmith, which mean what PyTorch means by them, and in `gradsmith.numpy`.
The lists of all names stand in `docs/names`, the reasons in `docs/names/reasons.yaml`; a test compares them with the
package.

"""

# Libraries, and the modules of one that have lists of their own.
MODULES = {
    **LIBRARIES,
    "NumPy, in `gradsmith.numpy`": "gradsmith.numpy",
    "PyTorch's layers": "torch.nn",
    "PyTorch's functions of networks": "torch.nn.functional",
    "PyTorch's initial values": "torch.nn.init",
    "PyTorch's tools for parameters": "torch.nn.utils",
    "PyTorch's distributions": "torch.distributions",
}
OWN_TITLES = set(MODULES.values())
MODULES |= {f"`{path.stem}`": path.stem for path in sorted(NAMES.glob("*.txt")) if path.stem not in OWN_TITLES}

OF_TENSORS = TABLE.with_name("of_tensors.py")
OF_TENSORS_HEAD = '''"""Attributes of PyTorch's tensors that ours have not. Made by docs/update.py."""

NAMES = (
'''

TABLE_HEAD = '''"""PyTorch's names that are not here: module -> reason -> names. Made by docs/update.py."""

# fmt: off
MISSING = {
'''


class Reason(NamedTuple):
    text: str
    patterns: tuple[str, ...]

    def covers(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)


def is_there(module: str, name: str) -> bool:
    """Is there something of that name, in the module here that has the place of the other library's?"""
    found = gs
    for part in f"{module}.{name}".split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def reasons(module: str) -> list[Reason]:
    table = yaml.safe_load(REASONS.read_text(encoding="utf-8"))
    return [Reason(text, tuple(patterns.split())) for text, patterns in table[module].items()]


def missing(module: str) -> list[str]:
    return [name for name in names_of(module) if not is_there(module, name)]


def explained(module: str) -> dict[str, list[str]]:
    """Reason -> the missing names that it holds for; the first one counts."""
    found: dict[str, list[str]] = {reason.text: [] for reason in reasons(module)}
    for name in missing(module):
        reason = next((reason for reason in reasons(module) if reason.covers(name)), None)
        found.setdefault(reason.text if reason else "", []).append(name)
    return found


def without_reason(module: str) -> list[str]:
    return explained(module).get("", [])


def needless(module: str) -> list[str]:
    """Patterns that no missing name has."""
    names = missing(module)
    patterns = [pattern for reason in reasons(module) for pattern in reason.patterns]
    return [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]


def coverage_pages() -> dict[Path, str]:
    page = HEAD + "\n".join(section(*item) for item in MODULES.items())
    return {REFERENCE / "other_names.md": page, TABLE: table(), OF_TENSORS: names_of_tensors()}


def names_of_tensors() -> str:
    """The text of the module that names what tensors lack, which every import of the package reads."""
    names = [name.removeprefix("Tensor.") for name in missing("torch") if name.startswith("Tensor.")]
    lines = textwrap.wrap(" ".join(f'"{name}",' for name in names), 110)
    return OF_TENSORS_HEAD + "\n".join(f"    {line}" for line in lines) + "\n)  # fmt: skip\n"


def table() -> str:
    """The text of the module that has the reasons as data of the package."""
    found = {module: explained(module) for module in sorted(MODULES.values())}
    blocks = [block(module, groups) for module, groups in found.items() if any(groups.values())]
    return TABLE_HEAD + "".join(blocks) + "}\n"


def block(module: str, groups: dict[str, list[str]]) -> str:
    lines = [f'    "{module}": {{']
    for text, names in groups.items():
        if text and names:
            lines += [*quoted(text, 8, ": ("), *quoted(" ".join(names), 12, ""), "        ),"]
    return "\n".join([*lines, "    },\n"])


def quoted(text: str, indent: int, end: str) -> list[str]:
    """A string over several lines, as Python takes it."""
    parts = textwrap.wrap(text, 100 - indent, drop_whitespace=False, break_on_hyphens=False)
    lines = [f"{' ' * indent}{json.dumps(part)}" for part in parts]
    return [*lines[:-1], lines[-1] + end]


def section(library: str, module: str) -> str:
    names, groups = names_of(module), explained(module)
    there = len(names) - sum(map(len, groups.values()))
    lines = [
        f"## {library}",
        "",
        f"{there} of {len(names)} names are there.",
        "",
        "| not there | why |",
        "| --- | --- |",
    ]
    lines += [f"| {code_list(group)} | {text} |" for text, group in groups.items() if group]
    return "\n".join([*lines, ""])


def main() -> int:
    found = 0
    for library, module in MODULES.items():
        lists: dict[str, Iterable[str]] = {"without a reason": without_reason(module), "needless": needless(module)}
        for title, names in lists.items():
            found += len(list(names))
            print(f"{library}, {title}: {' '.join(names) or 'none'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
