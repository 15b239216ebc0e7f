"""Arguments of backward and grad."""

import collections
import inspect
import subprocess
import sys

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import backward, grad
from gradsmith.runtime.custom_function.gradient_edge import GradientEdge
from gradsmith.runtime.tensors import entry_points


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def vector(*values):
    return gs.tensor(values, dtype=gs.float64)


def test_names_of_the_arguments():
    """R41: in PyTorch's order."""
    expected = "tensors grad_tensors retain_graph create_graph grad_variables inputs"
    assert list(inspect.signature(backward).parameters) == expected.split()
    expected = "outputs inputs grad_outputs retain_graph create_graph only_inputs allow_unused is_grads_batched"
    assert list(inspect.signature(grad).parameters) == [*expected.split(), "materialize_grads"]
    y = (leaf(1.0) * 2).sum()
    y.backward(gradient=gs.tensor(1.0), retain_graph=True, create_graph=False, inputs=None)
    y.backward(None, True, False, None)


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({}, False),
        ({"retain_graph": True}, True),
        ({"create_graph": True}, True),
        ({"create_graph": True, "retain_graph": False}, False),
    ],
)
def test_the_graph_is_kept_when_a_graph_of_the_gradient_is_made(arguments, kept):
    """R42."""
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    grad(y, x, **arguments)
    if kept:
        assert grad(y, x)[0].tolist() == [2.0, 4.0]
    else:
        with pytest.raises(RuntimeError, match="a second time"):
            grad(y, x)


# ---- the gradients that a backward begins with


def test_a_gradient_of_ones_is_implied_for_one_element():
    """R43: whatever the number of dimensions."""
    x = leaf(3.0)
    for shape in ((), (1,), (1, 1, 1)):
        assert grad((x * 2).reshape(shape), x)[0].tolist() == [2.0]
    for several in (leaf(1.0, 2.0) * 2, leaf() * 2):
        with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
            several.backward()


@pytest.mark.parametrize("shape", [(), (1,), (1, 2), (2, 1), (3,)])
def test_a_gradient_must_have_the_shape_of_its_output(shape):
    """R44: it is not broadcast."""
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] .* output\[0\] has a shape of \[2\]"):
        (x * 2).backward(gs.ones(shape, dtype=gs.float64))
    assert x.grad is None


def test_a_gradient_is_complex_when_its_output_is():
    """R44; a real one of another dtype is converted."""
    x, z = leaf(1.0, 2.0), gs.tensor([1j, 2.0], dtype=gs.complex128, requires_grad=True)
    for output, given in [(x * 2, gs.tensor([1j, 1.0])), (z * 2, vector(1.0, 1.0))]:
        with pytest.raises(RuntimeError, match="required to have the same dtype"):
            output.backward(given)
    for given in (gs.ones(2), gs.tensor([1, 1]), gs.tensor([True, True])):
        assert grad(x * 2, x, given)[0].tolist() == [2.0, 2.0]
    assert grad(z * 2, z, gs.ones(2, dtype=gs.complex64))[0].dtype == gs.complex128


def test_a_wrong_gradient_is_found_before_anything_runs():
    """R21: also that of the last root."""
    x = leaf(1.0, 2.0)
    y, ran = x * 2, []
    y.register_hook(ran.append)
    one = gs.tensor(1.0, dtype=gs.float64)
    for last, given in [(x.sum(), vector(1.0, 1.0)), (x * 2, None), (gs.ones(()), one), (x.sum(), "one")]:
        with pytest.raises((RuntimeError, TypeError)):
            backward([y, last], [vector(1.0, 1.0), given])
    assert ran == [] and x.grad is None


# ---- inputs


@pytest.mark.parametrize("create_graph", [False, True])
def test_zeros_in_the_place_of_missing_gradients(create_graph):
    """R46, R47: of the input's shape and dtype; they require grad where gradients do."""
    x, unused = leaf(1.0), gs.ones(2, 3, requires_grad=True)
    found = grad((x * x).sum(), [x, unused], create_graph=create_graph, materialize_grads=True)[1]
    assert found.tolist() == [[0.0] * 3] * 2 and found.dtype == gs.float32
    assert found.requires_grad == create_graph


