"""``python -m gradsmith.codegen my_ops.yaml --package my_ops``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gradsmith.compiling.toolchain import BuildError

from .packages import build_package, require_builder


def run(options: argparse.Namespace) -> int:
    """Build the package that the command line asks for; the exit code of the process."""
    try:
        require_builder()
    except (ImportError, BuildError) as error:
        return _fail(error)
    from gradsmith.codegen.spec.errors import SpecErrors

    methods_of = options.package if options.methods else ""
    try:
        build_package(
            options.table, options.package, options.output or Path(), functions=options.functions, methods_of=methods_of
        )
    except SpecErrors as errors:
        return _fail(f"{errors}\n{errors.summary(options.table.name)}")
    except (BuildError, OSError, ValueError, AttributeError) as error:
        return _fail(error)
    return 0


def _fail(message: object) -> int:
    print(message, file=sys.stderr)
    return 1
