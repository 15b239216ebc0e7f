"""A process that runs Cython on one module after another; `cython_workers` starts it and asks it.

A new interpreter takes longer to import Cython than to compile a usual module. Each line of the standard input is a
JSON list, the words of a ``cython`` command without its name; each line of the output answers with the exit status and
all that Cython has printed. The process ends with its input.

Half of the rest would go into the .pxd files that all modules read. Cython compiles one module in a context, and a
context in which only .pxd files have been read serves any module: from the second module on, each is compiled in a
fork of this process, which has read what the first had needed. The C is the same but for the order of its headers,
of which it may include one that it does not need.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import sys
import traceback
from typing import IO, Any


def main() -> None:
    _search_as_a_module_would()
    # The trees of one module are many objects that live together: by its usual thresholds, the collector would take
    # half of the time.
    gc.set_threshold(50_000)
    contexts = Contexts()
    for line in sys.stdin:
        _answer(json.loads(line), contexts, sys.stdout)


def _search_as_a_module_would() -> None:
    """Find what ``python -m cython`` would find: in the current folder, not in the one of this file."""
    if sys.path and os.path.samefile(sys.path[0], os.path.dirname(__file__)):
        sys.path[0] = os.getcwd()


def _answer(words: list[str], contexts: Contexts, answers: IO[str]) -> None:
    """Print the exit status of one command, and what it printed."""
    ready = hasattr(os, "fork") and contexts.prepare(words)
    child = os.fork() if ready else 0
    if child:
        _, status = os.waitpid(child, 0)
        if status:  # it did not come to its answer
            sys.exit(f"a fork of this process ended with status {status}")
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = _cython(words)
    print(json.dumps((status, printed.getvalue())), file=answers, flush=True)
    if ready:
        os._exit(0)


def _cython(words: list[str]) -> int:
    from Cython.Compiler.Main import main as cython

    sys.argv[1:] = words
    try:
        cython(command_line=1)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:  # an error in Cython itself is reported like one in the source
        traceback.print_exc()
        return 1
    return 0


class Contexts:
    """Gives Cython its contexts: new ones, or the one that has read .pxd files."""

    def __init__(self) -> None:
        from Cython.Compiler import Main

        self._make = context_class(Main.Context).from_options
        self._last: Any = None  # in which the first module was compiled
        self._ready: Any = None
        setattr(Main.Context, "from_options", self._next)  # noqa: B010 - types

    def _next(self, options: Any) -> Any:
        """Cython calls this once for each module."""
        if self._ready is None:
            self._last = self._make(options)
        return self._ready or self._last

    def prepare(self, words: list[str]) -> bool:
        """Whether there is a context that has read .pxd files; made when a module has said which."""
        if self._ready is None and self._last is not None:
            last, self._last = self._last, None
            with contextlib.suppress(Exception):  # a Cython that works otherwise has a new context for each module
                self._ready = self._read(
                    words, [scope.qualified_name for scope in last.reached if scope.pxd_file_loaded]
                )
        return self._ready is not None

    def _read(self, words: list[str], names: list[str]) -> Any:
        """A context with these modules' .pxd files; None if one has an error, which the module that needs it tells."""
        from Cython.Compiler import Errors
        from Cython.Compiler.CmdLine import parse_command_line

        Errors.init_thread()
        with contextlib.redirect_stderr(io.StringIO()):
            context = self._make(parse_command_line(words)[0])
            for name in names:
                context.find_module(name)
        context.begin()
        gc.freeze()  # the collector would write to each object, and so copy it in every fork
        return None if Errors.get_errors_count() else context


def context_class(base: Any) -> Any:
    """Cython's class, whose contexts know which .pxd files a module reaches."""

    class Context(base):  # type: ignore[misc]
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            self.pxds = Reached(self)
            self.asked_for: dict[Any, list[Any]] = {}  # by each module's .pxd file, in its order
            self.reached: dict[Any, None] = {}  # by the module that is compiled, as if it had read them all
            self._asking: list[list[Any]] = [[]]

        def find_module(self, *words: Any, **options: Any) -> Any:
            self._asking.append([])
            try:
                scope = super().find_module(*words, **options)
            finally:
                asked_for = self._asking.pop()
            if asked_for or scope not in self.asked_for:
                self.asked_for[scope] = asked_for
            self._asking[-1].append(scope)
            self._reach(scope, set())
            return scope

        def _reach(self, scope: Any, entered: set[Any]) -> None:
            if scope not in self.reached and scope not in entered:
                entered.add(scope)
                for other in self.asked_for.get(scope, ()):
                    self._reach(other, entered)
                self.reached[scope] = None

        def begin(self) -> None:
            """The next module has reached nothing yet."""
            self.reached = {}

    return Context


class Reached(dict[str, Any]):
    """What was read of .pxd files; of it, Cython puts what the module has reached into its C."""

    def __init__(self, context: Any) -> None:
        super().__init__()
        self._context = context

    def items(self) -> Any:
        read = {scope: (name, (code, scope)) for name, (code, scope) in super().items()}
        return [read[scope] for scope in self._context.reached if scope in read]


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):  # the build, interrupted too, says so
        main()
