"""Views of an op for the templates: flat, frozen, every decision made.

One view per piece of generated text: `NodeView` is the node class, `EntryView` the C entry that computes and records,
`InplaceView` the same written into its first operand, `FamilyView` the module around them. Names and expressions in a
view are final; a template only puts statements around them. Faces for Python are in `faces`; who fills the views:
`views.node`, `views.entry`, `views.family`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..api.functions import Face
from ..loops.kernels import Kernel
from ..spec.schema_types import Type


def tuple_text(items: Iterable[str]) -> str:
    """``(self,)``"""
    names = list(items)
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def wanted_text(edges: Iterable[int]) -> str:
    return " or ".join(f"wants(wanted, {edge})" for edge in edges)


# ---- the node class


@dataclass(frozen=True)
class Load:
    """A local of `apply` and where it comes from: ``other = unpack(self, 1)``."""

    name: str
    getter: str
    slot: int
    c_type: str
    again: bool = False  # another formula may have loaded it: hooks on saved tensors run once


@dataclass(frozen=True)
class PartView:
    """A local with what formulas read more than once: ``sigmoid_of_self = op_sigmoid(self_)``."""

    name: str
    text: str


@dataclass(frozen=True)
class SharedView:
    """Parts that several gradients read."""

    edges: tuple[int, ...]  # of these gradients
    tested: bool  # there are other edges: ask whether one of these is wanted
    loads: tuple[Load, ...]
    parts: tuple[PartView, ...]

    @property
    def condition(self) -> str:
        """``wants(wanted, 0) or wants(wanted, 1)``, or "" when nothing has to be asked."""
        return wanted_text(self.edges) if self.tested else ""


@dataclass(frozen=True)
class EdgeRun:
    """The edges of a list of tensors: as many as it had tensors when the op was called."""

    first: str
    end: str


@dataclass(frozen=True)
class ListStart:
    """``cdef int others_edge = 1 + <int>value_of(self, 0)``: where the edges of a list begin, after another's."""

    name: str
    before: str
    slot: int  # of the number of tensors in the list before


@dataclass(frozen=True)
class GradientView:
    """One formula of `apply`."""

    comment: str  # other: grad * conj(self); the input alone where the formula stands in a docstring
    is_joint: bool  # one formula for several inputs
    edges: tuple[int, ...]
    run: EdgeRun | None  # of a list
    tested: bool  # several edges: ask which are wanted. A node with one edge runs only when that one is.
    needs: tuple[int, ...]  # of several incoming gradients: without any of these the formula gives none
    loads: tuple[Load, ...]
    parts: tuple[PartView, ...]  # what the formula reads more than once
    text: str
    attempt: str  # a call that may do without the gradient and says whether it has, or ""

    @property
    def condition(self) -> str:
        """The condition under which the formula is evaluated, or ""."""
        arrived = " or ".join(f"grads[{index}] != NULL" for index in self.needs)
        if not self.tested:
            return arrived
        run = self.run
        asked = f"wants_any(wanted, {run.first}, {run.end})" if run else wanted_text(self.edges)
        if not arrived:
            return asked
        several = len(self.needs) > 1
        asked = f"({asked})" if several or len(self.edges) > 1 else asked
        return f"{asked} and ({arrived})" if several else f"{asked} and {arrived}"


@dataclass(frozen=True)
class PropertyView:
    """``_saved_other``, what a user may look at; some with a second attribute, ``_raw_saved_other``."""

    names: tuple[str, ...]
    descriptor: str
    slot: int


@dataclass(frozen=True)
class Incoming:
    """A gradient that comes in."""

    name: str
    index: int
    optional: bool = False  # of a result that may be absent: None where none has arrived


@dataclass(frozen=True)
class NodeView:
    class_name: str
    node_name: str
    signature: str
    saving: str  # why it keeps what it keeps, or ""
    fused: str  # name of the table of kernels, or ""
    n_edges: int
    single_output: bool  # never run with an undefined gradient
    incoming: tuple[Incoming, ...]
    gradient_list: str  # local with the gradients of a Tensor[] output, or ""
    list_start: int  # number of the first of them
    list_starts: tuple[ListStart, ...]  # of the second list with gradients and of those after it
    tensor_locals: tuple[str, ...]
    list_locals: tuple[str, ...]
    object_locals: tuple[str, ...]
    shared: tuple[SharedView, ...]
    gradients: tuple[GradientView, ...]
    loaded_first: tuple[Load, ...]  # what the only gradient reads, where it needs no test
    freed: tuple[int, ...]  # slots of the values that go with what is saved
    properties: tuple[PropertyView, ...]

    @property
    def is_selective(self) -> bool:
        """Does the node ask which of its gradients are wanted?"""
        texts = [text for g in self.gradients for text in (g.text, *(part.text for part in g.parts))]
        return any(gradient.tested for gradient in self.gradients) or any("wants(" in text for text in texts)


