"""Streams of random bits against SFC64 by hand, and the distributions of what is made of them."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays.functions.draws import bits
from gradsmith.verify.references.drawn import _Lanes, kept_by_streams

MANY = 2 * bits.STREAM_SIZE + 1001  # the last tile and the last stream are not whole


def source(seed=3):
    return np.random.Generator(np.random.PCG64(seed))


def words_by_hand(count, stream=0):
    key = [int(word) for word in source().bit_generator.random_raw(2)]
    return _Lanes(key, range(8 * stream, 8 * stream + 8)).words(count)


def test_a_lane_is_the_generator_of_numpy():
    """NumPy's SFC64 from the state that the seeds have after the words that are thrown away."""
    lanes = _Lanes([5, 6], [7])
    bit_generator = np.random.SFC64()
    state = bit_generator.state
    state["state"]["state"][:] = [lanes.a[0], lanes.b[0], lanes.c[0], lanes.count]
    bit_generator.state = state
    np.testing.assert_array_equal(lanes.words(10), bit_generator.random_raw(10))


@pytest.mark.parametrize("chance", [0.0, 2.0**-60, 0.25, 0.3, 1 - 2.0**-53, 1.0])
def test_masks_by_hand(chance):
    np.testing.assert_array_equal(bits.kept(source(), (MANY,), chance), kept_by_streams(source(), (MANY,), chance))


def test_sixteen_bits_are_not_enough_for_the_threshold():
    """Elements that the first bits leave undecided are as likely as the further bits say."""
    chance = 1.5 / 2**16
    found = bits.kept(source(), (1 << 24,), chance).mean()
    assert abs(found - chance) < 5 * (chance / 2**24) ** 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_even_numbers_by_hand(dtype):
    out = np.empty(1500, dtype)
    bits.fill_even(source(), out)
    if dtype == np.float32:
        expected = (words_by_hand(750).view(np.uint32) >> 8) * 2.0**-24
    else:
        expected = (words_by_hand(1500) >> np.uint64(11)) * 2.0**-53
    np.testing.assert_array_equal(out, expected[:1500])


def test_normal_numbers_by_hand():
    out = np.empty(1024, np.float32)
    bits.fill_normal(source(), out)
    halves = words_by_hand(512).view(np.uint32)
    radius = np.sqrt(-2 * np.log(((halves[:512] >> 1) + 0.5) / 2**31))
    # A quarter of a turn is counted from an eighth before it: the remainder is from -1/8 to 1/8.
    quarter, rest = halves[512:] >> 30, (halves[512:] << np.uint32(2)).view(np.int32) * (np.pi / 2**33)
    turn = quarter * (np.pi / 2) + rest
    expected = np.concatenate([radius * np.cos(turn), radius * np.sin(turn)])
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        (np.int64, 0, 10), (np.int32, -3, 4), (np.int64, -(2**40), 2**32 - 2**40), (np.int32, -(2**31), 2**31),
        (np.int64, 5, 6), (np.int64, 2**63 - 3, 2**63), (np.int32, 0, 3 << 29),
    ],
)  # fmt: skip
def test_integers(dtype, low, high):
    out = np.empty(MANY, dtype)
    bits.fill_integers(source(), out, low, high)
    assert out.min() >= low and out.max() < high
    mean = (out.astype(np.int64) - low).mean()
    assert abs(mean - (high - low - 1) / 2) < 5 * (high - low) / (12 * MANY) ** 0.5


def test_integers_of_a_range_that_does_not_divide_the_words_are_even():
    out = np.empty(1 << 20, np.int64)
    bits.fill_integers(source(), out, 0, 3 << 30)  # a quarter of the words is refused
    parts = np.bincount(out >> 30) / out.size
    np.testing.assert_allclose(parts, 1 / 3, atol=5 * (2 / 9 / out.size) ** 0.5)


def test_refusals():
    with pytest.raises(TypeError, match="not int64"):
        bits.fill_even(source(), np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="not float64"):
        bits.fill_normal(source(), np.zeros(3))
    with pytest.raises(ValueError, match="contiguous"):
        bits.fill_even(source(), np.zeros(6)[::2])
    for low, high in ((0, 0), (3, 2), (0, 2**33), (0, 2**40)):
        with pytest.raises(ValueError, match="integers from"):
            bits.fill_integers(source(), np.zeros(3, np.int32), low, high)
    with pytest.raises(RuntimeError, match="a probability is from 0 to 1"):
        bits.kept(source(), (3,), float("nan"))


# ---- tensors


@pytest.mark.parametrize(
    "draw",
    [
        lambda: gs.rand(MANY, dtype=gs.float32), lambda: gs.rand(MANY, dtype=gs.float64),
        lambda: gs.randint(7, (MANY,)), lambda: gs.randint(7, (MANY,), dtype=gs.int32),
        lambda: gs.randn(MANY, dtype=gs.float32), lambda: gs.randn(MANY, dtype=gs.float64),
        lambda: gs.nn.functional.dropout(gs.ones(MANY)),
    ],
)  # fmt: skip
def test_the_same_numbers_on_any_number_of_threads(draw):
    before = gs.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            gs.set_num_threads(threads)
            gs.manual_seed(11)
            found.append((draw().numpy(), gs.rand(1).item()))
    finally:
        gs.set_num_threads(before)
    for numbers, after in found[1:]:
        np.testing.assert_array_equal(numbers, found[0][0])
        assert after == found[0][1]


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64], ids=str)
def test_distributions(dtype):
    stats = pytest.importorskip("scipy.stats")
    gs.manual_seed(5)
    assert stats.kstest(gs.randn(MANY, dtype=dtype).numpy()[:100_000].astype(float), "norm").pvalue > 1e-3
    assert stats.kstest(gs.rand(MANY, dtype=dtype).numpy()[:100_000].astype(float), "uniform").pvalue > 1e-3
    normal = gs.randn(MANY, dtype=dtype).numpy().astype(float)
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((normal**power).mean() - expected) < 5 * (variance / MANY) ** 0.5
    assert abs((normal[1:] * normal[:-1]).mean()) < 5 / MANY**0.5


def test_streams_do_not_repeat_each_other():
    gs.manual_seed(0)
    words = gs.rand(MANY, dtype=gs.float64).numpy()
    assert len(np.unique(words)) > MANY - 3
    assert len(np.intersect1d(words, gs.rand(MANY, dtype=gs.float64).numpy())) < 3
