"""Helpers of formulas: gradients where a case decides them, and the sizes and indices they compute."""

import math

import numpy as np
import pytest

import gradsmith as gs

functional = gs.nn.functional
inf, nan = math.inf, math.nan


def gradient(function, *values):
    """Gradients of the summed result by every argument."""
    leaves = [gs.tensor(np.asarray(v), requires_grad=True) for v in values]
    grads = gs.autograd.grad(function(*leaves).sum(), leaves)
    return grads[0].numpy() if len(grads) == 1 else [g.numpy() for g in grads]


def second_gradient(function, value, weights):
    """Gradient of the gradient's weighted sum."""
    leaf = gs.tensor(np.asarray(value), requires_grad=True)
    (grad,) = gs.autograd.grad(function(leaf).sum(), [leaf], create_graph=True)
    (second,) = gs.autograd.grad((grad * gs.tensor(np.asarray(weights))).sum(), [leaf])
    return second.numpy()


# ---- where a derivative does not exist


@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        (lambda x: x.abs(), 0.0, 0.0),
        (lambda x: x.relu(), 0.0, 0.0),
        (lambda x: x.sign(), 2.0, 0.0),
        (lambda x: x.clamp(-1, 1), 1.0, 1.0),
        (lambda x: x.clamp(-1, 1), 1.5, 0.0),
        (lambda x: x.clamp(min=0), 0.0, 1.0),
        (lambda x: x**0, 0.0, 0.0),
        (lambda x: x**2, 0.0, 0.0),
        (lambda x: x**1, 0.0, 1.0),
        (lambda x: 0**x, 2.0, 0.0),
        (lambda x: 0**x, 0.0, 0.0),
        (lambda x: x.sqrt(), 0.0, inf),
        (lambda x: functional.softplus(x), 100.0, 1.0),
        (lambda x: functional.softplus(x), -1000.0, 0.0),
        (lambda x: x.sigmoid(), -1000.0, 0.0),
        (lambda x: x // 1, 2.5, 0.0),
        (lambda x: x % 2, 2.5, 1.0),
    ],
)
def test_at_special_points(function, point, expected):
    np.testing.assert_array_equal(gradient(function, [point]), [expected])


def test_equal_numbers_share_the_gradient_of_their_maximum():
    one, other = gradient(gs.maximum, [1.0, 2.0, 3.0], [1.0, 1.0, 4.0])
    np.testing.assert_array_equal(one, [0.5, 1.0, 0.0])
    np.testing.assert_array_equal(other, [0.5, 0.0, 1.0])


@pytest.mark.parametrize("reduce", [lambda x: x.max(), lambda x: x.amax(), lambda x: x.amax((0, 1))])
def test_equal_extrema_share_the_gradient(reduce):
    np.testing.assert_array_equal(gradient(reduce, [[1.0, 3.0], [3.0, 0.0]]), [[0, 0.5], [0.5, 0]])


def test_amax_along_a_dimension_with_and_without_keepdim():
    value = [[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]]
    for keepdim in (False, True):
        found = gradient(lambda x, keepdim=keepdim: x.amax(1, keepdim), value)
        np.testing.assert_array_equal(found, [[0, 0.5, 0.5], [1, 0, 0]])


def test_max_along_a_dimension_picks_one():
    np.testing.assert_array_equal(gradient(lambda x: x.max(0).values, [2.0, 2.0, 1.0]), [1, 0, 0])


def test_nan_takes_the_gradient_of_its_maximum():
    np.testing.assert_array_equal(gradient(lambda x: x.max(), [1.0, nan]), [0, 1])


def test_std_of_equal_elements():
    np.testing.assert_array_equal(gradient(lambda x: x.std(), [2.0, 2.0, 2.0]), [0, 0, 0])


def test_var_without_degrees_of_freedom():
    with np.errstate(all="ignore"), pytest.warns(UserWarning, match=r"var\(\): degrees of freedom is <= 0"):
        assert np.isnan(gradient(lambda x: x.var(), [2.0])).all()


@pytest.mark.parametrize(
    "spread, op",
    [
        (lambda: gs.ones(3, 1).std(1), "std"),
        (lambda: gs.tensor(1.0).std(), "std"),
        (lambda: gs.ones(2).std(correction=2), "std"),
        (lambda: gs.ones(3, 1).var(1), "var"),
        (lambda: gs.var_mean(gs.ones(3, 1), 1)[0], "var"),
        (lambda: gs.std_mean(gs.ones(3, 1), 1)[0], "std"),
    ],
)
def test_spreads_of_too_few_elements_warn(spread, op):
    with pytest.warns(UserWarning, match=rf"{op}\(\): degrees of freedom is <= 0. Correction") as found:
        assert spread().isnan().all()
    assert found[0].filename == __file__ and len(found) == 1