@dataclass(frozen=True)
class NodeClass:
    """A node class as it is written."""

    class_name: str
    signature: str
    reasons: tuple[str, ...]  # why it keeps what it keeps
    apply_lines: tuple[str, ...]
    member_lines: tuple[str, ...]  # what follows `apply`


# ---- forward mode


@dataclass(frozen=True)
class TangentView:
    """The rule of an op, and how it is run."""

    name: str  # tangents_mul_tensor
    comment: str  # as the table has it
    condition: str  # has_tangent_2(self, other)
    is_transposed: bool
    lines: tuple[str, ...]  # of the rule
    call: str  # carry_tangents(result, (self, other), tangents_mul_tensor, (self, other))


# ---- the C entry


@dataclass(frozen=True)
class Parameter:
    name: str
    c_type: str


@dataclass(frozen=True)
class Save:
    """``save_input(node, 0, self)``."""

    function: str
    slot: int
    value: str
    optional: bool = False  # a result that may be absent


@dataclass(frozen=True)
class Saves:
    """Saved values needed by some edges; `edges` is empty when they are always needed."""

    edges: tuple[int, ...]
    items: tuple[Save, ...]


@dataclass(frozen=True)
class EdgeView:
    index: str  # of the first one, where it is that of a list
    name: str
    is_list: bool
    or_empty: str  # what makes an empty list of a None that may come, or ""

    @property
    def count(self) -> str:
        return f"<int>len({self.name}{self.or_empty})"


@dataclass(frozen=True)
class RecordView:
    """How the call is recorded: when, in which node, and what the node keeps."""

    condition: str
    class_name: str
    n_edges: str
    n_saved: int
    n_values: int
    edges: tuple[EdgeView, ...]
    connect: str  # what gives the node its edges, when they are a few single ones, or ""
    before: tuple[Saves, ...]  # inputs and arguments
    after: tuple[Saves, ...]  # outputs, once they have their history


@dataclass(frozen=True)
class ComputeView:
    """How the value is computed.

    kind "ufunc": `function` of `arguments`; "pointwise": the fused loop `kernel` over `tensors` and `scalars`, else
    `text` by ops; "array" and "composite": `text`.
    """

    kind: str
    text: str = ""
    written: str = ""  # the call that writes what changes into `self`, where there is one
    attempt: str = ""  # the call that may do so, and says whether it has
    function: str = ""
    arguments: tuple[str, ...] = ()
    kernel: str = ""
    fallback: str = ""  # name of the function that evaluates `text`
    tensors: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()
    floating: tuple[str, ...] = ()  # tensors that integers must leave before a function of floats sees them
    promoted: tuple[str, ...] = ()  # operands that are brought to one dtype before the first step
    parts: tuple[PartView, ...] = ()  # of a composite: what `text` reads more than once

    @property
    def packed_scalars(self) -> str:
        return tuple_text(self.scalars)


@dataclass(frozen=True)
class Refused:
    """``check_no_gradient(weight, "f", "weight")``"""

    function: str
    name: str
    op: str


@dataclass(frozen=True)
class Required:
    """``if not condition: raise RuntimeError(message)``"""

    condition: str
    message: str  # an expression, which shows what was found
    indexes: bool  # a shape or list, which may be too short to have what the condition asks for


@dataclass(frozen=True)
class Output:
    name: str
    array: str  # local with its array, when there are several
    value: str  # what is made of that array
    recorded: str  # its place in the history: itself, or None
    c_type: str


@dataclass(frozen=True)
class ByCopy:
    """``copy_into("mul_", self, op(self, ...))``, where history or tangents need the result apart."""

    condition: str
    arguments: tuple[str, ...]  # of the op


@dataclass(frozen=True)
class InplaceView:
    name: str  # inplace_mul_tensor
    op: str  # mul_
    record: RecordView | None
    is_view: bool  # nothing is written: `self` becomes the view that the op makes of it
    compute: ComputeView | None  # a composite, of the `original` value of `self`: it has no node, its value is copied
    by_copy: ByCopy | None  # when the result of the op is computed first and then copied into `self`
    ends_tangents: bool  # the values written depend on no tangent: those of `self` end
    kept: tuple[str, ...] = ()  # what forward mode reads after the write as it was before; `self` as `original`
    resets_accumulator: bool = False  # `self`, where it is a leaf, gets another one


