"""Results of earlier runs, kept as long as nothing that they depend on has changed.

A proof depends on the entry, on all entries that its formulas and its reference lead to, and on everything beneath:
the proofs themselves, the generator, the runtime as it is built, and the versions of Python, NumPy and SciPy.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import platform
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradsmith.compiling.changes import digest_of
from gradsmith.extension.cache import PACKAGE, cache_folder

from .mutants.tally import Tally
from .proof import Proof
from .references.expected import reference_of
from .references.usual import called_names
from .samples import key_of
from .trees.text import written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradsmith.codegen.model import Op, Table, Variant
    from gradsmith.generated.op_table import OpRow

_BENEATH = (
    "verify/**/*.py", "autograd/**/*.py", "codegen/**/*.py", "codegen/templates/*.j2", "compiling/*.py",
    "runtime/**/*.py", "runtime/**/*.so", "runtime/**/*.pyd",
)  # fmt: skip


class Kept:
    """The proofs of one table that are kept in a folder."""

    def __init__(self, table: Table, rows: tuple[OpRow, ...], beside: str = "", folder: Path | None = None) -> None:
        self.rows = {row.name: row for row in rows}
        self.calls = Calls(table)
        self.beside = beside  # text that every entry of the table depends on
        self.folder = folder or proofs_folder()

    def expect(self, row: OpRow) -> Proof | None:
        """The proof that is kept for an entry as it is now."""
        try:
            found = json.loads(self._file(row).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if found.pop("digest", "") != self.digest(row):
            return None
        mutants = Tally.of_record(found.pop("mutants"))
        return Proof(**{**found, "counts": Counter(found["counts"]), "mutants": mutants, "is_kept": True})

    def keep(self, row: OpRow, proof: Proof) -> None:
        """Only what is proven is kept: what is not will be changed."""
        if not proof.is_proven or not is_built(row):
            return
        text = {name: getattr(proof, name) for name in ("key", "counts", "not_run", "resolution", "seconds")}
        self.folder.mkdir(parents=True, exist_ok=True)
        record: dict[str, Any] = {**text, "mutants": asdict(proof.mutants), "digest": self.digest(row)}
        self._file(row).write_text(json.dumps(record), encoding="utf-8")

    def digest(self, row: OpRow) -> str:
        texts = [self._text(name) for name in sorted(self.reached(row))]
        return digest_of(beneath(), self.beside, row.name, *texts)

    def _text(self, name: str) -> str:
        """All that an entry says; its trees, too, which hold what it has from names and functions of the table."""
        row = repr(self.rows[name]._replace(doc="", latex="")) if name in self.rows else ""
        return f"{row} {self.calls.text_of(name)}"

    def reached(self, row: OpRow) -> set[str]:
        """Names of the entries that a proof of this one runs; those of another table are beneath."""
        found: set[str] = set()
        rest = [row.name]
        while rest:
            name = rest.pop()
            if name not in found and (name in self.rows or self.calls.has(name)):
                found.add(name)
                rest += [*self.calls.of(name), *(self._in_reference(self.rows[name]) if name in self.rows else ())]
        return found

    def _in_reference(self, row: OpRow) -> list[str]:
        text = reference_of(row)
        called = called_names(text) if text else frozenset()
        return [other.name for other in self.rows.values() if other.base in called]

    def _file(self, row: OpRow) -> Path:
        return self.folder / f"{row.family}.{key_of(row)}.json"


@dataclass(frozen=True)
class Calls:
    """Which ops the formulas of an op call."""

    table: Table

    def of(self, name: str) -> frozenset[str]:
        return self._by_name.get(name, frozenset())

    def has(self, name: str) -> bool:
        return name in self._by_name

    def text_of(self, name: str) -> str:
        return " ".join(map(texts_of, (op for op in self.table.ops if op.name == name)))

    @functools.cached_property
    def _by_name(self) -> dict[str, frozenset[str]]:
        owners = {variant.c_entry: op.name for op in self.table.ops for variant in op.variants}
        return {op.name: frozenset(owners[e] for e in entries_called(op) if e in owners) for op in self.table.ops}


def texts_of(op: Op) -> str:
    forwards = [variant.forward.text for variant in op.variants]
    return "; ".join([*forwards, *(written(tree) for variant in op.variants for tree in formulas_of(variant))])


def entries_called(op: Op) -> Iterator[str]:
    for variant in op.variants:
        for formula in formulas_of(variant):
            for part in formula.walk():
                yield from (getattr(part, name, "") for name in ("c_entry", "resolved"))


def formulas_of(variant: Variant) -> Iterator[Any]:
    if variant.forward.formula is not None:
        yield variant.forward.formula.expr
    yield from (rule.formula.expr for rule in (variant.backward.gradients if variant.backward else ()))
    for tangent in variant.tangents.outputs if variant.tangents else ():
        yield from (term.expr for term in tangent.terms)


@functools.cache
def beneath() -> str:
    """Digest of everything that all proofs depend on."""
    files = sorted(path for pattern in _BENEATH for path in PACKAGE.glob(pattern))
    versions = [sys.version, platform.machine(), version("numpy")]
    versions += [version("scipy")] if importlib.util.find_spec("scipy") else []
    return digest_of(*(path.read_bytes() for path in files), *versions)


def is_built(row: OpRow) -> bool:
    """Is the compiled family newer than its text: a proof of what was compiled before would be kept for what is not."""
    text = PACKAGE / "generated" / f"{row.family}.pyx"
    built = [path for path in text.parent.glob(f"{row.family}.*") if path.suffix in (".so", ".pyd")]
    return not text.exists() or not built or built[0].stat().st_mtime >= text.stat().st_mtime


def proofs_folder() -> Path:
    """In a checkout beside what is built, else with the tables that are built for this user."""
    root = PACKAGE.parent
    return root / "build" / "proofs" if (root / "pyproject.toml").exists() else cache_folder() / "proofs"
