"""The examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import gradsmith.optim

MODULES = [module.name for module in pkgutil.walk_packages(gradsmith.optim.__path__, "gradsmith.optim.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert not doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed
