"""The examples in the docstrings of `gradsmith.stats` print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import gradsmith.stats

pytest.importorskip("scipy.special")
PACKAGE = gradsmith.stats
MODULES = [PACKAGE.__name__, *(m.name for m in pkgutil.walk_packages(PACKAGE.__path__, f"{PACKAGE.__name__}."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    assert not doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).failed
