"""What is wrong with a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pickle import UnpicklingError
from struct import error as StructError
from tokenize import TokenError
from zipfile import BadZipFile
from zlib import error as ZlibError

__all__ = ["CorruptFileError", "NotOfTreeError", "UnsafeFileError", "reading"]


class CorruptFileError(RuntimeError):
    """The content of a file contradicts itself, or ends too early."""


class NotOfTreeError(TypeError):
    """A tree contains an object of a kind that the format does not write out."""


class UnsafeFileError(UnpicklingError):
    """Reading a file would need something that is not on the list of what a file may contain."""


# What Python raises over data of the wrong form; a file must not be able to choose among errors.
_SIGNS = (
    ArithmeticError, AttributeError, BadZipFile, EOFError, LookupError, RuntimeError, StructError, SyntaxError,
    TokenError, TypeError, ValueError, ZlibError,
)  # fmt: skip


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what malformed data leads to into one error, which names the file."""
    try:
        yield
    except (CorruptFileError, UnsafeFileError):
        raise
    except _SIGNS as error:
        raise CorruptFileError(f"load: {name} is corrupt: {type(error).__name__}: {error}") from error
