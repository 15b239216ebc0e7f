"""`gradsmith.parallel.map` and `imap`, whoever does the tasks."""

import itertools
import threading
import time

import numpy as np
import pytest
import work

import gradsmith as gs
from gradsmith.parallel.engine import Engine, Options
from gradsmith.parallel.tasks import Outcome, Task
from gradsmith.runtime.arrays.array import put_thread_limits, thread_limits
from gradsmith.utils import pytree


def leaves(tree):
    return pytree.flatten(tree)[0]


@pytest.fixture
def limits():
    """Numbers of threads that a test may change."""
    before = thread_limits()
    yield before
    put_thread_limits(before)


def test_results_are_in_order(pool):
    assert pool.map(work.slow_where_even, range(10)) == list(range(10))
    assert list(pool.imap(work.slow_where_even, range(10), chunksize=3)) == list(range(10))


def test_several_iterables_end_with_the_shortest(pool):
    assert pool.map(work.add, [1, 2, 3], (10, 20)) == [11, 22]
    assert list(pool.imap(work.add, itertools.count(), iter([10, 20]))) == [10, 21]


def test_of_nothing_nothing(pool):
    assert pool.map(work.identity, []) == [] and list(pool.imap(work.identity, iter(()))) == []


@pytest.mark.parametrize("transform", [gs.grad, gs.value_and_grad, gs.func.hessian, gs.func.jacfwd])
def test_derivatives_are_those_of_one_process_to_the_last_bit(pool, transform):
    random = np.random.default_rng(0)
    xs = [gs.from_numpy(random.standard_normal(50)) for _ in range(6)]
    function = transform(work.loss)
    for found, x in zip(pool.map(function, xs, chunksize=2), xs):
        expected = function(x)
        for one, other in zip(leaves(found), leaves(expected)):
            assert one.numpy().tobytes() == other.numpy().tobytes()


def test_trees_go_in_and_come_out(pool):
    trees = [{"w": gs.full((2,), float(n)), "b": [gs.ones(2)]} for n in range(3)]
    value, gradient = pool.map(gs.value_and_grad(work.loss_of_tree), trees)[2]
    assert value.item() == 8 and gradient["w"].tolist() == [2, 2] and gradient["b"][0].tolist() == [4, 4]


# ---- random numbers


def test_draws_depend_on_the_seed_and_the_task_alone(pool):
    gs.manual_seed(3)
    expected = gs.parallel.map(work.draw, range(5), backend="serial")
    assert len({tuple(one.tolist()) for one in expected}) == 5
    gs.manual_seed(3)
    assert [one.tolist() for one in pool.map(work.draw, range(5), chunksize=2)] == [one.tolist() for one in expected]
    assert pool.map(work.draw, range(5))[0].tolist() != expected[0].tolist()
    first, second = (pool.map(work.draw, range(2), seed=8) for _ in range(2))
    assert [one.tolist() for one in first] == [one.tolist() for one in second]


def test_the_default_generator_is_the_callers_again():
    gs.manual_seed(0)
    first = gs.randn(2)
    gs.manual_seed(0)
    gs.parallel.map(work.draw, range(3), seed=1, workers=2)
    gs.parallel.map(work.draw, range(3), seed=1, backend="serial")
    assert gs.randn(2).tolist() == first.tolist()


# ---- what is switched on


@pytest.mark.parametrize(
    ("block", "switched"),
    [
        (gs.no_grad, {"grad": False}),
        (gs.inference_mode, {"grad": False, "inference": True}),
        (lambda: gs.device("meta"), {"device": "meta"}),
        (gs.autograd.detect_anomaly, {"anomaly": True}),
    ],
)
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_workers_take_over_what_is_switched(pool, block, switched):
    usual = work.state(0)
    with block():
        expected = work.state(0)
        found = pool.map(work.state, range(3))
        begun = pool.imap(work.state, range(1))
    assert found == [expected] * 3 and expected.items() >= switched.items()
    (begun_with,) = begun
    begun_with["anomaly"] = expected["anomaly"]  # which is the same for all threads at any time
    assert begun_with == expected, "the state is that of the call"
    assert pool.map(work.state, range(3)) == [usual] * 3 and work.state(0) == usual


def test_the_default_dtype_goes_along(pool):
    gs.set_default_dtype(gs.float64)
    try:
        assert pool.map(work.state, [0])[0]["dtype"] == gs.float64
    finally:
        gs.set_default_dtype(gs.float32)
    assert pool.map(work.state, [0])[0]["dtype"] == gs.float32


@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_the_cores_are_divided(limits, backend):
    gs.set_num_threads(4)
    assert gs.parallel.map(work.threads, range(3), backend=backend, workers=2) == [2, 2, 2]
    assert gs.get_num_threads() == 4


