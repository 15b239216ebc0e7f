"""The conformance table, loaded."""

import pytest
from outside_tables import CONFORMANCE

import gradsmith as gs


@pytest.fixture(scope="session")
def ops(cache):
    return gs.load_ops(CONFORMANCE, methods=True)  # as the proofs do, which so find it built
