"""Tensors that a node keeps for an index are checked for changes in place, as everything it saves.

Each form was tried with PyTorch 2.13, which raises for every one of them.
"""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F

MODIFIED = "modified by an inplace operation"


def matrix():
    return gs.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], requires_grad=True)


def rows():
    return gs.tensor([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]], requires_grad=True)


def put(key, value):
    def write(x, i):
        y = x.clone()
        y[key(i)] = value
        return y

    return write


def written_through_a_view(x, i):
    y = x.clone()
    y[0][i] = 5.0
    return y


INTEGERS, GRID, MASK, MASK_OF_ALL = [0, 1], [[0, 1, 0]], [True, False, True], [[True, False, True]] * 3
FORMS = {
    "x[i]": (lambda x, i: x[i], INTEGERS),
    "x[i, i]": (lambda x, i: x[i, i], INTEGERS),
    "x[:, i]": (lambda x, i: x[:, i], INTEGERS),
    "x[0, i]": (lambda x, i: x[0, i], INTEGERS),
    "x[None, i]": (lambda x, i: x[None, i], INTEGERS),
    "x[i, 1:]": (lambda x, i: x[i, 1:], INTEGERS),
    "x[..., i]": (lambda x, i: x[..., i], INTEGERS),
    "x[i of two dimensions]": (lambda x, i: x[i], GRID),
    "x[view of i]": (lambda x, i: x[i.view(-1)], GRID),
    "x[mask]": (lambda x, i: x[i], MASK),
    "x[:, mask]": (lambda x, i: x[:, i], MASK),
    "x[mask, 0]": (lambda x, i: x[i, 0], MASK),
    "x[mask of all]": (lambda x, i: x[i], MASK_OF_ALL),
    "x[i] = number": (put(lambda i: i, 5.0), INTEGERS),
    "x[i] = rows": (put(lambda i: i, rows()), INTEGERS),
    "x[:, i] = number": (put(lambda i: (slice(None), i), 5.0), INTEGERS),
    "x[0, i] = number": (put(lambda i: (0, i), 5.0), INTEGERS),
    "x[i, i] = number": (put(lambda i: (i, i), 5.0), INTEGERS),
    "x[mask] = number": (put(lambda i: i, 5.0), MASK),
    "x[mask] = rows": (put(lambda i: i, rows()), MASK),
    "x[0][i] = number": (written_through_a_view, INTEGERS),
    "index": (lambda x, i: x.index((i,)), INTEGERS),
    "index_put": (lambda x, i: x.index_put((i,), rows()), INTEGERS),
    "index_put of two": (lambda x, i: x.index_put((i, i), rows()[0, :2]), INTEGERS),
    "index_put accumulating": (lambda x, i: x.index_put((i,), rows(), accumulate=True), INTEGERS),
    "index_put of a mask": (lambda x, i: x.index_put((i,), rows()), MASK),
    "index_put_": (lambda x, i: x.clone().index_put_((i,), rows()), INTEGERS),
    "gather": (lambda x, i: x.gather(0, i), GRID),
    "scatter": (lambda x, i: x.scatter(0, i, 5.0), GRID),
    "scatter_": (lambda x, i: x.clone().scatter_(0, i, 5.0), GRID),
    "scatter_add": (lambda x, i: x.scatter_add(0, i, rows()), GRID),
    "index_select": (lambda x, i: x.index_select(0, i), INTEGERS),
    "index_add": (lambda x, i: x.index_add(0, i, rows()), INTEGERS),
    "index_add_": (lambda x, i: x.clone().index_add_(0, i, rows()), INTEGERS),
    "masked_fill": (lambda x, i: x.masked_fill(i, 0.0), MASK),
    "masked_fill_": (lambda x, i: x.clone().masked_fill_(i, 0.0), MASK),
    "masked_select": (lambda x, i: x.masked_select(i), MASK),
    "where": (lambda x, i: gs.where(i, x, 2 * x), MASK),
    "nll_loss": (lambda x, i: F.nll_loss(x, i), [0, 1, 2]),
    "cross_entropy": (lambda x, i: F.cross_entropy(x, i), [0, 1, 2]),
    "a gradient": (lambda x, i: gs.autograd.grad((x[i] ** 2).sum(), x, create_graph=True)[0], INTEGERS),
}
CHANGES = {
    "fill_": lambda i: i.fill_(0),
    "assignment": lambda i: i.__setitem__(0, 1),
    "through a view": lambda i: i[..., :1].zero_(),
    "out=": lambda i: gs.eq(i, i, out=i) if i.dtype.kind == "b" else gs.add(i, i, out=i),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", FORMS)
def test_an_index_that_was_changed(form, change):
    call, data = FORMS[form]
    index = gs.tensor(data)
    y = call(matrix(), index)
    CHANGES[change](index)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


@pytest.mark.parametrize("form", FORMS)
def test_an_index_that_is_as_it_was(form):
    call, data = FORMS[form]
    index = gs.tensor(data)
    call(matrix(), index).sum().backward()
    index.zero_()


def test_the_index_is_what_is_named():
    i = gs.tensor([0, 1])
    y = matrix()[i]
    i.fill_(2)
    with pytest.raises(RuntimeError, match=r"int64 tensor of shape \[2\].*saved by IndexBackward0.*expected version 0"):
        y.sum().backward()


def test_a_version_counts_only_from_the_save_on():
    i = gs.tensor([2, 2])
    i.fill_(1)
    x = matrix()
    x[i].sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[0, 0, 0], [2, 2, 2], [0, 0, 0]])


