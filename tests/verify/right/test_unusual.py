"""Right entries of unusual kinds are proven."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from gradsmith.verify import prove
from tests.verify.in_memory import InMemory

TABLE = Path(__file__).resolve().parent / "unusual.yaml"
TEXT = TABLE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def unusual():
    return InMemory(TEXT, TABLE.name, FUNCTIONS)


def square_of_numbers(array):
    """ValueError for NaN and infinity."""
    return np.square(np.asarray_chkfinite(array))


def filled_at(array, places, value):
    filled = np.array(array)
    filled[..., places] = value
    return filled


def with_rows(array, index, rows):
    written = np.array(array)
    written[index] = rows
    return written


def correlated(array, window):
    """ValueError where the window is longer than the array."""
    return np.einsum("nclk,ock->nol", np.lib.stride_tricks.sliding_window_view(array, window.shape[-1], -1), window)


FUNCTIONS = {function.__name__: function for function in (square_of_numbers, filled_at, with_rows, correlated)}


@pytest.mark.parametrize("base", re.findall(r"(?m)^- name: (\w+)\(", TEXT))
def test_right_entry(unusual, base):
    (row,) = [row for row in unusual.rows if row.base == base]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        proof = prove(row, unusual, unusual.models)
    assert [f"{f.subject} {f.problem} {f.setting}" for f in proof.failures] + proof.missing == []
