"""Dtypes that an op does not take, and what it does with those it takes. Expected values are PyTorch's."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F

INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
FLOATING = ("float16", "float32", "float64", "complex64", "complex128")

# Of three hundreds, in the dtype that was asked for; hundreds of bool are ones.
ASKED = {
    "bool": (True, True), "uint8": (44, 64), "int8": (44, 64), "int16": (300, 16960), "int32": (300, 10**6),
    "int64": (300, 10**6), "float32": (300, 1e6), "float64": (300, 1e6), "complex64": (300, 1e6),
    "complex128": (300, 1e6),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("dtype", ASKED)
@pytest.mark.parametrize("given", INTEGERS + FLOATING)
def test_reductions_in_an_asked_dtype(given, dtype):
    x = gs.tensor([100, 100, 100], dtype=given)
    total, product = ASKED[dtype] if given != "bool" else (dtype == "bool" or 3, 1)
    for found, expected in ((x.sum(dtype=dtype), total), (x.sum(0, dtype=dtype), total),
                            (x.prod(dtype=dtype), product), (x.prod(0, dtype=dtype), product)):  # fmt: skip
        assert str(found.dtype) == dtype
        assert found.item() == expected


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "float32", "complex64"])
@pytest.mark.parametrize("given", INTEGERS + FLOATING)
def test_cumulative_sums_in_an_asked_dtype(given, dtype):
    found = gs.tensor([100, 100, 100], dtype=given).cumsum(0, dtype=dtype)
    sums = {"uint8": [100, 200, 44], "int8": [100, -56, 44]}.get(dtype, [100, 200, 300])
    assert str(found.dtype) == dtype
    assert found.tolist() == ([1, 2, 3] if given == "bool" else sums)


REFUSED = {
    "cumsum": lambda: gs.ones(2).cumsum(0, dtype=gs.bool_),
    "abs": lambda: gs.tensor([True]).abs(),
    "abs_": lambda: gs.tensor([True]).abs_(),
    "absolute": lambda: gs.absolute(gs.tensor([True])),
    "positive": lambda: +gs.tensor([True]),
    "relu": lambda: gs.tensor([True]).relu(),
    "argmax": lambda: gs.tensor([True]).argmax(),
    "argmin of a dimension": lambda: gs.tensor([True]).argmin(0),
    "clamp": lambda: gs.tensor([True]).clamp(False, True),
    "clamp_min": lambda: gs.tensor([True]).clamp_min(False),
    "gelu": lambda: gs.nn.functional.gelu(gs.ones(2, dtype=gs.int64)),
    "silu": lambda: gs.nn.functional.silu(gs.ones(2, dtype=gs.int64)),
    "softplus": lambda: gs.nn.functional.softplus(gs.ones(2, dtype=gs.int64)),
    "arange of bool": lambda: gs.arange(3, dtype=gs.bool_),
    "arange of complex numbers": lambda: gs.arange(3, dtype=gs.complex64),
    "linspace of bool": lambda: gs.linspace(0, 1, 3, dtype=gs.bool_),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(NotImplementedError, match="not defined"):
        REFUSED[name]()


def test_bool_with_bounds_of_another_kind():
    assert gs.tensor([True, False]).clamp(0, 2).dtype == gs.int64
    assert gs.tensor([True, False]).clamp_min(gs.tensor(True)).tolist() == [True, True]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
def test_indices_of_narrow_dtypes(dtype):
    x, index = gs.ones(3), gs.zeros(2, dtype=dtype)
    for call in (lambda: x.gather(0, index), lambda: x.index_select(0, index), lambda: x.scatter(0, index, gs.ones(2)),
                 lambda: x.scatter_add(0, index, gs.ones(2)), lambda: x.index_add(0, index, gs.ones(2))):  # fmt: skip
        with pytest.raises(RuntimeError, match="int32 or int64 for index"):
            call()


@pytest.mark.parametrize(("dtype", "other"), [("float64", "float32"), ("float32", "float64"), ("int64", "int32"),
                                              ("complex64", "float32")])  # fmt: skip
def test_values_must_have_the_dtype_of_what_is_written(dtype, other):
    x, values, index = gs.zeros(3, dtype=dtype), gs.ones(2, dtype=other), gs.tensor([0, 1])

    def assign(key):
        x[key] = values

    calls = (lambda: x.scatter(0, index, values), lambda: x.scatter_(0, index, values),
             lambda: x.scatter_add(0, index, values), lambda: x.index_add(0, index, values),
             lambda: x.index_put((index,), values), lambda: x.index_put_((index,), values, accumulate=True),
             lambda: assign([0, 1]), lambda: assign(gs.tensor([True, True, False])))  # fmt: skip
    for call in calls:
        with pytest.raises(RuntimeError, match="dtype"):
            call()
    assert x.tolist() == [0, 0, 0]
    x[:2] = values  # a view is written by copy_, which converts
    assert x.tolist() == [1, 1, 0]


# ---- overlapping memory

SHIFTED = {
    "copy_": lambda a: a[1:].copy_(a[:-1]),
    "setitem": lambda a: a.__setitem__(slice(1, None), a[:-1]),
    "scatter_": lambda a: a.scatter_(0, gs.tensor([0, 1, 2]), a[1:4]),
    "scatter_add_": lambda a: a.scatter_add_(0, gs.tensor([0, 1, 2]), a[1:4]),
    "index_add_": lambda a: a.index_add_(0, gs.tensor([0, 1, 2]), a[1:4]),
    "index_put_": lambda a: a.index_put_((gs.tensor([0, 1, 2]),), a[1:4]),
}


@pytest.mark.parametrize("name", SHIFTED)
def test_a_source_that_overlaps_is_refused(name):
    a = gs.arange(6.0)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        SHIFTED[name](a)
    assert a.tolist() == [0, 1, 2, 3, 4, 5]
    assert a._version == 0


def test_overlaps_that_are_right():
    """Elementwise ops compute as if their operands had been copied; PyTorch refuses."""
    a = gs.arange(5.0)
    a[1:].add_(a[:-1])
    assert a.tolist() == [0, 1, 3, 5, 7]
    a.copy_(a)
    assert gs.arange(3.0).scatter_(0, gs.tensor([0]), gs.ones(1)).tolist() == [1, 1, 2]


IN_PLACE = ["add_", "mul_", "exp_", "relu_", "clamp_", "copy_", "scatter_", "index_put_", "masked_fill_", "pow_", "eq_"]


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_expanded_target_is_refused(name):
    index = gs.tensor([0])
    arguments = {"exp_": (), "relu_": (), "clamp_": (0, 1), "copy_": (gs.ones(3),), "scatter_": (0, index, gs.ones(1)),
                 "index_put_": ((index,), gs.ones(1)), "masked_fill_": (gs.tensor([True, False, True]), 1)}  # fmt: skip
    x = gs.ones(1).expand(3)
    with pytest.raises(RuntimeError, match="single memory location"):
        getattr(x, name)(*arguments.get(name, (2,)))


def test_an_expanded_out_is_refused():
    with pytest.raises(RuntimeError, match="single memory location"):
        gs.add(gs.ones(3), 1, out=gs.ones(1).expand(3))


# ---- tensors without dimensions as integers


def test_a_tensor_is_the_second_operand_of_max():
    x = gs.tensor([[1.0, 2, 0], [3, 1, 2]])
    assert gs.max(x, gs.tensor(1)).tolist() == [[1, 2, 1], [3, 1, 2]]
    assert x.min(gs.tensor(1)).tolist() == [[1, 1, 0], [1, 1, 1]]
    assert gs.max(x, np.int64(1)).values.tolist() == [2, 3]


def test_a_tensor_stands_for_an_integer():
    x = gs.tensor([[1.0, 2, 0], [3, 1, 2]])
    one = gs.tensor(1)
    assert x.sum(one).tolist() == [3, 6]
    assert x.argmax(one).tolist() == [1, 0]
    assert x.cumsum(one).tolist() == [[1, 3, 3], [3, 4, 6]]
    assert x.unsqueeze(one).shape == (2, 1, 3)
    for other in (gs.tensor(True), gs.tensor([1]), gs.tensor([[1]]), gs.tensor(1.0), True, np.bool_(True)):
        for call in (x.argmax, x.cumsum, x.unsqueeze):
            with pytest.raises(TypeError, match="must be int"):
                call(other)


# ---- odds and ends


def test_signs_and_the_gradient_of_abs_at_nan():
    for dtype in (gs.float32, gs.float64):
        x = gs.tensor([-2.0, 0.0, float("nan"), 3.0], dtype=dtype, requires_grad=True)
        assert x.sign().tolist() == x.sgn().tolist() == [-1, 0, 0, 1]
        assert x.detach().clone().sign_().tolist() == [-1, 0, 0, 1]
        x.abs().sum().backward()
        assert x.grad.tolist() == [-1, 0, 0, 1]


def test_correction_none_is_one():
    x = gs.tensor([1.0, 2, 4], requires_grad=True)
    assert x.var(correction=None).item() == x.var().item()
    assert x.std(0, correction=None).item() == x.std(0).item()
    gs.autograd.grad(x.std(correction=None), x)


def test_membership():
    x = gs.tensor([1.0, 2.0])
    assert 1 in x and gs.tensor(2.0) in x and np.float64(1) in x and 1j not in x
    for other in ("a", None, [1.0], (1,), np.ones(2)):
        with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
            other in x  # noqa: B015


def test_strides_of_empty_tensors():
    shapes = {(2, 0, 3): (3, 3, 1), (0,): (1,), (0, 3, 4): (12, 4, 1), (3, 0, 4): (4, 4, 1), (2, 3, 0): (3, 1, 1)}
    for shape, strides in shapes.items():
        assert gs.zeros(shape).stride() == strides
        assert (gs.zeros(shape) + 1).stride() == strides


def test_copies_of_dtypes_serve_as_dtypes():
    for dtype in (copy.deepcopy(gs.float32), copy.copy(gs.float32), pickle.loads(pickle.dumps(gs.float32))):
        x = gs.ones(2, dtype=dtype)
        assert x.dtype is gs.float32
        assert (x + 1).to(dtype) is not None and x.sum(dtype=dtype).dtype is gs.float32
        assert gs.promote_types(dtype, gs.float16) is gs.float32


RANGES = {  # in int64 steps and bounds are integers; in all others the length comes from the fractions
    (0, 5.5, 1.5): ([0, 1, 2, 3, 4], [0, 1, 2, 3]), (0.5, 5.5, 1): ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
    (1.5, 10, 2.5): ([1, 3, 5, 7, 9], [1, 3, 5, 7]), (-2.5, 2.5, 1): ([-2, -1, 0, 1], [-2, -1, 0, 1, 2]),
    (5, 0, -1.5): ([5, 4, 3, 2, 1], [5, 4, 3, 2]), (0, 10, 3.7): ([0, 3, 6, 9], [0, 3, 6]),
    (2.9, 7.1, 1.9): ([2, 3, 4, 5, 6], [2, 3, 4]), (0, 300, 100): ([0, 100, 200], [0, 100, -56]),
}  # fmt: skip


@pytest.mark.parametrize("bounds", RANGES)
def test_arange_of_integers(bounds):
    assert gs.arange(*bounds, dtype=gs.int64).tolist() == RANGES[bounds][0]
    assert gs.arange(*bounds, dtype=gs.int8).tolist() == RANGES[bounds][1]


def test_arange_of_integers_with_a_step_below_one():
    with pytest.raises(ValueError, match="step must be nonzero"):
        gs.arange(0, 1, 0.25, dtype=gs.int64)
    assert gs.arange(0, 1, 0.25, dtype=gs.int8).tolist() == [0, 0, 0, 0]


def test_linspace_and_logspace_of_integers():
    assert gs.linspace(-0.5, 9.9, 6, dtype=gs.int64).tolist() == [0, 1, 3, 5, 7, 9]
    assert gs.linspace(10, -3.5, 5, dtype=gs.int8).tolist() == [10, 6, 3, 0, -3]
    assert gs.linspace(-3, -1, 3, dtype=gs.uint8).tolist() == [253, 254, 255]
    assert gs.logspace(0.5, 2.5, 4, dtype=gs.int64).tolist() == [1, 4, 21, 100]
    assert gs.logspace(0, 3, 4, base=2.5, dtype=gs.int64).tolist() == [1, 2, 6, 15]
    assert gs.logspace(0, 3, 4, dtype=gs.int8).tolist() == [1, 10, 100, -24]
    with pytest.raises(RuntimeError, match="without overflow"):
        gs.linspace(300, 400, 3, dtype=gs.int8)


def test_the_end_of_one_step_is_not_looked_at():
    """As in PyTorch; without a step neither end is."""
    assert gs.linspace(-1.5, float("inf"), 1, dtype=gs.int64).tolist() == [-1]
    assert gs.linspace(2.5, 300, 1, dtype=gs.bool).tolist() == [True]
    assert gs.logspace(2, 300, 1, dtype=gs.uint8).tolist() == [100]
    assert gs.linspace(float("nan"), -1, 0, dtype=gs.uint8).shape == (0,)
    for start, steps in ((300, 1), (0, 2)):
        with pytest.raises(RuntimeError, match="without overflow"):
            gs.linspace(start, 300, steps, dtype=gs.int8)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(("float32", (2,)), ("complex128", ()), "complex64"), (("float64", (2,)), ("complex64", ()), "complex128"),
     (("float32", ()), ("complex128", ()), "complex128"), (("float32", (2,)), ("complex128", (2,)), "complex128"),
     (("int8", (2,)), ("complex128", ()), "complex128"), (("int8", (2,)), ("float64", ()), "float64"),
     (("float32", (2,)), ("float64", ()), "float32")],
)  # fmt: skip
def test_result_types(first, second, expected):
    a, b = (gs.ones(shape, dtype=dtype) for dtype, shape in (first, second))
    assert str(gs.result_type(a, b)) == str(gs.result_type(b, a)) == str((a + b).dtype) == expected


def test_masks_of_uint8():
    x = gs.arange(6.0).reshape(2, 3)
    mask = gs.tensor([1, 0], dtype=gs.uint8)
    with pytest.warns(UserWarning, match="uint8 are deprecated"):
        assert x[mask].tolist() == [[0, 1, 2]]
    with pytest.warns(UserWarning, match="uint8 are deprecated"):
        x[:, gs.tensor([0, 1, 0], dtype=gs.uint8)] = 9.0
    assert x.tolist() == [[0, 9, 2], [3, 9, 5]]
    with pytest.warns(UserWarning, match="uint8 are deprecated"):
        assert gs.where(mask, gs.ones(2), gs.zeros(2)).tolist() == [1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x[gs.tensor(0, dtype=gs.uint8)].shape == (0, 2, 3)  # like False


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_sign_of_nan_is_zero(dtype):
    x = gs.tensor([float("nan"), -float("nan"), -0.0, 0.0, 6e-8, -3.0, float("inf"), -float("inf")], dtype=dtype)
    expected = [0, 0, 0, 0, 1, -1, 1, -1]
    assert gs.sign(x).tolist() == gs.sgn(x).tolist() == x[::1].clone().sign_().tolist() == expected
    assert gs.stack([x, x], 1)[:, 0].sign().tolist() == expected


@pytest.mark.parametrize("loss", [F.nll_loss, F.cross_entropy])
def test_targets_of_losses(loss):
    log_probs = gs.tensor([[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]]).log_softmax(1)
    expected = loss(log_probs, gs.tensor([1, 2]))
    assert loss(log_probs, gs.tensor([1, 2], dtype="uint8")).item() == expected.item()
    for dtype in ("int32", "int16", "int8", "bool"):
        with pytest.raises(RuntimeError, match=f"target dtype to be Long or Byte, but got {dtype}"):
            loss(log_probs, gs.tensor([1, 2], dtype=dtype))


@pytest.mark.parametrize("name", ["flip", "permute", "reshape", "expand", "broadcast_to"])
@pytest.mark.parametrize("size", [(), (1,), (2, 3)])
def test_sizes_and_dims_have_to_be_given(name, size):
    with pytest.raises(TypeError, match=rf"{name}\(\) missing 1 required positional argument"):
        getattr(gs.ones(size), name)()


@pytest.mark.parametrize("size", [(), (1,), (2, 3)])
def test_a_view_is_of_a_size_or_of_a_dtype(size):
    with pytest.raises(TypeError, match=r"view\(\) received an invalid combination of arguments - got \(Tensor\)"):
        gs.ones(size).view()


def test_no_dims_are_flipped_by_an_empty_list():
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.flip(()).tolist() == x.flip([]).tolist() == x.flip(dims=()).tolist() == x.tolist()
