"""Random numbers: seeds, states, distributions, refusals."""

import math

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays import array

COUNT = 20000


def moments(tensor):
    values = tensor.numpy().astype(np.complex128 if tensor.is_complex() else np.float64)
    return values.mean(), values.var()


def close(found, expected, spread):
    """Whether a mean of COUNT draws of this standard deviation is where it should be (six sigma)."""
    return abs(found - expected) < 6 * spread / math.sqrt(COUNT)


def test_a_seed_repeats_itself():
    gs.manual_seed(7)
    first = [gs.rand(3), gs.randn(2, 2), gs.randint(9, (4,)), gs.randperm(5)]
    gs.manual_seed(7)
    again = [gs.rand(3), gs.randn(2, 2), gs.randint(9, (4,)), gs.randperm(5)]
    for one, other in zip(first, again):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert gs.initial_seed() == 7


def test_seeds():
    assert gs.manual_seed(-1).initial_seed() == 2**64 - 1
    assert gs.seed() == gs.initial_seed()
    with pytest.raises(RuntimeError, match="64 bits"):
        gs.manual_seed(2**64)
    with pytest.raises(TypeError, match="must be int, not str"):
        gs.manual_seed("a")


def test_state():
    gs.rand(1, dtype=gs.float32)
    gs.randint(5, (3,), dtype=gs.int32)  # leaves half a word over
    state = gs.get_rng_state()
    first = gs.randint(1000, (3,), dtype=gs.int32), gs.randn(3)
    gs.set_rng_state(state)
    again = gs.randint(1000, (3,), dtype=gs.int32), gs.randn(3)
    for one, other in zip(first, again):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_a_state_must_be_one():
    with pytest.raises(TypeError, match="uint8 Tensor, got int"):
        gs.set_rng_state(3)
    with pytest.raises(RuntimeError, match="bytes"):
        gs.set_rng_state(gs.zeros(3, dtype=gs.uint8))


def test_own_generator():
    mine = gs.Generator().manual_seed(3)
    gs.manual_seed(4)
    undisturbed = gs.rand(2).numpy()
    gs.manual_seed(4)
    drawn = gs.rand(2, generator=mine)
    np.testing.assert_array_equal(gs.rand(2).numpy(), undisturbed)
    np.testing.assert_array_equal(drawn.numpy(), gs.rand(2, generator=gs.Generator().manual_seed(3)).numpy())
    assert repr(mine) == "<gradsmith.Generator seeded with 3>"
    with pytest.raises(TypeError, match="argument 'generator' must be Generator, not int"):
        gs.rand(2, generator=3)


@pytest.mark.parametrize("dtype", [gs.float16, gs.float32, gs.float64], ids=str)
def test_rand_and_randn(dtype):
    gs.manual_seed(0)
    even = gs.rand(COUNT, dtype=dtype)
    assert even.dtype == dtype and even.numpy().min() >= 0 and even.numpy().max() <= 1
    mean, variance = moments(even)
    assert close(mean, 0.5, 0.3) and close(variance, 1 / 12, 0.1)
    mean, variance = moments(gs.randn(COUNT, dtype=dtype))
    assert close(mean, 0, 1) and close(variance, 1, 1.5)


def test_rand_is_below_one():
    # Rounding to float16 must not give the excluded end.
    gs.manual_seed(0)
    assert gs.rand(COUNT, dtype=gs.float16).numpy().max() < 1


@pytest.mark.parametrize("dtype", [gs.complex64, gs.complex128], ids=str)
def test_complex(dtype):
    gs.manual_seed(0)
    normal = gs.randn(COUNT, dtype=dtype)
    mean, variance = moments(normal)
    assert normal.dtype == dtype and close(abs(mean), 0, 1) and close(variance, 1, 1.5)
    even = gs.rand(COUNT, dtype=dtype).numpy()
    assert close(even.real.mean(), 0.5, 0.3) and close(even.imag.mean(), 0.5, 0.3)


def test_only_floating_numbers_are_drawn():
    with pytest.raises(RuntimeError, match=r"rand\(\) draws floating-point or complex numbers, not int64"):
        gs.rand(2, dtype=gs.int64)


def test_randint():
    gs.manual_seed(0)
    drawn = gs.randint(2, 5, (COUNT,))
    assert drawn.dtype == gs.int64 and set(drawn.tolist()) == {2, 3, 4}
    assert set(gs.randint(3, size=(100,)).tolist()) == {0, 1, 2}
    assert set(gs.randint(low=1, high=3, size=(100,)).tolist()) == {1, 2}
    assert gs.randint(3, (2,), dtype=gs.float32).dtype == gs.float32
    assert set(gs.randint(0, 256, (COUNT,), dtype=gs.uint8).tolist()) == set(range(256))
    assert gs.randint_like(gs.ones(2, 3), 4).shape == (2, 3)
    assert set(gs.randint_like(gs.ones(99), 1, 3).tolist()) == {1.0, 2.0}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3,), TypeError, r"takes \(high, size\) or \(low, high, size\)"),
        ((0, 3), TypeError, "argument 'size' must be"),
        ((5, 5, (2,)), RuntimeError, "low=5 >= high=5"),
        ((0, 300, (2,), gs.uint8), RuntimeError, "numbers from 0 to 299 do not fit in uint8"),
        ((0, 3, (2,), gs.bool), RuntimeError, "do not fit in bool"),
        ((0.5, 3, (2,)), TypeError, "'low' and 'high' must be int"),
    ],
)
def test_randint_refuses(arguments, error, message):
    *bounds, dtype = arguments if isinstance(arguments[-1], np.dtype) else (*arguments, None)
    with pytest.raises(error, match=message):
        gs.randint(*bounds, dtype=dtype)


