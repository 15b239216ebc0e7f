"""Forms of a call: names of arguments, numbers alone, `inplace=`, `out=`, assignment; PyTorch's answers."""

import copy
import functools
import inspect
import pickle

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.codegen.spec import names
from gradsmith.runtime.calls import second_names

# ---- numbers alone


@pytest.mark.parametrize(
    ("result", "value", "dtype"),
    [
        (lambda: gs.add(2, 3), 5, gs.int64),
        (lambda: gs.add(2.5, 3), 5.5, gs.float32),
        (lambda: gs.add(True, 2), 3, gs.int64),
        (lambda: gs.add(True, True), True, gs.bool),
        (lambda: gs.add(2, 3j), 2 + 3j, gs.complex64),
        (lambda: gs.add(2, 3, alpha=2), 8, gs.int64),
        (lambda: gs.sub(2, 3), -1, gs.int64),
        (lambda: gs.sub(5, 3, alpha=2), -1, gs.int64),
        (lambda: gs.subtract(2.5, 3), -0.5, gs.float32),
        (lambda: gs.mul(2.5, 3), 7.5, gs.float32),
        (lambda: gs.multiply(2, 3j), 6j, gs.complex64),
        (lambda: gs.div(7, 2), 3.5, gs.float32),
        (lambda: gs.div(7, 2, rounding_mode="trunc"), 3, gs.int64),
        (lambda: gs.divide(True, 2), 0.5, gs.float32),
        (lambda: gs.true_divide(2, 4), 0.5, gs.float32),
        (lambda: gs.floor_divide(7, 2), 3, gs.int64),
        (lambda: gs.floor_divide(2.5, 3), 0.0, gs.float32),
        (lambda: gs.add(2, 3, out=gs.empty(())), 5.0, gs.float32),
        (lambda: gs.add(input=2, other=3), 5, gs.int64),
        (lambda: gs.add(x1=1, x2=2), 3, gs.int64),
    ],
)
def test_numbers_alone(result, value, dtype):
    found = result()
    assert (found.item(), found.dtype, found.shape) == (value, dtype, ())


@pytest.mark.parametrize(
    ("result", "value", "dtype"),
    [
        (lambda: gs.add(2, gs.ones(2)), [3, 3], gs.float32),
        (lambda: gs.add(2.5, gs.tensor(3)), 5.5, gs.float32),
        (lambda: gs.mul(2.5, gs.tensor(3, dtype=gs.int8)), 7.5, gs.float32),
        (lambda: gs.add(2, gs.ones(2), alpha=3), [5, 5], gs.float32),
        (lambda: gs.add(2.5, gs.tensor(1.0, dtype=gs.float16)), 3.5, gs.float16),
        (lambda: gs.sub(2, gs.ones(2), alpha=2), [0, 0], gs.float32),
        (lambda: gs.mul(2, gs.ones(2, dtype=gs.float64)), [2, 2], gs.float64),
    ],
)
def test_a_number_first(result, value, dtype):
    found = result()
    assert (found.tolist(), found.dtype) == (value, dtype)


def test_gradients_of_a_number_first():
    x = gs.ones(2, requires_grad=True)
    (gs.mul(3, x) + gs.add(1, x, alpha=2)).sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_numbers_alone_are_tensors_too():
    results = {gs.pow: 8, gs.remainder: 2, gs.maximum: 3, gs.eq: False, gs.bitwise_and: 2, gs.bitwise_left_shift: 16}
    for op, expected in results.items():
        found = op(2, 3)
        assert isinstance(found, gs.Tensor) and found.shape == () and found.item() == expected


def test_what_is_no_number_is_refused():
    for op in (gs.add, gs.pow, gs.remainder, gs.maximum, gs.eq, gs.bitwise_and, gs.bitwise_left_shift):
        for value in ("2", None, {}, object()):
            with pytest.raises(TypeError, match="must be Tensor"):
                op(value, 3)


