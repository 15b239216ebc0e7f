"""Functions as C files that need neither Python nor gradsmith, and programs in files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["export_c", "load", "save"]

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


def save(f: Callable[..., Any], args: Sequence[Any], file: Any, kwargs: Mapping[str, Any] | None = None) -> None:
    """Write what a function does with such arguments to a file that `load` makes a function of.

    The function is traced, as `compile` does it, with the gradients that it computes. If its results require grad, the
    file has a program for their gradients too. Tensors that the function captures are stored in the file. Nothing in it
    is code: it lists ops of the table by name.

    Parameters
    ----------
    f : callable
        From tensors, or trees of them, to tensors: a function, a module, a compiled function, or what `grad`, `vmap`
        and so on have made.
    args : sequence
        Arguments to trace it with. They are as before afterwards, even where the function writes to them.
    file : str, Path or binary file
        Where to write it.
    kwargs : mapping, optional
        Arguments by name.

    Raises
    ------
    NotImplementedError
        The function calls Python in each run, as steps of optimizers and `cond` do, or draws from a generator of its
        own; the error lists such steps with their lines.
    TraceError
        The function looks at values, changes the `.grad` of a tensor, or cannot be traced for another reason.
    TypeError
        An argument or result is something that a file cannot hold.

    Examples
    --------
    >>> import io
    >>> import gradsmith as gs
    >>> file = io.BytesIO()
    >>> gs.graph.save(gs.func.grad(lambda x: (x * x.sin()).sum()), [gs.ones(3)], file)
    >>> _ = file.seek(0)
    >>> gs.graph.load(file)(gs.zeros(3))
    tensor([0., 0., 0.])
    """
    from gradsmith.graph.saved.files import save_program

    save_program(f, args, file, kwargs or {})


def load(file: Any) -> Any:
    """The function that `save` has written.

    Loading runs no code, whatever is in the file. It checks that each op exists, means what it meant when the file was
    written, accepts its arguments, and gives results of the dtypes and shapes that the file says.

    Parameters
    ----------
    file : str, Path or binary file
        A file that has been opened must be able to seek.

    Returns
    -------
    LoadedProgram
        A function of arguments like those that it was saved with: their structure, dtypes, shapes, and the values of
        what is no tensor. It is compiled when it is first called. Its results have the bits of the compiled function,
        and a backward if theirs had one.

    Raises
    ------
    CorruptFileError
        The file is no program, contradicts itself, or was saved by a gradsmith with another table of ops. It is a
        RuntimeError.

    Examples
    --------
    >>> import io
    >>> import gradsmith as gs
    >>> scale = gs.tensor(3.0)
    >>> file = io.BytesIO()
    >>> gs.graph.save(lambda x: scale * x, [gs.ones(2, requires_grad=True)], file)
    >>> _ = file.seek(0)
    >>> scaled = gs.graph.load(file)
    >>> x = gs.tensor([1.0, 2.0], requires_grad=True)
    >>> scaled(x).sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """
    from gradsmith.graph.saved.files import load_program

    return load_program(file)
