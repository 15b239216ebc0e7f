"""Parts replaced and padding, and what they refuse: against PyTorch's recorded answers."""

import math

import numpy as np
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


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex64", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 3), (2, 3, 4)])
@pytest.mark.parametrize("pad", [(), (1, 2), (-1, 2), (2, 0, 1, -1), (0, 1, 2, 0, 1, 1), (-1, -1, 0, 0, 3, -2)])
def test_padded_with_a_history_and_without(pad, shape, dtype):
    x = gs.arange(math.prod(shape)).reshape(shape).to(getattr(gs, dtype))
    widths = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    widths = [(0, 0)] * (x.ndim - len(widths)) + widths
    lengths = [n + min(a, 0) + min(b, 0) for n, (a, b) in zip(shape, widths[-len(shape) :], strict=False)]
    if len(widths) > x.ndim or min(lengths, default=0) < 0:
        with pytest.raises(RuntimeError, match="constant_pad_nd"):
            gs.constant_pad_nd(x, pad, 1)
        return
    kept = x.numpy()[tuple(slice(max(-a, 0), n + min(b, 0)) for n, (a, b) in zip(shape, widths, strict=True))]
    expected = np.pad(kept, [(max(a, 0), max(b, 0)) for a, b in widths], constant_values=1) if shape else kept
    found = gs.constant_pad_nd(x, pad, 1)
    assert found.dtype == x.dtype
    assert found.data_ptr() != x.data_ptr() or not x.numel()
    np.testing.assert_array_equal(found.numpy(), expected)
    if x.is_floating_point():
        recorded = gs.constant_pad_nd(x.clone().requires_grad_(), pad, 1)
        assert recorded.requires_grad
        np.testing.assert_array_equal(recorded.detach().numpy(), expected)
    if x.ndim > 1:
        turned = x.transpose(0, -1).contiguous().transpose(0, -1)
        np.testing.assert_array_equal(gs.constant_pad_nd(turned, pad, 1).numpy(), expected)


# ---- without a history, in one pass


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "float32", "int64", "complex128"])
@pytest.mark.parametrize(
    "pad", [(), (1, 2), (0, 0, 3, 1), (-1, 2, 1, -2), (2, -1, 0, -3, 1, 1), (-4, 0), (-4, 1, 2, 2)]
)
def test_constant_padding_by_numpy(dtype, pad):
    x = (np.arange(24).reshape(2, 3, 4) % 7).astype(dtype)
    pairs = [(0, 0)] * (3 - len(pad) // 2) + [pad[i : i + 2] for i in range(len(pad) - 2, -2, -2)]
    kept = x[tuple([slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, pairs)])]
    expected = np.pad(kept, [(max(a, 0), max(b, 0)) for a, b in pairs], constant_values=np.ones((), dtype))
    for given in (x, np.asfortranarray(x)):
        np.testing.assert_array_equal(gs.nn.functional.pad(gs.from_numpy(given), pad, value=1), expected)
    assert gs.nn.functional.pad(gs.from_numpy(x).to("meta"), pad).shape == expected.shape


def test_a_mask_of_another_shape_and_a_number_that_does_not_fit():
    x = gs.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(x.masked_fill(gs.tensor([True, False, True]), 7), [[7, 1, 7], [7, 4, 7]])
    np.testing.assert_array_equal(x.masked_select(gs.tensor([True, False, True])), [0, 2, 3, 5])
    for fill in (x.masked_fill, x.clone().masked_fill_):
        with pytest.raises(RuntimeError, match="broadcast"):
            fill(gs.ones(2, dtype=gs.bool), 1.0)
        with pytest.raises(RuntimeError, match="bool"):
            fill(gs.ones(2, 3), 1.0)
    with pytest.raises(RuntimeError, match="overflow"):
        x.masked_fill(x > 0, 1e300)
    with pytest.raises(RuntimeError, match="overflow"):
        gs.zeros(2, dtype=gs.int8).masked_fill(gs.ones(2, dtype=gs.bool), 1000)
