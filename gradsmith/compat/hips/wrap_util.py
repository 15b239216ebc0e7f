"""Where HIPS programs find the tool for operators of their own."""

from functools import wraps

from gradsmith.compat.hips.differential_operators import unary_to_nary

__all__ = ["unary_to_nary", "wraps"]