@dataclass(frozen=True)
class CFunction:
    """``cdef TensorBase op_exp(TensorBase self):`` and its statements."""

    declaration: str
    lines: tuple[str, ...]
    comment: str = ""

    @property
    def header(self) -> str:
        return f"cdef {self.declaration}:{f'    # {self.comment}' if self.comment else ''}"


@dataclass(frozen=True)
class BatchingView:
    """``BatchRule(b"mul", elementwise, b"ee", packed_mul_tensor, NULL, loop_of_ufunc(MULTIPLY))``"""

    rule: str  # its name: batched_mul_tensor
    packed: str  # the op that takes a tuple
    method: str
    kinds: str
    parts: str  # name of the function of its parts, or "NULL"
    text: str  # the parts
    of_inplace: tuple[str, str]  # rule and packed op of the in-place form


@dataclass(frozen=True)
class EntryView:
    name: str  # op_mul_tensor
    op: str  # mul
    schema: str
    node: NodeView | None
    tangents: TangentView | None
    parameters: tuple[Parameter, ...]
    returns: str  # C type
    shape: str  # "single", "several" or "list"
    outputs: tuple[Output, ...]
    history: tuple[str, ...]  # the outputs in the order in which a node numbers their gradients
    view_of: str  # the argument that the result shares memory with, or ""
    view_function: str  # how: a differentiable view, or one that shares the version counter alone
    compute: ComputeView
    record: RecordView | None
    refused: tuple[Refused, ...]
    required: tuple[Required, ...]
    written: bool  # the op itself changes `self`: there is only the in-place form
    is_replaceable: bool  # it only computes: an observer may have its result already
    inplace: InplaceView | None
    several: tuple[str, ...] = ()  # the arguments that it changes, where these are more than one
    batching: BatchingView | None = None

    @property
    def declared(self) -> str:
        """``TensorBase self, object other``"""
        return ", ".join(f"{p.c_type} {p.name}" for p in self.parameters)

    @property
    def arguments(self) -> str:
        """``self, other``"""
        return ", ".join(p.name for p in self.parameters)

    @property
    def operands(self) -> str:
        """``(self, other)``"""
        return tuple_text(p.name for p in self.parameters)

    @property
    def place_of_self(self) -> int:
        return next((place for place, p in enumerate(self.parameters) if p.name == "self"), 0)


@dataclass(frozen=True)
class EntryText:
    """The generated parts of a variant: its node class, if it has one, and its functions."""

    node_classes: tuple[NodeClass, ...]
    functions: tuple[CFunction, ...]
    rules: tuple[str, ...]  # of batching


@dataclass(frozen=True)
class OpView:
    """One entry of the table: the variants, and the faces of the base when this is its last entry."""

    schema: str
    key: str  # add.alpha
    entries: tuple[EntryView, ...]
    texts: tuple[EntryText, ...]  # of the entries
    faces: tuple[Face, ...]


@dataclass(frozen=True)
class Import:
    module: str  # gradsmith.generated.arithmetic
    names: tuple[str, ...]


@dataclass(frozen=True)
class BackwardTable:
    """The kernels of a node, one per edge."""

    name: str
    key: str  # of the entry
    kernels: tuple[str, ...]  # names, `gs_pass` among them
    loops: tuple[Kernel, ...]


@dataclass(frozen=True)
class ForwardKernel:
    constant: str
    key: str
    kernel: Kernel


@dataclass(frozen=True)
class FamilyView:
    name: str
    ops: tuple[OpView, ...]
    ufuncs: tuple[str, ...]
    function_modules: tuple[
        Import, ...
    ]  # of array functions: those of runtime/arrays/functions, or of an external package
    compiled_functions: tuple[Import, ...]  # those among them that have a .pxd
    uses_builtins: bool  # functions of Python that the module has ops of the same name for
    scipy_users: tuple[tuple[str, str], ...]  # name of what stands for SciPy, the op that needs it
    imports: tuple[Import, ...]  # other families and helpers
    backward_tables: tuple[BackwardTable, ...]
    forward_kernels: tuple[ForwardKernel, ...]
    entries: tuple[EntryView, ...]
    direct: tuple[EntryView, ...]  # those whose in-place form methods call without a call between
    faces: tuple[Face, ...]
    of_namespaces: tuple[tuple[str, str, str], ...]  # (linalg_det, linalg, det): what functions are called by users
    has_docstrings: bool  # external packages have them as data, see views/docstrings.py

    @property
    def has_kernels(self) -> bool:
        return bool(self.backward_tables or self.forward_kernels)


# ---- types in C


def c_type(type_: Type) -> str:
    """How an argument of this type is declared. Numbers stay objects: they are handed on, hardly computed with."""
    if type_.is_tensor_list:
        return "list"
    if type_.is_tensor:
        return "TensorBase"
    return "bint" if type_ == Type("bool") else "object"
