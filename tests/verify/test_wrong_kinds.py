"""Entries that are wrong where no usual sample looks are found."""

import re
from pathlib import Path

import pytest

from tests.verify.in_memory import InMemory
from tests.verify.test_wrong_formulas import said_of

TABLE = Path(__file__).resolve().parent / "wrong_kinds.yaml"
TEXT = TABLE.read_text(encoding="utf-8")
EXPECTED = {base: words for words, base in re.findall(r"(?m)^# (.*)\n- name: (\w+)\(", TEXT)}


@pytest.fixture(scope="module")
def wrong():
    return InMemory(TEXT, TABLE.name)


@pytest.mark.parametrize("base", EXPECTED)
def test_entry(wrong, base):
    found = said_of(wrong, base)
    assert any(re.search(EXPECTED[base], text) for text in found), "\n".join(found)


def test_every_entry_is_tried():
    assert len(EXPECTED) == TEXT.count("\n- name: ") >= 70