def test_the_cores_are_given_back(limits):
    """Those of BLAS too, which the user may have set otherwise than ours."""
    assert gs.parallel.map(lambda x: thread_limits()[0], range(3), workers=64) == [1, 1, 1]
    with pytest.raises(ValueError):
        gs.parallel.map(work.fail_at_three, [3], workers=64)
    assert thread_limits() == limits
    gs.set_num_threads(1)
    of_one = thread_limits()
    put_thread_limits(limits)
    assert thread_limits() == limits != of_one or limits[0] == 1


def test_maps_that_overlap_give_the_cores_back_once(limits):
    gs.set_num_threads(4)
    first = gs.parallel.imap(work.threads, range(3), workers=2)
    second = gs.parallel.imap(work.threads, range(3), workers=2)
    assert [next(first), next(second)] == [2, 1]
    first.close()
    assert gs.get_num_threads() == 1
    second.close()
    assert gs.get_num_threads() == 4


def test_saved_tensor_hooks_and_context_variables_hold_in_threads():
    import contextvars

    variable, packed = contextvars.ContextVar("variable", default=0), []
    variable.set(5)
    with gs.autograd.graph.saved_tensors_hooks(lambda x: packed.append(1) or x, lambda x: x):
        found = gs.parallel.map(lambda x: (gs.exp(x), variable.get()), [gs.ones(1, requires_grad=True)] * 3)
    assert len(packed) == 3 and [value for _, value in found] == [5, 5, 5]


def test_results_of_threads_keep_their_history():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    sum(gs.parallel.map(lambda n: (x * n).sum(), [1.0, 2.0, 3.0])).backward()
    assert x.grad.tolist() == [6, 6]


def test_derivatives_of_a_map():
    def mapped(x):
        return sum(gs.parallel.map(lambda n: (x**n).sum(), [1, 2, 3], workers=2))

    x = gs.tensor([1.0, 2.0], dtype=gs.float64)
    expected = 1 + 2 * x + 3 * x**2
    assert gs.grad(mapped)(x).tolist() == expected.tolist()
    assert gs.func.jvp(mapped, (x,), (gs.ones(2, dtype=gs.float64),))[1].item() == expected.sum().item()
    assert gs.vmap(mapped)(gs.stack([x, x])).tolist() == [mapped(x).item()] * 2


# ---- errors


def test_an_error_says_in_which_task(pool):
    with pytest.raises(ValueError, match="no 3") as raised:
        pool.map(work.fail_at_three, range(6))
    assert any("task 3" in note for note in raised.value.__notes__)
    assert pool.map(work.identity, range(3)) == [0, 1, 2], "the pool goes on"


def test_an_error_comes_in_its_place(pool):
    results = pool.imap(work.fail_at_three, range(6))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no 3"):
        next(results)
    assert list(results) == []


def test_an_error_of_the_arguments_ends_the_map(pool):
    def arguments():
        yield 1
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(pool.imap(work.identity, arguments()))
    assert pool.map(work.identity, [1]) == [1]


def test_an_iterator_that_is_dropped_ends_the_tasks(pool):
    results = pool.imap(work.identity, itertools.count())
    assert next(results) == 0
    with pytest.raises(RuntimeError, match="busy with another map"):
        pool.map(work.identity, range(3))
    results.close()
    assert pool.map(work.identity, range(3)) == [0, 1, 2]


def test_imap_is_a_few_tasks_ahead(pool):
    taken = []

    def arguments():
        for n in itertools.count():
            taken.append(n)
            yield n

    results = pool.imap(work.identity, arguments())
    assert taken == []
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert len(taken) <= 3 + 4 * 2
    results.close()


def test_a_timeout_names_a_task(pool):
    if pool._crew.__class__.__name__ == "Serial":
        pytest.skip("it is the caller who does the task")
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"task 1 has given nothing within the timeout of 0.3 seconds, with 1 of 2"):
        pool.map(work.sleep, [0, 5], timeout=0.3)
    assert time.monotonic() - start < 3
    assert pool.map(work.identity, range(3), timeout=60) == [0, 1, 2]


def test_an_event_cancels(pool):
    event = threading.Event()
    with pytest.raises(gs.parallel.Cancelled, match=r"cancelled with 2 of 100 tasks done"):
        pool.map(work.sleep, [0] * 100, cancel=event, progress=lambda done, total: done == 2 and event.set())
    assert pool.map(work.identity, range(3)) == [0, 1, 2]


def test_results_that_came_together_do_not_count_once_it_is_cancelled():
    class Together:
        """Both its tasks end at the same time."""

        def __init__(self):
            self.chunks = []

        def has_room(self):
            return len(self.chunks) < 2

        def start(self, chunk):
            self.chunks.append(chunk)

        def wait(self, timeout):
            return [Outcome(task.number, task.number) for chunk in self.chunks for task in chunk]

        def finish(self):
            pass

    event, counts = threading.Event(), []
    options = Options(progress=lambda done, total: counts.append(done) or event.set(), cancel=event)
    tasks = iter([Task(number, (), 0) for number in range(5)])
    engine = Engine(Together(), tasks, 5, options, None)
    with pytest.raises(gs.parallel.Cancelled, match="with 1 of 5 tasks done"):
        list(engine.outcomes())
    assert counts == [1]


