"""Unique elements, counts and histograms, places of elements: against PyTorch's recorded answers."""

import itertools
import math
import pickle

import numpy as np
import pytest

import gradsmith as gs

NAN = float("nan")


def lists(results):
    return [result.tolist() for result in results]


@pytest.mark.parametrize(
    ("x", "dim", "expected"),
    [
        (3, None, [[3], 0, [1]]),
        ([[3, 1], [1, 2]], None, [[1, 2, 3], [[2, 0], [0, 1]], [2, 1, 1]]),
        ([[2, 1], [2, 1], [0, 1]], 0, [[[0, 1], [2, 1]], [1, 1, 0], [1, 2]]),
        ([[2, 2, 0], [1, 1, 1]], -1, [[[0, 2], [1, 1]], [1, 1, 0], [1, 2]]),
    ],
)
def test_unique(x, dim, expected):
    x = gs.tensor(x)
    assert lists(gs.unique(x, return_inverse=True, return_counts=True, dim=dim)) == expected
    assert lists(x.unique(return_counts=True, dim=dim)) == expected[::2]
    assert x.unique(dim=dim).tolist() == expected[0]


def test_every_nan_is_unique():
    assert gs.unique(gs.tensor([NAN, 1.0, NAN])).isnan().tolist() == [False, True, True]


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.__name__)
def test_integers_that_lie_close_together_and_far_apart(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    near = np.random.default_rng(0).integers(high - 50, high, (30, 20), dtype, endpoint=True)
    for x in (near, (near - (high - 50) + np.array(low, dtype)).astype(dtype), np.array([low, high, low, 3], dtype)):
        values, inverse, counts = gs.unique(gs.tensor(x), return_inverse=True, return_counts=True)
        expected = np.unique(x, return_counts=True)
        np.testing.assert_array_equal(values.numpy(), expected[0])
        np.testing.assert_array_equal(counts.numpy(), expected[1])
        np.testing.assert_array_equal(values.numpy()[inverse.numpy()], x)
        assert gs.unique(gs.tensor(x)).tolist() == values.tolist() and values.dtype == x.dtype


def test_slices_without_elements():
    assert gs.unique(gs.zeros(0, 3), dim=0).shape == (0, 3)
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        gs.unique(gs.zeros(2, 0), dim=0)


@pytest.mark.parametrize(
    ("x", "dim", "expected"),
    [
        ([1, 1, 2, 1], None, [[1, 2, 1], [0, 0, 1, 2], [2, 1, 1]]),
        ([[1, 1, 2], [1, 1, 1]], 1, [[[1, 2], [1, 1]], [0, 0, 1], [2, 1]]),
        ([], None, [[], [], []]),
    ],
)
def test_unique_consecutive(x, dim, expected):
    assert lists(gs.unique_consecutive(gs.tensor(x), True, True, dim)) == expected


@pytest.mark.parametrize("op", [gs.unique, gs.unique_consecutive])
@pytest.mark.parametrize("dim", [0, -1])
def test_unique_along_a_dimension_that_is_not_there(op, dim):
    with pytest.raises(IndexError, match=f"Dimension specified as {dim} but tensor has no dimensions"):
        op(gs.tensor(3.0), dim=dim)
    assert op(gs.tensor(3.0)).tolist() == [3.0]


def test_unique_has_no_gradient():
    with pytest.raises(NotImplementedError, match="unique"):
        gs.unique(gs.tensor([1.0, 2.0], requires_grad=True)).sum().backward()


def test_isin():
    x = gs.tensor([[1, 2], [3, 4]])
    assert gs.isin(x, gs.tensor([2, 4])).tolist() == [[False, True], [False, True]]
    assert gs.isin(x, 2, invert=True).tolist() == [[True, False], [True, True]]
    assert gs.isin(5, x).item() is False
    with pytest.raises(RuntimeError, match="bool"):
        gs.isin(x > 1, x)


def test_bincount():
    places = gs.tensor([0, 1, 2, 1])
    weights = gs.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    assert places.bincount(minlength=5).tolist() == [1, 2, 1, 0, 0]
    gs.bincount(places, weights)[1].backward()
    assert weights.grad.tolist() == [0.0, 1.0, 0.0, 1.0]


def test_complex_weights_lose_their_imaginary_parts():
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        found = gs.bincount(gs.tensor([0, 1, 1]), gs.tensor([1 + 2j, 2 - 1j, 3j]))
    assert found.dtype == gs.float64 and found.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: gs.bincount(gs.tensor([-1])), RuntimeError),
        (lambda: gs.bincount(gs.tensor([[1]])), RuntimeError),
        (lambda: gs.bincount(gs.tensor([1.0])), NotImplementedError),
        (lambda: gs.bincount(gs.tensor([1]), gs.ones(2)), RuntimeError),
        (lambda: gs.bincount(gs.tensor([1]), minlength=-1), RuntimeError),
        (lambda: gs.histc(gs.tensor([1, 2])), NotImplementedError),
        (lambda: gs.histc(gs.ones(2), 0), RuntimeError),
        (lambda: gs.histc(gs.ones(2), 3, 2, 1), RuntimeError),
        (lambda: gs.histc(gs.tensor([NAN, 1.0])), RuntimeError),
        (lambda: gs.histc(gs.ones(2), 2, 0, math.inf), RuntimeError),
        (lambda: gs.histc(gs.ones(2), 2, NAN, 3), RuntimeError),
        (lambda: gs.histogram(gs.ones(2), 2, range=(0.0, math.inf)), RuntimeError),
        (lambda: gs.histogramdd(gs.ones(2, 2), [2, 2], range=[0.0, 1.0, -math.inf, 1.0]), RuntimeError),
        (lambda: gs.histogram(gs.ones(2), 3, range=(2.0, 1.0)), RuntimeError),
        (lambda: gs.histogram(gs.ones(2), gs.ones(1)), RuntimeError),
        (lambda: gs.unravel_index(gs.tensor([5.0]), (3, 4)), TypeError),
        (lambda: gs.tril_indices(3, -1), RuntimeError),
        (lambda: gs.broadcast_shapes((3,), (4,)), RuntimeError),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()


