"""The model of an op: frozen, complete, checked when made. Views read it; nothing is filled in later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Literal

from .formula.callees import stem_of
from .formula.formula import Expr, Formula
from .loops.loop import Loops
from .spec.names import name_within
from .spec.schema import Argument, Signature

# "internal" is no face of its own: the function is for the runtime and for formulas, the package does not export it.
FORMS = frozenset({"function", "method", "property", "inplace", "out", "copy", "internal"})

ForwardKind = Literal["ufunc", "pointwise", "array", "composite"]
BatchMethod = Literal[
    "elementwise", "along_slices", "of_cores", "by_parts", "by_indexing", "slice_by_slice", "by_values"
]
TangentRule = Literal["formula", "auto_element_wise", "auto_linear", "auto_linear_in_each", "transposed"]


@dataclass(frozen=True)
class SavedTensor:
    """A tensor that the node keeps until the backward pass."""

    name: str
    slot: int
    is_output: bool  # an output is saved without a cycle
    is_list: bool  # Tensor[]: kept in value slot `slot` as one list
    optional: bool  # may be None: stays undefined
    needed_by: tuple[int, ...]  # indices into Backward.gradients whose formula reads it
    edges: tuple[int, ...]  # on whose account it is kept: without any of them no formula reads it


@dataclass(frozen=True)
class SavedValue:
    """A number, tuple, shape, dtype or text that the node keeps.

    Either an argument itself (``owner`` is None, ``name`` is the argument), or an attribute of a
    tensor: ``self.shape`` is kept as ``self_shape``, so that the tensor need not be.

    Most values stay with the node. A number in the place of a tensor (``kind`` is "operand") is freed with the graph,
    as the tensor would be; so are the tensors in an argument of any type ("object"), which are checked for changes too.
    """

    name: str
    slot: int
    owner: str | None
    attribute: str | None
    needed_by: tuple[int, ...]
    edges: tuple[int, ...]
    kind: Literal["plain", "operand", "object"] = "plain"

    def __post_init__(self) -> None:
        assert (self.owner is None) == (self.attribute is None), self


@dataclass(frozen=True)
class GradientRule:
    """How the gradients of some inputs are computed: one formula for one input, or a joint one.

    (`Gradient` without underscore is the expression ``grad`` inside a formula.)
    """

    inputs: tuple[str, ...]
    formula: Formula
    edges: tuple[int, ...]  # positions of `inputs` in Backward.differentiable_inputs

    @property
    def is_joint(self) -> bool:
        return len(self.inputs) > 1


@dataclass(frozen=True)
class Backward:
    """The node of one variant."""

    class_name: str  # MulScalarBackward0
    node_name: str  # MulBackward0: what `name()` says
    gradients: tuple[GradientRule, ...]  # ordered by their first edge
    differentiable_inputs: tuple[str, ...]  # edge order
    saved: tuple[SavedTensor, ...]  # single tensors: slots of save_input / save_output
    values: tuple[SavedValue, ...]  # value slots
    saved_lists: tuple[SavedTensor, ...] = ()  # Tensor[]: value slots after `values`
    outputs: tuple[int, ...] = (0,)  # those that have a gradient
    saving: str = ""  # why that is saved and nothing else; "" when nothing is
    note: str = ""  # what would be cheaper, when that is for the author to decide

    def __post_init__(self) -> None:
        edges = [e for g in self.gradients for e in g.edges]
        assert sorted(edges) == list(range(len(self.differentiable_inputs))), self
        assert [s.slot for s in self.saved] == list(range(len(self.saved))), self
        kept = [v.slot for v in self.values] + [s.slot for s in self.saved_lists]
        assert kept == list(range(len(kept))), self

    @property
    def n_values(self) -> int:
        return len(self.values) + len(self.saved_lists)


@dataclass(frozen=True)
class TangentTerm:
    """One summand of a tangent. Without any of the tangents that it reads it is zero, and not computed."""

    reads: tuple[str, ...]  # inputs, in the order of the signature
    expr: Expr  # in it the tangent of `self` is the name `self_t`


@dataclass(frozen=True)
class Tangent:
    """The tangent of one output: a sum, linear in the tangents of the inputs."""

    output: int
    terms: tuple[TangentTerm, ...]


@dataclass(frozen=True)
class Tangents:
    """Forward mode of one variant: the outputs' tangents from those of the inputs.

    There are no sums when the rule is "transposed": the formulas of the gradients are linear in `grad`, and running
    their graph backwards on the tangents of the inputs gives that of the result.
    """

    rule: TangentRule
    text: str  # as the table has it, or what was derived: for comments and documentation
    declared: bool  # the entry says so itself
    inputs: tuple[str, ...]  # those that may have a tangent
    outputs: tuple[Tangent, ...]

    def __post_init__(self) -> None:
        assert (self.rule == "transposed") == (not self.outputs), self


@dataclass(frozen=True)
class Forward:
    """How the value is computed."""

    kind: ForwardKind
    text: str  # what stands between the parentheses in the table
    ufunc: str = ""  # NumPy's name, kind "ufunc" only
    formula: Formula | None = None  # kinds "pointwise" and "composite"
    names: frozenset[str] = frozenset()  # arguments an "array" expression reads
    functions: tuple[tuple[str, str], ...] = ()  # (name, module) of runtime/arrays/functions, "array" only
    builtins: frozenset[str] = frozenset()  # of Python, that an "array" expression uses
    needs_scipy: bool = False  # an "array" expression calls it
    writer: str = ""  # the function that writes what an "array" expression changes into its first argument

    def __post_init__(self) -> None:
        assert bool(self.ufunc) == (self.kind == "ufunc"), self
        assert (self.formula is not None) == (self.kind in ("pointwise", "composite")), self

    @property
    def is_elementwise(self) -> bool:
        return self.kind in ("ufunc", "pointwise")


@dataclass(frozen=True)
class Batching:
    """How an op runs on a batch of slices at once; see runtime/batching/rules.pyx."""

    method: BatchMethod
    kinds: str = ""  # a letter for each argument
    parts: Formula | None = None  # of ops, method "by_parts" only
    reason: str = ""  # why slice by slice

    def __post_init__(self) -> None:
        assert (self.parts is not None) == (self.method == "by_parts"), self


@dataclass(frozen=True)
class Requirement:
    """A condition over the arguments, and what is wanted where it does not hold."""

    condition: Formula
    message: str


@dataclass(frozen=True)
class Variant:
    """One concrete signature of an entry: unions expanded, one C entry."""

    c_entry: str  # op_mul_scalar
    signature: Signature
    forward: Forward
    backward: Backward | None
    tangents: Tangents | None
    is_view: bool
    multi_view: bool  # the views come as a list
    scalar_positions: tuple[str, ...]  # union arguments that are numbers here
    refused: tuple[str, ...] = ()  # tensors that the entry gives no gradient: they may not require one
    condition: Formula | None = None  # of the arguments: does the result have a history
    requirements: tuple[Requirement, ...] = ()  # else the call is an error
    batching: Batching | None = None  # None for a composite, whose parts have rules

    def __post_init__(self) -> None:
        assert not any(a.type.union_scalar for a in self.signature.arguments), self.c_entry
        assert not (self.multi_view and not self.is_view), self.c_entry

    @property
    def stem(self) -> str:
        """Common part of the variant's names in generated code: ``mul_scalar``."""
        return stem_of(self.c_entry)

    @property
    def is_elementwise(self) -> bool:
        return self.forward.is_elementwise

    @property
    def has_view_among(self) -> bool:
        """Is one of several results a view, while the others have memory of their own?"""
        returns = self.signature.returns
        return len(returns) > 1 and any(r.type.alias and not r.type.written for r in returns)

    @property
    def gradient_lists(self) -> tuple[str, ...]:
        """Lists of tensors with gradients, in the order of their edges, which come after those of single tensors."""
        names = self.backward.differentiable_inputs if self.backward else ()
        return tuple(name for name in names if self.signature.argument(name).type.is_list)

    @property
    def trees(self) -> Iterator[Expr]:
        """Every expression over ops and helpers: forward, batching, conditions, gradients and tangents."""
        if self.forward.formula is not None:
            yield self.forward.formula.expr
        if self.batching is not None and self.batching.parts is not None:
            yield self.batching.parts.expr
        if self.condition is not None:
            yield self.condition.expr
        yield from (requirement.condition.expr for requirement in self.requirements)
        if self.backward is not None:
            yield from (gradient.formula.expr for gradient in self.backward.gradients)
        if self.tangents is not None:
            yield from (term.expr for output in self.tangents.outputs for term in output.terms)

    @property
    def tensors(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.signature.arguments if a.type.is_tensor)

    @property
    def numbers(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.signature.arguments if a.type.is_number)

    @property
    def written(self) -> tuple[Argument, ...]:
        """Arguments that the op itself changes: ``Tensor(a!)``."""
        return tuple(a for a in self.signature.arguments if a.type.written)


