"""Numbers that are drawn word by word are those of NumPy's generator, and leave it as NumPy does."""

import threading

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays.functions.draws import words
from gradsmith.verify.references.drawn import kept_by_streams

SIZES = (0, 1, 3, 255, 256, 257, 20000)  # few, chunks that are whole or not, and what is drawn without the GIL
RANGES = [(0, 1), (0, 5), (-7, 100000), (-(2**31), 2**31), (0, 3 << 29)]


@pytest.fixture(params=SIZES)
def size(request):
    return request.param


class Pair:
    """Two equal generators, the second of them for NumPy."""

    def __init__(self, seed=3):
        self.ours, self.numpys = (np.random.Generator(np.random.PCG64(seed)) for _ in range(2))

    def expect_same(self, found, expected):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
        assert self.ours.bit_generator.state == self.numpys.bit_generator.state


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_real_numbers(size, dtype):
    pair, out = Pair(), np.empty(size, dtype)
    for _ in range(3):  # half of a word may be left by the time before
        words.draw_even(pair.ours, out)
        pair.expect_same(out, pair.numpys.random(size, dtype))
        words.draw_normal(pair.ours, out)
        pair.expect_same(out, pair.numpys.standard_normal(size, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normal_numbers_of_all_layers(dtype):
    """So many that the tail and the edges of each layer are drawn from, too."""
    pair, out = Pair(), np.empty(3_000_000, dtype)
    words.draw_normal(pair.ours, out)
    pair.expect_same(out, pair.numpys.standard_normal(out.shape, dtype))
    assert np.abs(out).max() > 4


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("low, high", RANGES)
def test_integers(size, dtype, low, high):
    pair, out = Pair(), np.empty(size, dtype)
    words.draw_integers(pair.ours, out, low, high)
    pair.expect_same(out, pair.numpys.integers(low, high, size, dtype))


def test_permutations(size):
    pair, out = Pair(), np.empty(size, np.int64)
    words.draw_permutation(pair.ours, out)
    pair.expect_same(out, pair.numpys.permutation(size))


@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.SFC64, np.random.Philox])
def test_other_generators(bits):
    pair, out = Pair(), np.empty(1000, np.float32)
    pair.ours, pair.numpys = np.random.Generator(bits(5)), np.random.Generator(bits(5))
    words.draw_normal(pair.ours, out)
    np.testing.assert_array_equal(out, pair.numpys.standard_normal(1000, np.float32))
    words.draw_even(pair.ours, out)
    np.testing.assert_array_equal(out, pair.numpys.random(1000, np.float32))


def test_what_cannot_be_drawn_into():
    source = np.random.default_rng(0)
    with pytest.raises(TypeError, match="float32 and float64"):
        words.draw_even(source, np.empty(3, np.float16))
    with pytest.raises(ValueError, match="contiguous"):
        words.draw_normal(source, np.empty(6)[::2])
    with pytest.raises(ValueError, match="are not made in int32"):
        words.draw_integers(source, np.empty(3, np.int32), 0, 2**33)
    with pytest.raises(ValueError, match="one dimension"):
        words.draw_permutation(source, np.empty((2, 2), np.int64))


