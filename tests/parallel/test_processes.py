"""Worker processes: what is sent to them, how they end, and what becomes of their tasks."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import work

import gradsmith as gs
from gradsmith.parallel import payloads

ROOT = Path(gs.__file__).resolve().parents[1]
NEEDS_CLOUDPICKLE = pytest.mark.skipif(not payloads.has_cloudpickle(), reason="cloudpickle is not installed")


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
    except FileNotFoundError:
        return False
    return state != "Z" or threads > 1  # the first thread may be gone before the others: nobody is told yet


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


# ---- workers that end


@pytest.mark.parametrize("chunksize", [1, 4])
def test_only_the_task_of_a_worker_that_ends_is_tried_again(processes, tmp_path, chunksize):
    marker = str(tmp_path / "ended")
    arguments = range(8), [5] * 8, [marker] * 8
    assert processes.map(work.exit_once, *arguments, chunksize=chunksize, retries=1) == list(range(8))
    os.remove(marker)
    with pytest.raises(
        gs.parallel.TaskLost, match=r"task 5 was lost: its process \d+ ended with exit code 3"
    ) as raised:
        processes.map(work.exit_once, *arguments, chunksize=chunksize, retries=0)
    assert raised.value.index == 5


def test_a_worker_that_ends_while_it_is_given_tasks(processes, tmp_path):
    """The tasks of a chunk that are too large to lie ready for it; what it has answered counts."""
    marker = str(tmp_path / "ended")
    arguments = [np.zeros(1 << 20)] * 4, range(4), [1] * 4, [marker] * 4
    with pytest.raises(gs.parallel.TaskLost, match=r"task 1 was lost: its process \d+ ended with exit code 3"):
        processes.map(work.exit_once_beside, *arguments, chunksize=4, retries=0)
    os.remove(marker)
    assert processes.map(work.exit_once_beside, *arguments, chunksize=4, retries=1) == list(range(4))


def test_a_task_that_always_ends_its_worker_is_named(processes):
    with pytest.raises(gs.parallel.TaskLost, match=r"task 1 was lost, 3 times: its process \d+ was ended by SIGKILL"):
        processes.map(work.kill_self, range(4))


def test_a_worker_that_ended_between_maps_is_replaced(processes):
    before = set(processes.map(work.pid, range(8)))
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(map(is_running, before)))
    after = set(processes.map(work.pid, range(8), retries=0))
    assert after and not after & before


def test_workers_are_kept(processes):
    first, second = (set(processes.map(work.pid, range(20))) for _ in range(2))
    assert len(first | second) <= 2 and os.getpid() not in first


def test_workers_end_with_the_map():
    pids = gs.parallel.map(work.pid, range(3), backend="processes", workers=2)
    assert not any(map(is_running, pids))


def test_cancelling_ends_the_workers():
    event = threading.Event()
    results = gs.parallel.imap(
        work.pid, [0], backend="processes", workers=1, cancel=event, progress=lambda done, total: event.set()
    )
    pid = next(results, None)
    with pytest.raises(gs.parallel.Cancelled):
        gs.parallel.map(work.sleep, [60, 60], backend="processes", workers=2, cancel=event)
    results.close()
    assert pid is None or not is_running(pid)


def test_a_worker_that_cannot_start(monkeypatch, capfd):
    monkeypatch.setattr("gradsmith.parallel.crews.processes._path", list)
    with pytest.raises(gs.parallel.TaskLost, match="ended with exit code 1 while it was starting; what it has written"):
        gs.parallel.map(work.identity, [0], backend="processes", workers=1, retries=0)
    assert "No module named" in capfd.readouterr().err


def test_an_exit_is_an_exception_like_others(processes):
    with pytest.raises(SystemExit) as raised:
        processes.map(work.leave, [0])
    assert raised.value.code == 5


def test_ctrl_c_is_left_to_the_process_that_waits(processes):
    assert processes.map(work.interrupts, range(2), retries=0) == [0, 1]


# ---- programs


def run(program, tmp_path, *, check=True, **options):
    """A script as a user would write it: no guard of its main module."""
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60, **options)
    assert not check or done.returncode == 0, done.stderr
    return done


def with_work():
    """An environment in which scripts find what tasks do."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(Path(__file__).parent), str(ROOT)))}


