"""Proofs of the whole table, made once, on all cores; `make verify` keeps them for the next run."""

from collections import Counter
from collections.abc import Sequence

import pytest

from gradsmith.verify.session import OPS, Source, prove_rows


class Proofs(Sequence):
    """The proofs in the order of the table. One that is not there yet is waited for, while all are being made."""

    def __init__(self):
        self.made = []
        self.rest = prove_rows(Source(), range(len(OPS)))

    def __len__(self):
        return len(OPS)

    def __getitem__(self, n):
        while len(self.made) <= n < len(self):
            self.made.append(next(self.rest))
        return self.made[n]


@pytest.fixture(scope="session")
def proofs():
    return Proofs()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items):
    """The table's tests come first: each waits for one family only, and so no other has to wait for all of them.

    Of the right and the wrong entries of a test `make test` tries every sixth, `make test-all` all.
    """
    items.sort(key=lambda item: item.path.name != "test_table.py")
    seen = Counter()
    for item in items:
        if item.path.parent.name in ("right", "wrong"):
            test = item.nodeid.partition("[")[0]
            if seen[test] % 6:
                item.add_marker(pytest.mark.long)
            seen[test] += 1