def test_spreads_of_one_element_that_are_zero():
    assert gs.ones(3, 1).var(1, correction=0).tolist() == [0, 0, 0] and gs.ones(1).std(unbiased=False).item() == 0
    assert gs.empty(1, device="meta").std().is_meta


# ---- powers


def test_power_by_base_and_exponent():
    by_base, by_exponent = gradient(lambda x, y: x**y, [0.0, 0.0, 2.0, -2.0], [0.0, 2.0, 3.0, 2.0])
    np.testing.assert_array_equal(by_base, [0, 0, 12, -4])
    np.testing.assert_allclose(by_exponent[:3], [0, 0, 8 * math.log(2)])
    assert np.isnan(by_exponent[3])


def test_second_gradient_of_a_power_of_zero_is_finite():
    np.testing.assert_array_equal(second_gradient(lambda x: 0.0**x, [0.0, 1.0, 2.0], [1.0, 1.0, 1.0]), [0, 0, 0])
    np.testing.assert_array_equal(second_gradient(lambda x: x**2, [0.0, 3.0], [1.0, 1.0]), [2, 2])


def test_negative_base_with_a_complex_exponent():
    _, by_exponent = gradient(lambda x, y: (x**y).real, [-1.0], [0.5j])
    value = (-1 + 0j) ** 0.5j
    np.testing.assert_allclose(by_exponent, [np.conj(value * np.log(-1 + 0j))])


# ---- products


def reference_of_others(values):
    return [math.prod(v for j, v in enumerate(values) if j != i) for i in range(len(values))]


@pytest.mark.parametrize("values", [[2.0, 3.0, 5.0], [2.0, 0.0, 5.0], [0.0, 0.0, 5.0], [0.0], [7.0], [1.0] * 9 + [0.0]])
def test_prod(values):
    np.testing.assert_allclose(gradient(lambda x: x.prod(), values), reference_of_others(values))
    np.testing.assert_allclose(gradient(lambda x: x.prod(0), values), reference_of_others(values))


def test_prod_along_a_dimension():
    value = np.array([[2.0, 0.0, 3.0], [1.0, 2.0, 4.0]])
    expected = [reference_of_others(row) for row in value]
    for keepdim in (False, True):
        found = gradient(lambda x, keepdim=keepdim: x.prod(-1, keepdim=keepdim), value)
        np.testing.assert_allclose(found, expected)


def test_second_gradient_of_a_product_with_a_zero():
    # f = x y z at (0, 2, 3): d2f/dxdy = z, d2f/dxdz = y, d2f/dydz = x
    np.testing.assert_allclose(second_gradient(lambda x: x.prod(), [0.0, 2.0, 3.0], [1.0, 10.0, 100.0]), [230, 3, 2])


def test_prod_of_a_number_and_of_nothing():
    np.testing.assert_array_equal(gradient(lambda x: x.prod(), 0.0), 1)
    assert gradient(lambda x: x.prod(), np.zeros((0, 3))).shape == (0, 3)


# ---- parts that were not used


def test_unused_parts_have_zero_gradient():
    value = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(gradient(lambda x: x.split(2)[1], value), [[0, 0], [0, 0], [1, 1]])
    np.testing.assert_array_equal(gradient(lambda x: x.unbind(1)[0], value), [[1, 0]] * 3)
    np.testing.assert_array_equal(gradient(lambda x: x.chunk(3)[1], value), [[0, 0], [1, 1], [0, 0]])


def test_cat_with_an_empty_vector():
    one, empty = gradient(lambda a, b: gs.cat([a, b]), [[1.0, 2.0]], np.zeros(0))
    np.testing.assert_array_equal(one, [[1, 1]])
    assert empty.shape == (0,)


def test_scatter_leaves_out_what_the_index_does_not_reach():
    index = gs.tensor([[0, 1]])
    _, by_src = gradient(lambda x, src: x.scatter(0, index, src), np.zeros((2, 2)), np.ones((2, 2)))
    np.testing.assert_array_equal(by_src, [[1, 1], [0, 0]])


