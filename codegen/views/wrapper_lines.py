"""The C functions of a variant as they are written: forward mode, the op, and the same written into `self`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .batching_lines import has_written_rule, packed_functions
from .lines import indented
from .model import CFunction, ComputeView, EntryView, InplaceView, RecordView, Save, Saves, TangentView, tuple_text


def c_functions(entry: EntryView) -> Iterator[CFunction]:
    """The rule of forward mode, the ops of a loop, the op and its in-place form, as far as there are any."""
    if entry.tangents:
        yield _tangents(entry.tangents)
    if entry.compute.kind == "pointwise":
        yield CFunction(f"object {entry.compute.fallback}(tuple given)", tuple(_by_ops(entry)))
    if entry.several:
        yield CFunction(f"{entry.returns} {_values_name(entry)}({entry.declared})", tuple(_recorded(entry)))
        yield CFunction(f"{entry.returns} {entry.name}({entry.declared})", tuple(_written_to_several(entry)))
    elif not entry.written or entry.compute.kind == "composite":
        body = _composite if entry.compute.kind == "composite" else _recorded
        yield CFunction(f"{entry.returns} {entry.name}({entry.declared})", tuple(body(entry)))
    if entry.inplace:
        yield CFunction(f"TensorBase {entry.inplace.name}({entry.declared})", tuple(_inplace(entry, entry.inplace)))
    yield from packed_functions(entry)


def _tangents(rule: TangentView) -> CFunction:
    given = "list gradients, tuple tangents, tuple given" if rule.is_transposed else "tuple tangents, tuple given"
    returns = "tuple" if rule.is_transposed else "object"
    return CFunction(f"{returns} {rule.name}({given})", rule.lines, rule.comment)


def _by_ops(entry: EntryView) -> Iterator[str]:
    """The general path, for what the loop does not cover: other dtypes, broadcasting, complex numbers."""
    compute = entry.compute
    yield f"{_targets(p.name for p in entry.parameters)} = given"
    if compute.promoted:
        yield f"{', '.join(compute.promoted)} = as_promoted({tuple_text(compute.promoted)})"
    yield from (f"{name} = as_floating({name})" for name in compute.floating)
    yield f"return {compute.text}"


def _targets(names: Iterable[str]) -> str:
    return tuple_text(names)[1:-1]


# ---- the op


def _composite(entry: EntryView) -> Iterator[str]:
    result = entry.outputs[0].name
    yield from _verified(entry)
    yield _begun(entry, entry.op)
    yield from _parts(entry.compute)
    yield f"cdef {entry.returns} {result} = {entry.compute.text}"
    if entry.view_of:
        yield from _ended(entry, result)
    else:
        yield f"return {'ended_composite' if entry.returns == 'TensorBase' else 'ended_composites'}(depth, {result})"


def _parts(compute: ComputeView) -> Iterator[str]:
    """Locals for what a composite reads more than once."""
    return (f"{part.name} = {part.text}" for part in compute.parts)


def _recorded(entry: EntryView) -> Iterator[str]:
    """Compute, record, carry tangents, return."""
    computed = {"single": _one_result, "several": _results, "list": _list_of_results}[entry.shape]
    names = [output.name for output in entry.outputs]
    yield from _verified(entry)
    yield _begun(entry, entry.op)
    yield from computed(entry)
    if entry.record:
        yield from _record(entry, entry.record)
    if entry.tangents and not (entry.view_of and entry.shape == "list"):
        # The tangents of a view are parts of its base's.
        shows_base = f" and not {names[0]}.flags & IS_VIEW" if entry.view_of else ""
        yield from _carried(entry.tangents, shows_base)
    yield from _ended(entry, tuple_text(names) if entry.shape == "several" else names[0])


def _verified(entry: EntryView) -> Iterator[str]:
    """Checks of the arguments that the table requires, and of inputs to which it gives no gradient."""
    yield from _required(entry)
    yield from _refused(entry)


def _required(entry: EntryView) -> Iterator[str]:
    for required in entry.required:
        asked = (f"if not {required.condition}:", f"    raise RuntimeError({required.message})")
        if required.indexes:
            yield "try:"
            yield from (f"    {line}" for line in asked)
            yield from ("except IndexError:", f"    raise IndexError({required.message}) from None")
        else:
            yield from asked


def _refused(entry: EntryView) -> Iterator[str]:
    yield from (f'{r.function}({r.name}, "{r.op}", "{r.name}")' for r in entry.refused)


def _begun(entry: EntryView, op: str) -> str:
    """An observer of the thread sees the op. It may have the result of a replaceable one already."""
    begin = "begin_replaceable_op" if entry.is_replaceable and op == entry.op else "begin_op"
    rule = f"&{entry.batching.rule}" if entry.batching and op == entry.op and not entry.written else "NULL"
    return f'cdef int depth = {begin}("{op}", {entry.operands}, {rule}) if watching else 0'


def _ended(entry: EntryView, result: str) -> Iterator[str]:
    if entry.returns == "TensorBase":
        yield f"return ended(depth, {result})"
    else:
        yield from ("if depth:", f"    end_op(depth, {result})", f"return {result}")


def _carried(tangents: TangentView, but: str = "") -> Iterator[str]:
    yield from (f"if {tangents.condition}{but}:", f"    {tangents.call}")


# ---- values


def _value(entry: EntryView) -> str:
    """A tensor of the result."""
    compute = entry.compute
    if compute.kind == "ufunc":
        return f"wrap_owned({compute.function}({', '.join(compute.arguments)}))"
    if compute.kind == "pointwise":
        return f"by_ops({compute.fallback}, {entry.operands})"
    return f"{entry.view_function}({entry.view_of}, {_shown(entry)})" if entry.view_of else f"wrap({compute.text})"


def _shown(entry: EntryView) -> str:
    """The array of a view, or those of a list of views, unless a batching rule has them."""
    return f"replayed_arrays() if replays(depth) else {entry.compute.text}"


def _replayed(entry: EntryView, value: str) -> str:
    """The computation of a replaceable op, unless an observer or a batching rule takes it over."""
    if not entry.is_replaceable:
        return value
    given = "replayed_tensor()" if entry.shape == "single" else f"<{entry.returns}>replayed_result()"
    return f"{given} if replays(depth) else {value}"


def _one_result(entry: EntryView) -> Iterator[str]:
    name, kernel = entry.outputs[0].name, entry.compute.kernel
    if not kernel:
        yield f"cdef TensorBase {name} = {_replayed(entry, _value(entry))}"
        return
    loop = f"fused_forward(&{kernel}, operands, {entry.compute.packed_scalars})"
    yield from _operands(entry)
    yield f"cdef TensorBase {name} = {_replayed(entry, loop)}"
    yield from (f"if {name} is None:", f"    {name} = {_value(entry)}")


def _operands(entry: EntryView) -> Iterator[str]:
    tensors = entry.compute.tensors
    yield f"cdef PyObject *operands[{len(tensors)}]"
    yield from (f"operands[{i}] = <PyObject *>{name}" for i, name in enumerate(tensors))


def _results(entry: EntryView) -> Iterator[str]:
    for c_type in ("TensorBase", "tuple"):
        declared = [output.name for output in entry.outputs if output.c_type == c_type]
        yield from [f"cdef {c_type} {', '.join(declared)}"] if declared else []
    if entry.is_replaceable:
        names = ", ".join(output.name for output in entry.outputs)
        yield from ("if replays(depth):", f"    {names} = replayed_result()", "else:")
        yield from indented(_made(entry))
    else:
        yield from _made(entry)


def _made(entry: EntryView) -> Iterator[str]:
    shown = (
        entry.compute.text
        if entry.is_replaceable
        else f"replayed_arrays() if replays(depth) else ({entry.compute.text})"
    )
    yield f"{', '.join(output.array for output in entry.outputs)} = {shown}"
    yield from (f"{output.name} = {output.value}" for output in entry.outputs)


def _list_of_results(entry: EntryView) -> Iterator[str]:
    text = entry.compute.text
    made = f"[wrap(array) for array in {text}]"
    value = f"as_view_list({entry.view_of}, {_shown(entry)})" if entry.view_of else _replayed(entry, made)
    yield f"cdef list {entry.outputs[0].name} = {value}"


# ---- recording


def _record(entry: EntryView, record: RecordView) -> Iterator[str]:
    names = entry.history if entry.shape == "several" else [output.name for output in entry.outputs]
    yield "cdef Node node"
    yield f"if {record.condition}:"
    yield from indented(_new_node(record))
    yield {
        "single": f"    set_history({names[0]}, node)",
        "list": f"    set_history_list({names[0]}, node)",
        "several": f"    set_history_list([{', '.join(names)}], node)",
    }[entry.shape]
    yield from indented(_saves(record.after))


def _new_node(record: RecordView) -> Iterator[str]:
    """A node with its edges and what it saves of the inputs."""
    room = f"{record.n_saved}, {record.n_values}"
    # The cast spares the check that the class is derived from Node.
    yield f"node = <Node>{record.class_name}.__new__({record.class_name})"
    if record.connect:
        yield f"{record.connect}(node, {room}, {', '.join(edge.name for edge in record.edges)})"
    else:
        yield f"node.init({record.n_edges}, {room})"
        for edge in record.edges:
            yield f"collect_edge{'_list' if edge.is_list else ''}(node, {edge.index}, {edge.name})"
    yield from _saves(record.before)


def _saves(groups: Iterable[Saves]) -> Iterator[str]:
    for group in groups:
        saved = [line for item in group.items for line in _save(item)]
        if group.edges:
            yield f"if {' or '.join(f'node.edges[{edge}].node != NULL' for edge in group.edges)}:"
        yield from indented(saved) if group.edges else saved


def _save(item: Save) -> Iterator[str]:
    statement = f"{item.function}(node, {item.slot}, {item.value})"
    yield from (f"if {item.value} is not None:", f"    {statement}") if item.optional else (statement,)


# ---- several arguments that are changed


def _values_name(entry: EntryView) -> str:
    return f"values_of_{entry.name}"


def _written_to_several(entry: EntryView) -> Iterator[str]:
    """Nothing is written before all new values are there, with their history."""
    changed = tuple_text(entry.several)
    before = [f"before_write({p.name})" if p.name in entry.several else p.name for p in entry.parameters]
    yield from _required(entry)
    yield f'check_several("{entry.op}", {changed}, {tuple_text(f"{chr(34)}{n}{chr(34)}" for n in entry.several)})'
    yield _begun(entry, entry.op)
    yield f"cdef tuple found = {_values_name(entry)}({', '.join(before)})"
    yield f'write_several("{entry.op}", {changed}, found)'
    yield from _ended(entry, changed)


# ---- in place


def _inplace(entry: EntryView, form: InplaceView) -> Iterator[str]:
    if form.is_view:
        return _by_view(entry, form)
    return _by_copy(entry, form, form.compute) if form.compute else _written(entry, form)


def _by_view(entry: EntryView, form: InplaceView) -> Iterator[str]:
    """Nothing is written: `self` becomes the view that the op makes of it."""
    yield f'check_change("{form.op}", self)'
    yield _begun(entry, form.op)
    yield f"become_view(self, {entry.name}({entry.arguments}))"
    yield "return ended(depth, self)"


def _by_copy(entry: EntryView, form: InplaceView, compute: ComputeView) -> Iterator[str]:
    """A composite has no node: values with their history are copied into `self`, or a helper writes what changes."""
    yield from _required(entry)  # before the check, which announces the write
    yield f'check_inplace("{form.op}", self)'
    yield from _refused(entry)
    if compute.written:
        yield f"return {compute.written}"
        return
    if compute.attempt:
        yield f"if {compute.attempt}:"
        yield "    return self"
    yield "cdef TensorBase original = original_of(self) if grad_enabled() else self    # the parts may save it"
    yield from _parts(compute)
    yield f'return copy_into("{form.op}", self, {compute.text})'


def _written(entry: EntryView, form: InplaceView) -> Iterator[str]:
    """The value goes into `self`; the node is made first, while `self` still has the value it is made from."""
    yield from _required(entry)  # before the check, which announces the write
    yield f'check_inplace("{form.op}", self)'
    yield from _refused(entry)
    yield _begun(entry, form.op)
    if form.by_copy:
        result = f"{entry.name}({', '.join(form.by_copy.arguments)})"
        yield f"if {form.by_copy.condition}:"
        yield f'    return ended(depth, copy_into("{form.op}", self, {result}))'
    if form.record:
        yield from _prepared(form, form.record)
    else:
        yield f'check_not_recorded("{form.op}", self)'
    if form.kept and entry.tangents:
        yield from _kept(entry.tangents, form)
    yield from _write(entry, form.op)
    yield f"finish_inplace(self, {'history' if form.record else 'None'})"
    yield from _afterwards(entry, form)
    yield "return ended(depth, self)"


def _prepared(form: InplaceView, record: RecordView) -> Iterator[str]:
    yield f"cdef Node {'node = None' if record.after else 'node'}, history = None"
    yield f"if {record.condition}:"
    yield from indented(_new_node(record))
    yield f'    history = prepare_history("{form.op}", self, node)'


def _kept(rule: TangentView, form: InplaceView) -> Iterator[str]:
    """The rule of forward mode runs after the write, and reads values from before it."""
    if "self" in form.kept:
        yield "cdef TensorBase original = None"
    yield f"if {rule.condition}:"
    for name in form.kept:
        yield "    original = original_of(self)" if name == "self" else f"    {name} = kept_from_write(self, {name})"


def _write(entry: EntryView, op: str) -> Iterator[str]:
    if not has_written_rule(entry):
        yield from _write_values(entry, op)
        return
    assert entry.batching is not None
    if entry.compute.kernel:
        yield from _operands(entry)
    yield f"if not (watching and written_batched(&{entry.batching.of_inplace[0]}, {entry.operands})):"
    yield from indented(_write_values(entry, op))


def _write_values(entry: EntryView, op: str) -> Iterator[str]:
    compute = entry.compute
    if compute.kind == "ufunc":
        yield f"{compute.function}_into({', '.join(compute.arguments)}, self.array)"
    elif compute.kernel:
        yield f"if not fused_into(&{compute.kernel}, operands, {compute.packed_scalars}, self):"
        yield f'    write_inplace("{op}", self, array_of({_value(entry)}))'
    elif compute.kind == "pointwise":
        yield f'write_inplace("{op}", self, array_of({_value(entry)}))'
    elif compute.written:
        yield f'if writes_directly("{op}", self):'
        yield f"    {compute.written}"
        yield "else:"
        yield f'    write_inplace("{op}", self, {compute.text})'
    else:
        yield f'{"write_values" if entry.written else "write_inplace"}("{op}", self, {compute.text})'


def _afterwards(entry: EntryView, form: InplaceView) -> Iterator[str]:
    if form.record and form.record.after:
        yield "if node is not None:"
        yield from indented(_saves(form.record.after))
    if form.resets_accumulator:
        yield "reset_accumulator(self)"
    if entry.written and entry.tangents:
        yield from _carried(entry.tangents)
    elif form.ends_tangents:
        yield "end_tangents(self)"