def test_histograms():
    x = gs.tensor([0.0, 1.0, 2.0, 1.0])
    assert gs.histc(x, 4, 0, 3).tolist() == [1.0, 2.0, 1.0, 0.0]
    assert gs.histc(gs.ones(3), 3).tolist() == [0.0, 3.0, 0.0]
    assert lists(gs.histogram(x, 4)) == [[1.0, 0.0, 2.0, 1.0], [0.0, 0.5, 1.0, 1.5, 2.0]]
    assert lists(x.histogram(gs.tensor([0.0, 1.5, 2.0]), weight=x)) == [[2.0, 2.0], [0.0, 1.5, 2.0]]
    assert gs.histogram(gs.tensor([]), 3).bin_edges.allclose(gs.tensor([0.0, 1 / 3, 2 / 3, 1.0]))
    assert repr(gs.histogram(x, 4)).startswith("gradsmith.return_types.histogram(")
    counts, edges = found = gs.histogramdd(gs.tensor([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0]]), [2, 1])
    assert found.bin_edges is edges and repr(found).startswith("gradsmith.return_types.histogramdd(")
    assert pickle.loads(pickle.dumps(found)).hist.equal(counts)
    assert (counts.tolist(), lists(edges)) == ([[1.0], [2.0]], [[0.0, 0.5, 1.0], [0.0, 2.0]])


def test_places():
    assert lists(gs.nonzero(gs.tensor([[0, 1], [2, 0]]), as_tuple=True)) == [[0, 1], [1, 0]]
    assert lists(gs.tensor(5).nonzero(as_tuple=True)) == [[0]]
    assert lists(gs.unravel_index(gs.tensor([5, 17]), (3, 4))) == [[1, 1], [1, 1]]
    assert gs.tril_indices(3, 4, -1).tolist() == [[1, 2, 2], [0, 0, 1]]
    assert gs.triu_indices(2, 3, 1, dtype=gs.int32).tolist() == [[0, 0, 1], [1, 2, 2]]
    assert gs.broadcast_shapes((3, 1), 4) == (3, 4)
    assert gs.broadcast_shapes((2, 1), (1, 3)).numel() == 6 and isinstance(gs.broadcast_shapes(), gs.Size)


def test_a_histogram_of_points_has_no_derivative():
    points, edges = gs.rand(5, 2, requires_grad=True), gs.tensor([0.0, 0.5, 1.0])
    weight = gs.ones(5, requires_grad=True)
    for counts, _ in (
        gs.histogramdd(points, [2, 2]),
        gs.histogramdd(points.detach(), [edges, edges], weight=weight),
        gs.histogramdd(points.detach(), [edges.requires_grad_(), edges]),
    ):
        with pytest.raises(NotImplementedError, match="histogramdd"):
            counts.sum().backward()


def test_histograms_of_points_on_meta_and_in_batches():
    counts, edges = gs.histogramdd(gs.rand(5, 2, device="meta"), [2, 3])
    assert counts.is_meta
    assert (counts.shape, [edge.shape for edge in edges]) == ((2, 3), [(3,), (4,)])
    points = gs.rand(3, 5, 2)
    with pytest.warns(UserWarning, match="slice"):
        batched = gs.vmap(lambda x: gs.histogramdd(x, 2, range=(0.0, 1.0, 0.0, 1.0))[0])(points)
    assert batched.shape == (3, 2, 2)
    assert batched.sum().item() == 15.0


