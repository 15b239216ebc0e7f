"""Tests of all ops, by the rows of the op table: forms of calls, dtypes, values, and modes that they run in."""

import sys
from pathlib import Path

import pytest

from gradsmith.verify.case import Setting
from gradsmith.verify.samples import Case, key_of

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture
def any_gradient():
    """For tests that take any gradient of any op: complex eigenvectors need not be told of their phase."""
    from gradsmith.autograd import allow_phase_dependence

    with allow_phase_dependence():
        yield


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items):
    """`make test` tries an op with the first of the samples that a test has of it, `make test-all` with all."""
    tried = set()
    for item in items:
        values = list(item.callspec.params.values()) if hasattr(item, "callspec") else []
        rows = [key_of(case.row) for case in map(case_of, values) if case]
        if rows:
            place = item.nodeid.partition("[")[0], *rows, *(repr(value) for value in values if not case_of(value))
            if place in tried:
                item.add_marker(pytest.mark.long)
            tried.add(place)


def case_of(value):
    """The sample that a parameter of a test stands for, if it does."""
    case = value.case if isinstance(value, Setting) else value
    return case if isinstance(case, Case) else None
