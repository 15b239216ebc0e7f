"""For tests: `assert_close` compares values within tolerances, `make_tensor` draws tensors of any dtype."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.names.missing import missing_attribute
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.tensors.factories.creation import as_tensor
from gradsmith.testing.comparison import assert_close
from gradsmith.testing.drawn import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` that does not look at dtypes, deprecated in favour of it, and takes arrays and numbers as well."""
    warn_caller(
        "torch.testing.assert_allclose() is deprecated; torch.testing.assert_close() takes its place.", FutureWarning
    )
    pair = [value if isinstance(value, Tensor) else as_tensor(value) for value in (actual, expected)]
    assert_close(*pair, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