# ---- names of arguments


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (lambda x: gs.add(x1=x, x2=x), [2, 4]),
        (lambda x: gs.add(a=x, x2=x), [2, 4]),
        (lambda x: gs.add(x=x, other=1), [2, 3]),
        (lambda x: x.add(x2=x), [2, 4]),
        (lambda x: gs.maximum(x1=x, x2=-x), [1, 2]),
        (lambda x: gs.sum(a=x, axis=0), 3),
        (lambda x: gs.sum(x1=x), 3),
        (lambda x: gs.exp(x=x * 0), [1, 1]),
        (lambda x: gs.gather(x=x, axis=0, index=gs.tensor([1])), [2]),
        (lambda x: x.gather(axis=0, index=gs.tensor([1]), sparse_grad=False), [2]),
        (lambda x: gs.where(gs.tensor([True, False]), x=x, other=0.0), [1, 0]),
        (lambda x: gs.mm(x1=x.reshape(1, 2), mat2=x.reshape(2, 1)), [[5]]),
        (lambda x: x.mul_(x2=2), [2, 4]),
        (lambda x: gs.max(x1=x, x2=x), [1, 2]),
        (lambda x: x.flip(dims=(0,)), [2, 1]),
        (lambda x: x.flip(0), [2, 1]),
        (lambda x: x.view(size=(2, 1)), [[1], [2]]),
        (lambda x: x.reshape(shape=(2, 1)), [[1], [2]]),
        (lambda x: x.expand(size=(1, 2)), [[1, 2]]),
        (lambda x: x.broadcast_to(1, 2), [[1, 2]]),
        (lambda x: gs.broadcast_to(x, size=(1, 2)), [[1, 2]]),
        (lambda x: x.reshape(1, 2).permute(dims=(1, 0)), [[1], [2]]),
        (lambda x: x.reshape(1, 2).swapaxes(axis0=0, axis1=1), [[1], [2]]),
        (lambda x: x.reshape(1, 2).swapdims(dim0=0, dim1=1), [[1], [2]]),
        (lambda x: x.index_put(indices=(gs.tensor([0]),), values=gs.tensor(5.0)), [5, 2]),
        (lambda x: gs.softmax(input=x * 0, dim=0, dtype=None), [0.5, 0.5]),
    ],
)
def test_names_that_numpy_and_pytorch_have_for_arguments(result, expected):
    assert result(gs.tensor([1.0, 2.0])).tolist() == expected


def test_one_value_for_one_argument():
    x = gs.ones(2)
    with pytest.raises(TypeError, match="several values for argument 'input'"):
        gs.add(x, x1=x, other=2)
    with pytest.raises(TypeError, match="several values for argument 'dim'"):
        gs.sum(x, 0, axis=0)
    with pytest.raises(TypeError, match="multiple values for argument 'dims'"):
        x.flip(0, dims=0)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        gs.max(x, 0, axis=0)


def test_a_missing_argument_is_named():
    with pytest.raises(TypeError, match="'input'"):
        gs.exp()
    with pytest.raises(TypeError, match="'dim1'"):
        gs.transpose(gs.ones(2, 2), 0)
    with pytest.raises(TypeError, match="'other'"):
        gs.ones(2).add()


def test_gather_with_sparse_gradients_gives_dense_ones():
    x = gs.arange(3.0).requires_grad_()
    found = gs.gather(x, 0, gs.tensor([2, 0, 2]), sparse_grad=True)
    found.sum().backward()
    assert found.tolist() == [2, 0, 2] and x.grad.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("source", "destination", "shape"),
    [
        (0, -1, (3, 4, 2)),
        ((0, 1), (1, 0), (3, 2, 4)),
        ((0, 1), (2, 0), (3, 4, 2)),
        ((), (), (2, 3, 4)),
        (-1, 0, (4, 2, 3)),
    ],
)
def test_movedim(source, destination, shape):
    x = gs.ones(2, 3, 4, requires_grad=True)
    moved = x.movedim(source, destination)
    assert moved.shape == gs.moveaxis(x, source=source, destination=destination).shape == shape
    assert moved.grad_fn.name() == "PermuteBackward0" and moved._base is x


