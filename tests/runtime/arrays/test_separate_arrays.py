"""The user's ndarray and the tensor's share memory, and are never one object.

Expected values, shapes and access rights are PyTorch 2.13's, unless a comment says otherwise.
"""

import copy
import pickle
import warnings
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd.graph import write_guard
from gradsmith.runtime.arrays import array

# NumPy 2.5 deprecates the assignments that these tests make.
pytestmark = pytest.mark.filterwarnings("ignore:Setting the .* on a NumPy array has been deprecated:DeprecationWarning")


class Wrapper:
    """An object that keeps the array that it gives to NumPy."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


# A tensor over the memory of an array, and that array.
ENTRIES = {
    "from_numpy": gs.from_numpy,
    "as_tensor": gs.as_tensor,
    "asarray": gs.asarray,
    "asarray with a gradient": lambda w: gs.asarray(w, requires_grad=True).detach(),
    "__array__": lambda w: gs.as_tensor(Wrapper(w)),
    "as_tensor of a dtype it has": lambda w: gs.as_tensor(w, dtype=gs.float64),
    "the array of a tensor": lambda w: gs.from_numpy(gs.from_numpy(w).numpy()),
    "detach": lambda w: gs.from_numpy(w).detach(),
    "data": lambda w: gs.from_numpy(w).data,
}

# An array over the memory of a tensor.
EXITS = {
    "numpy": lambda t: t.numpy(),
    "numpy(force)": lambda t: t.numpy(force=True),
    "asarray": np.asarray,
    "asanyarray": np.asanyarray,
    "array without copy": lambda t: np.array(t, copy=None if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else False),
    "__array__": lambda t: t.__array__(),
    "__array__ of its dtype": lambda t: t.__array__(np.dtype(np.float64)),
    "memoryview": lambda t: np.asarray(memoryview(t.numpy())),
    "data": lambda t: t.data.numpy(),
    "a view of the whole": lambda t: t.view(4).numpy(),
    "pickle": lambda t: t.__reduce_ex__(4)[1][1],
}


def reshape(w):
    w.shape = (4, 1)


def reinterpret(w):
    w.dtype = np.int64


def forbid(w):
    w.setflags(write=False)


def restride(w):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w.strides = (0,)


CHANGES = [reshape, reinterpret, forbid, restride]


def assert_untouched(t, *views):
    assert t.shape == (4,) and t.dtype == gs.float64 and t.stride() == (1,)
    assert t.tolist() == [1, 2, 3, 4]
    for view in views:
        assert view.tolist() == [2, 3, 4]
    t.add_(1).sub_(1)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("entry", ENTRIES)
def test_changes_of_a_given_array(entry, change):
    w = np.arange(1.0, 5.0)
    t = ENTRIES[entry](w)
    assert np.shares_memory(t.numpy(), w)
    view = t[1:]
    change(w)
    assert_untouched(t, view)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("leave", EXITS)
@pytest.mark.parametrize("make", [gs.from_numpy, gs.tensor], ids=["shared", "own"])
def test_changes_of_an_array_that_was_given(make, leave, change):
    t = make(np.arange(1.0, 5.0))
    view = t[1:]
    w = EXITS[leave](t)
    assert np.shares_memory(t.numpy(), w)
    change(w)
    assert_untouched(t, view)
    assert t.numpy().shape == (4,)


@pytest.mark.parametrize("change", [reshape, reinterpret])
def test_saved_values_and_gradients(change):
    w = np.array([1.0, 2.0, 3.0, 4.0])
    x = gs.tensor([1.0, 1.0, 1.0, 1.0], dtype=gs.float64, requires_grad=True)
    by_tensor, by_array = x * gs.from_numpy(w), x * w
    change(w)
    (by_tensor.sum() + by_array.sum()).backward()
    assert x.grad.tolist() == [2, 4, 6, 8]
    change(x.grad.numpy())
    assert x.grad.tolist() == [2, 4, 6, 8]


def test_a_written_source_keeps_its_shape():
    x = gs.zeros(2, 2, dtype=gs.float64)
    values = np.array([1.0, 2.0])
    x[0] = values
    values.shape = (2, 1)
    x[1] = values[:, 0]
    assert x.tolist() == [[1, 2], [1, 2]]


def test_an_index_keeps_its_shape():
    x = gs.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    places = np.array([0, 1])
    y = x[places]
    places.shape = (2, 1)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 0, 0]


def test_hooks_and_saved_tensors():
    def keep_and_change(tensor):
        tensor.numpy(force=True).shape = (4, 1)
        return tensor

    x = gs.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    with gs.autograd.graph.saved_tensors_hooks(keep_and_change, keep_and_change):
        y = x * x
    y.register_hook(lambda grad: grad.numpy().setflags(write=False))
    y.grad_fn._saved_self.numpy(force=True).shape = (4, 1)
    y.sum().backward()
    assert x.grad.tolist() == [2, 4, 6, 8] and x.grad.numpy().flags.writeable


def test_custom_functions():
    kept = []

    class Twice(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            kept.append(x.numpy(force=True))
            kept.append(np.asarray(x * 2))
            ctx.save_for_backward(x)
            return gs.from_numpy(kept[-1])

        @staticmethod
        def backward(ctx, grad):
            kept.append(grad.numpy())
            return grad * ctx.saved_tensors[0]

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = Twice.apply(x)
    for w in kept:
        w.shape = (2, 1)
    y.sum().backward()
    kept[-1].shape = (2, 1)
    assert y.shape == (2,) and x.shape == (2,) and x.grad.tolist() == [1, 2]


# ---- memory that must stay where it is


@pytest.mark.parametrize("part", [slice(None), slice(1, 3), slice(None, None, 2)])
def test_the_memory_is_not_taken_away(part):
    w = np.arange(4.0)
    t = gs.from_numpy(w[part])
    view, twin = t[1:], t.detach()
    del t
    with pytest.raises(ValueError, match="resize"):
        w.resize(1000, refcheck=False)  # PyTorch allows it, and then reads freed memory
    del view
    with pytest.raises(ValueError, match="resize"):
        w.resize(1000, refcheck=False)
    del twin
    w.resize(8, refcheck=False)
    assert w.size == 8


def test_a_given_array_is_not_resized():
    w = gs.ones(4).numpy()
    with pytest.raises(ValueError, match="resize|own"):
        w.resize(8, refcheck=False)


def test_an_array_outlives_its_tensor():
    x = gs.full((100,), 2.0) * 3
    w = x.numpy()
    part = w[10:20]
    del x, w
    others = [gs.full((100,), float(n)) * 2 for n in range(50)]
    assert part.tolist() == [6.0] * 10 and len(others) == 50


def test_the_array_of_a_dead_tensor_serves_nobody_else_until_it_is_gone():
    x = gs.ones(1000)
    array.empty_cache()
    w = (x * 2).numpy()
    assert array.cache_size() == 0
    results = [gs.ones(1000) * n for n in range(10)]
    assert not any(np.shares_memory(w, result.numpy()) for result in results)
    assert w.sum() == 2000


def test_a_gradient_that_the_user_sees_is_not_overwritten_by_another_value():
    x = gs.ones(1000, requires_grad=True)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(grad.numpy()))
    (y * 3).sum().backward()
    (x * 5).sum().backward()
    assert set(seen[0].tolist()) == {3.0}


def test_a_shared_array_is_freed_with_the_last_that_sees_it():
    w = np.arange(4.0)
    gone = weakref.ref(w)
    t = gs.from_numpy(w)
    seen = t[1:].numpy()
    del w, t
    assert gone() is not None
    del seen
    assert gone() is None


def test_the_base_of_an_array_shows_no_array_of_the_tensor():
    t = gs.tensor([1.0, 2.0])
    base = t.numpy().base
    assert not isinstance(base, np.ndarray)
    assert [name for name in dir(base) if not name.startswith("__")] == []
    assert memoryview(base).tobytes() == t.numpy().tobytes()
    bare = memoryview(type(base).__new__(type(base)))
    assert bare.nbytes == 0 and bare.readonly


@pytest.mark.parametrize("part", [np.s_[:], np.s_[::-2], np.s_[1:, ::-1], np.s_[2]])
def test_strides_may_reach_as_far_as_the_memory(part):
    t = gs.from_numpy(np.arange(12.0).reshape(3, 4)[part])
    seen = t.numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen.strides = (0,) * seen.ndim
        with pytest.raises(ValueError, match="not compatible"):
            seen.strides = (8000,) * seen.ndim
    assert t.tolist() == np.arange(12.0).reshape(3, 4)[part].tolist()


# ---- the right to write


def test_each_side_has_its_own_right_to_write():
    w = np.arange(4.0)
    t = gs.from_numpy(w)
    w.flags.writeable = False
    t.add_(1)
    assert w.tolist() == [1, 2, 3, 4] and t.numpy().flags.writeable
    seen = t.numpy()
    seen.flags.writeable = False
    t.add_(1)
    assert seen.tolist() == [2, 3, 4, 5] and t.numpy().flags.writeable and not w.flags.writeable
    seen.flags.writeable = True
    seen[0] = 7
    assert t.tolist() == [7, 3, 4, 5]


def test_a_read_only_array_stays_read_only():
    """PyTorch warns and lets the tensor write; see docs/internals/decisions/numpy_arrays.md."""
    w = np.arange(4.0)
    w.flags.writeable = False
    t = gs.from_numpy(w)
    with pytest.raises(ValueError, match="read-only"):
        t.add_(1)
    with pytest.raises(ValueError):
        t.numpy().flags.writeable = True
    w.flags.writeable = True  # the tensor was made without the right
    with pytest.raises(ValueError, match="read-only"):
        t.add_(1)


# ---- other kinds of arrays


def test_subclasses_give_plain_arrays(tmp_path):
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
    mapped = np.memmap(tmp_path / "values", np.float64, "w+", shape=(2, 2))
    mapped[:] = matrix
    named = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.recarray)
    for source in (matrix, mapped, named):
        t = gs.from_numpy(source)
        assert type(t.numpy()) is np.ndarray and np.shares_memory(t.numpy(), source)
        assert (t * t).tolist() == [[1, 4], [9, 16]]
        t[0, 0] = 5.0
        assert source[0, 0] == 5
        source[0, 0] = 1.0
        assert gs.tensor(source).tolist() == gs.as_tensor(source).tolist() == [[1, 2], [3, 4]]
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    for make in (gs.from_numpy, gs.as_tensor, gs.tensor):
        with pytest.raises(TypeError, match="filled"):
            make(masked)


@pytest.mark.parametrize(
    "source",
    [np.array(3.0), np.zeros((0, 3)), np.array([True, False]), np.arange(6).reshape(2, 3).T, np.arange(6.0)[::-2],
     np.broadcast_to(np.float32(1), (3, 2)), np.ones(3, np.float16), np.array([1 + 2j])],
    ids=lambda w: f"{w.dtype}{list(w.shape)}",
)  # fmt: skip
def test_layouts(source):
    t = gs.from_numpy(source)
    seen = t.numpy()
    assert seen is not source and seen.strides == source.strides and seen.dtype == source.dtype
    assert str(seen.flags).replace("OWNDATA : False", "") == str(source[...].flags).replace("OWNDATA : False", "")
    np.testing.assert_array_equal(seen, source)
    assert t.storage_offset() == 0 or source.strides[0] < 0


def test_memory_of_others():
    memory = bytearray(np.arange(4.0).tobytes())
    t = gs.as_tensor(np.frombuffer(memory))
    t[0] = 5.0
    assert np.frombuffer(memory)[0] == 5
    with pytest.raises(BufferError):
        memory.extend(b"more")


def test_a_tensor_starts_where_the_array_does():
    t = gs.from_numpy(np.arange(6.0)[2:5])
    assert t.storage_offset() == 0 and t[1:].storage_offset() == 1
    with pytest.raises(RuntimeError, match="reach beyond"):
        t.as_strided((5,), (1,), 0)


def test_copies():
    source = gs.from_numpy(np.arange(4.0)).requires_grad_()
    for made in (copy.deepcopy(source), pickle.loads(pickle.dumps(source)), copy.copy(source)):
        made.numpy(force=True).shape = (2, 2)
        assert made.shape == (4,) and made.requires_grad
    buffers = []
    stored = pickle.dumps(np.arange(4.0), protocol=5, buffer_callback=buffers.append)
    w = pickle.loads(stored, buffers=buffers)
    rebuild, (cls, _, requires_grad) = source.__reduce_ex__(5)[:2]
    made = rebuild(cls, w, requires_grad)
    w.shape = (2, 2)
    assert made.shape == (4,)


def test_data_and_set():
    w = np.arange(4.0)
    t = gs.zeros(4, dtype=gs.float64)
    t.data = gs.from_numpy(w)
    w.shape = (2, 2)
    assert t.shape == (4,) and np.shares_memory(t.numpy(), w)


# ---- the write guard


def test_the_guard_covers_all_arrays_over_the_memory():
    w = np.array([1.0, 2.0])
    t = gs.from_numpy(w)
    before = t.numpy()
    x = gs.tensor([3.0, 4.0], dtype=gs.float64, requires_grad=True)
    with write_guard():
        y = x * t
        after = t.numpy()
        again = gs.from_numpy(w)
        for seen in (w, before, after):
            with pytest.raises(ValueError, match="read-only"):
                seen[0] = 5.0
        y.sum().backward()
        for seen in (w, before, after):
            assert seen.flags.writeable
        again.add_(1)
    assert w.tolist() == [2, 3] and x.grad.tolist() == [1, 2]


@pytest.mark.parametrize("end", ["graph", "block"])
def test_arrays_made_under_a_lock_are_free_afterwards(end):
    w = np.array([1.0, 2.0])
    x = gs.tensor([3.0, 4.0], dtype=gs.float64, requires_grad=True)
    with write_guard():
        y = x * gs.from_numpy(w)
        z = x * gs.from_numpy(w)
        again = gs.from_numpy(w)
        seen = again.numpy()
        assert not seen.flags.writeable
        if end == "graph":
            del y, z
            assert seen.flags.writeable
    seen[0] = 3.0
    again.add_(1)
    assert w.tolist() == [4, 3]


def test_an_op_in_place_gives_all_arrays_back():
    t = gs.tensor([1.0, 2.0], requires_grad=True) * 1
    with write_guard():
        y = t * t
        seen = t.detach().numpy()
        assert not seen.flags.writeable
        t.mul_(2)
        assert seen.flags.writeable and seen.tolist() == [2, 4]
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_what_was_read_only_before_the_guard_stays_so():
    t = gs.tensor([1.0, 2.0])
    x = gs.tensor([3.0, 4.0], requires_grad=True)
    seen = t.numpy()
    seen.flags.writeable = False
    with write_guard():
        y = x * t
    assert not seen.flags.writeable and t.numpy().flags.writeable
    del y
