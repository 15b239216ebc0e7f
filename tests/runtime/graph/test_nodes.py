"""Nodes and edges of the graph: what they show, their numbers and their names."""

import copy
import gc
import pickle
import threading
import time

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import Function, grad
from gradsmith.autograd.graph import GradientEdge, Node, get_gradient_edge


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


# ---- what a node is


def test_nodes_are_instances_of_node():
    y = leaf([1.0]) * 2
    assert isinstance(y.grad_fn, Node)
    assert issubclass(type(y.grad_fn), Node)
    assert isinstance(y.grad_fn.next_functions[0][0], Node)
    assert not isinstance(3, Node)
    with pytest.raises(TypeError):
        Node()


def test_a_node_is_one_object():
    """R12: for every caller, and with everything that was attached to it."""
    y = leaf([1.0]) * 2
    z = y.exp()
    assert y.grad_fn is y.grad_fn
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    assert y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]
    y.grad_fn.metadata["remark"] = 1
    gc.collect()
    assert y.grad_fn.metadata == {"remark": 1}
    assert y.grad_fn == z.grad_fn.next_functions[0][0] != z.grad_fn
    assert len({y.grad_fn, y.grad_fn, z.grad_fn}) == 2


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_node_cannot_be_copied(duplicate):
    """R12."""
    y = leaf([1.0]) * 2
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0]):
        with pytest.raises(TypeError, match="cannot pickle"):
            duplicate(node)


def test_what_a_node_shows():
    x = leaf([[1.0, 2.0]])
    node = (x * x).grad_fn
    assert node.name() == "MulBackward0"
    assert node.requires_grad
    (metadata,) = node._input_metadata
    assert (metadata.shape, metadata.dtype, metadata.device) == ((1, 2), np.float64, "cpu")
    assert not metadata.is_nested_tensor
    node.metadata["remark"] = 1
    assert (x * x).grad_fn.metadata == {}
    assert node.metadata == {"remark": 1}
    assert node.next_functions[0][0].variable is x


def test_metadata_of_several_outputs():
    """R5."""
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    node = x.unbind(0)[0].grad_fn
    assert [m.shape for m in node._input_metadata] == [(2,), (2,)]


def test_metadata_of_a_gradient_that_never_comes():
    """R5: nothing is expected where the output is no tensor, or has no gradient."""

    class Several(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, None, 3, x.sum()

        @staticmethod
        def backward(ctx, *grads):
            return grads[0]

    x = leaf([[1.0, 2.0]])
    found = Several.apply(x)[0].grad_fn._input_metadata
    assert [(m.shape, m.dtype) for m in found] == [((1, 2), np.float64), ((), None), ((), None), ((), np.float64)]
    values, places = x.max(1)
    assert values.grad_fn._input_metadata[0].dtype == np.float64
    assert places.grad_fn is None
    assert [m.dtype for m in values.grad_fn._input_metadata[1:]] == [None]


def test_a_node_gives_a_gradient_for_each_edge():
    """R1, R4: None where nothing is wanted."""
    x, constant = leaf([1.0, 2.0]), gs.tensor([3.0, 4.0], dtype=gs.float64)
    node = (x * constant).grad_fn
    seen = []
    node.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    assert [following is None for following, _ in node.next_functions] == [False, True]
    gs.autograd.backward(GradientEdge(node, 0), gs.tensor([1.0, 10.0], dtype=gs.float64))
    ((inputs, outputs),) = seen
    assert len(outputs) == 1 and outputs[0].tolist() == [1.0, 10.0]
    assert len(inputs) == 2 and inputs[0].tolist() == [3.0, 40.0] and inputs[1] is None


# ---- edges


def test_edges_lead_to_a_node_and_to_one_of_its_gradients():
    """R4: several edges may lead to one place, where what they bring is summed."""
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    first, second = x.unbind(0)
    unbind = first.grad_fn
    assert (first * second).grad_fn.next_functions == ((unbind, 0), (unbind, 1))
    square = first * first
    assert square.grad_fn.next_functions == ((unbind, 0), (unbind, 0))
    square.sum().backward()
    assert x.grad.tolist() == [[2.0, 4.0], [0.0, 0.0]]


def test_edges_are_equal_when_both_parts_are():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    first, second = x.unbind(0)
    edges = [
        get_gradient_edge(first),
        get_gradient_edge(first * 1),
        get_gradient_edge(second),
        get_gradient_edge(first),
    ]
    assert edges[0] == edges[3] and len(set(edges)) == 3


def test_a_gradient_edge_names_the_node_and_its_output():
    x = leaf([1.0, 2.0])
    y = x * 2
    assert get_gradient_edge(y) == (y.grad_fn, 0, None)
    assert get_gradient_edge(x).node.variable is x
    parts = leaf([[1.0, 2.0], [3.0, 4.0]]).unbind(0)
    assert get_gradient_edge(parts[1]).output_nr == 1
    assert isinstance(get_gradient_edge(y), GradientEdge)


# ---- numbers


def test_sequence_numbers_grow_with_what_is_recorded():
    """R2: in one series, whatever the thread."""
    x = leaf([1.0])
    numbers = [(x * 2).grad_fn._sequence_nr()]
    thread = threading.Thread(target=lambda: numbers.append((leaf([1.0]) * 2).grad_fn._sequence_nr()))
    thread.start()
    thread.join()
    numbers.append((x * 2).grad_fn._sequence_nr())
    assert numbers[0] < numbers[1] < numbers[2]


def test_sequence_numbers_can_be_lowered_within_the_order_of_the_graph():
    """R2, R23: of two nodes that wait, that with the higher number runs first."""
    x = leaf([1.0, 2.0])
    first, second = x * 1, x * 2
    order = []
    end = first * second
    for t, name in ((first, "first"), (second, "second")):
        t.grad_fn.register_prehook(lambda grads, name=name: order.append(name))
    end.sum().backward(retain_graph=True)
    assert order == ["second", "first"]
    order.clear()
    second.grad_fn._set_sequence_nr(1)
    end.sum().backward()
    assert order == ["first", "second"]
    np.testing.assert_array_equal(x.grad.numpy(), 2 * np.array([4.0, 8.0]))


def test_sequence_numbers_keep_the_order_of_the_graph():
    x = leaf([1.0, 2.0])
    y = x * 1
    z = y * 2
    with pytest.raises(ValueError, match="MulBackward0: sequence number .* would break the order of the graph"):
        z.grad_fn._set_sequence_nr(y.grad_fn._sequence_nr())
    with pytest.raises(ValueError, match="would break the order"):
        y.grad_fn._set_sequence_nr(z.grad_fn._sequence_nr())


def seconds(function, times):
    start = time.perf_counter()
    for _ in range(times):
        function()
    return time.perf_counter() - start


def test_what_lies_below_the_inputs_is_not_walked_over():
    """R3: a gradient close to the root costs the same, however long the graph is below."""
    x = leaf(1.0)
    short = x * 1.0
    long = x
    for _ in range(100_000):
        long = long * 1.0

    def of_the_end(y):
        end = (y * 2).exp()
        return lambda: grad(end, y, retain_graph=True)

    whole = seconds(lambda: grad(long, x, retain_graph=True), 1)
    assert seconds(of_the_end(long), 100) < max(20 * seconds(of_the_end(short), 100), whole)


# ---- names

NAMES = {
    "sum": (lambda x: x.sum(), "SumBackward0"),
    "sum over a dimension": (lambda x: x.sum(0), "SumBackward1"),
    "max": (lambda x: x.max(), "MaxBackward0"),
    "max over a dimension": (lambda x: x.max(0)[0], "MaxBackward1"),
    "product of tensors": (lambda x: x * x, "MulBackward0"),
    "product with a number": (lambda x: x * 2, "MulBackward0"),
    "power": (lambda x: x**x, "PowBackward0"),
    "power of a number": (lambda x: 2**x, "PowBackward0"),
    "several words": (lambda x: x.log_softmax(0), "LogSoftmaxBackward0"),
    "in place": (lambda x: x.clone().exp_(), "ExpBackward0"),
    "written view": (lambda x: write(x.clone()), "CopySlices"),
}


def write(x):
    x[0].mul_(2)
    return x


@pytest.mark.parametrize("what", NAMES)
def test_names_of_nodes(what):
    """R17: overloads are numbered by the table; a number in the place of a tensor makes none of its own."""
    record, name = NAMES[what]
    node = record(leaf([1.0, 2.0])).grad_fn
    assert node.name() == name
    assert repr(node).startswith(f"<{name} object at ")


def test_the_node_is_named_where_a_saved_tensor_was_changed():
    """R14."""
    y = leaf([1.0]).exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="which is output 0 of ExpBackward0"):
        y.sum().backward()