def test_a_map_that_is_cancelled_before_it_begins_does_nothing(pool):
    event, done = threading.Event(), []
    event.set()
    with pytest.raises(gs.parallel.Cancelled, match="0 of 2"):
        pool.map(work.identity, [1, 2], cancel=event, progress=lambda *numbers: done.append(1))
    assert not done and pool.map(work.identity, [1]) == [1]


def test_cancelling_does_not_wait_for_threads():
    event, release = threading.Event(), threading.Event()
    threading.Timer(0.1, event.set).start()
    with pytest.raises(gs.parallel.Cancelled):
        gs.parallel.map(lambda x: release.wait(10), range(4), cancel=event)
    release.set()


# ---- progress


def test_progress_is_counted(pool):
    seen = []
    pool.map(work.identity, range(3), progress=lambda *numbers: seen.append(numbers))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    list(pool.imap(work.identity, iter(range(2)), progress=lambda *numbers: seen.append(numbers)))
    assert seen[3:] == [(1, None), (2, None)]


def test_progress_bars_are_updated():
    made = []

    class Bar:
        def __init__(self, total):
            self.total, self.done, self.is_closed = total, 0, False
            made.append(self)

        def update(self, n):
            self.done += n

        def close(self):
            self.is_closed = True

    gs.parallel.map(work.identity, range(3), progress=Bar)
    assert (made[0].total, made[0].done, made[0].is_closed) == (3, 3, True)
    own = Bar(5)
    gs.parallel.map(work.identity, range(3), progress=own)
    assert own.done == 3 and not own.is_closed


def test_progress_is_a_line_without_tqdm(capsys, monkeypatch):
    monkeypatch.setattr("gradsmith.parallel.progress.importlib.util.find_spec", lambda name: None)
    gs.parallel.map(work.identity, range(2), progress=True)
    assert capsys.readouterr().err == "\r1 of 2 tasks\r2 of 2 tasks\n"


# ---- nested maps


def test_maps_within_tasks(pool):
    assert pool.map(work.inner, range(5)) == [0, 0, 1, 3, 6]


def test_a_map_within_a_task_has_the_share_of_its_worker(limits):
    gs.set_num_threads(2)
    assert gs.parallel.map(lambda x: gs.parallel.Pool("threads")._crew.size, range(2), workers=2) == [1, 1]
    assert gs.parallel.Pool("threads")._crew.size == 2


# ---- what is asked for


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"backend": "thread"}, ValueError, "backend is one of 'dask', 'processes', 'ray', 'serial', 'threads'"),
        ({"backend": 3}, TypeError, "a concurrent.futures.Executor.* got int"),
        ({"workers": 0}, ValueError, "workers is at least 1, got 0"),
        ({"workers": 2.0}, TypeError, "workers is an int, got float"),
        ({"chunksize": 0}, ValueError, "chunksize is at least 1"),
        ({"retries": -1}, ValueError, "retries is at least 0"),
        ({"timeout": 0}, ValueError, "timeout is None or a number of seconds greater than 0, got 0"),
        ({"progress": 3}, TypeError, "progress is True, False, a function"),
        ({"cancel": 3}, TypeError, "cancel is a threading.Event"),
    ],
)
def test_arguments_are_checked_at_once(options, kind, text):
    for function in (gs.parallel.map, gs.parallel.imap):
        with pytest.raises(kind, match=text):
            function(work.identity, [1], **options)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="f must be callable, got int"):
        gs.parallel.map(3, [1])


def test_a_pool_as_backend_stays_open():
    with gs.parallel.Pool("threads", 2) as pool:
        assert gs.parallel.map(work.identity, [1], backend=pool) == [1]
        assert list(gs.parallel.imap(work.identity, [1], backend=pool)) == [1]
        with pytest.raises(ValueError, match="a pool has its number of workers"):
            gs.parallel.map(work.identity, [1], backend=pool, workers=2)
    with pytest.raises(RuntimeError, match="this pool is closed"):
        pool.map(work.identity, [1])


def test_an_iterator_that_was_never_begun_leaves_nothing():
    before = threading.active_count()
    results = gs.parallel.imap(work.identity, range(3))
    del results
    assert threading.active_count() == before


def test_threads_end_with_the_map():
    before = threading.active_count()
    gs.parallel.map(work.identity, range(10), workers=4)
    assert threading.active_count() == before


def test_nothing_is_imported_before_it_is_used():
    import subprocess
    import sys

    code = "import sys, gradsmith; print('gradsmith.parallel' in sys.modules, 'multiprocessing' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
