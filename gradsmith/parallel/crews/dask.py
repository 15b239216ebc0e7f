"""Dask's cluster: a client of the program's, or workers of this machine."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from gradsmith.parallel.crews.executors import Executor
from gradsmith.parallel.limits import default_workers
from gradsmith.utils.optional import required

__all__ = ["client_crew", "dask_crew"]


def dask_crew(workers: int | None) -> Executor:
    """The client that the program has, or one with processes of this machine, which end with the map."""
    required("dask", "backend='dask'", "distributed.client")  # a folder may have the name of the package
    distributed = importlib.import_module("distributed")
    try:
        return client_crew(distributed.get_client(), workers)
    except ValueError:  # there is none
        stack = contextlib.ExitStack()
        cluster = stack.enter_context(
            distributed.LocalCluster(
                n_workers=workers or default_workers(), threads_per_worker=1, dashboard_address=None
            )
        )
        return client_crew(stack.enter_context(distributed.Client(cluster)), workers, stack)


def client_crew(client: Any, workers: int | None, stack: contextlib.ExitStack | None = None) -> Executor:
    """Dask itself tries a task a few times when its worker ends; what it gives up may be tried again elsewhere."""
    size = workers or sum(client.nthreads().values()) or 1
    submit = client.get_executor(pure=False).submit
    return Executor(submit, size, in_line=workers is None, may_be_tried_again=True, at_end=stack)
