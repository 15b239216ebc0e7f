"""The generator is tested as the plain Python package that it is: nothing compiled is needed."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE.parents[1], HERE):  # the package `codegen`, and what the tests here share
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
