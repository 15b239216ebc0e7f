"""What a worker does, in a thread or in a process: take numbers, give batches."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gradsmith.utils.data.collate import default_collate
from gradsmith.utils.data.dataset import Subset, TensorDataset, samples_of

__all__ = ["WorkerInfo", "get_worker_info"]

_local = threading.local()


class WorkerInfo(NamedTuple):
    """A worker, to those that it calls."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """The worker that is running: its ``id``, ``num_workers``, ``seed`` and ``dataset``. None outside of workers.

    Examples
    --------
    >>> from gradsmith.utils.data import DataLoader, IterableDataset, get_worker_info
    >>> class Numbers(IterableDataset):
    ...     def __iter__(self):
    ...         worker = get_worker_info()
    ...         return iter(range(worker.id, 6, worker.num_workers))
    >>> [batch.tolist() for batch in DataLoader(Numbers(), batch_size=3, num_workers=2)]
    [[0, 2, 4], [1, 3, 5]]
    """
    return getattr(_local, "info", None)


class Plan(NamedTuple):
    """What a loader makes of numbers, as workers need it."""

    dataset: Any
    is_iterable: bool
    batch_size: int | None
    drop_last: bool
    collate_fn: Callable[[Any], Any]
    init: Callable[[int], Any] | None
    is_batched: bool


class Exhausted:
    """There is no further batch of this worker."""


class Failure:
    """An error of a worker, on its way to whoever wants the batch.

    Only what can be sent between processes: the class, and the texts of the error and of its traceback.
    """

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind, self.where = type(error), where
        self.text = "".join(traceback.format_exception(type(error), error, error.__traceback__))

    def error(self) -> BaseException:
        message = f"Caught {self.kind.__name__} in {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:  # which shows its message as it would be written in Python
            return _Quoted(message)
        try:
            found = self.kind(message)
        except Exception:  # its class wants other arguments
            return RuntimeError(message)
        return found if isinstance(found, BaseException) else RuntimeError(message)


class _Quoted(KeyError):
    def __str__(self) -> str:
        return str(self.args[0])


class Fetcher:
    """Batches of one pass over a dataset."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.iterator: Iterator[Any] | None = iter(plan.dataset) if plan.is_iterable else None

    def __call__(self, indices: Any) -> Any:
        plan = self.plan
        if self.iterator is not None:
            return self._next_batch(self.iterator)
        if not plan.is_batched:
            return plan.collate_fn(plan.dataset[indices])
        if plan.collate_fn is default_collate:
            batch = _rows_at_once(plan.dataset, indices)
            if batch is not None:
                return batch
        return plan.collate_fn(samples_of(plan.dataset, indices))

    def _next_batch(self, iterator: Iterator[Any]) -> Any:
        plan = self.plan
        if plan.batch_size is None:
            for sample in iterator:
                return plan.collate_fn(sample)
            return Exhausted()
        samples = []
        for sample in iterator:
            samples.append(sample)
            if len(samples) == plan.batch_size:
                break
        if not samples or (plan.drop_last and len(samples) < plan.batch_size):
            return Exhausted()
        return plan.collate_fn(samples)


def _rows_at_once(dataset: Any, indices: list[Any]) -> list[Any] | None:
    """The batch of a TensorDataset, or of a part of one, without making its samples; None of any other."""
    if type(dataset) is Subset:
        return _rows_at_once(dataset.dataset, [dataset.indices[i] for i in indices])
    if type(dataset) is not TensorDataset or not all(type(i) is int for i in indices):
        return None
    rows = list(indices)  # a tuple would be one index of several dimensions
    return [tensor[rows] for tensor in dataset.tensors]


def work(plan: Plan, info: WorkerInfo, where: str, take: Callable[[], Any], give: Callable[[Any], None]) -> None:
    """Run until None is taken.

    ``take()`` gives (pass, number, indices). What is given is the same with a batch, a `Failure` or `Exhausted`
    instead of the indices.
    """
    _local.info = info
    state: dict[str, Any] = {"pass": None, "fetch": None}
    failure = _begun(plan, info, where)
    try:
        while (task := take()) is not None:
            current, number, indices = task
            give((current, number, info.id, failure or _fetched(plan, state, current, indices, where)))
    finally:
        _local.info = None


def _begun(plan: Plan, info: WorkerInfo, where: str) -> Failure | None:
    try:
        if plan.init is not None:
            plan.init(info.id)
    except BaseException as error:
        return Failure(error, where)
    return None


def _fetched(plan: Plan, state: dict[str, Any], current: int, indices: Any, where: str) -> Any:
    try:
        if state["pass"] != current:
            state["pass"], state["fetch"] = current, None
            state["fetch"] = Fetcher(plan)
        if state["fetch"] is None:
            return Exhausted()
        return state["fetch"](indices)
    except BaseException as error:
        return Failure(error, where)
