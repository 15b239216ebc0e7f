"""Random numbers written into a tensor: their range, what is refused, and that gradients end there."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad

MANY = 4000
DRAWS = {  # method, arguments, mean, standard deviation of what is drawn
    "uniform_": ((-1.0, 3.0), 1.0, 4 / 12**0.5),
    "normal_": ((2.0, 0.5), 2.0, 0.5),
    "exponential_": ((2.0,), 0.5, 0.5),
    "log_normal_": ((0.0, 0.25), np.exp(0.03125), np.exp(0.03125) * np.expm1(0.0625) ** 0.5),
    "geometric_": ((0.5,), 2.0, 2**0.5),
    "bernoulli_": ((0.25,), 0.25, 0.1875**0.5),
    "random_": ((-2, 8), 2.5, 8.25**0.5),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", DRAWS)
def test_moments(name, dtype):
    arguments, mean, deviation = DRAWS[name]
    x = gs.zeros(MANY, dtype=dtype)
    generator = gs.Generator().manual_seed(7)
    assert getattr(x, name)(*arguments, generator=generator) is x and x._version == 1
    found = x.numpy().astype("float64")
    assert abs(found.mean() - mean) < 5 * deviation / MANY**0.5 and abs(found.std() / deviation - 1) < 0.1


def test_the_same_numbers_from_the_same_state():
    first, second = (gs.zeros(3).normal_(generator=gs.Generator().manual_seed(1)) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_integers_of_a_dtype():
    x = gs.zeros(1000, dtype=gs.int8)
    assert x.random_().min() >= 0 and x.max() > 100
    assert set(x.random_(3).tolist()) == {0, 1, 2} and set(x.random_(-1, 1).tolist()) == {-1, 0}
    assert set(gs.zeros(99, dtype=gs.bool).random_().tolist()) == {False, True}


@pytest.mark.filterwarnings("ignore:vmap calls")
def test_one_probability_for_each_element():
    x = gs.zeros(2, 3, dtype=gs.int32)
    assert x.bernoulli_(gs.tensor([0.0, 1.0, 1.0])).tolist() == [[0, 1, 1], [0, 1, 1]]
    found = gs.zeros(MANY).bernoulli_(gs.full((MANY,), 0.25), generator=gs.Generator().manual_seed(3))
    assert abs(found.mean().item() - 0.25) < 0.04
    batch = gs.vmap(lambda p: gs.zeros_like(p).bernoulli_(p), randomness="different")(
        gs.tensor([[0.0, 1.0], [1.0, 0.0]])
    )
    assert batch.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_bernoulli_of_a_tensor_or_a_number():
    chances = gs.tensor([0.0, 1.0])
    assert chances.bernoulli().tolist() == [0.0, 1.0]
    assert gs.tensor([7, 8]).bernoulli(1.0).tolist() == [1, 1]
    assert gs.bernoulli(gs.full((2,), 9.0), 0.0).tolist() == [0.0, 0.0]
    generators = [gs.Generator().manual_seed(5) for _ in range(2)]
    first, second = (gs.full((50,), 0.5).bernoulli(generator=generator) for generator in generators)
    assert first.tolist() == second.tolist()
    assert gs.vmap(lambda p: p.bernoulli(0.5), randomness="same")(gs.ones(2, 3)).shape == (2, 3)


def test_zeros_and_ones_have_the_gradient_zero():
    chances = gs.tensor([0.25, 1.0], requires_grad=True)
    for drawn in (gs.bernoulli(chances), chances.bernoulli(0.5), gs.bernoulli(chances, 1.0)):
        assert drawn.requires_grad and drawn.detach().min() >= 0
        assert grad(drawn.sum(), chances)[0].tolist() == [0.0, 0.0]
    with gs.no_grad():
        assert not chances.bernoulli().requires_grad


@pytest.mark.parametrize("dtype", [gs.complex64, gs.complex128])
def test_parts_of_complex_numbers(dtype):
    """Even ones have each part between the bounds; normal ones have the mean in each part, and half of the variance."""
    even = gs.zeros(4000, dtype=dtype).uniform_(1.0, 3.0)
    for part in (even.real, even.imag):
        assert 1 <= part.min().item() < 1.1 and 2.9 < part.max().item() < 3
    normal = gs.zeros(20_000, dtype=dtype).normal_(1.0, 2.0)
    for part in (normal.real, normal.imag):
        assert abs(part.mean().item() - 1) < 0.05 and abs(part.var().item() - 2) < 0.1
    for name in ("exponential_", "cauchy_", "log_normal_"):
        with pytest.raises(NotImplementedError, match="complex"):
            getattr(gs.zeros(2, dtype=dtype), name)()


REFUSED = {  # call -> error, what it says
    "uniform_": (lambda: gs.zeros(2).uniform_(2, 1), RuntimeError, r"expects to return a \[start, to\) range"),
    "normal_": (lambda: gs.zeros(2).normal_(0, -1), RuntimeError, "expects std >= 0.0"),
    "exponential_": (lambda: gs.zeros(2).exponential_(0), RuntimeError, "expects lambd > 0.0"),
    "bernoulli_": (lambda: gs.zeros(2).bernoulli_(1.5), RuntimeError, r"expects p to be in \[0, 1\]"),
    "more than one": (lambda: gs.zeros(2).bernoulli_(gs.tensor([0.5, 2.0])), RuntimeError, r"to be in \[0, 1\]"),
    "integers as probabilities": (
        lambda: gs.zeros(1).bernoulli_(gs.tensor([1])),
        NotImplementedError,
        "floating-point",
    ),
    "other sizes": (lambda: gs.zeros(2).bernoulli_(gs.zeros(3, 2)), RuntimeError, "do not broadcast"),
    "a probability of 2": (lambda: gs.zeros(2).bernoulli(2.0), RuntimeError, "from 0 to 1"),
    "random_": (lambda: gs.zeros(2).random_(5, 5), RuntimeError, "expects 'from' to be less than 'to'"),
    "random_ of bytes": (lambda: gs.zeros(2, dtype=gs.int8).random_(1000), RuntimeError, "do not fit in int8"),
    "integers": (lambda: gs.zeros(2, dtype=gs.int64).normal_(), NotImplementedError, "not defined for int64 tensors"),
    "a leaf": (lambda: gs.zeros(2, requires_grad=True).normal_(), RuntimeError, "a leaf Variable that requires grad"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        call()


def test_normal_takes_a_layout():
    assert gs.normal(1.5, 0.0, (2,), layout=gs.strided, pin_memory=False).tolist() == [1.5, 1.5]


def test_gradients_end():
    x = gs.ones(3, requires_grad=True)
    y = x * 2
    y.uniform_()
    assert grad(y.sum(), x)[0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "dtype, start, to",
    [
        ("float32", -np.inf, 1.0),
        ("float32", -1e39, 1.0),
        ("float32", 0.0, np.inf),
        ("float16", 0.0, 1e6),
        ("float64", -1.7e308, 1.7e308),
    ],
)
def test_even_numbers_of_a_range_that_the_dtype_has_not(dtype, start, to):
    x = gs.zeros(2, dtype=getattr(gs, dtype))
    with pytest.raises(RuntimeError, match=rf"uniform_\(\): .* {dtype}"):
        x.uniform_(start, to)
    assert not x.any()


@pytest.mark.parametrize("shape", [(), (0,), (7,), (300, 4)])
def test_log_normal_numbers_are_rounded_to_the_dtype(shape):
    drawn = []
    for dtype in (gs.float64, gs.float32, gs.float16):
        generator = gs.Generator()
        generator.manual_seed(5)
        drawn.append(gs.empty(shape, dtype=dtype).log_normal_(0.5, 0.3, generator=generator).numpy())
    for one in drawn[1:]:
        np.testing.assert_array_equal(one, drawn[0].astype(one.dtype))
    columns = gs.empty(4, 300, dtype=gs.float32).t()
    assert columns.log_normal_().isfinite().all()
