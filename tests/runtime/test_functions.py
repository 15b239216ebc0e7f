"""Array-level forward kernels, against NumPy: values, memory sharing, dtypes, and refusals."""

import itertools

import numpy as np
import pytest

from gradsmith.runtime.functions import indexing, joining, linalg, losses, pointwise, reductions, shapes

generator = np.random.default_rng(7)

# One array per kind of memory: plain, transposed, strided, reversed, with ones, empty, without dimensions.
LAYOUTS = [
    generator.normal(size=(2, 3, 4)),
    generator.normal(size=(4, 3, 2)).T,
    generator.normal(size=(2, 6, 4))[:, ::2],
    generator.normal(size=(2, 3, 8))[..., ::-2],
    generator.normal(size=(1, 3, 1)),
    generator.normal(size=(2, 1, 3, 1, 2)).transpose(4, 1, 0, 3, 2),
    generator.normal(size=(4, 1))[::2],
    np.zeros((0, 3)),
    np.array(3.0),
]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128, np.int64, np.int32, np.uint8, np.bool_]


def assert_same(found, expected):
    assert isinstance(found, np.ndarray)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found, expected)


def assert_near(found, expected):
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    tolerance = 1e-5 if found.dtype in (np.float32, np.complex64) else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def axes_of(array):
    """Every way to name dimensions of a reduction."""
    one = [(d,) for d in range(-array.ndim, array.ndim)]
    return [None, (), *one, *([(0, -1)] if array.ndim > 1 else [])]


# ---- shapes


def factorisations(total):
    sizes = [0, 1, 2, 3, 4, 6, 8, 12, 24]
    for length in (1, 2, 3):
        yield from (shape for shape in itertools.product(sizes, repeat=length) if np.prod(shape) == total)


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_reshape_shares_memory_exactly_when_numpy_does(array):
    for shape in factorisations(array.size):
        expected = array.reshape(shape)
        found = shapes.reshape_of(array, shape)
        assert_same(found, expected)
        if array.size:
            assert np.shares_memory(found, array) == np.shares_memory(expected, array)


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_reshape_that_copies_owns_its_memory_and_view_refuses(array):
    for shape in factorisations(array.size):
        found = shapes.reshape_of(array, shape)
        if np.shares_memory(found, array) or not array.size:
            assert_same(shapes.view_of(array, shape), array.reshape(shape))
            continue
        assert found.flags.owndata
        with pytest.raises(RuntimeError, match=r"Use \.reshape"):
            shapes.view_of(array, shape)


def test_reshape_infers_one_size():
    assert shapes.reshape_of(np.zeros((3, 4)), (2, -1)).shape == (2, 6)
    assert shapes.reshape_of(np.zeros((0, 4)), (-1, 2)).shape == (0, 2)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((5, 2), r"shape '\[5, 2\]' is invalid for input of size 12"),
        ((5, -1), r"shape '\[5, -1\]' is invalid for input of size 12"),
        ((-1, -1), "only one dimension can be inferred"),
        ((-2, 6), r"invalid shape dimension -2 at index 0 of shape \[-2, 6\]"),
        ((0, -1), r"shape '\[0, -1\]' is invalid for input of size 12"),
    ],
)
def test_reshape_refuses(shape, message):
    with pytest.raises(RuntimeError, match=message):
        shapes.reshape_of(np.zeros((3, 4)), shape)


