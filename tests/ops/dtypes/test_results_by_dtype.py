"""The dtype that an op computes in, and the ones it refuses; few dimensions, large numbers. Values are PyTorch's."""

import math
import tracemalloc

import numpy as np
import pytest

import gradsmith as gs

F = gs.nn.functional
NAN, INF = float("nan"), float("inf")

# ---- out says the dtype

OUT = [
    (lambda out: gs.sum(gs.tensor([1.7, 2.7]), 0, out=out), gs.int64, 3),
    (lambda out: gs.sum(gs.tensor([1.7, 2.7]), 0, out=out), gs.bool_, True),
    (lambda out: gs.sum(gs.tensor([3, 4]), (), out=out), gs.bool_, True),
    (lambda out: gs.sum(gs.tensor([200, 200], dtype=gs.uint8), 0, out=out), gs.uint8, 144),
    (lambda out: gs.prod(gs.tensor([1.7, 2.7]), 0, out=out), gs.int64, 2),
    (lambda out: gs.prod(gs.tensor([1.7, 2.7]), 0, out=out), gs.float64, 4.590000209808352),
    (lambda out: gs.prod(gs.tensor([1 + 2j, 2j]), 0, out=out), gs.float64, 0),
    (lambda out: gs.sum(gs.tensor([1 + 2j, 2j]), 0, out=out), gs.int64, 1),
    (lambda out: gs.mean(gs.tensor([1 + 1j, 2]), 0, out=out), gs.float32, 1.5),
]


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("case", range(len(OUT)))
def test_reductions_compute_in_the_dtype_of_out(case):
    compute, dtype, expected = OUT[case]
    out = gs.zeros((), dtype=dtype)
    assert compute(out) is out
    assert (out.item(), out.dtype) == (expected, dtype)


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_running_sums_compute_in_the_dtype_of_out():
    assert gs.cumsum(gs.tensor([1.7, 2.7]), 0, out=gs.zeros(2, dtype=gs.int64)).tolist() == [1, 3]
    assert gs.cumsum(gs.tensor([1 + 1j, 2]), 0, out=gs.zeros(2)).tolist() == [1, 3]
    with pytest.raises(NotImplementedError):
        gs.cumsum(gs.tensor([1.0]), 0, out=gs.zeros(1, dtype=gs.bool_))


def test_what_is_asked_for_has_to_go_into_out():
    out = gs.zeros((), dtype=gs.int64)
    with pytest.raises(RuntimeError):
        gs.sum(gs.ones(2), 0, dtype=gs.float32, out=out)
    with pytest.raises(RuntimeError):
        gs.mean(gs.ones(2), 0, out=out)
    with pytest.raises(RuntimeError, match="requires grad"):
        gs.sum(gs.ones(2, requires_grad=True), 0, out=out)
    assert out.item() == 0


@pytest.mark.parametrize("op", [gs.all, gs.any])
def test_truth_values_go_into_bool_and_uint8(op):
    for dtype in (gs.bool_, gs.uint8):
        for given in (gs.float32, gs.uint8):
            assert op(gs.ones(2, dtype=given), out=gs.zeros((), dtype=dtype)).item() == 1
    for dtype in (gs.int8, gs.int64, gs.float64, gs.complex64):
        with pytest.raises(RuntimeError, match="only supports bool and uint8"):
            op(gs.ones(3), 0, out=gs.zeros((), dtype=dtype))


# ---- in place


def test_running_sums_in_place_keep_the_dtype():
    assert gs.tensor([200, 200], dtype=gs.uint8).cumsum_(0).tolist() == [200, 144]
    with pytest.raises(NotImplementedError):
        gs.tensor([True, True]).cumsum_(0)
    for x, dtype in ((gs.ones(2), gs.float64), (gs.tensor([1, 2]), gs.float64), (gs.tensor([True]), gs.int64)):
        with pytest.raises(RuntimeError, match="Bad in-place call"):
            x.cumsum_(0, dtype=dtype)
    assert gs.tensor([1, 2], dtype=gs.int32).cumsum_(0, dtype=gs.int32).tolist() == [1, 3]


def test_magnitudes_of_complex_tensors_have_no_place():
    for name in ("abs_", "absolute_"):
        z = gs.tensor([3 + 4j])
        with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
            getattr(z, name)()
        assert z.tolist() == [3 + 4j]
    assert gs.tensor([-3.0]).abs_().item() == 3


