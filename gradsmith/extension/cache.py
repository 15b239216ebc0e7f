"""The cache of built tables, and their dependencies besides their own text."""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
from pathlib import Path

from gradsmith.codegen.table_files import generated_table
from gradsmith.compiling.changes import digest_of
from gradsmith.compiling.toolchain import Toolchain
from gradsmith.version import OWN_VERSION as __version__

PACKAGE = Path(__file__).resolve().parent.parent

# All of gradsmith that a generated package is made from or compiled against.
_SOURCES = (
    "codegen/**/*.py", "codegen/templates/*.j2", "compiling/*.py", "generated/*.pxd",
    "runtime/**/*.pxd", "runtime/**/*.h",
)  # fmt: skip
_SWITCHES = ("GRADSMITH_NO_LIBMVEC", "GRADSMITH_NO_CLONES")


def cache_folder() -> Path:
    """``GRADSMITH_CACHE_DIR``, or the folder that the system has for such things."""
    chosen = os.environ.get("GRADSMITH_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gradsmith" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gradsmith"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gradsmith"


def key_of(*texts: str | bytes) -> str:
    """Differs for anything that would be built differently."""
    switches = [os.environ.get(name, "") for name in _SWITCHES]
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    return digest_of(*texts, __version__, library_digest(), Toolchain().identity, suffix, *switches)


@functools.cache
def library_digest() -> str:
    """Of everything in gradsmith that has a part in building a table, by content."""
    files = [path for pattern in _SOURCES for path in sorted(PACKAGE.glob(pattern))]
    return digest_of(
        *(path.read_bytes() for path in files), what_is_built(generated_table().read_text(encoding="utf-8"))
    )


# Keys that nothing outside of the table's own ops is made from, with the lines that belong to them; and comments.
_REMARKS = re.compile(
    r"^  (?:doc|samples|points|reference|surrogate|cancellation|subgradient|latex):.*\n"
    r"(?:    .*\n|  - .*\n|\n(?=    |  - ))*|^ *#.*\n",
    re.MULTILINE,
)


def what_is_built(table: str) -> str:
    """The text of gradsmith's table without samples and documentation: other tables stay built when these change."""
    return _REMARKS.sub("", table)