def test_an_output_that_is_an_input():
    x = leaf(1.0, 2.0)
    y = x * 2
    given = vector(1.0, 5.0)
    assert [g.tolist() for g in grad(y, [y, x], given)] == [[1.0, 5.0], [2.0, 10.0]]
    assert grad(leaf(3.0), leaf(4.0), allow_unused=True) == (None,)
    z = leaf(3.0)
    assert grad(z, z)[0].tolist() == [1.0]


def test_inputs_in_a_dict():
    """R45."""
    a, b = leaf(1.0), leaf(2.0)
    y = (a * b).sum()
    found = gs.autograd.grad(y, {"a": a, "b": b}, retain_graph=True)
    assert {name: g.item() for name, g in found.items()} == {"a": 2.0, "b": 1.0}
    y.backward(inputs={"a": a}, retain_graph=True)
    assert a.grad.item() == 2.0 and b.grad is None
    with pytest.raises(TypeError, match="must be a dict, not OrderedDict"):
        gs.autograd.grad(y, collections.OrderedDict(a=a))
    with pytest.raises(RuntimeError, match="cannot be empty"):
        gs.autograd.grad(y, {})


def test_gradient_edges_as_inputs_and_outputs():
    """R45."""
    a = leaf(1.0, 2.0)
    y = a * 2
    z = y * y
    ones = vector(1.0, 1.0)
    edge_y, edge_z = GradientEdge(y.grad_fn, 0), GradientEdge(z.grad_fn, 0)
    edge_a = GradientEdge(y.grad_fn.next_functions[0][0], 0)
    found = gs.autograd.grad(z, [edge_a, edge_y], ones, retain_graph=True)
    np.testing.assert_array_equal(found[0].numpy(), [8.0, 16.0])
    np.testing.assert_array_equal(found[1].numpy(), [4.0, 8.0])
    gs.autograd.backward(edge_z, ones, retain_graph=True)
    np.testing.assert_array_equal(a.grad.numpy(), [8.0, 16.0])
    with pytest.raises(RuntimeError, match="scalar outputs"):
        gs.autograd.grad(edge_z, a)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        gs.autograd.grad(edge_z, a, vector(1.0))
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used"):
        gs.autograd.grad(z, GradientEdge(leaf(1.0).exp().grad_fn, 0), ones, materialize_grads=True, retain_graph=True)


WRONG_EDGES = {
    "a number too large": (
        lambda node: GradientEdge(node, 1),
        IndexError,
        "1 incoming gradients, and none with number 1",
    ),
    "a negative number": (lambda node: GradientEdge(node, -1), IndexError, "none with number -1"),
    "a number that is none": (lambda node: GradientEdge(node, 0.0), TypeError, "must be an int, got float"),
    "no node": (lambda node: GradientEdge("node", 0), TypeError, "must be a Node, got str"),
}


@pytest.mark.parametrize("wrong", WRONG_EDGES)
def test_gradient_edges_that_are_none(wrong):
    """Alone or among others, as output or as input."""
    make, error, message = WRONG_EDGES[wrong]
    a = leaf(1.0)
    y = (a * 2).sum()
    edge = make(y.grad_fn)
    for outputs, inputs in [(edge, a), ([y, edge], a), (y, edge), (y, [a, edge]), (y, {"edge": edge})]:
        with pytest.raises(error, match=message):
            gs.autograd.grad(outputs, inputs, retain_graph=True)
    with pytest.raises(error, match=message):
        y.backward(inputs=edge)
    assert gs.autograd.grad(y, a)[0].tolist() == [2.0]


@pytest.mark.parametrize("junk", [(), (None,), 3, "ab", []])
def test_the_engine_is_asked_about_no_edge(junk):
    with pytest.raises(TypeError, match="a gradient edge is a tuple of a Node and a number|must be a Node"):
        entry_points.expected_gradient(junk)