# ---- losses

COMPARED = [
    (gs.tensor([1.0, 2.0]), gs.tensor([True, False]), gs.float32, [0, 4]),
    (gs.tensor([True, False]), gs.tensor([1.0, 2.0]), gs.float32, [0, 4]),
    (gs.tensor([1, 3]), gs.tensor([1.0, 5.0]), gs.float32, [0, 4]),
    (gs.tensor([1.0, 3.0], dtype=gs.float16), gs.tensor(2.0), gs.float32, [1, 1]),
    (gs.tensor([1.0, 3.0], dtype=gs.float16), gs.tensor(2), gs.float16, [1, 1]),
    (gs.tensor(1.0, dtype=gs.float64), gs.tensor([2.0]), gs.float64, [1]),
]


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("case", range(len(COMPARED)))
def test_squared_errors_promote_once_they_are_broadcast(case):
    a, b, dtype, expected = COMPARED[case]
    found = F.mse_loss(a, b, reduction="none")
    assert (found.dtype, found.tolist()) == (dtype, expected)
    assert F.mse_loss(a, b, reduction="sum").item() == sum(expected)


def test_the_gradient_beside_a_bool_target():
    x = gs.tensor([1.0, 3.0], requires_grad=True)
    F.mse_loss(x, gs.tensor([True, False]), reduction="sum").backward()
    assert x.grad.tolist() == [0, 6]


@pytest.mark.parametrize("dtype", [gs.bool_, gs.int8, gs.int64])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_integers_have_no_squared_error(dtype, reduction):
    with pytest.raises(NotImplementedError, match="mse_loss"):
        F.mse_loss(gs.ones(2, dtype=dtype), gs.ones(2, dtype=dtype), reduction=reduction)


# ---- large and small numbers, NaN


def test_the_root_of_a_variance_beyond_float32():
    assert math.isclose(gs.std(gs.tensor([1e30, -1e30, 2e30])).item(), 1.5275252234215038e30, rel_tol=1e-6)
    assert math.isclose(gs.std(gs.tensor([1e30, -1e30, 2e30]), 0, correction=0).item(), 1.2472191494e30, rel_tol=1e-6)
    assert math.isclose(gs.std(gs.tensor([1e-30, -1e-30, 2e-30])).item(), 1.5275251923963738e-30, rel_tol=1e-6)
    assert gs.var(gs.tensor([1e30, -1e30, 2e30])).item() == INF
    assert math.isnan(gs.std(gs.tensor([1.0, INF])).item())
    assert gs.std(gs.ones(3)).item() == 0


LINES = [
    ((NAN, -1.5, 5), [NAN] * 5),
    ((0, INF, 5), [NAN, INF, NAN, NAN, NAN]),
    ((INF, 0, 5), [NAN, NAN, INF, INF, NAN]),
    ((1, NAN, 1), [1]),
    ((INF, 1, 1), [INF]),
    ((1, INF, 2), [NAN, NAN]),
    ((0, 1, 0), []),
]


@pytest.mark.parametrize("bounds, expected", LINES)
def test_lines_to_nowhere(bounds, expected):
    found = gs.linspace(*bounds).tolist()
    assert [str(value) for value in found] == [str(float(value)) for value in expected]


def test_the_bounds_of_a_line_fit_its_dtype():
    for dtype, bound in ((gs.float32, 1e39), (gs.float16, 1e5), (gs.complex64, 1e39)):
        with pytest.raises(RuntimeError, match="without overflow"):
            gs.linspace(0, bound, 3, dtype=dtype)
    assert gs.linspace(0, 1e39, 0).shape == (0,)


def test_a_complex_number_that_is_real_is_one():
    assert (int(gs.tensor(2 + 0j)), float(gs.tensor([2.5 + 0j]))) == (2, 2.5)
    for convert in (int, float):
        with pytest.raises(RuntimeError, match="cannot be converted"):
            convert(gs.tensor(1 + 2j))


# ---- no dimensions, no elements

