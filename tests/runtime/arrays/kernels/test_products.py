"""Matrix products, by BLAS and by the own kernel."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import array_testing as kernels
import numpy as np
import pytest
from operands import COMPLEX, FLOATS, assert_close, values

from gradsmith.runtime.arrays import array

PRODUCTS = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 6)), ((2, 3), (5, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((0, 3), (3, 4)),
    ((2, 0), (0, 4)), ((0, 2, 3), (3, 4)), ((1, 5), (5, 1)), ((5, 1), (1, 5)), ((70, 40), (40, 90)),
    ((1, 300), (300, 200)), ((300, 200), (200, 1)), ((300, 1), (1, 200)), ((6, 1, 300), (300, 50)),
    ((64, 20, 30), (64, 30, 20)), ((130, 150), (150, 170)), ((33, 257), (257, 95)), ((3, 40, 50), (50, 70)),
    ((9, 10, 3), (9, 3, 50)), ((4, 10, 300), (4, 300, 7)), ((3, 20, 1001), (3, 1001, 19)), ((2, 500), (500, 3)),
]  # fmt: skip


@pytest.fixture(params=["blas", "own"])
def backend(request):
    try:
        array.set_matmul_backend(request.param)
    except RuntimeError:
        pytest.skip("this processor has no AVX-512")
    yield request.param
    array.set_matmul_backend("auto")


def matrix_layouts(x):
    """(array, transposed): pairs that stand for the same stack of matrices."""
    yield x, False
    if x.ndim > 1:
        swapped = np.ascontiguousarray(x.swapaxes(-1, -2))
        yield swapped, True
        yield swapped.swapaxes(-1, -2), False
    yield np.repeat(x, 2, -1)[..., ::2], False
    yield np.ascontiguousarray(x[..., ::-1])[..., ::-1], False


def assert_product(a, b, expected):
    """Of two matrices of floats, each by rows and by columns."""
    for (x, transpose_x), (y, transpose_y) in itertools.product(
        list(matrix_layouts(a))[:2], list(matrix_layouts(b))[:2]
    ):
        result = kernels.apply_matmul(x, y, transpose_x, transpose_y)
        assert_close(result, expected, 1e-4 if a.dtype == np.float32 else 1e-12)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, "int64", "int32", "bool", "float16"])
@pytest.mark.parametrize("shapes", PRODUCTS)
def test_matmul(dtype, shapes, backend, threads):
    a, b = values(dtype, shapes[0], 1), values(dtype, shapes[1], 2)
    expected = np.asarray(a @ b)
    rtol = {"float16": 3e-2, "float32": 2e-5, "complex64": 2e-5}.get(dtype, 1e-13)
    for (x, transpose_x), (y, transpose_y) in itertools.product(matrix_layouts(a), matrix_layouts(b)):
        result = kernels.apply_matmul(x, y, transpose_x, transpose_y)
        assert result.dtype == expected.dtype
        assert_close(result, expected, rtol)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "int32"])
def test_batches_of_small_products(dtype):
    """Of all sizes around those that have a kernel of their own; operands broadcast, and lie in memory in any order."""
    for (m, k, n), (of_a, of_b) in itertools.product(
        itertools.product((0, 1, 3, 4, 5), repeat=3),
        [((7,), (7,)), ((2, 1), (3,)), ((2, 3), (1, 3)), ((), (5,)), ((), ())],
    ):
        a, b = values(dtype, (*of_a, m, k), 1), values(dtype, (*of_b, k, n), 2)
        with np.errstate(invalid="ignore"):  # a BLAS may read beyond small matrices, where signalling NaNs lie
            expected = np.asarray(a @ b)
        for (x, transpose_x), (y, transpose_y) in itertools.product(matrix_layouts(a), matrix_layouts(b)):
            result = kernels.apply_matmul(x, y, transpose_x, transpose_y)
            assert_close(result, expected, 2e-5 if dtype in ("float32", "complex64") else 1e-13)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "size",
    [
        (1130, 300, 40),
        (40, 600, 2100),
        (14, 16, 4000),
        (29, 1000, 33),
        (500, 512, 500),
        (31, 1024, 170),
        (10, 10, 1000),
    ],
)
def test_own_matmul_in_blocks(dtype, size, threads):
    try:
        array.set_matmul_backend("own")
    except RuntimeError:
        pytest.skip("this processor has no AVX-512")
    m, k, n = size
    a, b = values(dtype, (m, k), 1), values(dtype, (k, n), 2)
    expected = a.astype("float64") @ b.astype("float64")
    assert_product(a, b, expected)
    array.set_matmul_backend("auto")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("lengths", [(8, 300), (513, 1001)])
def test_products_of_few_columns(dtype, lengths, backend, threads):
    """Of all numbers of columns around those that a vector holds, and of rows around those of tiles."""
    for m, n, k in itertools.product((2, 4, 5, 7, 16, 24, 31), (2, 3, 5, 8, 9, 15, 16, 17, 24), lengths):
        a, b = values(dtype, (m, k), 1), values(dtype, (k, n), 2)
        expected = a.astype("float64") @ b.astype("float64")
        assert_product(a, b, expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_that_are_multiplied_where_they_lie(dtype):
    """The last panel of rows has any height, and rows are apart by more than their length."""
    for m, (k, n) in itertools.product(range(5, 31), [(300, 70), (257, 513)]):
        whole, b = values(dtype, (m + 3, k + 5), 1), values(dtype, (k, n), 2)
        expected = whole[:m, :k].astype("float64") @ b.astype("float64")
        for a, transposed in (
            (whole[:m, :k], False),
            (np.asfortranarray(whole)[:m, :k], False),
            (whole.T[:k, :m], True),
        ):
            result = kernels.apply_matmul(a, b, transposed, False)
            assert_close(result, expected, 1e-4 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [(2, 1000, 600), (3, 600, 1000), (3, 500_000, 2), (1, 3000, 1)])
def test_few_rows_of_a_large_product(dtype, size, threads):
    m, k, n = size
    a, b = values(dtype, (m, k), 1), values(dtype, (k, n), 2)
    expected = a.astype(np.longdouble) @ b.astype(np.longdouble)
    room = 4 * np.finfo(dtype).eps * (np.abs(a) @ np.abs(b)) * np.sqrt(k)
    for (x, transpose_x), (y, transpose_y) in itertools.product(matrix_layouts(a), matrix_layouts(b)):
        assert (np.abs(kernels.apply_matmul(x, y, transpose_x, transpose_y) - expected) <= room).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 9, 12, 15, 16, 20, 23, 31, 32, 33])
def test_matrices_of_short_rows_by_a_vector(dtype, n):
    """Whole numbers, whose sums are exact in any order; rows without gaps and rows apart."""
    rng = np.random.default_rng(n)
    for m in (1, 4, 6, 103):
        a, x = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((m, n), n))
        apart = np.zeros((m, n + 5), dtype)
        apart[:, :n] = a
        for matrix in (a, apart[:, :n]):
            assert np.array_equal(kernels.apply_matmul(matrix, x, False, False), a @ x)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "int32"])
def test_batches_of_outer_products(dtype):
    """Columns times rows: products of two numbers. Operands broadcast, and lie in memory in any order."""
    for (m, n), (of_a, of_b) in itertools.product(
        [(1, 9), (9, 1), (8, 64), (40, 40), (33, 5)], [((30,), (30,)), ((4, 1), (5,)), ((), (7,))]
    ):
        a, b = values(dtype, (*of_a, m, 1), 1), values(dtype, (*of_b, 1, n), 2)
        for (x, transpose_x), (y, transpose_y) in itertools.product(matrix_layouts(a), matrix_layouts(b)):
            result = kernels.apply_matmul(x, y, transpose_x, transpose_y)
            assert_close(result, a * b, 1e-6 if dtype == "complex64" else 0)


def test_matmul_backend_follows_from_the_processor():
    try:
        array.set_matmul_backend("own")
        expected = "own"
    except RuntimeError:
        expected = "blas"
    array.set_matmul_backend("auto")
    assert array.get_matmul_backend("float32") == array.get_matmul_backend("float64") == expected
    assert array.get_matmul_backend("complex64") == "blas"
    with pytest.raises(ValueError, match="expects one of"):
        array.set_matmul_backend("mkl")


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_at_the_same_time_have_the_same_bits(dtype):
    """Also those that find the buffer for packed operands taken."""
    a, b = values(dtype, (180, 300), 1), values(dtype, (300, 170), 2)
    alone = kernels.apply_matmul(a, b)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: kernels.apply_matmul(a, b), range(200)))
    assert all(np.array_equal(result, alone) for result in together)


def test_matmul_of_broadcast_operands():
    a, b = np.broadcast_to(values("float32", (1, 3)), (4, 3)), np.broadcast_to(values("float32", (3, 1)), (3, 5))
    assert_close(kernels.apply_matmul(a, b), np.array(a) @ np.array(b), 1e-6)


@pytest.mark.parametrize(
    "a, b, message",
    [
        (np.ones((2, 3)), np.ones((4, 5)), r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
        (np.ones((2, 3, 4)), np.ones((3, 4, 5)), r"size of tensor a \(2\) must match the size of tensor b \(3\)"),
        (np.ones(()), np.ones((2, 2)), "both arguments to matmul need to be at least 1D, but they are 0D and 2D"),
        (np.ones(3, "float32"), np.ones(3), "same dtype, but got: float32 != float64"),
    ],
)
def test_matmul_errors(a, b, message):
    with pytest.raises(RuntimeError, match=message):
        kernels.apply_matmul(a, b)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64"])
@pytest.mark.parametrize("shape", [(7,), (5, 7), (2, 5, 7), (0, 7), (200, 7)])
def test_linear(dtype, shape, threads):
    x, weight, bias = values(dtype, shape, 1), values(dtype, (3, 7), 2), values(dtype, 3, 3)
    rtol = 1e-12 if dtype == "float64" else 1e-5
    assert_close(kernels.apply_linear(x, weight), x @ weight.T, rtol)
    assert_close(kernels.apply_linear(x, weight, bias), x @ weight.T + bias, rtol)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_bias_is_added_once(dtype, backend):
    """Also to sums of several parts, and by the kernels for narrow and for long operands."""
    for m, k, n in [(20, 600, 10), (20, 600, 5), (4, 3000, 7), (30, 700, 40)]:
        x, weight, bias = values(dtype, (m, k), 1), values(dtype, (n, k), 2), values(dtype, n, 3)
        expected = x.astype("float64") @ weight.T.astype("float64") + bias
        assert_close(kernels.apply_linear(x, weight, bias), expected, 1e-4 if dtype == "float32" else 1e-12)
