"""Writes to views that show one place of memory as several elements.

Where nothing else is said the answers are PyTorch's.
"""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad as fw

MASK = [[True, False, True], [False, False, False], [False, True, False]]


def shown(numbers, requires_grad=False):
    """The numbers as a base, and a view of it in which rows share their ends with the next ones."""
    base = gs.tensor(numbers, requires_grad=requires_grad)
    base = base * 1 if requires_grad else base
    return base, base.as_strided((3, 3), (2, 1))


def set_by_mask(view):
    view[gs.tensor(MASK)] = 2.0


def set_by_mask_to_numbers(view):
    view[gs.tensor(MASK)] = gs.tensor([10.0, 20.0, 30.0])


def set_by_index(view):
    view[[0, 2]] = 9.0


WRITES_SOME = {
    "mask": (set_by_mask, [2.0, 2.0, 2.0, 4.0, 5.0, 2.0, 7.0]),
    "numbers": (set_by_mask_to_numbers, [10.0, 2.0, 20.0, 4.0, 5.0, 30.0, 7.0]),
    "index": (set_by_index, [9.0, 9.0, 9.0, 4.0, 9.0, 9.0, 9.0]),
    "index_put_": (lambda v: v.index_put_((gs.tensor([0]),), gs.tensor(5.0)), [5.0, 5.0, 5.0, 4.0, 5.0, 6.0, 7.0]),
    "masked_fill_": (lambda v: v.masked_fill_(gs.tensor(MASK), -1.0), [-1.0, 2.0, -1.0, 4.0, 5.0, -1.0, 7.0]),
    "scatter_": (
        lambda v: v.scatter_(1, gs.tensor([[2], [0]]), gs.tensor([[-1.0], [-1.0]])),
        [1.0, 2.0, -1.0, 4.0, 5.0, 6.0, 7.0],
    ),
    "scatter_ of a number": (lambda v: v.scatter_(1, gs.tensor([[2]]), 8.0), [1.0, 2.0, 8.0, 4.0, 5.0, 6.0, 7.0]),
    "scatter_add_": (
        lambda v: v.scatter_add_(1, gs.tensor([[2, 2]]), gs.tensor([[1.0, 3.0]])),
        [1.0, 2.0, 7.0, 4.0, 5.0, 6.0, 7.0],
    ),
    "index_add_": (
        lambda v: v.index_add_(0, gs.tensor([0, 0]), gs.ones((2, 3))),
        [3.0, 4.0, 5.0, 4.0, 5.0, 6.0, 7.0],
    ),
}
some = pytest.mark.parametrize(("write", "expected"), WRITES_SOME.values(), ids=WRITES_SOME)

NUMBERS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
ROWS = [0, 1, 1, 2]
ADDS = {
    "index_add_": (lambda v, s: v.index_add_(0, gs.tensor(ROWS), s), [1, 10, 17, 8]),
    "alpha": (lambda v, s: v.index_add_(0, gs.tensor(ROWS), s, alpha=2), [2, 20, 34, 16]),
    "columns": (lambda v, s: v.index_add_(1, gs.tensor([0, 1, 1]), s[:3, :1].expand(3, 3)), [1, 5, 11, 10]),
    "scatter_add_": (lambda v, s: v.scatter_add_(0, gs.tensor([[0, 1], [1, 2], [0, 0]]), s), [6, 9, 2, 4]),
}


@pytest.mark.parametrize("dtype", [gs.float16, gs.float32, gs.float64, gs.complex64, gs.int8, gs.int64])
@pytest.mark.parametrize(("write", "expected"), ADDS.values(), ids=ADDS)
def test_all_that_is_added_to_one_place_counts(write, expected, dtype):
    base = gs.tensor([100, 0, -1, 2, 5]).to(dtype)
    write(base[:4].as_strided((3, 2), (1, 1)), gs.tensor(NUMBERS).to(dtype))
    before = gs.tensor([100, 0, -1, 2]).to(dtype)
    assert base.tolist() == [*(before + gs.tensor(expected).to(dtype)).tolist(), 5]


def test_special_values_are_added_to_one_place():
    inf = float("inf")
    base = gs.tensor([inf, 1e30, 3.0, float("nan")])
    source = gs.tensor([[1.0, 1e30], [inf, -inf], [2.0, inf]])
    base.as_strided((3, 2), (1, 1)).index_add_(0, gs.tensor([0, 1, 2]), source)
    assert repr(base.tolist()) == "[inf, inf, -inf, nan]"


def test_truth_is_added_to_one_place():
    base = gs.tensor([False, False, True, False])
    source = gs.tensor([[False, True], [True, False], [False, False]])
    base.as_strided((3, 2), (1, 1)).index_add_(0, gs.tensor([0, 1, 2]), source)
    assert base.tolist() == [False, True, True, False]


