"""Groups of workers: threads of this process, or processes."""

from __future__ import annotations

import copyreg
import pickle
import queue
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.runtime.tensors.factories.random import manual_seed, put_own_generator, seeded_lazily
from gradsmith.utils.data.dataset import Dataset
from gradsmith.utils.data.worker import Failure, Plan, WorkerInfo, work

PATIENCE = 5.0  # seconds for a worker to end, and between looks at whether the others are there


class ThreadWorkers:
    """Threads share what the dataset holds, and give batches without copying them."""

    def __init__(self, plan: Plan, count: int, seed: int) -> None:
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.tasks: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in range(count)]
        self.threads = []
        for i, tasks in enumerate(self.tasks):
            own = plan._replace(dataset=own_dataset(plan.dataset))
            info = WorkerInfo(i, count, seed + i, own.dataset)
            thread = threading.Thread(
                target=_work_in_thread,
                args=(own, info, f"DataLoader worker thread {i}", tasks.get, self.results.put),
                name=f"DataLoader-{i}",
                daemon=True,
            )
            self.threads.append(thread)
            thread.start()

    def send(self, worker: int, task: Any) -> None:
        self.tasks[worker].put(task)

    def receive(self, timeout: float) -> Any:
        """The next result of any worker; queue.Empty after `timeout` seconds."""
        return self.results.get(timeout=timeout)

    def lost(self) -> str | None:
        """Which workers have ended on their own; None while all are there."""
        names = [thread.name for thread in self.threads if not thread.is_alive()]
        return ", ".join(names) or None

    def stop(self) -> None:
        for tasks in self.tasks:
            tasks.put(None)
        end = time.monotonic() + PATIENCE
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))
        self.threads = []


def own_dataset(dataset: Any) -> Any:
    """A dataset with the same attributes. A worker may set them, as in a process of its own; what they hold is shared.

    An object that isn't a Dataset, or whose class inherits from one written in C, is shared as a whole. `copy.copy`
    would ask the new object for methods before it has attributes, which is too early for a `__getattr__` that looks
    into another dataset.
    """
    if not isinstance(dataset, Dataset):
        return dataset
    try:
        twin = object.__new__(type(dataset))
    except TypeError:
        return dataset
    for name in _slots_of(type(dataset)):
        if hasattr(dataset, name):
            object.__setattr__(twin, name, getattr(dataset, name))
    twin.__dict__.update(dataset.__dict__)
    return twin


def _slots_of(cls: type) -> list[str]:
    names: list[str] = copyreg._slotnames(cls)  # type: ignore[attr-defined]
    return names


def _work_in_thread(plan: Plan, info: WorkerInfo, *arguments: Any) -> None:
    """With random numbers of its own: what the dataset draws depends on no other worker, nor on who is faster."""
    put_own_generator(seeded_lazily(info.seed))
    work(plan, info, *arguments)


class ProcessWorkers:
    """Processes have copies of the dataset; batches are pickled."""

    def __init__(self, plan: Plan, count: int, seed: int, context: Any) -> None:
        self.results = context.Queue()
        self.tasks = [context.Queue() for _ in range(count)]
        self.processes = []
        try:
            for i, tasks in enumerate(self.tasks):
                process = context.Process(
                    target=_work_in_process, args=(plan, i, count, seed, tasks, self.results), daemon=True
                )
                process.start()
                self.processes.append(process)
        except BaseException:
            self.stop()
            raise

    def send(self, worker: int, task: Any) -> None:
        self.tasks[worker].put(task)

    def receive(self, timeout: float) -> Any:
        return pickle.loads(self.results.get(timeout=timeout))

    def lost(self) -> str | None:
        pids = [str(process.pid) for process in self.processes if not process.is_alive()]
        return f"pid(s) {', '.join(pids)}" if pids else None

    def stop(self) -> None:
        for tasks in self.tasks:
            tasks.put(None)
        self._drain()
        end = time.monotonic() + PATIENCE
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.terminate()
                process.join()
            process.close()
        self.processes = []
        for channel in (*self.tasks, self.results):
            channel.cancel_join_thread()
            channel.close()

    def _drain(self) -> None:
        """A process does not end before what it has given has been taken."""
        end = time.monotonic() + PATIENCE
        while any(process.is_alive() for process in self.processes) and time.monotonic() < end:
            try:
                self.results.get(timeout=0.02)
            except queue.Empty:
                continue
            except (OSError, EOFError):
                return


def _work_in_process(plan: Plan, worker: int, count: int, seed: int, tasks: Any, results: Any) -> None:
    info = WorkerInfo(worker, count, seed + worker, plan.dataset)
    where = f"DataLoader worker process {worker}"
    random.seed(info.seed)
    np.random.seed(info.seed % (1 << 32))
    manual_seed(info.seed)
    try:
        work(plan, info, where, _taker(tasks), lambda result: results.put(_pickled(result, where)))
    except KeyboardInterrupt:  # the main process has got it too, and says so
        results.cancel_join_thread()


def _taker(tasks: Any) -> Callable[[], Any]:
    """Tasks until there is none, or nobody who could want a result."""
    import multiprocessing

    parent = multiprocessing.parent_process()

    def take() -> Any:
        while True:
            try:
                return tasks.get(timeout=PATIENCE)
            except queue.Empty:
                if parent is not None and not parent.is_alive():
                    return None

    return take


def _pickled(result: Any, where: str) -> bytes:
    """Here rather than in the queue, whose thread has nobody to tell of an error."""
    try:
        return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps((*result[:3], _sendable(Failure(error, where))))


def _sendable(failure: Failure) -> Failure:
    try:
        pickle.dumps(failure)
    except Exception:
        failure.kind = RuntimeError
    return failure