# ---- how many


@pytest.mark.parametrize("join", [gs.cat, gs.stack])
def test_a_node_of_very_many_tensors(join):
    x, n = leaf([1.0]), 100_000
    joined = join([x] * n)
    assert len(joined.grad_fn.next_functions) == n
    (joined.flatten() * gs.arange(n)).sum().backward()
    assert x.grad.tolist() == [n * (n - 1) / 2]


def test_a_node_of_very_many_results():
    x = leaf(np.arange(100_000.0))
    parts = x.unbind()
    (parts[-1] * 3 + parts[65_536] * 2 + parts[0]).backward()
    assert {i: x.grad[i].item() for i in x.grad.nonzero().flatten().tolist()} == {0: 1, 65_536: 2, 99_999: 3}


class Doubles(gs.autograd.Function):
    """Doubles of many tensors; what it saves is chosen by `saved`."""

    saved = slice(0)

    @staticmethod
    def forward(ctx, *tensors):
        results = tuple(t * 2 for t in tensors)
        ctx.save_for_backward(*results[Doubles.saved])
        return results

    @staticmethod
    def backward(ctx, *grads):
        assert all(t.tolist() == [2.0] for t in ctx.saved_tensors)
        return tuple(grad * 2 for grad in grads)


@pytest.mark.long
@pytest.mark.parametrize("saved", [slice(0), slice(3), slice(65_533, 65_536)])
def test_a_custom_function_of_very_many_tensors(saved, monkeypatch):
    monkeypatch.setattr(Doubles, "saved", saved)
    x = leaf([1.0])
    results = Doubles.apply(*[x] * 70_000)
    gs.stack(results).sum().backward()
    assert x.grad.tolist() == [140_000]


@pytest.mark.long
@pytest.mark.parametrize(
    ("saved", "message"),
    [
        (slice(65_536), "at most 65535 tensors can be saved for backward, got 65536"),
        (slice(65_536, 65_537), "only the first 65536 can be saved, got number 65536"),
    ],
)
def test_more_saved_tensors_than_a_node_can_count(saved, message, monkeypatch):
    monkeypatch.setattr(Doubles, "saved", saved)
    with pytest.raises(RuntimeError, match=message):
        Doubles.apply(*[leaf([1.0])] * 65_600)
