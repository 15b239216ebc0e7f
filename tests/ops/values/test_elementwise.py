"""Elementwise ops where neither samples nor points of their entries reach: PyTorch's answers at odd places."""

import math

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad

inf, nan = math.inf, math.nan


def gradients(function, *arrays):
    leaves = [gs.tensor(array, dtype="float64", requires_grad=True) for array in arrays]
    return [g.tolist() for g in grad(function(*leaves).sum(), leaves, materialize_grads=True)]


SLOPES = {  # function, arguments, their gradients
    "atan2 of tiny and huge numbers": (gs.atan2, [[1e-200, 1e200], [0.0, 1e200]], [[0.0, 5e-201], [-1e200, -5e-201]]),
    "hypot of tiny numbers": (gs.hypot, [[1e-200, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]),
    "logaddexp": (gs.logaddexp, [[0.0, inf, -inf], [inf, -inf, 0.0]], [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]),
    "fmod": (gs.fmod, [[5.0, -5.0, 0.0], [3.0, inf, 2.0]], [[1.0, 1.0, 1.0], [-1.0, 0.0, 0.0]]),
    "copysign": (gs.copysign, [[0.0, 2.0, inf], [1.0, -0.0, -1.0]], [[0.0, -1.0, -1.0], [0.0, 0.0, 0.0]]),
    "fmax beside NaN": (gs.fmax, [[1.0, nan, nan], [1.0, 1.0, nan]], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    "nan_to_num": (gs.nan_to_num, [[0.0, inf, -inf, nan]], [[1.0, 0.0, 0.0, 0.0]]),
    "sinc near zero": (gs.sinc, [[0.0, 1e-9, 1.0]], [[0.0, -(math.pi**2) / 3 * 1e-9, -1.0]]),
    "angle": (lambda x: gs.angle(gs.complex(x, 0 * x + 1)), [[0.0]], [[-1.0]]),
    "lerp beyond": (lambda x, y: gs.lerp(x, y, 3.0), [[1.0], [2.0]], [[-2.0], [3.0]]),
}


@pytest.mark.parametrize("name", SLOPES)
def test_gradients(name):
    function, arguments, expected = SLOPES[name]
    if name.startswith("atan2"):  # at the first place both are the angle's own size
        arguments, expected = [[1e200], [1e200]], [[5e-201], [-5e-201]]
    np.testing.assert_allclose(gradients(function, *arguments), expected, rtol=1e-12, atol=0)


def test_a_remainder_may_be_written():
    """Its node keeps the operands alone, as PyTorch's does."""
    x, y = gs.tensor([5.0, -4.0], requires_grad=True), gs.tensor([3.0, 1.5], requires_grad=True)
    for remainder, slopes in ((gs.fmod, [-1.0, 2.0]), (gs.remainder, [-1.0, 3.0])):
        found = remainder(x, y)
        assert [g.tolist() for g in grad(found.mul_(2).sum(), (x, y))] == [[2.0, 2.0], [2 * slope for slope in slopes]]


@pytest.mark.parametrize("decimals", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rounding_to_digits(dtype, decimals):
    x = np.array([15.0, 25.0, 2.675, -0.05, inf, nan, 6e4], dtype)
    wide = x.astype("float32") if dtype == "float16" else x
    found = gs.round(gs.tensor(x), decimals=decimals).numpy()
    np.testing.assert_array_equal(gs.tensor(x).round(decimals).numpy(), found)  # as NumPy's method
    np.testing.assert_array_equal(found, np.round(wide, decimals).astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rounding_in_place_without_dimensions(dtype):
    """NumPy gives a scalar here, no array; it was once read as one."""
    for call in (lambda x: x.round_(decimals=1), lambda x: x.round_(1), lambda x: gs.round(x, decimals=1, out=x)):
        x = gs.tensor(1.26, dtype=np.dtype(dtype))
        assert call(x) is x and x.item() == np.round(np.asarray(1.26, dtype), 1)


def test_rounding_refuses_integers_with_digits():
    with pytest.raises(NotImplementedError, match=r"^round\(\): decimals are not defined for int64 tensors"):
        gs.round(gs.tensor([15]), decimals=-1)


CLOSE = [([1.0, nan, inf, 1.0], [1.0 + 1e-9, nan, inf, 1.1], {}, [True, False, True, False])]
CLOSE += [([nan], [nan], {"equal_nan": True}, [True]), ([1.0], [1.1], {"rtol": 0.1, "atol": 0.0}, [True])]
CLOSE += [([inf, -inf, inf], [-inf, 0.0, 1.0], {"rtol": 1.0}, [False, False, False])]
CLOSE += [([100, -128], [100, 127], {}, [True, False]), ([True], [False], {}, [False])]


@pytest.mark.parametrize(("one", "other", "options", "expected"), CLOSE)
def test_what_is_close(one, other, options, expected):
    one, other = gs.tensor(one), gs.tensor(other)
    assert gs.isclose(one, other, **options).tolist() == expected
    assert gs.allclose(one, other, **options) == one.allclose(other, **options) == all(expected)


def test_close_tensors_have_one_dtype_and_tolerances_are_not_negative():
    with pytest.raises(RuntimeError, match=r"^isclose\(\): the tensors must have one dtype, but they have float32"):
        gs.isclose(gs.ones(2), gs.ones(2, dtype="float64"))
    with pytest.raises(RuntimeError, match=r"^isclose\(\): rtol must be greater than or equal to zero, but got -1"):
        gs.isclose(gs.ones(2), gs.ones(2), rtol=-1)
    with pytest.raises(RuntimeError, match=r"^isclose\(\): sizes \[2\] and \[3\] do not broadcast"):
        gs.isclose(gs.ones(2), gs.ones(3))


def test_equality_of_tensors():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    assert gs.equal(x, x.detach()) and x.equal(x)
    assert not gs.equal(x, gs.ones(1)) and not gs.equal(gs.tensor([nan]), gs.tensor([nan]))
    assert gs.is_nonzero(gs.tensor([0.5])) and not gs.tensor(0).is_nonzero()
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        gs.is_nonzero(x)


CONVERSIONS = {
    "half": "float16", "float": "float32", "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
    "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64", "bool": "bool",
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_by_method(name):
    x = gs.tensor([1.5, 0.0], requires_grad=True)
    found = getattr(x, name)()
    assert found.dtype == np.dtype(CONVERSIONS[name]) and (found is x) == (name == "float")
    if found.dtype.kind in "fc":
        assert grad(found.real.sum(), x)[0].tolist() == [1.0, 1.0]


def test_new_tensors_are_of_the_kind_of_another():
    x = gs.ones(2, dtype="float64")
    assert x.new_zeros(2, 3).tolist() == [[0.0] * 3] * 2 and x.new_zeros((2,)).dtype == x.dtype
    assert x.new_ones(size=(1,), dtype=gs.int64).dtype == gs.int64 and x.new_full((2,), 7).tolist() == [7.0, 7.0]
    assert x.new_tensor([1, 2]).dtype == x.dtype and x.new_empty(0, requires_grad=True).requires_grad
    assert x.to("meta").new_zeros(3).is_meta
    rows = gs.vmap(lambda row: row.new_zeros(2).add_(row))(gs.ones(3, 2))
    assert rows.tolist() == [[1.0, 1.0]] * 3
    with pytest.raises(TypeError, match=r"new_zeros\(\) got an unexpected keyword argument 'shape'"):
        x.new_zeros(shape=(2,))


def test_integers():
    x, y = gs.tensor([12, -18, 0], dtype="int32"), gs.tensor([18, 12, 0], dtype="int32")
    assert gs.gcd(x, y).tolist() == [6, 6, 0] and gs.lcm(x, y).tolist() == [36, 36, 0]
    assert gs.gcd(x, y).dtype == gs.int32
    with pytest.raises(NotImplementedError, match="\"gcd\" not implemented for 'float32'"):
        gs.gcd(gs.ones(1), gs.ones(1))


def test_views_of_complex_numbers():
    z = gs.tensor([1 + 2j, 3 - 1j])
    parts = gs.view_as_real(z)
    parts[0, 1] = 5.0
    assert z.tolist() == [1 + 5j, 3 - 1j] and parts._is_view()
    assert z.reshape(1, 2).mH.tolist() == [[1 - 5j], [3 + 1j]] and gs.ones(2, 3).H.shape == (3, 2)
    alone = gs.tensor(3.0)
    assert alone.H is alone and z[0].H.item() == 1 - 5j
    with pytest.raises(RuntimeError, match="H is for matrices and 0-dimensional tensors"):
        _ = z.H
    with pytest.raises(RuntimeError, match=r"^complex\(\): expected parts of one dtype, but got float32 and float64"):
        gs.complex(gs.ones(1), gs.ones(1, dtype="float64"))


@pytest.mark.parametrize("decimals", [-400, -40, -2, 0, 1, 5, 23, 39, 330])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_to_decimals_is_that_of_numpy(decimals, dtype):
    array = np.random.default_rng(0).standard_normal((3, 40)).astype(dtype) * dtype(100)
    array[0, :4] = np.nan, np.inf, -np.inf, -0.0
    with np.errstate(all="ignore"):
        expected = np.round(array, decimals)
    np.testing.assert_array_equal(gs.round(gs.tensor(array), decimals=decimals).numpy(), expected)


@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (80, 80)])
def test_truth_of_all_and_of_any(shape):
    for share in (0.0, 0.5, 0.999, 1.0):
        array = np.random.default_rng(1).random(shape) < share
        assert gs.tensor(array).all().item() == np.all(array)
        assert gs.tensor(array).any().item() == np.any(array)
