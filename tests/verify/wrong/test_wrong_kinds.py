"""Entries that are wrong where no usual sample looks are found."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.verify.in_memory import InMemory
from tests.verify.wrong.test_wrong_formulas import said_of

TABLE = Path(__file__).resolve().parent / "wrong_kinds.yaml"
TEXT = TABLE.read_text(encoding="utf-8")
EXPECTED = {base: words for words, base in re.findall(r"(?m)^# (.*)\n- name: (\w+)\(", TEXT)}


@pytest.fixture(scope="module")
def wrong():
    return InMemory(TEXT, TABLE.name, FUNCTIONS)


def read_expanded(array):
    """Wrong where a dimension has no stride."""
    return np.array(array) + (0 in array.strides and array.size > 1)


def read_backwards(array):
    """Wrong where a stride is negative."""
    return np.array(array) + any(stride < 0 for stride in array.strides)


def multiplied(arrays):
    """Wrong where both have the same memory."""
    one, other = arrays
    return one * other + np.may_share_memory(one, other)


def with_rows(array, index, rows):
    written = np.array(array)
    written[index] = rows
    return written


def multiples(array, count):
    return [array * (k + 1) for k in range(count)]


FUNCTIONS = {
    function.__name__: function for function in (read_expanded, read_backwards, multiplied, multiples, with_rows)
}


@pytest.mark.parametrize("base", EXPECTED)
def test_entry(wrong, base):
    found = said_of(wrong, base)
    assert any(re.search(EXPECTED[base], text) for text in found), "\n".join(found)


def test_every_entry_is_tried():
    assert len(EXPECTED) == TEXT.count("\n- name: ") >= 89
