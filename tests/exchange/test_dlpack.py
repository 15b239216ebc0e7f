"""Memory shared by DLPack: with NumPy, by capsules, and what is refused."""

import gc
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays.memory import is_capsule
from gradsmith.utils import dlpack

DTYPES = [
    "float16", "float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64", "bool",
]  # fmt: skip
CPU = (1, 0)


class Producer:
    """What another library hands out: a capsule of a version, of a device."""

    def __init__(self, array, version=(1, 0), device=CPU):
        self.array, self.version, self.device = array, version, device

    def __dlpack__(self, **asked):
        return self.array.__dlpack__(**({"max_version": self.version} if self.version else {}))

    def __dlpack_device__(self):
        return self.device


def layouts():
    base = gs.arange(24).reshape(2, 3, 4)
    return {
        "rows": base, "columns": base.mT, "offset": base[1:, 1:], "steps": base[:, ::2, 1::2],
        "backwards": base[:, ::-1], "expanded": base[:1].expand(5, 3, 4), "no dimensions": gs.tensor(7),
        "empty": gs.empty(0, 3), "empty part": base[:, 3:],
    }  # fmt: skip


# ---- out


@pytest.mark.parametrize("name", layouts())
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1), (7, 0)])
def test_numpy_sees_the_memory(name, version):
    tensor = layouts()[name]
    capsule = tensor.__dlpack__(max_version=version)
    assert is_capsule(capsule, b"dltensor_versioned" if version and version >= (1, 0) else b"dltensor")
    found = gs.from_dlpack(capsule).numpy()
    assert (found.shape, found.dtype) == (tensor.shape, tensor.dtype)
    if tensor.numel():
        assert found.ctypes.data == tensor.data_ptr()
        assert found.tolist() == tensor.tolist()
    assert np.from_dlpack(tensor).tolist() == tensor.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_go_both_ways(dtype):
    tensor = gs.tensor([0, 1], dtype=dtype)
    array = np.from_dlpack(tensor)
    assert array.dtype == tensor.dtype and array.ctypes.data == tensor.data_ptr()
    back = gs.from_dlpack(array)
    assert back.dtype == tensor.dtype and back.data_ptr() == tensor.data_ptr()


def test_writes_are_seen_on_both_sides():
    tensor = gs.zeros(3)
    array = np.from_dlpack(tensor)
    array[0] = 1
    tensor[1] = 2
    assert tensor.tolist() == array.tolist() == [1.0, 2.0, 0.0]


def test_the_capsule_keeps_the_memory():
    def shared():
        return gs.full((1000,), 3.0).__dlpack__(max_version=(1, 0))

    capsules = [shared() for _ in range(20)]
    other = [gs.zeros(1000) for _ in range(40)]  # would get the memory if it were free
    for capsule in capsules:
        assert gs.from_dlpack(capsule).unique().tolist() == [3.0]
    assert all(tensor.sum().item() == 0 for tensor in other)


def test_the_memory_of_a_consumer_is_not_reused():
    array = np.from_dlpack(gs.full((1000,), 3.0))
    results = [gs.ones(1000) + gs.ones(1000) for _ in range(40)]
    assert (array == 3).all() and all(result[0].item() == 2 for result in results)


def test_an_unused_capsule_gives_the_memory_back():
    array = np.ones(10)
    alive = weakref.ref(array)
    capsule = gs.from_numpy(array).__dlpack__()
    del array
    assert alive() is not None
    del capsule
    gc.collect()
    assert alive() is None


def test_copies():
    tensor = gs.arange(6).reshape(2, 3).mT
    for capsule in (tensor.__dlpack__(copy=True), tensor.__dlpack__(copy=True, max_version=(1, 0), dl_device=CPU)):
        found = gs.from_dlpack(capsule)
        assert found.tolist() == tensor.tolist() and found.data_ptr() != tensor.data_ptr()
    assert gs.from_dlpack(tensor.__dlpack__(copy=False)).data_ptr() == tensor.data_ptr()


