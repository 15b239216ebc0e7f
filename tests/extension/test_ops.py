"""Ops of another table are what ops of gradsmith's own are: values, gradients of any order, all forms."""

from pathlib import Path

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad as fwAD
from gradsmith.autograd import grad
from gradsmith.generated.op_table import OpRow

pytestmark = pytest.mark.compiles

STEP = 1e-5
random = np.random.default_rng(7)
DATA = random.normal(size=(3, 4))


def squareplus(x, width=0.1):
    return (x + np.sqrt(x * x + width)) / 2


def tanh(x):
    return 2 * np.tanh(x / 2)


def smoothed(x, times=1):
    for _ in range(times):
        x = (np.roll(x, 1) + x + np.roll(x, -1)) / 3
    return x


def bessel0(x):
    """By Bessel's integral, for which the midpoint rule is exact but for rounding."""
    angles = (np.arange(64) + 0.5) * np.pi / 64
    return np.mean(np.cos(np.multiply.outer(x, np.sin(angles))), -1)


# Op, arguments, the same in NumPy.
CASES = {
    "squareplus": ("squareplus", (DATA,), squareplus),
    "squareplus wide": ("squareplus", (DATA, 2.5), squareplus),
    "alias": ("soft_relu", (DATA,), squareplus),
    "hides gradsmith's op": ("tanh", (DATA,), tanh),
    "hides a loop function": ("erf", (DATA,), lambda x: x * x),
    "tensor or number": ("mul", (DATA, 2.5), np.multiply),
    "broadcast": ("mul", (DATA, DATA[0].copy()), np.multiply),
    "loop of own ops": ("both", (DATA, DATA[1].copy()), lambda a, b: squareplus(a, 0.5) * b * b),
    "own and gradsmith's of one name": ("where", (DATA > 0, DATA), lambda c, x: x * tanh(x) + np.where(c, x, 0)),
    "array function": ("smoothed", (DATA[0].copy(), 3), smoothed),
    "SciPy": ("bessel0", (DATA,), bessel0),
    "view": ("every_other", (DATA,), lambda x: x[::2]),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request, kinds):
    name, arguments, reference = request.param
    return getattr(kinds, name), arguments, reference


def floats(arguments):
    return [i for i, value in enumerate(arguments) if isinstance(value, np.ndarray) and value.dtype.kind == "f"]


def tensors(arguments):
    wanted = floats(arguments)
    return [
        gs.tensor(a, requires_grad=i in wanted) if isinstance(a, np.ndarray) else a for i, a in enumerate(arguments)
    ]


def differences(function, arguments, place):
    """Gradient of a function of arrays that gives a number, at one of its arguments."""
    result = np.zeros_like(arguments[place])
    for index in np.ndindex(result.shape):
        ends = []
        for sign in (1, -1):
            moved = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
            moved[place][index] += sign * STEP
            ends.append(function(*moved))
        result[index] = (ends[0] - ends[1]) / (2 * STEP)
    return result


def test_values(case):
    op, arguments, reference = case
    np.testing.assert_allclose(op(*tensors(arguments)).detach(), reference(*arguments), rtol=1e-12)


def test_gradients(case):
    op, arguments, reference = case
    given = tensors(arguments)
    weights = np.cos(np.arange(op(*given).numel())).reshape(op(*given).shape)
    op(*given).backward(gs.tensor(weights))
    for place in floats(arguments):
        wanted = differences(lambda *a: float(np.sum(weights * reference(*a))), arguments, place)
        np.testing.assert_allclose(given[place].grad, wanted, rtol=1e-6, atol=1e-8)


