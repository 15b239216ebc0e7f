"""Fixtures that tests of several folders share."""

import os
import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

# What the pages load is built once for many runs of the tests, and not among what the user keeps.
os.environ["GRADSMITH_CACHE_DIR"] = str(Path(HERE).parent / "build" / "cache")