def test_movedim_refuses():
    x = gs.ones(2, 3, 4)
    for source, destination, message in (
        ((0, 0), (0, 1), "repeated dim in `source`"),
        ((0, 1), (0, 0), "repeated dim in `destination`"),
        ((0, 1), (0,), "should contain the same number of dims"),
    ):
        with pytest.raises(RuntimeError, match=message):
            gs.movedim(x, source, destination)
    for source, destination in ((5, 0), (0, 5)):
        with pytest.raises(IndexError, match="out of range"):
            gs.movedim(x, source, destination)


# ---- inplace=


def test_inplace_flags():
    x = gs.tensor([-1.0, 2.0], requires_grad=True)
    for function in (F.relu, F.silu):
        y = x * 1
        assert function(y, inplace=True) is y and y._version == 1
        assert function(y, True) is y
        assert function(x, inplace=False) is not x
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            function(x, inplace=True)
    y = x * 1
    F.silu(y, inplace=True).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.0723295, 1.0907843], rtol=1e-5)


# ---- out=


@pytest.mark.parametrize(
    ("call", "dtype", "expected"),
    [
        (
            lambda out: gs.masked_select(gs.arange(4.0), gs.tensor([True, False, True, False]), out=out),
            "float32",
            [0, 2],
        ),
        (lambda out: gs.all(gs.ones(2), out=out), "bool", True),
        (lambda out: gs.all(gs.ones(2, 2), 0, out=out), "bool", [True, True]),
        (lambda out: gs.any(gs.zeros(2, 2), dim=1, keepdim=True, out=out), "bool", [[False], [False]]),
        (lambda out: gs.softmax(gs.ones(2), 0, out=out), "float32", [0.5, 0.5]),
        (lambda out: gs.t_copy(gs.ones(1, 2), out=out), "float32", [[1], [1]]),
        (lambda out: gs.squeeze_copy(gs.ones(1, 2), out=out), "float32", [1, 1]),
        (lambda out: gs.squeeze_copy(gs.ones(1, 2), 0, out=out), "float32", [1, 1]),
        (lambda out: gs.expand_copy(gs.ones(1), (2,), out=out), "float32", [1, 1]),
        (lambda out: F.linear(gs.ones(2), gs.ones(2, 2), out=out), "float32", [2, 2]),
        (lambda out: F.avg_pool2d(gs.ones(1, 2, 2), 2, out=out), "float32", [[[1]]]),
        (lambda out: gs.isin(gs.tensor([1, 2]), gs.tensor([2]), out=out), "bool", [False, True]),
        (lambda out: gs.isin(gs.tensor([1, 2]), 1, invert=True, out=out), "bool", [False, True]),
        (lambda out: gs.isin(1, gs.tensor([1, 2]), out=out), "bool", True),
        (lambda out: gs.var(gs.tensor([[1.0, 3.0]]), 1, False, out=out), "float32", [1]),
        (
            lambda out: gs.std(gs.tensor([[1.0, 3.0]]), dim=None, unbiased=False, keepdim=True, out=out),
            "float32",
            [[1]],
        ),
    ],
)
def test_forms_with_out(call, dtype, expected):
    out = gs.empty(0, dtype=dtype)
    assert call(out) is out and out.tolist() == expected


def test_activations_with_out():
    for function, value in ((F.gelu, 0.8413447), (F.softplus, 1.3132616)):
        out = gs.empty(2)
        assert function(gs.ones(2), out=out) is out
        np.testing.assert_allclose(out.numpy(), [value] * 2, rtol=1e-5)
    out = gs.empty(2)
    gs.log_softmax(gs.zeros(2), 0, out=out)
    np.testing.assert_allclose(out.numpy(), -np.log([2, 2]), rtol=1e-6)


