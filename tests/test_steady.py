"""The count of what repetitions leave behind sees a leak, and takes Python's cache of attributes for none."""

import sys

import pytest
from steady import assert_steady, counts


def test_objects_left_behind_are_a_leak():
    left = []

    with pytest.raises(AssertionError, match="more after each 60 repetitions"):
        assert_steady(lambda: left.append(object()), times=60, warm_up=10)


def test_names_looked_up_are_forgotten():
    name = f"name{id(sys)}"
    before = sys.getrefcount(name)

    assert not hasattr(object, name)
    counts(forget_names=True)

    assert sys.getrefcount(name) == before
