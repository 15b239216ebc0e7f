"""The functions that recurrent layers compute with."""

from __future__ import annotations

from typing import Any


def function(name: str) -> Any:
    """`lstm`, `gru`, `rnn_tanh`, `rnn_relu`, or one of them with ``"_cell"``."""
    from gradsmith.nn import recurrent  # which imports compiled code that few modules need

    return getattr(recurrent, name)
