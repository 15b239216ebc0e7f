"""What ops take for tensors besides tensors, and what NumPy's functions do not give away."""

import math
from typing import Any

import numpy as np
import pytest

import gradsmith as gs

X = gs.tensor([1.0, 2.0, 3.0])


def double(*values: float) -> Any:
    return gs.tensor(values, dtype=np.float64)


# ---- arrays, lists and numbers for tensors


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: gs.sin(np.ones(3)), np.sin(np.ones(3))),
        (lambda: gs.sin([0.5, 1.0]), np.sin([0.5, 1.0])),
        (lambda: gs.sin(2.0), np.sin(2.0)),
        (lambda: gs.sin(np.float64(2)), np.sin(2.0)),
        (lambda: gs.maximum(0, X - 2), [0, 0, 1]),
        (lambda: gs.maximum([2, 2, 2], X), [2, 2, 3]),
        (lambda: gs.maximum(X, np.array([2.0, 2.0, 2.0], np.float32)), [2, 2, 3]),
        (lambda: gs.add(2, X), [3, 4, 5]),
        (lambda: gs.pow(2, 3), 8),
        (lambda: gs.sum([[1, 2], [3, 4]], 1), [3, 7]),
        (lambda: gs.sum(np.arange(6.0).reshape(2, 3), -1), [3, 12]),
        (lambda: gs.sum([[1.0, 2.0], [3.0, 4.0]], -1), [3, 7]),
        (lambda: gs.max(np.array([1.0, 5.0])), 5),
        (lambda: gs.max([[1.0, 5.0], [7.0, 2.0]], 1).values, [5, 7]),
        (lambda: gs.var(np.array([1.0, 3.0]), correction=0), 1),
        (lambda: gs.where([True, False], [1.0, 1.0], 2.0), [1, 2]),
        (lambda: gs.where(X > 1, X, 0), [0, 2, 3]),
        (lambda: gs.atan2(1.0, X), np.arctan2(1.0, [1, 2, 3])),
        (lambda: gs.clamp([0.0, 5.0], 1.0, 2.0), [1, 2]),
        (lambda: gs.gather(X, 0, [2, 0]), [3, 1]),
        (lambda: gs.index_select(np.arange(4.0), 0, [3, 1]), [3, 1]),
        (lambda: gs.cat([X, np.ones(1, np.float32), [5.0]]), [1, 2, 3, 1, 5]),
        (lambda: gs.stack([1, X[0], np.float64(3)]), [1, 1, 3]),
        (lambda: gs.concatenate([np.ones(1), np.zeros(1)]), [1, 0]),
        (lambda: gs.nn.functional.relu(np.array([-1.0, 1.0])), [0, 1]),
        (lambda: gs.softmax(np.zeros(2), -1), [0.5, 0.5]),
        (lambda: gs.linalg.solve(2 * np.eye(2), np.ones(2)), [0.5, 0.5]),
        (lambda: gs.matmul(np.eye(3, dtype=np.float32), X), [1, 2, 3]),
        (lambda: gs.meshgrid(np.ones(2), np.ones(1), indexing="ij")[0], [[1], [1]]),
        (lambda: X + [1, 2, 3], [2, 4, 6]),  # noqa: RUF005
        (lambda: (1, 2, 3) - X, [0, 0, 0]),
        (lambda: X * [1.0, 2.0, 3.0], [1, 4, 9]),
        (lambda: X == [1, 2, 4], [True, True, False]),
        (lambda: X @ [1.0, 1.0, 1.0], 6),
        (lambda: X.maximum([2, 2, 2]), [2, 2, 3]),
        (lambda: X.clone().add_([1, 1, 1]), [2, 3, 4]),
    ],
)
def test_ops_take_arrays_lists_and_numbers(found: Any, expected: Any) -> None:
    result = found()
    assert isinstance(result, gs.Tensor)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("found", "dtype"),
    [
        (lambda: gs.sin(np.ones(2)), np.float64),
        (lambda: gs.sin(np.float64(1)), np.float64),
        (lambda: gs.sin(1.0), np.float32),
        (lambda: gs.sin([1.0]), np.float32),
        (lambda: gs.sin([np.float64(1)]), np.float64),
        (lambda: gs.maximum(0.1, double(0, 1)), np.float64),
        (lambda: gs.maximum(0.1, X), np.float32),
        (lambda: gs.maximum(0.1, X[0]), np.float32),
        (lambda: gs.maximum(np.float64(0.1), X), np.float32),
        (lambda: gs.maximum(0, gs.tensor([1], dtype=np.int8)), np.int8),
        (lambda: gs.maximum(0.5, gs.tensor([1])), np.float32),
        (lambda: X + [0.1, 0.1, 0.1], np.float32),  # noqa: RUF005
        (lambda: double(1) + [0.1], np.float64),  # noqa: RUF005
        (lambda: [0.1] + double(1), np.float64),  # noqa: RUF005
        (lambda: X + np.ones(3), np.float64),
    ],
)
def test_numbers_and_lists_give_way_as_in_pytorch(found: Any, dtype: Any) -> None:
    assert found().dtype == dtype


