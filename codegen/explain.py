"""``python -m codegen explain tanh``: an entry, and all that follows from it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .api.functions import has_face
from .formula.printing import CythonPrinter
from .model import Backward, Op, SavedTensor, SavedValue, Table, Variant
from .spec.errors import did_you_mean
from .spec.names import backward_table_name, forward_kernel_name
from .views.node import everything_saved
from .write.line_width import within_width

KINDS = {
    "ufunc": "NumPy's inner loop `{}`, called directly",
    "pointwise": "one compiled loop of the expression; for other dtypes, the same by ops",
    "array": "a function over arrays",
    "composite": "other ops; there is no node, the gradient is that of the parts",
}


@dataclass(frozen=True)
class Sources:
    """Sources of an explanation: the table, its text, and the generated files, by name."""

    table: Table
    text: str
    files: Mapping[str, str]


def explain(name: str, sources: Sources, *, styled: bool = False) -> str:
    """Everything about the ops of a name, for a terminal.

    Parameters
    ----------
    name : str
        Name of an op (`sum`), of one of its overloads (`sum.dim`), or another name of it (`multiply`).
    sources : Sources
    styled : bool
        Whether the terminal shows bold letters.

    Raises
    ------
    LookupError
        When the table has no such op; the message has candidates.
    """
    lines = [line for op in named_ops(name, sources.table) for line in _of_op(op, sources)]
    return "\n".join(f"\033[1m{line}\033[0m" if styled and _is_heading(line) else line for line in lines)


def named_ops(name: str, table: Table) -> tuple[Op, ...]:
    """The entries that a name means, all overloads of it."""
    found = tuple(op for op in table.ops if name in (op.base, op.signature.full_name, *op.aliases))
    found = found or tuple(op for op in table.ops if name == f"{op.base}_" and "inplace" in op.forms)
    if not found:
        names = {n for op in table.ops for n in (op.base, op.signature.full_name, *op.aliases)}
        begin = sorted(n for n in names if name and n.startswith(name[:3]))
        hint = did_you_mean(name, names)
        hint += f" Beginning alike: {', '.join(begin)}." if begin else ""
        raise LookupError(f"{table.file} has no op '{name}'. {hint}".rstrip())
    return found


def _of_op(op: Op, sources: Sources) -> Iterator[str]:
    yield f"==== {op.signature.full_name}    {sources.table.file}:{op.line}"
    sections = {
        "The entry": _entry(op, sources.text),
        "What follows from it": _consequences(op),
        "What is saved, and why": _savings(op),
        f"Node and wrapper: {op.family}.pyx": _generated(op, sources.files[f"{op.family}.pyx"]),
        f"Kernels: {op.family}_kernels.c": _kernels(op, sources.files.get(f"{op.family}_kernels.c", "")),
    }
    for title, lines in sections.items():
        yield from ("", f"---- {title}", "")
        yield indented("\n".join(lines))
    yield ""


def indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())


def _is_heading(line: str) -> bool:
    return line.startswith(("==== ", "---- "))


# ---- the entry


def _entry(op: Op, text: str) -> Iterator[str]:
    """As written in the file, up to the next entry or family."""
    lines = text.splitlines()[op.line - 1 :]
    end = next((i for i, line in enumerate(lines[1:], 1) if line and not line[0].isspace()), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    for number, line in enumerate(lines[:end], op.line):
        yield f"{number:5d}  {line}"


# ---- what follows


def _consequences(op: Op) -> Iterator[str]:
    """Values and derivatives; what the variants of an entry have in common is said once."""
    forward = op.variants[0].forward
    yield f"value       {KINDS[forward.kind].format(forward.ufunc)}"
    if op.needs_scipy:
        yield "needs       SciPy, imported when the op is first called"
    yield from _unique(line for variant in op.variants for line in _derivatives(variant))
    if not any(variant.backward for variant in op.variants) and not op.is_composite:
        yield f"gradient    none: {op.nondifferentiable or 'the results are not differentiable'}"
    yield f"forms       {', '.join(_forms(op)) or 'none: only formulas call it'}"
    if len(op.variants) > 1:
        yield f"variants    {', '.join(variant.c_entry for variant in op.variants)}, one for each kind of argument"


def _derivatives(variant: Variant) -> Iterator[str]:
    for gradient in variant.backward.gradients if variant.backward else ():
        origin = "derived; " if gradient.formula.is_derived else ""
        loop = "a loop, or ops when its graph is wanted" if gradient.formula.is_pointwise else "ops"
        yield f"gradient    {', '.join(gradient.inputs)}: {_one_line(gradient.formula.text)}    ({origin}{loop})"
    if variant.tangents is not None:
        yield from _forward_mode(variant)


def _forward_mode(variant: Variant) -> Iterator[str]:
    tangents = variant.tangents
    assert tangents is not None
    yield f"forward     result: {tangents.text}    ({'as the entry says' if tangents.declared else 'derived'})"
    names = variant.signature.output_names
    for tangent in tangents.outputs:
        terms = " + ".join(CythonPrinter().text(term.expr) for term in tangent.terms)
        yield f"            {names[tangent.output]}_t = {terms}"


def _forms(op: Op) -> Iterator[str]:
    if not has_face(op):
        return
    texts = {"function": op.base, "method": f"x.{op.base}()", "property": f"x.{op.base}"}
    out = f"({', '.join(op.signature.output_names)})" if len(op.signature.returns) > 1 else ""
    texts |= {"inplace": f"x.{op.base}_()", "out": f"{op.base}(..., out={out})", "copy": f"{op.base}_copy"}
    yield from (text for form, text in texts.items() if form in op.forms)
    yield from (method for method, _ in op.operators)
    yield from (f"{alias} (another name)" for alias in op.aliases)


# ---- what is saved


def _savings(op: Op) -> Iterator[str]:
    if not any(variant.backward for variant in op.variants):
        yield "Nothing: there is no node."
        return
    for variant in op.variants:
        if variant.backward is None:
            continue
        yield from [f"{variant.backward.class_name}:"] if len(op.variants) > 1 else []
        yield from _savings_of(variant, variant.backward)


def _savings_of(variant: Variant, backward: Backward) -> Iterator[str]:
    kept = everything_saved(backward)
    for item in kept:
        readers = " and ".join(f"'{backward.differentiable_inputs[edge]}'" for edge in item.edges)
        condition = "" if len(item.edges) == len(backward.differentiable_inputs) else ", when that is wanted"
        yield f"{_saved_name(item):12s}for the gradient of {readers}{condition}{_manner(item)}"
    tensors = [a.name for a in variant.signature.arguments if a.type.is_differentiable]
    names = {name for item in kept for name in (item.name, getattr(item, "owner", None))}
    unread = [name for name in (*tensors, *variant.signature.output_names) if name not in names]
    if unread:
        yield f"(not saved: {', '.join(unread)}, which no formula reads)"
    if backward.saving:
        yield f"in short: {backward.saving}"


def _saved_name(item: SavedTensor | SavedValue) -> str:
    return f"{item.owner}.{item.attribute}" if isinstance(item, SavedValue) and item.owner else item.name


def _manner(item: SavedTensor | SavedValue) -> str:
    if isinstance(item, SavedValue):
        return "; the value alone, not the tensor" if item.owner else "; a value"
    if item.is_output:
        return "; an output, kept without a cycle"
    return "; a list of inputs" if item.is_list else "; an input"


# ---- generated text


def _generated(op: Op, text: str) -> list[str]:
    """The entry's part of its module, without what Python sees of it."""
    start = text.index(f"{within_width(f'# ---- {op.name}')}\n")
    part = text[start:].split("\n\n\n# ---- ", 1)[0].splitlines()
    end = next((i for i, line in enumerate(part) if _FACE.match(line)), len(part))
    left_out = f"# (and {len(part) - end} lines of conversions and documentation for Python)"
    return [*_trimmed(part[:end]), *(["", left_out] if end < len(part) else [])]


_FACE = re.compile(r"(cdef object (call|bind)_|cdef Overloads |\w+Result = |def )")


def _kernels(op: Op, text: str) -> list[str]:
    names = {name(variant.stem) for variant in op.variants for name in (backward_table_name, forward_kernel_name)}
    parts = [part.rstrip().splitlines() for part in text.split("/* ---- ")[1:] if part.split(" ")[0] in names]
    if not parts:
        return ["None: there is no loop in it."]
    return [line for part in parts for line in (f"/* ---- {part[0]}", *part[1:], "")][:-1]


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _unique(lines: Iterable[str]) -> Iterator[str]:
    yield from dict.fromkeys(lines)


# ---- proofs


def proofs(ops: tuple[Op, ...], root: Path) -> str:
    """Results of the verifier, which runs in a separate process: it needs the compiled package, this does not."""
    names = [op.signature.full_name for op in ops]
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "gradsmith.verify", *names]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    if "ModuleNotFoundError" in done.stderr or "ImportError" in done.stderr:
        return f"Not built yet. After `make`: make verify OPS={names[0]!r}"
    return (done.stdout + done.stderr).strip()