def test_batched_gradients():
    """R48: as many products as the first dimension says, stacked; also differentiable."""
    a = leaf(1.0, 2.0)
    y = a * a
    batch = gs.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=gs.float64)
    (found,) = gs.autograd.grad(y, a, batch, is_grads_batched=True, retain_graph=True)
    np.testing.assert_array_equal(found.numpy(), [[2.0, 0.0], [0.0, 4.0], [2.0, 4.0]])
    (found,) = gs.autograd.grad(y, a, batch, is_grads_batched=True, create_graph=True)
    (second,) = gs.autograd.grad(found.sum(), a, retain_graph=True)
    np.testing.assert_array_equal(second.numpy(), [4.0, 4.0])
    unused = leaf(3.0)
    assert gs.autograd.grad(y, unused, batch, is_grads_batched=True, allow_unused=True, retain_graph=True) == (None,)
    with pytest.raises(RuntimeError, match="batch dimension"):
        gs.autograd.grad(y, a, vector(1.0, 0.0), is_grads_batched=True)
    with pytest.raises(ValueError, match="same batch size"):
        gs.autograd.grad([y, y], a, [batch, batch[:2]], is_grads_batched=True)
    with pytest.raises(ValueError, match="a batch of vectors"):
        gs.autograd.grad(y.sum(), a, is_grads_batched=True)
    with pytest.raises(IndexError, match="at least one"):
        gs.autograd.grad(y, a, batch[:0], is_grads_batched=True)


def test_deprecated_arguments():
    """R41."""
    a = leaf(1.0)
    y = (a * 2).sum()
    one = gs.tensor(1.0, dtype=gs.float64)
    with pytest.warns(FutureWarning, match="only_inputs"):
        gs.autograd.grad(y, a, only_inputs=False, retain_graph=True)
    with pytest.warns(FutureWarning, match="grad_variables"):
        gs.autograd.backward(y, grad_variables=one, retain_graph=True)
    assert a.grad.item() == 2.0
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="both passed"):
        gs.autograd.backward(y, one, grad_variables=one)


def test_too_many_gradients_are_an_error():
    a = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        gs.autograd.backward([a * 2], [vector(1.0, 1.0), vector(1.0, 1.0)])


# ---- what a leaf says of its gradient


def test_grad_dtype():
    """R66: gradients are converted to it, and what is assigned must have it."""
    a = gs.tensor([1.0, 2.0], requires_grad=True)
    assert a.grad_dtype == gs.float32
    a.grad_dtype = gs.float64
    (a * 2).sum().backward()
    assert a.grad.dtype == gs.float64
    with pytest.raises(RuntimeError, match="already a gradient"):
        a.grad_dtype = gs.float32
    a.grad = None
    with pytest.raises(RuntimeError, match="grad_dtype float64"):
        a.grad = gs.ones(2)
    assert gs.autograd.grad((a * 2).sum(), a)[0].dtype == gs.float64
    a.grad_dtype = None
    assert a.grad_dtype is None
    a.grad = gs.ones(2, dtype=gs.float16)
    with pytest.raises(RuntimeError, match="leaf tensors"):
        (a * 2).grad_dtype = gs.float64
    with pytest.raises(RuntimeError, match="must be a dtype or None"):
        a.grad_dtype = 3


def test_any_grad_dtype():
    """R66: gradients stay as they come, but those of real numbers are real."""
    a = gs.tensor([1.0, 2.0], requires_grad=True)
    a.grad_dtype = None
    (found,) = gs.autograd.grad((a * vector(3.0, 4.0)).sum(), a)
    assert found.dtype == gs.float64
    z = (a * gs.tensor([2 + 1j, 3j], dtype=gs.complex64)).sum()
    (found,) = gs.autograd.grad(z, a, gs.tensor(1 + 0j, dtype=gs.complex64))
    assert found.dtype == gs.float32 and found.tolist() == [2.0, 0.0]
    a.grad = vector(1.0, 1.0)
    (a * 2).sum().backward()
    assert a.grad.dtype == gs.float64 and a.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("given", [None, gs.float32, gs.float64])
@pytest.mark.parametrize("grad_dtype", [gs.float16, gs.float32, gs.float64, None])
def test_grad_dtype_of_a_leaf_that_is_a_root(grad_dtype, given):
    a = gs.tensor(1.0, requires_grad=True)
    a.grad_dtype = grad_dtype
    gradient = None if given is None else gs.tensor(1.0, dtype=given)
    expected = grad_dtype or given or gs.float32
    assert gs.autograd.grad(a, a, gradient)[0].dtype == expected
    a.backward(gradient)
    assert a.grad.dtype == expected