def test_reshape_of_nothing_is_ambiguous():
    with pytest.raises(RuntimeError, match="ambiguous"):
        shapes.reshape_of(np.zeros((0, 4)), (0, -1))


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_orders_of_dimensions(array):
    assert_same(shapes.T_of(array), array.T)
    for one, other in itertools.product(range(-array.ndim, array.ndim), repeat=2):
        assert_same(shapes.transpose_of(array, one, other), np.swapaxes(array, one, other))
    for order in itertools.permutations(range(array.ndim)):
        assert_same(shapes.permute_of(array, order), array.transpose(order))


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_dimensions_of_size_one(array):
    assert_same(shapes.squeeze_of(array, None), array.squeeze())
    for dim in range(-array.ndim - 1, array.ndim + 1):
        assert_same(shapes.unsqueeze_of(array, dim), np.expand_dims(array, dim))
    for dim in range(-array.ndim, array.ndim):
        expected = array.squeeze(dim) if array.shape[dim] == 1 else array
        assert_same(shapes.squeeze_of(array, (dim,)), expected)


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_restored_dimensions_are_those_of_keepdims(array):
    for axes in axes_of(array):
        for keep in (False, True):
            reduced = np.asarray(array.sum(axis=axes or None, keepdims=keep))
            found = shapes.restore_dims_of(reduced, array.ndim, axes, keep)
            assert found.shape == array.sum(axis=axes or None, keepdims=True).shape
            assert np.shares_memory(found, reduced) or not reduced.size


def test_expand():
    array = generator.normal(size=(3, 1))
    assert_same(shapes.expand_of(array, (2, -1, 4)), np.broadcast_to(array, (2, 3, 4)))
    assert_same(shapes.expand_of(np.array(1.0), (2, 2)), np.ones((2, 2)))
    assert shapes.expand_of(array, (3, 0)).shape == (3, 0)


@pytest.mark.parametrize(
    ("size", "message"),
    [((3,), r"sizes provided \(1\)"), ((4, 1), r"expanded size of the tensor \(4\)"), ((-1, 3, 1), "leading")],
)
def test_expand_refuses(size, message):
    with pytest.raises(RuntimeError, match=message):
        shapes.expand_of(np.zeros((3, 1)), size)


@pytest.mark.parametrize("array", [a for a in LAYOUTS if a.ndim], ids=str)
def test_parts_are_views(array):
    for dim in range(-array.ndim, array.ndim):
        length = array.shape[dim]
        assert_same(np.concatenate(shapes.split_of(array, 2, dim), dim), array)
        assert [part.shape[dim] for part in shapes.split_of(array, (length, 0), dim)] == [length, 0]
        slices = shapes.unbind_of(array, dim)
        assert len(slices) == length
        for index, found in enumerate(slices):
            assert_same(found, array.take(index, dim))
            assert np.shares_memory(found, array) or not array.size
        if length > 1:
            assert_same(shapes.narrow_of(array, dim, -2, 1), array.take([length - 2], dim))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: shapes.select_of(a, 0, 3), IndexError, r"index 3 out of range for tensor of size \[3, 4\]"),
        (lambda a: shapes.select_of(a, 2, 0), IndexError, r"expected to be in range of \[-2, 1\], but got 2"),
        (lambda a: shapes.select_of(np.array(1.0), 0, 0), IndexError, "0-dim"),
        (lambda a: shapes.narrow_of(a, 0, 1, 3), RuntimeError, r"start \(1\) \+ length \(3\) exceeds"),
        (lambda a: shapes.narrow_of(a, 0, 5, 0), IndexError, "start out of range"),
        (lambda a: shapes.narrow_of(a, 0, 0, -1), RuntimeError, "non-negative"),
        (lambda a: shapes.split_of(a, 0, 0), RuntimeError, "can only be 0"),
        (lambda a: shapes.split_of(a, (1, 1), 0), RuntimeError, "sum exactly to 3"),
        (lambda a: shapes.permute_of(a, (0, 0)), RuntimeError, "appears multiple times"),
        (lambda a: shapes.permute_of(a, (0,)), RuntimeError, "2 dimensions"),
        (lambda a: shapes.mT_of(a[0]), RuntimeError, "1-D"),
        (lambda a: shapes.t_of(a[None]), RuntimeError, "<= 2"),
    ],
)
def test_views_refuse(call, error, message):
    with pytest.raises(error, match=message):
        call(np.zeros((3, 4)))


def test_views_of_read_only_memory_are_read_only():
    array = np.zeros((3, 4))
    array.flags.writeable = False
    assert not shapes.T_of(array).flags.writeable


