"""What gradsmith.numpy has besides functions: methods of ufuncs, writing in place, grids, random numbers, names."""

import inspect
import pickle

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.numpy as gnp

A = np.random.default_rng(0).normal(size=(3, 4))
V = np.array([0.5, -1.0, 2.0])


def tensor(array=A):
    return gs.tensor(array, requires_grad=True)


def slope(function, array, direction):
    """Derivative along a direction, by differences."""
    step = 1e-6
    return (function(array + step * direction) - function(array - step * direction)) / (2 * step)


def assert_gradient(ours, theirs, array):
    x = tensor(array)
    ours(x).sum().backward()
    direction = np.cos(np.arange(array.size)).reshape(array.shape)
    assert (x.grad.numpy() * direction).sum() == pytest.approx(
        slope(lambda a: theirs(a).sum(), array, direction), rel=1e-5, abs=1e-7
    )


# ---- ufuncs


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logaddexp", "hypot", "subtract"])
def test_methods_of_ufuncs(name):
    ours, theirs = getattr(gnp, name), getattr(np, name)
    for call in (
        lambda f, x: f.reduce(x),
        lambda f, x: f.reduce(x, axis=1, keepdims=True),
        lambda f, x: f.accumulate(x, axis=1),
        lambda f, x: f.reduceat(x, [0, 2, 1], axis=1),
        lambda f, x: f.outer(x[0], x[:, 1]),
    ):
        np.testing.assert_allclose(call(ours, tensor()).detach().numpy(), call(theirs, A))
        assert_gradient(lambda x, call=call: call(ours, x), lambda x, call=call: call(theirs, x), A)


def test_at():
    for name, more in (("add", (2.0,)), ("multiply", ([2.0, 3.0, 4.0],)), ("negative", ())):
        expected, found = A.copy(), gs.tensor(A)
        getattr(np, name).at(
            expected, [0, 1, 0] if more != () else [0, 2], *(np.asarray(m).reshape(-1, 1) for m in more)
        )
        getattr(gnp, name).at(found, [0, 1, 0] if more != () else [0, 2], *(np.asarray(m).reshape(-1, 1) for m in more))
        np.testing.assert_allclose(found.numpy(), expected)
    x, values = gs.tensor(V), tensor(np.array([1.0, 2.0]))
    gnp.add.at(x, [0, 0], values)
    x.sum().backward()
    assert values.grad.tolist() == [1.0, 1.0] and x.tolist() == [3.5, -1.0, 2.0]


def test_ufuncs_have_attributes_and_one_object_for_both_names():
    assert (gnp.add.nin, gnp.add.nout, gnp.add.identity) == (2, 1, 0) and gnp.absolute is gnp.abs
    assert pickle.loads(pickle.dumps(gnp.hypot)) is gnp.hypot
    with pytest.raises(ValueError, match="two arguments"):
        gnp.exp.reduce(V)


def test_out_where_and_dtype():
    x, out = tensor(V), gs.zeros(3, dtype=np.float64)
    assert gnp.multiply(x, 2, out=out) is out
    out.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    array = np.zeros(3)
    assert gnp.exp(V, array) is array and (array == np.exp(V)).all()
    with pytest.raises(RuntimeError, match="lose the history"):
        gnp.exp(tensor(V), out=array)
    masked = gnp.add(V, 1, out=gs.zeros(3, dtype=np.float64), where=V > 0)
    assert masked.tolist() == [1.5, 0.0, 3.0]
    assert gnp.add(V, 1, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError, match="same_kind"):
        gnp.add(V, 1, out=np.zeros(3, int))
    with pytest.raises(ValueError, match="shape"):
        gnp.add(V, 1, out=np.zeros(2))
    with pytest.raises(TypeError, match="positional"):
        gnp.add(V)


@pytest.mark.parametrize("options", [{"axis": 0}, {"keepdims": True}, {"axes": [(0,), (0,), ()]}])
def test_axes_of_generalized_ufuncs(options):
    np.testing.assert_allclose(gnp.vecdot(tensor(), A, **options).detach().numpy(), np.vecdot(A, A, **options))
    np.testing.assert_allclose(
        gnp.matmul(A, A.T, axes=[(1, 0), (1, 0), (0, 1)]).numpy(), np.matmul(A, A.T, axes=[(1, 0), (1, 0), (0, 1)])
    )


