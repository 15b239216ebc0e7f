"""``import gradsmith`` stays quick: it brings in little besides NumPy. Where nothing is built, it says so."""

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradsmith

ROOT = Path(gradsmith.__file__).resolve().parent.parent

# Each takes milliseconds to import and is needed, if at all, by something the user asks for.
HEAVY = {
    "dataclasses",
    "numpy.random",
    "gradsmith.generated.op_table",
    "ast",
    "gradsmith.extension",
    "gradsmith.profiler",
    "pathlib",
    "tempfile",
    "concurrent.futures",
    "asyncio",
    "ctypes",
    "scipy",
    "jinja2",
    "yaml",
    "setuptools",
    "Cython",
}


def test_nothing_heavy_is_imported():
    code = "import sys, numpy; before = set(sys.modules); import gradsmith; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


def test_a_first_gradient_imports_nothing_heavy():
    """The table of all ops alone, which sparse derivatives read, would take longer than all else."""
    code = (
        "import sys, gradsmith as gs; gs.grad(lambda x: gs.sum(gs.tanh(x) ** 2))(gs.ones(3)); gs.func.vmap; "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"gradsmith.generated.op_table", "gradsmith.func.sparse", "scipy", "numpy.random"}
    assert not heavy & set(done.stdout.split())


def test_modules_need_nothing_but_numpy():
    """The generator, the build, what tests and proofs use, and what joins another package may need more."""
    code = """
import importlib, pkgutil, sys
for name in ("typing_extensions", "scipy", "yaml", "jinja2", "setuptools", "Cython", "matplotlib"):
    sys.modules[name] = None
import gradsmith
rest = (
    "codegen", "compiling", "extension", "verify", "generated.op_table", "utils.einops", "utils.opt_einsum",
)
for module in pkgutil.walk_packages(gradsmith.__path__, "gradsmith.", onerror=lambda name: None):
    if not module.name.removeprefix("gradsmith.").startswith(rest):
        importlib.import_module(module.name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_every_public_name_is_there_once():
    assert len(gradsmith.__all__) == len(set(gradsmith.__all__))
    assert all(hasattr(gradsmith, name) for name in gradsmith.__all__)


def test_constants():
    assert (gradsmith.inf, gradsmith.pi, gradsmith.e, gradsmith.newaxis) == (
        math.inf,
        math.pi,
        math.e,
        None,
    ) and math.isnan(gradsmith.nan)
    assert gradsmith.ones(2)[gradsmith.newaxis].shape == (1, 2)
    assert {"inf", "nan", "pi", "e", "newaxis"} <= set(gradsmith.__all__)


@pytest.fixture
def clone(tmp_path):
    """A copy of the tree as Git has it: the links, and nothing that is compiled."""
    folder = tmp_path / "clone"
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "*.h", "*.c")
    for name in ("gradsmith", "runtime", "generated", "codegen", "compiling"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    for name in ("derivatives.yaml", "Makefile"):
        shutil.copy(ROOT / name, folder)
    return folder


def import_in(folder, code="import gradsmith", path=""):
    """Standard error of a process that runs `code` in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(path)}
    arguments = [sys.executable, "-c", code]
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    return done.stderr


def assert_one_line(shown, message):
    """The error is one line, and no other error led to it."""
    assert shown.count("Traceback") == 1
    assert shown.splitlines()[-1].startswith(f"ImportError: {message}")


def test_a_clone_that_was_not_built(clone):
    shown = import_in(clone, f"import sys; sys.path[:] = [p for p in sys.path if p != {str(ROOT)!r}]; import gradsmith")
    assert_one_line(shown, f"gradsmith is not built in {clone}, there is no gradsmith.runtime.")
    assert shown.endswith(": run `make` in that folder\n")


@pytest.mark.parametrize("how", ["path", "pth"])
def test_a_clone_beside_an_installed_package(clone, tmp_path, how):
    installed = tmp_path / "site-packages"
    if how == "path":
        installed.mkdir()
        (installed / "gradsmith").symlink_to(ROOT / "gradsmith", target_is_directory=True)
        shown = import_in(clone, path=installed)
    else:
        installed.mkdir()
        (tmp_path / "elsewhere.pth").write_text(f"{ROOT}\n")
        shown = import_in(clone, f"import site; site.addsitedir({str(tmp_path)!r}); import gradsmith")
        installed = ROOT
    assert_one_line(shown, f"gradsmith is not built in {clone}")
    other = installed / "gradsmith"
    assert shown.endswith(
        f": run `make` in that folder, or start Python elsewhere to import the gradsmith in {other}\n"
    )


def test_nothing_of_a_failed_import_is_left(clone):
    code = (
        f"import sys\ntry:\n    import gradsmith\nexcept ImportError:\n    sys.path[0] = {str(ROOT)!r}\n"
        "    import gradsmith\n    print(gradsmith.ones(1).item())\n    raise SystemExit(1)"
    )
    assert import_in(clone, code) == ""


def test_a_part_that_was_not_built(clone):
    """Compiled modules are looked for one by one: some may be there, for this Python or for another."""
    (compiled,) = (ROOT / "runtime/arrays").glob("array.*-*.so")
    shutil.copy(compiled, clone / "runtime/arrays")
    (clone / "runtime/switches/grad_mode.cpython-37-other.so").touch()
    shown = import_in(clone)
    assert_one_line(shown, f"gradsmith is not built in {clone}")


def test_a_module_built_for_another_python(clone):
    for source in (clone / "runtime").rglob("*.pyx"):
        (source.parent / f"{source.stem}.cpython-37-other.so").touch()
    assert "for this Python (" in import_in(clone) and "cpython-37-other.so" in import_in(clone)


def test_an_installation_that_is_incomplete(clone):
    (clone / "Makefile").unlink()
    shown = import_in(clone)
    assert_one_line(shown, f"the installation of gradsmith in {clone / 'gradsmith'} is incomplete")
    assert shown.endswith(": install it again\n")


def test_numpy_that_is_missing_is_another_matter(tmp_path):
    shown = import_in(tmp_path, "import sys; sys.modules['numpy'] = None; import gradsmith", ROOT)
    assert "numpy" in shown.splitlines()[-1] and "make" not in shown.splitlines()[-1]
