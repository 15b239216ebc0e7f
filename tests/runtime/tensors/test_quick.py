"""Small tensors that are made without Python are those that are made with it."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.tensors import constructor
from gradsmith.runtime.tensors.factories import creation

X, WIDE = gs.arange(6.0).reshape(2, 3), gs.arange(6.0).reshape(2, 3).t()
CALLS = {
    "zeros": lambda: gs.zeros(2, 3),
    "zeros of a tuple": lambda: gs.zeros((2, 3), dtype=gs.int32),
    "zeros of nothing": lambda: gs.zeros(0, 3),
    "one zero": lambda: gs.zeros(()),
    "zeros of a shape": lambda: gs.zeros(X.shape, requires_grad=True),
    "ones": lambda: gs.ones(3, dtype=gs.bool),
    "complex ones": lambda: gs.ones([2], dtype=gs.complex64, requires_grad=True),
    "full": lambda: gs.full((2, 2), 0.1),
    "full of a small list": lambda: gs.full([2], 3),
    "full of an int": lambda: gs.full((2,), 3, dtype=gs.float32),
    "full of a float for ints": lambda: gs.full((2,), 3.7, dtype=gs.int64),
    "on the CPU": lambda: gs.zeros(2, 3, device="cpu") + gs.full((3,), 1.0, device=gs.device("cpu")),
    "on the first CPU": lambda: gs.zeros(2, device=gs.device("cpu", 0)),
    "tensor on the CPU": lambda: gs.tensor([1.0, 2.0], device="cpu"),
    "zeros_like": lambda: gs.zeros_like(X),
    "ones_like in another dtype": lambda: gs.ones_like(X, dtype=gs.float64, requires_grad=True),
    "zeros_like by columns": lambda: gs.zeros_like(WIDE),
    "new_zeros": lambda: X.double().new_zeros(2),
    "new_ones": lambda: X.new_ones((2, 1), dtype=gs.int8),
    "eye": lambda: gs.eye(3),
    "wide eye": lambda: gs.eye(2, 5, dtype=gs.complex128),
    "high eye": lambda: gs.eye(4, 2, dtype=gs.uint8),
    "tensor of a number": lambda: gs.tensor(0.1, requires_grad=True),
    "tensor of an int": lambda: gs.tensor(7),
    "tensor of numbers": lambda: gs.tensor([0.1, -2.5]),
    "tensor of ints": lambda: gs.tensor([1, -2]),
    "tensor of ints as floats": lambda: gs.tensor([1, -2], dtype=gs.float64),
    "tensor of mixed numbers": lambda: gs.tensor([1, 2.5, True]),
    "tensor of bools": lambda: gs.tensor([True, False, True]),
    "tensor of one bool": lambda: gs.tensor(True),
    "tensor of bools as floats": lambda: gs.tensor([True, False], dtype=gs.float32, requires_grad=True),
    "tensor of ints and bools": lambda: gs.tensor([3, False]),
    "tensor of a tuple": lambda: gs.tensor((1.5, 2)),
    "matrix": lambda: gs.tensor([[0.1, 2], [3, -4.5]], requires_grad=True),
    "matrix of ints": lambda: gs.tensor([(1, 2, 3), (4, 5, 6)]),
    "matrix of ints as floats": lambda: gs.tensor([[1], [2]], dtype=gs.float64),
    "matrix of floats as ints": lambda: gs.tensor([[1.5], [-2.5]], dtype=gs.int64),
    "matrix of narrow ints": lambda: gs.tensor([[1, 2]], dtype=gs.int8),
    "matrix of bools": lambda: gs.tensor([[True], [False]]),
    "matrix of many numbers": lambda: gs.tensor([[0.1 * i] * 9 for i in range(20)]),
    "deep lists": lambda: gs.tensor([[[[1.5, 2.5]], [[3.5, 4.5]]]] * 2),
    "lists of nothing": lambda: gs.tensor([[], []]),
    "tensor of NumPy's numbers": lambda: gs.tensor([np.float64(0.1), 2.5, 3]),
    "tensor of NumPy's numbers in single": lambda: gs.tensor([[np.float64(0.1)]], dtype=gs.float32),
    "tensor of NumPy's narrow numbers": lambda: gs.tensor([np.float32(0.1), np.int16(3)]),
    "tensor of rows": lambda: gs.tensor([np.ones(2), np.zeros(2)]),
    "tensor of rows in single": lambda: gs.tensor([[np.arange(3.0)], [np.ones(3)]], dtype=gs.float32),
    "tensor of many rows": lambda: gs.tensor([np.arange(9) * 0.1] * 20, dtype=gs.float32),
    "tensor of single rows": lambda: gs.tensor([np.float32([0.1, 2]), np.zeros(2)]),
    "tensor of rows of ints": lambda: gs.tensor([np.arange(2), np.arange(2) + 2**40]),
    "tensor of rows of large ints": lambda: gs.tensor([np.array([2**60 + 1])]),
    "tensor of rows of bools": lambda: gs.tensor([np.array([True, False])]),
    "tensor of columns": lambda: gs.tensor([np.arange(6.0).reshape(2, 3).T, np.ones((3, 2))]),
    "tensor of every other": lambda: gs.tensor([np.arange(6.0)[::2]]),
    "tensor of empty rows": lambda: gs.tensor([np.ones(0), np.ones(0)]),
    "tensor of tensors": lambda: gs.tensor([gs.tensor(1.5), gs.tensor(2.5), 3]),
    "tensor of tensors and floats in double": lambda: gs.tensor([gs.tensor(1.5), gs.tensor(0.1).double()]),
    "tensor of tensors of ints": lambda: gs.tensor([[X.long()[0, 0]], [gs.tensor(3)]]),
    "tensor of items of a tensor": lambda: gs.tensor([X[0, 1], X[1, 2]], dtype=gs.int64),
    "tensor of rows of a tensor": lambda: gs.tensor([WIDE[0], WIDE[1].contiguous()]),
    "tensor of tensors with history": lambda: gs.tensor([gs.ones((), requires_grad=True) * 2]),
    "tensor of arrays and numbers": lambda: gs.tensor([np.array(2.0), 1.5, True]),
    "tensor of complex numbers": lambda: gs.tensor([1, 2j]),
    "tensor of the largest whole doubles": lambda: gs.tensor([2**53, -(2**53)]),
    "tensor of ints beyond doubles": lambda: gs.tensor([2**53 + 1, 1]),
    "tensor of large ints in single": lambda: gs.tensor([2**24 + 1, 2**53 - 1, -(2**62) - 1], dtype=gs.float32),
    "tensor of a range": lambda: gs.tensor(range(1, 9, 2)) + gs.tensor([range(4)], dtype=gs.float64),
    "as_tensor": lambda: gs.as_tensor([[1, 2.5]]) + gs.as_tensor(3.0),
    "as_tensor in double": lambda: gs.as_tensor([1, 2], dtype=gs.float64),
    "FloatTensor": lambda: gs.FloatTensor([[1, 2.5]]),
    "LongTensor": lambda: gs.LongTensor([[1, 2]]) + gs.LongTensor([1.5, -2.5]),
    "BoolTensor": lambda: gs.BoolTensor([True, False]) & gs.BoolTensor([1, 0]),
    "Tensor": lambda: gs.Tensor([1, 2]) + gs.Tensor((0.5,)),
    "tensor of large numbers": lambda: gs.tensor([1e300, 1.0, float("nan"), float("inf")]),
    "tensor of a large int": lambda: gs.tensor([2**62, 1]),
    "arange": lambda: gs.arange(5),
    "arange down": lambda: gs.arange(5, -3, -3),
    "arange of nothing": lambda: gs.arange(2, 2),
    "arange of floats": lambda: gs.arange(0, 1, 0.25),
    "arange of rounded floats": lambda: gs.arange(-0.3, 2.1, 0.7),
    "arange of ints in double": lambda: gs.arange(7, 0, -2, dtype=gs.float64),
    "arange of floats in ints": lambda: gs.arange(0.5, 5, 1.5, dtype=gs.int64),
    "arange in bytes": lambda: gs.arange(9, dtype=gs.int8),
    "linspace": lambda: gs.linspace(-1, 0.7, 13),
    "linspace of one": lambda: gs.linspace(3, 4, 1),
    "linspace in double": lambda: gs.linspace(0.1, 0.7, 14, dtype=gs.float64),
    "logspace": lambda: gs.logspace(-3, 5, 100),
    "logspace in double": lambda: gs.logspace(0.1, 0.7, 37, 2, dtype=gs.float64, requires_grad=True),
    "logspace of powers that are none": lambda: gs.logspace(-3, 3, 12, -2.0),
    "logspace beyond float32": lambda: gs.logspace(-300, 300, 50),
    "logspace of integers": lambda: gs.logspace(0, 3, 4, dtype=gs.int64),
    "logspace of one": lambda: gs.logspace(1, 2, 1),
    "rand": lambda: gs.rand(2, 3),
    "rand in double": lambda: gs.rand(3, dtype=gs.float64, requires_grad=True),
    "many rand": lambda: gs.rand(3000),
    "randn": lambda: gs.randn((2, 3)),
    "complex randn": lambda: gs.randn(3, dtype=gs.complex64),
    "half randn": lambda: gs.randn(3, dtype=gs.float16),
    "randn of a generator": lambda: gs.randn(4, generator=gs.Generator().manual_seed(5)),
    "rand_like": lambda: gs.rand_like(X),
    "randn_like by columns": lambda: gs.randn_like(WIDE),
    "randint": lambda: gs.randint(-3, 9, (2, 3)),
    "randint below": lambda: gs.randint(9, (5,)),
    "randint of narrow integers": lambda: gs.randint(-3, 9, (2, 3), dtype=gs.int32),
    "randint of floats": lambda: gs.randint(-3, 9, (2, 3), dtype=gs.float32),
    "randint of bytes": lambda: gs.randint(0, 9, (2, 3), dtype=gs.uint8),
    "randint_like": lambda: gs.randint_like(X, -3, 9) + gs.randint_like(X, 9),
    "randperm": lambda: gs.randperm(7),
    "narrow randperm": lambda: gs.randperm(7, dtype=gs.int32),
    "normal of sizes": lambda: gs.normal(0.5, 2.0, (2, 3)),
    "normal of tensors": lambda: gs.normal(X, X + 1) + gs.normal(X, 2.0) + gs.normal(1, X) + gs.normal(X),
    "normal by columns": lambda: gs.normal(WIDE, 2.0),
    "normal of two dtypes": lambda: gs.normal(X, X.double()),
}


class Slow:
    """In place of the module: everything has to go the other way."""

    def __getattr__(self, name):
        return lambda *args: None


@pytest.mark.parametrize("name", CALLS)
def test_the_same_as_by_python(name, monkeypatch):
    gs.manual_seed(3)
    quick = CALLS[name]()
    for module in (creation, constructor):
        monkeypatch.setattr(module, "quick_data", Slow())
    monkeypatch.setattr(creation, "quick", Slow())
    for draw in ("rand", "randn", "rand_like", "randn_like", "randint", "randint_like", "randperm", "normal"):
        monkeypatch.setattr(gs, draw, getattr(gs, draw).__wrapped__)
    gs.manual_seed(3)
    slow = CALLS[name]()
    assert (quick.dtype, quick.shape, quick.stride()) == (slow.dtype, slow.shape, slow.stride())
    assert quick.requires_grad == slow.requires_grad and quick.is_leaf
    np.testing.assert_array_equal(quick.detach(), slow.detach())


@pytest.mark.parametrize("name", CALLS)
def test_on_the_meta_device(name):
    if any(part in name for part in ("new_", "_like", "CPU", "normal of t", "normal by", "Tensor", "of tensors")):
        return  # on a device that is named, that of the other tensor, or that of older constructors
    with gs.device("meta"):
        assert CALLS[name]().is_meta
    assert not CALLS[name]().is_meta


@pytest.mark.parametrize(
    "data",
    [
        [np.ones(2), 3.0],
        [3.0, np.ones(2)],
        [np.ones(2), np.ones(3)],
        [np.ones(2), [1.0, 2.0, 3.0]],
        [[1.0, 2.0], [3.0]],
        [[1.0, 2.0], 3.0],
        [1.0, [2.0]],
        [gs.ones(2), gs.ones(1)],
    ],
    ids=str,
)
def test_lists_that_are_not_regular(data):
    with pytest.raises(ValueError, match=r"tensor\(\): "):
        gs.tensor(data)


def test_numbers_in_vmap():
    def f(x):
        return x + gs.zeros(2) + gs.arange(2) + gs.zeros_like(x).add_(x) + x.new_ones(2)

    np.testing.assert_array_equal(gs.vmap(f)(gs.ones(3, 2)), [[3, 4]] * 3)
    drawn = gs.vmap(lambda x: x + gs.rand(2), randomness="different")(gs.zeros(3, 2))
    assert len(set(drawn.flatten().tolist())) == 6
    with pytest.raises(RuntimeError, match="randomness"):
        gs.vmap(lambda x: x + gs.rand(2))(gs.zeros(3, 2))


def test_in_programs():
    def f(x):
        total = gs.zeros(3)
        total += x
        return total * gs.linspace(0, 1, 3) + gs.tensor([1.0, 2.0, 3.0]) + gs.eye(3)[1]

    compiled = gs.compile(f)
    for x in (gs.ones(3), gs.arange(3.0)):
        np.testing.assert_array_equal(compiled(x), f(x))


def test_in_inference_mode():
    with gs.inference_mode():
        assert all(make().is_inference() for make in (lambda: gs.zeros(2), lambda: gs.tensor([1.0]), lambda: gs.eye(2)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: gs.zeros(2, dtype=gs.int64, requires_grad=True),
        lambda: gs.tensor([1, 2], requires_grad=True),
        lambda: gs.arange(3, requires_grad=True),
    ],
)
def test_integers_have_no_gradient(call):
    with pytest.raises(RuntimeError, match="floating point"):
        call()