def test_python_numbers_give_way():
    half = gs.tensor([1.0], dtype=np.float16)
    assert gnp.add(half, 1.5).dtype == np.float16 and gnp.add(half, np.float64(1.5)).dtype == np.float64
    assert gnp.add(np.int8(1), 1).dtype == np.int8 and gnp.divide(1, 2).dtype == np.float64
    with pytest.raises(OverflowError):
        gnp.add(np.array([1], np.int8), 300)


# ---- in place


@pytest.mark.parametrize(
    "write",
    [
        lambda np, x, v: np.copyto(x, v),
        lambda np, x, v: np.copyto(x, v, where=A > 0),
        lambda np, x, v: np.put(x, [0, 5, 5], v[:3]),
        lambda np, x, v: np.putmask(x, A > 0, v),
        lambda np, x, v: np.place(x, A > 0, v[:2]),
        lambda np, x, v: np.put_along_axis(x, np.asarray([[1], [0], [2]]), v[:1], 1),
        lambda np, x, v: np.fill_diagonal(x, v[1]),
    ],
)  # fmt: skip
def test_writing_in_place(write):
    values = np.array([1.0, 2.0, 3.0, 4.0])
    expected = A.copy()
    write(np, expected, values)
    target, given = tensor().clone(), tensor(values)
    write(gnp, target, given)
    np.testing.assert_array_equal(target.detach().numpy(), expected)
    target.square().sum().backward()
    changed = given.grad.numpy()

    def loss(v):
        array = A.copy()
        write(np, array, v)
        return (array**2).sum()

    direction = np.array([1.0, -2.0, 0.5, 3.0])
    assert (changed * direction).sum() == pytest.approx(slope(loss, values, direction), rel=1e-5)
    array = A.copy()
    write(gnp, array, values)
    np.testing.assert_array_equal(array, expected)
    with pytest.raises(RuntimeError, match="lose the history"):
        write(gnp, array, given)


# ---- joined and mapped


@pytest.mark.parametrize(
    "expression",
    [
        lambda np, x: np.r_[x[0], 0, 1:3],
        lambda np, x: np.r_["0,2", x[0], x[1]],
        lambda np, x: np.c_[x[0], x[1]],
        lambda np, x: np.vectorize(lambda a, b: a * b if a > 0 else b)(x, x[0]),
        lambda np, x: np.array([x[0, 0], x[1, 1], 2.0]),
        lambda np, x: np.array([[x[0, 0], 1.0], [2.0, x[2, 3]]]),
        lambda np, x: np.block([[x, x]]),
        lambda np, x: np.insert(x, 1, x[0], axis=0),
        lambda np, x: np.linspace(x[0], x[1], 3),
        lambda np, x: np.median(np.where(x > 0, x, 0.1), axis=0),
    ],
)
def test_expressions(expression):
    expected = expression(np, A)
    found = expression(gnp, tensor())
    np.testing.assert_allclose(found.detach().numpy(), expected)
    assert found.dtype == expected.dtype
    assert_gradient(lambda x: expression(gnp, x), lambda x: expression(np, x), A)


def test_grids_and_constants():
    np.testing.assert_array_equal(gnp.mgrid[0:2, 0:3].numpy(), np.mgrid[0:2, 0:3])
    assert [g.shape for g in gnp.ogrid[0:2, 0:3]] == [(2, 1), (1, 3)]
    assert (gnp.pi, gnp.newaxis, gnp.float32) == (np.pi, None, np.float32) and gnp.errstate is np.errstate
    assert gnp.s_[1:2] == slice(1, 2)


def test_views_and_copies():
    x = gs.tensor(A)
    gnp.reshape(x, -1)[0] = 7.0
    gnp.transpose(x)[1, 0] = 8.0
    assert x[0, :2].tolist() == [7.0, 8.0]
    copied = gnp.array(x)
    copied[0, 0] = 9.0
    assert x[0, 0].item() == 7.0 and gnp.asarray(x) is x
    array = np.zeros(2)
    gnp.asarray(array)[0] = 1.0
    gnp.array(array)[1] = 1.0
    assert array.tolist() == [1.0, 0.0]


def test_second_derivatives_and_transforms():
    x = tensor(V)
    (first,) = gs.autograd.grad(gnp.var(x), x, create_graph=True)
    (second,) = gs.autograd.grad(first[0], x)
    np.testing.assert_allclose(second.numpy(), [2 / 3 - 2 / 9, -2 / 9, -2 / 9])
    rows = gs.vmap(lambda row: gnp.sum(gnp.exp(row) * gnp.where(row > 0, row, 0.0)))(gs.tensor(A))
    np.testing.assert_allclose(rows.numpy(), (np.exp(A) * np.where(A > 0, A, 0)).sum(1))
    _, tangent = gs.func.jvp(lambda v: gnp.std(v), (gs.tensor(V),), (gs.tensor([1.0, 0.0, 0.0], dtype=np.float64),))
    assert tangent.item() == pytest.approx(slope(np.std, V, np.array([1.0, 0.0, 0.0])))