def test_numbers_keep_their_precision_beside_doubles() -> None:
    assert gs.maximum(0.1, double(0)).item() == 0.1
    assert (double(0) + [0.1]).item() == 0.1  # noqa: RUF005
    assert gs.where(gs.tensor([True]), [0.1], double(0)).item() == 0.1
    assert gs.atan2(0.1, double(0.3)).item() == math.atan2(0.1, 0.3)


def test_lists_of_tensors_keep_their_history() -> None:
    x, y = gs.tensor(2.0, requires_grad=True), gs.tensor(3.0, requires_grad=True)
    (gs.tensor([1.0, 10.0]) * [x, y]).sum().backward()
    assert (x.grad.item(), y.grad.item()) == (1, 10)
    assert gs.sum([[x, 1.0], [y, 2.0]]).requires_grad


def test_an_array_is_shared_and_cannot_be_written_through_what_was_made_of_it() -> None:
    a = np.arange(4.0)
    view = gs.reshape(a, (2, 2))
    a[0] = 7.0
    assert view[0, 0].item() == 7
    with pytest.raises(ValueError, match="read-only"):
        view.add_(1)
    assert a.tolist() == [7, 1, 2, 3]
    assert a.flags.writeable


@pytest.mark.parametrize("bad", ["1", None, object(), {}, ["a"], [1.0, None], [[]], np.array(["a"]), np.array([None])])
def test_what_is_no_number_is_a_type_error(bad: Any) -> None:
    for call in (lambda: gs.sin(bad), lambda: gs.maximum(X, bad), lambda: gs.add(bad, X)):
        if isinstance(bad, list) and bad == [[]]:
            continue
        with pytest.raises(TypeError):
            call()


def test_lists_that_are_no_arrays_are_refused() -> None:
    with pytest.raises((TypeError, ValueError)):
        gs.sin([[1.0], [2.0, 3.0]])
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises((TypeError, ValueError, RecursionError)):
        gs.sin(endless)
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    with pytest.raises(TypeError, match="must be Tensor, not MaskedArray"):
        gs.sin(masked)


def test_what_an_op_changes_must_be_a_tensor() -> None:
    for call in (lambda: gs.nn.functional.relu(np.ones(2), inplace=True), lambda: gs.exp(X, out=np.ones(3))):
        with pytest.raises(TypeError, match="must be Tensor, not ndarray"):
            call()


def test_a_list_times_an_integer_repeats_it() -> None:
    assert [0] * gs.tensor(3) == [0, 0, 0]
    assert gs.tensor(2) * [1, 2] == [1, 2, 1, 2]
    assert ([2.0] * gs.tensor(3.0)).tolist() == [6.0]


# ---- what is no function of tensors


