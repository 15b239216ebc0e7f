"""The functions of PyTorch's compiled half by their names at the top: ``torch._VF.lstm`` is `gradsmith.lstm`.

>>> import gradsmith as gs
>>> gs._VF.gru_cell is gs.gru_cell
True
"""

from __future__ import annotations

from typing import Any

import gradsmith


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return getattr(gradsmith, name)
