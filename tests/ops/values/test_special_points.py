"""Points at which a formula has to decide: kinks, ties, poles, infinities, NaN, no elements at all.

Where no derivative exists PyTorch's choice is ours; every number here is what PyTorch gives. Most such points are in
the entries, under `points`, and are proven with them; here are those that need more than one op, or second derivatives.
"""

import math

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad

inf, nan = math.inf, math.nan


def leaf(values, dtype="float64"):
    return gs.tensor(np.asarray(values, dtype), requires_grad=True)


def gradients(function, *arrays, create_graph=False):
    leaves = [leaf(array) for array in arrays]
    return [g.detach().numpy() for g in grad(function(*leaves).sum(), leaves, create_graph=create_graph)]


KINKS = {  # function, points, gradients there
    "softplus at its threshold": (gs.softplus, [20.0], [1 / (1 + math.exp(-20))]),
    "tanh": (gs.tanh, [-inf, inf, 1000.0], [0, 0, 0]),
    "base 2": (lambda x: 2.0**x, [0.0, 3.0], [math.log(2), 8 * math.log(2)]),
    "isnan chosen away": (lambda x: gs.where(x > 0, x, 0), [-1.0, 2.0, nan], [0, 1, 0]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", KINKS)
def test_gradient_at_kinks(name, dtype):
    """The compiled loop and the recorded formula agree there too."""
    function, points, expected = KINKS[name]
    for create_graph in (False, True):
        x = leaf(points, dtype)
        (found,) = grad(function(x).sum(), x, create_graph=create_graph)
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-6, atol=1e-12, err_msg=f"{create_graph=}")


def test_what_is_not_chosen_at_a_tie():
    x, y = [1.0, 2.0, nan], [2.0, 1.0, 1.0]
    for create_graph in (False, True):
        found = gradients(lambda x, y: gs.where(x > y, x, y), x, y, create_graph=create_graph)
        np.testing.assert_array_equal(found, [[0, 1, 0], [1, 0, 1]])


def test_nan_is_the_extremum():
    x = leaf([1.0, nan, 3.0])
    assert all(math.isnan(function(x).item()) for function in (gs.max, gs.min, gs.amax, gs.amin))
    assert x.argmax().item() == x.argmin().item() == 1
    values, indices = x.max(0)
    assert math.isnan(values.item()) and indices.item() == 1
    assert gs.maximum(x, 2.0).isnan().tolist() == [False, True, False]


ZEROS = [
    ([0.0, 2.0, 3.0], [6, 0, 0]),
    ([0.0, 0.0, 3.0], [0, 0, 0]),
    ([2.0, 3.0, 4.0], [12, 8, 6]),
    ([0.0, 5.0], [5, 0]),
]


@pytest.mark.parametrize(("values", "expected"), ZEROS)
def test_product_with_zeros(values, expected):
    """The derivative is the product of the others, also when a division would not give it; and so is the second."""
    np.testing.assert_allclose(gradients(gs.prod, values)[0], expected)
    np.testing.assert_allclose(gradients(lambda x: x.prod(0), values)[0], expected)
    x = leaf(values)
    (first,) = grad(x.prod(), x, create_graph=True)
    (second,) = grad((first * first).sum(), x)
    n = len(values)
    others = [[np.prod([values[k] for k in range(n) if k not in (i, j)]) for j in range(n)] for i in range(n)]
    by_hand = [2 * sum(expected[j] * others[i][j] for j in range(n) if j != i) for i in range(n)]
    np.testing.assert_allclose(second.numpy(), by_hand, atol=1e-12)


def test_norms_at_zero():
    assert gradients(lambda x: x.std(), [2.0, 2.0, 2.0])[0].tolist() == [0, 0, 0]
    assert gradients(lambda x: x.var(), [2.0, 2.0, 2.0])[0].tolist() == [0, 0, 0]
    assert math.isnan(leaf([1.0]).var().item()) and leaf([1.0]).var(correction=0).item() == 0


def test_softmax_family_of_huge_and_infinite_numbers():
    x = [1000.0, 1000.0, -1000.0]
    np.testing.assert_allclose(leaf(x).softmax(0).detach().numpy(), [0.5, 0.5, 0])
    np.testing.assert_allclose(leaf(x).logsumexp(0).item(), 1000 + math.log(2))
    np.testing.assert_allclose(
        leaf(x).log_softmax(0).detach().numpy(), [-math.log(2), -math.log(2), -2000 - math.log(2)]
    )
    np.testing.assert_allclose(gradients(lambda x: x.logsumexp(0), x)[0], [0.5, 0.5, 0])
    masked = [0.0, -inf, 0.0]
    np.testing.assert_allclose(leaf(masked).softmax(0).detach().numpy(), [0.5, 0, 0.5])
    np.testing.assert_allclose(gradients(lambda x: x.softmax(0)[0], masked)[0], [0.25, 0, -0.25])
    np.testing.assert_allclose(gradients(lambda x: x.logsumexp(0), masked)[0], [0.5, 0, 0.5])
    assert leaf([-inf, -inf]).logsumexp(0).item() == -inf
    assert leaf([-inf, -inf]).softmax(0).isnan().all()


def test_complex_numbers_at_zero():
    z = gs.tensor([0j, 3 + 4j], requires_grad=True)
    (of_abs,) = grad(z.abs().sum(), z)
    np.testing.assert_allclose(of_abs.numpy(), [0, 0.6 + 0.8j], rtol=1e-6)
    (of_sgn,) = grad(gs.sgn(z).real.sum(), z)
    assert of_sgn[0].item() == 0 and of_sgn.isfinite().all()
    (of_square,) = grad((z**2).real.sum(), z)
    np.testing.assert_allclose(of_square.numpy(), [0, 6 - 8j])


def test_loss_with_nothing_left():
    """All targets ignored: no weight, so a mean of nothing; the gradient of a sum is zero."""
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    target = gs.tensor([-100, -100])
    assert math.isnan(gs.cross_entropy(x, target).item())
    total = gs.cross_entropy(x, target, reduction="sum")
    assert total.item() == 0 and grad(total, x)[0].tolist() == [[0, 0], [0, 0]]


EMPTY = {  # of a tensor of shape (0, 3): value
    "sum": (lambda x: x.sum(), 0.0),
    "sum(0)": (lambda x: x.sum(0), [0.0] * 3),
    "sum(1)": (lambda x: x.sum(1), []),
    "mean": (lambda x: x.mean(), nan),
    "prod": (lambda x: x.prod(), 1.0),
    "prod(0)": (lambda x: x.prod(0), [1.0] * 3),
    "amax(1)": (lambda x: x.amax(1), []),
    "max(1)": (lambda x: x.max(1).values, []),
    "logsumexp(0)": (lambda x: x.logsumexp(0), [-inf] * 3),
    "softmax(1)": (lambda x: x.softmax(1), np.zeros((0, 3))),
    "cumsum(0)": (lambda x: x.cumsum(0), np.zeros((0, 3))),
    "cat": (lambda x: gs.cat([x, x]), np.zeros((0, 3))),
    "stack": (lambda x: gs.stack([x, x]), np.zeros((2, 0, 3))),
    "matmul, outer": (lambda x: x @ x.T, np.zeros((0, 0))),
    "matmul, inner": (lambda x: x.T @ x, np.zeros((3, 3))),
    "reshape": (lambda x: x.reshape(3, 0), np.zeros((3, 0))),
    "index": (lambda x: x[:, [0, 2]], np.zeros((0, 2))),
    "masked_select": (lambda x: x.masked_select(x > 0), []),
    "flip": (lambda x: x.flip(0), np.zeros((0, 3))),
    "split": (lambda x: x.split(1)[0], np.zeros((0, 3))),
    "var(1)": (lambda x: x.var(1), []),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", EMPTY)
def test_no_elements(name):
    """The value is that of nothing, the gradient has the input's shape; nothing warns."""
    function, expected = EMPTY[name]
    x = leaf(np.zeros((0, 3)))
    result = function(x)
    np.testing.assert_array_equal(result.detach().numpy(), expected)
    for create_graph in (False, True):
        (found,) = grad(function(x).sum(), x, create_graph=create_graph)
        assert found.shape == (0, 3)


@pytest.mark.parametrize("op", ["max", "min", "amax", "amin", "argmax", "argmin"])
def test_extremum_of_nothing(op):
    with pytest.raises((RuntimeError, IndexError), match="no elements|non-zero size"):
        getattr(gs.zeros(0, 3), op)()
    with pytest.raises(IndexError, match="non-zero size"):
        getattr(gs.zeros(0, 3), op)(0)


NUMBERS = {  # ops along a dimension take a 0-d tensor as one of a single element
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(-1),
    "prod": lambda x: x.prod(0),
    "max": lambda x: x.max(0).values,
    "min": lambda x: x.min(-1).values,
    "amax": lambda x: x.amax(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "cumsum": lambda x: x.cumsum(0),
    "index_select": lambda x: x.index_select(0, gs.tensor([0])),
    "gather": lambda x: x.gather(0, gs.tensor(0)),
    "masked_select": lambda x: x.masked_select(gs.tensor(True)),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "flatten": lambda x: x.flatten(),
    "squeeze": lambda x: x.squeeze(0),
    "expand": lambda x: x.expand(2) / 2,
    "index": lambda x: x[None, ..., None],
    "flip": lambda x: x.flip(0),
    "stack": lambda x: gs.stack([x]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_no_dimensions(name):
    x = leaf(1.5)
    result = NUMBERS[name](x)
    np.testing.assert_allclose(result.detach().numpy().sum(), 1.5)
    (first,) = grad(result.sum(), x, create_graph=True)
    assert first.shape == () and first.item() == 1


def test_nothing_warns():
    """Infinities and NaN are results here, not accidents."""
    x = leaf([0.0, -1.0, inf, nan, 1e308])
    with np.errstate(all="raise"):
        for function in (gs.log, gs.sqrt, gs.reciprocal, gs.rsqrt, gs.exp, gs.tan, gs.square, gs.log1p):
            function(x).sum().backward()
        for other in (0.0, inf, nan):
            (x / other).sum().backward()
            (x**other).sum().backward()
            (x % other).sum().backward()
        (x.softmax(0) + x.std() + x.var() + x.logsumexp(0)).sum().backward()


def test_matrix_products_of_nothing():
    """A batch without matrices, and matrices without rows or columns: the other operand's gradient is zero."""
    for one, other in (((5, 0, 3), (3, 4)), ((0, 2, 3), (3, 4)), ((2, 2, 0), (0, 4)), ((2, 2, 3), (3, 0))):
        x, y = leaf(np.ones(one)), leaf(np.ones(other))
        of_x, of_y = grad((x @ y).sum(), (x, y))
        assert of_x.shape == one and of_y.shape == other
        assert not of_y.numpy().any()
    x, weight = leaf(np.ones((2, 2, 0))), leaf(np.ones((4, 0)))
    assert [g.shape for g in grad(gs.nn.functional.linear(x, weight).sum(), (x, weight))] == [(2, 2, 0), (4, 0)]


def test_mean_of_no_losses():
    empty = leaf(np.empty((0, 3)))
    for target in (gs.ones(0, 3, dtype=gs.float64), gs.ones(0, dtype=gs.int64)):
        assert math.isnan(gs.nn.functional.cross_entropy(empty, target).item())
        assert gs.nn.functional.cross_entropy(empty, target, reduction="sum").item() == 0


@pytest.mark.parametrize("dim, expected", [(None, [inf, inf]), (0, [1 / 3, -1 / 3])])
def test_variance_with_more_correction_than_elements(dim, expected):
    """The value is infinite, and along a dimension PyTorch's gradient is that of the formula."""
    (found,) = gradients(lambda x: gs.var(x, dim, correction=5), [1.0, 2.0])
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("dim", [None, 0, -1, (0,), ()])
def test_the_second_gradient_of_the_variance_of_a_number(dim):
    x = gs.tensor(2.0, requires_grad=True)
    (gradient,) = grad(x.var(dim), x, create_graph=True)
    assert math.isnan(gradient.item())
    assert not gradient.requires_grad


def test_running_sums_of_bools_that_have_nothing_to_add():
    """As in PyTorch, which has no loop for them."""
    for x in (gs.tensor(True), gs.tensor(2.5), gs.zeros(0)):
        assert x.cumsum(0, dtype=gs.bool).tolist() == x.to(gs.bool).tolist()
    assert gs.tensor(True).cumsum_(0).tolist() is True
    for x in (gs.tensor([True]), gs.tensor([1])):
        with pytest.raises(NotImplementedError, match="dtype bool"):
            x.cumsum(0, dtype=gs.bool)


def test_variance_with_as_much_correction_as_elements():
    (found,) = gradients(lambda x: gs.var(x, 0, correction=2), [1.0, 2.0])
    np.testing.assert_array_equal(found, [-inf, inf])


@pytest.mark.parametrize("product", [gs.prod, lambda x: gs.prod(x, 0), lambda x: gs.prod(x, -1, True)])
def test_the_product_of_one_number(product):
    for number in (inf, -inf, 0.0, 2.0, nan):
        for create_graph in (False, True):
            (found,) = gradients(product, number, create_graph=create_graph)
            assert found == 1.0 and found.shape == ()


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan")])
def test_softmax_of_one_number_that_is_not_finite(name, value):
    """NaN, and so is its gradient, with dimensions or without, as in PyTorch."""
    for shape in ((), (1,)):
        x = gs.full(shape, value, requires_grad=True)
        y = getattr(x, name)(0)
        (first,) = gs.autograd.grad(y, x, gs.ones(shape), retain_graph=True)
        (second,) = gs.autograd.grad(y, x, gs.ones(shape), create_graph=True)
        assert all(z.isnan().all() for z in (y, first, second))
    x = gs.tensor(3.0, requires_grad=True)
    y = getattr(x, name)(0)
    y.backward()
    assert (y.item(), x.grad.item()) == (float(name == "softmax"), 0)


@pytest.mark.parametrize("exponent", [[0.0, 1.0, 2.0, 3.0, 0.0], [0, 1, 2, 3, 0]])
def test_second_derivatives_of_powers_at_zero(exponent):
    """PyTorch gives NaN for the power of zero."""
    x, n = leaf([0.0, 0.0, 0.0, 0.0, 2.0]), np.array(exponent)
    (slope,) = grad((x ** gs.tensor(n)).sum(), x, create_graph=True)
    assert slope.tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    (second,) = grad(slope.sum(), x, create_graph=True)
    assert second.tolist() == [0.0, 0.0, 2.0, 0.0, 0.0]
    (third,) = grad(second.sum(), x)
    assert third.tolist() == [0.0, 0.0, 0.0, 6.0, 0.0]

    def vander(x):
        return (gs.vander(x, 4) * gs.tensor([1.0, 2.0, 3.0, 4.0], dtype=np.float64)).sum()

    assert gs.func.grad(lambda x: gs.func.grad(vander)(x).sum())(gs.zeros(2, dtype=np.float64)).tolist() == [4.0, 4.0]


def test_mixed_derivatives_of_powers_of_zero():
    """Of x**y by x and y at y = 0: 1 / x."""
    x, y = leaf([2.0, 4.0]), leaf([0.0, 0.0])
    (slope,) = grad((x**y).sum(), x, create_graph=True)
    assert grad(slope.sum(), y)[0].tolist() == [0.5, 0.25]


@pytest.mark.parametrize("function", [gs.special.i1, gs.special.i1e, gs.special.bessel_j1])
def test_second_derivatives_of_odd_bessel_functions_at_zero(function):
    """Zero, as PyTorch has them: the quotient in the first derivative is not that of zeros."""
    x = leaf([0.0, -0.0, 0.5])
    (slope,) = grad(function(x).sum(), x, create_graph=True)
    assert slope[:2].tolist() == [0.5, 0.5]
    (curvature,) = grad(slope.sum(), x)
    assert curvature[:2].tolist() == [0.0, 0.0]
    h = 1e-6
    (above,), (below,) = (grad(function(y := leaf([0.5 + step])).sum(), y) for step in (h, -h))
    np.testing.assert_allclose(curvature[2].item(), (above - below).item() / (2 * h), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (40,)])
def test_a_zero_that_equals_its_bound_keeps_its_sign(shape, dtype):
    """However many elements there are, and in the first call for a dtype too."""
    zero = gs.full(shape, -0.0, dtype=getattr(gs, dtype))
    assert zero.clamp_min(0).signbit().all() and zero.clamp(min=0.0).signbit().all()
    assert zero.clamp_max(0).signbit().all() and zero.clone().clamp_min_(0).signbit().all()
    assert not (-zero).clamp_min(-0.0).signbit().any() and not (-zero).clamp_max(-0.0).signbit().any()
