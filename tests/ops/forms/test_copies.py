"""``permute_copy`` and the like: the values and derivatives of the view, in memory of their own."""

import numpy as np
import pytest
from table import CASES

import gradsmith as gs
from gradsmith.autograd import forward_ad, grad
from gradsmith.verify.calls import call, call_function, outputs_of
from gradsmith.verify.samples import as_tensors

COPIED = [case for case in CASES if "copy" in case.row.forms]
DIFFERENTIABLE = [case for case in COPIED if not case.row.stops_gradient]


def ids(cases):
    return [case.id for case in cases]


def copies_of(case, tensors, name=None):
    return call_function(case.row, tensors, name=f"{name or case.row.base}_copy")


def test_pytorch_has_these_too():
    """The views of PyTorch that are views here, by `torch.<name>_copy`.

    `narrow_copy` is an entry of its own, for in PyTorch it is a method too; so are `alias_copy` and `slice_copy`, for
    there are no views of these names.
    """
    assert {case.row.base for case in COPIED} == {
        "as_strided", "detach", "diagonal", "expand", "permute", "select", "split", "split_with_sizes",
        "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view", "view_as_complex", "view_as_real",
    }  # fmt: skip


@pytest.mark.parametrize("case", COPIED, ids=ids(COPIED))
def test_the_same_values_in_other_memory(case):
    tensors = as_tensors(case.values())
    copies, views = copies_of(case, tensors), call(case.row, tensors)
    assert type(copies) is type(views)
    for copy, view in zip(outputs_of(copies), outputs_of(views), strict=True):
        assert not view.numel() or np.shares_memory(view.numpy(), tensors["self"].numpy())
        assert not np.shares_memory(copy.numpy(), tensors["self"].numpy())
        assert copy.numpy().flags.writeable and not copy._is_view()
        assert copy.dtype == view.dtype
        np.testing.assert_array_equal(copy.numpy(), view.numpy())


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=ids(DIFFERENTIABLE))
def test_the_same_gradient(case):
    def gradient(function):
        tensors = as_tensors(case.values())
        x = tensors["self"].requires_grad_()
        results = outputs_of(function({**tensors, "self": x}))
        return grad(sum((part * part.conj()).real.sum() for part in results), x)[0].numpy()

    expected = gradient(lambda tensors: call(case.row, tensors))
    np.testing.assert_array_equal(gradient(lambda tensors: copies_of(case, tensors)), expected)


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=ids(DIFFERENTIABLE))
def test_the_same_tangent(case):
    def tangents(function):
        tensors = as_tensors(case.values())
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(tensors["self"], tensors["self"].clone() * 3)
            return [
                forward_ad.unpack_dual(part).tangent.numpy() for part in outputs_of(function({**tensors, "self": dual}))
            ]

    expected = tangents(lambda tensors: call(case.row, tensors))
    for found, wanted in zip(tangents(lambda tensors: copies_of(case, tensors)), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_writing_a_copy_leaves_the_input():
    x = gs.zeros(2, 3)
    gs.transpose_copy(x, 0, 1).fill_(1)
    for part in gs.split_copy(x, 1):
        part.fill_(1)
    assert x.sum().item() == 0 and x._version == 0


def test_a_copy_has_every_spelling():
    x = gs.tensor([[1.0, 2.0]])
    assert gs.swapdims_copy(x, 0, 1).tolist() == [[1], [2]]
    assert gs.split_copy(x, (1, 1), dim=1)[1].tolist() == [[2]]
    assert gs.squeeze_copy(x).tolist() == gs.squeeze_copy(x, axis=0).tolist() == [1, 2]
    assert not hasattr(x, "transpose_copy")


def test_the_copy_of_a_detached_tensor_has_no_history():
    x = gs.ones(2, requires_grad=True)
    assert not gs.detach_copy(x).requires_grad


def test_errors_name_the_copy():
    with pytest.raises(TypeError, match="transpose_copy"):
        gs.transpose_copy(gs.ones(2, 2), 0, "x")


@pytest.mark.parametrize("x", [gs.ones(3), gs.ones(4)[1:], gs.ones(4)[::2], gs.ones(2, 3)])
def test_ravel_is_never_the_tensor_itself(x):
    """Unlike `flatten`, as in PyTorch: ``contiguous().view(-1)``."""
    flat = x.ravel()
    assert flat is not x
    assert gs.ravel(x).tolist() == flat.tolist() == x.flatten().tolist()
    assert x.requires_grad_().ravel().grad_fn.name().startswith("View")


@pytest.mark.parametrize("x", [gs.ones(2, 3).t(), gs.ones(1).expand(4), gs.ones(8)[::2]])
def test_ravel_copies_what_does_not_lie_by_rows(x):
    """Also where a view would do, as for the expanded tensor; made without recording, the copy has no history."""
    x = x.detach().requires_grad_()
    flat = x.ravel()
    assert flat.is_contiguous() and flat.data_ptr() != x.data_ptr()
    flat.sum().backward()
    assert x.grad.tolist() == gs.ones(*x.shape).tolist()
    with gs.no_grad():
        assert not x.ravel().requires_grad


def test_copies_of_views_without_a_name():
    x = gs.arange(6.0).reshape(2, 3).requires_grad_()
    for copy, wanted in (
        (gs.alias_copy(x), x),
        (gs.slice_copy(x), x),
        (gs.slice_copy(x, 1, -2), x[:, -2:]),
        (gs.slice_copy(x, -1, 0, 3, 2), x[:, ::2]),
        (gs.slice_copy(x, 0, 5), x[5:]),
        (gs.slice_copy(x, 0, None, -9), x[:-9]),
    ):
        np.testing.assert_array_equal(copy.detach().numpy(), wanted.detach().numpy())
        assert not copy._is_view() and copy.requires_grad
        assert not np.shares_memory(copy.detach().numpy(), x.detach().numpy())
    gs.slice_copy(x, 1, 1).sum().backward()
    assert x.grad.tolist() == [[0, 1, 1]] * 2
    with pytest.raises(RuntimeError, match="slice_copy.*step must be positive"):
        gs.slice_copy(x, 0, 0, 1, 0)
    pairs = gs.tensor([[1.0, 2.0]])
    assert gs.view_as_complex_copy(pairs).tolist() == [1 + 2j]


@pytest.mark.parametrize(
    ("cut", "sizes"),
    [
        (lambda x: x.unsafe_split(2), [2, 2, 1]),
        (lambda x: gs.unsafe_split_with_sizes(x, [1, 4]), [1, 4]),
        (lambda x: x.unsafe_chunk(2), [3, 2]),
        (lambda x: gs.unsafe_split(x, 7), [5]),
    ],
)
def test_parts_that_may_be_changed_in_place(cut, sizes):
    """Of `split` and `chunk` they may not; the gradient goes through the change."""
    leaf = gs.arange(5.0, requires_grad=True)
    x = leaf * 1
    parts = cut(x)
    assert [len(part) for part in parts] == sizes
    parts[0].mul_(3)
    assert x[: sizes[0]].tolist() == [3.0 * i for i in range(sizes[0])]
    x.sum().backward()
    assert leaf.grad.tolist() == [3.0] * sizes[0] + [1.0] * (5 - sizes[0])


def test_parts_of_impossible_lengths():
    for cut, text in (
        (lambda x: x.unsafe_split(0), "split_size must be positive"),
        (lambda x: x.unsafe_split_with_sizes([1, 1]), "sum to the size of the dimension"),
        (lambda x: x.unsafe_chunk(0), "greater than 0"),
        (lambda x: gs.tensor(1.0).unsafe_split(1), "1-dimensional"),
    ):
        with pytest.raises(RuntimeError, match=text):
            cut(gs.ones(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.take(gs.tensor(0)),
        lambda x: gs.take(x, gs.tensor(-1)),
        lambda x: (x > 0).all(dim=()),
        lambda x: x.bool().any(dim=()),
        lambda x: gs.pixel_shuffle(x.reshape(1, 1, 1, 1), 1),
        lambda x: gs.pixel_shuffle(x.expand(1, 4, 1, 1), 2),
        lambda x: gs.pixel_unshuffle(x.reshape(1, 1, 1), 1),
    ],
)
def test_results_that_are_no_views_have_memory_of_their_own(call):
    for x in (gs.tensor(3.0), gs.tensor(True)):
        found = call(x)
        found.zero_()
        assert x.item() == (3.0 if x.is_floating_point() else 1)
