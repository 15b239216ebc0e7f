"""`gs.testing`: comparisons with tolerances, and tensors to test with."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.testing import assert_close, make_tensor

NAN = float("nan")

EQUAL = [
    (gs.tensor([1.0]), gs.tensor([1.0 + 1e-6])),
    (gs.tensor([1.0], dtype=gs.float64), gs.tensor([1.0 + 1e-8], dtype=gs.float64)),
    (gs.tensor([1, 2]), gs.tensor([1, 2])),
    (gs.tensor([float("inf")]), gs.tensor([float("inf")])),
    (gs.tensor([1j]), gs.tensor([1j])),
    (np.ones(2), np.ones(2)),
    (1.0, 1.0 + 1e-8),
    (True, True),
    (None, None),
    ([1.0, {"a": gs.ones(2)}], (1.0, {"a": gs.ones(2)})),
    (gs.ones(0), gs.ones(0)),
    (gs.ones(1, requires_grad=True) * 2, gs.full((1,), 2.0)),
    (gs.ones(2, device="meta"), gs.zeros(2, device="meta")),
]


@pytest.mark.parametrize("actual, expected", EQUAL, ids=str)
def test_close(actual, expected):
    assert_close(actual, expected)


# PyTorch's messages for the same values.
DIFFERENT = [
    (
        gs.tensor([1.0, 2.0]),
        gs.tensor([1.0, 2.5]),
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n"
        "Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.2 at index (1,) (up to 1.3e-06 allowed)",
    ),
    (
        gs.tensor([[1.0, 1.0], [1.0, 1.0]]),
        gs.eye(2),
        "Tensor-likes are not close!\n\nMismatched elements: 2 / 4 (50.0%)\n"
        "Greatest absolute difference: 1.0 at index (0, 1) (up to 1e-05 allowed)\n"
        "Greatest relative difference: inf at index (0, 1) (up to 1.3e-06 allowed)",
    ),
    (
        gs.tensor(1.0),
        gs.tensor(1.5),
        "Scalars are not close!\n\nExpected 1.5 but got 1.0.\nAbsolute difference: 0.5 (up to 1e-05 allowed)\n"
        "Relative difference: 0.3333333333333333 (up to 1.3e-06 allowed)",
    ),
    (1, 2, "Scalars are not equal!\n\nExpected 2 but got 1.\nAbsolute difference: 1\nRelative difference: 0.5"),
    (gs.ones(2), gs.ones(3), "The values for attribute 'shape' do not match: (2,) != (3,)."),
    (gs.ones(2), gs.ones(2).double(), "The values for attribute 'dtype' do not match: float32 != float64."),
    (gs.ones(1), gs.ones(1, device="meta"), "The values for attribute 'device' do not match: cpu != meta."),
    ([1.0, 2], [1.0, 2, 3], "The length of the sequences mismatch: 2 != 3"),
    (
        {"a": 1},
        {"b": 1},
        "The keys of the mappings do not match:\nMissing keys in the actual mapping: ['b']\n"
        "Additional keys in the actual mapping: ['a']",
    ),
    (True, False, "Booleans mismatch: True is not False"),
    (None, 1, "None mismatch: None is not 1"),
    (1, 1.0, "The (d)types do not match: <class 'int'> != <class 'float'>."),
]


@pytest.mark.parametrize("actual, expected, message", DIFFERENT, ids=[text.split("\n")[-1] for _, _, text in DIFFERENT])
def test_not_close(actual, expected, message):
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected)
    assert str(caught.value) == message


def test_greatest_differences_of_integers():
    with pytest.raises(AssertionError, match=r"Greatest absolute difference: 200 at index \(0,\)\n"):
        assert_close(gs.tensor([100, 0], dtype=gs.int8), gs.tensor([-100, 0], dtype=gs.int8))


def test_the_place_of_an_item():
    with pytest.raises(AssertionError, match=r"The failure occurred for item \[1\]\['a'\]"):
        assert_close([1.0, {"a": gs.ones(2)}], [1.0, {"a": gs.zeros(2)}])


def test_nan():
    x = gs.tensor([NAN, 1.0])
    with pytest.raises(AssertionError, match="difference: nan"):
        assert_close(x, x)
    assert_close(x, x, equal_nan=True)
    assert_close(NAN, NAN, equal_nan=True)


def test_tolerances():
    a, b = gs.tensor([1.0]), gs.tensor([1.05])
    assert_close(a, b, rtol=0.1, atol=0)
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(a, b, rtol=0.1)
    with pytest.raises(ValueError, match="got no rtol"):
        assert_close(a, b, atol=0.1)


def test_checks_may_be_left_out():
    assert_close(gs.ones(2), gs.ones(2).double(), check_dtype=False)
    assert_close(1, 1.0, check_dtype=False)
    with pytest.raises(AssertionError, match="stride"):
        assert_close(gs.ones(2, 2), gs.ones(2, 2).t(), check_stride=True)


def test_messages_of_ones_own():
    with pytest.raises(AssertionError, match="^mine$"):
        assert_close(1.0, 2.0, msg="mine")
    with pytest.raises(AssertionError, match=r"^it: Scalars"):
        assert_close(1.0, 2.0, msg=lambda text: f"it: {text}")


def test_what_cannot_be_compared():
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close("a", "a")
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(gs.ones(1), 1.0)
    with pytest.raises(TypeError, match="classes differ"):
        assert_close(gs.nn.Parameter(gs.ones(1)), gs.ones(1), allow_subclasses=False)


DTYPES = [gs.bool, gs.uint8, gs.int8, gs.int64, gs.uint64, gs.float16, gs.float32, gs.float64, gs.complex64]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_make_tensor(dtype):
    x = make_tensor(50, 4, dtype=dtype)
    assert x.shape == (50, 4) and x.dtype == dtype and make_tensor((2, 3), dtype=dtype).shape == (2, 3)
    assert make_tensor((), dtype=dtype).shape == () and make_tensor(0, 3, dtype=dtype).shape == (0, 3)
    assert len(np.unique(x.numpy())) > 1
    apart = make_tensor(3, 4, dtype=dtype, noncontiguous=True)
    assert not apart.is_contiguous() and apart.dtype == dtype and apart.shape == (3, 4)
    assert bool((make_tensor(200, dtype=dtype, low=0, high=2, exclude_zero=True) != 0).all())
    assert make_tensor(2, dtype=dtype, device="meta").is_meta


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "bool"])
def test_made_integers_reach_the_limits_of_their_dtype(dtype):
    least, greatest = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    dtype = getattr(gs, dtype)
    assert make_tensor(3, dtype=dtype, low=greatest, high=greatest + 1).tolist() == [greatest] * 3
    assert make_tensor(3, dtype=dtype, low=least, high=least + 1).tolist() == [least] * 3
    assert make_tensor(9, dtype=dtype, low=-(2**40), high=least + 1).tolist() == [least] * 9
    assert make_tensor(9, dtype=dtype, low=greatest, high=2**40).tolist() == [greatest] * 9


def test_bounds_of_made_tensors():
    x = make_tensor(1000, dtype=gs.float64, low=2, high=3)
    assert x.min() >= 2 and x.max() < 3
    assert make_tensor(1000, dtype=gs.int64, low=2, high=4).unique().tolist() == [2, 3]
    assert make_tensor(2, dtype=gs.float32, requires_grad=True).requires_grad
    assert make_tensor(1, 2, 3, 4, dtype=gs.float32, memory_format=gs.channels_last).stride() == (24, 1, 8, 2)
    for low, high in ((3, 2), (NAN, 1), (1, 1)):
        with pytest.raises(ValueError, match="low"):
            make_tensor(2, dtype=gs.int64, low=low, high=high)
    with pytest.raises(ValueError, match="mutually exclusive"):
        make_tensor(2, dtype=gs.float32, noncontiguous=True, memory_format=gs.contiguous_format)
