"""PyTorch's older words for dtypes, and the memory behind tensors."""

import pickle

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.tensors.typed import DTYPES


@pytest.mark.parametrize("name", DTYPES)
def test_constructors(name):
    cls, dtype = getattr(gs, name), DTYPES[name]
    assert cls.dtype == dtype and cls(2, 3).shape == (2, 3) and cls(2, 3).dtype == dtype
    assert cls([0, 1]).tolist() == gs.tensor([0, 1], dtype=dtype).tolist() and cls((0, 1)).dtype == dtype
    assert cls().shape == (0,) and cls(4).shape == (4,) and cls(gs.Size([2, 2])).shape == (2, 2)
    assert cls(np.ones(2)).dtype == dtype
    assert isinstance(cls(1), cls) and not isinstance(gs.zeros(1, dtype=dtype).numpy(), cls)
    assert isinstance(cls(1), gs.Tensor) and not isinstance(1, cls)
    others = [getattr(gs, other) for other in DTYPES if other != name]
    assert not any(isinstance(cls(1), other) for other in others)
    assert cls(1).type() == f"torch.{name}"


def test_of_a_tensor():
    x = gs.ones(2)
    view = gs.FloatTensor(x)
    view[0] = 5
    assert x.tolist() == [5.0, 1.0]
    assert gs.LongTensor([1.5, 2.9]).tolist() == [1, 2]


@pytest.mark.parametrize(
    "wanted",
    ["torch.DoubleTensor", "gradsmith.DoubleTensor", "DoubleTensor", gs.DoubleTensor, gs.float64, "float64", float],
)
def test_type_converts(wanted):
    x = gs.ones(2, requires_grad=True)
    y = x.type(wanted)
    assert y.dtype == gs.float64
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert x.type(gs.float32) is x and x.type("torch.FloatTensor", non_blocking=True) is x


def test_arguments_of_to():
    x = gs.ones(2)
    assert x.to("cpu", gs.float64, True).dtype == gs.float64 and x.to("cpu", non_blocking=True).device == "cpu"
    assert x.to(gs.float32, True, True) is not x and x.to(gs.float32, non_blocking=True) is x
    assert x.to(gs.zeros(1, dtype=gs.int64), non_blocking=True).dtype == gs.int64
    assert gs.zeros(2).copy_(x, non_blocking=True).tolist() == [1.0, 1.0] and gs.zeros(2).copy_(x, True).tolist() == [
        1.0,
        1.0,
    ]
    with pytest.raises(TypeError):
        x.to("cpu", non_blocking="yes")


def test_the_class_of_all_tensors_is_that_of_the_default_dtype():
    x = gs.tensor([0.5, 0.0], dtype=gs.float64)
    for kind in (gs.Tensor, "torch.Tensor"):
        assert x.type(kind).tolist() == [0.5, 0.0] and x.type(kind).dtype == gs.float32
        assert (x > 0).type(kind).tolist() == [1.0, 0.0]
    assert x.type(dtype=gs.Tensor).dtype == gs.float32
    with pytest.raises(ValueError, match="invalid type: 'Tensor'"):
        x.type("Tensor")


def test_questions_for_what_there_is_not():
    names = "ipu maia mkldnn mps mtia nested quantized sparse_csr vulkan xla xpu cuda sparse meta"
    assert not any(getattr(gs.ones(1), f"is_{name}") for name in names.split())
    with pytest.raises(AttributeError):
        gs.ones(1).is_mps = True


def test_new():
    x = gs.zeros(2, dtype=gs.float64)
    assert x.new(3, 4).shape == (3, 4) and x.new([1, 2]).tolist() == [1.0, 2.0] and x.new().dtype == gs.float64


def test_one_device():
    x = gs.ones(2)
    assert x.pin_memory() is x and not x.is_pinned() and x.cpu() is x
    assert x.layout is gs.strided and isinstance(gs.strided, gs.layout) and repr(gs.strided) == "gradsmith.strided"
    assert pickle.loads(pickle.dumps(gs.strided)) is gs.strided
    assert isinstance(gs.float32, gs.dtype)


def test_storages():
    x = gs.arange(6.0)
    rows = x.view(2, 3)[1]
    assert rows.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() == x.data_ptr()
    assert x.untyped_storage().nbytes() == rows.untyped_storage().nbytes() == 24 and len(x.untyped_storage()) == 24
    assert rows.storage().size() == 6 and rows.storage().tolist() == x.tolist() and rows.storage()[2] == 2.0
    assert rows.storage().dtype == gs.float32 and rows.storage().untyped().nbytes() == 24
    assert gs.ones(2, device="meta").untyped_storage().data_ptr() == 0
    assert x.clone().untyped_storage().data_ptr() != x.data_ptr()