# ---- what belongs to the caller

OWN = {
    "array": lambda: np.array([0, 1]),
    "list": lambda: [0, 1],
    "mask": lambda: np.array([True, True, False]),
    "list of bools": lambda: [True, True, False],
}


@pytest.mark.parametrize("kind", OWN)
def test_arrays_and_lists_are_copied(kind):
    index, x = OWN[kind](), matrix()
    y = x[index]
    index[0] = 2 if kind in ("array", "list") else False
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[1, 1, 1], [1, 1, 1], [0, 0, 0]])


@pytest.mark.parametrize("kind", OWN)
def test_arrays_and_lists_to_write_to_are_copied(kind):
    index, x, values = OWN[kind](), matrix(), rows()
    y = x.clone()
    y[index] = values
    index[0] = 2 if kind in ("array", "list") else False
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[0, 0, 0], [0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(values.grad.numpy(), np.ones((2, 3)))


def test_a_list_inside_the_index_of_a_function_is_copied():
    inner, x = [0, 1], matrix()
    y = gs.index(x, (inner,))
    inner[0] = 2
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[1, 1, 1], [1, 1, 1], [0, 0, 0]])


def test_a_mask_without_dimensions_is_copied():
    mask, x = gs.tensor(True), matrix()
    y = x[mask]
    mask.fill_(False)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.ones((3, 3)))


# ---- saved like any tensor


def test_hooks_pack_an_index():
    x, i, packed = matrix(), gs.tensor([0, 1]), []

    def pack(t):
        packed.append(t.dtype)
        return t.clone()

    with gs.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = x[i]
    i.fill_(2)
    y.sum().backward()
    assert packed == [np.dtype("int64")]
    np.testing.assert_array_equal(x.grad.numpy(), [[1, 1, 1], [1, 1, 1], [0, 0, 0]])


def test_an_inference_tensor_is_no_index_of_what_is_recorded():
    with gs.inference_mode():
        i = gs.tensor([0, 1])
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        matrix()[i]
    assert matrix().detach()[i].shape == (2, 3)


def test_what_is_saved_of_an_index_can_be_looked_at_until_it_is_freed():
    i = gs.tensor([0, 1])
    y = matrix()[:, i]
    saved = y.grad_fn._saved_index
    assert saved[0] == slice(None)
    assert saved[1] is i
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        _ = y.grad_fn._saved_index


def test_mutation_can_be_allowed():
    x, i = matrix(), gs.tensor([0, 2])
    with gs.autograd.graph.allow_mutation_on_saved_tensors():
        y = x[i]
        i.zero_()
        y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[1, 1, 1], [0, 0, 0], [1, 1, 1]])