# ---- assignment to parts of complex tensors


@pytest.mark.parametrize("value", [5, 5.0, True, gs.tensor(5.0), np.float32(5)])
def test_assignment_of_one_value(value):
    c = gs.zeros(2, dtype=gs.complex64)
    c.real = value
    c.imag = 3
    assert c.tolist() == [float(value) + 3j] * 2 and c._version == 2


def test_assignment_of_tensors_and_its_gradient():
    leaf = gs.zeros(2, dtype=gs.complex64, requires_grad=True)
    weights = gs.ones(2, requires_grad=True)
    c = leaf * 1
    c.real = weights
    (c * gs.tensor([1 + 2j, 3 - 1j])).abs().sum().backward()
    assert c.grad_fn.name() == "CopySlices"
    np.testing.assert_allclose(leaf.grad.numpy(), [0, 0], atol=1e-6)
    np.testing.assert_allclose(weights.grad.numpy(), [2.236068, 3.1622777], rtol=1e-6)


def test_what_cannot_be_assigned():
    c = gs.zeros(2, dtype=gs.complex64)
    for value in ("ab", {}, None):
        with pytest.raises(TypeError, match="must be Tensor or number"):
            c.real = value
    with pytest.raises(RuntimeError):
        c.real = 1j
    with pytest.raises(RuntimeError):
        gs.zeros(2).imag = 5
    with pytest.raises(RuntimeError, match="a view of a leaf"):
        gs.zeros(2, dtype=gs.complex64, requires_grad=True).real = 5
    for name in ("T", "mT"):
        with pytest.raises(AttributeError):
            setattr(c, name, 5)
    assert c.tolist() == [0, 0]
    real = gs.zeros(2)
    real.real = 5
    assert real.tolist() == [5, 5]


# ---- ops that may give the tensor itself


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("name", ["conj", "conj_physical", "real", "contiguous"])
def test_what_a_real_tensor_has_already_is_the_tensor_itself(name, dtype):
    x = gs.tensor([1, 0, 2], dtype=getattr(gs, dtype))
    assert (x.real if name == "real" else getattr(x, name)()) is x
    assert name == "contiguous" or getattr(gs, name)(x) is x
    if dtype == "float32":
        y = x.requires_grad_() * 1
        assert (y.real if name == "real" else getattr(y, name)()) is y


def test_what_is_done_to_a_physical_conjugate():
    x = gs.tensor([1.0, 2.0])
    x.conj_physical()[0] = 5
    assert x.tolist() == [5.0, 2.0] and x._version == 1
    with pytest.raises(RuntimeError, match="more than one element"):
        x[:1].expand(3).conj_physical().logical_not_()
    out = gs.zeros(2)
    assert gs.conj_physical(x, out=out) is out and out.tolist() == [5.0, 2.0]

    c = gs.tensor([1 + 2j])
    assert c.conj_physical() is not c and c.conj_physical().tolist() == [1 - 2j] and c.tolist() == [1 + 2j]