def test_more_dimensions_than_numpy_has():
    array = np.zeros((1,) * 64)
    with pytest.raises(RuntimeError, match="at most 64"):
        shapes.unsqueeze_of(array, 0)


# ---- reductions


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_sum(array, dtype):
    array = array.astype(dtype)
    wide = dtype if array.dtype.kind in "fc" else np.int64
    for axes, keep in itertools.product(axes_of(array), (False, True)):
        expected = np.asarray(array.sum(axis=axes or None, keepdims=keep, dtype=wide))
        assert_near(reductions.sum_of(array, axes, keep, None), expected)


def test_sum_in_another_dtype():
    assert reductions.sum_of(np.ones(3, np.float32), None, False, np.dtype(np.float64)).dtype == np.float64
    assert_same(reductions.sum_of(np.array([1.9, 1.9]), None, False, np.dtype(np.int64)), np.array(2))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_mean_var_and_std(array, dtype):
    array = array.astype(dtype)
    for axes, keep, correction in itertools.product(axes_of(array), (False, True), (0, 1)):
        options = {"axis": axes or None, "keepdims": keep}
        variance = np.asarray(array.var(ddof=correction, **options))
        assert_near(reductions.mean_of(array, axes, keep, None), np.asarray(array.mean(**options)))
        assert_near(reductions.var_of(array, axes, correction, keep), variance)
        assert_near(reductions.std_of(array, axes, correction, keep), np.sqrt(variance, dtype=variance.dtype))


def test_mean_of_integers_is_refused():
    with pytest.raises(RuntimeError, match=r"dtype=gradsmith\.float32"):
        reductions.mean_of(np.arange(3), None, False, None)
    with pytest.raises(RuntimeError, match="int64"):
        reductions.var_of(np.arange(3), None, 1, False)
    assert reductions.mean_of(np.arange(3), None, False, np.dtype(np.float32)) == 1


@pytest.mark.parametrize("array", [a for a in LAYOUTS if a.size], ids=str)
def test_extrema(array):
    for axes, keep in itertools.product(axes_of(array), (False, True)):
        options = {"axis": axes or None, "keepdims": keep}
        assert_same(reductions.amax_of(array, axes or (), keep), np.asarray(array.max(**options)))
        assert_same(reductions.amin_of(array, axes or (), keep), np.asarray(array.min(**options)))
    for dim, keep in itertools.product(range(-array.ndim, array.ndim), (False, True)):
        values, indices = reductions.max_of(array, dim, keep)
        assert_same(values, array.max(dim, keepdims=keep))
        assert_same(indices, np.argmax(array, dim, keepdims=keep))
        assert_same(reductions.argmin_of(array, dim, keep), np.argmin(array, dim, keepdims=keep))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda a: reductions.amax_of(a, (), False), RuntimeError),
        (lambda a: reductions.amax_of(a, (0,), False), IndexError),
        (lambda a: reductions.max_of(a, 0, False), IndexError),
        (lambda a: reductions.argmax_of(a, None, False), IndexError),
        (lambda a: reductions.argmax_of(a, 0, False), IndexError),
    ],
)
def test_there_is_no_extremum_of_nothing(call, error):
    with pytest.raises(error, match=r"\[0, 3\]"):
        call(np.zeros((0, 3)))


def test_extrema_along_what_is_left_of_nothing():
    assert reductions.amax_of(np.zeros((0, 3)), (1,), False).shape == (0,)


def test_nan_is_the_extremum():
    array = np.array([1.0, np.nan, 3.0])
    assert np.isnan(reductions.amax_of(array, (), False))
    values, indices = reductions.min_of(array, 0, False)
    assert np.isnan(values)
    assert indices == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_prod_and_cumsum(dtype):
    array = (generator.normal(size=(3, 4)) * 3).astype(dtype)
    wide = dtype if array.dtype.kind in "fc" else np.int64
    assert_near(reductions.prod_of(array, (1,), False, None), np.prod(array, 1, dtype=wide))
    for dim in (0, -1):
        assert_near(reductions.cumsum_of(array, dim, None), np.cumsum(array, dim, dtype=wide))
    assert_near(reductions.prod_of(array, None, True, None), np.prod(array, keepdims=True, dtype=wide))


