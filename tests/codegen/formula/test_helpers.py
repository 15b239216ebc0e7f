"""Helpers that formulas may call, which all modules of runtime/formulas have together."""

from collections import Counter

from codegen.formula.callees import helpers


def test_each_has_a_name_of_its_own() -> None:
    """Of two with one name a formula would get the one that is found first."""
    names = Counter(helper.c_entry for helper in helpers())
    assert len(names) > 100
    assert [name for name, count in names.items() if count > 1] == []