@pytest.mark.parametrize(
    ("shape", "chunks", "sizes"),
    [((5,), 2, [3, 2]), ((5,), 3, [2, 2, 1]), ((2,), 5, [1, 1]), ((0,), 3, [0, 0, 0]), ((4,), 1, [4])],
)
def test_chunk_sizes(shape, chunks, sizes):
    assert [part.shape[0] for part in gs.zeros(*shape).chunk(chunks)] == sizes


# ---- strided views


def test_overlapping_view_adds_up():
    found = gradient(lambda x: x.as_strided((3, 3), (1, 1)), np.arange(5.0))
    np.testing.assert_array_equal(found, [1, 2, 3, 2, 1])


def test_elements_that_share_a_place_share_its_gradient():
    leaf = gs.tensor([1.0, 2.0], requires_grad=True)
    repeated = leaf.expand(3, 2)
    (grad,) = gs.autograd.grad(repeated.as_strided((2,), (1,)).sum(), [repeated])
    np.testing.assert_allclose(grad.numpy(), np.full((3, 2), 1 / 3), rtol=1e-6)


@pytest.mark.parametrize(
    ("size", "stride", "offset", "message"),
    [
        ((7,), (1,), None, "reach beyond the 6 elements"),
        ((2,), (1,), 5, "reach beyond"),
        ((2,), (-1,), None, "negative"),
        ((2, 2), (1,), None, "differ in length"),
    ],
)
def test_strided_views_stay_inside_the_memory(size, stride, offset, message):
    with pytest.raises(RuntimeError, match=message):
        gs.zeros(2, 3).as_strided(size, stride, offset)


# ---- losses


def test_cross_entropy_against_its_definition():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(4, 3, 2))
    target = generator.integers(0, 3, size=(4, 2))
    weight = np.array([0.5, 1.0, 2.0])
    logs = x - np.log(np.exp(x).sum(1, keepdims=True))
    right = np.take_along_axis(logs, target[:, None], 1)[:, 0]
    smoothed = 0.8 * weight[target] * right + 0.2 / 3 * (weight[:, None] * logs).sum(1)
    found = functional.cross_entropy(
        gs.from_numpy(x), gs.from_numpy(target), gs.from_numpy(weight), label_smoothing=0.2
    )
    np.testing.assert_allclose(found.item(), -smoothed.sum() / weight[target].sum())


def test_cross_entropy_of_probabilities_is_that_of_classes():
    x = gs.tensor([[0.5, -1.0, 2.0], [0.0, 1.0, -2.0]])
    classes, certain = gs.tensor([2, 0]), gs.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    for smoothing in (0.0, 0.3):
        one = functional.cross_entropy(x, classes, label_smoothing=smoothing)
        other = functional.cross_entropy(x, certain, label_smoothing=smoothing)
        np.testing.assert_allclose(one.item(), other.item(), rtol=1e-6)


def test_gradient_of_class_weights():
    """The mean is unchanged when all weights grow alike."""
    x, target = gs.tensor([[0.5, -1.0, 2.0], [0.0, 1.0, -2.0]], dtype=gs.float64), gs.tensor([2, 0])
    weight = gs.tensor([0.5, 1.0, 2.0], dtype=gs.float64, requires_grad=True)
    (grad,) = gs.autograd.grad(functional.nll_loss(x, target, weight), [weight])
    assert abs((grad * weight).sum().item()) < 1e-12
    (grad,) = gs.autograd.grad(functional.nll_loss(x, target, weight, reduction="sum"), [weight])
    np.testing.assert_allclose(grad.numpy(), [0.0, 0.0, -2.0])


def smoothed_loss(x, classes):
    return functional.cross_entropy(x, gs.tensor(classes), label_smoothing=0.1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: smoothed_loss(x, [0, 3]), IndexError, "Target 3 is out of bounds"),
        (lambda x: smoothed_loss(x, [0]), ValueError, r"Expected target size \[2\]"),
        (lambda x: functional.cross_entropy(x, x, label_smoothing=1.5), RuntimeError, "between 0.0 and 1.0"),
        (
            lambda x: functional.cross_entropy(x, x[:1]),
            ValueError,
            "batch_size .* probabilities of the size of the input",
        ),
        (lambda x: functional.gelu(x, approximate="fast"), RuntimeError, "'fast'"),
        (lambda x: x.clamp(), RuntimeError, "at least one of"),
        (lambda x: x.flatten(1, 0), RuntimeError, "comes after"),
        (lambda x: x.chunk(0), RuntimeError, "greater than 0"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(gs.zeros(2, 3))
