"""Programs that several processes run; each asserts what it sees, and a rank that fails ends them all."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LAUNCHER = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
NEEDS_MPI = pytest.mark.skipif(
    LAUNCHER is None or importlib.util.find_spec("mpi4py") is None, reason="mpi4py or mpiexec is not installed"
)


@pytest.fixture(scope="session")
def launch():
    """Run a program of programs/ with a number of ranks, and return what it has printed."""
    if LAUNCHER is None or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py or mpiexec is not installed")

    def launched(ranks, program, *arguments, timeout=120, options=()):
        if options and "HYDRA" not in subprocess.run([LAUNCHER, "--version"], capture_output=True, text=True).stdout:
            pytest.skip("these options are of MPICH's launcher")
        command = [LAUNCHER, *options, "-n", str(ranks), sys.executable, str(HERE / "programs" / program)]
        command += map(str, arguments)
        path = os.pathsep.join(map(str, (HERE / "programs", HERE.parents[1])))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)

    return launched


@pytest.fixture
def succeeds(launch):
    """The same for a program that has to succeed."""

    def checked(ranks, program, *arguments):
        done = launch(ranks, program, *arguments)
        assert done.returncode == 0, done.stderr[-4000:] + done.stdout[-2000:]
        return done.stdout

    return checked