# ---- random numbers


@pytest.mark.parametrize(
    "name, args",
    [
        ("normal", (1.0, 2.0, 3)), ("uniform", (-1.0, 2.0, 3)), ("exponential", (2.0, 3)), ("laplace", (1.0, 2.0, 3)),
        ("logistic", (1.0, 2.0, 3)), ("gumbel", (1.0, 2.0, 3)), ("lognormal", (0.5, 0.3, 3)), ("rayleigh", (2.0, 3)),
        ("weibull", (2.0, 3)), ("pareto", (2.0, 3)), ("gamma", (2.0, 1.5, 3)), ("beta", (2.0, 3.0, 3)),
        ("standard_normal", (3,)), ("poisson", (2.0, 3)), ("choice", (5, 3)), ("permutation", (4,)),
        ("multivariate_normal", ([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], 2)), ("dirichlet", ([1.0, 2.0],)),
    ],
)  # fmt: skip
def test_the_numbers_are_those_of_numpy(name, args):
    np.random.seed(3)
    expected = getattr(np.random, name)(*args)
    gnp.random.seed(3)
    np.testing.assert_array_equal(getattr(gnp.random, name)(*args).numpy(), expected)
    generator = np.random.default_rng(4)
    np.testing.assert_array_equal(
        getattr(gnp.random.default_rng(4), name)(*args).numpy(), getattr(generator, name)(*args)
    )
    np.testing.assert_array_equal(getattr(gnp.random.RandomState(3), name)(*args).numpy(), expected)


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("normal", (1.0, 2.0)), ("uniform", (-1.0, 2.0)), ("exponential", (2.0,)), ("laplace", (1.0, 2.0)),
        ("logistic", (1.0, 2.0)), ("gumbel", (1.0, 2.0)), ("lognormal", (0.5, 0.3)), ("rayleigh", (2.0,)),
        ("weibull", (2.0,)), ("pareto", (2.0,)),
    ],
)  # fmt: skip
def test_gradients_of_draws(name, parameters):
    at = np.array(parameters)

    def drawn(module, values):
        module.random.seed(3)
        return getattr(module.random, name)(*values, size=4).sum()

    tensors = tensor(at)
    found = drawn(gnp, tensors)
    assert found.item() == pytest.approx(drawn(np, at))
    found.backward()
    direction = np.array([1.0, -0.5])[: at.size]
    assert (tensors.grad.numpy() * direction).sum() == pytest.approx(
        slope(lambda v: drawn(np, v), at, direction), rel=1e-5
    )


def test_draws_with_gradients_of_their_shape():
    shape = tensor(np.array([1.5, 2.5]))
    gnp.random.default_rng(0).gamma(shape).sum().backward()
    assert (shape.grad.numpy() > 0).all()
    gnp.random.gamma(shape).sum().backward()
    with pytest.raises(RuntimeError, match="no derivative"):
        gnp.random.multinomial(3, tensor(np.array([0.5, 0.5])))


def test_exponents_for_which_numpy_does_not_end():
    assert gnp.random.zipf([2.0**70, 1e300]).tolist() == [1, 1] and gnp.random.RandomState(0).zipf(2**70).item() == 1
    with pytest.raises(ValueError, match="a <= 1"):
        gnp.random.zipf(0.5)


def test_elements_are_shuffled_with_their_history():
    x = tensor(V)
    gnp.random.seed(0)
    np.random.seed(0)
    expected = np.random.permutation(V)
    np.random.seed(0)
    found = gnp.random.permutation(x)
    assert found.tolist() == expected.tolist()
    found[0].backward()
    assert x.grad.sum().item() == 1.0
    y = gs.tensor(A)
    gnp.random.RandomState(0).shuffle(y)
    array = A.copy()
    np.random.RandomState(0).shuffle(array)
    np.testing.assert_array_equal(y.numpy(), array)
    assert gnp.random.default_rng(0).choice(x, 2).requires_grad
    assert gnp.random.rand(2, 3).shape == (2, 3) and gnp.random.random().shape == ()


# ---- names