def test_cumsum_without_dimensions():
    assert_same(reductions.cumsum_of(np.array(2.0), -1, None), np.array(2.0))


def test_truth():
    array = np.array([[True, False], [True, True]])
    assert_same(reductions.all_of(array, (1,), False), np.array([False, True]))
    assert_same(reductions.any_of(array, None, True), np.array([[True]]))
    assert reductions.all_of(array.astype(np.uint8), None, False).dtype == np.uint8
    assert reductions.all_of(array.astype(np.float32), None, False).dtype == np.bool_


def test_softmax_family():
    array = generator.normal(size=(2, 3, 4)) * 50
    for dim in range(-3, 3):
        shifted = array - array.max(dim, keepdims=True)
        log_total = np.log(np.exp(shifted).sum(dim, keepdims=True))
        assert_near(reductions.log_softmax_of(array, dim, None), shifted - log_total)
        assert_near(reductions.softmax_of(array, dim, None), np.exp(shifted - log_total))
        assert_near(reductions.logsumexp_of(array, (dim,), True), log_total + array.max(dim, keepdims=True))


def test_softmax_of_one_number():
    assert_same(reductions.softmax_of(np.array(5.0), 0, None), np.array(1.0))
    assert_same(reductions.log_softmax_of(np.array(5.0), -1, None), np.array(0.0))
    assert np.isnan(reductions.softmax_of(np.array(np.nan), 0, None))


def test_softmax_of_integers_wants_a_dtype():
    with pytest.raises(NotImplementedError, match=r"dtype=gradsmith\.float32"):
        reductions.softmax_of(np.arange(3), 0, None)
    assert reductions.softmax_of(np.arange(3), 0, np.dtype(np.float64)).dtype == np.float64


def test_logsumexp_of_complex_and_infinite_numbers():
    array = generator.normal(size=(3, 4)) + 1j * generator.normal(size=(3, 4))
    assert_near(reductions.logsumexp_of(array, (0,), False), np.log(np.exp(array).sum(0)))
    assert reductions.logsumexp_of(np.array([-np.inf, -np.inf]), (0,), False) == -np.inf
    assert reductions.logsumexp_of(np.array([1000.0, np.inf]), (0,), False) == np.inf


def test_sum_to():
    array = generator.normal(size=(2, 3, 4))
    assert_near(reductions.sum_to_of(array, (3, 1)), array.sum((0, 2)).reshape(3, 1))
    same = reductions.sum_to_of(array, (2, 3, 4))
    assert_same(same, array)
    assert not np.shares_memory(same, array)
    with pytest.raises(RuntimeError, match="does not broadcast"):
        reductions.sum_to_of(array, (2, 4))


# ---- dimensions


@pytest.mark.parametrize("dim", [2, -3, 100])
def test_dimension_out_of_range(dim):
    with pytest.raises(IndexError, match=rf"expected to be in range of \[-2, 1\], but got {dim}"):
        reductions.sum_of(np.zeros((3, 4)), (dim,), False, None)


def test_dimension_given_twice():
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times"):
        reductions.sum_of(np.zeros((3, 4)), (1, -1), False, None)


def test_a_number_accepts_the_dimension_it_could_have():
    assert reductions.sum_of(np.array(3.0), (-1,), False, None) == 3
    with pytest.raises(IndexError, match=r"\[-1, 0\], but got 1"):
        reductions.sum_of(np.array(3.0), (1,), False, None)


# ---- products of matrices