@pytest.mark.parametrize("number", [3.0, 3 + 1j])
def test_physical_conjugates_in_place(number):
    x = gs.tensor([number], requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x.conj_physical_()
    y = x * 1
    assert y.conj_physical_() is y and y._version == 1 and y.requires_grad
    assert y.tolist() == [np.conj(number)]
    y.backward(gs.tensor([2.0], dtype=x.dtype))
    assert x.grad.tolist() == [2.0]


def test_matrices_of_no_dimensions():
    """`mT` of a number is the number, `T` a view of it."""
    x = gs.tensor(2.0, requires_grad=True)
    assert x.mT is x
    assert x.T is not x and x.T._is_view()
    with pytest.raises(RuntimeError, match="Got 1-D tensor"):
        _ = gs.zeros(3).mT


# ---- shifts


@pytest.mark.parametrize(
    ("result", "expected", "dtype"),
    [
        (lambda i: i << 2, [4, 8, -32], gs.int64),
        (lambda i: i >> 2, [0, 0, -2], gs.int64),
        (lambda i: 2 << abs(i), [4, 8, 512], gs.int64),
        (lambda i: 2 >> abs(i), [1, 0, 0], gs.int64),
        (lambda i: i << gs.tensor([1, 64, 70]), [2, 0, 0], gs.int64),
        (lambda i: i >> gs.tensor([1, 64, 70]), [0, 0, -1], gs.int64),
        (lambda i: i << gs.tensor([-1, -1, 3]), [0, 0, -64], gs.int64),
        (lambda i: i >> gs.tensor([-1, -1, 3]), [0, 0, -1], gs.int64),
        (lambda i: i.to(gs.int8) << 9, [0, 0, 0], gs.int8),
        (lambda i: i.to(gs.int8) >> 9, [0, 0, -1], gs.int8),
        (lambda i: i.to(gs.int32) << i, [2, 8, 0], gs.int64),
        (lambda i: (i > 0) << 1, [2, 2, 0], gs.int64),
        (lambda i: i << 63, [-(2**63), 0, 0], gs.int64),
        (lambda i: gs.bitwise_left_shift(True, i), [2, 4, 0], gs.int64),
        (lambda i: i.bitwise_right_shift(1), [0, 1, -4], gs.int64),
        (lambda i: gs.bitwise_right_shift(i, 1, out=gs.empty(3, dtype=gs.int64)), [0, 1, -4], gs.int64),
    ],
)
def test_shifts(result, expected, dtype):
    found = result(gs.tensor([1, 2, -8]))
    assert (found.tolist(), found.dtype) == (expected, dtype)


def test_shifts_in_place():
    i = same = gs.tensor([1, 2, -8])
    i <<= 2
    i >>= 1
    i.bitwise_left_shift_(1)
    assert i is same and i.tolist() == [4, 8, -32] and i._version == 3


def test_shifts_of_what_has_no_bits():
    for other in (gs.tensor([1.0]), gs.tensor([1j])):
        for shift in (lambda x: x << 1, lambda x: x >> 1, lambda x: gs.tensor([1]) << x):
            with pytest.raises((NotImplementedError, TypeError, RuntimeError)):
                shift(other)
    with pytest.raises((NotImplementedError, RuntimeError)):
        gs.tensor([True]) << gs.tensor([True])


# ---- scatter with `value` and `reduce`

INDEX = gs.tensor([0, 1, 1])
SOURCE = gs.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("arguments", "keywords", "expected"),
    [
        ((SOURCE,), {"reduce": "add"}, [3, 7, 2, 2]),
        ((5.0,), {"reduce": "add"}, [7, 12, 2, 2]),
        ((SOURCE,), {"reduce": "multiply"}, [2, 12, 2, 2]),
        ((5.0,), {"reduce": "multiply"}, [10, 50, 2, 2]),
        ((), {"value": 5.0}, [5, 5, 2, 2]),
        ((), {"value": 5.0, "reduce": "add"}, [7, 12, 2, 2]),
        ((), {"src": SOURCE, "reduce": "add"}, [3, 7, 2, 2]),
    ],
)
def test_scatter(arguments, keywords, expected):
    x = gs.full((4,), 2.0)
    assert x.scatter(0, INDEX, *arguments, **keywords).tolist() == expected
    assert gs.scatter(x, 0, INDEX, *arguments, **keywords, out=gs.empty(0)).tolist() == expected
    assert x.scatter_(0, INDEX, *arguments, **keywords) is x and x.tolist() == expected


