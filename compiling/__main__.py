"""Compile extension modules: only what changed, on all cores.

    python -m compiling                              gradsmith, beside its sources
    python -m compiling runtime.graph.node                 one of its modules
    python -m compiling --debug                      with the internal checks compiled in
    python -m gradsmith.compiling --package my_ops   a generated package in the current folder

The last is what `gradsmith.load_ops` runs: a process of its own, so that neither setuptools nor a change of folder
concerns the process that wants the package. Wheels and editable installs are driven by ``setup.py``.

Environment: ``CC`` and ``CFLAGS`` as usual; ``GRADSMITH_NO_LIBMVEC=1`` and ``GRADSMITH_NO_CLONES=1`` turn off the
vector library and the per-CPU clones of kernels, which are otherwise used where a trial compilation finds them.
"""

from __future__ import annotations

import argparse
import os
import sys

from .package import build_package
from .project import ROOT, build
from .toolchain import BuildError, require_tools


def main() -> int:
    options = _parse()
    try:
        require_tools()
        if options.package:
            build_package(options.package)
        elif not options.check_tools:
            os.chdir(ROOT)
            build(options.names, debug=options.debug, jobs=options.jobs)
    except BuildError as error:
        # A user who compiles a package needs only the errors.
        print(error if options.package else f"build failed:\n{error}", file=sys.stderr)
        return 1
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m compiling", description="Compile extension modules in place.")
    parser.add_argument("names", nargs="*", help="modules of gradsmith, as runtime.graph.node (default: all)")
    parser.add_argument("--package", help="compile this generated package in the current folder instead")
    parser.add_argument("--debug", action="store_true", help="compile the internal checks in")
    parser.add_argument("-j", "--jobs", type=int, default=0, help="parallel jobs (default: all cores)")
    parser.add_argument("--check-tools", action="store_true", help="only see whether there is a C compiler")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
