"""Rules of one's own, checks, optimizers, trees as vectors, fixed points."""

import collections

import numpy
import pytest

import gradsmith.compat.hips.numpy as np
from gradsmith.compat.hips import (
    convenience_wrappers,
    deriv,
    grad,
    hessian,
    jacobian,
    make_jvp,
    optimizers,
    util,
)
from gradsmith.compat.hips.extend import (
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    notrace_primitive,
    primitive,
    register_notrace,
    vspace,
)
from gradsmith.compat.hips.misc import const_graph, flatten
from gradsmith.compat.hips.misc.fixed_points import fixed_point
from gradsmith.compat.hips.misc.flatten import flatten_func
from gradsmith.compat.hips.misc.optimizers import adam, rmsprop, sgd
from gradsmith.compat.hips.numpy import numpy_wrapper
from gradsmith.compat.hips.numpy.numpy_vjps import unbroadcast, unbroadcast_f
from gradsmith.compat.hips.numpy.numpy_wrapper import wrap_namespace
from gradsmith.compat.hips.test_util import check_grads, combo_check
from gradsmith.compat.hips.util import func, subval, subvals, toposort
from gradsmith.compat.hips.wrap_util import unary_to_nary

X = numpy.array([0.5, -1.0, 2.0])


@pytest.fixture
def cube():
    @primitive
    def cube(x):
        assert isinstance(x, (float, numpy.ndarray))
        return x**3

    defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    defjvp(cube, lambda g, ans, x: g * 3 * x**2)
    return cube


def test_rules_of_all_orders_and_modes(cube):
    assert grad(cube)(2.0) == 12.0 and grad(grad(cube))(2.0) == 12.0 and grad(grad(grad(cube)))(2.0) == 6.0
    assert cube(2.0) == 8.0
    numpy.testing.assert_allclose(jacobian(cube)(X), numpy.diag(3 * X**2))
    numpy.testing.assert_allclose(hessian(lambda x: np.sum(cube(x)))(X), numpy.diag(6 * X))
    assert make_jvp(cube)(2.0)(1.0)[1] == 12.0
    check_grads(cube, modes=["fwd", "rev"], order=3)(0.7)
    assert cube.__name__ == "cube" and "cube" in repr(cube)


def test_rules_by_argument():
    @primitive
    def scaled(x, factor, power=1):
        return factor * x**power

    defvjp_argnum(
        scaled,
        lambda n, ans, args, kwargs: (lambda g: g * args[1] * 2 * args[0]) if n == 0 else lambda g: g * args[0] ** 2,
    )
    defjvp_argnum(scaled, lambda n, g, ans, args, kwargs: g * (args[1] * 2 * args[0] if n == 0 else args[0] ** 2))
    assert grad(scaled, (0, 1))(3.0, 2.0, power=2) == (12.0, 9.0)
    check_grads(lambda x, f: scaled(x, f, power=2), (0, 1), order=2)(1.5, 0.5)

    @primitive
    def product(x, y):
        return x * y

    defvjp_argnums(product, lambda ns, ans, args, kwargs: lambda g: [g * args[1 - n] for n in ns])
    defjvp_argnums(product, lambda ns, gs, ans, args, kwargs: sum(g * args[1 - n] for n, g in zip(ns, gs)))
    assert grad(product, (0, 1))(3.0, 2.0) == (2.0, 3.0) and grad(lambda x: product(x, x))(3.0) == 6.0
    check_grads(product, (0, 1))(0.5, 0.25)


def test_linear_and_partial_rules():
    @primitive
    def product(x, y):
        return x * y

    def_linear(product)
    defvjp(product, lambda ans, x, y: unbroadcast_f(x, lambda g: g * y), None)
    assert grad(lambda x: np.sum(product(x, X)))(1.0) == X.sum()
    assert make_jvp(product, 1)(2.0, X)(X)[1].tolist() == (2.0 * X).tolist()
    assert grad(lambda y: np.sum(product(1.0, y)))(X).tolist() == [0.0, 0.0, 0.0]

    @primitive
    def only_first(x, y):
        return x * y

    defvjp(only_first, lambda ans, x, y: lambda g: g * y, argnums=[0])
    defjvp(only_first, "same", argnums=[0])
    assert grad(only_first)(2.0, 3.0) == 3.0 and make_jvp(only_first)(2.0, 3.0)(2.0)[1] == 6.0
    with pytest.raises(NotImplementedError, match="argnum 1"):
        grad(only_first, 1)(2.0, 3.0)
    with pytest.raises(NotImplementedError, match="JVP"):
        make_jvp(only_first, 1)(2.0, 3.0)(1.0)


