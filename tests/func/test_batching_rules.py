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