@some
def test_what_is_not_selected_is_not_written(write, expected):
    base, view = shown([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    write(view)
    assert base.tolist() == expected
    assert view._version == base._version == 1


def test_bits_of_zeros_and_nan_are_written():
    base, view = shown([0.0, 1.0, np.nan, 3.0, 4.0, 5.0, 6.0])
    view[gs.tensor(MASK)] = -0.0
    assert np.signbit(base.numpy()).tolist() == [True, False, True, False, False, True, False]
    base, view = shown([1, 2, 3, 4, 5, 6, 7])
    view[gs.tensor(MASK)] = 0
    assert base.tolist() == [0, 2, 0, 4, 5, 0, 7]


@some
def test_a_write_to_some_has_no_gradient(write, expected):
    """PyTorch's is that of the element written last, whether or not it was selected."""
    base, view = shown([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="several elements of the written-to tensor lie in one place"):
        write(view)
    assert base.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    with gs.no_grad():
        write(view)
    assert base.tolist() == expected


@some
def test_a_write_to_some_has_no_tangent(write, expected):
    with fw.dual_level():
        dual = fw.make_dual(gs.arange(1.0, 8.0), gs.ones(7))
        with pytest.raises(RuntimeError, match="several elements of the written-to tensor lie in one place"):
            write(dual.as_strided((3, 3), (2, 1)))
        assert dual.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("write", "values", "of_base", "of_operand"),
    [
        (lambda v, w: v.mul_(2), [2, 4, 6, 8, 10, 6], [2, 20, 200, 2000, 20000, 5], None),
        (lambda v, w: v.fill_(3), [3, 3, 3, 3, 3, 6], [0, 0, 0, 0, 0, 5], None),
        (lambda v, w: v.copy_(w), [1, 2, 4, 5, 6, 6], [0, 0, 0, 0, 0, 5], [[1, 10, 0], [100, 1000, 10000]]),
        (lambda v, w: v.add_(w), [2, 4, 7, 9, 11, 6], [1, 10, 100, 1000, 10000, 5], [[1, 10, 0], [100, 1000, 10000]]),
        (lambda v, w: v.mul_(w), [1, 4, 12, 20, 30, 6], [1, 20, 400, 5000, 60000, 5], [[1, 20, 0], [300, 4000, 50000]]),
    ],
    ids=["number", "fill_", "copy_", "add_", "mul_"],
)
def test_the_gradient_is_that_of_the_element_that_is_left(write, values, of_base, of_operand, create_graph):
    """Each element is computed from what was there before; PyTorch computes the second from the first."""
    x = gs.arange(1.0, 7.0, requires_grad=True)
    w = gs.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    y = x * 1
    write(y.as_strided((2, 3), (2, 1)), w)
    assert y.tolist() == values
    loss = (y * gs.tensor([1.0, 10.0, 100.0, 1000.0, 10000.0, 5.0])).sum()
    found = gs.autograd.grad(loss, [x, w], create_graph=create_graph, allow_unused=True)
    assert found[0].tolist() == of_base
    assert (None if found[1] is None else found[1].tolist()) == of_operand


# ---- bases of which several elements lie in one place


def expanded_leaf():
    row = np.array([[1.0, 2.0, 3.0]])
    return gs.from_numpy(np.lib.stride_tricks.as_strided(row, (4, 3), (0, 8))).requires_grad_()


def test_elements_in_one_place_have_equal_shares_of_a_gradient():
    x = expanded_leaf()
    x.select(0, 2).sum().backward()
    assert x.grad.tolist() == [[0.0] * 3, [0.0] * 3, [1.0] * 3, [0.0] * 3]

    x = expanded_leaf()
    row = x.select(0, 2)
    with gs.no_grad():
        row[0] = 5
    (row * gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64)).sum().backward()
    assert x.grad.tolist() == [[0.25, 0.5, 0.75]] * 4


def test_equal_shares_have_second_gradients():
    x = expanded_leaf()
    row = x.select(0, 2)
    with gs.no_grad():
        row[0] = 5
    (grad,) = gs.autograd.grad((row**3).sum(), x, create_graph=True)
    (grad * gs.arange(12.0, dtype=gs.float64).reshape(4, 3)).sum().backward()
    assert x.grad.tolist() == [[33.75, 16.5, 29.25]] * 4


def test_a_write_to_a_view_of_such_a_base_has_no_gradient():
    """PyTorch refuses in backward."""
    x = expanded_leaf().detach()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.select(0, 1).mul_(gs.tensor([2.0, 2.0, 2.0], dtype=gs.float64, requires_grad=True))
    assert x.tolist() == [[1.0, 2.0, 3.0]] * 4
