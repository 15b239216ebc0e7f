"""Wrong formulas of many kinds, and samples that show too little: each is found, and for the right reason."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from gradsmith.verify import prove
from tests.verify.in_memory import InMemory

TABLE = Path(__file__).resolve().parent / "wrong_formulas.yaml"
TEXT = TABLE.read_text(encoding="utf-8")
EXPECTED = {base: words for words, base in re.findall(r"(?m)^(?:# (.*)\n)?- name: (\w+)\(", TEXT)}
COMPILED = (TABLE.parent / "wrong.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wrong():
    return InMemory(TEXT, TABLE.name)


def said_of(table, base):
    (row,) = [row for row in table.rows if row.base == base]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        proof = prove(row, table, table.models)
    return [f"{f.subject} {f.problem} {f.setting}" for f in proof.failures] + proof.missing


@pytest.mark.parametrize("base", EXPECTED)
def test_entry(wrong, base):
    found = said_of(wrong, base)
    if EXPECTED[base]:
        assert any(re.search(EXPECTED[base], text) for text in found), "\n".join(found)
    else:
        assert [text for text in found if "number of dimensions" not in text] == []


def test_there_are_a_hundred_ways_to_be_wrong():
    kinds = set(re.findall(r"(?m)^# .*\n- name: (\w+)\(", TEXT + COMPILED))
    assert len(kinds) >= 130


def entries(text, *bases):
    """The table with these entries alone."""
    blocks = re.split(r"\n\n(?=(?:# .*\n)?- name|\w+:\n)", text)
    return "wrong:\n\n" + "\n\n".join(block for block in blocks if re.search(rf"- name: ({'|'.join(bases)})\(", block))


AGREE = ("factor", "missing_conj", "second_order", "conj_in_tangent", "tie_policy", "right_product", "right_extremum")


def test_compiled_and_in_memory_the_same_is_said():
    """The compiled entries of test_wrong.py get the same messages, where both tests have the entry."""
    table = InMemory(entries(COMPILED, *AGREE), "wrong.yaml")
    expected = {base: words for words, base in re.findall(r"(?m)^(?:# (.*)\n)?- name: (\w+)\(", COMPILED)}
    for base in AGREE:
        found = said_of(table, base)
        if expected[base]:
            assert any(re.search(expected[base], text) for text in found), base
        else:
            assert not found, base
