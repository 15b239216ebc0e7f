"""A process that runs Cython on one module after another; `cython_workers` starts it and asks it.

A new interpreter takes longer to import Cython than to compile a usual module. Each line of the standard input is a
JSON list, the words of a ``cython`` command without its name; each line of the output answers with the exit status and
all that Cython has printed. The process ends with its input.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import sys
import traceback


def main() -> None:
    _search_as_a_module_would()
    # The trees of one module are many objects that live together: by its usual thresholds, the collector would take
    # half of the time.
    gc.set_threshold(50_000)
    answers = sys.stdout
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), file=answers, flush=True)


def _search_as_a_module_would() -> None:
    """Find what ``python -m cython`` would find: in the current folder, not in the one of this file."""
    if sys.path and os.path.samefile(sys.path[0], os.path.dirname(__file__)):
        sys.path[0] = os.getcwd()


def _run(words: list[str]) -> tuple[int, str]:
    """The exit status of one command, and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = _cython(words)
    return status, printed.getvalue()


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


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):  # the build, interrupted too, says so
        main()
