"""``torch._foreach_add`` and its family, and groups of tensors by device and dtype."""

import pickle

import pytest

import gradsmith as gs
from gradsmith.utils._foreach_utils import _group_tensors_by_device_and_dtype, _has_foreach_support

OF_ONE = [
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip


@pytest.fixture
def x():
    return [gs.tensor([1.0, -2.0]), gs.tensor([[4.0]])]


def lists(tensors):
    return [t.tolist() for t in tensors]


@pytest.mark.parametrize("op", OF_ONE)
def test_functions_of_one_list(op, x):
    changed = gs._foreach_clone(x)
    results = getattr(gs, f"_foreach_{op}")(x)
    assert type(results) is tuple
    assert getattr(gs, f"_foreach_{op}_")(changed)[0] is changed[0]
    for before, result, after in zip(x, results, changed):
        gs.testing.assert_close(result, getattr(before, op)(), equal_nan=True, rtol=0, atol=0)
        gs.testing.assert_close(after, result, equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize(
    "op, other, expected",
    [
        ("add", 2, [[3, 0], [[6]]]),
        ("add", [1, 2.0], [[2, -1], [[6]]]),
        ("sub", [gs.tensor([1.0, 1.0]), gs.tensor(3.0)], [[0, -3], [[1]]]),
        ("mul", gs.tensor(3.0), [[3, -6], [[12]]]),
        ("div", 2, [[0.5, -1], [[2]]]),
        ("pow", [2, 0.5], [[1, 4], [[2]]]),
        ("maximum", 1.5, [[1.5, 1.5], [[4]]]),
        ("minimum", [gs.tensor([0.0, 0.0]), gs.tensor([[5.0]])], [[0, -2], [[4]]]),
        ("clamp_min", [0, 5], [[1, 0], [[5]]]),
        ("clamp_max", 0, [[0, -2], [[0]]]),
    ],
)
def test_functions_of_two(op, other, expected, x):
    assert lists(getattr(gs, f"_foreach_{op}")(x, other)) == expected
    assert lists(getattr(gs, f"_foreach_{op}_")(x, other)) == lists(x) == expected


def test_further_arguments(x):
    ones = gs._foreach_pow(x, 0)
    assert lists(gs._foreach_add(x, ones, alpha=2)) == [[3, 0], [[6]]]
    assert lists(gs._foreach_add(x, gs.tensor(1.0), alpha=2)) == [[3, 0], [[6]]]
    assert lists(gs._foreach_add(x, other=ones)) == lists(gs._foreach_add(x, scalar=1)) == [[2, -1], [[5]]]
    assert lists(gs._foreach_pow(2, x)) == [[2, 0.25], [[16]]]
    assert lists(gs._foreach_lerp(x, ones, weight=0.5)) == lists(gs._foreach_lerp(x, ones, [0.5, 0.5]))
    assert lists(gs._foreach_lerp(x, ones, ones)) == lists(ones)
    assert lists(gs._foreach_addcmul(x, x, ones, value=2)) == [[3, -6], [[12]]]
    assert lists(gs._foreach_addcdiv(x, x, ones, [1, 2])) == [[2, -4], [[12]]]
    assert lists(gs._foreach_addcmul_(x, ones, ones, gs.tensor([1.0, 2.0]))) == [[2, -1], [[6]]]


def test_those_that_reduce_or_copy(x):
    assert gs.stack(gs._foreach_norm(x)).tolist() == pytest.approx([5**0.5, 4])
    assert gs.stack(gs._foreach_norm(x, float("inf"))).tolist() == [2, 4]
    assert gs._foreach_norm(x, 1, dtype=gs.float64)[0].dtype == gs.float64
    assert gs.stack(gs._foreach_powsum(x, 3)).tolist() == [9, 64]
    assert gs.stack(gs._foreach_max(x)).tolist() == [1, 4]
    assert lists(gs._foreach_mm([x[1]], [x[1]])) == [[[16]]]
    copies = gs._foreach_copy_(gs._foreach_clone(x), [-t for t in x])
    assert lists(copies) == [[-1, 2], [[-4]]] and lists(gs._foreach_zero_(x)) == [[0, 0], [[0]]]


def test_gradients_of_each():
    w = [gs.tensor([2.0], requires_grad=True), gs.tensor([3.0], requires_grad=True)]
    first, second = gs._foreach_mul(w, w)
    (first + second).sum().backward()
    assert [t.grad.item() for t in w] == [4, 6]


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: gs._foreach_add(x, x[:1]), RuntimeError),
        (lambda x: gs._foreach_add(x, [1]), RuntimeError),
        (lambda x: gs._foreach_add([], 1), RuntimeError),
        (lambda x: gs._foreach_add(x, 1, alpha=2), TypeError),
        (lambda x: gs._foreach_mul(x, x, alpha=2), TypeError),
        (lambda x: gs._foreach_mul(x, gs.ones(2)), RuntimeError),
        (lambda x: gs._foreach_mul(x), TypeError),
        (lambda x: gs._foreach_mul(x, 1, scalar=2), TypeError),
        (lambda x: gs._foreach_mul(x, factor=2), TypeError),
        (lambda x: gs._foreach_neg(x[0]), TypeError),
        (lambda x: gs._foreach_nonsense, AttributeError),
        (lambda x: gs._foreach_gamma, AttributeError),
    ],
)
def test_what_is_refused(call, error, x):
    with pytest.raises(error):
        call(x)


def test_a_function_of_the_family_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(gs._foreach_add_)) is gs._foreach_add_


def test_groups():
    a, b, c = gs.ones(1), gs.ones(2, dtype=gs.float64), gs.zeros(1)
    groups = _group_tensors_by_device_and_dtype([[a, b, c], [None, b, None], []], with_indices=True)
    assert groups[gs.device("cpu"), gs.float32] == ([[a, c], [None, None], []], [0, 2])
    assert groups[gs.device("cpu"), gs.float64] == ([[b], [b], []], [1])
    assert _group_tensors_by_device_and_dtype([[a]])[a.device, a.dtype][1] == []
    with pytest.raises(RuntimeError, match="equally long"):
        _group_tensors_by_device_and_dtype([[a, c], [a]])
    assert _has_foreach_support([a, None], gs.device("cpu")) and not _has_foreach_support([a], gs.device("meta"))
