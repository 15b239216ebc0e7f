"""The incremental build: what a change makes anew, and how it fails.

Each test builds a small copy of the project's layout: a runtime module with kernels, and two
families of which `two` cimports from `one`.
"""

import importlib
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from compiling import changes

pytestmark = pytest.mark.compiles

ROOT = Path(__file__).resolve().parents[1]

FILES = {
    "gradsmith/__init__.py": "",
    "runtime/__init__.py": "",
    "runtime/arrays/array.pxd": "cdef int twice(int x) noexcept\n",
    "runtime/arrays/array.pyx": (
        'cdef extern from "runtime/arrays/kernels/twice.h":\n    int kernel_twice(int x)\n\n'
        "cdef int twice(int x) noexcept:\n    return kernel_twice(x)\n"
    ),
    "runtime/arrays/kernels/twice.h": "int kernel_twice(int x);\n",
    "runtime/arrays/kernels/twice.c": '#include "twice.h"\nint kernel_twice(int x) { return 2 * x; }\n',
    "generated/__init__.py": "",
    "generated/one.pxd": "cdef int op_used(int x) noexcept\ncdef int op_other(int x) noexcept\n",
    "generated/one.pyx": (
        "# ---- used\n"
        "from gradsmith.runtime.arrays.array cimport twice\n\n"
        "cdef int op_used(int x) noexcept:\n    return twice(x)\n\n"
        "cdef int op_other(int x) noexcept:\n    return x\n"
    ),
    "generated/two.pyx": "from gradsmith.generated.one cimport op_used\n\ndef call(x):\n    return op_used(x) + 1\n",
}


@pytest.fixture
def new_project(tmp_path, monkeypatch):
    """The build module, working on the small project before its first build."""
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("compiling.project")
    monkeypatch.chdir(tmp_path)
    # Trial compilations say nothing about these tests.
    monkeypatch.setenv("GRADSMITH_NO_LIBMVEC", "1")
    monkeypatch.setenv("GRADSMITH_NO_CLONES", "1")
    for path, text in FILES.items():
        write(path, text)
    return module


