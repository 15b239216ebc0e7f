"""Memory formats: where the elements of a tensor lie, by PyTorch's names."""

import pickle

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F

RNG = np.random.default_rng(3)


def images(*shape):
    return gs.tensor(RNG.standard_normal(shape))


@pytest.mark.parametrize("copy", [lambda x, f: x.contiguous(memory_format=f), lambda x, f: x.clone(memory_format=f)])
def test_channels_last(copy):
    x = images(2, 3, 4, 5)
    y = copy(x, gs.channels_last)
    assert y.stride() == (60, 1, 15, 3) and y.is_contiguous(memory_format=gs.channels_last)
    assert not y.is_contiguous() and not x.is_contiguous(memory_format=gs.channels_last)
    assert y.tolist() == x.tolist() and y._base is None
    volume = copy(images(2, 3, 4, 5, 6), gs.channels_last_3d)
    assert volume.stride() == (360, 1, 90, 18, 3)
    assert copy(y, gs.contiguous_format).stride() == x.stride()


def test_what_lies_so_already_is_not_copied():
    y = images(2, 3, 4, 5).contiguous(memory_format=gs.channels_last)
    assert y.contiguous(memory_format=gs.channels_last) is y and y.to(memory_format=gs.channels_last) is y
    assert y.clone(memory_format=gs.channels_last) is not y
    assert y.clone().stride() == y.clone(memory_format=gs.preserve_format).stride() == y.stride()
    assert images(2, 4, 5, 3).permute(0, 3, 1, 2).is_contiguous(memory_format=gs.channels_last)


def test_to_converts_both():
    x = images(2, 3, 4, 5)
    y = x.to(gs.float32, memory_format=gs.channels_last)
    assert y.dtype == gs.float32 and y.stride() == (60, 1, 15, 3)
    assert x.to(gs.float64, memory_format=gs.preserve_format) is x
    assert x.to(copy=True, memory_format=gs.preserve_format) is not x
    assert x.to(copy=True, memory_format=gs.contiguous_format).stride() == x.stride()


def test_sizes_of_one_lie_in_any_order():
    x = images(2, 1, 4, 5)
    assert x.is_contiguous() and x.is_contiguous(memory_format=gs.channels_last)
    assert gs.zeros(0, 3, 4, 5).contiguous(memory_format=gs.channels_last).shape == (0, 3, 4, 5)


def test_gradients_go_through():
    x = images(2, 3, 4, 5).requires_grad_()
    g = images(2, 3, 4, 5)
    y = x.contiguous(memory_format=gs.channels_last).clone(memory_format=gs.contiguous_format)
    y.backward(g)
    assert x.grad.tolist() == g.tolist()
    maps = gs.vmap(lambda image: image.to(memory_format=gs.channels_last) * 2)(images(3, 1, 2, 4, 5))
    assert maps.shape == (3, 1, 2, 4, 5)


def test_what_is_refused():
    x = images(3, 4, 5)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        x.contiguous(memory_format=gs.channels_last)
    with pytest.raises(RuntimeError, match="required rank 5"):
        x.contiguous(memory_format=gs.channels_last_3d)
    with pytest.raises(RuntimeError, match="preserve memory format is unsupported by the contiguous operator"):
        x.mT.contiguous(memory_format=gs.preserve_format)
    for wrong in ("channels_first", 1):
        with pytest.raises(TypeError, match="memory_format"):
            x.clone(memory_format=wrong)


def test_what_is_in_order_may_be_asked_to_preserve_it():
    x = gs.arange(6.0).reshape(2, 3)
    assert x.is_contiguous(memory_format=gs.preserve_format)
    assert not x.mT.is_contiguous(memory_format=gs.preserve_format)
    assert x.contiguous(memory_format=gs.preserve_format) is x


def test_they_have_names():
    for name in ("channels_last", "channels_last_3d", "contiguous_format", "preserve_format"):
        found = getattr(gs, name)
        assert images(2, 3, 4, 5).clone(memory_format="channels_last").stride() == (60, 1, 15, 3)
        assert repr(found) == f"gradsmith.{name}" and isinstance(found, gs.memory_format)
        assert pickle.loads(pickle.dumps(found)) is found


def test_meta_tensors_have_no_order_but_their_own():
    m = gs.zeros(2, 3, 4, 5, device="meta")
    assert m.contiguous(memory_format=gs.channels_last).shape == m.shape


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.conv2d(x, gs.ones(4, 3, 2, 2, dtype=gs.float64)),
        lambda x: F.conv_transpose2d(x, gs.ones(3, 2, 2, 2, dtype=gs.float64), stride=2),
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.avg_pool2d(x, 2),
        lambda x: F.adaptive_avg_pool2d(x, 2),
        lambda x: F.interpolate(x, 7, mode="bilinear"),
        lambda x: F.pad(x, (1, 1, 1, 1), "reflect"),
        lambda x: F.grid_sample(x, gs.zeros(2, 3, 3, 2, dtype=gs.float64), align_corners=False),
        lambda x: F.unfold(x, 2),
        lambda x: F.pixel_unshuffle(x[..., :4, :4], 2),
    ],
)
def test_ops_of_images_take_any_order(call):
    x = images(2, 3, 5, 6)
    last = x.contiguous(memory_format=gs.channels_last).requires_grad_()
    rows = x.clone().requires_grad_()
    found, expected = call(last), call(rows)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-13, atol=1e-13)
    (found * found).sum().backward()
    (expected * expected).sum().backward()
    np.testing.assert_allclose(last.grad.numpy(), rows.grad.numpy(), rtol=1e-13, atol=1e-13)
