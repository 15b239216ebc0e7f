"""External tables: what is built once is kept for all tests here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradsmith as gs

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from outside_tables import ROOT, SMALL  # noqa: E402


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """The folder of built tables, the same for processes that tests start."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADSMITH_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def kinds(cache):
    return gs.load_ops(HERE / "kinds.yaml", functions=HERE / "kinds_functions.py")


@pytest.fixture
def small(cache, tmp_path):
    """A table of one op. Those who only load it find it built after the first time."""
    table = tmp_path / "small.yaml"
    table.write_text(SMALL, encoding="utf-8")
    return table


@pytest.fixture
def run_python(tmp_path):
    """Runs code in another process, which sees gradsmith and the packages in `tmp_path`."""

    def run(*arguments, **environment):
        path = os.pathsep.join([str(ROOT), str(tmp_path)])
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True,
        )  # fmt: skip

    return run