def test_what_is_read_only_says_so():
    array = np.ones(3)
    array.flags.writeable = False
    tensor = gs.from_numpy(array)
    found = np.from_dlpack(tensor)
    assert not found.flags.writeable and np.shares_memory(found, array)
    with pytest.raises(BufferError):
        tensor.__dlpack__()  # a capsule of no version could not say it
    with pytest.raises(BufferError):
        dlpack.to_dlpack(tensor)
    assert gs.from_dlpack(tensor.__dlpack__(copy=True)).add_(1).tolist() == [2.0] * 3


def test_refused():
    for tensor in (gs.ones(2, requires_grad=True), gs.ones(2, requires_grad=True) * 2):
        for export in (
            tensor.__dlpack__,
            lambda tensor=tensor: gs.from_dlpack(tensor),
            lambda tensor=tensor: np.from_dlpack(tensor),
        ):
            with pytest.raises(BufferError, match="Can't export tensors that require gradient.*detach"):
                export()
        with gs.no_grad(), pytest.raises(BufferError, match="Can't export tensors that require gradient"):
            tensor.__dlpack__()
        assert np.from_dlpack(tensor.detach()).shape == (2,)
    meta = gs.ones(2, device="meta")
    with pytest.raises(BufferError, match="meta device: it has no data"):
        meta.__dlpack__()
    with pytest.raises(ValueError, match="Unknown device type meta"):
        meta.__dlpack_device__()
    with pytest.raises(RuntimeError, match="stream must be None, but got 1"):
        gs.ones(2).__dlpack__(stream=1)
    for version in (1, "1.0", (1,), (1, 0, 0), (1.0, 0), [1, 0]):
        with pytest.raises(TypeError, match="max_version must be a tuple of two integers"):
            gs.ones(2).__dlpack__(max_version=version)
        with pytest.raises(TypeError, match="dl_device must be a tuple of two integers"):
            gs.ones(2).__dlpack__(dl_device=version)
    with pytest.raises(BufferError, match=r"on the CPU, \(1, 0\), and cannot go to device \(2, 0\)"):
        gs.ones(2).__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError, match="expected a Tensor, but got ndarray"):
        dlpack.to_dlpack(np.ones(2))
    assert gs.ones(2).__dlpack_device__() == CPU


def test_slices_of_a_batch_have_no_memory_of_their_own():
    with pytest.raises(RuntimeError, match="numpy"):
        gs.vmap(lambda x: gs.tensor(np.from_dlpack(x)))(gs.ones(2, 3))


# ---- in


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_arrays_of_others_come_without_a_copy(version):
    for array in (
        np.arange(12.0).reshape(3, 4),
        np.arange(12).reshape(3, 4).T[1:, ::2],
        np.array(3.0),
        np.empty((0, 2)),
    ):
        tensor = gs.from_dlpack(Producer(array, version))
        assert (tensor.shape, tensor.dtype) == (array.shape, array.dtype) and tensor.tolist() == array.tolist()
        assert not array.size or tensor.data_ptr() == array.ctypes.data


def test_only_what_may_be_written_to_is_written_to():
    array = np.zeros(2)
    gs.from_dlpack(Producer(array)).add_(1)
    assert array.tolist() == [1.0, 1.0]
    gs.from_dlpack(array.__dlpack__()).add_(1)  # by hand, as in PyTorch
    gs.from_dlpack(array.__dlpack__(max_version=(1, 0))).add_(1)
    assert array.tolist() == [3.0, 3.0]
    locked = array.view()
    locked.flags.writeable = False
    for source in (locked, Producer(array, None), locked.__dlpack__(max_version=(1, 0))):
        with pytest.raises((RuntimeError, ValueError), match="read-only"):
            gs.from_dlpack(source).add_(1)
    assert array.tolist() == [3.0, 3.0]


def test_the_tensor_keeps_the_memory_of_others():
    class Kept(np.ndarray):
        pass

    array = np.ones(100).view(Kept)
    alive = weakref.ref(array)
    tensor = gs.from_dlpack(array)
    del array
    gc.collect()
    assert alive() is not None and tensor.sum().item() == 100.0
    del tensor
    gc.collect()
    assert alive() is None