SHAPES = [
    ((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((0, 3), (3, 4)), ((2, 0), (0, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.int64])
def test_matmul(one, other, dtype):
    a, b = (generator.normal(size=size).astype(dtype) for size in (one, other))
    assert_near(linalg.matmul_of(a, b), np.asarray(np.matmul(a, b)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linalg.matmul_of(np.zeros((2, 3)), np.zeros((2, 3))), r"\(2x3 and 2x3\)"),
        (lambda: linalg.matmul_of(np.zeros((5, 2, 3)), np.zeros((4, 3, 2))), r"\[5, 2, 3\] and \[4, 3, 2\]"),
        (lambda: linalg.matmul_of(np.zeros((2, 3)), np.zeros(2)), "3 columns meet 2 rows"),
        (lambda: linalg.matmul_of(np.zeros((2, 3)), np.array(1.0)), "2D and 0D"),
        (lambda: linalg.matmul_of(np.zeros((2, 3)), np.zeros((3, 1), np.float32)), "float64 and float32"),
        (lambda: linalg.mm_of(np.zeros((2, 3)), np.zeros(3)), r"expected a 2-D and a 2-D"),
        (lambda: linalg.bmm_of(np.zeros((5, 2, 3)), np.zeros((4, 3, 2))), r"should be \[5, 3, ...\]"),
        (lambda: linalg.mv_of(np.zeros((2, 3)), np.zeros(2)), "vector of size 2"),
        (lambda: linalg.dot_of(np.zeros(2), np.zeros(3)), "2 and 3"),
        (lambda: linalg.outer_of(np.zeros((2, 2)), np.zeros(3)), "two 1-D"),
        (lambda: linalg.linear_of(np.zeros((5, 3)), np.zeros((2, 4)), None), "3 features against 4"),
        (lambda: linalg.linear_of(np.zeros((5, 3)), np.zeros((2, 3)), np.zeros(4)), r"bias of size \[4\]"),
    ],
)
def test_products_refuse(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_linear():
    x, weight, bias = generator.normal(size=(4, 5, 3)), generator.normal(size=(2, 3)), generator.normal(size=2)
    assert_near(linalg.linear_of(x, weight, bias), x @ weight.T + bias)
    assert_near(linalg.linear_of(x, weight, None), x @ weight.T)
    assert_near(linalg.linear_of(x[0, 0], weight, bias), weight @ x[0, 0] + bias)
    assert_near(linalg.linear_of(x, weight[0], np.array(0.5)), x @ weight[0] + 0.5)


# ---- joining


def test_cat_promotes_and_skips_empty_vectors():
    a, b = np.ones((2, 3), np.int64), np.zeros((1, 3), np.float32)
    assert_same(joining.cat_of([a, b], 0), np.concatenate([a, b]).astype(np.float32))
    assert_same(joining.cat_of([np.zeros(0), a.astype(np.float64)], 1), a.astype(np.float64))
    assert_same(joining.cat_of([np.zeros(0)], 0), np.zeros(0))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: joining.cat_of([], 0), ValueError, "non-empty"),
        (lambda: joining.cat_of([np.array(1.0)], 0), RuntimeError, "position 0"),
        (lambda: joining.cat_of([np.zeros((2, 3)), np.zeros((2, 4))], 0), RuntimeError, "tensor number 1"),
        (lambda: joining.cat_of([np.zeros((2, 3)), np.zeros(3)], 0), RuntimeError, "number of dimensions"),
        (lambda: joining.stack_of([], 0), RuntimeError, "non-empty"),
        (lambda: joining.stack_of([np.zeros(2), np.zeros(3)], 0), RuntimeError, r"\[2\] at entry 0 and \[3\] at"),
        (lambda: joining.flip_of(np.zeros((2, 3)), (0, -2)), RuntimeError, "multiple times"),
    ],
)
def test_joining_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_flip_copies():
    array = generator.normal(size=(2, 3))
    found = joining.flip_of(array, (0, 1))
    assert_same(found, array[::-1, ::-1].copy())
    assert not np.shares_memory(found, array)


# ---- elementwise


