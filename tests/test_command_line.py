"""``python -m gradsmith``: what it says about this build and this machine, and where it hands over."""

import json
import os
import subprocess
import sys
import types
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import gradsmith
from gradsmith import environment
from gradsmith.__main__ import main
from gradsmith.runtime.graph.node import has_internal_checks
from gradsmith.runtime.switches import build_facts

ROOT = Path(gradsmith.__file__).resolve().parent.parent


def test_as_a_user_runs_it(tmp_path):
    environment_ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "gradsmith"]
    done = subprocess.run(command, cwd=tmp_path, env=environment_, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith(" "))
    assert lines["gradsmith"].startswith(gradsmith.__version__)
    assert lines["numpy"] == np.__version__
    assert lines["build"].startswith("debug" if has_internal_checks() else "release")
    assert set(lines) == {"gradsmith", "build", "python", "numpy", "blas", "kernels", "threads", "extras"}


def test_json(capsys):
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(json.dumps(environment.facts()))
    assert found["extras"][0]["name"] == "scipy"


def test_versions_of_extras_are_those_installed():
    for extra in environment.facts()["extras"]:
        if extra["name"] == "dot":
            continue
        try:
            assert extra["found"] == metadata.version(extra["name"])
        except metadata.PackageNotFoundError:
            assert extra["found"] is None


def test_what_is_not_found_says_how_to_get_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(environment, "_version_of", lambda name: None)
    assert main([]) == 0
    text = capsys.readouterr().out
    assert "not found: pip install 'gradsmith[scipy]'" in text and "not found: install Graphviz" in text


def test_extras_are_those_of_the_project():
    import re

    listed = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for extra in environment.EXTRAS for name in re.findall(r"gradsmith\[(\w+)\]", extra.install)}
    assert named and named <= listed


def test_the_build_is_described():
    assert build_facts.compiler().split()[0] in ("GCC", "Clang", "MSVC", "an")
    assert build_facts.has_clones() in (True, False)
    features = Path("/proc/cpuinfo")
    if features.exists() and build_facts.has_clones():
        flags = features.read_text()
        expected = "AVX-512" if "avx512vl" in flags else "AVX2" if "avx2" in flags else "SSE2"
        assert build_facts.instruction_set().startswith(expected)


def test_port_gets_the_arguments_that_follow(monkeypatch):
    given = []
    fake = types.ModuleType("gradsmith.compat.port")
    fake.main = lambda arguments: given.append(arguments) or 7
    monkeypatch.setitem(sys.modules, "gradsmith.compat.port", fake)
    assert main(["port", "--help", "model.py"]) == 7
    assert given == [["--help", "model.py"]]


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["--version"], 0), (["nonsense"], 2)])
def test_usage(arguments, code, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == code
    shown = capsys.readouterr()
    assert (shown.err if code else shown.out).strip()
    if arguments == ["--version"]:
        assert shown.out == f"gradsmith {gradsmith.__version__}\n"
