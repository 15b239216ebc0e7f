"""Formulas of float16 numbers: computed in float32 and rounded once, whatever the layout and where they are written."""

import numpy as np
import pytest

import gradsmith as gs

RNG = np.random.default_rng(5)

# Name of the method, its numbers besides tensors, and the formula.
FORMULAS = [
    ("addcmul", 3, {"value": 0.3}, lambda x, y, z: x + np.float32(0.3) * y * z),
    ("lerp", 2, {"weight": 0.25}, lambda x, y: x + np.float32(0.25) * (y - x)),
    ("clamp", 1, {"min": -0.5, "max": 0.75}, lambda x: np.clip(x, np.float32(-0.5), np.float32(0.75))),
    ("relu", 1, {}, lambda x: np.maximum(x, 0)),
]


def halves(*shape):
    return RNG.standard_normal(shape).astype(np.float16)


def computed(formula, *operands):
    with np.errstate(invalid="ignore"):
        return formula(*[operand.astype(np.float32) for operand in operands]).astype(np.float16)


@pytest.mark.parametrize("name, count, numbers, formula", FORMULAS, ids=[name for name, *_ in FORMULAS])
@pytest.mark.parametrize("shape", [(), (1,), (511,), (3, 513), (40, 30, 50), (0, 3)])
def test_values_are_rounded_once(name, count, numbers, formula, shape):
    operands = [np.asarray(halves(*shape)) for _ in range(count)]
    expected = computed(formula, *operands)
    given = [gs.tensor(operand) for operand in operands]
    found = getattr(given[0], name)(*given[1:], **numbers)
    written = getattr(given[0], name + "_")(*given[1:], **numbers)
    assert written is given[0] and found.dtype == gs.float16
    for result in (found, written):
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-3, atol=1e-6)
    np.testing.assert_array_equal(found.numpy(), written.numpy())


@pytest.mark.parametrize("name, count, numbers, formula", FORMULAS, ids=[name for name, *_ in FORMULAS])
def test_other_layouts(name, count, numbers, formula):
    plain = [halves(20, 30) for _ in range(count)]
    for change in (np.transpose, lambda a: a[::2, ::-3], lambda a: np.asfortranarray(a)):
        arrays = [change(array) for array in plain]
        given = [gs.from_numpy(array.copy(order="K")) for array in arrays]
        view = gs.from_numpy(plain[0].copy())
        found = getattr(given[0], name)(*given[1:], **numbers)
        np.testing.assert_allclose(found.numpy(), computed(formula, *arrays), rtol=1e-3, atol=1e-6)
        row = getattr(view[3], name + "_")(*[gs.tensor(array[3]) for array in plain[1:]], **numbers)
        expected = computed(formula, *[array[3] for array in plain])
        np.testing.assert_allclose(row.numpy(), expected, rtol=1e-3, atol=1e-6)
        np.testing.assert_array_equal(view.numpy()[4:], plain[0][4:])


def test_operands_that_are_the_same_or_overlap():
    a = halves(1000)
    x = gs.tensor(a)
    x.addcmul_(x, x)
    np.testing.assert_allclose(x.numpy(), computed(lambda x: x + x * x, a), rtol=1e-3, atol=1e-6)
    x = gs.tensor(a)
    x[1:].lerp_(x[:-1], 0.5)  # reads what was there before
    expected = computed(lambda x, y: x + 0.5 * (y - x), a[1:], a[:-1])
    np.testing.assert_allclose(x[1:].numpy(), expected, rtol=1e-3, atol=1e-6)


def test_broadcast_and_special_numbers():
    a, b = halves(4, 5), halves(5)
    x = gs.tensor(a)
    np.testing.assert_allclose(
        x.addcmul_(gs.tensor(b), gs.tensor(b)).numpy(), computed(lambda x, y: x + y * y, a, b), 1e-3
    )
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 65504, 6e-8], np.float16)
    np.testing.assert_array_equal(
        gs.tensor(special).clamp_(-1, 1).numpy(), computed(lambda x: np.clip(x, -1, 1), special)
    )
    assert gs.tensor(special).addcmul_(gs.tensor(special), gs.tensor(special)).isinf().tolist() == [
        False, True, False, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(), (513,), (30, 40)])
@pytest.mark.parametrize("name, function", [("neg", np.negative), ("abs", np.abs)])
def test_signs(name, function, shape):
    a = np.asarray(halves(*shape))
    x = gs.tensor(a)
    np.testing.assert_array_equal(getattr(x, name)().numpy(), function(a))
    np.testing.assert_array_equal(getattr(x.T, name)().numpy(), function(a.T))
    np.testing.assert_array_equal(getattr(x, name + "_")().numpy(), function(a))
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, -6e-8, 65504], np.float16)
    found = getattr(gs.tensor(special), name)().numpy()
    np.testing.assert_array_equal(found, function(special))
    np.testing.assert_array_equal(np.signbit(found[1:]), np.signbit(function(special[1:])))


@pytest.mark.parametrize("number", [0.3, 3, -1e6, 1e-7, float("inf"), float("nan"), True])
@pytest.mark.parametrize("shape", [(), (1,), (513,), (30, 40, 50)])
def test_products_and_quotients_with_a_number_keep_its_digits(number, shape):
    a = np.asarray(halves(*shape))
    wide, factor = a.astype(np.float32), np.float32(number)
    with np.errstate(all="ignore"):
        expected = {
            "mul": (wide * factor).astype(np.float16),
            "div": (wide / factor).astype(np.float16),
            "floor_divide": np.floor_divide(wide, factor).astype(np.float16),
        }
        reciprocal = (factor / wide).astype(np.float16)
    for name, values in expected.items():
        x = gs.tensor(a)
        found = getattr(x, name)(number)
        assert found.dtype == gs.float16
        np.testing.assert_array_equal(found.numpy(), values)
        np.testing.assert_array_equal(x.numpy(), a)
        np.testing.assert_array_equal(getattr(x, name + "_")(number).numpy(), values)
    np.testing.assert_array_equal((number / gs.tensor(a)).numpy(), reciprocal)


def test_products_with_a_number_of_other_layouts():
    a = halves(20, 30)
    expected = (a.astype(np.float32) * np.float32(0.3)).astype(np.float16)
    x = gs.tensor(a)
    np.testing.assert_array_equal((x.T * 0.3).numpy(), expected.T)
    np.testing.assert_array_equal(x[:, ::2].mul_(0.3).numpy(), expected[:, ::2])
    np.testing.assert_array_equal(x.numpy()[:, 1::2], a[:, 1::2])
