"""A generated package in the current folder, compiled beside its sources."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from .extensions import Build, Extension, Layout, only_build, say

LIBRARY = Path(__file__).absolute().parent.parent  # the folder of gradsmith


def build_package(package: str) -> None:
    folder = Path(*package.split("."))
    extensions = [_extension(package, source) for source in sorted(folder.glob("*.pyx"))]
    with only_build():
        Build(_layout(folder), report=say).run(extensions, _beside_source)


def _extension(package: str, source: Path) -> Extension:
    kernels = source.with_name(f"{source.stem}_kernels.c")
    return Extension(f"{package}.{source.stem}", source.as_posix(), (kernels.as_posix(),) if kernels.exists() else ())


def _beside_source(extension: Extension) -> Path:
    return Path(extension.source.removesuffix(".pyx") + sysconfig.get_config_var("EXT_SUFFIX"))


def _layout(folder: Path) -> Layout:
    return Layout(
        headers=(folder.as_posix(), str(LIBRARY), str(LIBRARY / "runtime/arrays/kernels")),
        packages=(".", str(LIBRARY.parent)),
        watched=((".", "."), *((str(LIBRARY / part), str(LIBRARY / part)) for part in ("runtime", "generated"))),
        # So that the C compiler speaks of the lines that Cython has read; and `array(...)` may index what it likes.
        cython_options=("--line-directives", "-X", "boundscheck=True", "-X", "wraparound=True"),
    )
