"""``python -m gradsmith.codegen my_ops.yaml --package my_ops``: a package that can be shipped."""

import os

import pytest
from outside_tables import ROOT, SMALL

pytestmark = pytest.mark.compiles

VALUE = "import numpy as np, gradsmith as gs, {0} as ops; print(np.allclose(ops.ripple(gs.ones(2)), np.sin(1)))"


@pytest.fixture
def generate(run_python, small):
    """Runs the command on the small table."""

    def run(*arguments):
        return run_python("-m", "gradsmith.codegen", str(small), *arguments)

    return run


def test_a_package_in_the_current_folder(generate, run_python, small, tmp_path):
    done = generate("--package", "my_ops")
    assert done.returncode == 0, done.stderr
    assert "link    my_ops.waves" in done.stdout
    assert run_python("-c", VALUE.format("my_ops")).stdout == "True\n"
    assert generate("--package", "my_ops").stdout == ""  # nothing has changed
    small.write_text(SMALL.replace("sin(self) * self)", "sin(self) * self + 1)"), encoding="utf-8")
    assert "cc      my_ops/waves_kernels.c" in generate("--package", "my_ops").stdout
    names = {path.name.partition(".")[0] for path in (tmp_path / "my_ops").iterdir() if path.is_file()}
    assert names == {"__init__", "_docstrings", "op_table", "py", "waves", "waves_kernels"}


def test_a_package_within_a_package(generate, run_python, tmp_path):
    inner = tmp_path / "src" / "outer"
    inner.mkdir(parents=True)
    (inner / "__init__.py").write_text("")
    done = generate("--package", "outer.ops", "--output", "src", "--methods")
    assert done.returncode == 0, done.stderr
    code = VALUE.format("outer.ops") + "; print(gs.ones(1).ripple().shape)"
    done = run_python("-c", code, PYTHONPATH=os.pathsep.join(["src", str(ROOT)]))
    assert done.stdout == "True\n(1,)\n", done.stderr


def test_mistakes_end_it(generate, small, tmp_path):
    small.write_text(SMALL.replace("grad *", "gard *"), encoding="utf-8")
    done = generate("--package", "my_ops")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == ["1 error in small.yaml; nothing was written."]
    assert f"{small}:5:9: ripple: formula for 'self' uses 'gard'" in done.stderr
    assert not (tmp_path / "my_ops").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my-ops", "'my-ops' is no name for a package: parts joined by dots, each a Python name"),
        ("a..b", "'a..b' is no name for a package"),
        ("gradsmith.mine", "package 'gradsmith.mine' would be inside gradsmith; choose a name of your own"),
        ("", "'' is no name for a package"),
        ("os", "package 'os' would hide Python's own module 'os', or be hidden by it"),
        ("numpy", "package 'numpy' would hide NumPy, or be hidden by it"),
        ("yaml", "package 'yaml' would hide the module at "),
    ],
)
def test_names_of_packages(generate, name, message):
    done = generate("--package", name)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr


def test_what_somebody_has_written_is_not_overwritten(generate, tmp_path):
    own = tmp_path / "mine" / "__init__.py"
    own.parent.mkdir()
    own.write_text("x = 1\n")
    done = generate("--package", "mine")
    assert done.returncode == 1 and "__init__.py was not generated; choose another package or folder" in done.stderr
    assert own.read_text() == "x = 1\n" and len(list(own.parent.iterdir())) == 1


def test_gradsmith_itself_is_not_overwritten(generate):
    assert "a table of one's own needs --package, or --output" in generate().stderr


def test_a_missing_table(run_python):
    done = run_python("-m", "gradsmith.codegen", "none.yaml", "--output", "out")
    assert done.returncode == 1 and done.stderr.splitlines() == ["[Errno 2] No such file or directory: 'none.yaml'"]


def test_options_that_do_not_go_together(run_python, small):
    assert "--package needs a table" in run_python("-m", "gradsmith.codegen", "--package", "my_ops").stderr
    done = run_python("-m", "gradsmith.codegen", str(small), "--methods")
    assert "--functions and --methods go with --package" in done.stderr


def test_a_missing_compiler_is_named(run_python, small):
    done = run_python("-m", "gradsmith.codegen", str(small), "--package", "my_ops", CC="no-such-cc")
    assert done.returncode == 1
    assert done.stderr.startswith("no C compiler: 'no-such-cc' is not on the path.")
