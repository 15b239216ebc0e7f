"""Executors of the standard library and of other packages: those that are installed."""

import concurrent.futures
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import work

import gradsmith as gs


def check(backend, **options):
    """Order, gradients, random numbers and errors are as with our own workers."""
    xs = [gs.full((2,), float(n)) for n in range(5)]
    found = gs.parallel.map(gs.value_and_grad(work.loss), xs, backend=backend, chunksize=2, **options)
    for (value, gradient), x in zip(found, xs):
        expected = gs.value_and_grad(work.loss)(x)
        assert value.item() == expected[0].item() and gradient.tolist() == expected[1].tolist()
    draws = gs.parallel.map(work.draw, range(3), backend="serial", seed=2)
    found = gs.parallel.map(work.draw, range(3), backend=backend, seed=2, **options)
    assert [one.tolist() for one in found] == [one.tolist() for one in draws]
    with pytest.raises(ValueError, match="no 3") as raised:
        gs.parallel.map(work.fail_at_three, range(5), backend=backend, **options)
    assert any("task 3" in note for note in raised.value.__notes__)
    with gs.no_grad():
        assert gs.parallel.map(work.state, [0], backend=backend, **options) == [work.state(0)]
    results = gs.parallel.imap(work.identity, iter(range(10**9)), backend=backend, **options)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    results.close()


def test_threads_of_an_executor():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        check(executor)
        check(executor, workers=1)
        x = gs.tensor(2.0, requires_grad=True)
        sum(gs.parallel.map(lambda n: x * n, [1.0, 2.0], backend=executor)).backward()
        assert x.grad.item() == 3
        assert executor.submit(work.identity, 1).result() == 1


def test_processes_of_an_executor():
    import multiprocessing

    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as executor:
        check(executor)
        assert executor.submit(work.identity, 1).result() == 1
        with pytest.raises(gs.parallel.TaskLost, match=r"task 0 was lost: BrokenProcessPool.*make a new one"):
            gs.parallel.map(work.kill_self, [1], backend=executor)
        with pytest.raises(gs.parallel.TaskLost, match=r"task 0 was lost: BrokenProcessPool"):
            gs.parallel.map(work.identity, range(10**9), backend=executor)


def test_any_executor_will_do():
    """Mpi4py's and others are known by what they can do."""

    class Immediate(concurrent.futures.Executor):
        def submit(self, function, /, *args, **kwargs):
            future = concurrent.futures.Future()
            future.set_result(function(*args, **kwargs))
            return future

    check(Immediate(), workers=2)


MPI = """
import gradsmith as gs
import test_others
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        test_others.check(executor)
    print("checked")
"""


def test_ranks_of_mpi(tmp_path):
    pytest.importorskip("mpi4py")
    launcher = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if launcher is None:
        pytest.skip("mpiexec is not installed")
    (tmp_path / "program.py").write_text(MPI)
    command = [launcher, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(tmp_path / "program.py")]
    here = Path(__file__).resolve().parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (here, here.parents[1])))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "checked", done.stderr[-4000:]


# ---- packages that need not be installed


@pytest.mark.parametrize(("backend", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_missing_package_names_its_extra(backend, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    text = rf"backend='{backend}' needs {package}, which is not installed: pip install gradsmith\[{backend}\]"
    with pytest.raises(ModuleNotFoundError, match=text):
        gs.parallel.map(work.identity, [1], backend=backend)


def test_dask():
    pytest.importorskip("distributed.client")  # a folder of tests has the name of the package
    import distributed

    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        client.run(import_work, os.path.dirname(__file__))
        check(client)
        check("dask")
        check(client.get_executor())


def test_ray(monkeypatch):
    ray = pytest.importorskip("ray")
    # A runtime_env would need more of Ray than its plain package brings.
    path = os.pathsep.join([os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", path)
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        check("ray")
        with pytest.raises(gs.parallel.TaskLost, match="task 1 was lost, 2 times"):
            gs.parallel.map(work.kill_self, range(2), backend="ray", retries=1)
    finally:
        ray.shutdown()


def import_work(folder):
    import sys

    sys.path.insert(0, folder)
