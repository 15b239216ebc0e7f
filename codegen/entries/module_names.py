"""Names of a generated module that are made for the entries of the table, and who else may want them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..formula.callees import stem_of
from ..model import Table
from ..spec.errors import Collector
from ..spec.names import (
    COPY,
    INPLACE,
    PLAIN,
    backward_table_name,
    binder_names,
    by_ops_name,
    call_name,
    forward_kernel_name,
    inplace_name,
    result_name,
    scipy_name,
    tangents_name,
)
from ..spec.vocabulary import TAKEN_MODULES
from .declaration import Declaration

CHOOSE = "Choose another name."


def verify_module_names(
    declarations: list[Declaration], numbers: dict[int, int], library: Table | None, errors: Collector
) -> None:
    """No two entries are made something of one name, and no op, argument or result has such a name."""
    owners = dict.fromkeys(library.variants, "gradsmith") if library else {}
    entries = Counter(declaration.base for declaration in declarations)
    made = [dict(_names_of(d, numbers.get(i), entries[d.base] > 1)) for i, d in enumerate(declarations)]
    for declaration, names in zip(declarations, made, strict=True):
        shared = {owner: name for name, own in names.items() if (owner := owners.setdefault(name, own)) != own}
        for owner, name in shared.items():
            problem = f"generated code would have '{name}' for it and for {owner}"
            errors.add(declaration.position, declaration.base, problem, CHOOSE)
    for declaration, names in zip(declarations, made, strict=True):
        taken = {name: owners[name] for name in _public_names(declaration) if name in owners}
        taken |= {name: "the package" for name in _public_names(declaration) if name in TAKEN_MODULES}
        taken |= {name: names[name] for name in _names_in(declaration) if name in names}
        for name, owner in taken.items():
            problem = f"'{name}' is taken: generated code calls something of {owner} so"
            errors.add(declaration.position, declaration.base, problem, CHOOSE)


def _names_in(declaration: Declaration) -> Iterator[str]:
    """Names that the code of the entry has for its values."""
    yield from (argument.name for argument in declaration.signature.arguments)
    yield from declaration.signature.output_names


def _public_names(declaration: Declaration) -> Iterator[str]:
    """Names that Python can call in the module."""
    for name in (declaration.base, *(alias.text for alias in declaration.aliases)):
        yield name
        if "copy" in declaration.forms:
            yield f"{name}_copy"


def _names_of(declaration: Declaration, number: int | None, is_overloaded: bool) -> Iterator[tuple[str, str]]:
    """Functions, classes and constants, each with its owner; `number` is that of the nodes, None without any."""
    signature, base = declaration.signature, declaration.base
    forms = [PLAIN, *(form for form, name in ((INPLACE, "inplace"), (COPY, "copy")) if name in declaration.forms)]
    own = [call_name(signature, form) for form in forms]
    for c_entry in declaration.c_entries:
        stem = stem_of(c_entry)
        own += [c_entry, tangents_name(stem), inplace_name(stem)]
        if declaration.forward and declaration.forward.kind == "pointwise":
            own += [by_ops_name(stem), forward_kernel_name(stem)]
        if number is not None and declaration.is_elementwise:
            own.append(backward_table_name(stem))
    if len(signature.returns) > 1:
        own.append(result_name(signature))
    if number is not None:
        own += declaration.node_classes(number)
    yield from ((name, f"'{signature.full_name}'") for name in own)
    of_base = [scipy_name(base)]
    if is_overloaded:
        of_base += [name for form in forms for own in (False, True) for name in binder_names(base, form, own=own)]
    yield from ((name, f"'{base}'") for name in of_base)