def test_copy_and_device():
    array = np.zeros(2)
    assert gs.from_dlpack(array, copy=True).add_(1).tolist() == [1.0, 1.0] and array.tolist() == [0.0, 0.0]
    assert gs.from_dlpack(array, copy=False, device="cpu").data_ptr() == array.ctypes.data
    assert gs.from_dlpack(array, device="meta").is_meta
    with pytest.raises(ValueError, match="nothing can be shared with the meta device"):
        gs.from_dlpack(array, device="meta", copy=False)
    with pytest.raises(RuntimeError):
        gs.from_dlpack(array, device="cuda")
    with pytest.raises(TypeError):
        gs.from_dlpack(array, "cpu")


def test_a_capsule_is_consumed_once():
    capsule = gs.arange(3).__dlpack__()
    first = gs.from_dlpack(capsule)
    with pytest.raises(ValueError, match="the capsule has been consumed before"):
        gs.from_dlpack(capsule)
    assert first.tolist() == [0, 1, 2]


class Once:
    """Gives the same capsule again and again."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return CPU


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_nor_by_way_of_its_producer(version):
    source = Once(np.arange(3).__dlpack__(max_version=version))
    assert gs.from_dlpack(source).tolist() == [0, 1, 2]
    with pytest.raises((ValueError, BufferError)):
        gs.from_dlpack(source)


@pytest.mark.parametrize("source", [3, None, "text", [1.0], object(), np.float32(1), {}])
def test_what_is_no_array_is_refused(source):
    with pytest.raises(TypeError, match=r"^from_dlpack\(\): expected an object with __dlpack__"):
        gs.from_dlpack(source)


def test_producers_that_answer_nonsense():
    class Nonsense:
        def __init__(self, answer):
            self.answer = answer

        def __dlpack__(self, **_):
            return self.answer

        def __dlpack_device__(self):
            return self.answer

    for answer in (None, 3, "capsule", np.ones(2), gs.ones(2), []):
        with pytest.raises((ValueError, TypeError, BufferError, RuntimeError)):
            gs.from_dlpack(Nonsense(answer))


def test_dtypes_without_a_place_are_refused():
    with pytest.raises((TypeError, BufferError)):
        gs.from_dlpack(np.ones(2, np.longdouble))


def test_the_same_functions_under_both_names():
    assert gs.from_dlpack is dlpack.from_dlpack is gs.utils.dlpack.from_dlpack
    x = gs.zeros(2)
    gs.from_dlpack(dlpack.to_dlpack(x)).add_(1)
    assert x.tolist() == [1.0, 1.0]


# ---- with PyTorch


def test_with_pytorch():
    torch = pytest.importorskip("torch")
    x = gs.arange(6.0).reshape(2, 3).mT
    there = torch.from_dlpack(x)
    assert there.data_ptr() == x.data_ptr() and there.stride() == x.stride()
    there += 1
    assert x[0, 0].item() == 1.0
    back = gs.from_dlpack(there)
    back.mul_(2)
    assert x[0, 0].item() == 2.0 and back.data_ptr() == x.data_ptr()
    assert torch.utils.dlpack.from_dlpack(dlpack.to_dlpack(x)).tolist() == x.tolist()
    assert gs.from_dlpack(torch.utils.dlpack.to_dlpack(there)).add_(1).tolist() == there.tolist()
    with pytest.raises(BufferError):
        gs.from_dlpack(torch.ones(2, requires_grad=True))


def test_with_jax():
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.arange(6.0).reshape(2, 3)
    ours = gs.from_dlpack(theirs)
    assert ours.data_ptr() == theirs.unsafe_buffer_pointer() and ours.tolist() == theirs.tolist()
    with pytest.raises(ValueError, match="read-only"):
        ours.add_(1)  # arrays of JAX never change
    del theirs
    assert jax.numpy.from_dlpack(ours * 2).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]


@pytest.mark.parametrize("copy", [None, True])
def test_asarray_of_a_capsule(copy):
    x = gs.arange(3.0)
    found = gs.asarray(gs.utils.dlpack.to_dlpack(x), copy=copy)
    x[0] = 5.0
    assert found.tolist() == ([0.0, 1.0, 2.0] if copy else [5.0, 1.0, 2.0])
