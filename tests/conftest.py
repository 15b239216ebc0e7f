"""Makes the modules that tests of several folders share importable: they lie in this one."""

import gc
import os
import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

# Tables that the pages load are built once for many runs of the tests, outside the user's own cache.
os.environ["GRADSMITH_CACHE_DIR"] = str(Path(HERE).parent / "build" / "cache")

# pytest makes some millions of objects for the tests of a folder, and all of them stay. The collector would search them
# again and again while they are made, a fifth of that time, and later whenever a test or pytest itself asks it to.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    gc.freeze()
    gc.enable()
