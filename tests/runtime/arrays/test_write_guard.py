"""The write guard: arrays of a live graph are read-only to NumPy."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd.graph import write_guard


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def test_a_write_raises():
    data = np.array([1.0, 2.0])
    x = leaf([3.0, 4.0])
    with write_guard():
        y = x * gs.from_numpy(data)
        with pytest.raises(ValueError, match="read-only"):
            data[0] = 5.0
        y.sum().backward()
        data[0] = 5.0
    np.testing.assert_array_equal(x.grad.numpy(), [1.0, 2.0])


def test_the_array_is_free_when_the_graph_has_gone():
    data = np.array([1.0, 2.0])
    with write_guard():
        y = leaf([3.0, 4.0]) * gs.from_numpy(data)
        z = leaf([3.0, 4.0]) * gs.from_numpy(data)
        del y
        with pytest.raises(ValueError, match="read-only"):
            data[0] = 5.0
        del z
        data[0] = 5.0


def test_the_array_is_free_after_the_block():
    data = np.array([1.0, 2.0])
    with write_guard():
        with write_guard():
            y = leaf([3.0, 4.0]) * gs.from_numpy(data)
        assert not data.flags.writeable
    data[0] = 5.0
    y.sum().backward()


def test_the_memory_of_a_view_is_guarded():
    data = np.arange(4.0)
    with write_guard():
        y = leaf([3.0, 4.0]) * gs.from_numpy(data[1:3])
        with pytest.raises(ValueError, match="read-only"):
            data[1] = 5.0
    data[1] = 5.0
    del y


def test_an_output_is_guarded():
    x = leaf([1.0, 2.0])
    with write_guard():
        y = x.exp()
        array = y.detach().numpy()
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
        end = y.sum()
        del y
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
        end.backward()
        array[0] = 0.0


def test_an_array_that_was_read_only_stays_so():
    data = np.array([1.0, 2.0])
    data.flags.writeable = False
    with write_guard():
        y = leaf([3.0, 4.0]) * gs.tensor(data)
        z = leaf([3.0, 4.0]) * gs.as_tensor(data)
    assert not data.flags.writeable
    del y, z


def test_ops_write_and_are_counted():
    y = leaf([1.0, 2.0]) * 2
    with write_guard():
        z = y * y
        y.mul_(3)
        y[0] = 7.0
        assert y.tolist() == [7.0, 12.0]
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()


def test_a_step_of_training():
    w = leaf([1.0, 2.0])
    with write_guard():
        for _ in range(3):
            loss = (w * w).sum()
            loss.backward()
            with gs.no_grad():
                w.sub_(w.grad * 0.1)
            w.grad = None
    np.testing.assert_allclose(w.numpy(force=True), np.array([1.0, 2.0]) * 0.8**3)


def test_recycled_arrays_can_be_written():
    x = leaf(np.ones(50))
    with write_guard():
        for _ in range(20):
            (x.exp() * x.sin()).sum().backward()
    for _ in range(40):
        gs.ones(50, dtype=gs.float64).mul_(2).numpy()[0] = 1.0


def test_nothing_is_guarded_without_a_block():
    data = np.array([1.0, 2.0])
    y = leaf([3.0, 4.0]) * gs.from_numpy(data)
    data[0] = 5.0
    del y