@NEEDS_CLOUDPICKLE
def test_a_script_needs_no_guard(tmp_path):
    program = """
        import gradsmith as gs

        print("begin")

        class Point:
            def __init__(self, x):
                self.x = x

        def distance(x):
            print("task", flush=True)
            return gs.grad(lambda y: ((y - offset) ** 2).sum())(x), Point(float(x.sum()))

        @gs.grad
        def slope(x):
            return (x * offset).sum()

        offset = gs.tensor(1.0)
        found = gs.parallel.map(distance, [gs.ones(2), gs.zeros(2)], backend="processes", workers=2)
        assert isinstance(found[1][1], Point)
        print(found[1][0], gs.parallel.map(slope, [gs.ones(1)], backend="processes"))
    """
    done = run(program, tmp_path)
    assert done.stdout.count("begin") == 1 and done.stdout.count("task") == 2
    assert "tensor([-2., -2.]) [tensor([1.])]" in done.stdout and not done.stderr


def test_a_script_without_cloudpickle_is_told_what_to_do(tmp_path):
    program = """
        import importlib.util
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: None if name == "cloudpickle" else find(name, *rest)
        import gradsmith as gs

        def f(x):
            return x

        gs.parallel.map(f, [1], backend="processes", workers=1)
    """
    done = run(program, tmp_path, check=False)
    last = done.stderr.splitlines()[-1]
    assert "f, <function f at" in last and "f is defined in the script that runs" in last
    assert "pip install 'gradsmith[parallel]'" in last


def test_an_executor_that_cannot_start_processes_says_why(tmp_path):
    program = """
        import concurrent.futures, multiprocessing
        import gradsmith as gs

        executor = concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        gs.parallel.map(gs.sin, [gs.ones(1)], backend=executor)
    """
    done = run(program, tmp_path, check=False)
    assert 'the script may need `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]