def test_numpy_computes_what_has_no_op_where_there_is_no_gradient_to_lose() -> None:
    x, i = gs.tensor([0.5, 1.5, 2.0]), gs.tensor([3, 1, 2])
    assert np.setdiff1d(np.arange(5), i).tolist() == [0, 4]
    assert np.unique_counts(i).counts.tolist() == [1, 1, 1]
    assert np.unravel_index(i, (2, 2))[1].tolist() == [1, 1, 0]
    np.testing.assert_allclose(np.polyfit(x, [1.0, 3.0, 4.0], 1), [2.0, 0.0], atol=1e-6)
    assert np.spacing(x).tolist() == np.spacing(x.numpy()).tolist()
    assert np.lib.stride_tricks.sliding_window_view(x, 2).shape == (2, 2)
    with pytest.raises(TypeError, match="there is no op for it"):  # it would be changed behind its version's back
        np.spacing(x, out=gs.zeros(3))
    with gs.autograd.forward_ad.dual_level(), pytest.raises(TypeError, match="there is no op for it"):
        np.spacing(gs.autograd.forward_ad.make_dual(x, x))
    with pytest.raises(TypeError, match="there is no op for it"):
        np.spacing(x.requires_grad_())


Y = np.array([1.0, 3.0, 2.5, 4.0])
OF_THE_NAMESPACE = {
    "polyfit": lambda x: np.polyfit(x, Y, 1),
    "polyfit with weights": lambda x: np.polyfit(Y, Y**2, 2, w=x),
    "polydiv": lambda x: np.polydiv(x, Y[:2])[0],
    "poly": lambda x: np.poly(x),
    "roots": lambda x: np.roots(x).real,
    "unique_values": lambda x: np.unique_values(x),
    "union1d": lambda x: np.union1d(x, Y),
    "setdiff1d": lambda x: np.setdiff1d(x, Y),
    "histogram": lambda x: np.histogram(Y, 2, weights=x)[0],
    "a method that the op has not": lambda x: np.quantile(x, 0.35, method="hazen"),
    "several axes kept": lambda x: np.median(x.reshape(2, 2), axis=(0, 1), keepdims=True),
    "weights": lambda x: np.percentile(x, 50, method="inverted_cdf", weights=Y),
    "elements of all axes": lambda x: np.take_along_axis(x.reshape(2, 2), np.array([3, 0]), None),
    "the triangle of a vector": lambda x: np.tril(x),
    "cross in the plane": lambda x: np.cross(x.reshape(2, 2), Y[:2]),
    "convolution with a number": lambda x: np.convolve(x, np.asarray(2.0)),
}


@pytest.mark.parametrize("name", OF_THE_NAMESPACE)
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
def test_what_no_op_does_is_composed_of_several(name: str) -> None:
    function, x = OF_THE_NAMESPACE[name], np.array([0.4, -1.3, 2.2, 0.9])
    expected = np.asarray(function(x))
    tensor = gs.tensor(x, requires_grad=True)
    result = function(tensor)
    np.testing.assert_allclose(result.detach(), expected, rtol=1e-12, atol=1e-13)
    weights = np.random.default_rng(0).normal(size=expected.shape)
    found = gs.autograd.grad((result * weights).sum(), tensor)[0]
    for n in range(4):
        moved = [np.sum(function(x + step * np.eye(4)[n]) * weights) for step in (1e-6, -1e-6)]
        assert found[n].item() == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5, abs=1e-7)


