"""The forwards of ops on bare arrays; the helpers in this folder are importable by its tests."""

import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)
