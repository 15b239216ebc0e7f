"""The examples in the docstrings of `gradsmith.distributions` print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import gradsmith.distributions

pytest.importorskip("scipy.special")
PACKAGE = gradsmith.distributions
MODULES = [PACKAGE.__name__, *(m.name for m in pkgutil.walk_packages(PACKAGE.__path__, f"{PACKAGE.__name__}."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert not doctest.testmod(module, optionflags=options).failed