def test_where_promotes_like_arithmetic():
    condition = np.array([True, False])
    assert pointwise.where_of(condition, np.ones(2, np.float32), 2.0).dtype == np.float32
    assert pointwise.where_of(condition, np.ones(2, np.int64), 2.5).dtype == np.float32
    assert_same(pointwise.where_of(condition, np.ones(2), np.zeros((3, 1))), np.array([[1.0, 0.0]] * 3))
    with pytest.raises(RuntimeError, match="bool tensor"):
        pointwise.where_of(np.array([1, 0]), 1.0, 2.0)
    with pytest.raises(RuntimeError, match="do not broadcast"):
        pointwise.where_of(condition, np.ones(3), np.ones(2))


def test_erf():
    from math import erf

    array = generator.normal(size=(4, 3))[:, ::2]
    expected = np.vectorize(erf)(array)
    assert_near(pointwise.erf_of(array), expected)
    assert_near(pointwise.erf_of(array.astype(np.float32)), expected.astype(np.float32))
    assert pointwise.erf_of(np.arange(3)).dtype == np.float32
    assert pointwise.erf_of(array.astype(np.float16)).dtype == np.float16
    with pytest.raises(NotImplementedError, match="complex128"):
        pointwise.erf_of(array + 0j)


@pytest.mark.parametrize(("mode", "rounded"), [("floor", np.floor), ("trunc", np.trunc)])
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32, np.float64])
def test_rounded_division(mode, rounded, dtype):
    a, b = np.meshgrid(np.array([-7, -3, -1, 0, 2, 7], dtype), np.array([-3, -2, 2, 5], dtype))
    assert_same(pointwise.rounded_div_of(a, b, mode), rounded(a / b).astype(dtype))


def test_rounded_division_refuses():
    with pytest.raises(RuntimeError, match="'up'"):
        pointwise.rounded_div_of(np.ones(2), 1.0, "up")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        pointwise.rounded_div_of(np.arange(2), 0, "floor")


# ---- indexing


def test_integers_come_before_index_arrays():
    array = generator.normal(size=(2, 3, 4))
    assert_same(indexing.index_of(array, (0, slice(None), np.array([1, 2]))), array[0][:, [1, 2]])
    assert_same(indexing.index_of(array, (np.array([0, 1]), ..., 3)), array[..., 3][[0, 1]])


def test_index_backward_adds_repeated_places():
    places = (np.array([0, 2, 0]), slice(None))
    values = generator.normal(size=(3, 4))
    expected = np.zeros((3, 4))
    np.add.at(expected, places, values)
    assert_near(indexing.index_backward_of(values, (3, 4), places), expected)
    assert_near(indexing.index_backward_of(1j * values, (3, 4), places), 1j * expected)