def test_densities_of_no_point_are_nan():
    far, edges = gs.full((3, 2), 9.0), gs.tensor([0.0, 1.0])
    assert gs.histogramdd(far, [edges, edges], density=True)[0].isnan().all()
    assert gs.histogram(far, edges, density=True)[0].isnan().all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("density", [False, True])
def test_histograms_are_numpys(dtype, weighted, density):
    rng = np.random.default_rng(4)
    a, weight = rng.normal(size=(20, 30)).astype(dtype), rng.random((20, 30)).astype(dtype)
    edges = np.sort(rng.normal(size=8)).astype(dtype)
    if not density:  # of bins without a size it would be infinite
        edges[4], edges[7] = edges[3], edges[6]
    a[::3, :8] = edges  # on the edges, also on the last one
    arguments = {"weight": gs.tensor(weight) if weighted else None, "density": density}
    for bins, limits in [(7, None), (1, None), (5, (-0.75, 0.5)), (gs.tensor(edges), None)]:
        found = gs.histogram(gs.tensor(a), bins, range=limits, **arguments)
        of_numpy = edges if isinstance(bins, gs.Tensor) else bins
        counts, expected_edges = np.histogram(a, of_numpy, limits, density, weight if weighted else None)
        np.testing.assert_allclose(found.hist.numpy(), counts, rtol=1e-5)
        np.testing.assert_allclose(found.bin_edges.numpy(), expected_edges, rtol=2e-6 if dtype == "float32" else 1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3.3, 0.7), (1e30, 3e30), (-1e-40, 1e-40), (1, 1.0000005), (-3e38, 3e38)]
)
def test_elements_beside_an_edge_are_in_their_bin(low, high, dtype):
    rng = np.random.default_rng(1)
    of_numpy = np.linspace(low, high, 38, dtype=dtype)
    several = np.sort(rng.choice(of_numpy, 60)), np.sort(of_numpy**3) if abs(high) < 9 else of_numpy
    for edges in (of_numpy, *several):
        beside = [edges, np.nextafter(edges, np.inf, dtype=dtype), np.nextafter(edges, -np.inf, dtype=dtype)]
        between = (rng.random(400) * 2 - 1) * max(abs(low), abs(high))
        elements = np.concatenate([*beside, between, [np.inf, -np.inf, np.nan]]).astype(dtype)
        counts = gs.histogram(gs.tensor(elements), gs.tensor(edges)).hist.numpy()
        expected = [np.count_nonzero((elements >= a) & (elements < b)) for a, b in itertools.pairwise(edges)]
        expected[-1] += np.count_nonzero(elements == edges[-1])
        np.testing.assert_array_equal(counts, expected)


def test_edges_at_infinity():
    x = gs.tensor([-np.inf, -1.0, 0.0, 2.0, np.inf])
    for edges, expected in (([-np.inf, 0, 1, np.inf], [2, 1, 2]), ([-np.inf, 0, 1], [2, 1]), ([0, 2, np.inf], [1, 2])):
        assert gs.histogram(x, gs.tensor(edges)).hist.tolist() == expected


def test_a_histogram_leaves_out_what_is_no_number():
    assert gs.histogram(gs.tensor([np.nan, 0.0, 2.0, np.inf]), 2, range=(0.0, 2.0)).hist.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bins_are_counted_as_numbers_of_the_dtype(dtype):
    array = np.random.default_rng(4).standard_normal(500).astype(dtype)
    array[:2] = NAN, np.inf
    for bins, low, high in ((1, -1, 1), (7, 0.1, 0.3), (100, -2.5, 2.5)):
        within = array[(array >= low) & (array <= high)]
        places = np.minimum(((within - low) * (bins / (high - low))).astype(np.int64), bins - 1)
        expected = np.bincount(places, minlength=bins)
        np.testing.assert_array_equal(gs.histc(gs.tensor(array), bins, low, high).numpy(), expected)


def test_a_range_of_the_smallest_number_has_bins():
    x = gs.tensor([0.0, 5e-324], dtype=gs.float64)
    assert gs.histc(x, 3).sum() == 2


def test_whole_numbers_that_are_too_great_to_be_counted():
    with pytest.raises((MemoryError, ValueError)):
        gs.bincount(gs.tensor([2**62]))
    assert gs.bincount(gs.tensor([], dtype=gs.int64), minlength=2).tolist() == [0, 0]
