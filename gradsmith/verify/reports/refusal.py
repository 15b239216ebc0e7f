"""The message about a table that there is nothing to prove of."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from gradsmith.codegen.spec.errors import SpecErrors
from gradsmith.codegen.spec.vocabulary import FUNCTIONS_MODULE
from gradsmith.compiling.toolchain import BuildError

if TYPE_CHECKING:
    from ..session import Source

KNOWN = (SpecErrors, BuildError, ImportError, AttributeError, ValueError)


def expect_refusal(error: Exception, source: Source) -> str | None:
    """Faults in the files of the source, by their places; None when the error has nothing to do with them."""
    line = _line_in_functions(error)
    if line is not None:
        return f"{source.functions}:{line}: importing it raised {type(error).__name__}: {error}"
    if isinstance(error, OSError):
        return f"{error.filename}: cannot be read: {error.strerror}" if error.filename else str(error)
    return str(error) if isinstance(error, KNOWN) else None


def _line_in_functions(error: Exception) -> int | None:
    """The line of the copy of the functions file that the error was raised in, or passed through."""
    steps = traceback.extract_tb(error.__traceback__)
    lines = [step.lineno for step in steps if step.filename.endswith(f"{FUNCTIONS_MODULE}.py")]
    return lines[-1] if lines else None