def test_scatter_with_reduce_of_other_dtypes_and_shapes():
    def reduced(x, src, reduce):
        return x.scatter(0, INDEX, src, reduce=reduce).tolist()

    assert reduced(gs.ones(4, dtype=gs.int32), gs.tensor([1, 2, 3], dtype=gs.int32), "multiply") == [1, 6, 1, 1]
    assert reduced(gs.ones(4, dtype=gs.bool), gs.tensor([True, False, True]), "add") == [True] * 4
    assert reduced(gs.ones(4, dtype=gs.complex64), gs.tensor([1, 2, 3j]), "multiply") == [1, 6j, 1, 1]
    assert gs.ones(2, 3).scatter(1, gs.tensor([[0, 0], [2, 1]]), 2.0, reduce="multiply").tolist() == [
        [4, 1, 1],
        [1, 2, 2],
    ]
    assert gs.tensor(3.0).scatter(0, gs.tensor(0), 2.0, reduce="multiply").item() == 6
    assert gs.ones(4, device="meta").scatter(0, INDEX.to("meta"), 2.0, reduce="add").shape == (4,)


def test_scatter_with_reduce_refuses():
    x = gs.ones(4)
    for reduce in ("sum", "mean"):
        with pytest.raises(RuntimeError, match="reduce argument must be either add or multiply"):
            x.scatter(0, INDEX, SOURCE, reduce=reduce)
    with pytest.raises(TypeError, match="invalid combination"):
        x.scatter(0, INDEX, SOURCE, reduce=None)
    with pytest.raises(RuntimeError, match=r"Expected self.dtype .* to be equal to src.dtype"):
        x.scatter(0, INDEX, gs.tensor([1, 2, 3]), reduce="add")


def test_derivatives_of_scatter_with_reduce():
    """PyTorch has none of either."""
    x, source = gs.ones(4, requires_grad=True), SOURCE.clone().requires_grad_()
    (x.scatter(0, INDEX, source, reduce="add") * gs.arange(4.0)).sum().backward()
    assert (x.grad.tolist(), source.grad.tolist()) == ([0, 1, 2, 3], [0, 1, 1])
    for result in (
        x.scatter(0, INDEX, SOURCE, reduce="multiply"),
        gs.ones(4).scatter(0, INDEX, source, reduce="multiply"),
        (x * 1).scatter_(0, INDEX, 5.0, reduce="multiply"),
    ):
        with pytest.raises(RuntimeError, match="scatter with reduce"):
            result.sum().backward()


def test_gradient_of_scatter_with_value():
    x = gs.ones(4, requires_grad=True)
    x.scatter(0, INDEX, value=5.0).sum().backward()
    assert x.grad.tolist() == [0, 0, 1, 1]


# ---- dtype= of softmax, and legacy empties of cat


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_complex_tensors_converts_them(name):
    x = gs.tensor([1 + 1j, 2 + 0j, 1j], requires_grad=True)
    function, value = getattr(gs, name), np.array([1.0, 2.0, 0.0])
    with pytest.raises(NotImplementedError):
        function(x, 0)
    with pytest.raises(NotImplementedError):
        function(x.detach().real, 0, dtype=gs.complex64)
    found = function(x, 0, dtype=gs.float32)
    expected = np.exp(value) / np.exp(value).sum()
    np.testing.assert_allclose(found.detach().numpy(), expected if name == "softmax" else np.log(expected), rtol=1e-6)
    found[0].backward()
    assert x.grad.dtype == gs.complex64 and not x.grad.imag.any()


def test_cat_skips_legacy_empties():
    empty, x = gs.empty(0, requires_grad=True), gs.ones(2, 3, requires_grad=True)
    for dim in (0, 1, -2):
        assert gs.cat([empty, x], dim).shape == gs.cat([x, empty], dim).shape == (2, 3)
    assert gs.cat([empty, empty]).shape == gs.cat([empty, empty], 1).shape == (0,)
    gs.cat([x, empty, x * 2], 1).sum().backward()
    assert x.grad.tolist() == [[3] * 3] * 2 and empty.grad.shape == (0,)
    assert gs.cat([gs.empty(0, dtype=gs.float64), x.detach()]).dtype == gs.float64
    assert gs.cat([gs.empty(0), gs.ones(2, 3, dtype=gs.int64)]).dtype == gs.float32
    with pytest.raises(RuntimeError, match="must match except in dimension 0"):
        gs.cat([gs.empty(1, 0), x])


