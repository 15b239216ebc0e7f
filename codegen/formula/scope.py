"""The scope of one formula: the names in it and their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..spec.schema_types import Type
from .formula import Expr

TENSOR = Type("Tensor")
TENSORS = Type("Tensor", is_list=True)
GRADIENTS = Type("Tensor", is_list=True, optional_items=True)  # None where no gradient has arrived
INT = Type("int")
BOOL = Type("bool")


@dataclass(frozen=True)
class Scope:
    """Names that one formula can use."""

    variables: Mapping[str, Expr]
    # Per output: does a gradient arrive for it. Empty in a forward expression.
    differentiable_outputs: tuple[bool, ...] = ()
    returns_list: bool = False  # the op returns Tensor[]: how many gradients there are is not known
    optional_outputs: frozenset[int] = frozenset()  # Tensor?, with gradients that are None where the result is
    elementwise: bool = False  # a pointwise forward: a tensor may be a test, loop functions may be called
    own_base: str = ""  # a name that does not mean the op itself, but gradsmith's op or the loop function
    multi_returns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mask: tuple[str, ...] = ()  # inputs that `grad_input_mask` tells about: those of a joint formula
    numbers: tuple[str, ...] = ()  # inputs that are numbers in this variant
    in_backward: bool = False  # a run of the engine evaluates it
    promotes: bool = False  # of an external op: what it takes of several dtypes, products in its formulas take too
    names_outside: frozenset[str] = frozenset()  # of the formula that calls the function at hand
    missing: Mapping[str, str] = field(default_factory=dict)  # names that exist, and why they mean nothing here
