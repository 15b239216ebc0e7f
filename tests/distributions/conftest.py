import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def seed():
    import gradsmith as gs

    with gs.random.fork_rng():
        gs.manual_seed(0)
        yield