def test_threads_that_share_a_generator():
    """Each word is drawn once: together the threads have the numbers that one alone would have."""
    source, parts = np.random.default_rng(1), [np.empty(50000) for _ in range(4)]
    threads = [threading.Thread(target=words.draw_even, args=(source, part)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.random.default_rng(1).random(200000)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.sort(expected))


# ---- functions of tensors

METHODS = {
    "normal_": (lambda source, shape: -2.0 + 3.0 * source.standard_normal(shape), (-2.0, 3.0)),
    "uniform_": (lambda source, shape: source.uniform(-2.0, 5.0, shape), (-2.0, 5.0)),
    "exponential_": (lambda source, shape: source.standard_exponential(shape) / 2.5, (2.5,)),
    "log_normal_": (lambda source, shape: np.exp(0.5 + 0.25 * source.standard_normal(shape)), (0.5, 0.25)),
    "cauchy_": (lambda source, shape: -2.0 + 3.0 * source.standard_cauchy(shape), (-2.0, 3.0)),
    "geometric_": (lambda source, shape: source.geometric(0.3, shape), (0.3,)),
    "bernoulli_": (lambda source, shape: kept_by_streams(source, shape, 0.3), (0.3,)),
    "random_": (lambda source, shape: source.integers(-3, 9, shape), (-3, 9)),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", [gs.float16, gs.float32, gs.float64])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (300, 7), (2, 3, 4)])
def test_methods_are_numpys(name, dtype, shape):
    draw, arguments = METHODS[name]
    expected = np.asarray(draw(np.random.Generator(np.random.PCG64(4)), shape)).astype(dtype)
    for x in (gs.zeros(shape, dtype=dtype), gs.zeros((*shape, 2), dtype=dtype)[..., 0]):
        found = getattr(x, name)(*arguments, generator=gs.Generator().manual_seed(4))
        assert found is x
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_drawn_without_data(name):
    """Neither memory nor time is spent on a tensor of the meta device."""
    generator = gs.Generator().manual_seed(4)
    before = generator.get_state()
    x = gs.empty(1 << 40, device="meta")
    assert getattr(x, name)(*METHODS[name][1], generator=generator) is x
    assert gs.equal(generator.get_state(), before)


def test_a_history_goes_on():
    x = gs.ones(3, requires_grad=True)
    y = x * 2
    y.normal_()
    (grad,) = gs.autograd.grad(y.sum(), x)
    np.testing.assert_array_equal(grad, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mean, std", [(1, 0.3), (0.1, None), (None, 0.3), (None, None)])
def test_normal_is_rounded_as_numpy_rounds(dtype, mean, std):
    """A number takes part in double precision; None stands for a tensor."""
    rng = np.random.default_rng(0)
    mean = rng.standard_normal(1000).astype(dtype) if mean is None else mean
    std = rng.random(1000).astype(dtype) if std is None else std
    source = np.random.Generator(np.random.PCG64(2))
    z = source.standard_normal(1000, dtype)
    expected = (z * np.asarray(std) + np.asarray(mean)).astype(dtype)
    given = [gs.from_numpy(one) if isinstance(one, np.ndarray) else one for one in (mean, std)]
    size = {} if any(isinstance(one, gs.Tensor) for one in given) else {"size": (1000,), "dtype": gs.float32}
    found = gs.normal(*given, generator=gs.Generator().manual_seed(2), **size)
    if not size or dtype == np.float32:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [0, 1, 5, 900, 3000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_and_ones_of_parameters(size, dtype):
    rates = np.linspace(0, 20, size).astype(dtype)
    source = np.random.Generator(np.random.PCG64(2))
    found = gs.poisson(gs.from_numpy(rates), gs.Generator().manual_seed(2))
    np.testing.assert_array_equal(found, source.poisson(rates).astype(dtype))
    if size < 1024:  # more are drawn from streams
        source = np.random.Generator(np.random.PCG64(2))
        found = gs.bernoulli(gs.from_numpy(rates / 20), generator=gs.Generator().manual_seed(2))
        np.testing.assert_array_equal(found, (source.random(size) < rates / 20).astype(dtype))


def test_parameters_that_are_none():
    with pytest.raises(RuntimeError, match="Poisson"):
        gs.poisson(gs.tensor([1.0, -1.0]))
    for chance in (1.5, -0.5, float("nan")):
        with pytest.raises(RuntimeError, match="probability"):
            gs.bernoulli(gs.tensor([0.5, chance]))
    with pytest.raises(RuntimeError, match="std"):
        gs.normal(gs.zeros(2), gs.tensor([1.0, -1.0]))
    with pytest.raises(TypeError, match="generator"):
        gs.rand(3, generator=4)


@pytest.mark.parametrize("count", [0, 1, 3, 100])
def test_few_of_many_categories(count):
    """The first times of all: as a stable sort has them, those of weight zero at the end."""
    weights = np.arange(900.0) % 7 * (np.arange(900) % 3 == 0)
    rows = np.stack([weights, np.ones(900)])
    source = np.random.Generator(np.random.PCG64(2))
    with np.errstate(divide="ignore"):
        expected = np.argsort(source.standard_exponential(rows.shape) / rows, axis=1, kind="stable")[:, :count]
    if count == 0:
        return
    found = gs.multinomial(gs.from_numpy(rows), count, generator=gs.Generator().manual_seed(2))
    np.testing.assert_array_equal(found, expected)
