"""Numerical proofs of every entry of an op table: ``python -m gradsmith.verify``, described in docs/guide/verify.md.

What an entry says is compared with something that does not come from it: values with NumPy and SciPy, gradients with
differences and complex steps, each form of an op with the others.
"""

from .proof import Failure, Proof
from .prove import prove

__all__ = ["Failure", "Proof", "prove"]