def test_grad_dtype_must_have_fractions():
    a = gs.tensor(1.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad_dtype must be floating point or complex, but got int64"):
        a.grad_dtype = gs.int64
    assert a.grad_dtype == gs.float32


def test_layout_of_gradients():
    """R131, R136: as the leaf where it is dense, by rows where it has gaps, as they come where nobody minds."""
    dense = gs.tensor(np.ones((4, 3))).T.detach().requires_grad_()
    given = gs.ones(3, 4, dtype=gs.float64)
    (dense * 2).backward(given)
    assert dense.grad.numpy().strides == dense.detach().numpy().strides
    gaps = gs.from_numpy(np.ones((4, 6)))[:, ::2].T.detach().requires_grad_()
    (gaps * 2).backward(given)
    assert gaps.grad.numpy().flags.c_contiguous
    with gs.autograd.enforce_grad_layout_policy(False):
        dense.grad = None
        (dense * 2).backward(given)
        assert dense.grad.numpy().flags.c_contiguous


def test_layout_of_gradients_of_another_dtype():
    x = gs.tensor(np.ones((4, 3), np.float32)).T.detach().requires_grad_()
    x.grad_dtype = gs.float64
    for _ in range(2):
        (x * 2).backward(gs.ones(3, 4))
        assert x.grad.numpy().flags.f_contiguous and x.grad.dtype == gs.float64


@pytest.mark.filterwarnings("ignore:Using backward")
def test_layout_of_gradients_with_a_graph():
    """R131: also copies that can be differentiated."""
    given = gs.ones(3, 4, dtype=gs.float64)
    dense = gs.tensor(np.ones((4, 3))).T.detach().requires_grad_()
    gaps = gs.from_numpy(np.ones((4, 6)))[:, ::2].T.detach().requires_grad_()
    for x, y in ((dense, gaps), (gaps, dense)):
        (x * x * y).backward(given.T.contiguous().T, create_graph=True)
        x.grad = y.grad = None
        (x * x * y).backward(given, create_graph=True)
    assert dense.grad.detach().numpy().flags.f_contiguous and gaps.grad.detach().numpy().flags.c_contiguous
    (second,) = gs.autograd.grad(gaps.grad.sum(), dense)
    np.testing.assert_array_equal(second.numpy(), np.full((3, 4), 2.0))


SUMS_IN_ANOTHER_LAYOUT = """
import warnings
import numpy as np
import gradsmith as gs

def backward(mode):
    x = gs.tensor(np.ones((4, 3))).T.detach().requires_grad_()
    x.grad = gs.zeros(3, 4, dtype=gs.float64)
    with warnings.catch_warnings(record=True) as caught, gs.autograd.enforce_grad_layout_policy(mode):
        warnings.simplefilter("always")
        (x * 2).sum().backward()
    assert x.grad.stride() == (4, 1) and x.grad.sum().item() == 24
    return [str(warning.message) for warning in caught]

assert backward(False) == []
(text,) = backward(True)
assert "do not obey the gradient layout contract" in text
assert "of size [3, 4], has strides [4, 1] and its leaf [1, 3]" in text
assert backward(True) == []
"""


def test_sums_in_another_layout_are_warned_of_once():
    """R136: once in the life of a process, and never where nobody minds."""
    subprocess.run([sys.executable, "-c", SUMS_IN_ANOTHER_LAYOUT], check=True)


@pytest.mark.parametrize("base", [gs.ones(2, 3, requires_grad=True), gs.ones(2, 3, requires_grad=True) * 2])
def test_a_view_made_without_recording_is_no_root(base):
    """It requires grad as its base does, but there is no node for a gradient of it: PyTorch refuses too."""
    with gs.no_grad():
        views = base.view(6), base[0], base[0, 0]
    for view in views:
        assert view.requires_grad and view.is_leaf
        ones = gs.ones(view.shape)
        with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
            view.backward(ones)
        with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
            grad(view, view, ones)
        with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
            backward([base.sum(), view], [None, ones])
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        views[2].backward()
    asked = views[1].requires_grad_()
    asked.backward(gs.ones(3))
    assert asked.grad.tolist() == [1, 1, 1]
