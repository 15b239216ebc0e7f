"""Cases of batching rules that the table's samples do not reach; `make verify` proves the rest."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func


def test_gradient_of_a_product_with_a_zero_in_one_slice():
    x = gs.tensor([[0.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert func.vmap(func.grad(gs.prod))(x).tolist() == [[6.0, 0.0, 0.0], [6.0, 3.0, 2.0]]


def test_errors_speak_of_the_slice():
    x, index = gs.ones((2, 3, 4)), gs.tensor(np.full((2, 1, 4), 3))
    with pytest.raises(RuntimeError, match="index 3 is out of bounds for dimension 0 with size 3"):
        func.vmap(lambda v, i: v.gather(0, i))(x, index)


def test_a_write_that_fails_changes_nothing():
    x, index = gs.ones((2, 3)), gs.tensor([[0], [3]])
    with pytest.raises(RuntimeError, match="dimension 0 with size 3"):
        func.vmap(lambda v, i: v.scatter_(0, i, 5.0))(x, index)
    assert x.tolist() == [[1.0] * 3] * 2


def test_strides_of_slices_show_their_memory():
    x = gs.tensor(np.arange(8.0).reshape(2, 4))
    assert func.vmap(lambda v: v.as_strided((2,), (3,)))(x).tolist() == [[0.0, 3.0], [4.0, 7.0]]
    with pytest.raises(RuntimeError, match="reach beyond"):
        func.vmap(lambda v: v.as_strided((2,), (4,)))(x)


VIEWS = {
    "whole": lambda x: x,
    "rows": lambda x: x[1:],
    "columns": lambda x: x[:, 1:].t(),
    "corner": lambda x: x[1:, 2:],
    "diagonal": lambda x: x.diagonal(1),
    "imaginary parts": lambda x: gs.complex(x, x + 1).imag,
    "pairs": lambda x: gs.view_as_real(gs.complex(x, x + 1)[1:].mT),
}


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_begin_where_those_of_the_first_slice_do(view, size):
    def again(x):
        shown = view(x * 2)
        return shown.as_strided(shown.shape, shown.stride(), shown.storage_offset())

    def replaced(x):
        shown = view(x * 2)
        part = shown.as_strided(shown.shape, shown.stride(), shown.storage_offset())
        part.mul_(part.detach() + 1)
        return gs.as_strided_scatter(shown, shown[:1] * 3, shown[:1].shape, shown.stride(), shown.storage_offset())

    x = gs.tensor(np.arange(24.0).reshape(2, 3, 4))[:size]
    for function in (again, replaced):
        assert func.vmap(function)(x).equal(gs.stack([function(one) for one in x]))
        slopes = func.grad(lambda one, function=function: (function(one) ** 2).sum())
        assert func.vmap(slopes)(x).equal(gs.stack([slopes(one) for one in x]))


def test_embedding_of_infinite_rows_in_a_batch():
    """The parts that leave padding out of the gradient have no inf - inf in the value."""
    tables = gs.tensor([[[np.inf, 1.0], [2.0, np.nan]], [[0.0, -np.inf], [3.0, 4.0]]])
    places = gs.tensor([1, 0, 1])
    for arguments in ({"padding_idx": 1}, {"scale_grad_by_freq": True}, {"padding_idx": 0, "scale_grad_by_freq": True}):
        found = gs.func.vmap(lambda table, given=arguments: gs.nn.functional.embedding(places, table, **given))(tables)
        np.testing.assert_array_equal(found.numpy(), tables.numpy()[:, [1, 0, 1]])


def test_ignored_classes_have_no_gradient_where_it_is_nan():
    scores, target = gs.zeros(2, 3, 4), gs.tensor([[0, -100, 1]] * 2)

    def gradient(x, classes):
        _, pulled = gs.func.vjp(lambda y: gs.nn.functional.nll_loss(y, classes, reduction="none"), x)
        return pulled(gs.tensor([1.0, np.nan, 2.0]))[0]

    expected = np.zeros((3, 4))
    expected[0, 0], expected[2, 1] = -1, -2
    np.testing.assert_array_equal(gs.func.vmap(gradient)(scores, target).numpy(), [expected] * 2)
