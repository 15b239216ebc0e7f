"""Proofs of the whole table, made once, on all cores; `make verify` keeps them for the next run."""

import pytest

from gradsmith.verify.session import OPS, Source, prove_rows


@pytest.fixture(scope="session")
def proofs():
    return list(prove_rows(Source(), range(len(OPS))))
