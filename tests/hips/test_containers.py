"""Primitives that are given, and give, lists, tuples and dicts of boxes."""

import collections
import dataclasses

import numpy
import pytest

import gradsmith.compat.hips.numpy as np
from gradsmith.compat.hips import builtins, deriv, grad, jacobian, make_jvp
from gradsmith.compat.hips.extend import (
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    primitive,
    register_notrace,
)
from gradsmith.compat.hips.test_util import check_grads

X = numpy.array([0.5, -1.0, 2.0])


def product():
    made = primitive(lambda p: p[0] * p[1])
    defvjp(made, lambda ans, p: lambda g: [g * p[1], g * p[0]])
    defjvp(made, lambda g, ans, p: g[0] * p[1] + g[1] * p[0])
    return made


@pytest.mark.parametrize("kind", [list, tuple, builtins.list, builtins.tuple, collections.UserList])
def test_sequences(kind):
    f = product()
    pair = type("Pair", (list,), {}) if kind is collections.UserList else kind  # derived from list
    assert grad(lambda x: f(pair([x, 2 * x])))(3.0) == 12.0
    assert grad(grad(lambda x: f(pair([x, x * x]))))(3.0) == 18.0
    assert deriv(deriv(lambda x: f(pair([x, x * x]))))(3.0) == 18.0
    assert grad(lambda x: f(pair([x, 2.0])))(3.0) == 2.0 and grad(lambda x: f(pair([2.0, x])))(3.0) == 2.0
    assert make_jvp(lambda x: f(pair([5.0, x])))(3.0)(1.0)[1] == 5.0
    numpy.testing.assert_allclose(jacobian(lambda x: f(pair([x, x])))(X), numpy.diag(2 * X))


def test_arguments_of_operators():
    f = product()
    assert grad(f)([3.0, 2.0]) == [2.0, 3.0] and grad(f)((3.0, 2.0)) == (2.0, 3.0)
    assert make_jvp(f)([3.0, 2.0])([1.0, 10.0])[1] == 32.0
    check_grads(f, order=3)([0.5, 1.5])


def test_depths():
    @primitive
    def f(p):
        return p["a"] * p["b"][0] ** 2 + p["b"][1][0]

    defvjp(f, lambda ans, p: lambda g: {"b": [2 * g * p["a"] * p["b"][0], (g,)], "a": g * p["b"][0] ** 2})
    assert grad(f)({"a": 2.0, "b": [3.0, (4.0,)]}) == {"a": 9.0, "b": [12.0, (1.0,)]}
    assert grad(lambda x: f({"a": x, "b": [x, (x,)]}))(2.0) == 13.0
    assert grad(lambda x: f(builtins.dict(a=x, b=[1.0, (7.0,)])))(2.0) == 1.0
    assert grad(grad(lambda x: f(collections.OrderedDict(a=x, b=[x, (x,)]))))(2.0) == 12.0


def test_classes():
    Point = collections.namedtuple("Point", "x y")

    @dataclasses.dataclass
    class Pair:
        x: object
        y: object

    f = primitive(lambda p: p.x * p.y)
    for cls in (Point, Pair):
        defvjp(f, lambda ans, p, cls=cls: lambda g: cls(g * p.y, g * p.x))
        assert grad(lambda x, cls=cls: f(cls(x, x**2)))(3.0) == 27.0


def test_several_arguments():
    def rules(kind):
        f = primitive(lambda a, b, scale=1.0: scale * a[0] * b)
        if kind == "all":
            defvjp_argnums(
                f, lambda ns, ans, args, kw: lambda g: ([g * args[1]] if n == 0 else g * args[0][0] for n in ns)
            )
            defjvp_argnums(
                f,
                lambda ns, gs, ans, args, kw: sum(g[0] * args[1] if n == 0 else g * args[0][0] for n, g in zip(ns, gs)),
            )
        elif kind == "each":
            defvjp_argnum(f, lambda n, ans, args, kw: lambda g: (g * args[1],) if n == 0 else g * args[0][0])
            defjvp_argnum(f, lambda n, g, ans, args, kw: g[0] * args[1] if n == 0 else g * args[0][0])
        else:
            defvjp(f, lambda ans, a, b: lambda g: [g * b], lambda ans, a, b: lambda g: g * a[0])
            defjvp(f, lambda g, ans, a, b: g[0] * b, lambda g, ans, a, b: g * a[0])
        return f

    for kind in ("all", "each", "by place"):
        f = rules(kind)
        assert grad(f, (0, 1))([2.0], 5.0) == ([5.0], 2.0)
        assert grad(lambda x, f=f: f([x], x**2))(3.0) == 27.0 and grad(f, 1)([2.0], 5.0) == 2.0
        check_grads(f, (0, 1))([0.5], 1.5)


def test_results():
    @primitive
    def f(p, q):
        return {"s": p[0] * q, "d": (p[1] - q, "text"), "n": None}

    defvjp(
        f,
        lambda ans, p, q: lambda g: [g["s"] * q, g["d"][0]],
        lambda ans, p, q: lambda g: g["s"] * p[0] - g["d"][0],
    )
    defjvp(
        f,
        lambda g, ans, p, q: {"s": g[0] * q, "d": (g[1],)},
        lambda g, ans, p, q: {"s": p[0] * g, "d": (-g,)},
    )

    def h(x):  # x**2 * (x**2 - x)
        found = f([x, x**2], x)
        assert found["d"][1] == "text" and found["n"] is None
        return found["s"] * found["d"][0]

    assert grad(h)(3.0) == 4 * 27 - 3 * 9 and grad(grad(h))(3.0) == 12 * 9 - 6 * 3
    assert deriv(h)(3.0) == 81.0 and deriv(grad(h))(3.0) == 90.0
    assert grad(lambda x: f([x, 1.0], 2.0)["s"])(3.0) == 2.0  # a part of the result alone


def test_rules_may_leave_the_form():
    @primitive
    def total(p):
        return p[0] * p[1]

    defvjp(total, lambda ans, p: lambda g: np.array([g * p[1], g * p[0]]))
    assert grad(lambda x: total([x, 2 * x]))(3.0) == 12.0  # an array for a list
    defvjp(total, lambda ans, p: lambda g: [None, g * p[0]])
    assert grad(lambda x: total([x, 2 * x]))(3.0) == 6.0
    defvjp(total, None)
    assert grad(lambda x: total([x, 2 * x]) + x)(3.0) == 1.0
    linear = primitive(lambda p: [p[1], p[0]])
    defjvp(linear, "same")
    assert make_jvp(lambda x: linear([x, 2 * x])[0])(3.0)(1.0)[1] == 2.0
    assert make_jvp(lambda x: linear([x, 7.0])[0])(3.0)(1.0)[1] == 0.0
    register_notrace(None, linear)
    assert grad(lambda x: linear([x, 7.0])[1] * x)(3.0) == 3.0


def test_without_a_rule_steps_are_recorded():
    f = primitive(lambda p, q: p[0] * np.sin(p[1]) * q)
    assert grad(lambda x: f([x, 2.0], 3.0))(5.0) == pytest.approx(3 * numpy.sin(2.0))
    defvjp(f, lambda ans, p, q: lambda g: 0 * g, argnums=[1])
    assert grad(lambda x: f([x, 2.0], 3.0))(5.0) == pytest.approx(3 * numpy.sin(2.0))
    with pytest.raises(NotImplementedError, match="argnum 0"):
        grad(lambda x: f([x, 2.0], x))(5.0)
