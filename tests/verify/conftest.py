"""Proofs of the whole table, made once."""

import pytest

from gradsmith.generated.op_table import OPS
from gradsmith.verify import prove


@pytest.fixture(scope="session")
def proofs():
    return [prove(row) for row in OPS]
