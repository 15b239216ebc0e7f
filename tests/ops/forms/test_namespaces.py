"""Functions of namespaces, ``gs.linalg.det``, and families that are imported on first use."""

import inspect
import pickle
import subprocess
import sys

import pytest

import gradsmith as gs
from gradsmith.codegen.spec.names import name_within, namespace_of
from gradsmith.codegen.spec.vocabulary import LAZY_FAMILIES, NAMESPACES
from gradsmith.generated.op_table import OPS

FUNCTIONS = sorted(
    (name, row)
    for row in OPS
    if "internal" not in row.forms and "function" in row.forms and not row.overload
    for name in (row.base, *row.aliases)
    if namespace_of(name)
)
OWN = [(name, row) for name, row in FUNCTIONS if name == row.base]


def function_of(name):
    return getattr(getattr(gs, namespace_of(name)), name_within(name))


def printed(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(("name", "row"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_functions_are_in_their_namespace_alone(name, row):
    module = getattr(gs, namespace_of(name))
    assert callable(function_of(name)) and name_within(name) in module.__all__
    assert not hasattr(gs, name) and not hasattr(gs.Tensor, name)


@pytest.mark.parametrize(("name", "row"), OWN, ids=[name for name, _ in OWN])
def test_names_that_functions_show(name, row):
    function = function_of(name)
    assert function.__name__ == name_within(name)
    assert function.__module__ == f"gradsmith.{namespace_of(name)}"
    assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(TypeError, match=rf"{name_within(name)}\(\)|missing|no overload"):
        function()


def test_namespaces_are_modules_with_docstrings():
    for name in NAMESPACES:
        module = getattr(gs, name)
        assert inspect.ismodule(module) and module.__doc__ and name in gs.__all__
    with pytest.raises(AttributeError, match="has no attribute 'linalk'"):
        gs.linalk  # noqa: B018


def test_lazy_families_are_imported_on_first_use():
    code = "import sys, gradsmith as gs; print(*(m for m in sys.modules if m.startswith('gradsmith.generated.')))"
    found = {name.rpartition(".")[2] for name in printed(code)}
    assert "arithmetic" in found and not found & LAZY_FAMILIES
    assert not LAZY_FAMILIES & set(gs.generated.LAZY) & set(gs.__all__)  # a module would hide the op of its name


@pytest.mark.parametrize("use", ["gs.det(x)", "x.det()", "gs.linalg.det(x)", "gs.generated.det(x)"])
def test_each_way_to_a_lazy_op(use):
    code = f"import sys, gradsmith as gs; x = gs.eye(2); print(*({use}.item(), 'det' in dir(gs)))"
    assert printed(code) == ["1.0", "True"]


def test_lazy_methods_have_signatures_and_names_of_numpy():
    assert str(inspect.signature(gs.Tensor.det)) == "(self, /)"
    assert str(inspect.signature(gs.det)) == "(input, *, out=None)"
    assert gs.det(x=gs.eye(2)).item() == gs.linalg.det(A=gs.eye(2)).item() == 1


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match=r"'gradsmith.generated' has no attribute 'dett'"):
        gs.generated.dett  # noqa: B018
