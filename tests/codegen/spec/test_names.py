"""Names of the table that mean something in C or in generated modules."""

import builtins
import io
import keyword
import re
import shutil
import subprocess
import sysconfig
import tokenize
from pathlib import Path

import numpy as np
import pytest
from own_table import own_table

from codegen.loops import terms
from codegen.loops.c_names import c_name
from codegen.spec import reserved
from codegen.spec.reserved import derived_names, is_taken, is_taken_by_module
from codegen.spec.schema import Signature
from codegen.write.render import TEMPLATES

ROOT = Path(__file__).resolve().parents[3]


# ---- C


@pytest.mark.parametrize("name", ["linux", "errno", "NAN", "I", "EOF", "M_PI", "exp", "expf", "double", "n", "part_1"])
def test_names_that_c_has_are_changed(name: str) -> None:
    assert c_name(name) == f"{name}_"


@pytest.mark.parametrize("name", ["self", "other", "gamma", "index", "y0", "weight_decay", "x2"])
def test_other_names_are_kept(name: str) -> None:
    assert c_name(name) == name


def test_no_two_names_become_one() -> None:
    names = ["n", "n_", "n__", "part", "part_1", "part_1_"]
    assert len({c_name(name) for name in names}) == len(names)


def test_functions_that_loops_call_are_changed() -> None:
    operands = [terms.Term("input", name=name) for name in "abc"]
    built = []
    for build in (*terms.UFUNC_TERMS.values(), *terms.NAMED_TERMS.values()):
        for count in (1, 2, 3):
            try:
                built.append(build(*operands[:count]))
            except TypeError:
                continue
    called = {term.name for whole in built for term in whole.steps() if term.kind == "call"}
    assert {"tanh", "pow", "copysign", "lgamma"} <= called
    assert all(c_name(name) != name and c_name(f"{name}f") != f"{name}f" for name in called)


def test_macros_of_the_headers_are_changed() -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or "clang"
    folders = [sysconfig.get_paths()["include"], np.get_include(), ROOT / "runtime/arrays/kernels", ROOT / "generated"]
    header = ROOT / "generated/unary_kernels.h"
    command = [compiler, "-dM", "-E", "-x", "c", *(f"-I{folder}" for folder in folders), str(header)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    objects = set(re.findall(r"^#define ([a-z]\w*)(?: |$)", text, re.MULTILINE))
    assert "errno" in objects
    assert not {name for name in objects if c_name(name) == name}


# ---- generated modules


def test_what_generated_modules_import_is_taken() -> None:
    text = (ROOT / "generated" / "reduce.pyx").read_text(encoding="utf-8")
    imports = text[: text.index("# ---- ")]
    names = {t.string for t in tokenize.generate_tokens(io.StringIO(imports).readline) if t.type == tokenize.NAME}
    imported = names & {"wrap", "carry_tangents", "Overloads", "np"}
    assert len(imported) == 4
    assert all(is_taken(name, pointwise=False, joint=False) for name in imported)
    assert all(is_taken_by_module(name) for name in imported)


@pytest.mark.parametrize(
    "name", ["cdef", "sizeof", "int", "depth", "len", "wanted", "op_mul", "MULTIPLY", "EXP_FORWARD"]
)
def test_names_around_arguments(name: str) -> None:
    assert is_taken(name, pointwise=False, joint=False)


@pytest.mark.parametrize("name", ["linux", "errno", "self", "input", "weight", "apply", "operands", "parts", "ADD_"])
def test_names_that_are_free(name: str) -> None:
    assert not is_taken(name, pointwise=False, joint=False)


def test_names_of_some_entries() -> None:
    assert is_taken("operands", pointwise=True, joint=False)
    assert is_taken("parts", pointwise=False, joint=True)


def test_names_after_others() -> None:
    derived = derived_names(Signature.parse("f(Tensor self, Tensor[] others, int n) -> (Tensor low, Tensor high)"))
    assert derived["self_t"] == "self" and derived["others_count"] == "others" and derived["low_array"] == "low"
    assert "n_t" not in derived
    assert derived["input"] == "self" and "axis" not in derived


# ---- the lists of reserved names, compared with the templates and with what is made of them

# Their text ends up around the arguments of an op.
AROUND_ARGUMENTS = ("family", "methods", "node", "face")
NOT_TEXT = re.compile(r'\{#.*?#\}|\{%.*?%\}|"""[^"]*"""|"[^"\n]*"|#[^\n]*', re.DOTALL)
EXPRESSIONS = re.compile(r"\{\{.*?\}\}", re.DOTALL)
METHODS = re.compile(r"(?:cdef|cpdef)[\w ]* \w+(?=\(self)")
NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def names_in(template: str) -> set[str]:
    """Names in the text of a template that are no attributes, and no part of one that an expression completes."""
    text = (TEMPLATES / f"{template}.pyx.j2").read_text(encoding="utf-8")
    text = METHODS.sub(" ", EXPRESSIONS.sub("{}", NOT_TEXT.sub(" ", text)))
    found = {m[0] for m in NAMES.finditer(text) if "{}" not in text[max(m.start() - 2, 0) : m.end() + 2]}
    return found - reserved.CYTHON_WORDS - set(keyword.kwlist) - {"self"}


def test_what_is_reserved_is_what_the_templates_use() -> None:
    of_module = names_in("family")
    around = set().union(*map(names_in, AROUND_ARGUMENTS))
    in_python = set(dir(builtins))
    assert of_module - in_python == reserved.MODULE_NAMES
    assert (of_module | around) & in_python <= reserved.CALLED_BUILTINS
    assert around - of_module - in_python <= reserved.LOCAL_NAMES


# ``cdef TensorBase a, b``, ``a, b = ...`` and parameters of C functions, as far as their names are written out.
DECLARED = re.compile(r"^ +cdef [\w ]*?[\w*]+ \**((?:\w+(?: = None)?(?:, )?)+)(?= =|$|\[)", re.MULTILINE)
ASSIGNED = re.compile(r"^ +((?:\w+, ?)*\w*),? = ", re.MULTILINE)
PARAMETERS = re.compile(r"^ *cdef \w+ \w+\(([^()]*)\)", re.MULTILINE)


def declared_in(text: str) -> set[str]:
    """Names that the functions of a generated module give a value."""
    code = re.sub(r'""".*?"""', "", text[text.index("# ---- ") :], flags=re.DOTALL)
    groups = [match[1] for pattern in (DECLARED, ASSIGNED, PARAMETERS) for match in pattern.finditer(code)]
    return {
        item.replace(" = None", "").split()[-1].strip("*")
        for group in groups
        for item in group.split(",")
        if item.strip()
    }


def test_what_functions_declare_is_reserved_or_made_of_names_in_the_table() -> None:
    table = own_table()
    given = {"self"} | {name for op in table.ops for name, _ in op.lets}
    for signature in (variant.signature for op in table.ops for variant in op.variants):
        arguments = {argument.name for argument in signature.arguments}
        given |= arguments | set(signature.output_names) | derived_names(signature).keys()
    found = set().union(*(declared_in(path.read_text(encoding="utf-8")) for path in FAMILIES))
    strangers = {
        name
        for name in found - given
        if not (is_taken(name, pointwise=True, joint=True) or re.search(r"_of_|_part|^grad|^_(raw_)?saved_", name))
    }
    assert {"depth", "given", "tangents", "node"} <= found
    assert not strangers


FAMILIES = sorted(p for p in (ROOT / "generated").glob("*.pyx") if p.stem != "tensor")