INDICES = [
    (np.array([0, -1, 0]),),
    (slice(None), np.array([[3, 0], [-4, 1]])),
    (np.array([0, 2]), np.array([[1], [-1]])),
    (np.array([0, 2]), np.array([1, 1]), np.array([-1, 0])),
    (slice(None), np.array([0, 0]), ...),
    (slice(1, 3), np.array([0, 0])),
    (np.array([0, 2]), slice(None), np.array([1, 1])),
    (None, np.array([1])),
    (np.array(2),),
    (np.array([], np.int64),),
    (np.array([1, 1], np.uint8),),
    (np.array([True, False, True]),),
    (np.array([True, False, True]), np.array([0, 1])),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("dtype", [*DTYPES, np.float16])
def test_index_and_its_transpose(index, dtype):
    array = (generator.normal(size=(3, 4, 2)) * 4).astype(dtype)
    found = indexing.index_of(array, index)
    assert_same(found, np.asarray(array[index]))
    expected = np.zeros_like(array)
    np.add.at(expected, index, found)
    assert_near(indexing.index_backward_of(found, array.shape, index), expected)


@pytest.mark.parametrize(
    ("index", "message"),
    [((np.array([3]),), "index 3 is out of bounds for dimension 0 with size 3"),
     ((slice(None), np.array([-5])), "index -5 is out of bounds for dimension 1 with size 4"),
     ((np.array([0, 1]), np.array([0, 1, 2])), r"sizes \[2\] and \[3\] do not broadcast"),
     ((np.array([0]), slice(None), slice(None)), "too many indices")],
)  # fmt: skip
def test_index_out_of_bounds(index, message):
    with pytest.raises(IndexError, match=message):
        indexing.index_of(np.zeros((3, 4)), index)


@pytest.mark.parametrize("dtype", [*DTYPES, np.float16])
def test_scatter_of_every_dtype(dtype):
    array, src = (np.array([[1, 0, 1], [1, 1, 0]]).astype(dtype) for _ in range(2))
    index = np.array([[0, 0, 1], [1, 0, 0]], np.int32)
    added, written = array.copy(), array.copy()
    columns = np.broadcast_to(np.arange(3), (2, 3))
    np.add.at(added, (index, columns), src)
    written[index, columns] = src
    assert_same(indexing.scatter_add_of(array, 0, index, src), added)
    assert_same(indexing.scatter_of(array, 0, index, src), written)
    assert_same(indexing.gather_of(array, 0, index), array[index, columns])


def test_basic_index_of_one_element_is_a_view():
    array = np.zeros((2, 2))
    indexing.basic_index_of(array, (0, 1))[...] = 5
    assert array[0, 1] == 5


def test_index_put_is_checked_before_anything_is_written():
    array = np.zeros((3, 4))
    with pytest.raises(RuntimeError, match=r"values of size \[3\]"):
        indexing.index_put_of(array, (np.array([0, 1]),), np.ones(3), False)
    with pytest.raises(RuntimeError, match="complex128 cannot be written"):
        indexing.index_put_of(array, (np.array([0, 1]),), np.ones(4) * 1j, False)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather_and_its_transpose(dim):
    array, index = generator.normal(size=(3, 4)), generator.integers(0, 3, size=(2, 3))
    found = indexing.gather_of(array, dim, index)
    spread = indexing.scatter_add_of(np.zeros((3, 4)), dim, index, found)
    for place in np.ndindex(2, 3):
        source = list(place)
        source[dim] = index[place]
        assert found[place] == array[tuple(source)]
    np.testing.assert_allclose((spread * array).sum(), (found * found).sum())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a, i: indexing.gather_of(a, 0, i + 3), RuntimeError, "out of bounds for dimension 0 with size 3"),
        (lambda a, i: indexing.gather_of(a, 0, -i - 1), RuntimeError, "index -"),
        (lambda a, i: indexing.gather_of(a, 0, i.astype(float)), RuntimeError, "float64"),
        (lambda a, i: indexing.gather_of(a, 0, i[0]), RuntimeError, "same number of dimensions"),
        (lambda a, i: indexing.gather_of(a, 0, np.zeros((2, 5), int)), RuntimeError, "larger in dimension 1"),
        (lambda a, i: indexing.scatter_add_of(a, 0, i, a[:1]), RuntimeError, "does not cover"),
        (lambda a, i: indexing.index_select_of(a, 0, np.array([3])), IndexError, "out of range"),
        (lambda a, i: indexing.index_select_of(a, 0, i), IndexError, "vector"),
        (lambda a, i: indexing.index_add_of(a, 0, np.array([0]), a, 1), RuntimeError, r"want \[1, 4\]"),
        (lambda a, i: indexing.masked_fill_of(a, i, 0), RuntimeError, "only supports bool"),
        (lambda a, i: indexing.masked_fill_of(a, a > 0, np.zeros(2)), RuntimeError, "0-dimensional"),
        (lambda a, i: indexing.masked_select_of(a, a[:2] > 0), RuntimeError, "do not broadcast"),
    ],
)
def test_indexing_refuses(call, error, message):
    array, index = np.zeros((3, 4)), np.array([[0, 1, 2, 0], [1, 1, 1, 1]])
    before = array.copy()
    with pytest.raises(error, match=message):
        call(array, index)
    np.testing.assert_array_equal(array, before)


