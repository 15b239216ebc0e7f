"""The statements of a node class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap

from .lines import indented
from .model import GradientView, Load, NodeClass, NodeView, PartView

NO_BREAK = "\N{NO-BREAK SPACE}"  # within `projection = None`


def node_class(node: NodeView) -> NodeClass:
    reasons = (f"{node.saving[0].upper()}{node.saving[1:]}.",) if node.saving else ()
    return NodeClass(node.class_name, node.signature, reasons, tuple(apply_lines(node)), tuple(member_lines(node)))


def apply_lines(node: NodeView) -> Iterator[str]:
    """The body of `apply`: incoming gradients, then a statement for each outgoing one."""
    if node.is_selective:
        yield "cdef unsigned int wanted = self.wanted"
    if node.fused:
        yield f"if apply_fused(self, {node.fused}, grads, grad_inputs):"
        yield "    return 0"
    yield from _incoming(node)
    yield from _declarations(node)
    for block in node.shared:
        yield from _under(block.condition, "", [*_loads(block.loads), *_parts(block.parts)])
    for gradient in node.gradients:
        yield from _under(gradient.condition, gradient.comment, _gradient(node, gradient))


def member_lines(node: NodeView) -> Iterator[str]:
    """The methods after `apply`, each preceded by an empty line."""
    if node.freed:
        yield from ("", "cdef void release_saved(self) noexcept:", "    Node.release_saved(self)")
        yield from (f"    drop_value(self, {slot})" for slot in node.freed)
    if node.node_name != node.class_name:
        yield from ("", "cpdef str name(self):", f'    return "{node.node_name}"')
    if node.properties:
        yield ""
    for own in node.properties:
        yield f"{', '.join(own.names)} = {own.descriptor}({own.slot})"


def _incoming(node: NodeView) -> Iterator[str]:
    for grad in node.incoming:
        getter = "gradient(" if node.single_output or grad.optional else "gradient_or_zeros(self, "
        yield f"cdef TensorBase {grad.name} = {getter}grads, {grad.index})"
    if node.gradient_list:
        yield "cdef int i"
        numbers = f"range({node.list_start}, self.n_outputs)" if node.list_start else "range(self.n_outputs)"
        yield f"cdef list {node.gradient_list} = [gradient(grads, i) for i in {numbers}]"


def _declarations(node: NodeView) -> Iterator[str]:
    for start in node.list_starts:
        before = "" if start.before == "0" else f"{start.before} + "
        yield f"cdef int {start.name} = {before}<int>value_of(self, {start.slot})"
    for c_type, names in (
        ("TensorBase", node.tensor_locals),
        ("list", node.list_locals),
        ("object", node.object_locals),
    ):
        unbroken = ", ".join(name.replace(" ", NO_BREAK) for name in names)
        yield from (f"cdef {c_type} {line.rstrip(',')}".replace(NO_BREAK, " ") for line in wrap(unbroken, 90))
    yield from (f"cdef {load.c_type} {load.name} = {_loaded(load)}" for load in node.loaded_first)


def _under(condition: str, comment: str, lines: Iterable[str]) -> Iterator[str]:
    """Statements, where a condition holds if there is one; the comment says what they are for."""
    if condition:
        yield f"if {condition}:{f'    # {comment}' if comment else ''}"
        yield from indented(lines)
    else:
        yield from ([f"# {comment}"] if comment else [])
        yield from lines


def _loads(loads: Iterable[Load]) -> Iterator[str]:
    for load in loads:
        statement = f"{load.name} = {_loaded(load)}"
        yield from (f"if {load.name} is None:", f"    {statement}") if load.again else (statement,)


def _loaded(load: Load) -> str:
    return f"{load.getter}(self, {load.slot})"


def _parts(parts: Iterable[PartView]) -> Iterator[str]:
    return (f"{part.name} = {part.text}" for part in parts)


def _gradient(node: NodeView, gradient: GradientView) -> Iterator[str]:
    yield from _loads(load for load in gradient.loads if load not in node.loaded_first)
    yield from _parts(gradient.parts)
    if gradient.run:
        run = f"{gradient.run.first}, {gradient.run.end}"
        yield f"set_grad_inputs(self, grad_inputs, {run}, {gradient.text})"
    elif gradient.is_joint:
        yield f"parts = {gradient.text}"
        yield from (f"set_grad_input(grad_inputs, {edge}, parts[{i}])" for i, edge in enumerate(gradient.edges))
    else:
        statement = f"set_grad_input(grad_inputs, {gradient.edges[0]}, {gradient.text})"
        yield from _under(f"not {gradient.attempt}" if gradient.attempt else "", "", [statement])