@pytest.fixture(scope="module")
def built_once(tmp_path_factory):
    """The small project built; what the tests change is a copy of it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        folder = tmp_path_factory.mktemp("built")
        new_project.__wrapped__(folder, monkeypatch).build(report=lambda step: None)
    return folder


@pytest.fixture
def builder(built_once, new_project, tmp_path):
    """The build module, working on the small project after its first build."""
    shutil.copytree(built_once, tmp_path, symlinks=True, dirs_exist_ok=True)
    return new_project


def write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def replace(path, old, new):
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def steps(builder, *names, **options):
    """The steps that a build reports, without the folders in them."""
    report = []
    builder.build(names, report=report.append, **options)
    words = (line.split() for line in report)
    return sorted(f"{step} {what.rpartition('/')[2].removeprefix('gradsmith.')}" for step, what in words)


def call(expression):
    """Evaluate with the built modules, in a process of their own."""
    code = f"from gradsmith.generated.two import call; print({expression})"
    environment = {**os.environ, "PYTHONPATH": "."}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout.strip()


def made(name, c_file=None):
    return [f"cc {c_file or name.rpartition('.')[2] + '.c'}", f"cython {name.rpartition('.')[2]}.pyx", f"link {name}"]


ONE, TWO, ARRAY = made("generated.one"), made("generated.two"), made("runtime.arrays.array")


def test_everything_once_and_then_nothing(new_project):
    assert steps(new_project) == sorted([*ARRAY, "cc twice.c", *ONE, *TWO])
    assert call("call(20)") == "41"
    assert steps(new_project) == []


def test_a_copied_tree_is_up_to_date(builder):
    assert steps(builder) == []


def test_a_virtual_environment_in_the_tree_is_not_of_it(builder, tmp_path, monkeypatch):
    installed = tmp_path / ".venv/lib/site-packages"
    write(installed / "numpy/__init__.pxd", "")
    write(tmp_path / "runtime/ours.pxd", "")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(installed))
    assert builder.LAYOUT.expect_name(installed / "numpy/__init__.pxd") is None
    assert builder.LAYOUT.expect_name(tmp_path / "runtime/ours.pxd") == "gradsmith/runtime/ours.pxd"


def test_a_changed_module_alone_is_made_anew(builder):
    replace("generated/two.pyx", "+ 1", "+ 3")
    assert steps(builder) == TWO
    assert call("call(20)") == "43"


def test_a_changed_comment_does_not_reach_the_c_compiler(builder):
    replace("generated/one.pyx", "# ---- used", "# ---- useful")
    assert steps(builder) == ["cython one.pyx"]


def test_times_do_not_count(builder):
    for path in FILES:
        os.utime(path)
    assert steps(builder) == []


def test_a_new_op_concerns_only_those_who_name_it(builder):
    replace("generated/one.pxd", "cdef int op_other", "cdef int op_new(int x) noexcept\ncdef int op_other")
    with open("generated/one.pyx", "a") as source:
        source.write("\ncdef int op_new(int x) noexcept:\n    return 7\n")
    assert steps(builder) == ONE


def test_a_changed_declaration_concerns_those_who_use_it(builder):
    for path in ("generated/one.pxd", "generated/one.pyx"):
        replace(path, "op_used(int x)", "op_used(long x)")
    assert steps(builder) == sorted([*ONE, *TWO])
    assert call("call(20)") == "41"


def test_a_changed_declaration_concerns_those_who_cimport_the_whole_module(builder):
    write("generated/two.pyx", "from gradsmith.generated cimport one\n\ndef call(x):\n    return one.op_used(x) + 1\n")
    assert steps(builder) == TWO
    for path in ("generated/one.pxd", "generated/one.pyx"):
        replace(path, "op_used(int x)", "op_used(long x)")
    assert steps(builder) == sorted([*ONE, *TWO])
    assert call("call(20)") == "41"


@pytest.mark.parametrize("declared", ["op_other(int x)", "op_other(\n    int x,\n    int y\n)"])
def test_declarations_that_nobody_mentions_do_not_count(tmp_path, declared):
    def digest(declarations):
        (tmp_path / "one.pxd").write_text(declarations)
        (tmp_path / "two.pyx").write_text("from one cimport op_used\n")
        return changes.Sources().cython_digest(str(tmp_path / "two.pyx"), [str(tmp_path / "one.pxd")])

    used = "cdef int op_used(int x) except -1\n"
    assert digest(used) == digest(f"{used}cdef int {declared} except -1\n")
    assert digest(used) != digest(f"{used}cdef inline int {declared} except -1:    # a body\n    return 1\n")


def test_a_changed_kernel_is_compiled_alone(builder):
    replace("runtime/arrays/kernels/twice.c", "2 * x", "x + x")
    assert steps(builder) == ["cc twice.c", "link runtime.arrays.array"]


def test_a_changed_header_concerns_all_that_include_it(builder):
    replace("runtime/arrays/kernels/twice.h", ";", "; ")
    assert steps(builder) == ["cc array.c", "cc twice.c", "link runtime.arrays.array"]


def test_a_header_named_by_a_macro(builder):
    """As templates are that another header includes for each type."""
    write("runtime/arrays/kernels/kernel.h", "int kernel_twice(int x) { return 2 * x; }\n")
    write("runtime/arrays/kernels/twice.c", '#include "twice.h"\n#define KERNELS "kernel.h"\n#include KERNELS\n')
    steps(builder)
    replace("runtime/arrays/kernels/kernel.h", "2 * x", "x + x")
    assert steps(builder) == ["cc twice.c", "link runtime.arrays.array"]


def test_kernels_of_a_family(builder):
    write("generated/two_kernels.c", "int unused_here;\n")
    assert steps(builder) == ["cc two_kernels.c", "link generated.two"]


def test_one_module_by_name(new_project):
    assert steps(new_project, "runtime.arrays.array") == sorted([*ARRAY, "cc twice.c"])
    message = "no extension 'gradsmith.runtime.arry'; there are: gradsmith.generated.one, "
    with pytest.raises(new_project.BuildError, match=message):
        steps(new_project, "runtime.arry")


def test_a_lost_extension_is_put_back_without_compiling(builder):
    target = next(Path("generated").glob("two.*.[ps][yo]*"))
    target.unlink()
    assert steps(builder) == []
    assert target.exists()


def test_a_module_without_source_is_removed(builder):
    stale = next(Path("generated").glob("two.*.[ps][yo]*"))
    Path("generated/two.pyx").unlink()
    assert steps(builder) == []
    assert not stale.exists()


def test_debug_and_release_do_not_disturb_each_other(builder):
    debug = steps(builder, debug=True)
    assert "cc one.c" in debug and "cython one.pyx" not in debug
    assert steps(builder) == steps(builder, debug=True) == []


def test_failures_are_reported_together(builder):
    replace("generated/one.pyx", "return twice(x)", "return thrice(x)")
    replace("runtime/arrays/kernels/twice.c", "2 * x;", "2 * y;")
    with pytest.raises(builder.BuildError) as failure:
        steps(builder)
    message = str(failure.value)
    assert "generated/one.pyx:5:" in message and "undeclared name not builtin: thrice" in message
    assert "twice.c" in message
    replace("generated/one.pyx", "thrice", "twice")
    replace("runtime/arrays/kernels/twice.c", "2 * y;", "2 * x;")
    assert steps(builder) == ["cc twice.c", "cython one.pyx"]  # its result is known already


def test_warnings_are_printed(builder, capfd):
    replace("generated/two.pyx", "+ 1", "+ 1\n    return x")
    assert "cython two.pyx" in steps(builder)
    assert "two.pyx:5:4: Unreachable code" in capfd.readouterr().err


def test_one_process_writes_what_a_process_for_each_module_would(builder):
    write("generated/three.pyx", "from libc.math cimport sin\n\ndef call(list x):\n    return [sin(y) for y in x]\n")
    write("generated/four.pyx", "cimport numpy\n\ndef call(numpy.ndarray x):\n    return x.ndim\n")
    assert steps(builder, jobs=1) == sorted([*made("generated.three"), *made("generated.four")])
    for name in ("one", "two", "three", "four"):
        written = Path(f"build/cython/gradsmith/generated/{name}.c").read_text()
        alone = text_alone(f"gradsmith/generated/{name}.pyx")
        assert written_lines(written) == written_lines(alone)


def written_lines(text):
    """Which headers are included, and in which order, depends on the .pxd files that a process has read before."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#include")]


