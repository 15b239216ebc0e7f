"""The loader: what comes, in which order, who makes it, and that nobody is left behind."""

import gc
import math
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    get_worker_info,
)

# From Python 3.12 on a fork of a process with threads warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
WORKERS = [{}, {"num_workers": 2}, {"num_workers": 2, "multiprocessing_context": "fork"}]
PROCESSES = {"num_workers": 2, "multiprocessing_context": "fork"}


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(("DataLoader", "QueueFeeder"))]


@pytest.fixture(autouse=True)
def nobody_is_left_behind():
    yield
    gc.collect()
    end = time.monotonic() + 5
    while (threads() or multiprocessing.active_children()) and time.monotonic() < end:
        time.sleep(0.01)
    assert not threads() and not multiprocessing.active_children()


class Squares(Dataset):
    def __init__(self, count=10):
        self.count = count

    def __getitem__(self, index):
        return index**2

    def __len__(self):
        return self.count


class Numbers(IterableDataset):
    """Each worker has its share."""

    def __init__(self, count=10):
        self.count = count

    def __iter__(self):
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        return iter(range(first, self.count, step))

    def __len__(self):
        return self.count


def as_list(batch):
    return batch


def lists(loader):
    return [batch.tolist() if isinstance(batch, gs.Tensor) else batch for batch in loader]


# ---- what comes


@pytest.mark.parametrize("workers", WORKERS)
def test_batches_in_order(workers):
    loader = DataLoader(Squares(), batch_size=4, **workers)
    for _ in range(2):
        assert lists(loader) == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]] and len(loader) == 3
    assert lists(DataLoader(Squares(), 4, drop_last=True, **workers)) == [[0, 1, 4, 9], [16, 25, 36, 49]]


@pytest.mark.parametrize("workers", WORKERS)
def test_batches_of_samplers(workers):
    assert lists(DataLoader(Squares(), 2, sampler=[3, 1, 2], **workers)) == [[9, 1], [4]]
    batches = BatchSampler([5, 4, 3], 2, drop_last=True)
    assert lists(DataLoader(Squares(), batch_sampler=batches, **workers)) == [[25, 16]]
    assert lists(DataLoader(Squares(3), batch_size=None, **workers)) == [0, 1, 4]


@pytest.mark.parametrize("workers", WORKERS)
def test_an_order_at_random(workers):
    orders = []
    for seed in (0, 0, 1):
        loader = DataLoader(range(100), 10, shuffle=True, generator=gs.Generator().manual_seed(seed), **workers)
        orders.append([x for batch in lists(loader) for x in batch])
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == list(range(100))
    loader = DataLoader(range(100), 10, shuffle=True, **workers)
    assert lists(loader) != lists(loader)


def test_the_number_of_workers_changes_no_order():
    orders = []
    for workers in WORKERS:
        loader = DataLoader(range(50), 5, shuffle=True, generator=gs.Generator().manual_seed(2), **workers)
        orders.append(lists(loader) + lists(loader))
    assert orders[0] == orders[1] == orders[2]


@pytest.mark.parametrize("workers", WORKERS)
def test_iterable_datasets(workers):
    found = lists(DataLoader(Numbers(), batch_size=2, **workers))
    assert sorted(x for batch in found for x in batch) == list(range(10))
    assert found == (
        [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]] if not workers else [[0, 2], [1, 3], [4, 6], [5, 7], [8], [9]]
    )
    assert len(lists(DataLoader(Numbers(), batch_size=2, drop_last=True, **workers))) == (4 if workers else 5)
    assert sorted(DataLoader(Numbers(3), batch_size=None, **workers)) == [0, 1, 2]
    assert lists(DataLoader(Numbers(0), **workers)) == []


@pytest.mark.parametrize("workers", WORKERS)
def test_rows_of_tensors(workers):
    x, y = gs.arange(12.0).view(6, 2), gs.arange(6)
    data = TensorDataset(x, y)
    found = [(a.tolist(), b.tolist()) for a, b in DataLoader(data, 4, **workers)]
    assert found == [(x[:4].tolist(), [0, 1, 2, 3]), (x[4:].tolist(), [4, 5])]
    part = Subset(Subset(data, [5, 4, 3]), [2, 0])
    ((a, b),) = DataLoader(part, 2, **workers)
    assert a.tolist() == [x[3].tolist(), x[5].tolist()] and b.tolist() == [3, 5]
    assert all(type(batch) is list for batch in DataLoader(data, 4, **workers))


