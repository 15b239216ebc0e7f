"""The rows of the op table that can be called, and their samples."""

from gradsmith.generated.op_table import OPS
from gradsmith.verify.samples import cases_of, key_of

CALLABLE = [row for row in OPS if row.forms]
CASES = [case for row in CALLABLE for case in cases_of(row)]
DIFFERENTIABLE = [case for case in CASES if case.inputs]


def writes(row):
    """Does the op have a form that writes into its first argument? In place, a view op writes nothing."""
    return row.base.endswith("_") or ("inplace" in row.forms and not row.is_view)


def cases_by_row(cases):
    """Rows with their cases, for tests that go over the samples of a row themselves."""
    grouped = {}
    for case in cases:
        grouped.setdefault(key_of(case.row), []).append(case)
    return grouped
