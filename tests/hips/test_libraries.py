"""What libraries take from the inside of HIPS autograd, and gradsmith under its name."""

import subprocess
import sys
import textwrap

import numpy
import pytest

import gradsmith as gs
import gradsmith.compat.hips.numpy as np
from gradsmith.compat import hips
from gradsmith.compat.hips import builtins, core, differential_operators, grad
from gradsmith.compat.hips.boxes import ArrayBox
from gradsmith.compat.hips.extend import vspace
from gradsmith.compat.hips.numpy import numpy_vspaces
from gradsmith.compat.hips.tracer import Box, isbox, new_box, trace_stack
from gradsmith.compat.hips.vector_spaces import VSpace

X = numpy.array([0.5, -1.0, 2.0])


# ---- core


def test_operators_of_one_argument():
    vjp, value = core.make_vjp(lambda x: x**2, X)
    assert value.tolist() == (X**2).tolist() and vjp(X).tolist() == (2 * X**2).tolist()
    value, tangent = core.make_jvp(lambda x: x**2, X)(X)
    assert value.tolist() == (X**2).tolist() and tangent.tolist() == (2 * X**2).tolist()
    vjp, value = differential_operators._make_vjp(lambda x: x**2, 3.0)
    assert (value, vjp(1.0)) == (9.0, 6.0)
    assert differential_operators.unary_to_nary and differential_operators.vspace(X).size == 3
    assert core.VSpace is VSpace and hips.core is core


def independent(function, *args):
    """As libraries ask it."""
    with trace_stack.new_trace() as trace:
        start = new_box(args, trace, core.VJPNode.new_root())
        end = function(*start)
    return not (isbox(end) and end._trace == start._trace)


def test_traces_of_libraries():
    assert independent(lambda x: 3.0, X) and independent(lambda x, n: np.ones(n) * n, X, 2)
    assert not independent(lambda x: np.sum(x) * 2, X) and not independent(lambda x, n: x, 1.0, 2)
    outer = []
    grad(lambda y: outer.append(independent(lambda x: y * 2.0, 1.0)) or y)(1.0)
    grad(lambda y: outer.append(independent(lambda x: x * y, 1.0)) or y)(1.0)
    assert outer == [True, False]
    with trace_stack.new_trace() as trace:
        assert new_box(1.0, trace, None)._trace == trace and new_box([1.0], trace, None)[0]._trace == trace
        assert new_box({"a": X}, trace, None)["a"]._trace == trace
        with pytest.raises(TypeError, match="Can't differentiate"):
            new_box("text", trace, None)
    assert core.JVPNode.new_root(1.0).g == 1.0 and core.VJPNode.new_root().parents == []
    assert grad(lambda x: x * x._trace)(2.0) == -1.0  # of no trace of a library


def test_types_of_libraries(monkeypatch):
    class Measured(numpy.ndarray):
        pass

    def box(x, *args):
        if x[0] < 0:
            raise ValueError("not by negative ones")
        return ArrayBox(x, *args)

    monkeypatch.setitem(Box.type_mappings, Measured, box)
    monkeypatch.setitem(VSpace.mappings, Measured, lambda x: numpy_vspaces.ArrayVSpace(x))
    assert grad(lambda x: np.sum(x**2))(X.view(Measured)).tolist() == (2 * X).tolist()
    assert type(vspace(X.view(Measured))) is numpy_vspaces.ArrayVSpace
    with pytest.raises(ValueError, match="negative"):
        grad(lambda x: np.sum(x**2))((-X).view(Measured))
    with pytest.raises(ValueError, match="negative"):
        grad(lambda pair: np.sum(pair[1] ** 2))([1.0, (-X).view(Measured)])
    assert Box.type_mappings[numpy.ndarray] is ArrayBox and issubclass(ArrayBox, Box)


