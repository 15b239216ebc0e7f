"""What shares memory with NumPy and what copies, and what read-only memory does."""

import array as python_arrays
import gc
import weakref

import numpy as np
import pytest

import gradsmith as gs

SHARES = {
    "from_numpy": gs.from_numpy, "as_tensor": gs.as_tensor, "asarray": gs.asarray, "from_dlpack": gs.from_dlpack,
    "asarray without a copy": lambda a: gs.asarray(a, copy=False),
}  # fmt: skip
COPIES = {
    "tensor": gs.tensor,
    "asarray with a copy": lambda a: gs.asarray(a, copy=True),
    "from_dlpack with a copy": lambda a: gs.from_dlpack(a, copy=True),
    "as_tensor of another dtype": lambda a: gs.as_tensor(a, dtype=gs.float64),
    "a list": lambda a: gs.tensor(list(a)),
}


def locked(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("name", SHARES)
def test_shares(name):
    for array in (np.ones(6, np.float32), np.ones((2, 6), np.float32)[1, ::2], np.ones(6, np.float32)[::-1]):
        tensor = SHARES[name](array)
        assert tensor.data_ptr() == array.ctypes.data
        tensor[0] = 5.0
        array[1] = 6.0
        assert tensor.tolist() == array.tolist()
        assert tensor.detach().numpy().ctypes.data == array.ctypes.data


@pytest.mark.parametrize("name", COPIES)
def test_copies(name):
    array = np.ones(3, np.float32)
    tensor = COPIES[name](array)
    array[:] = 2
    assert tensor.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", SHARES)
def test_read_only_memory_is_read_and_not_written_to(name):
    array = locked(np.ones(3, np.float32))
    tensor = SHARES[name](array)
    assert (tensor * 2).tolist() == [2.0, 2.0, 2.0]
    for write in (lambda: tensor.add_(1), lambda: tensor.__setitem__(0, 1.0), lambda: tensor.zero_()):
        with pytest.raises((RuntimeError, ValueError), match="read-only"):
            write()
    assert not tensor.numpy().flags.writeable and array.tolist() == [1.0, 1.0, 1.0]
    tensor.requires_grad_()
    (tensor * tensor).sum().backward()
    assert tensor.grad.add_(1).tolist() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_read_only_memory_may_be_written_to(name):
    assert COPIES[name](locked(np.ones(3, np.float32))).add_(1).tolist() == [2.0, 2.0, 2.0]


def test_arrays_of_tensors():
    tensor = gs.ones(3)
    for array in (tensor.numpy(), np.asarray(tensor), np.asarray(tensor, copy=False), np.from_dlpack(tensor)):
        assert array.ctypes.data == tensor.data_ptr() and array.flags.writeable
    for array in (np.array(tensor), np.asarray(tensor, dtype=np.float64), np.asarray(tensor, copy=True)):
        assert not np.shares_memory(array, tensor.numpy())
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(tensor, dtype=np.float64, copy=False)


def test_bytes_and_buffers_go_by_way_of_an_array():
    tensor = gs.tensor([1, 2, 3], dtype=gs.uint8)
    with pytest.raises(TypeError, match="a bytes-like object is required"):
        memoryview(tensor)
    assert memoryview(tensor.numpy()).tolist() == [1, 2, 3] and tensor.numpy().tobytes() == b"\x01\x02\x03"
    assert not hasattr(tensor, "__array_interface__")
    assert tensor.numpy().__array_interface__["data"] == (tensor.data_ptr(), False)


def test_memory_lives_as_long_as_either_side():
    class Kept(np.ndarray):
        pass

    array = np.ones(100).view(Kept)
    alive = weakref.ref(array)
    back = gs.from_numpy(array).numpy()[::2]
    del array
    gc.collect()
    assert alive() is not None and back.sum() == 50
    del back
    gc.collect()
    assert alive() is None


def test_an_array_outlives_what_happens_to_its_tensor():
    tensor = gs.full((1000,), 3.0)
    array = tensor.numpy()
    tensor.data = gs.zeros(5)
    others = [gs.ones(1000) + 1 for _ in range(20)]
    assert (array == 3).all() and others[0][0].item() == 2.0


def test_a_fixed_array_gives_a_warning():
    array = np.broadcast_to(np.ones(1), 3)
    with pytest.warns(UserWarning, match="The given NumPy array is not writable: changing") as found:
        tensor = gs.from_numpy(array)
    assert found[0].filename == __file__
    with pytest.raises((RuntimeError, ValueError), match="read-only"):
        tensor.add_(1)
    assert gs.as_tensor(array).tolist() == gs.tensor(array).tolist() == [1, 1, 1]


# ---- frombuffer


@pytest.mark.parametrize(
    "make",
    [
        bytearray,
        lambda b: memoryview(bytearray(b)),
        lambda b: np.frombuffer(b, np.int8).copy(),
        lambda b: python_arrays.array("i", b),
    ],
)
def test_buffers(make):
    data = np.arange(4, dtype=np.int32)
    assert gs.frombuffer(make(data.tobytes()), dtype=gs.int32).tolist() == [0, 1, 2, 3]
    assert gs.frombuffer(make(data.tobytes()), dtype=gs.int32, count=2, offset=4).tolist() == [1, 2]


def test_buffers_are_shared_and_kept():
    data = bytearray(8)
    tensor = gs.frombuffer(data, dtype=gs.float32)
    tensor += 1
    assert np.frombuffer(data, np.float32).tolist() == [1.0, 1.0]
    with pytest.raises(BufferError):
        data.extend(b"more")  # would move the memory
    with pytest.warns(UserWarning, match="buffer is not writable: changing this tensor in place raises"):
        fixed = gs.frombuffer(bytes(8), dtype=gs.float32)
    with pytest.raises((RuntimeError, ValueError), match="read-only"):
        fixed.add_(1)
    assert gs.frombuffer(data, dtype=gs.float32, requires_grad=True).requires_grad


def test_elements_between_the_places_of_their_size():
    data = bytearray(b"\0\0") + bytearray(np.arange(50, dtype=np.float32).tobytes())
    tensor = gs.frombuffer(data, dtype=gs.float32, offset=2)
    assert (tensor + 1).sum().item() == 50 * 51 / 2 and (tensor @ tensor).item() == sum(n * n for n in range(50))
    tensor.add_(1)
    assert tensor[-1].item() == 50.0 and gs.sort(tensor, descending=True)[0][0].item() == 50.0


@pytest.mark.parametrize(
    "data, options, message",
    [
        (b"", {}, "both buffer length (0) and count (-1) must not be 0"),
        (bytes(8), {"count": 0}, "both buffer length (8) and count (0) must not be 0"),
        (bytes(7), {}, "buffer length (7 bytes) after offset (0 bytes) must be a multiple of element size (4)"),
        (bytes(8), {"offset": 8}, "offset (8 bytes) must be non-negative"),
        (bytes(8), {"offset": -1}, "offset (-1 bytes) must be non-negative"),
        (bytes(8), {"count": 3}, "requested buffer length (3 * 4 bytes)"),
        (bytes(8), {"count": 2, "offset": 4}, "requested buffer length (2 * 4 bytes) after offset (4 bytes)"),
        (3, {}, "int does not implement Python buffer protocol"),
        (None, {}, "NoneType does not implement Python buffer protocol"),
    ],
)
def test_buffers_that_do_not_fit(data, options, message):
    with pytest.raises(ValueError) as raised:
        gs.frombuffer(data, dtype=gs.float32, **options)
    assert str(raised.value).startswith(f"frombuffer(): {message}")


# ---- what libraries ask of arrays


def test_what_is_not_there_is_no_attribute():
    """Protocols of Python ask with `hasattr`, which lets other errors than AttributeError through."""
    assert not hasattr(gs.ones(2), "imag") and hasattr(gs.ones(2, dtype=gs.complex64), "imag")
    with pytest.raises(RuntimeError, match="imag is not defined for tensors with non-complex dtypes, but got float32"):
        gs.ones(2).imag  # noqa: B018


def test_broadcast_beside_what_no_tensor_has():
    numbers, words = np.broadcast_arrays(gs.ones(3), np.array(["text"]))
    assert type(numbers) is np.ndarray and numbers.tolist() == [1.0] * 3 and words.tolist() == ["text"] * 3
    with pytest.raises(RuntimeError, match="Use tensor.detach"):
        np.broadcast_arrays(gs.ones(3, requires_grad=True), None)
    assert type(np.broadcast_arrays(gs.ones(3), 2.0)[1]) is gs.Tensor


def test_what_libraries_look_for_in_an_array():
    x = gs.arange(6.0).reshape(2, 3)
    assert x.strides == x.numpy().strides == (12, 4) and x.T.strides == (4, 12)
    assert np.shares_memory(x.to_numpy(), x.numpy())
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.requires_grad_().to_numpy()