def test_rows_are_those_that_samples_would_make():
    data = TensorDataset(gs.randn(9, 2, 3), gs.arange(9), gs.rand(9) > 0.5)
    for at_once, one_by_one in zip(
        DataLoader(data, 4), DataLoader(data, 4, collate_fn=lambda b: gs.utils.data.default_collate(b))
    ):
        for one, other in zip(at_once, one_by_one):
            assert one.dtype == other.dtype and one.tolist() == other.tolist()


@pytest.mark.parametrize("workers", WORKERS)
def test_batches_of_ones_own(workers):
    assert list(DataLoader(Squares(3), 2, collate_fn=as_list, **workers)) == [[0, 1], [4]]


def test_many_samples_at_once():
    class Rows(Squares):
        def __getitems__(self, indices):
            return [-i for i in indices]

    assert lists(DataLoader(Rows(3), 2)) == [[0, -1], [-2]]


# ---- workers


def synchronization(workers):
    """The module whose events and barriers such workers share."""
    return multiprocessing.get_context("fork") if "multiprocessing_context" in workers else threading


@pytest.mark.parametrize("workers", WORKERS[1:])
def test_workers_work_at_the_same_time(workers):
    """Each sample waits for one of the other worker."""

    class Meeting(Squares):
        def __init__(self):
            super().__init__(6)
            self.barrier = synchronization(workers).Barrier(2)

        def __getitem__(self, index):
            self.barrier.wait(timeout=20)
            return index

    assert lists(DataLoader(Meeting(), **workers)) == [[i] for i in range(6)]


def test_how_far_workers_are_ahead():
    asked = []

    class Counting(Squares):
        def __getitem__(self, index):
            asked.append(index)
            return index

    iterator = iter(DataLoader(Counting(100), num_workers=2, prefetch_factor=3))
    next(iterator)
    end = time.monotonic() + 20
    while len(asked) < 7 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(asked) == 7
    del iterator


@pytest.mark.parametrize("workers", WORKERS[1:])
def test_who_they_are(workers):
    class Asking(Squares):
        def __getitem__(self, index):
            info = get_worker_info()
            return info.id, info.num_workers, info.seed, len(info.dataset)

    loader = DataLoader(Asking(4), collate_fn=as_list, generator=gs.Generator().manual_seed(0), **workers)
    found = [batch[0] for batch in loader]
    seed = found[0][2]
    assert found == [(i % 2, 2, seed + i % 2, 4) for i in range(4)] and get_worker_info() is None


@pytest.mark.parametrize("workers", WORKERS[1:])
def test_a_function_for_their_beginning(workers):
    def begin(worker):
        threading.current_thread().greeting = f"worker {worker}"

    class Greeting(Squares):
        def __getitem__(self, index):
            return threading.current_thread().greeting

    assert [b[0] for b in DataLoader(Greeting(2), worker_init_fn=begin, **workers)] == ["worker 0", "worker 1"]

    def fail(worker):
        raise LookupError("no data")

    with pytest.raises(LookupError, match="no data"):
        list(DataLoader(Greeting(2), worker_init_fn=fail, **workers))


def test_processes_have_generators_of_their_own():
    class Drawn(Squares):
        def __getitem__(self, index):
            return random.random(), float(np.random.rand()), gs.rand(()).item()

    def draw(seed):
        loader = DataLoader(Drawn(4), collate_fn=as_list, generator=gs.Generator().manual_seed(seed), **PROCESSES)
        return [batch[0] for batch in loader]

    first = draw(0)
    assert first == draw(0) != draw(1) and len(set(first)) == 4
    assert all(len({row[i] for row in first}) == 4 for i in range(3))


@pytest.mark.parametrize("workers", WORKERS[1:])
def test_workers_that_stay(workers):
    class Identity(Squares):
        def __getitem__(self, index):
            return os.getpid(), threading.get_ident()

    loader = DataLoader(Identity(4), collate_fn=as_list, persistent_workers=True, **workers)
    passes = [{batch[0] for batch in loader} for _ in range(3)]
    assert passes[0] == passes[1] == passes[2] and len(passes[0]) == 2
    iterator = iter(loader)
    next(iterator)
    assert {batch[0] for batch in loader} == passes[0]  # a pass that was not gone through to its end
    assert len(list(loader)) == 4
    del loader, iterator


