"""Makes the modules that tests of several folders share importable: they lie in this one."""

import os
import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

# Tables that the pages load are built once for many runs of the tests, outside the user's own cache.
os.environ["GRADSMITH_CACHE_DIR"] = str(Path(HERE).parent / "build" / "cache")