@pytest.mark.parametrize(
    ("dtype", "most"), [(gs.uint8, 256), (gs.int8, 128), (gs.int16, 2**15), (gs.float16, 2049), (gs.bool, 2)]
)
def test_a_permutation_fits_in_its_dtype(dtype, most):
    assert sorted(gs.randperm(most, dtype=dtype).tolist()) == list(range(most))
    with pytest.raises(RuntimeError, match=f"from 0 to {most}, only to {most - 1}"):
        gs.randperm(most + 1, dtype=dtype)
    with pytest.raises(RuntimeError, match="randperm"):
        gs.randperm(most + 1, out=gs.empty(0, dtype=dtype))


def test_randperm():
    gs.manual_seed(0)
    drawn = gs.randperm(100)
    assert drawn.dtype == gs.int64 and sorted(drawn.tolist()) == list(range(100)) != drawn.tolist()
    with pytest.raises(RuntimeError, match="n must be greater or equal to 0, got -1"):
        gs.randperm(-1)


def test_normal():
    gs.manual_seed(0)
    mean, variance = moments(gs.normal(3.0, 2.0, (COUNT,)))
    assert close(mean, 3, 2) and close(variance, 4, 6)
    means = gs.tensor([0.0, 100.0], dtype=gs.float64)
    drawn = gs.normal(means, 0.001)
    assert drawn.dtype == gs.float64 and abs(drawn[1].item() - 100) < 1
    assert gs.normal(0.0, gs.ones(3)).shape == (3,)
    assert gs.normal(gs.zeros(2, 1), gs.ones(3)).shape == (2, 3)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0.0, -1.0, (2,)), RuntimeError, "expects std >= 0.0, but found std -1.0"),
        ((gs.zeros(2), gs.ones(3)), RuntimeError, "do not broadcast"),
        ((gs.zeros(2), 1.0, (2,)), TypeError, "'size' is for means and deviations that are numbers"),
    ],
)
def test_normal_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        gs.normal(*arguments)


def test_bernoulli():
    gs.manual_seed(0)
    assert gs.bernoulli(gs.tensor([0.0, 1.0])).tolist() == [0.0, 1.0]
    mean, _ = moments(gs.bernoulli(gs.full((COUNT,), 0.25)))
    assert close(mean, 0.25, 0.5)
    with pytest.raises(RuntimeError, match="from 0 to 1"):
        gs.bernoulli(gs.tensor([2.0]))
    with pytest.raises(RuntimeError, match="must be floating-point, got int64"):
        gs.bernoulli(gs.tensor([1, 0]))


# ---- large tensors are filled in parallel

LARGE = (1 << 20) + 3


@pytest.mark.parametrize(
    "draw",
    [
        lambda: gs.rand(LARGE),
        lambda: gs.randn(3, LARGE // 2, dtype=gs.float64),
        lambda: gs.randn(LARGE // 2, dtype=gs.complex64),
        lambda: gs.rand(LARGE, dtype=gs.float16),
        lambda: gs.randint(-5, 100, (LARGE,), dtype=gs.int8),
        lambda: gs.bernoulli(gs.full((LARGE,), 0.3)),
        lambda: gs.normal(1.0, 2.0, (LARGE,)),
    ],
)
def test_the_number_of_threads_changes_no_number(draw):
    found = []
    before = array.get_num_threads()
    for threads in (1, 2, 3):
        array.set_num_threads(threads)
        gs.manual_seed(5)
        found.append(draw().numpy().tobytes() + gs.rand(3).numpy().tobytes())
    array.set_num_threads(before)
    assert found[0] == found[1] == found[2]


def test_large_tensors_have_their_distributions():
    gs.manual_seed(0)
    even, normal = gs.rand(LARGE).numpy(), gs.randn(LARGE).numpy()
    assert even.min() >= 0 and even.max() < 1
    assert abs(even.mean() - 0.5) < 0.002 and abs(even.var() - 1 / 12) < 0.001
    assert abs(normal.mean()) < 0.006 and abs(normal.var() - 1) < 0.01
    assert len(np.unique(normal[:: 1 << 18])) == len(normal[:: 1 << 18])  # each part has numbers of its own
    assert set(np.unique(gs.randint(3, (LARGE,)).numpy())) == {0, 1, 2}


def test_large_draws_go_on_from_a_state():
    gs.manual_seed(0)
    state = gs.get_rng_state()
    first = gs.randn(LARGE), gs.randn(LARGE)
    assert not np.array_equal(first[0].numpy(), first[1].numpy())
    gs.set_rng_state(state)
    again = gs.randn(LARGE), gs.randn(LARGE)
    assert all(np.array_equal(one.numpy(), other.numpy()) for one, other in zip(first, again))


def test_an_error_on_the_pool_is_raised():
    def fail(i):
        if i == 3:
            raise KeyError(i)

    with pytest.raises(KeyError):
        array.call_each(fail, 8)
