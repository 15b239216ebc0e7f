"""docs/tutorial/add_an_op.md, step by step, on a copy of the project."""

import doctest
import os
import re
import shutil
import stat
import subprocess
import sys

import pytest
from code_blocks import ROOT, blocks_of

from gradsmith.runtime.graph.node import has_internal_checks

PAGE = ROOT / "docs" / "tutorial" / "add_an_op.md"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")

# Handed down by a `make test` around this one: the page's own `make` stands alone.
OUTER_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "VENV", "PYTHON", "ARGS")

pytestmark = pytest.mark.compiles


@pytest.fixture
def project(tmp_path):
    """A copy of the project as it is built now, with an environment that runs this interpreter."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=LEFT_OUT)
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(interpreter(is_debug=has_internal_checks()))
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    (folder / ".venv" / "gradsmith-ready").touch()
    run("make", folder)
    return folder


def interpreter(is_debug):
    """A script in place of a virtual environment's Python. A debug build stays a debug build."""
    again = '[ "$2" = compiling ] && set -- "$@" --debug\n' if is_debug else ""
    return f'#!/bin/sh\n{again}exec "{sys.executable}" "$@"\n'


def run(command, folder, expect_success=True):
    environment = {name: value for name, value in os.environ.items() if name not in OUTER_MAKE}
    environment |= {"PYTHONPATH": str(folder), "PYTHONUTF8": "1"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if expect_success:
        assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def test_the_page_is_true(project):
    built = ""
    for block in blocks_of(PAGE):
        if block.language == "yaml":
            add_entry(project, block.text)
        elif block.language == "console":
            built += run_console(project, block)
        elif block.is_session:
            run_session(project, block)
    linked = re.findall(r"^link +(\S+)", built, re.MULTILINE)
    assert linked == ["gradsmith.generated.activation"], "the page says that only one family is compiled"


def add_entry(project, entry):
    """At the end of the family ``activation``, as the page says."""
    table = project / "derivatives.yaml"
    families = re.split(r"(?m)^(?=\w+:$)", table.read_text(encoding="utf-8"))
    [index] = [i for i, family in enumerate(families) if family.startswith("activation:")]
    families[index] = f"{families[index].rstrip()}\n\n{entry}\n\n"
    table.write_text("".join(families), encoding="utf-8")


def run_console(project, block):
    """Run the commands behind ``$``, one after the other; the last one's output is what follows it."""
    output = ""
    for part in re.split(r"(?m)^\$ ", block.text)[1:]:
        command, _, expected = part.partition("\n")
        found = run(command, project, expect_success="wrong.yaml" not in command)
        check_output(command, expected, found)
        output += found
    return output


def check_output(command, expected, found):
    checker = doctest.OutputChecker()
    assert checker.check_output(expected, found, doctest.ELLIPSIS), f"$ {command}\n{found}\nThe page says:\n{expected}"


def run_session(project, block):
    """In an interpreter of its own: this one has the project's own extensions loaded."""
    with (project / "session.txt").open("a", encoding="utf-8") as session:
        session.write(block.text)  # sessions of the page are one
    run(".venv/bin/python -m doctest -o ELLIPSIS session.txt", project)
