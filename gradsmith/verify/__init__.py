"""Numerical proofs of every entry of an op table: ``python -m gradsmith.verify``, described in docs/guide/verify.md.

Each statement of an entry is compared with an independent source: values with NumPy and SciPy, gradients with
differences and complex steps, each form of an op with the others.
"""

from typing import TYPE_CHECKING, Any

from .proof import Failure, Proof

if TYPE_CHECKING:
    from .proving import prove

__all__ = ["Failure", "Proof", "prove"]


def __getattr__(name: str) -> Any:
    """`prove` reads the table with the generator, which needs more than NumPy: see the extra ``build``."""
    if name != "prove":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from .proving import prove
    except ModuleNotFoundError as error:
        words = f"proofs read the table with the generator, which needs {error.name}: pip install 'gradsmith[build]'"
        raise ModuleNotFoundError(words, name=error.name) from error
    return prove
