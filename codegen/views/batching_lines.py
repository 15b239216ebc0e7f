"""Batching rules as they are written: the packed forms of an op, and what the runtime knows of it."""

from __future__ import annotations

from collections.abc import Iterator

from .model import BatchingView, CFunction, EntryView

_BY_COPY = ("by_parts", "of_cores")  # methods of which the in-place form copies the result


def packed_functions(entry: EntryView) -> Iterator[CFunction]:
    """The op and its in-place form, called with a tuple; and the parts that take its place."""
    view = entry.batching
    if view is None:
        return
    if not entry.written:
        yield _packed(view.packed, f"values_of_{entry.name}" if entry.several else entry.name, entry)
    if has_written_rule(entry):
        assert entry.inplace is not None
        yield _packed(view.of_inplace[1], entry.inplace.name, entry)
    if view.text:
        names = "".join(f"{p.name}, " for p in entry.parameters)[: None if len(entry.parameters) == 1 else -2]
        yield CFunction(f"object {view.parts}(tuple operands)", (f"{names.rstrip()} = operands", f"return {view.text}"))


def has_written_rule(entry: EntryView) -> bool:
    """Is there a form that writes into the data of a batch?"""
    form = entry.inplace
    return entry.batching is not None and form is not None and not (form.is_view or form.compute)


def _packed(name: str, called: str, entry: EntryView) -> CFunction:
    casts = {"TensorBase": "<TensorBase>", "list": "<list>"}
    arguments = [f"{casts.get(p.c_type, '')}operands[{i}]" for i, p in enumerate(entry.parameters)]
    return CFunction(f"object {name}(tuple operands)", (f"return {called}({', '.join(arguments)})",))


def rules(entry: EntryView) -> Iterator[str]:
    view = entry.batching
    if view is None:
        return
    if not entry.written:
        method = "by_views" if entry.view_of and view.method == "slice_by_slice" else view.method
        # The new values of several arguments come from an op that writes nothing.
        op = entry.op.rstrip("_") if entry.several else entry.op
        made = f'BatchRule(b"{op}", {method}, b"{view.kinds}", {view.packed}, {view.parts}, {_loop(entry)})'
        yield from (f"cdef BatchRule {view.rule}", f"{view.rule} = {made}")
    if has_written_rule(entry):
        assert entry.inplace is not None
        rule, packed = view.of_inplace
        yield from (f"cdef BatchRule {rule}", f"{rule} = {_written_rule(view, entry, packed)}")


def _loop(entry: EntryView) -> str:
    """The loop behind an elementwise op, which programs call without the op."""
    compute = entry.compute
    if compute.kind == "ufunc":
        return f"loop_of_ufunc({compute.arguments[0]})"
    return f"loop_of_kernel(&{compute.kernel})" if compute.kernel else "no_loop()"


def _written_rule(view: BatchingView, entry: EntryView, packed: str) -> str:
    assert entry.inplace is not None
    method, kinds, parts = view.method, view.kinds, "NULL"
    if method in _BY_COPY:
        method, parts = "by_copy", view.parts if entry.written else view.packed
    if method == "elementwise":
        place = entry.place_of_self
        kinds = f"{kinds[:place]}w{kinds[place + 1 :]}"
    return f'BatchRule(b"{entry.inplace.op}", {method}, b"{kinds}", {packed}, {parts}, {_loop(entry)})'
