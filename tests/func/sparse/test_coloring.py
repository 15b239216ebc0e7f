"""Colourings let every entry be read, and take few colours."""

import itertools
import time

import numpy as np
import pytest
import scipy.sparse as sp

from gradsmith.func.sparse.coloring import row_coloring, star_coloring
from gradsmith.func.sparse.pattern import SparsityPattern


def band(size, *offsets):
    return sp.diags_array([np.ones(size - abs(o)) for o in offsets], offsets=offsets, shape=(size, size)).tocsr()


def arrow(size):
    matrix = np.eye(size)
    matrix[0] = matrix[:, 0] = 1
    return sp.csr_array(matrix)


def random_symmetric(seed, size=14):
    matrix = np.random.default_rng(seed).random((size, size)) < 0.06 * (seed % 5 + 1)
    return sp.csr_array(matrix | matrix.T)


@pytest.mark.parametrize("seed", range(60))
def test_rows_of_one_color_share_no_column(seed):
    random = np.random.default_rng(seed)
    matrix = random.random((15, 11)) < random.uniform(0, 0.5)
    found = row_coloring(sp.csr_array(matrix))
    for i, j in itertools.combinations(range(15), 2):
        assert found.colors[i] != found.colors[j] or not (matrix[i] & matrix[j]).any()
    assert ((found.colors == -1) == ~matrix.any(1)).all()
    assert set(found.colors) - {-1} == set(range(found.count))


@pytest.mark.parametrize("seed", range(100))
def test_paths_of_four_have_three_colors(seed):
    matrix = random_symmetric(seed).toarray()
    colors = star_coloring(sp.csr_array(matrix)).colors
    neighbors = [[w for w in range(14) if matrix[v, w] and v != w] for v in range(14)]
    for b, c in itertools.permutations(range(14), 2):
        if c in neighbors[b]:
            assert colors[b] != colors[c]
            for a, d in itertools.product(neighbors[b], neighbors[c]):
                assert len({a, b, c, d}) < 4 or len({colors[v] for v in (a, b, c, d)}) > 2


@pytest.mark.parametrize("seed", range(100))
def test_each_entry_of_a_symmetric_matrix_is_read(seed):
    pattern = SparsityPattern(random_symmetric(seed), symmetric=True)
    random = np.random.default_rng(seed)
    values = np.tril(random.random((14, 14)))
    matrix = (values + values.T) * pattern.array.toarray()
    seeds = pattern.colors[:, None] == np.arange(pattern.n_colors)
    compression = pattern.compression()
    read = (matrix @ seeds).T[compression.products, compression.places]
    np.testing.assert_array_equal(pattern.filled(read).toarray(), matrix)


@pytest.mark.parametrize(
    ("matrix", "rows", "star"),
    [
        (band(50, -1, 0, 1), 3, 3),
        (band(50, 0), 1, 1),
        (band(50, 0, 1), 2, 3),
        (band(60, -2, -1, 0, 1, 2), 5, 5),
        (arrow(40), 40, 2),
        (sp.csr_array((6, 6)), 0, 0),
    ],
)
def test_known_numbers_of_colors(matrix, rows, star):
    assert SparsityPattern(matrix).n_colors == rows
    assert SparsityPattern(matrix, symmetric=True).n_colors <= star


def test_rows_or_columns_whichever_are_fewer():
    wide = sp.csr_array(np.ones((3, 40)))
    assert (SparsityPattern(wide).mode, SparsityPattern(wide).n_colors) == ("reverse", 3)
    assert (SparsityPattern(wide.T).mode, SparsityPattern(wide.T).n_colors) == ("forward", 3)


def test_a_hub_does_not_make_colorings_slow():
    size = 20_000
    hub = np.zeros(size, int)
    ends = np.arange(size)
    matrix = sp.csr_array((np.ones(3 * size), (np.r_[hub, ends, ends], np.r_[ends, hub, ends])), shape=(size, size))
    start = time.process_time()
    assert SparsityPattern(matrix, symmetric=True).n_colors == 2
    assert time.process_time() - start < 20


# ---- the object


def test_stored_zeros_of_a_sparse_array_count_and_zeros_of_a_dense_one_do_not():
    stored = sp.csr_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert SparsityPattern(stored).nnz == 2
    assert SparsityPattern(stored.toarray()).nnz == 1
    assert SparsityPattern(sp.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2))).nnz == 1


def test_what_is_handed_out_is_a_copy():
    pattern = SparsityPattern(band(5, -1, 0, 1))
    pattern.array.data[:] = False
    pattern.colors[:] = 7
    assert pattern.array.toarray().sum() == 13
    assert set(pattern.colors) == {0, 1, 2}
    assert repr(pattern) == "SparsityPattern(shape=(5, 5), nnz=13, n_colors=3, mode='reverse')"


def test_a_hessian_is_square_and_made_symmetric():
    with pytest.raises(ValueError, match=r"pattern of a Hessian is square, got shape \(2, 3\)"):
        SparsityPattern(np.ones((2, 3)), symmetric=True)
    with pytest.raises(ValueError, match=r"two dimensions, got shape \(3,\)"):
        SparsityPattern(np.ones(3))
    np.testing.assert_array_equal(SparsityPattern(np.triu(np.ones((3, 3))), symmetric=True).array.toarray(), True)
