"""Parts replaced and padding, and what they refuse: against PyTorch's recorded answers."""

import pytest

import gradsmith as gs


def test_parts_replaced():
    zeros = gs.zeros(4)
    assert gs.slice_scatter(zeros, gs.ones(2), start=0, end=None, step=2).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert gs.zeros(2, 2).select_scatter(gs.ones(2), 1, -1).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    mask = gs.tensor([[True], [False]])
    assert gs.masked_scatter(gs.tensor([1.0, 2.0]), mask, gs.tensor([5.0, 6.0])).tolist() == [[5.0, 6.0], [1.0, 2.0]]
    assert gs.constant_pad_nd(gs.arange(3), (1, -1), 2.5).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: gs.zeros(2, 2).select_scatter(gs.ones(3), 0, 0), RuntimeError),
        (lambda: gs.zeros(2, 2).select_scatter(gs.ones(2), 0, 5), IndexError),
        (lambda: gs.zeros(4).slice_scatter(gs.ones(1), 0, 1, 3), RuntimeError),
        (lambda: gs.ones(3).masked_scatter(gs.ones(3) > 0, gs.ones(1)), RuntimeError),
        (lambda: gs.ones(3).masked_scatter(gs.ones(3) > 0, gs.ones(3).double()), RuntimeError),
        (lambda: gs.ones(3).masked_scatter(gs.ones(3), gs.ones(3)), RuntimeError),
        (lambda: gs.constant_pad_nd(gs.ones(3), (1, -9)), RuntimeError),
        (lambda: gs.constant_pad_nd(gs.ones(1), (2, -2)), RuntimeError),
        (lambda: gs.constant_pad_nd(gs.ones(3), (1, 1, 1)), RuntimeError),
        (lambda: gs.constant_pad_nd(gs.ones(3), (1, 1, 1, 1)), RuntimeError),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()
