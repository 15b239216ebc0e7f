"""The examples in the docstrings."""

import doctest
import importlib

import pytest

import gradsmith as gs

MODULES = [
    "func",
    "func.forward",
    "func.implicit",
    "func.jacobians",
    "func.mapping",
    "func.mutations",
    "func.reverse",
    "func.sparse.pattern",
    "func.sparse.transforms",
    "func.stateless",
    "runtime.batching.fallback",
    "utils.pytree",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, attempted = doctest.testmod(importlib.import_module(f"gradsmith.{name}"))
    assert attempted and not failed


@pytest.mark.parametrize("name", gs.func.__all__)
def test_every_transform_has_an_example(name):
    assert ">>> " in getattr(gs.func, name).__doc__