def test_several_results():
    @primitive
    def both(x):
        return numpy.sin(x), numpy.cos(x)

    defvjp(both, lambda ans, x: lambda g: g[0] * ans[1] - g[1] * ans[0])
    assert grad(lambda x: both(x)[0] * both(x)[1])(0.3) == pytest.approx(numpy.cos(0.6))
    assert grad(grad(lambda x: both(x)[0]))(0.3) == pytest.approx(-numpy.sin(0.3))


def test_no_rules_and_no_trace():
    @primitive
    def without(x):
        return x

    with pytest.raises(NotImplementedError, match="VJP of without"):
        grad(without)(1.0)
    with pytest.raises(TypeError, match="positional"):
        grad(lambda x: without(1.0, y=x))(1.0)
    register_notrace(None, without)
    assert grad(lambda x: without(x) * x)(3.0) == 3.0
    assert grad(lambda x: notrace_primitive(numpy.floor)(x) * x)(2.5) == 2.0


def test_rules_of_what_is_no_primitive_are_not_used():
    def square(x):
        return x**2

    defvjp(square, lambda ans, x: lambda g: 0 * g)
    defjvp(square, lambda g, ans, x: 0 * g)
    defvjp_argnum(square, None)
    defvjp_argnums(square, None)
    defjvp_argnum(square, None)
    defjvp_argnums(square, None)
    def_linear(square)
    assert grad(square)(3.0) == 6.0 and make_jvp(square)(3.0)(1.0)[1] == 6.0


def test_rules_of_functions_of_numpy(monkeypatch):
    for function in (np.sign, np.arctan2, np.linalg.det):
        monkeypatch.setattr(function, "rules", None)
    defvjp(np.sign, lambda ans, x: lambda g: g)  # straight through
    assert grad(lambda x: np.sum(np.sign(x) * x))(X).tolist() == (numpy.sign(X) + X).tolist()
    assert np.sign(X).tolist() == numpy.sign(X).tolist()
    assert make_jvp(np.sign)(X)(X)[1].tolist() == [0.0, 0.0, 0.0]  # its own, as none was given
    defvjp(np.arctan2, lambda ans, y, x: lambda g: 7.0 * g, argnums=[0])
    assert grad(np.arctan2)(1.0, 1.0) == 7.0
    with pytest.raises(NotImplementedError, match="VJP of arctan2 wrt argnum 1"):
        grad(np.arctan2, 1)(1.0, 1.0)
    assert deriv(lambda x: np.arctan2(x, 1.0))(1.0) == pytest.approx(0.5)
    defjvp(np.linalg.det, lambda g, ans, x: 3.0 * np.sum(g))
    assert deriv(lambda t: np.linalg.det(t * numpy.eye(2)))(2.0) == 6.0
    assert grad(lambda t: np.linalg.det(t * numpy.eye(2)))(2.0) == pytest.approx(4.0)
    assert grad(grad(lambda t: np.linalg.det(t * numpy.eye(2))))(2.0) == pytest.approx(2.0)


def test_checks_find_wrong_rules():
    @primitive
    def wrong(x):
        return x**2

    defvjp(wrong, lambda ans, x: lambda g: g * x)
    defjvp(wrong, lambda g, ans, x: g * x)
    for mode in ("fwd", "rev"):
        with pytest.raises(AssertionError, match="check failed"):
            check_grads(wrong, modes=[mode])(1.5)
    with pytest.raises(ValueError, match="modes"):
        check_grads(wrong, modes=["both"])(1.5)
    combo_check(lambda x, y, scale: scale * x * y, (0, 1))([1.0, 2.0], [0.5], scale=[1.0, 2.0])


def test_vectors_and_trees():
    tree = {"b": numpy.ones((2, 2)), "a": [1.0, (2.0, 3.0)]}
    vector, unflatten = flatten(tree)
    assert vector.tolist() == [1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 1.0]
    assert unflatten(vector * 2)["a"] == [2.0, (4.0, 6.0)]
    function, back, start = flatten_func(lambda t: {"b": t["b"] * 2, "a": t["a"]}, tree)
    assert back(function(start))["b"].tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert grad(lambda t: np.sum(flatten(t)[0] ** 2))(tree)["a"] == [2.0, (4.0, 6.0)]
    assert flatten([])[0].size == 0
    space = vspace(tree)
    assert space.size == 7 and len(list(space.standard_basis())) == 7 and space == vspace(space.randn())
    assert space.zeros()["a"][0] == 0.0 and vspace(1j).size == 2