INDEX_ADD = [
    (gs.ones(()), [0, 0], gs.tensor(2.0), IndexError),
    (gs.ones(()), [], gs.tensor(2.0), IndexError),
    (gs.ones(3), [0, 0], gs.tensor(2.0), IndexError),
    (gs.ones(()), [0], gs.tensor([2.0]), RuntimeError),
    (gs.ones(()), [1], gs.tensor(1.0), IndexError),
    (gs.ones(3), [3], gs.tensor([1.0]), IndexError),
    (gs.ones(3), [-1], gs.tensor([1.0]), IndexError),
    (gs.ones(3, 2), [3], gs.ones(1, 2), RuntimeError),
]


@pytest.mark.parametrize("case", range(len(INDEX_ADD)))
def test_index_add_of_few_dimensions_refuses(case):
    x, index, source, error = INDEX_ADD[case]
    with pytest.raises(error):
        x.index_add(0, gs.tensor(index, dtype=gs.int64), source)


def test_index_add_of_no_dimensions():
    assert gs.ones(()).index_add(0, gs.tensor([0]), gs.tensor(2.0)).item() == 3
    assert gs.ones(()).index_add(-1, gs.tensor(0), gs.tensor(2.0), alpha=0.5).item() == 2


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64, gs.bool_])
def test_an_index_of_nothing_has_any_dtype(dtype):
    nothing = gs.zeros(0, dtype=dtype)
    assert gs.ones(3).gather(0, nothing).shape == (0,)
    for found in (gs.ones(3).scatter(0, nothing, 2.0), gs.ones(3).scatter(0, nothing, gs.zeros(2)),
                  gs.ones(3).scatter_add(0, nothing, gs.zeros(2))):  # fmt: skip
        assert found.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError):
        gs.ones(3).gather(0, gs.zeros(1, dtype=gs.float32))


def test_one_index_takes_the_first_of_a_source():
    source = gs.tensor([5.0, 6.0], requires_grad=True)
    assert gs.ones(3).scatter(0, gs.tensor(0), source).tolist() == [5, 1, 1]
    y = gs.ones(()).scatter_add(0, gs.tensor(0), source)
    assert y.item() == 6
    y.backward()
    assert source.grad.tolist() == [1, 0]


def test_dimensions_of_nothing_are_checked():
    for start, end in ((-1, 5), (5, 5), (2, 0)):
        with pytest.raises(IndexError):
            gs.ones(()).flatten(start, end)
    assert gs.ones(()).flatten(0, -1).shape == (1,)


@pytest.mark.parametrize("condition, expected", [(0, [3, 4]), (2, [1, 1])])
def test_a_uint8_condition_without_dimensions(condition, expected):
    """NumPy compares such an array to a number of its own type, which is no array."""
    x, y = gs.tensor(1.0), gs.tensor([3.0, 4.0])
    with pytest.warns(UserWarning, match="uint8"):
        assert x.where(gs.tensor(condition, dtype=gs.uint8), y).tolist() == expected


@pytest.mark.parametrize("dtype", [gs.bool, gs.int8, gs.uint16, gs.int32], ids=str)
@pytest.mark.parametrize("wanted", [gs.float16, gs.float32, gs.float64, gs.complex64], ids=str)
def test_integers_are_summed_exactly_for_a_floating_result(dtype, wanted):
    x = np.random.default_rng(0).integers(0, 2, (200, 300)).astype(dtype)
    found = gs.tensor(x).sum(dtype=wanted)
    assert found.dtype == wanted and found.item() == np.array(x.sum(dtype=np.int64)).astype(wanted)
    np.testing.assert_array_equal(gs.tensor(x).sum(0, dtype=wanted).numpy(), x.sum(0, dtype=np.int64).astype(wanted))


def test_a_sum_of_small_integers_makes_no_converted_copy():
    x = gs.ones(1000, 1000, dtype=gs.int32)
    for call in (x.sum, x.prod, lambda: x.sum(0, dtype=gs.float32), lambda: x.mean(dtype=gs.float64)):
        call()
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < x.numel()


# ---- integers and bools