def test_kinds_of_spaces():
    kinds = [(1.0, "Array"), (X, "Array"), (1j, "ComplexArray"), (X + 1j, "ComplexArray"), ([1.0], "List"),
             ((1.0, X), "Tuple"), ({"a": 1.0}, "Dict"), (numpy.linalg.eigh(numpy.eye(2)), "NamedTuple")]  # fmt: skip
    for value, kind in kinds:
        assert type(vspace(value)).__name__ == f"{kind}VSpace"
    assert isinstance(vspace([1.0]), builtins.SequenceVSpace) and isinstance(vspace({}), builtins.ContainerVSpace)
    space = vspace(X)
    assert space.mut_add(None, X) is X and space.mut_add(X, X).tolist() == (2 * X).tolist()

    class Own:
        pass

    class OwnVSpace(VSpace):
        def __init__(self, value):
            self.size = 7

    try:
        OwnVSpace.register(Own)
        assert vspace(Own()).size == 7
    finally:
        del VSpace.mappings[Own]


def test_containers_of_their_names():
    assert builtins.list is not list and builtins.tuple is not tuple and builtins.dict is not dict
    assert type(builtins.list((1, 2))) is list and type(builtins.tuple([1])) is tuple
    assert builtins.dict({"a": 1}, b=2) == {"a": 1, "b": 2} and type(builtins.dict()) is dict
    assert isinstance([], builtins.list) and isinstance((), builtins.tuple) and isinstance({}, builtins.dict)
    assert not isinstance([], builtins.tuple) and builtins.isinstance((), builtins.tuple)
    seen = []

    def f(x):
        seen.append([isinstance(v, builtins.SequenceBox) for v in ([x], (1.0, [x]), [1.0], {"a": x})])
        seen.append([isinstance(v, builtins.DictBox) for v in ({"a": x}, {"a": 1.0}, [x])])
        return x

    grad(f)(1.0)
    assert seen == [[True, True, False, False], [True, False, False]]
    assert builtins.SequenceBox([1]) == [1] and builtins.DictBox({}) == {}


# ---- the name


LIBRARY = """
import autograd
import autograd.numpy as np
import autograd.scipy.stats.norm as norm
from autograd import grad, numpy, value_and_grad
from autograd.core import VSpace, make_vjp
from autograd.differential_operators import make_jvp_reversemode
from autograd.extend import defvjp, primitive
from autograd.numpy import exp, log
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.scipy.special import gammaln

names = dict(numpy.__dict__)
spaces = [dict(space.__dict__) for space in (numpy.linalg, numpy.fft, numpy.random)]
square = primitive(lambda x: x**2)
autograd.extend.defvjp(square, lambda ans, x: lambda g: g * 2 * x)

def fit():
    seen = []
    slope = grad(lambda x: seen.append(type(x).__module__) or exp(square(x)) + gammaln(x) + norm.logpdf(x))(1.0)
    return slope, seen[0]

def later():
    import autograd
    return autograd
"""


def run(program, folder):
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_a_library_that_imports_autograd(tmp_path):
    (tmp_path / "library.py").write_text(LIBRARY)
    program = """
    import math, sys
    sys.path.insert(0, ".")
    import gradsmith as gs
    for _ in range(2):
        with gs.compat.as_autograd() as autograd:
            import library
            assert library.later() is autograd is gs.compat.hips
            try:
                import autograd.nothing
            except ModuleNotFoundError as error:
                print(error)
    assert not [name for name in sys.modules if name.startswith("autograd")]
    slope, module = library.fit()
    assert abs(slope - (2 * math.e - 0.5772156649015329 - 1.0)) < 1e-9, slope
    assert module == "autograd.numpy.numpy_boxes"
    print(len(library.names) > 400 and {"sin", "linalg", "c_", "pi", "make_diagonal"} <= set(library.names))
    print([name in space for name, space in zip(("det", "fft", "uniform"), library.spaces)])
    print("__getattr__" in library.names, hasattr(library.numpy, "no such name"))
    """
    missing = "No module named 'autograd.nothing'. autograd.nothing has no counterpart in gradsmith."
    assert run(program, tmp_path) == [missing, missing, "True", "[True, True, True]", "False False"]


def test_not_beside_autograd(tmp_path):
    (tmp_path / "autograd.py").write_text("")
    program = """
    import sys
    sys.path.insert(0, ".")
    import autograd
    import gradsmith as gs
    try:
        gs.compat.as_autograd().__enter__()
    except RuntimeError as error:
        print(error)
    """
    assert run(program, tmp_path)[0].startswith("as_autograd(): HIPS autograd itself has been imported")
    assert "as_autograd" in gs.compat.__all__
