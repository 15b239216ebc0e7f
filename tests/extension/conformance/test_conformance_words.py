"""The conformance table has every word of the language: those that the generator knows, by its own lists.

A word that is added to the language fails here until an entry of conformance.yaml has it, where it is proven.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import get_args

import pytest
import yaml
from outside_tables import CONFORMANCE

from codegen.entries import reader
from codegen.entries.forms import PRESETS
from codegen.model import FORMS, ForwardKind, TangentRule
from codegen.resolve import comprehensions, operators
from codegen.spec import helpers, schema_types, vocabulary
from codegen.spec.schema import Signature

ENTRIES = [entry for entries in yaml.safe_load(CONFORMANCE.read_text()).values() for entry in entries]

# Words that this table does not have, and why.
REASONS = {
    "a table outside of gradsmith has no such thing, or no such op": "operators erfc lgamma",
    "gradsmith's own ops alone need them, and prove them": " ".join(vocabulary.PREPARATIONS) + " prepare"
    " chunk_sizes equal_parts moved_dims narrow_index select_index geometry strided slice",
    "a constant that no difference is compared with, in a formula": "inf nan",
    "tests/extension/language.yaml has them: one text for two is read letter by letter": "str[n]",
    "tensors of it have no gradient, so that no formula meets it": "bool uint8 int8 int16 int32 int64",
    "tests/extension/language.yaml has it: the op looks into what it gets, which no proof can vary": "object",
}
WITHOUT = {word for text in REASONS.values() for word in text.split()}

# ---- what the language has


def types() -> set[str]:
    optional = {f"{name}?" for name in schema_types.OPTIONAL_TYPES}
    lists = {f"{name}[]" for name in schema_types.LIST_TYPES} | {f"{name}[]?" for name in schema_types.LIST_TYPES}
    sized = {f"{name}[n]" for name in schema_types.SIZED_TYPES}
    memory = {"Tensor(a)", "Tensor(a)[]", "Tensor(a!)", "Tensor(b!)"}
    return {*schema_types.SCHEMA_TYPES, *optional, *lists, *sized, *memory, "Tensor?[]", "Tensor|Scalar"}


def symbols() -> set[str]:
    binary = {symbol for symbol, *_ in operators.BINARY_OPERATORS.values()}
    compared = {symbol for symbol, *_ in operators._COMPARE.values()}
    return binary | compared | {"unary -", "~", "and", "or", "not", "in", "not in", "is", "is not", "if", "[]", "*x"}


LANGUAGE = {
    "keys": set(reader.KEYS),
    "types": types(),
    "forms": {*FORMS, *PRESETS},
    "forwards": set(get_args(ForwardKind)),
    "rules of tangents": set(get_args(TangentRule)) - {"formula"},
    "values of formulas": {"non_differentiable", "not_implemented"},
    "names in formulas": {"grad", "grads", "result", vocabulary.GRAD_INPUT_MASK, *vocabulary.RUN_FACTS},
    "constants": set(vocabulary.CONSTANTS),
    "dtypes": set(vocabulary.DTYPES),
    "attributes": {*(vocabulary.ATTRIBUTES.keys() - vocabulary.UNDOTTED_ATTRIBUTES.keys()), "size", "dim"},
    "attributes of lists": vocabulary.LIST_ATTRIBUTES.keys() - vocabulary.UNDOTTED_ATTRIBUTES.keys(),
    "operators": symbols(),
    "functions of lists": {*comprehensions._OF_LISTS, "len", "range", "enumerate", "zip", "reversed"},
    "functions of numbers": {s.base for m in ("numbers", "builtins") for s in helpers.helper_signatures()[m]},
    "functions of loops": {Signature.parse(line.strip()).base for line in vocabulary.INTRINSICS.strip().splitlines()},
    "names in samples": set(vocabulary.SAMPLE_NAMES),
    "names in points": set(vocabulary.NUMBER_NAMES),
    "preparations": set(vocabulary.PREPARATIONS),
}


# ---- what the table has


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from (str(key), *texts_of(part))
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part)
    else:
        yield str(value)


def formulas(entry: dict[str, object]) -> Iterator[str]:
    for key, value in entry.items():
        if key not in reader.KEYS:
            yield str(value)
    yield from (text for text in texts_of(list(dict(entry.get("let", {})).values())))
    yield from dict(entry.get("require", {}))
    forward = str(entry.get("forward", ""))
    if forward.startswith(("composite(", "pointwise(")):
        yield forward.partition("(")[2][:-1]
    yield from (text for text in texts_of(entry.get("output_differentiability", [])))


def trees(texts: Iterator[str]) -> Iterator[ast.AST]:
    for text in texts:
        yield from ast.walk(ast.parse(text.strip().replace("\n", " "), mode="eval"))


def names(nodes: Iterator[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


_SYMBOLS = {
    **{kind: symbol for kind, (symbol, *_) in operators.BINARY_OPERATORS.items()},
    **{kind: symbol for kind, (symbol, *_) in operators._COMPARE.items()},
    ast.USub: "unary -", ast.Invert: "~", ast.And: "and", ast.Or: "or", ast.Not: "not", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not", ast.IfExp: "if", ast.List: "[]", ast.Starred: "*x",
}  # fmt: skip


def types_used() -> Iterator[str]:
    for entry in ENTRIES:
        signature = Signature.parse(str(entry.get("name", entry.get("function"))))
        for one in (*signature.arguments, *signature.returns):
            text = re.sub(r"\[\d+\]", "[n]", str(one.type))
            yield text
            yield re.sub(r"\([a-z]!?\)", "", text)


def used(kind: str) -> set[str]:
    """The words of one kind that the table has."""
    in_formulas = set(names(trees(text for entry in ENTRIES for text in formulas(entry))))
    match kind:
        case "keys":
            return {key for entry in ENTRIES for key in entry}
        case "types":
            return set(types_used())
        case "forms":
            return {text for entry in ENTRIES for text in texts_of(entry.get("variants", []))}
        case "forwards":
            return {str(entry.get("forward", "")).partition("(")[0] for entry in ENTRIES}
        case "rules of tangents" | "values of formulas":
            return {text.partition("(")[0] for entry in ENTRIES for text in formulas(entry)}
        case "operators":
            nodes = trees(text for entry in ENTRIES for text in formulas(entry))
            return {_SYMBOLS[type(node)] for node in nodes if type(node) in _SYMBOLS}
        case "functions of loops":
            loops = (str(e["forward"])[10:-1] for e in ENTRIES if str(e.get("forward", "")).startswith("pointwise("))
            return set(names(trees(loops)))
        case "names in samples":
            return {w for e in ENTRIES for text in texts_of(e.get("samples", [])) for w in re.findall(r"\w+", text)}
        case "names in points":
            return {w for e in ENTRIES for text in texts_of(e.get("points", [])) for w in re.findall(r"\w+", text)}
        case "preparations":
            return {text.partition("(")[0] for e in ENTRIES for text in texts_of(e.get("prepare", {}))}
    return in_formulas


@pytest.mark.parametrize("kind", LANGUAGE)
def test_every_word_is_in_the_conformance_table(kind: str) -> None:
    missing = LANGUAGE[kind] - used(kind) - WITHOUT
    assert not missing, f"conformance.yaml needs an entry with: {', '.join(sorted(missing))}"