def test_integers_keep_their_dtype_between_bounds():
    whole = gs.tensor([-3, 0, 3])
    for found, wanted in (
        (F.hardtanh(whole), [-1, 0, 1]),
        (F.hardtanh(whole, -1.5, 2.9), [-1, 0, 2]),
        (F.relu6(gs.tensor([-3, 5, 9])), [0, 5, 6]),
        (F.hardtanh(whole.clone(), inplace=True), [-1, 0, 1]),
    ):
        assert found.dtype == gs.int64 and found.tolist() == wanted
    few = gs.tensor([0, 3], dtype=gs.uint8)
    assert F.hardtanh(few, 0.0, 2.0).tolist() == [0, 2]
    with pytest.raises(RuntimeError, match="uint8 has no negative numbers"):
        F.hardtanh(few)
    with pytest.raises(NotImplementedError, match="not defined for bool"):
        F.hardtanh(few.bool())


def test_a_loss_of_integers_is_floating():
    found = F.poisson_nll_loss(gs.tensor([1, 2]), gs.tensor([0, 3]), full=True)
    assert found.dtype == gs.float32
    stirling = 3 * np.log(3) - 3 + 0.5 * np.log(6 * np.pi)
    np.testing.assert_allclose(found.item(), (np.exp(1) + np.exp(2) - 6 + stirling) / 2, rtol=1e-6)


def test_bools_that_are_added_and_multiplied():
    matrix, vector = gs.tensor([[True, False], [False, False]]), gs.tensor([False, True])
    for found, wanted in (
        (gs.addr(matrix, vector, vector), [[True, False], [False, True]]),
        (gs.addr(matrix, vector, vector, beta=0), [[False, False], [False, True]]),
        (matrix.addr(vector, vector, alpha=False), [[True, False], [False, False]]),
        (gs.addr(vector, vector, vector), [[False, True], [False, True]]),
    ):
        assert found.dtype == gs.bool_ and found.tolist() == wanted


def test_a_sum_to_no_dimensions_counts():
    for found, wanted in ((gs.tensor(True).sum_to_size(()), 1), (gs.tensor([True, True]).sum_to_size(()), 2)):
        assert found.dtype == gs.int64 and found.item() == wanted
    assert gs.tensor([True]).sum_to_size(1).dtype == gs.bool_


def test_products_and_places_of_small_integers():
    whole = gs.ones(2, 2, 2, dtype=gs.int32)
    assert gs.addbmm(whole[0], whole, whole).dtype == gs.int32
    assert [each.dtype for each in gs.unravel_index(whole[0], (2, 3))] == [gs.int64] * 2


def test_powers_of_one_number():
    assert gs.linalg.vander(gs.tensor(2.0), N=3).tolist() == [[1, 2, 4]]
    few = gs.linalg.vander(gs.tensor([-8], dtype=gs.int8), N=4)
    assert few.dtype == gs.int64 and few.tolist() == [[1, -8, 64, -512]]
    with pytest.raises(RuntimeError, match="at least one dimension, or N be given"):
        gs.linalg.vander(gs.tensor(2.0))


@pytest.mark.parametrize(
    "name", ["half", "float", "double", "cfloat", "cdouble", "byte", "char", "short", "int", "long", "bool"]
)
def test_casts_take_a_memory_format(name):
    x = gs.ones(2, 3, 4, 5, dtype=gs.uint16, requires_grad=False)
    cast = getattr(x, name)
    assert cast(memory_format=gs.preserve_format).dtype == cast().dtype
    assert cast(memory_format=gs.channels_last).stride() == (60, 1, 15, 3)
    assert cast(memory_format=gs.contiguous_format).is_contiguous()


@pytest.mark.parametrize("op", [gs.sum, gs.mean, gs.prod, gs.cumsum, gs.cumprod, gs.nansum, gs.softmax])
def test_dtype_and_that_of_out_have_to_agree(op):
    x = gs.ones(2, 2)
    shape = op(x, 0).shape
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float64, but got float32 instead"):
        op(x, 0, dtype=gs.float64, out=gs.empty(shape))
    out = gs.empty(shape, dtype=gs.float64)
    assert op(x, 0, dtype=gs.float64, out=out) is out


def test_norms_in_complex_numbers_have_real_out():
    x = gs.tensor([3.0 + 4.0j])
    out = gs.empty((), dtype=gs.float64)
    assert gs.linalg.vector_norm(x, dtype=gs.complex128, out=out).item() == 5.0
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float64, but got float32 instead"):
        gs.linalg.vector_norm(x, dtype=gs.complex128, out=gs.empty(()))
