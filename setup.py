"""Hands the extension modules to setuptools; everything else is said in pyproject.toml."""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # an isolated build does not put it there

from compiling import project  # noqa: E402


class BuildPackage(build_py):
    """``build_py`` that also takes the table along, for tables that are built on it."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("derivatives.yaml", os.path.join(self.build_lib, "gradsmith"))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        return [*super().get_outputs(include_bytecode), os.path.join(self.build_lib, "gradsmith", "derivatives.yaml")]


class BuildExtensions(build_ext):
    """``build_ext`` that generates the sources and lets `compiling` compile what changed."""

    def build_extensions(self) -> None:
        if subprocess.run([sys.executable, "-m", "codegen"], cwd=ROOT).returncode:
            raise SystemExit("build failed: derivatives.yaml could not be read, see above")
        try:
            names = [one.name for one in self.extensions]
            project.build(names, debug=bool(self.debug), jobs=int(self.parallel or 0), place=self._target)
        except project.BuildError as error:
            raise SystemExit(f"build failed:\n{error}") from None

    def _target(self, extension: project.Extension) -> Path:
        return ROOT / self.get_ext_fullpath(extension.name)


project.link_packages()
setup(
    ext_modules=[Extension(one.name, [one.source]) for one in project.discover() if not one.is_for_tests],
    cmdclass={"build_ext": BuildExtensions, "build_py": BuildPackage},
)
