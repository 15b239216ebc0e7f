"""Errors of compiled functions."""

__all__ = ["TraceError"]


class TraceError(RuntimeError):
    """A function cannot become a program: it asks for what one run of it knows, or keeps what ends with the run."""