@dataclass(frozen=True)
class Point:
    """A point, and the gradient there of the sum of the results; all Python texts."""

    arguments: tuple[tuple[str, str], ...]
    gradient: tuple[tuple[str, str], ...]  # input, value


@dataclass(frozen=True)
class Interval:
    """The real numbers between two bounds."""

    lower: float
    upper: float
    includes_lower: bool
    includes_upper: bool

    def __post_init__(self) -> None:
        assert self.lower <= self.upper, self

    def __str__(self) -> str:
        bounds = f"{self.lower:g}, {self.upper:g}"
        return f"{'[' if self.includes_lower else '('}{bounds}{']' if self.includes_upper else ')'}"


@dataclass(frozen=True)
class Preparation:
    """An argument that a function of runtime/calls/preparation.pxd checks or converts before the op sees it."""

    argument: str
    function: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Policy:
    """The author's decisions where mathematics leaves a choice, and notes for users."""

    subgradient: str = ""  # what the gradient is where there is no derivative
    points: tuple[Point, ...] = ()
    domain: tuple[tuple[str, Interval], ...] = ()  # of real arguments
    latex: str = ""
    reference: str = ""  # Python text: the value, computed by others
    surrogate: str = ""  # Python text: what the gradients are the derivatives of, where that is not the value
    cancellation: str = ""  # why float32 loses digits in the formulas, or ""
    resets_accumulator: bool = False
    out_of_place: str = ""  # why there is no in-place form, or ""
    depends_on_layout: bool = False  # the result is another for other strides of the same elements
    stops_gradient: bool = False  # the result depends on its input, and shall have no gradient nevertheless
    takes_numbers: bool = False  # the function takes a number where the first tensor is, also numbers alone
    takes_inplace: bool = False  # the function has a parameter `inplace`
    assignable: bool = False  # a value assigned to the property is copied into the view
    prepare: tuple[Preparation, ...] = ()


