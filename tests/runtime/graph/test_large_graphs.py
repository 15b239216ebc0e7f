"""Graphs that are long or wide: built, run and freed without recursion."""

import gc
import weakref

import gradsmith as gs
from gradsmith.autograd import forward_ad, grad

LONG = 1_000_000


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def chain(x, length):
    for _ in range(length):
        x = x * 1.0
    return x


class Witness:
    """Attached to a node, it dies with it."""


def test_a_chain_of_a_million_nodes():
    """R16: built, run twice, and gone at once when its end is dropped."""
    x = leaf(1.0)
    y = x * 2.0
    bottom = y.grad_fn
    y = chain(y, LONG)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]
    bottom.metadata["witness"] = Witness()
    witness = weakref.ref(bottom.metadata["witness"])
    del bottom
    gc.disable()
    try:
        assert witness() is not None
        del y
        assert witness() is None
    finally:
        gc.enable()


def test_tangents_along_a_long_chain():
    """A tangent that requires grad has a graph of its own, as long as that of the value."""
    x, t = leaf(3.0), leaf(5.0)
    with forward_ad.dual_level():
        y = chain(forward_ad.make_dual(x, t), LONG // 4)
        tangent = forward_ad.unpack_dual(y).tangent
        assert tangent.tolist() == [5.0]
    (found,) = grad(tangent, t)
    assert found.tolist() == [1.0]


def test_the_graph_of_the_gradient_of_a_long_chain():
    x = leaf(2.0)
    y = chain(x, LONG // 10)
    (first,) = grad(y * y, x, create_graph=True)
    (second,) = grad(first, x)
    assert (first.tolist(), second.tolist()) == ([4.0], [2.0])


def test_a_fan_of_a_thousand():
    """Every edge into one node, and every edge into one leaf."""
    x = leaf(1.0)
    y = x * 1
    for start in (x, y):
        total = sum((start * i for i in range(1000)), start=leaf(0.0))
        (found,) = grad(total, x)
        assert found.tolist() == [sum(range(1000))]


def test_a_node_of_a_thousand_edges():
    parts = [leaf(float(i)) for i in range(1000)]
    weights = gs.tensor(list(range(1000)), dtype=gs.float64)
    (gs.cat(parts) * weights).sum().backward()
    assert [part.grad.item() for part in parts] == list(range(1000))


def test_a_node_of_a_thousand_gradients():
    x = gs.zeros(1000, dtype=gs.float64, requires_grad=True)
    total = sum((part * i for i, part in enumerate(x.unbind(0))), start=gs.tensor(0.0, dtype=gs.float64))
    total.backward()
    assert x.grad.tolist() == list(range(1000))