def test_nothing_is_lost_unseen() -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(TypeError, match=r"np\.spacing\(\) of tensors: there is no op for it.*np\.sin"):
        np.spacing(x)
    with pytest.raises(TypeError, match=r"np\.cumsum\(\) of tensors|unexpected keyword"):
        np.cumsum(x, bogus=1)
    for call in (lambda: np.asarray(x), lambda: np.array([x[0], x[1]]), lambda: np.ones((2, 2)).dot(x)):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\).*gradsmith\.numpy\.array\(.*np\.dot\(array, t\)"):
            call()
    with pytest.raises(RuntimeError, match=r"instead\.$"):
        x.numpy()
    np.testing.assert_array_equal(gs.numpy.array([x[0], x[1]]).detach(), [1.0, 2.0])
    assert gs.numpy.array([x[0], x[1]]).requires_grad and np.dot(np.ones((2, 2)), x).requires_grad


def test_errors_of_binding_are_numpys() -> None:
    with pytest.raises(TypeError, match="missing"):
        np.quantile(X)
    with pytest.raises(TypeError, match="multiple values|takes from"):
        np.sum(X, a=X)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: np.allclose(x, [1, 2, 3]), True),
        (lambda x: np.array_equal(x, np.array([1, 2, 3])), True),
        (lambda x: np.array_equiv(x, x), True),
        (lambda x: np.array_repr(x), "array([1., 2., 3.], dtype=float32)"),
        (lambda x: np.array_str(x), "[1. 2. 3.]"),
        (lambda x: np.array2string(x), "[1. 2. 3.]"),
        (lambda x: np.iscomplexobj(x), False),
        (lambda x: np.isrealobj(x), True),
        (lambda x: np.result_type(x, np.float64), np.float64),
        (lambda x: np.shape(x), (3,)),
        (lambda x: np.histogram(x, bins=2)[0].tolist(), [1, 2]),
        (lambda x: np.shares_memory(x, x), True),
        (lambda x: np.argmax(x).item(), 2),
        (lambda x: np.sign(x).tolist(), [1, 1, 1]),
        (lambda x: np.isnan(x).tolist(), [False] * 3),
        (lambda x: bool(np.any(x > 2)), True),
    ],
)
def test_what_has_no_gradient_anywhere_is_computed(call: Any, expected: Any) -> None:
    assert call(gs.tensor([1.0, 2.0, 3.0], requires_grad=True)) == expected


def test_out_of_other_functions() -> None:
    x = gs.tensor([[1.0, 2.0]], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"np\.sum\(\): the result has a gradient"):
        np.sum(x, axis=0, out=np.zeros(2))
    out = gs.zeros(2)
    assert np.sum(x, axis=0, out=out) is out and out.requires_grad
    a = np.zeros(2, np.float32)
    assert np.concatenate([x.detach()[0, :1], [3.0]], out=a) is a
    assert a.tolist() == [1, 3]
    for write in (np.copyto, lambda target, value: np.put(target, [0, 1], value)):
        with pytest.raises(RuntimeError, match="the result has a gradient"):
            write(np.zeros(2), x[0])


# ---- the usual calls, which go to the op without binding arguments


@pytest.mark.parametrize(
    "call",
    [
        lambda m: np.sum(m, 0),
        lambda m: np.sum(m, 1, None),
        lambda m: np.sum(m, axis=1, keepdims=True),
        lambda m: np.sum(a=m, axis=0),
        lambda m: np.sum(m, axis=None, keepdims=np._NoValue),  # type: ignore[arg-type]
        lambda m: np.max(m, axis=(0, 1)),
        lambda m: np.prod(m, axis=1, where=[[True, False, True]]),
        lambda m: np.mean(m, 0, keepdims=True),
        lambda m: np.transpose(m, (1, 0)),
        lambda m: np.reshape(m, (3, 2), order="F"),
        lambda m: np.concatenate((m, m), 1),
        lambda m: np.concatenate((m, m), axis=None),
        lambda m: np.dot(m, np.arange(3.0)),
        lambda m: np.dot(np.arange(2.0), m),
        lambda m: np.dot(m, [1, 2, 3]),
        lambda m: np.where(m > 2, m, 0.0),
        lambda m: np.where(np.arange(3), m, -m),
        lambda m: np.where(condition := np.asarray([2, 0, 1]), m, np.float32(1) * condition),
    ],
)
def test_values_are_numpys_each_time(call: Any) -> None:
    array = np.arange(1.0, 7.0).reshape(2, 3)
    for _ in range(2):  # the row is read by the first call
        found = call(gs.tensor(array, requires_grad=True))
        assert found.requires_grad and found.dtype == np.float64
        np.testing.assert_array_equal(found.detach(), call(array))


def test_other_classes_are_asked_each_time() -> None:
    class Other:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> str:
            return f"other {func.__name__}"

    for _ in range(2):
        assert float(np.dot(X, X)) == 14
        assert np.dot(X, Other()) == "other dot" == np.dot(Other(), X)  # type: ignore[arg-type, call-overload]