def test_gradients_of_gradients(case):
    op, arguments, _ = case
    given = tensors(arguments)
    leaves = [given[i] for i in floats(arguments)]

    def slope(*arrays):
        moved = tensors(arrays)
        found = grad(op(*moved).sum(), [moved[i] for i in floats(arrays)])
        return sum(float((g * g).sum().item()) for g in found)

    first = grad(op(*given).sum(), leaves, create_graph=True)
    squares = sum((g * g).sum() for g in first) + 0 * sum(leaf.sum() for leaf in leaves)  # a linear op's have no graph
    second = grad(squares, leaves)
    for place, found in zip(floats(arguments), second):
        wanted = differences(slope, arguments, place)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loops_agree_with_ops(kinds, dtype):
    """With the graph of the gradient the formula runs as ops, without as one loop."""
    a, b = (gs.tensor(DATA.astype(dtype), requires_grad=True) for _ in range(2))
    weights = gs.tensor(np.ones((3, 4), dtype))
    for op in (kinds.both, kinds.mul):
        by_loop = grad(op(a, b), [a, b], weights)
        by_ops = grad(op(a, b), [a, b], weights, create_graph=True)
        for one, other in zip(by_loop, by_ops):
            assert one.dtype == dtype
            np.testing.assert_allclose(one, other.detach(), rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_formulas_become_loops(kinds):
    text = Path(kinds.__file__).with_name("arithmetic_kernels.c").read_text()
    assert "GS_CLONES static void both_forward_f" in text
    assert "erff(" not in text  # the table's own erf, not the one that loops know


def test_several_results(kinds):
    x = gs.tensor(DATA, requires_grad=True)
    found = kinds.extremes(x, dim=1)
    assert type(found).__name__ == "ExtremesResult" and found._fields == ("low", "high")
    np.testing.assert_array_equal(found.high.detach(), DATA.max(1))
    (found.high - 2 * found.low).sum().backward()
    highest, lowest = (np.equal(DATA, ends[:, None]) for ends in (DATA.max(1), DATA.min(1)))
    wanted = 1.0 * highest - 2.0 * lowest
    np.testing.assert_array_equal(x.grad, wanted)


@pytest.mark.parametrize("name", ["squareplus", "smoothed", "bessel0"])
def test_out(kinds, name):
    x, out = gs.tensor(DATA), gs.zeros(3, 4, dtype=gs.float64)
    assert getattr(kinds, name)(x, out=out) is out
    np.testing.assert_array_equal(out, getattr(kinds, name)(x))


def test_out_of_several_results(kinds):
    x, low, high = gs.tensor(DATA), gs.zeros(3, dtype=gs.float64), gs.empty(0)
    found = kinds.extremes(x, 1, out=(low, high))
    assert type(found).__name__ == "ExtremesResult" and found.low is low and found.high is high
    np.testing.assert_array_equal(low, DATA.min(1))
    np.testing.assert_allclose(high, DATA.max(1), rtol=1e-6)
    assert high.dtype == gs.float32
    with pytest.raises(
        TypeError, match=r"^extremes\(\): argument 'out' must be a tuple of 2 Tensors \(low, high\), not Te"
    ):
        kinds.extremes(x, 1, out=low)


def test_nothing_is_written_where_the_last_of_several_does_not_fit(kinds):
    x = gs.tensor([[1.0, 1e300]], dtype=gs.float64)
    for high, error in (
        (gs.zeros(1), FloatingPointError),
        (gs.zeros(1, dtype=gs.int64), RuntimeError),
        (None, TypeError),
    ):
        low = gs.empty(0)
        with np.errstate(over="raise"), pytest.raises(error):
            kinds.extremes(x, 1, out=(low, high))
        assert low.shape == (0,) and low._version == 0


def test_results_that_are_the_inputs_may_go_into_each_other(kinds):
    one, other = gs.tensor(DATA), gs.tensor(-DATA)
    kinds.exchanged(one, other, out=(one, other))
    np.testing.assert_array_equal(one, -DATA)
    np.testing.assert_array_equal(other, DATA)


def test_out_of_overloads_that_return_more_or_less(kinds):
    x, greatest, rows = gs.tensor(DATA), gs.empty((), dtype=gs.float64), gs.empty(3, dtype=gs.float64)
    assert kinds.peak(x, out=greatest) is greatest and greatest.item() == DATA.max()
    assert kinds.peak(x, 1, out=(rows, gs.empty(3, dtype=gs.int64))).values is rows
    np.testing.assert_array_equal(rows, DATA.max(1))


def test_views_share_memory(kinds):
    base = gs.tensor(np.arange(5.0), requires_grad=True) * 1
    kinds.every_other(base).mul_(10)
    np.testing.assert_array_equal(base.detach(), [0, 1, 20, 3, 40])
    low, high = kinds.halves(gs.tensor(DATA.T.copy(), requires_grad=True))
    assert low._base is high._base is not None


VIEWS = {
    "every other row": lambda kinds, x: kinds.every_other(x),
    "every other one of a part": lambda kinds, x: kinds.every_other(x[1:].mT),
    "every other one of every other column": lambda kinds, x: kinds.every_other(kinds.every_other(x.mT)),
    "imaginary parts": lambda kinds, x: kinds.every_other(gs.view_as_complex(x.view(4, 2, 2)).imag),
}


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.filterwarnings("ignore:vmap calls")
def test_views_in_a_batch_share_memory(kinds, view, size):
    def written(x):
        x = x * 1
        shown = view(kinds, x)
        shown.mul_(shown.detach() + 2)
        return x

    x = gs.tensor(np.arange(32.0).reshape(2, 4, 4))[:size]
    assert gs.vmap(written)(x).equal(gs.stack([written(one) for one in x]))
    slopes = gs.func.grad(lambda one: (written(one) ** 2).sum() + view(kinds, one).sum())
    assert gs.vmap(slopes)(x).equal(gs.stack([slopes(one) for one in x]))
    copy = x.clone()
    gs.vmap(lambda one: view(kinds, one).fill_(-1))(copy)
    for one in x:
        view(kinds, one).fill_(-1)
    assert copy.equal(x)


def test_lists_of_tensors(kinds):
    leaves = [gs.tensor(DATA, requires_grad=True) for _ in range(3)]
    (kinds.total(leaves) * 2).sum().backward()
    assert all((leaf.grad == 2).all() for leaf in leaves)


def test_arguments_are_checked_as_elsewhere(kinds):
    with pytest.raises(TypeError, match=r"squareplus\(\): argument 'input' \(position 1\) must be Tensor, not str"):
        kinds.squareplus("1.0")
    assert kinds.squareplus([1.0]).tolist() == kinds.squareplus(gs.tensor([1.0])).tolist()
    with pytest.raises(TypeError, match="smoothed"):
        kinds.smoothed(gs.ones(3), times="many")


def test_the_table_is_there_as_data(kinds):
    rows = {row.base: row for row in kinds.op_table.OPS}
    assert isinstance(rows["both"], OpRow) and rows["both"].family == "arithmetic"
    assert rows["squareplus"].gradients == (("self", "grad * (result / sqrt(self * self + width))"),)
    assert kinds.__all__ == [
        "squareplus", "soft_relu", "tanh", "erf", "mul", "both", "where", "extremes", "exchanged", "peak",
        "smoothed", "every_other", "halves", "bessel0", "bessel1", "total",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["squareplus", "tanh", "smoothed", "bessel0"])
def test_forward_mode(kinds, name):
    """The derivative along a direction, which no entry of the table has written down."""
    op = getattr(kinds, name)
    direction = np.cos(np.arange(4.0))
    with fwAD.dual_level():
        dual = fwAD.make_dual(gs.tensor(DATA[0]), gs.tensor(direction))
        found = fwAD.unpack_dual(op(dual)).tangent
    ends = [op(gs.tensor(DATA[0] + sign * STEP * direction)).numpy() for sign in (1, -1)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * STEP), rtol=1e-6, atol=1e-8)
