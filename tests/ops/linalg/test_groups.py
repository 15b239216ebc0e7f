"""Products of rows by groups, which einsum writes row by row: rows, groups and columns of sizes around all limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gradsmith as gs
from gradsmith.generated.linalg import outers_of_groups, rows_of_groups

SIZES = [(1, 1, 1, 1), (7, 3, 2, 5), (65, 4, 8, 16), (200, 2, 17, 9), (131, 3, 64, 64), (70, 2, 65, 3), (40, 2, 3, 70)]
EMPTY = [(0, 2, 3, 4), (5, 0, 3, 4), (5, 2, 0, 4), (5, 2, 3, 0)]
DTYPES = [np.float32, np.float64, np.complex128, np.int64]


def numbers(shape, dtype=np.float64, seed=0):
    generator = np.random.default_rng([seed, *shape])
    values = generator.normal(size=shape) * 4
    return (values + 1j * generator.normal(size=shape) if dtype is np.complex128 else values).astype(dtype)


def tolerance(dtype):
    return {"rtol": 2e-5, "atol": 2e-3} if dtype is np.float32 else {"rtol": 1e-11, "atol": 1e-11}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES + EMPTY)
def test_rows(size, dtype):
    rows, groups, inner, columns = size
    x, m = numbers((rows, groups, inner), dtype), numbers((groups, inner, columns), dtype, 1)
    result = gs.einsum("rgi,gij->rgj", gs.tensor(x), gs.tensor(m))
    assert result.is_contiguous()
    assert_allclose(result.numpy(), np.einsum("rgi,gij->rgj", x, m), **tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES + EMPTY)
def test_outer_products(size, dtype):
    rows, groups, inner, columns = size
    x, y = numbers((rows, groups, inner), dtype), numbers((rows, groups, columns), dtype, 1)
    result = outers_of_groups(gs.tensor(x), gs.tensor(y))
    assert_allclose(result.numpy(), np.einsum("rgi,rgj->gij", x, y), **tolerance(dtype))


@pytest.mark.parametrize(
    "change",
    [
        lambda a: np.asfortranarray(a),
        lambda a: np.repeat(a, 2, axis=2)[:, :, ::2],
        lambda a: np.repeat(a, 2, axis=0)[::-2][::-1],
        lambda a: np.ascontiguousarray(a.transpose(1, 0, 2)).transpose(1, 0, 2),
        lambda a: np.ascontiguousarray(a.transpose(0, 2, 1)).transpose(0, 2, 1),
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: np.broadcast_to(a[:, :1], a.shape),
    ],
    ids=["columns first", "every second", "reversed", "by group", "transposed", "one row", "one group"],
)
def test_layouts(change):
    x, m, y = (change(numbers(shape)) for shape in [(70, 3, 5), (3, 5, 9), (70, 3, 9)])
    assert_allclose(
        rows_of_groups(gs.from_numpy(x), gs.from_numpy(m)).numpy(),
        np.einsum("rgi,gij->rgj", x, m),
        rtol=1e-11,
        atol=1e-11,
    )
    assert_allclose(
        outers_of_groups(gs.from_numpy(x), gs.from_numpy(y)).numpy(),
        np.einsum("rgi,rgj->gij", x, y),
        rtol=1e-11,
        atol=1e-11,
    )


@pytest.mark.parametrize(
    ("equation", "left", "right"),
    [
        ("kij,nkj->nki", (3, 4, 5), (70, 3, 5)),
        ("nkj,kij->nki", (70, 3, 5), (3, 4, 5)),
        ("abkj,kij->abki", (6, 7, 3, 5), (3, 4, 5)),
        ("abklj,klij->abkli", (6, 7, 3, 2, 5), (3, 2, 4, 5)),
        ("kjl,nkjl->nk", (3, 4, 5), (70, 3, 4, 5)),
        ("bhqk,bkhd->bqhd", (2, 3, 6, 7), (2, 7, 3, 5)),
        ("nkj,kij->kni", (70, 3, 5), (3, 4, 5)),
        ("nkj,kij->nik", (70, 3, 5), (3, 4, 5)),
        ("nk,kij->nkij", (70, 3), (3, 4, 5)),
        ("...kj,kij->...ki", (2, 6, 3, 5), (3, 4, 5)),
    ],
)
def test_einsum_and_its_gradients(equation, left, right):
    a, b = (gs.tensor(numbers(shape), requires_grad=True) for shape in (left, right))
    result = gs.einsum(equation, a, b)
    expected = np.einsum(equation, a.detach().numpy(), b.detach().numpy())
    assert_allclose(result.detach().numpy(), expected, rtol=1e-11, atol=1e-11)
    assert gs.autograd.gradcheck(lambda a, b: gs.einsum(equation, a, b), (a, b))


def test_threads_do_not_change_bits():
    x, m = gs.tensor(numbers((3000, 20, 12))), gs.tensor(numbers((20, 12, 10)))
    y = gs.tensor(numbers((3000, 20, 10), seed=2))
    before = gs.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            gs.set_num_threads(threads)
            found.append((rows_of_groups(x, m).numpy().copy(), outers_of_groups(x, y).numpy().copy()))
    finally:
        gs.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_errors_name_what_does_not_fit():
    with pytest.raises(RuntimeError, match=r"rows_of_groups.*\[2, 3, 4\].*\[2, 5, 6\].*\[3, 4"):
        rows_of_groups(gs.ones(2, 3, 4), gs.ones(2, 5, 6))
    with pytest.raises(RuntimeError, match="outers_of_groups.*number of rows or of groups"):
        outers_of_groups(gs.ones(2, 3, 4), gs.ones(2, 5, 6))
    with pytest.raises(RuntimeError, match="3-D"):
        rows_of_groups(gs.ones(2, 3), gs.ones(2, 5, 6))
