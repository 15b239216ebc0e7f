"""Sums, means and maxima of rows of a table against loops over the bags."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck

RNG = np.random.default_rng(5)
TABLE = RNG.standard_normal((9, 4))
INDICES = np.array([0, 2, 2, 8, 3, 3, 1, 2])
OFFSETS = np.array([0, 3, 3, 6])  # the second bag is empty
SPANS = [(0, 3), (3, 3), (3, 6), (6, 8)]


def by_hand(mode, padding=None, factors=None):
    found = []
    for first, last in SPANS:
        places = [i for i in range(first, last) if INDICES[i] != padding]
        rows = TABLE[INDICES[places]] * (1 if factors is None else factors[places, None])
        reduced = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
        found.append(reduced(rows, axis=0) if places else np.zeros(4))
    return np.array(found)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2, 8])
@pytest.mark.parametrize("last", [False, True])
def test_values(mode, padding, last):
    offsets = gs.tensor(np.append(OFFSETS, 8) if last else OFFSETS)
    found = F.embedding_bag(
        gs.tensor(INDICES), gs.tensor(TABLE), offsets, mode=mode, padding_idx=padding, include_last_offset=last
    )
    np.testing.assert_allclose(found.numpy(), by_hand(mode, padding), rtol=1e-14)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, -7])
def test_gradients_by_differences(mode, padding):
    table = gs.tensor(TABLE, requires_grad=True)

    def bags(table):
        return F.embedding_bag(gs.tensor(INDICES), table, gs.tensor(OFFSETS), mode=mode, padding_idx=padding)

    assert gradcheck(bags, table)


def test_factors_of_rows():
    factors = RNG.standard_normal(8)
    table, weights = gs.tensor(TABLE, requires_grad=True), gs.tensor(factors, requires_grad=True)

    def bags(table, weights):
        return F.embedding_bag(
            gs.tensor(INDICES), table, gs.tensor(OFFSETS), mode="sum", per_sample_weights=weights, padding_idx=8
        )

    np.testing.assert_allclose(bags(table, weights).detach().numpy(), by_hand("sum", 8, factors), rtol=1e-13)
    assert gradcheck(bags, (table, weights))


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradients_divided_by_frequency(mode):
    table = gs.tensor(TABLE, requires_grad=True)
    F.embedding_bag(gs.tensor(INDICES), table, gs.tensor(OFFSETS), mode=mode, scale_grad_by_freq=True).sum().backward()
    times = np.bincount(INDICES, minlength=9)
    expected = np.zeros(9)
    for first, last in SPANS:
        for index in INDICES[first:last]:
            expected[index] += 1 / times[index] / (last - first if mode == "mean" else 1)
    np.testing.assert_allclose(table.grad.numpy(), np.tile(expected[:, None], 4), rtol=1e-14)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradients_that_are_rows(mode):
    dense, sparse = (gs.tensor(TABLE, requires_grad=True) for _ in range(2))
    for table, option in ((dense, False), (sparse, True)):
        F.embedding_bag(
            gs.tensor(INDICES), table, gs.tensor(OFFSETS), mode=mode, sparse=option
        ).square().sum().backward()
    assert sparse.grad.is_sparse
    np.testing.assert_allclose(sparse.grad.numpy(), dense.grad.numpy(), rtol=1e-14)


def test_of_equal_maxima_the_first_has_the_gradient():
    table = gs.tensor([[1.0, 2.0], [1.0, 3.0], [float("nan"), 0.0]], requires_grad=True)
    F.embedding_bag(gs.tensor([[0, 1], [1, 0]]), table, mode="max").sum().backward()
    np.testing.assert_array_equal(table.grad.numpy(), [[1, 0], [1, 2], [0, 0]])
    assert F.embedding_bag(gs.tensor([[2, 0]]), table, mode="max")[0, 0].isnan()


def test_a_matrix_of_indices_has_a_bag_in_each_row():
    indices = RNG.integers(9, size=(5, 3))
    for mode, reduced in (("sum", np.sum), ("mean", np.mean), ("max", np.max)):
        found = F.embedding_bag(gs.tensor(indices), gs.tensor(TABLE), mode=mode)
        np.testing.assert_allclose(found.numpy(), reduced(TABLE[indices], axis=1), rtol=1e-14)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_empty_bags(mode):
    table, none = gs.tensor(TABLE, requires_grad=True), gs.tensor([], dtype=gs.int64)
    found = F.embedding_bag(none, table, gs.tensor([0, 0, 0]), mode=mode)
    assert found.tolist() == [[0.0] * 4] * 3
    found.sum().backward()
    assert not table.grad.any()
    assert F.embedding_bag(none, table, none, mode=mode).shape == (0, 4)


def test_long_rows_are_shortened():
    table = gs.tensor(TABLE)
    F.embedding_bag(gs.tensor(INDICES), table, gs.tensor(OFFSETS), max_norm=1.0)
    lengths = np.linalg.norm(table.numpy(), axis=1)
    assert (lengths[np.unique(INDICES)] <= 1 + 1e-12).all()
    np.testing.assert_array_equal(table.numpy()[4:8], TABLE[4:8])


REFUSED = {
    "mode": (ValueError, "has to be one of sum, mean or max", {"mode": "min"}),
    "offsets of a matrix": (ValueError, "offsets has to be None", {"input": [[1, 2]]}),
    "no offsets": (ValueError, "offsets has to be a 1D", {"offsets": None}),
    "a cube": (ValueError, "has to be 1D or 2D", {"input": [[[1]]]}),
    "first offset": (RuntimeError, "has to be 0", {"offsets": [1, 2]}),
    "last offset": (RuntimeError, "greater than input's length 3, but is 4", {"offsets": [0, 4]}),
    "descending": (RuntimeError, "ascending", {"offsets": [0, 2, 1]}),
    "factors of a mean": (NotImplementedError, "only mode='sum'", {"per_sample_weights": [1.0, 1.0, 1.0]}),
    "sizes of factors": (ValueError, "shape of input", {"per_sample_weights": [1.0], "mode": "sum"}),
    "sparse maxima": (ValueError, "sparse weights", {"mode": "max", "sparse": True}),
    "frequency of maxima": (ValueError, "frequency", {"mode": "max", "scale_grad_by_freq": True}),
    "dtype": (RuntimeError, "expects integers for 'input'", {"input": [1.0, 2.0, 3.0]}),
    "index": (IndexError, "index 9 was asked for", {"input": [0, 9, 1]}),
    "padding": (ValueError, "padding_idx must be within", {"padding_idx": 9}),
}


@pytest.mark.parametrize(("error", "words", "options"), REFUSED.values(), ids=REFUSED)
def test_refusals(error, words, options):
    given = {"input": [0, 1, 2], "offsets": [0, 1], **options}
    given = {name: gs.tensor(value) if isinstance(value, list) else value for name, value in given.items()}
    table = gs.tensor(TABLE)
    with pytest.raises(error, match=words):
        F.embedding_bag(weight=table, **given)
    np.testing.assert_array_equal(table.numpy(), TABLE)


def test_what_is_no_tensor():
    for given in ((None, gs.tensor(TABLE)), (gs.tensor([0]), TABLE), (gs.tensor([0]), gs.tensor(TABLE), [0])):
        with pytest.raises(TypeError, match="must be Tensor"):
            F.embedding_bag(*given)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
def test_bags_of_each_slice(mode, padding):
    """Offsets and indices that differ from slice to slice, of which Python knows none."""
    indices, offsets = RNG.integers(0, 9, (3, 8)), np.array([[0, 3, 3, 6], [0, 0, 0, 0], [0, 1, 8, 8]])

    def bags(rows, starts):
        return F.embedding_bag(rows, gs.tensor(TABLE), starts, mode=mode, padding_idx=padding)

    with pytest.warns(UserWarning, match="no batching rule"):
        found = gs.vmap(bags)(gs.tensor(indices), gs.tensor(offsets))
    expected = gs.stack([bags(gs.tensor(rows), gs.tensor(starts)) for rows, starts in zip(indices, offsets)])
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-14)


def test_all_rows_that_are_named_are_shortened():
    """As in PyTorch, those of the padding and after the last offset too."""
    table = gs.tensor([[3.0, 4.0], [0.0, 2.0], [8.0, 6.0], [1.0, 0.0]])
    found = F.embedding_bag(
        gs.tensor([0, 1, 2]), table, gs.tensor([0, 2]), max_norm=1.0, mode="sum", padding_idx=1,
        include_last_offset=True,
    )  # fmt: skip
    np.testing.assert_allclose(found.numpy(), [[0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(table.numpy(), [[0.6, 0.8], [0, 1], [0.8, 0.6], [1, 0]], rtol=1e-6)
