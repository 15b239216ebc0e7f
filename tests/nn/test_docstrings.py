"""The examples in the docstrings of `gradsmith.nn` print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import gradsmith.nn

MODULES = ["gradsmith.nn", *(found.name for found in pkgutil.walk_packages(gradsmith.nn.__path__, "gradsmith.nn."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    assert not doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).failed
