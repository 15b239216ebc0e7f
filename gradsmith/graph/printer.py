"""A model as the text of a C file and its header."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradsmith.graph.elementwise import NAMES_OF_LOOPS
from gradsmith.graph.layout import Array, Operand, Statement, indented, indices_of, nest
from gradsmith.graph.literals import c_type, literal
from gradsmith.graph.model import Model

MOST_STATEMENTS = 500  # of a C function; compilers take more than linear time
NUMBERS_IN_LINE = 6

SUM_OF_ROW = """\
/* Blocks of 4096 in 64 lanes, or 16 up to 512, the sums of blocks in double: the order of gradsmith's own sums. */
static double
sum_of_row_{name}(const {type} *x, ptrdiff_t n)
{{
    double sum = 0;
    for (ptrdiff_t first = 0; first < n; first += 4096) {{
        ptrdiff_t end = n - first < 4096 ? n : first + 4096, i = first;
        {type} lanes[64] = {{0}}, rest = 0;
        for (; n > 512 && i + 64 <= end; i += 64) {{
            for (int k = 0; k < 64; k++) {{
                lanes[k] += x[i + k];
            }}
        }}
        for (; i + 16 <= end; i += 16) {{
            for (int k = 0; k < 16; k++) {{
                lanes[k] += x[i + k];
            }}
        }}
        for (; i < end; i++) {{
            rest += x[i];
        }}
        for (int width = 32; width >= 1; width /= 2) {{
            for (int k = 0; k < width; k++) {{
                lanes[k] += lanes[k + width];
            }}
        }}
        sum += (double)lanes[0] + (double)rest;
    }}
    return sum;
}}
"""


def source_text(model: Model, name: str, origin: str) -> str:
    parts = [
        model.statements[first : first + MOST_STATEMENTS] for first in range(0, len(model.statements), MOST_STATEMENTS)
    ]
    functions = [_part(part, number, model) for number, part in enumerate(parts)]
    code = "\n".join([*functions, _entry(model, name, len(parts))])
    read = set(re.findall(r"\bconstant_\d+\b", code))  # that of a loop without elements is not
    body = "\n".join([*(_constant(one) for one in model.constants if one[0].name in read), code])
    return "\n".join([_head(name, origin), *_helpers(body), body])


def _head(name: str, origin: str) -> str:
    return (
        f"/* {origin}, exported by gradsmith. Compile with -ffp-contract=off. */\n"
        f'#include "{name}.h"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n\n'
        "#if !defined(__GNUC__) || defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n"
    )


def _helpers(body: str) -> list[str]:
    """What the text needs, and nothing else: an unused function is a warning."""
    names = [(own + f, plain + f) for own, plain in NAMES_OF_LOOPS.items() for f in ("", "f")]
    names += [
        (own.replace("_anywhere", "_anywheref"), plain + "f") for own, plain in NAMES_OF_LOOPS.items() if "any" in own
    ]
    found = [f"#define {own}(x) {plain}(x)" for own, plain in dict(names).items() if f"{own}(" in body]
    for dtype in ("float32", "float64"):
        if f"sum_of_row_{dtype}(" in body:
            found.append(SUM_OF_ROW.format(name=dtype, type=c_type(np.dtype(dtype))))
    return found


def _constant(constant: tuple[Any, Array]) -> str:
    buffer, array = constant
    numbers = [literal(number, array.dtype) for number in array.tolist()] or ["0"]
    rows = [", ".join(numbers[i : i + NUMBERS_IN_LINE]) for i in range(0, len(numbers), NUMBERS_IN_LINE)]
    values = ",\n    ".join(rows)
    return f"static const {c_type(array.dtype)} {buffer.name}[] = {{\n    {values},\n}};\n"


def _part(statements: tuple[Statement, ...], number: int, model: Model) -> str:
    written = [one for one in statements if 0 not in one.writes.shape]  # others have no lines
    used = {operand.buffer.name for one in written for operand in (*one.reads, one.writes)}
    parameters = [f"const {c_type(array.dtype)} *{buffer.name}" for buffer, array in model.inputs] + ["char *work"]
    unused = [buffer.name for buffer, _ in model.inputs if buffer.name not in used]
    unused += [] if "work" in used else ["work"]
    lines = [f"(void){name};" for name in unused]
    for statement in statements:
        lines += _statement(statement)
    return "\n".join(["static void", f"part_{number}({', '.join(parameters)})", "{", *indented(lines), "}", ""])


def _statement(statement: Statement) -> list[str]:
    target, reads = statement.writes, statement.reads
    lines = [f"const {c_type(one.dtype)} *a{i} = {_address(one)};" for i, one in enumerate(reads)]
    if 0 not in target.shape:
        lines.append(f"{c_type(target.dtype)} *r0 = {_address(target)};")
        lines += statement.lines
    else:
        lines = []
    title = statement.title.replace("*/", "* /").replace("\\", "/")
    return [f"{{ /* {title} */", *indented(lines), "}"]


def _address(operand: Operand) -> str:
    if operand.buffer.kind != "work":
        return operand.buffer.name
    return f"({c_type(operand.dtype)} *)(void *)(work + {operand.buffer.start})"


def _entry(model: Model, name: str, n_parts: int) -> str:
    size = f"size_t\n{name}_work_size(void)\n{{\n    return {max(model.work_size, 1)};\n}}\n"
    lines = [
        "char *work = memory;",
        *(f"(void){buffer.name};" for buffer, _ in model.inputs),
        "if (work == NULL) {",
        "    return 1;",
        "}",
    ]
    for operand, constant in model.starts:
        lines.append(f"memcpy({_address(operand)}, {constant}, sizeof {constant});")
    arguments = ", ".join([*(buffer.name for buffer, _ in model.inputs), "work"])
    lines += [f"part_{number}({arguments});" for number in range(n_parts)]
    for number, operand in enumerate(model.outputs):
        lines += _output(number, operand)
    text = "\n".join(indented([*lines, "return 0;"]))
    return f"{size}\n{prototype(model, name)}\n{{\n{text}\n}}\n"


def _output(number: int, operand: Operand) -> list[str]:
    if 0 in operand.shape:
        return [f"(void)out{number};"]
    copy = [f"*out{number}++ = {operand.at('a', indices_of(len(operand.shape)))};"]
    lines = [f"const {c_type(operand.dtype)} *a = {_address(operand)};", *nest(operand.shape, copy)]
    return ["{", *indented(lines), "}"]


def prototype(model: Model, name: str) -> str:
    parameters = [f"const {c_type(array.dtype)} *{buffer.name}" for buffer, array in model.inputs]
    parameters += [f"{c_type(one.dtype)} *out{number}" for number, one in enumerate(model.outputs)]
    return f"int\n{name}({', '.join([*parameters, 'void *memory'])})"


def header_text(model: Model, name: str, origin: str) -> str:
    guard = f"{name.upper()}_H"
    arguments = [f" *   {buffer.name}: {array.dtype.name}, shape {list(array.shape)}" for buffer, array in model.inputs]
    results = [f" *   out{i}: {one.dtype.name}, shape {list(one.shape)}" for i, one in enumerate(model.outputs)]
    notes = [
        f"/* {origin}, exported by gradsmith.", " *", *arguments, *results, " *",
        f" * Arrays are dense, by rows. `memory` has {name}_work_size() bytes, aligned as malloc's, and nothing",
        " * in it is kept: calls with memory of their own may run at the same time. Results must not overlap",
        " * arguments. Gives 0, or 1 where `memory` is NULL.", " */",
    ]  # fmt: skip
    lines = [
        f"#ifndef {guard}", f"#define {guard}", "", "#include <stddef.h>", "#include <stdint.h>", "",
        "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        *notes, f"{prototype(model, name)};", "", f"size_t {name}_work_size(void);", "",
        "#ifdef __cplusplus", "}", "#endif", "", "#endif", "",
    ]  # fmt: skip
    return "\n".join(lines)
