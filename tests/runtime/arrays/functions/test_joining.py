"""Concatenating, stacking and flipping."""

import numpy as np
import pytest
from arrays import assert_same, generator

from gradsmith.runtime.arrays.functions import joining


def test_cat_promotes_and_skips_empty_vectors():
    a, b = np.ones((2, 3), np.int64), np.zeros((1, 3), np.float32)
    assert_same(joining.cat_of([a, b], 0), np.concatenate([a, b]).astype(np.float32))
    assert_same(joining.cat_of([np.zeros(0), a.astype(np.float64)], 1), a.astype(np.float64))
    assert_same(joining.cat_of([np.zeros(0)], 0), np.zeros(0))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: joining.cat_of([], 0), ValueError, "non-empty"),
        (lambda: joining.cat_of([np.array(1.0)], 0), RuntimeError, "position 0"),
        (lambda: joining.cat_of([np.zeros((2, 3)), np.zeros((2, 4))], 0), RuntimeError, "tensor number 1"),
        (lambda: joining.cat_of([np.zeros((2, 3)), np.zeros(3)], 0), RuntimeError, "number of dimensions"),
        (lambda: joining.stack_of([], 0), RuntimeError, "non-empty"),
        (lambda: joining.stack_of([np.zeros(2), np.zeros(3)], 0), RuntimeError, r"\[2\] at entry 0 and \[3\] at"),
        (lambda: joining.flip_of(np.zeros((2, 3)), (0, -2)), RuntimeError, "multiple times"),
    ],
)
def test_joining_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_flip_copies():
    array = generator.normal(size=(2, 3))
    found = joining.flip_of(array, (0, 1))
    assert_same(found, array[::-1, ::-1].copy())
    assert not np.shares_memory(found, array)
