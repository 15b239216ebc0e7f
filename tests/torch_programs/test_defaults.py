"""Functions and classes have the defaults of PyTorch 2.13, in `defaults.txt`, for the arguments that both have."""

import ast
import importlib
import inspect
from functools import reduce
from pathlib import Path

import pytest

LINES = (Path(__file__).parent / "defaults.txt").read_text(encoding="utf-8").splitlines()


def found(name):
    """What is called `nn.functional.dropout` here; a module that nobody has imported yet is."""
    module, _, last = f"gradsmith.{name}".rpartition(".")
    try:
        return getattr(importlib.import_module(module), last)
    except ModuleNotFoundError:
        return reduce(getattr, name.split("."), importlib.import_module("gradsmith"))


@pytest.mark.parametrize("line", LINES)
def test_defaults_are_those_of_torch(line):
    name = line.partition("(")[0]
    wanted = {word.arg: ast.literal_eval(word.value) for word in ast.parse(line, mode="eval").body.keywords}
    own = inspect.signature(found(name)).parameters
    assert {key: repr(own[key].default) for key in wanted} == {key: repr(value) for key, value in wanted.items()}


def test_many_are_compared():
    assert len(LINES) > 400
