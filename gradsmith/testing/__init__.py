"""For tests: `assert_close` compares values within tolerances, `make_tensor` draws tensors of any dtype."""

from __future__ import annotations

from typing import Any

from gradsmith.names.missing import missing_attribute
from gradsmith.testing.comparison import assert_close
from gradsmith.testing.drawn import make_tensor

__all__ = ["assert_close", "make_tensor"]


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