@dataclass(frozen=True)
class Op:
    """One entry of the table."""

    family: str
    line: int
    name: str  # the schema, canonical text
    base: str
    overload: str
    signature: Signature  # with unions, as the entry says
    variants: tuple[Variant, ...]
    forms: frozenset[str]
    operators: tuple[tuple[str, str], ...]  # ("__mul__", "binary")
    variadic: str | None
    aliases: tuple[str, ...]
    samples: tuple[dict[str, str], ...] = field(hash=False)
    doc: str
    supports_complex: bool
    nondifferentiable: str  # why, or ""
    non_differentiable: tuple[str, ...]  # inputs that the entry says have no gradient
    output_differentiability: tuple[bool, ...]
    policy: Policy
    lets: tuple[tuple[str, str], ...] = ()  # names in formulas, and their texts
    namespace: str = ""  # of the function that users call, such as "linalg"
    is_lazy: bool = False  # of a family that is imported on first use

    def __post_init__(self) -> None:
        assert self.forms <= FORMS, self.forms
        assert self.variants, self.name
        assert len(self.output_differentiability) == len(self.signature.returns), self.name
        assert not (self.nondifferentiable and any(v.backward for v in self.variants)), self.name

    @property
    def spoken(self) -> str:
        """The name in errors and documentation: ``mul``, ``linalg.det``."""
        return f"{self.namespace}.{name_within(self.base)}" if self.namespace else self.base

    @property
    def is_view(self) -> bool:
        return self.variants[0].is_view

    @property
    def is_composite(self) -> bool:
        return self.variants[0].forward.kind == "composite"

    @property
    def needs_scipy(self) -> bool:
        return any(variant.forward.needs_scipy for variant in self.variants)


@dataclass(frozen=True)
class Table:
    """All ops, in the order of the file."""

    file: str
    ops: tuple[Op, ...]
    by_base: dict[str, tuple[Op, ...]] = field(hash=False)
    families: tuple[str, ...]  # those that have ops, in the order of the file
    package: str = "gradsmith.generated"  # that its modules are in
    library: Table | None = None  # gradsmith's own table, when this one is external
    holomorphic: frozenset[str] = frozenset()  # bases of the ops that are, see linearity.py
    loops: dict[str, Loops] = field(default_factory=dict, hash=False)  # of the variants, by C entry

    def of_family(self, family: str) -> tuple[Op, ...]:
        return tuple(op for op in self.ops if op.family == family)

    @cached_property
    def face_names(self) -> frozenset[str]:
        """Callable functions of the modules; in a module they hide Python's own."""
        return frozenset(name for op in self.ops for name in (op.base, *op.aliases))

    @property
    def file_name(self) -> str:
        """The file's name in generated text, on one line."""
        return " ".join(PurePath(self.file).name.splitlines())

    def variant(self, c_entry: str) -> Variant:
        """The variant behind a C entry, which must exist."""
        return self.variants[c_entry]

    @cached_property
    def variants(self) -> dict[str, Variant]:
        """All that formulas call."""
        own = {v.c_entry: v for op in self.ops for v in op.variants}
        return {**self.library.variants, **own} if self.library else own
