"""`inspect.signature` of every op and of every method, compared with the stubs."""

import ast
import inspect
from pathlib import Path

import pytest

import gradsmith as gs
from gradsmith.generated import __all__ as exported

PACKAGE = Path(gs.__file__).parent
CLASSES = ("generated/tensor.pyi", "runtime/tensors/variable.pyi", "runtime/graph/tensor.pyi")


def definitions(body):
    """Name -> the stubs of it, more than one where it is overloaded; a second name has those of the first."""
    found = {}
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            found.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
            found[statement.targets[0].id] = found.get(statement.value.id, [])
    return found


def stubs_of_functions():
    found = {}
    for path in sorted((PACKAGE / "generated").glob("*.pyi")):
        if path.stem != "tensor":
            found.update(definitions(ast.parse(path.read_text()).body))
    return {name: stubs for name, stubs in found.items() if name in exported and stubs}


def stubs_of_methods():
    found = {}
    for path in reversed(CLASSES):
        for statement in ast.parse((PACKAGE / path).read_text()).body:
            if isinstance(statement, ast.ClassDef) and statement.name in ("Tensor", "Variable", "TensorBase"):
                found.update(definitions(statement.body))
    return {name: stubs for name, stubs in found.items() if callable(getattr(gs.Tensor, name, None)) and stubs}


# Functions take these by no parameter: second_names.pyx, and tests/ops/forms/test_call_forms.py.
NUMPY_NAMES = ("axis", "keepdims")


def accepts(signature, stub, *leading):
    """Whether a call with every argument of the stub is one that the signature takes."""
    arguments = stub.args
    positional = [*leading, *(argument.arg for argument in arguments.posonlyargs + arguments.args)]
    keywords = {argument.arg: argument.arg for argument in arguments.kwonlyargs if argument.arg not in NUMPY_NAMES}
    try:
        signature.bind(*positional, **keywords)
    except TypeError:
        return False
    return True


FUNCTIONS = stubs_of_functions()
METHODS = stubs_of_methods()


def test_there_are_stubs_of_nearly_everything():
    assert len(FUNCTIONS) > 120 and len(METHODS) > 150


@pytest.mark.parametrize("name", sorted(set(exported) - {"Tensor"}))
def test_every_function_has_a_signature(name):
    signature = inspect.signature(getattr(gs, name))
    for stub in FUNCTIONS.get(name, ()):
        assert accepts(signature, stub), f"{name}{signature} does not take {ast.unparse(stub.args)}"


# Cython writes none for binary operators, which have one operand in any case.
WITHOUT = {f"__{side}{name}__" for side in ("", "r") for name in
           ["add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "and", "or", "xor",
            "lshift", "rshift"]}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(METHODS) - WITHOUT))
def test_every_method_has_a_signature(name):
    signature = inspect.signature(getattr(gs.Tensor, name))
    for stub in METHODS[name]:
        assert accepts(signature, stub), f"{name}{signature} does not take {ast.unparse(stub.args)}"


def test_signatures_in_words():
    assert str(inspect.signature(gs.add)) == "(input, other, *, alpha=None, out=None)"
    assert str(inspect.signature(gs.sum)) == "(input, dim=None, keepdim=False, *, dtype=None, out=None)"
    assert str(inspect.signature(gs.Tensor.add)) == "(self, /, other=None, *, alpha=None, x2=None)"
    assert str(inspect.signature(gs.ones(1).requires_grad_)) == "(requires_grad=True)"
    assert gs.add.__doc__.startswith("Sum of two tensors")