def test_index_add():
    array, source = generator.normal(size=(3, 4)), generator.normal(size=(3, 2))
    expected = array.copy()
    np.add.at(expected, (slice(None), np.array([3, 3])), 2 * source)
    assert_near(indexing.index_add_of(array, -1, np.array([3, 3]), source, 2), expected)


# ---- losses


def reference_nll(x, target, weight, ignored):
    """Loss and weight of every target, by the definition."""
    x, scale = np.moveaxis(x, 1, -1), np.ones(x.shape[1]) if weight is None else weight
    each, weights = np.zeros(target.shape), np.zeros(target.shape)
    for place in np.ndindex(target.shape):
        if target[place] != ignored:
            weights[place] = scale[target[place]]
            each[place] = -weights[place] * x[(*place, target[place])]
    return each, weights


@pytest.mark.parametrize("size", [(5, 3), (2, 3, 4), (2, 3, 2, 2), (0, 3)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nll_loss(size, weighted, dtype):
    x = generator.normal(size=size).astype(dtype)
    target = generator.integers(0, 3, size=(size[0], *size[2:]))
    weight = np.array([0.5, 1.0, 2.0], dtype) if weighted else None
    for ignored in (-100, 1):
        each, weights = reference_nll(x, target, weight, ignored)
        assert_near(losses.nll_loss_of(x, target, weight, ignored, "none"), each.astype(dtype))
        assert_near(losses.nll_loss_of(x, target, weight, ignored, "sum"), np.asarray(each.sum(), dtype))
        if weights.sum():
            mean = np.asarray(each.sum() / weights.sum(), dtype)
            assert_near(losses.nll_loss_of(x, target, weight, ignored, "mean"), mean)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_nll_loss_backward_is_the_transpose(reduction):
    x, target = generator.normal(size=(2, 3, 4)), generator.integers(0, 3, size=(2, 4))
    weight = np.array([0.5, 1.0, 2.0])
    value = losses.nll_loss_of(x, target, weight, 1, reduction)
    grad = generator.normal(size=value.shape)
    spread = losses.nll_loss_backward_of(np.asarray(grad), target, weight, (2, 3, 4), 1, reduction)
    np.testing.assert_allclose((spread * x).sum(), (grad * value).sum())


def test_mean_loss_of_no_targets_is_nan():
    assert np.isnan(losses.nll_loss_of(np.zeros((1, 3)), np.array([2]), None, 2, "mean"))


@pytest.mark.parametrize(
    ("target", "weight", "reduction", "error", "message"),
    [
        (np.array([0, 3]), None, "mean", IndexError, "Target 3 is out of bounds: there are 3 classes"),
        (np.array([0]), None, "mean", ValueError, r"wants a target of size \[2\], but it has size \[1\]"),
        (np.array([0.0, 1.0]), None, "mean", RuntimeError, "float64"),
        (np.array([0, 1]), np.ones(2), "mean", RuntimeError, "each of the 3 classes"),
        (np.array([0, 1]), None, "all", ValueError, "'all' is not a valid value for reduction"),
    ],
)
def test_nll_loss_refuses(target, weight, reduction, error, message):
    with pytest.raises(error, match=message):
        losses.nll_loss_of(np.zeros((2, 3)), target, weight, -100, reduction)


def test_mse_loss():
    a, b = generator.normal(size=(3, 4)), generator.normal(size=4)
    assert_near(losses.mse_loss_of(a, b, "none"), (a - b) ** 2)
    assert_near(losses.mse_loss_of(a, b, "mean"), np.asarray(((a - b) ** 2).mean()))
    c, d = (generator.normal(size=10_001).astype(np.float32) for _ in range(2))
    assert_near(losses.mse_loss_of(c[::2], d[::2], "sum"), np.sum((c[::2] - d[::2]) ** 2, dtype=np.float32))
    with pytest.raises(RuntimeError, match=r"\[3, 4\] of the input and \[3\] of the target"):
        losses.mse_loss_of(a, np.zeros(3), "sum")