@pytest.mark.parametrize("workers", WORKERS[1:])
def test_a_pass_that_is_left(workers):
    for batch in DataLoader(Squares(1000), 10, **workers):
        assert batch[0] == 0
        break


@pytest.mark.parametrize("workers", WORKERS[1:])
def test_batches_as_they_are_ready(workers):
    class Uneven(Squares):
        def __init__(self):
            super().__init__(6)
            self.event = synchronization(workers).Event()

        def __getitem__(self, index):
            if index == 0:
                self.event.wait(20)
            elif index == 4:  # asked for once a sample of the other worker has come
                self.event.set()
            return index

    found = [batch[0] for batch in DataLoader(Uneven(), collate_fn=as_list, in_order=False, **workers)]
    assert sorted(found) == list(range(6)) and found[0] != 0


# ---- errors


class Failing(Dataset):
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index == 3:
            raise self.error
        return index


class Special(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


@pytest.mark.parametrize("workers", WORKERS[1:])
@pytest.mark.parametrize(
    "error, kind", [(ValueError("bad"), ValueError), (KeyError("bad"), KeyError), (Special("bad", 1), RuntimeError)]
)
def test_errors_of_workers_have_their_traceback(workers, error, kind):
    iterator = iter(DataLoader(Failing(error), **workers))
    assert [next(iterator).item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(kind) as caught:
        next(iterator)
    text = str(caught.value)
    where = "process" if "multiprocessing_context" in workers else "thread"
    assert text.startswith(f"Caught {type(error).__name__} in DataLoader worker {where} 1.\nOriginal Traceback")
    assert "in __getitem__" in text and "raise self.error" in text and "bad" in text
    assert [batch.item() for batch in iterator] == [4, 5]  # the others come nevertheless


def test_errors_without_workers_are_left_alone():
    error = ValueError("bad")
    with pytest.raises(ValueError) as caught:
        list(DataLoader(Failing(error)))
    assert caught.value is error


def test_a_batch_that_cannot_be_sent():
    with pytest.raises((AttributeError, RuntimeError, TypeError), match="Caught .* in DataLoader worker process 0"):
        list(DataLoader(Squares(2), collate_fn=lambda batch: threading.Lock(), **PROCESSES))


@pytest.mark.parametrize("workers", WORKERS[1:])
def test_a_worker_that_takes_too_long(workers):
    class Sleeping(Squares):
        def __getitem__(self, index):
            time.sleep(0.5)
            return index

    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.1 seconds"):
        list(DataLoader(Sleeping(2), timeout=0.1, **workers))


def test_a_process_that_ends(monkeypatch):
    monkeypatch.setattr("gradsmith.utils.data.iterators.PATIENCE", 0.1)

    class Ending(Squares):
        def __getitem__(self, index):
            os._exit(3)

    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+.*\) exited unexpectedly"):
        list(DataLoader(Ending(4), **PROCESSES))


def test_spawned_processes():
    """Which get the dataset by a pickle, and import the program."""
    loader = DataLoader(Squares(4), 2, num_workers=1, multiprocessing_context="spawn")
    assert lists(loader) == [[0, 1], [4, 9]]


@pytest.mark.parametrize("context", ["None", "'fork'"])
def test_a_program_ends_with_a_pass_under_way(context):
    program = (
        "from gradsmith.utils.data import DataLoader\n"
        f"it = iter(DataLoader(range(100), num_workers=2, multiprocessing_context={context}))\nprint(next(it))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "tensor([0])\n", "")


# ---- what is refused


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        ({"timeout": -1}, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, "prefetch_factor option could only be specified"),
        ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor option should be positive"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
        ({"sampler": [1], "shuffle": True}, "sampler option is mutually exclusive with shuffle"),
        ({"batch_sampler": [[1]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
        ({"batch_sampler": [[1]], "drop_last": True}, "batch_sampler option is mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
        ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
        ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
        ({"num_workers": 1, "multiprocessing_context": "thread"}, "should specify a valid start method"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(Squares(), **options)


def test_options_of_iterable_datasets_that_are_refused():
    for option in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        with pytest.raises(ValueError, match=f"expected unspecified {next(iter(option))} option"):
            DataLoader(Numbers(), **option)
    DataLoader(Numbers(), shuffle=False)
    with pytest.raises(TypeError, match="should be a valid context object"):
        DataLoader(Squares(), num_workers=1, multiprocessing_context=3)


def test_attributes_that_are_fixed():
    loader = DataLoader(Squares(), pin_memory=True, pin_memory_device="cuda")
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader is initialized"):
            setattr(loader, name, None)
    loader.num_workers = 1
    loader.multiprocessing_context = "fork"
    assert loader.batch_size == 1 and not loader.drop_last


def test_a_dataset_with_more_samples_than_it_said():
    class Liar(Numbers):
        def __len__(self):
            return 2

    loader = DataLoader(Liar(3))
    assert len(lists(loader)) == 3
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2 .* but 3 samples have been fetched"):
        list(loader)
    assert len(DataLoader(Numbers(5), 2)) == 3 and len(DataLoader(Numbers(5), 2, drop_last=True)) == 2
    assert len(DataLoader(Numbers(5), None)) == 5


def test_batches_may_be_tuples_of_numbers():
    x, y = gs.arange(6.0), gs.arange(12.0).reshape(6, 2)
    loader = DataLoader(gs.utils.data.TensorDataset(x, y), batch_sampler=[(0, 1), (2, 3, 5)])
    assert [(a.tolist(), b.tolist()) for a, b in loader] == [
        ([0, 1], [[0, 1], [2, 3]]),
        ([2, 3, 5], [[4, 5], [6, 7], [10, 11]]),
    ]


def test_classes_take_types_as_in_annotations():
    for kind in ("DataLoader", "ConcatDataset", "StackDataset", "DistributedSampler", "Dataset", "Subset", "Sampler"):
        assert getattr(gs.utils.data, kind)[list[gs.Tensor]]


def test_a_pass_draws_at_its_first_number():
    for sampler in (
        gs.utils.data.WeightedRandomSampler([1.0] * 20, 5),
        gs.utils.data.RandomSampler(range(20)),
        gs.utils.data.SubsetRandomSampler(range(20)),
    ):
        first, second = iter(sampler), iter(sampler)
        found = []
        for numbers in (first, second):
            gs.manual_seed(0)
            found.append([next(numbers) for _ in range(5)])
        assert found[0] == found[1]


class Noisy(Dataset):
    """Samples with random numbers, some of which take longer."""

    def __getitem__(self, index):
        time.sleep(0.002 * (index % 3))
        return gs.rand(2)

    def __len__(self):
        return 24


@pytest.mark.parametrize("workers", [1, 3])
def test_random_samples_of_threads_are_the_same_in_each_run(workers):
    def run():
        gs.manual_seed(7)
        batches, between = [], []
        for batch in DataLoader(Noisy(), batch_size=2, num_workers=workers):
            batches.append(batch.tolist())
            between.append(gs.rand(1).item())
        return batches, between

    first = run()
    assert run() == run() == first
    assert len({tuple(row) for batch in first[0] for row in batch}) == len(Noisy())


class Span(IterableDataset):
    """Numbers whose bounds a worker may set, as if it had the dataset for itself."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        while self.start < self.end:
            yield self.start
            self.start += 1


def take_share(worker_id):
    info = get_worker_info()
    count = math.ceil((info.dataset.end - info.dataset.start) / info.num_workers)
    info.dataset.start += worker_id * count
    info.dataset.end = min(info.dataset.start + count, info.dataset.end)


@pytest.mark.parametrize("options", [{}, {"multiprocessing_context": "fork"}])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_workers_have_datasets_of_their_own(count, options):
    data = Span(3, 10)
    loader = DataLoader(data, num_workers=count, worker_init_fn=take_share, **options)
    for _ in range(2):
        assert sorted(batch.item() for batch in loader) == [3, 4, 5, 6, 7, 8, 9]
    assert (data.start, data.end) == (3, 10)
    if count < 3:
        loader = DataLoader(data, num_workers=count, **options)
        assert sorted(batch.item() for batch in loader) == sorted([*range(3, 10)] * count)


class Around(Dataset):
    """One that looks for what it lacks in another, and has a slot."""

    __slots__ = ("inner",)

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, index):
        return self.inner[index] + self.shift


class Rows(list, Dataset):
    """One that object.__new__ does not make."""


@pytest.mark.parametrize("dataset", [Around(Squares(4)), Rows([0, 1, 4, 9]), [0, 1, 4, 9]])
def test_datasets_of_unusual_classes_have_workers(dataset):
    if isinstance(dataset, Around):
        dataset.shift = 0
    assert [b.item() for b in DataLoader(dataset, num_workers=2)] == [0, 1, 4, 9]
