"""Tests of all ops, by the rows of the op table: forms of calls, dtypes, values, and modes that they run in."""

import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)
