"""gradsmith.autograd.graph: gradient edges, versions, what a graph keeps."""

import doctest
import gc
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import graph
from gradsmith.autograd.graph import get_gradient_edge, increment_version, list_saved, saved_listing, saved_tensors


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


# ---- gradient edges


def test_no_gradient_edge_without_grad():
    with pytest.raises(RuntimeError, match="does not require gradients"):
        get_gradient_edge(gs.ones(3))


def test_a_gradient_edge_keeps_no_tensor():
    x = leaf([1.0, 2.0])
    y = x * 2
    edge = get_gradient_edge(y)
    reference = weakref.ref(y)
    del y
    gc.collect()
    assert reference() is None
    assert edge.node.name() == "MulBackward0"


# ---- versions


def test_increment_version():
    x = gs.ones(3)
    increment_version(x)
    assert x._version == 1
    increment_version([x, x[1:]])
    assert x._version == 3
    assert x[1:]._version == 3


def test_increment_version_is_noticed_by_backward():
    y = leaf([1.0, 2.0]) * 2
    z = y * y
    y.detach().numpy()[0] = 7.0
    increment_version(y)
    with pytest.raises(RuntimeError, match="changed by increment_version at"):
        z.sum().backward()


def test_increment_version_of_something_else():
    with pytest.raises(RuntimeError, match="expect a Iterable"):
        increment_version(3)
    with pytest.raises(RuntimeError, match="each element of the iterable to be a tensor, got int"):
        increment_version([3])


def test_versions_can_be_preserved():
    x, y = gs.ones(3), gs.ones(3)
    y.add_(1)
    with gs.autograd._unsafe_preserve_version_counter(x):
        x.add_(1)
        assert x._version == 1
    assert x._version == 0
    with gs.autograd._unsafe_preserve_version_counter((x, y)):
        x.add_(1)
        y.add_(1)
    assert (x._version, y._version) == (0, 1)


# ---- what is kept


def test_list_saved():
    x = leaf(np.ones(1000))
    w = leaf(np.ones((2, 1000)))
    y = (x * w).exp().sum()
    found = list_saved(y)
    assert [(e.node.name(), e.attribute, e.shape, e.nbytes) for e in found] == [
        ("ExpBackward0", "result", (2, 1000), 16000),
        ("MulBackward0", "self", (1000,), 8000),
        ("MulBackward0", "other", (2, 1000), 16000),
    ]
    assert {e.dtype for e in found} == {np.dtype(np.float64)}
    assert found.total == 40000
    assert repr(found).splitlines()[-1].split() == ["total", "40,000"]


def test_shared_arrays_count_once():
    x = leaf(np.ones(10))
    found = list_saved(x * x)
    assert [(e.attribute, e.nbytes, e.shared) for e in found] == [("self", 80, False), ("other", 0, True)]
    assert found.total == 80
    assert "shared" in repr(found)


def test_list_saved_of_roots_of_every_kind():
    x = leaf(np.ones(10))
    y, z = x.exp(), x.sin()
    assert list_saved([y, z]).total == 160
    assert list_saved(y.grad_fn).total == 80
    assert list_saved(get_gradient_edge(y)).total == 80
    assert list_saved(x).total == 0
    with pytest.raises(TypeError, match="list_saved.*got int"):
        list_saved(3)


def test_list_saved_after_backward():
    y = leaf(np.ones(10)).exp().sum()
    assert list_saved(y).total == 80
    y.backward()
    assert list_saved(y) == []


def test_list_saved_with_hooks():
    x = leaf(np.ones(10))
    with graph.saved_tensors_hooks(
        lambda t: ("half", t.numpy(force=True).astype(np.float32)), lambda p: gs.tensor(p[1])
    ):
        y = x.exp()
    (entry,) = list_saved(y)
    assert (entry.dtype, entry.nbytes) == (np.float32, 40)


def test_list_saved_sees_what_a_changed_view_keeps():
    x = leaf(np.ones(10))
    y = x * 1.0
    y[2:4].mul_(x[:2])
    assert sorted(e.shape for e in list_saved(y)) == [(2,), (2,)]


def test_list_saved_counts_what_was_changed_since():
    x = leaf(np.ones(10))
    y = x * 1.0
    z = y * y
    y.add_(1)
    assert list_saved(z).total == 80


# ---- views


def test_view_func():
    base = leaf(np.arange(12.0).reshape(3, 4)) * 1.0
    view = base[1:, ::2].T
    other = leaf(np.arange(100.0, 112.0).reshape(3, 4))
    again = view._view_func(other)
    np.testing.assert_array_equal(again.numpy(force=True), np.arange(100.0, 112.0).reshape(3, 4)[1:, ::2].T)
    assert again._is_view()
    again.sum().backward()
    expected = np.zeros((3, 4))
    expected[1:, ::2] = 1
    np.testing.assert_array_equal(other.grad.numpy(), expected)
    assert base._view_func(other) is None
    with pytest.raises(RuntimeError, match="no counterpart"):
        view._view_func(gs.ones(5))


def test_data_must_be_a_tensor():
    x = leaf([1.0])
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        x.data = 3
    with pytest.raises(RuntimeError, match="must be floating point or complex"):
        x.data = gs.ones(1, dtype=gs.int32)
    x.data = gs.ones(5)
    assert (x.shape, x.dtype, x._version) == ((5,), gs.float32, 0)
    (x * 2).sum().backward()
    assert x.grad.shape == (5,)


@pytest.mark.parametrize("module", [graph, saved_listing, saved_tensors])
def test_examples_in_docstrings(module):
    failed, attempted = doctest.testmod(module)
    assert failed == 0
    assert attempted > 0