# ---- expanded tensors


def test_an_expanded_tensor_takes_what_it_holds():
    expanded = gs.ones(1).expand(3)
    assert expanded.copy_(expanded) is expanded and expanded._version == 1
    expanded[:] = expanded
    expanded.detach().copy_(expanded)
    assert expanded.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.copy_(gs.arange(3.0)),
        lambda x: x.copy_(x.clone()),
        lambda x: x.copy_(x[:1]),
        lambda x: x.copy_(2),
        lambda x: x.add_(1),
        lambda x: x.add_(x),
        lambda x: x.__setitem__(slice(1, None), gs.ones(2)),
        lambda x: gs.add(x, 1, out=x),
    ],
)
def test_an_expanded_tensor_takes_nothing_else(write):
    x = gs.ones(1).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        write(x)
    assert x.tolist() == [1, 1, 1]


def test_a_gradient_through_an_expanded_tensor_onto_itself_is_refused():
    """PyTorch: by the backward."""
    expanded = (gs.ones(1, requires_grad=True) * 1).expand(3)
    with pytest.raises(RuntimeError, match="single memory location"):
        expanded.copy_(expanded)


def test_a_second_name_with_none_is_not_given():
    x = gs.tensor([[1.0, 2.0]])
    assert gs.sum(x, axis=None).item() == 3
    assert gs.sum(x, dim=0, axis=None, keepdims=None).tolist() == [1, 2]
    assert gs.sum(x, 1, x1=None).tolist() == [3]
    assert gs.sum(x, axis=None, keepdims=True).tolist() == [[3]]
    assert gs.mean(a=x, axis=1, keepdims=None).tolist() == [1.5]
    with pytest.raises(TypeError, match=r"sum\(\) missing 1 required argument: 'input'"):
        gs.sum(axis=None)
    with pytest.raises(TypeError, match="several values for argument 'input'"):
        gs.sum(x, axis=None, a=x)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: gs.sin(), r"sin\(\) missing 1 required argument: 'input'"),
        (lambda x: gs.where(x > 0, x=x), r"where\(\) received an invalid combination .* got \(Tensor, x=Tensor\)"),
        (lambda x: gs.lerp(x, end=x), r"lerp\(\) missing 1 required argument: 'weight'"),
        (lambda x: gs.narrow(x, start=0), r"narrow\(\) missing 2 required arguments: 'dim', 'length'"),
        (lambda x: gs.sin(x, bad=3), r"sin\(\) got an unexpected keyword argument 'bad'"),
        (lambda x: gs.sin(bad=3), "bad"),
        (lambda x: gs.sin(x, x), r"sin\(\) takes exactly 1 positional argument \(2 given\)"),
        (lambda x: gs.sum(dim=0, axis=0, x=x), "several values for argument 'dim'"),
        (lambda x: gs.add(x=x, a=x, other=x), "several values for argument 'input'"),
    ],
)
def test_arguments_missing_doubled_and_unknown(call, message):
    with pytest.raises(TypeError, match=message):
        call(gs.ones(2))


def test_functions_with_second_names_are_functions():
    assert pickle.loads(pickle.dumps(gs.sin)) is gs.sin
    assert copy.deepcopy(gs.sin) is gs.sin
    assert gs.sin.__name__ == "sin" and gs.sin.__module__ == "gradsmith.generated.trigonometric"
    assert gs.sin.__doc__.startswith("Sine of each element")
    assert inspect.isbuiltin(gs.sin)
    x = gs.ones(2)
    assert functools.partial(gs.sum, axis=0)(x).item() == 2
    named = {"axis": 0}
    assert gs.sum(*(x,), **named).item() == 2


def test_generator_and_runtime_agree_on_second_names():
    assert second_names.SECOND_NAMES == names.SECOND_NAMES
