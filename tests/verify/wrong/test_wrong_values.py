"""Entries that are wrong beside their samples: each is found, and for the right reason."""

import re
from pathlib import Path

import pytest

from tests.verify.in_memory import InMemory
from tests.verify.wrong.test_wrong_formulas import said_of

TABLE = Path(__file__).resolve().parent / "wrong_values.yaml"
TEXT = TABLE.read_text(encoding="utf-8")
EXPECTED = {base: words for words, base in re.findall(r"(?m)^(?:# (.*)\n)?- name: (\w+)\(", TEXT)}


@pytest.fixture(scope="module")
def wrong():
    return InMemory(TEXT, TABLE.name, {"some_function": lambda array: array * 2})


@pytest.mark.parametrize("base", EXPECTED)
def test_entry(wrong, base):
    found = said_of(wrong, base)
    if EXPECTED[base]:
        assert any(re.search(EXPECTED[base], text) for text in found), "\n".join(found)
    else:
        assert found == []
