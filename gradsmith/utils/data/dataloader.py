"""`DataLoader`: batches of a dataset."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeAlias, TypeVar

from gradsmith.runtime.tensors.factories.random import Generator
from gradsmith.utils.data.collate import default_collate, default_convert
from gradsmith.utils.data.dataset import IterableDataset
from gradsmith.utils.data.iterators import PassIterator, SingleIterator, WorkersIterator
from gradsmith.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, drawn_seed
from gradsmith.utils.data.worker import Plan

__all__ = ["DataLoader"]

T = TypeVar("T", covariant=True)

# PyTorch's names of two types of arguments, which libraries annotate with, and of one pass over a loader.
_collate_fn_t: TypeAlias = Callable[[list[T]], Any]
_worker_init_fn_t: TypeAlias = Callable[[int], None]
_BaseDataLoaderIter = PassIterator
_SingleProcessDataLoaderIter = SingleIterator
_MultiProcessingDataLoaderIter = WorkersIterator

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader(Generic[T]):
    """Batches of a dataset, in an order that a sampler chooses, made ahead by workers if there are any.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
        Or anything with ``__getitem__`` and ``__len__``.
    batch_size : int or None, default 1
        None gives samples one by one, or what `batch_sampler` asks for.
    shuffle : bool, optional
        In another random order each time.
    sampler, batch_sampler : iterable, optional
        Of numbers of samples, or of lists of them.
    num_workers : int, default 0
        Without workers a batch is made when it is asked for.
    collate_fn : callable, optional
        From a list of samples to a batch; `default_collate`, or `default_convert` of single samples.
    pin_memory, pin_memory_device
        Accepted; all memory is that of the processor.
    drop_last : bool, default False
        Leave out a last batch that is smaller.
    timeout : float, default 0
        Seconds to wait for a batch of a worker; 0 waits as long as workers are there.
    worker_init_fn : callable, optional
        Called in each worker with its number.
    multiprocessing_context : str or context, optional
        Workers are threads by default, which share the dataset and copy nothing; each draws gradsmith's random numbers
        from a generator of its own, seeded by the pass and its number. "fork", "spawn" or "forkserver", or a context
        of `multiprocessing`, makes processes, which do not wait for each other's Python code, and have the generators
        of `random` and NumPy seeded too.
    generator : Generator, optional
        For the order, and for the seeds of workers.
    prefetch_factor : int, optional
        Batches that each worker makes ahead; 2 by default.
    persistent_workers : bool, default False
        Keep workers from one pass to the next.
    in_order : bool, default True
        Do batches come in the order of the sampler, or as they are ready?

    Raises
    ------
    ValueError
        Arguments contradict each other.
    RuntimeError
        While iterating: a worker has ended, or takes too long. Errors of workers are raised with their traceback.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.utils.data import DataLoader, TensorDataset
    >>> data = TensorDataset(gs.arange(5), gs.arange(5) * 10)
    >>> for number, label in DataLoader(data, batch_size=2, num_workers=2):
    ...     print(number.tolist(), label.tolist())
    [0, 1] [0, 10]
    [2, 3] [20, 30]
    [4] [40]
    """

    _is_made = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.is_iterable = isinstance(dataset, IterableDataset)
        if self.is_iterable:
            _refuse_order(shuffle, sampler, batch_sampler)
        _check_batches(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset, self.num_workers, self.timeout, self.generator = dataset, num_workers, timeout, generator
        self.pin_memory, self.pin_memory_device, self.in_order = pin_memory, pin_memory_device, in_order
        self.worker_init_fn, self.persistent_workers = worker_init_fn, persistent_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        if sampler is None and not self.is_iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None and not self.is_iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self.batch_size, self.drop_last, self.batch_sampler = batch_size, drop_last, batch_sampler
        is_batched = batch_sampler is not None or (self.is_iterable and batch_size is not None)
        self.collate_fn = collate_fn or (default_collate if is_batched else default_convert)
        self.multiprocessing_context = multiprocessing_context
        self._expected: int | None = None
        self._passes = 0
        self._kept: Any = None
        self._is_made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_made and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, _context(value, self.num_workers) if name == "multiprocessing_context" else value)

    def __len__(self) -> int:
        if self.is_iterable:
            count = self._expected = len(self.dataset)
            if self.batch_size is None:
                return count
            self._expected = count // self.batch_size if self.drop_last else -(-count // self.batch_size)
            return self._expected
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]

    def __iter__(self) -> PassIterator:
        plan = Plan(
            self.dataset, self.is_iterable, self.batch_size, self.drop_last, self.collate_fn, self.worker_init_fn,
            self.batch_sampler is not None,
        )  # fmt: skip
        seed = drawn_seed(self.generator)  # also without workers: their number changes no order
        indices = self._indices()
        if self.num_workers == 0:
            return SingleIterator(plan, indices, self._expected)
        self._passes += 1
        return WorkersIterator(
            plan, indices, self._expected, self._workers(plan, seed), self._passes, self.prefetch_factor or 1,
            self.timeout, self.in_order, self.persistent_workers,
        )  # fmt: skip

    def _indices(self) -> Iterator[Any]:
        if self.is_iterable:
            return itertools.repeat(None)
        return iter(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]

    def _workers(self, plan: Plan, seed: int) -> Any:
        from gradsmith.utils.data.workers import ProcessWorkers, ThreadWorkers

        if self._kept is not None and self._kept.lost() is None:
            return self._kept
        if self.multiprocessing_context is None:
            workers: Any = ThreadWorkers(plan, self.num_workers, seed)
        else:
            workers = ProcessWorkers(plan, self.num_workers, seed, self.multiprocessing_context)
        if self.persistent_workers:
            self._kept = workers
            weakref.finalize(self, workers.stop)
        return workers


def _context(value: Any, num_workers: int) -> Any:
    """None for threads."""
    if value is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    import multiprocessing

    if isinstance(value, str):
        methods = multiprocessing.get_all_start_methods()
        if value not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods}, but got "
                f"multiprocessing_context={value!r}"
            )
        return multiprocessing.get_context(value)
    if not hasattr(value, "Process") or not hasattr(value, "Queue"):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={value}"
        )
    return value


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified with num_workers > 0; otherwise set prefetch_factor to "
            "None."
        )
    if prefetch_factor is not None and prefetch_factor < 1:
        raise ValueError("prefetch_factor option should be positive")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _refuse_order(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )


def _check_batches(batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
    if batch_size is not None and (not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0):
        raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
