"""`map` and `imap` with workers for one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gradsmith.parallel.pool import Pool
from gradsmith.parallel.tasks import Function

__all__ = ["imap", "map"]


def map(
    f: Function,
    xs: Iterable[Any],
    *more_xs: Iterable[Any],
    backend: Any = "threads",
    workers: int | None = None,
    chunksize: int = 1,
    retries: int = 2,
    timeout: float | None = None,
    progress: Any = None,
    cancel: Any = None,
    seed: int | None = None,
) -> list[Any]:
    """Call `f` for each element of `xs`, many at once.

    Parameters
    ----------
    f : callable
        Takes an element of each iterable. Transforms work as they are: ``map(gs.value_and_grad(loss), starts)``.
    xs, *more_xs : iterable
        Arguments; the shortest of the iterables ends the map, as in Python's own.
    backend : {"threads", "processes", "serial", "ray", "dask"} or executor
        Who does the tasks. Threads share memory, and compute at once while they are within ops. Processes share
        nothing: `f`, arguments and results are pickled. "serial" is the calling thread, for debugging. A
        ``concurrent.futures.Executor``, such as that of ``mpi4py.futures``, a Dask ``Client``, or a `Pool` of this
        module is used and left open.
    workers : int, optional
        How many. Default: `get_num_threads`, or what the executor has. The threads of kernels and BLAS are divided
        among them.
    chunksize : int
        Tasks that a worker is given at once. More than 1 pays for tasks of less than a millisecond.
    retries : int
        How often a task is tried again whose worker has ended in the middle of it. What `f` raises is never tried
        again.
    timeout : float, optional
        Seconds for all tasks together, from the call on.
    progress : bool, callable or tqdm, optional
        True shows a bar of tqdm, or a line without it. A function takes the number of tasks that are done, and that of
        all, or None when it is not known. A bar, or its class, has ``update(1)`` called.
    cancel : threading.Event, optional
        Ends the map once it is set, from another thread.
    seed : int, optional
        Each task draws from a generator of its own, whose seed follows from this number and the number of the task:
        results are the same with every backend and any number of workers. Default: drawn from the default generator,
        so that `manual_seed` before decides.

    Returns
    -------
    list
        Results, in the order of the arguments.

    Raises
    ------
    Exception
        The first that a task raises; the others are given up. A note has the number of the task, and the cause the
        traceback of the other process.
    TaskLost
        A worker ended in the middle of a task ``retries + 1`` times.
    TimeoutError, Cancelled
        See `timeout` and `cancel`.
    pickle.PicklingError
        `f`, an argument or a result cannot be sent to another process.
    ModuleNotFoundError
        The package of the backend is not installed.

    Notes
    -----
    Workers take over what the caller has switched on: recording, inference mode, the default dtype and device, anomaly
    mode; threads also hooks of saved tensors and context variables. Processes are started anew, never forked, and
    import nothing of the script. When a map ends early, they are ended; threads cannot be, and go on with the task they
    are at, whose result is dropped.

    Examples
    --------
    >>> import gradsmith as gs
    >>> def energy(x, strength):
    ...     return strength * (x**2).sum()
    >>> gs.parallel.map(gs.grad(energy), [gs.ones(2), gs.zeros(2)], [1.0, 2.0])
    [tensor([2., 2.]), tensor([0., 0.])]
    """
    with _Workers(backend, workers) as pool:
        return pool.map(
            f, xs, *more_xs, chunksize=chunksize, retries=retries, timeout=timeout, progress=progress, cancel=cancel,
            seed=seed,
        )  # fmt: skip


def imap(
    f: Function,
    xs: Iterable[Any],
    *more_xs: Iterable[Any],
    backend: Any = "threads",
    workers: int | None = None,
    chunksize: int = 1,
    retries: int = 2,
    timeout: float | None = None,
    progress: Any = None,
    cancel: Any = None,
    seed: int | None = None,
) -> Iterator[Any]:
    """Iterate over the results of `map`, in the order of the arguments.

    Tasks begin with the first result that is asked for. Workers are a few tasks ahead of the results that were taken,
    so iterables may be endless. An exception of a task is raised in its place, and ends the iteration. Who stops before
    the end calls ``close()`` of the iterator, or drops it: that ends the workers.

    Parameters
    ----------
    f, xs, *more_xs, backend, workers, chunksize, retries, timeout, progress, cancel, seed
        See `map`.

    Returns
    -------
    iterator

    Examples
    --------
    >>> import itertools
    >>> import gradsmith as gs
    >>> roots = gs.parallel.imap(gs.sqrt, map(gs.tensor, itertools.count(1.0)))
    >>> next(roots), next(roots)
    (tensor(1.), tensor(1.4142))
    >>> roots.close()
    """
    workers_of_call = _Workers(backend, workers)
    with workers_of_call as pool:  # nothing has begun yet, but arguments are checked
        results = pool.imap(
            f, xs, *more_xs, chunksize=chunksize, retries=retries, timeout=timeout, progress=progress, cancel=cancel,
            seed=seed,
        )  # fmt: skip
        workers_of_call.stay()
    return _closing(results, workers_of_call)


class _Workers:
    """The pool that is given as the backend, or one for one call."""

    def __init__(self, backend: Any, workers: int | None) -> None:
        self.is_given = isinstance(backend, Pool)
        if self.is_given and workers is not None:
            raise ValueError("a pool has its number of workers; leave out the argument 'workers'")
        self.pool: Pool = backend if self.is_given else Pool(backend, workers)
        self.stays = False

    def stay(self) -> None:
        """They are needed longer than the ``with`` block."""
        self.stays = True

    def close(self) -> None:
        if not self.is_given:
            self.pool.close()

    def __enter__(self) -> Pool:
        return self.pool

    def __exit__(self, *exc_info: object) -> None:
        if not self.stays:
            self.close()


def _closing(results: Any, workers: _Workers) -> Iterator[Any]:
    try:
        yield from results
    finally:
        workers.close()