def test_dicts_keep_their_order():
    tree = {"b": 1.0, "a": {"z": X, "y": 2.0}}
    vector, unflatten = flatten(tree)
    assert vector.tolist() == [2.0, *X, 1.0]
    back = unflatten(vector)
    assert list(back) == ["b", "a"] and list(back["a"]) == ["z", "y"] and back["a"]["y"] == 2.0
    slope = lambda p, i: grad(lambda p: p["b"] ** 2 + np.sum(p["a"]["z"]) + p["a"]["y"])(p)  # noqa: E731
    for optimizer in (sgd, rmsprop, adam):
        found = optimizer(slope, tree, num_iters=2)
        assert list(found) == ["b", "a"] and list(found["a"]) == ["z", "y"] and found["a"]["z"].shape == (3,)
    assert tree["b"] == 1.0 and tree["a"]["y"] == 2.0
    ordered = collections.OrderedDict(b=1.0, a=2.0)
    assert flatten(ordered)[1](np.array([3.0, 4.0])) == collections.OrderedDict(b=4.0, a=3.0)


def test_vectors_of_complex_numbers():
    z = numpy.array([1 + 2j, 3 - 1j])
    space = vspace(z)
    assert numpy.array(list(space.standard_basis())).tolist() == [[1, 0], [1j, 0], [0, 1], [0, 1j]]
    assert list(vspace({"b": 1.0, "a": [1j]}).standard_basis()) == [
        {"b": 1.0, "a": [0.0]}, {"b": 0.0, "a": [1.0]}, {"b": 0.0, "a": [1j]},
    ]  # fmt: skip
    assert space.ones().tolist() == [1 + 1j, 1 + 1j] and vspace([1.0, 1j]).ones() == [1.0, 1 + 1j]
    assert space.inner_prod(z, z) == 15.0 and space.inner_prod(z, 2j * z) == 0.0
    assert space.covector(z).tolist() == z.conj().tolist()
    assert space.add(z, z).tolist() == space.scalar_mul(z, 2.0).tolist() == (2 * z).tolist()
    assert sum(space.inner_prod(z, e) ** 2 for e in space.standard_basis()) == 15.0
    assert grad(lambda x: space.inner_prod(x, x))(z).tolist() == (2 * z.conj()).tolist()
    assert deriv(np.exp)(1j) == pytest.approx(numpy.exp(1j) * (1 + 1j))
    check_grads(lambda x: x * np.exp(1j * x))(0.3 + 0.2j)
    check_grads(lambda x: np.real(x) * 1j + np.abs(x))(z)
    check_grads(lambda x: [np.conj(x), np.imag(x)], order=1)(z)


# Settings, and where four steps lead according to autograd 1.9.
STEPS = [
    (sgd, {"step_size": 0.1, "mass": 0.8},
     [[0.98, -1.84], [0.9424, -1.5668], [0.889472, -1.226896], [0.82334016, -0.86282112]]),
    (rmsprop, {"step_size": 0.05, "gamma": 0.7},
     [[0.9500000005, -1.91033283227], [0.89828903727, -1.84260039509], [0.845530480588, -1.78375417577],
      [0.792167381073, -1.72971737538]]),
    (adam, {"step_size": 0.1, "b1": 0.8, "b2": 0.9},
     [[0.900000001, -1.90000000012], [0.800000001997, -1.80024088745], [0.700000002989, -1.70090627064],
      [0.600000003975, -1.60219818814]]),
    (sgd, {}, [[0.99, -1.92], [0.9701, -1.7722], [0.940489, -1.570292], [0.90143421, -1.32876312]]),
    (rmsprop, {},
     [[0.900000001, -1.70390671702], [0.80000000191, -1.50215493764], [0.700000002747, -1.34315468897],
      [0.600000003525, -1.21032776745]]),
    (adam, {},
     [[0.99900000001, -1.999], [0.997998654396, -1.99800036247], [0.996995109683, -1.9970013349],
      [0.995988564321, -1.99600316867]]),
]  # fmt: skip