def test_ctrl_c_ends_everything(tmp_path):
    program = """
        import os, sys, threading
        import gradsmith as gs
        import work

        pool = gs.parallel.Pool("processes", 2)
        print(*set(pool.map(work.pid, range(20))), flush=True)
        pool.map(work.sleep, [60, 60])
    """
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(path)], env=with_work(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    pids = [int(word) for word in process.stdout.readline().split()]
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors.splitlines()[-1]
    assert pids and not any(map(is_running, pids))


def test_ctrl_c_does_not_wait_for_threads(tmp_path):
    program = """
        import os, signal, threading
        import gradsmith as gs
        import work

        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        gs.parallel.map(work.sleep, [60, 60], workers=2)
    """
    start = time.monotonic()
    done = run(program, tmp_path, check=False, env=with_work())
    assert "KeyboardInterrupt" in done.stderr.splitlines()[-1] and time.monotonic() - start < 20


def test_workers_end_when_their_process_is_killed(tmp_path):
    program = """
        import os
        import gradsmith as gs
        import work

        pool = gs.parallel.Pool("processes", 2)
        print(*set(pool.map(work.pid, range(20))), flush=True)
        results = pool.imap(work.sleep, [60, 60])
        import threading
        threading.Timer(0.2, lambda: os.kill(os.getpid(), 9)).start()
        next(results)
    """
    done = run(program, tmp_path, check=False, env=with_work())
    assert done.returncode == -signal.SIGKILL
    pids = [int(word) for word in done.stdout.split()]
    assert pids
    wait_until(lambda: not any(map(is_running, pids)))


def test_a_program_ends_whatever_it_leaves_open(tmp_path):
    program = """
        import time
        import gradsmith as gs
        import work

        pool = gs.parallel.Pool("processes", 1)
        first = pool.imap(work.sleep, [0, 60, 60])
        print(next(first))
        second = gs.parallel.imap(work.sleep, [0, 60, 60], backend="threads")
        print(next(second))
        third = gs.parallel.imap(work.sleep, [0, 60], backend="processes", workers=1)
        print(next(third))
    """
    start = time.monotonic()
    done = run(program, tmp_path, env=with_work())
    assert done.stdout.split() == ["0", "0", "0"] and time.monotonic() - start < 30


# ---- what is sent


@NEEDS_CLOUDPICKLE
def test_closures_and_lambdas(processes):
    scale = gs.tensor(3.0)
    assert processes.map(gs.grad(lambda x: scale * x * x), [gs.tensor(1.0)])[0].item() == 6
    assert processes.map(lambda x: processes_of_task(x), [1]) == [1]


def processes_of_task(x):
    return len({x, os.getpid()}) - 1


def test_large_arrays_are_not_copied_into_the_pickle():
    array = np.arange(100_000.0)
    payload = payloads.dumped([gs.from_numpy(array), array, gs.ones(3)], lambda: "it")
    assert len(payload.head) < 1000 and [buffer.nbytes for buffer in payload.buffers] == [800_000] * 2
    assert np.shares_memory(np.frombuffer(payload.buffers[0]), array)


@pytest.mark.parametrize("size", [3, 100_000])
def test_arrays_may_be_written_to_on_both_sides(processes, size):
    array = np.zeros(size)
    found = processes.map(work.write_to, [array, gs.zeros(size)])
    assert array[0] == 0 and found[0][0] == 7 and found[1][0].item() == 7
    found[0][1] = found[1][1] = 1.0


def test_compiled_functions_are_compiled_there(processes):
    xs = [gs.full((2,), float(n)) for n in range(3)]
    found = processes.map(gs.compile(gs.value_and_grad(work.loss)), xs)
    for (value, gradient), x in zip(found, xs):
        expected = gs.value_and_grad(work.loss)(x)
        assert value.item() == expected[0].item() and gradient.tolist() == expected[1].tolist()


def test_modules_go_there_and_back(processes):
    model = gs.nn.Sequential(gs.nn.Linear(3, 2), gs.nn.Tanh())
    x = gs.randn(4, 3)
    (found,) = processes.map(work.identity, [model])
    assert found(x).tolist() == model(x).tolist()
    found(x).sum().backward()
    assert found[0].weight.grad is not None and model[0].weight.grad is None


def test_a_result_with_a_history_names_the_task(processes):
    with pytest.raises(pickle.PicklingError, match=r"the result of task 0 cannot be sent.*detach\(\) it first"):
        processes.map(work.with_history, [1])


def test_an_argument_that_cannot_be_pickled_names_the_task(processes):
    x = gs.ones(2, requires_grad=True) * 2
    with pytest.raises(pickle.PicklingError, match=r"an argument of task 2 cannot be sent.*detach\(\) it first"):
        processes.map(work.identity, [1, 2, x])
    with pytest.raises(pickle.PicklingError, match=r"an argument of task 0 cannot be sent.*lock"):
        processes.map(work.identity, [threading.Lock()])
    assert processes.map(work.identity, [1]) == [1]


def test_a_function_that_cannot_be_pickled_is_named(processes):
    lock = threading.Lock()
    with pytest.raises(pickle.PicklingError, match=r"f, <function .*cannot be sent to another process: .*"):
        processes.map(lambda x: lock, [1])


def test_dual_and_batched_tensors_are_refused(processes):
    def mapped(x):
        return sum(processes.map(work.identity, [x]))

    x = gs.ones(2)
    with pytest.raises(pickle.PicklingError, match="tangent of forward mode cannot be pickled"):
        gs.func.jvp(mapped, (x,), (x,))
    with pytest.raises(pickle.PicklingError, match="argument of task 0 cannot be sent"):
        gs.vmap(mapped)(x)


def test_a_pool_is_not_sent(processes):
    with pytest.raises(pickle.PicklingError, match="cannot pickle a pool"):
        processes.map(work.identity, [processes])


# ---- errors and output of tasks


def test_the_cause_of_an_error_is_the_traceback_of_the_other_process(processes):
    with pytest.raises(ValueError, match="no 3") as raised:
        processes.map(work.fail_at_three, range(4))
    text = str(raised.value.__cause__)
    assert "In task 3, in another process" in text and 'raise ValueError(f"no {x}")' in text


def test_exceptions_that_cannot_be_pickled(processes):
    with pytest.raises(gs.parallel.RemoteError, match="Picky: picky about 0, which cannot be pickled"):
        processes.map(work.fail_pickily, [0])
    with pytest.raises(Exception, match="of nobody else's") as raised:
        processes.map(work.fail_with_local_class, [0])
    assert type(raised.value).__name__ in ("Local", "RemoteError")


def test_random_numbers_of_python_and_numpy_are_seeded(processes):
    first, second = (processes.map(work.draw_elsewhere, range(3), seed=1) for _ in range(2))
    assert first == second and len(set(first)) == 3


def test_what_tasks_print_is_seen(tmp_path):
    program = "import gradsmith as gs, work\ngs.parallel.map(work.say, [1, 2], backend='processes', workers=1)\n"
    assert run(program, tmp_path, env=with_work()).stdout == "said 1\nsaid 2\n"


def test_processes_within_processes(processes):
    assert processes.map(work.inner_in_processes, [3]) == [3]


def test_a_worker_has_the_path_of_its_process(tmp_path, monkeypatch):
    (tmp_path / "found_by_path.py").write_text("def double(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import found_by_path

    assert gs.parallel.map(found_by_path.double, [2], backend="processes", workers=1) == [4]
