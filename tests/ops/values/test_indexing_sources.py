"""Which sources scatter takes: of as many dimensions as the index, a number, one element for one index."""

import pytest

import gradsmith as gs
from gradsmith.autograd import grad

ROW = [[0, 1, 2, 0]]


@pytest.mark.parametrize("more", [{}, {"reduce": "add"}], ids=["replaced", "added"])
def test_a_tensor_without_dimensions_is_no_number(more):
    with pytest.raises(RuntimeError, match=r"src of size \[\] does not cover the index of size \[1, 4\]"):
        gs.scatter(gs.zeros(3, 4), 0, gs.tensor(ROW), gs.tensor(1.1), **more)


@pytest.mark.parametrize(("index", "src"), [(0, [2.0]), ([0], 2.0), ([0], [2.0])])
def test_one_element_for_one_index(index, src):
    x, source = gs.zeros(3, requires_grad=True), gs.tensor(src, requires_grad=True)
    result = gs.scatter(x, 0, gs.tensor(index), source)
    assert result.tolist() == [2, 0, 0]
    of_x, of_source = grad(result.sum(), (x, source))
    assert of_x.tolist() == [0, 1, 1]
    assert of_source.shape == source.shape and of_source.sum().item() == 1