@pytest.mark.parametrize("optimizer, options, expected", STEPS)
def test_steps_of_optimizers(optimizer, options, expected):
    tried = []
    slope = lambda x, i: x * numpy.array([1.0, 4.0]) + 0.1 * i  # noqa: E731
    last = optimizer(slope, numpy.array([1.0, -2.0]), lambda x, i, g: tried.append(x), 4, **options)
    numpy.testing.assert_allclose([*tried[1:], last], expected, rtol=1e-10)


@pytest.mark.parametrize("optimizer, options", [(sgd, {}), (rmsprop, {"step_size": 0.03}), (adam, {"step_size": 0.1})])
def test_optimizers(optimizer, options):
    steps = []
    loss = lambda p: np.sum((p["w"] - X) ** 2) + (p["b"] - 1.0) ** 2  # noqa: E731
    found = optimizer(
        lambda p, i: grad(loss)(p),
        {"w": numpy.zeros(3), "b": 0.0},
        lambda p, i, g: steps.append(i),
        num_iters=300,
        **options,
    )
    numpy.testing.assert_allclose(found["w"], X, atol=0.05)
    assert found["b"] == pytest.approx(1.0, abs=0.05) and steps == list(range(300))


def test_steps_are_differentiable():
    def trained(step_size):
        return sgd(lambda x, i: grad(lambda x: np.sum(x**2))(x), np.ones(2), num_iters=3, step_size=step_size)[0]

    step = 1e-6
    assert grad(trained)(0.1) == pytest.approx((trained(0.1 + step) - trained(0.1 - step)) / (2 * step), rel=1e-6)


def test_fixed_points():
    def newton(a):
        return lambda x: 0.5 * (x + a / x)

    root = lambda a: fixed_point(newton, a, 1.0, lambda x, y: np.abs(x - y), 1e-12)  # noqa: E731
    assert root(4.0) == pytest.approx(2.0) and grad(root)(4.0) == pytest.approx(0.25)
    assert grad(grad(root))(4.0) == pytest.approx(-1 / 32)


def test_rest():
    assert const_graph(lambda a, x: a * x, 2.0)(3.0) == 6.0
    assert unbroadcast(numpy.ones((4, 2, 3)), numpy.ones((2, 1))).tolist() == [[12.0], [12.0]]
    double = unary_to_nary(lambda fun, x: fun(2 * x))
    assert double(lambda a, b: a + b, 1)(1.0, 2.0) == 5.0
    numpy.testing.assert_array_equal(np.make_diagonal(X, axis1=-1, axis2=-2), numpy.diag(X))


# ---- helpers of the library itself, and the places where older releases had others


def test_items_of_tuples_are_replaced():
    assert subvals([1, 2, 3], [(0, "a"), (2, "c")]) == ("a", 2, "c")
    assert subval((1, 2), 1, "b") == (1, "b")
    assert func(subval) is subval


def test_nodes_come_before_their_parents():
    parents = {"end": ["left", "right"], "left": ["root"], "right": ["middle"], "middle": ["root"], "root": []}
    order = list(toposort("end", parents.__getitem__))
    assert sorted(order) == sorted(parents)
    assert all(order.index(node) < order.index(parent) for node in parents for parent in parents[node])


def test_older_places_of_names():
    assert util.flatten is flatten and util.flatten_func is flatten_func
    assert (optimizers.adam, optimizers.sgd, optimizers.rmsprop) == (adam, sgd, rmsprop)
    assert convenience_wrappers.hessian_vector_product(lambda x: np.sum(x**3))(X, X) == pytest.approx(6 * X * X)
    util.quick_grad_check(lambda x, a, b=1.0: np.sum(a * b * np.sin(x)), X, (2.0,), {"b": 3.0})


def test_a_namespace_becomes_primitives():
    def double(x):
        assert isinstance(x, (float, numpy.ndarray))
        return 2 * x

    made = {}
    wrap_namespace({"double": double, "sinh": numpy.sinh, "kind": float, "number": 3, "text": "t"}, made)
    assert sorted(made) == ["double", "kind", "number", "sinh"]
    assert made["kind"] is float and made["number"] == 3
    defvjp(made["double"], lambda ans, x: lambda g: 2 * g)
    assert grad(lambda x: made["double"](np.sin(x)))(0.0) == 2.0
    assert numpy_wrapper.sin is np.sin
