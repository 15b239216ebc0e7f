"""The example, shapes and dtypes of an op's section in the reference, found by running the samples of its entry."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from page_parts import code_list

import gradsmith as gs
from gradsmith.codegen.spec.names import name_within, namespace_of
from gradsmith.generated.op_table import OPS, OpRow
from gradsmith.verify.calls import call
from gradsmith.verify.samples import Case, Values, as_tensors, cases_of, key_of, places_of, replaced
from gradsmith.verify.seeds import is_generator

ROWS = {key_of(row): row for row in OPS}

MOST_ELEMENTS = 90  # of the tensors in an example
WIDTH = 110
DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")
NAMES_OF_VALUES = ("x", "y", "z", "u", "v", "w")


# ---- an example


def example(row: OpRow) -> str:
    """A session that calls the op, or nothing where users do not."""
    if not row.forms or "internal" in row.forms or is_random(row):
        return ""
    case = readable_case(row)
    if case is None:
        return ""
    values = rounded(case)
    texts, lines = named(values)
    return session([*lines, call_text(row, texts)])


def is_random(row: OpRow) -> bool:
    return any(map(is_generator, row.arguments))


def readable_case(row: OpRow) -> Case | None:
    """Of the samples without an object that has no short text, the one of fewest elements."""
    shown = [case for case in cases_of(row) if all(map(is_short, case.values().values()))]
    case = min(shown, key=lambda case: elements(case.values()), default=None)
    return case if case and elements(case.values()) <= MOST_ELEMENTS else None


def elements(values: Values) -> int:
    return sum(array.size for _, array in places_of(values))


def is_short(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(is_short, value))
    return isinstance(value, (np.ndarray, int, float, complex, str, slice, np.dtype, type(None), type(...)))


def rounded(case: Case) -> Values:
    """The sample's numbers with one digit after the point."""
    values = case.values()
    return replaced(values, {place: plain(array) for place, array in places_of(values)})


def plain(array: np.ndarray) -> np.ndarray:
    return np.asarray(np.round(array, 1) + 0.0) if array.dtype.kind in "fc" else array  # no minus zero


def named(values: Values) -> tuple[dict[str, str], list[str]]:
    """A text for each argument, and the lines that make its tensors."""
    free = iter(NAMES_OF_VALUES)
    texts: dict[str, str] = {}
    lines = []
    for argument, value in values.items():
        texts[argument] = value_text(argument, value)
        if isinstance(value, np.ndarray) or (isinstance(value, list) and any(map(is_array, value))):
            name = next(free)
            lines.append(f"{name} = {texts[argument]}")
            texts[argument] = name
    return texts, lines


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def value_text(argument: str, value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"gs.tensor({value.tolist()})" if value.size else f"gs.zeros({list(value.shape)})"
    if isinstance(value, list):
        return f"[{', '.join(value_text('', part) for part in value)}]"
    return f"gs.{np.dtype(value)}" if argument == "dtype" and value is not None else repr(value)


def call_text(row: OpRow, texts: dict[str, str]) -> str:
    if row.forms[0] == "property":
        return f"{texts['self']}.{row.base}"
    is_method = row.forms[0] == "method"
    given: list[str] = []
    left_out = False
    for argument in row.arguments:
        left_out = left_out or argument.name not in texts
        if argument.name not in texts or (is_method and argument.name == "self"):
            continue
        by_name = left_out or argument.keyword_only or argument.default is not None
        given.append(f"{argument.name}={texts[argument.name]}" if by_name else texts[argument.name])
    face = f"{texts['self']}.{row.base}" if is_method else public_name(row.base)
    return f"{face}({', '.join(given)})"


def public_name(name: str) -> str:
    space = namespace_of(name)
    return f"gs.{space}.{name_within(name)}" if space else f"gs.{name}"


def session(lines: list[str]) -> str:
    """The lines as typed, with what the last one shows."""
    names: dict[str, Any] = {"gs": gs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines[:-1]:
            exec(line, names)
        result = eval(lines[-1], names)
    shown = repr(result)
    if "\n\n" in shown and isinstance(result, gs.Tensor):  # too long to read, and doctest stops at empty lines
        lines[-1], shown = f"{lines[-1]}.shape", repr(result.shape)
    shown = shown.replace("\n\n", "\n<BLANKLINE>\n")
    return "\n".join([*(wrapped(line) for line in lines), shown])


def wrapped(line: str) -> str:
    """A statement behind its prompt, broken at commas where it is long."""
    if len(line) <= WIDTH:
        return f">>> {line}"
    first, *rest = textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f">>> {first}", *(f"... {part}" for part in rest)])


# ---- shapes


def shapes(row: OpRow) -> list[str]:
    """Calls of different shapes, and those of the results: ``(3, 4), dim=1 -> (3,)``."""
    found = [shape_text(row, case.values()) for case in cases_of(row)]
    return list(dict.fromkeys(text for text in found if text))[:3]


def shape_text(row: OpRow, values: Values) -> str:
    if is_random(row):
        return ""
    result = quietly(lambda: call(row, as_tensors(values)))
    given = [f"{'' if name in ('self', 'other') else name + '='}{short(name, value)}" for name, value in values.items()]
    text = f"{', '.join(given)} -> {short('', result)}"
    return text if len(text) <= WIDTH else ""


def short(argument: str, value: Any) -> str:
    """A value, of which shapes say enough."""
    if isinstance(value, (np.ndarray, gs.Tensor)):
        return repr(tuple(value.shape))
    if isinstance(value, (list, tuple)) and any(isinstance(part, (np.ndarray, gs.Tensor)) for part in value):
        parts = ", ".join(short("", part) for part in value)
        return f"[{parts}]" if isinstance(value, list) else parts
    return value_text(argument, value)


def quietly(run: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run()


# ---- dtypes


def dtypes(row: OpRow) -> str:
    """The dtype of the result for each that the tensors may have."""
    if is_random(row):
        return ""
    given: dict[str, list[str]] = {}
    for name in DTYPES:
        result = result_dtype(row, name)
        given.setdefault("the same" if result == name else result, []).append(name)
    refused = given.pop("", [])
    parts = [
        f"{code_list(names)} → {result if result == 'the same' else f'`{result}`'}" for result, names in given.items()
    ]
    return "; ".join([*parts, f"not {code_list(refused)}"] if refused and parts else parts)


def result_dtype(row: OpRow, name: str) -> str:
    """Of the first result, or "" where the op refuses the dtype."""
    values = Case(row, 0).values(np.complex128 if name.startswith("complex") else np.float64)
    floats = {place: array for place, array in places_of(values) if array.dtype.kind in "fc"}
    if not floats:
        return ""
    try:
        cast = quietly(lambda: {place: array.astype(name) for place, array in floats.items()})
        result = quietly(lambda: call(row, as_tensors(replaced(values, cast))))
    except (TypeError, RuntimeError, NotImplementedError, ValueError):
        return ""
    while isinstance(result, (list, tuple)) and result:
        result = result[0]
    return str(result.dtype) if isinstance(result, gs.Tensor) else type(result).__name__
