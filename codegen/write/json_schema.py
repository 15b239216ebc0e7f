"""The JSON Schema of a table, so that editors complete its keys and check them while one writes.

It knows less than the generator: which keys there are, and the shapes of their values.
"""

from __future__ import annotations

import json
from typing import Any

from ..model import FORMS
from ..spec.vocabulary import OPERATORS

Schema = dict[str, Any]


def table_schema() -> str:
    """The schema as JSON text."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A table of derivatives",
        "description": "Families of differentiable operators; each family becomes one generated module.",
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/entry"}},
        "$defs": {"entry": _entry()},
    }
    return json.dumps(schema, indent=2) + "\n"


def _entry() -> Schema:
    return {
        "type": "object",
        "anyOf": [{"required": ["name", "doc"]}, {"required": ["function", "forward"]}],
        "properties": {key: {"description": text, **shape} for key, (text, shape) in KEYS.items()},
        "additionalProperties": {
            "description": "Gradient of an input, or of several joined by commas; tangent of a result.",
            "type": "string",
        },
    }


def _texts(*known: str) -> Schema:
    """A text or a list of them."""
    item: Schema = {"type": "string", "enum": list(known)} if known else {"type": "string"}
    return {"anyOf": [item, {"type": "array", "items": item}]}


def _variants() -> Schema:
    form = {"type": "string", "enum": sorted(FORMS)}
    return {"anyOf": [{"enum": ["all", *sorted(FORMS)]}, {"type": "array", "items": form}]}


def _operators() -> Schema:
    kinds = {kind: {"type": "string", "enum": sorted(methods)} for kind, methods in OPERATORS.items()}
    return {"type": "object", "properties": kinds, "additionalProperties": False}


_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}

# Key -> what it says, and the shape of its value.
KEYS: dict[str, tuple[str, Schema]] = {
    "name": ("Schema of the op: base.overload(Type name, Type name=default) -> Type.", _TEXT),
    "function": ("Schema of a function that formulas call: name(Type name, Type name=default) -> Type.", _TEXT),
    "forward": ("How the value is computed: ufunc(...), pointwise(...), array(...) or composite(...).", _TEXT),
    "nondifferentiable": ("Why no input has a gradient.", _TEXT),
    "output_differentiability": (
        "Which results have a history; of one result also a condition.",
        {"type": "array", "items": {"type": ["boolean", "string"]}},
    ),
    "saves": ("The tensors that the node keeps.", {"type": "array", "items": {"type": "string"}}),
    "complex": ("false: the op refuses complex tensors.", _FLAG),
    "variants": ("The forms of the op: a list, `all`, `internal`, or one form.", _variants()),
    "variadic": ("The list argument that methods take spread out too.", _TEXT),
    "operators": ("Python's special methods of the op, by kind.", _operators()),
    "aliases": ("Further public names.", _texts()),
    "doc": ("What the op computes, in a sentence.", _TEXT),
    "latex": ("The op as a formula, without dollar signs.", _TEXT),
    "subgradient": ("What the gradient is where there is no derivative.", _TEXT),
    "domain": (
        "The real numbers that an argument may be, as intervals.",
        {"type": "object", "additionalProperties": {"type": "string"}},
    ),
    "points": ("Exact gradients at special points: self=0.0, gradient=0.5.", _texts()),
    "reference": ("The value by other means, in NumPy or SciPy.", _TEXT),
    "surrogate": (
        "The function that the gradients differentiate, in NumPy or SciPy, where it is not the value.",
        _TEXT,
    ),
    "cancellation": ("Why float32 loses digits in the gradients' formulas.", _TEXT),
    "batch": (
        "How the op runs on a batch of slices: other ops in its place, elementwise, slices, indexing, values, or "
        "loop(why). Usual: by the types of the signature.",
        _TEXT,
    ),
    "core": ("The last dimensions of each tensor that belong to the op: (m,k),(k,n)->(m,n).", _TEXT),
    "samples": ("What the op is proven with: real(3, 4), other=2.5; several are separated by semicolons.", _texts()),
    "resets_accumulator": ("The accumulator of the gradient must be created again.", _FLAG),
    "out_of_place": ("Why there is no in-place form, and what to do instead.", _TEXT),
    "depends_on_layout": ("The result differs for other strides of the same elements.", _FLAG),
    "takes_numbers": ("The function takes a number for the first tensor too, and numbers alone: add(2, 3).", _FLAG),
    "takes_inplace": ("The function has a parameter `inplace`: relu(x, inplace=True).", _FLAG),
    "assignable": ("The property takes values, which are copied into the view: x.real = 1.", _FLAG),
    "prepare": (
        "What Python's forms do with an argument first: a function of runtime/calls/preparation.pxd.",
        {"type": "object", "additionalProperties": {"type": "string"}},
    ),
    "require": (
        "Conditions over numbers and attributes, each with what is wanted: {self.ndim == 2: a matrix is wanted}.",
        {"type": "object", "additionalProperties": {"type": "string"}},
    ),
    "let": (
        "Names for parts of the formulas, which backward computes once: {scale: rsqrt(self + eps)}.",
        {"type": "object", "additionalProperties": {"type": "string"}},
    ),
    "stops_gradient": ("The result depends on its input, and has no gradient nevertheless.", _FLAG),
}