def test_signatures_are_those_of_numpy():
    for name in gnp.__all__:
        own, theirs = getattr(gnp, name), getattr(np, name)
        if callable(own) and own is not theirs and name != "fromstring" and not isinstance(own, type):
            assert str(inspect.signature(own)) == str(inspect.signature(theirs)) or name == "fromstring"
            assert f"numpy.{own.__name__}.html" in own.__doc__


def test_functions_take_what_their_signatures_say():
    """The functions as they are written, before they show NumPy's signature."""
    from importlib import import_module

    from gradsmith.numpy.table import MODULES

    for module, names in MODULES.items():
        for name in names.split():
            written = getattr(import_module(f"gradsmith.numpy.{module}"), name)
            parameters = (
                inspect.signature(inspect.unwrap(written)).parameters if hasattr(written, "__wrapped__") else None
            )
            theirs = inspect.signature(getattr(np, name)).parameters
            code = written.__code__
            own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if parameters is None and not code.co_flags & inspect.CO_VARKEYWORDS:
                wanted = [n for n, p in theirs.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
                assert set(own) == set(wanted), name


def test_names_that_are_not_there_say_why():
    with pytest.raises(AttributeError, match="use `array` and `@`"):
        gnp.matrix  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'sums'"):
        gnp.sums  # noqa: B018
    assert "sum" in dir(gnp) and all(hasattr(gnp, name) for name in gnp.__all__)


def test_counts_have_a_gradient_in_the_weights():
    weights = gs.tensor([0.5, 1.0, 2.0], requires_grad=True)
    found = gnp.bincount(np.array([2, 0, 2]), weights=weights, minlength=4)
    assert found.dtype == np.float64 and found.tolist() == [1.0, 0.0, 2.5, 0.0]
    (found * np.arange(4.0)).sum().backward()
    assert weights.grad.tolist() == [2.0, 0.0, 2.0]


def test_what_would_lose_a_gradient_is_refused():
    with pytest.raises(RuntimeError, match="no derivative here"):
        gnp.arange(tensor(2.0))
    with pytest.raises(TypeError, match="tensors hold numbers"):
        gnp.add(np.array(["a"]), 1)
    assert gnp.argmax(tensor(V)).item() == 2


EDGES = {
    "a bool beside numbers": (lambda np, a: np.add(a([1.0, 2.0]), True)),
    "a bool beside integers": (lambda np, a: np.maximum(a([0, 2]), True)),
    "the median of nothing": (lambda np, a: np.median(a([]))),
    "medians of nothing": (lambda np, a: np.median(a(np.ones((2, 0))), axis=1, keepdims=True)),
    "no medians": (lambda np, a: np.nanmedian(a(np.ones((2, 0))), axis=0)),
    "a sum without dimensions": (lambda np, a: np.sum(a(2.0), axis=0)),
    "an extreme without dimensions": (lambda np, a: np.max(a(2.0), axis=-1)),
    "squeezed without dimensions": (lambda np, a: np.squeeze(a(2.0), axis=0)),
    "places between numbers of float32": (lambda np, a: np.linspace(a([1.0], "float32"), a([2.0], "float32"), 3)),
    "complex ratios": (lambda np, a: np.geomspace(a([1.0]), a([2.0 + 1j]), 4)),
    "a difference of bytes": (lambda np, a: np.polysub(a([1.0, 2.0]), a([3], "uint8"))),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", EDGES)
def test_edges(case):
    expected = EDGES[case](np, np.array)
    found = EDGES[case](gnp, lambda values, dtype=None: gs.from_numpy(np.array(values, dtype)))
    assert found.dtype == expected.dtype and tuple(found.shape) == expected.shape
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_halves_are_rounded_to_many_digits():
    assert gnp.round(gs.tensor([3.3, 700.0], dtype=gs.float16), 6).tolist() == [3.30078125, 700.0]


@pytest.mark.parametrize("widths", [1, 0, (1, 2), ((1, 2), (0, 3)), [[1, 2]], np.array([1, 2])])
@pytest.mark.parametrize("value", [0, 2.5, np.float32(3)])
def test_padding_with_a_number(widths, value):
    rows = np.arange(6.0).reshape(2, 3)
    for array in (rows, rows.astype(np.int32), rows * 1j, np.zeros((0, 3)), rows.astype(np.float32)):
        expected = np.pad(array, widths, constant_values=value)
        found = gnp.pad(array, widths, constant_values=value)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found.numpy(), expected)
    assert gnp.pad(3.0, 0).item() == 3.0
