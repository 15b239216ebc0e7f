"""Gradsmith's own table, and the copy that is kept of it when `generated/` is written.

External tables are built on the ops that were generated. The table of a checkout may have moved on since, and have
errors while it is being edited. An installation has only the table that it was generated from.
"""

from __future__ import annotations

import os
from pathlib import Path

# In a checkout the folder above this one; in an installation the package, which has a copy of the table.
ROOT = Path(__file__).resolve().parent.parent
OWN_TABLE = ROOT / "derivatives.yaml"
GENERATED_FROM = ROOT / "build" / "derivatives.yaml"


def generated_table() -> Path:
    """The table that the ops were generated from."""
    return GENERATED_FROM if GENERATED_FROM.is_file() else OWN_TABLE


def keep_generated(content: bytes) -> None:
    """Keep the table that has just been generated from; who reads it meanwhile finds the earlier one, complete."""
    GENERATED_FROM.parent.mkdir(exist_ok=True)
    aside = GENERATED_FROM.with_suffix(f".{os.getpid()}")
    aside.write_bytes(content)
    os.replace(aside, GENERATED_FROM)
