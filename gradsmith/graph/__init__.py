"""Functions as C files that need neither Python nor gradsmith."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["export_c"]

# Words of C, and names that an exported file uses itself.
RESERVED = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "main", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile",
    "while", "work", "memory", "exp", "log", "sin", "cos", "tan", "sqrt", "pow", "floor", "ceil", "round",
    "memcpy",
}  # fmt: skip


def export_c(
    f: Callable[..., Any], args: Sequence[Any], name: str, folder: str | Path = ".", shared: bool = False
) -> list[Path]:
    """Write what a function does with such arguments as a C11 file and its header.

    The function is traced, as `compile` does it, with the gradients that it computes. The C needs only the C library
    and keeps no state, so that threads may call it at the same time with work memory of their own. Shapes and dtypes
    are those of `args`; Python numbers and captured tensors are constants.

    Parameters
    ----------
    f : callable
        From tensors, or trees of them, to tensors. It may be made by `grad`, `vmap`, `hessian` and so on.
    args : sequence
        Arguments to trace it with. Only the tensors among them are arguments of the C function.
    name : str
        Of the C function, and of the files.
    folder : str or Path, default "."
        Where the files go.
    shared : bool, default False
        Compile the file to a shared library, with the system's C compiler.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    NotImplementedError
        Some ops have no form in C; the error lists them, with their lines.
    TraceError
        The function looks at values, or writes to what it was given.
    ValueError
        `name` is no name in C.
    RuntimeError
        There is no C compiler, or it failed.

    Examples
    --------
    >>> import tempfile
    >>> import gradsmith as gs
    >>> slope = gs.func.grad(lambda x: (x * x.sin()).sum())
    >>> files = gs.graph.export_c(slope, [gs.ones(3)], "slope", tempfile.mkdtemp())
    >>> [file.name for file in files]
    ['slope.c', 'slope.h']
    """
    from gradsmith.graph.compiling import compile_shared
    from gradsmith.graph.model import model_of
    from gradsmith.graph.printer import header_text, source_text

    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in RESERVED:
        raise ValueError(f"export_c(): argument 'name' must be a name in C, but is {name!r}")
    origin = getattr(f, "__qualname__", type(f).__name__)
    model = model_of(f, args, name)
    files = [Path(folder) / f"{name}.c", Path(folder) / f"{name}.h"]
    files[0].write_text(source_text(model, name, origin), encoding="utf-8")
    files[1].write_text(header_text(model, name, origin), encoding="utf-8")
    return [*files, compile_shared(files[0])] if shared else files