def text_alone(source):
    """The C of a module, from a Cython that was started for it alone."""
    from compiling.cython_text import mended
    from compiling.extensions import DIRECTIVES

    options = [word for item in DIRECTIVES.items() for word in ("-X", "=".join(item))]
    name = source.removesuffix(".pyx").replace("/", ".")
    command = [sys.executable, "-m", "cython", *options, "-I", ".", "--module-name", name, "-o", "alone.c", source]
    subprocess.run(command, check=True)
    return mended(Path("alone.c").read_text())


WATCHED = """\
import runpy
from Cython.Compiler import Main

read = Main.Context.process_pxd

def noted(context, source, scope, name):
    with open("reads", "a") as reads:
        print(name, file=reads)
    return read(context, source, scope, name)

Main.Context.process_pxd = noted
runpy.run_path({program!r}, run_name="__main__")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="modules are compiled one by one")
def test_files_that_modules_share_are_read_once(builder, monkeypatch):
    """Modules are compiled in forks of a process that has read the .pxd files."""
    write("watched.py", WATCHED.format(program=str(ROOT / "compiling" / "cython_worker.py")))
    monkeypatch.setattr("compiling.cython_workers.PROGRAM", Path("watched.py"))
    for name in ("three", "four", "five", "six"):
        write(f"generated/{name}.pyx", "cimport numpy\n\ndef call(numpy.ndarray x):\n    return x.ndim\n")
    steps(builder, jobs=1)
    assert Path("reads").read_text().split().count("numpy") == 2


def test_an_error_in_a_shared_file_is_reported(builder):
    write("generated/three.pxd", "cdef int missing(Unknown x)\n")
    write("generated/three.pyx", "cdef int missing(x):\n    return 1\n")
    write(
        "generated/four.pyx", "from gradsmith.generated.three cimport missing\n\ndef call(x):\n    return missing(x)\n"
    )
    with pytest.raises(builder.BuildError, match=r"three\.pxd:1:17: 'Unknown' is not a type identifier") as error:
        steps(builder, jobs=1)
    assert str(error.value).count("cython ") == 2


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "import os; input(); os._exit(3)"])
def test_a_lost_process_is_reported(builder, monkeypatch, program):
    write("lost.py", program)
    monkeypatch.setattr("compiling.cython_workers.PROGRAM", Path("lost.py"))
    replace("generated/two.pyx", "+ 1", "+ 3")
    with pytest.raises(builder.BuildError, match=r"(?s)cython .*two\.pyx\nThe process ended with status 3\."):
        steps(builder)


def test_no_process_outlives_the_build(builder, monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        "compiling.cython_workers.subprocess.Popen", lambda *words, **options: remember(popen(*words, **options))
    )

    def remember(process):
        started.append(process)
        return process

    assert steps(builder) == []
    assert started == []  # nor is one started for nothing
    replace("generated/two.pyx", "+ 1", "+ missing")
    replace("generated/one.pyx", "return x", "return x + 1")
    with pytest.raises(builder.BuildError, match="missing"):
        steps(builder)
    assert started and all(process.returncode == 0 for process in started)


def test_setuptools_is_imported_while_there_is_one_thread(builder):
    """By its hook for distutils and an import in another thread, builds once waited for ever."""
    replace("generated/two.pyx", "+ 1", "+ 3")
    code = """
        import sys, threading

        class Finder:
            def find_spec(name, path=None, target=None):
                if name.partition(".")[0] in ("setuptools", "distutils"):
                    print(name, threading.active_count())

        sys.meta_path.insert(0, Finder)
        from compiling.project import build
        build(report=lambda step: None)
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, env=environment
    ).stdout.splitlines()
    assert "setuptools 1" in found
    assert [line for line in found if not line.endswith(" 1")] == []


def test_a_missing_compiler_is_named(builder, monkeypatch):
    monkeypatch.setenv("CC", "no-such-cc -pthread")
    with pytest.raises(builder.BuildError, match="no C compiler: 'no-such-cc' is not on the path. Install GCC"):
        steps(builder)


def test_switches_reach_the_compiler(builder):
    replace("runtime/arrays/kernels/twice.c", "return 2 * x", "return GRADSMITH_NO_LIBMVEC + GRADSMITH_NO_CLONES + x")
    steps(builder)
    assert call("call(20)") == "23"


def test_package_links_are_mended(new_project):
    write("codegen/__init__.py", "")
    Path("gradsmith/runtime").write_text("../runtime")  # what git makes of a link where there are none
    new_project.link_packages()
    assert Path("gradsmith/runtime/arrays/array.pyx").exists() and Path("gradsmith/codegen/__init__.py").exists()
