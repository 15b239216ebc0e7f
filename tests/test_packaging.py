"""The contents of a source distribution and of a wheel; a wheel works by itself."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import gradsmith

pytestmark = pytest.mark.compiles

ROOT = Path(__file__).resolve().parents[1]
LINKS = {"runtime", "generated", "codegen", "compiling"}
NOT_SOURCES = shutil.ignore_patterns(
    ".git", ".venv", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", "*.so", "*.pyd", "*.new"
)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the checkout with what has been compiled so far, so that a wheel has nothing left to compile."""
    folder = tmp_path_factory.mktemp("packaging") / "project"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=NOT_SOURCES)
    return folder


def package(project, kind):
    """Let the build backend make a distribution; its path."""
    code = f"from setuptools import build_meta; print(build_meta.build_{kind}('dist'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "dist" / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(project, tmp_path_factory):
    """A wheel unpacked, as an installation would leave it."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(package(project, "wheel")) as archive:
        names = archive.namelist()
        assert len(names) == len(set(names))
        archive.extractall(folder)
    return folder


def files(folder, *suffixes):
    """Files below a folder (links are not followed), as paths relative to it."""
    found = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
    return {path.relative_to(folder).as_posix() for path in found if not suffixes or path.suffix in suffixes}


def sources(folder):
    """All of them but what Python has written beside them."""
    return {path for path in files(folder) if "__pycache__" not in path}


def test_a_source_distribution_holds_the_checkout_once(project):
    expected = {path for path in sources(project) if not path.startswith(("build/", "dist/", "gradsmith.egg-info/"))}
    with tarfile.open(package(project, "sdist")) as archive:
        members = [member.name.partition("/")[2] for member in archive.getmembers() if not member.isdir()]
    made = {"PKG-INFO", "setup.cfg"}
    found = {name for name in members if not name.startswith("gradsmith.egg-info/")}
    assert len(members) == len(set(members))
    assert found - made == expected - made


def test_a_wheel_holds_what_compiling_against_it_needs(project, wheel):
    for folder in ("runtime", "generated"):
        assert files(project / folder, ".py", ".pxd", ".pyi", ".h") <= files(wheel / "gradsmith" / folder)
    assert (wheel / "gradsmith" / "py.typed").exists()
    assert not files(wheel, ".pyx", ".c")


def test_a_wheel_holds_what_tables_outside_need(project, wheel, tmp_path):
    """Building one reads the table, the generator and its templates, and headers; here all of them from the wheel."""
    assert (wheel / "gradsmith/derivatives.yaml").read_bytes() == (project / "derivatives.yaml").read_bytes()
    for folder in ("codegen", "compiling"):
        assert sources(project / folder) == files(wheel / "gradsmith" / folder)
    (tmp_path / "twice.yaml").write_text(
        "own:\n- name: twice(Tensor self) -> Tensor\n  forward: pointwise(self + self)\n  self: grad + grad\n"
        "  samples: real(3)\n  doc: Twice the tensor.\n"
    )
    code = (
        f"import sys; sys.path.insert(0, {str(wheel)!r})\n"
        "import gradsmith as gs\n"
        "ops = gs.load_ops('twice.yaml', methods=True)\n"
        "print(gs.__file__, gs.ones(1).twice().tolist(), ops.__file__)\n"
    )
    environment = {**os.environ, "GRADSMITH_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    package, value, built = done.stdout.split()
    assert (package, value) == (str(wheel / "gradsmith" / "__init__.py"), "[2.0]")
    assert built.startswith(str(tmp_path / "cache"))


def test_a_wheel_holds_every_extension(project, wheel):
    folders = ("runtime", "generated")
    names = {f"gradsmith/{folder}/{path[:-4]}" for folder in folders for path in files(project / folder, ".pyx")}
    built = map(Path, files(wheel, ".so", ".pyd"))
    assert {path.with_name(path.name.partition(".")[0]).as_posix() for path in built} == names


def test_a_wheel_holds_nothing_else(wheel):
    top = {path.partition("/")[0] for path in files(wheel)}
    assert top == {"gradsmith", f"gradsmith-{gradsmith.__version__}.dist-info"}


def test_a_wheel_works(wheel, tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(wheel)!r})\n"
        "import gradsmith as gs\n"
        "x = gs.tensor([1.0, 2.0], requires_grad=True)\n"
        "(x * 3 + 2).sum().backward()\n"
        "print(gs.__file__, x.grad.tolist(), gs.__version__)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split(maxsplit=1) == [
        str(wheel / "gradsmith" / "__init__.py"),
        f"[3.0, 3.0] {gradsmith.__version__}\n",
    ], done.stderr


def test_a_user_can_cimport_from_a_wheel(wheel, tmp_path):
    (tmp_path / "user.pyx").write_text(
        "from gradsmith.runtime.graph.tensor cimport TensorBase, array_of\n"
        "from gradsmith.generated.arithmetic cimport op_mul_tensor\n"
        "def square(TensorBase t):\n    return array_of(op_mul_tensor(t, t))\n"
    )
    command = [sys.executable, "-m", "cython", "-3", "-I", str(wheel), "user.pyx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
