"""Signatures of NumPy's functions in C, which older NumPys do not tell."""

import functools
import inspect
import types

import numpy as np
import pytest

import gradsmith.numpy_protocols.signatures as signatures
from gradsmith.numpy_protocols.table import TABLE

KNOWN = signatures._OF_FUNCTIONS_IN_C


def python_alone(func):
    """`inspect.signature` as it is where functions in C do not tell theirs."""
    if not isinstance(func, types.FunctionType):
        raise ValueError(f"no signature found for builtin {func}")
    return inspect.Signature.from_callable(func)


@pytest.mark.parametrize("name", KNOWN)
def test_they_are_numpys(name, monkeypatch):
    told = (
        inspect.signature(getattr(np, name)) if np.lib.NumpyVersion(np.__version__) >= "2.4.0" else f"({KNOWN[name]})"
    )
    monkeypatch.setattr(signatures.inspect, "signature", python_alone)
    assert str(signatures.signature_of(getattr(np, name))) == str(told)


def test_every_function_in_c_has_one():
    functions = [functools.reduce(lambda part, n: getattr(part, n, None), name.split("."), np) for name in TABLE]
    in_c = [f for f in functions if f is not None and not isinstance(f._implementation, types.FunctionType)]
    assert len(in_c) > 5 and {f.__name__ for f in in_c} <= KNOWN.keys()
