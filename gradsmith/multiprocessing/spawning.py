"""Several processes that run one function, and the error of the first that fails."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import time
import traceback
from collections.abc import Callable
from typing import Any


class ProcessException(Exception):
    """A process has failed."""

    def __init__(self, msg: str, error_index: int, pid: int | None) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.pid = pid


class ProcessRaisedException(ProcessException):
    """The function raised; the message has the traceback of its process."""


class ProcessExitedException(ProcessException):
    """The process ended by itself, or was ended by a signal."""

    def __init__(self, msg: str, error_index: int, pid: int | None, exit_code: int) -> None:
        super().__init__(msg, error_index, pid)
        self.exit_code = exit_code


class ProcessContext:
    """Processes that run, and what they report."""

    def __init__(self, processes: list[Any], errors: list[Any]) -> None:
        self.processes = processes
        self._errors = errors

    def pids(self) -> list[int | None]:
        """Numbers of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until all have ended, or one has failed.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait at most.
        grace_period : float, optional
            Seconds that the others have to end by themselves after a failure.

        Returns
        -------
        bool
            Have all ended?

        Raises
        ------
        ProcessRaisedException, ProcessExitedException
            When a process failed. The others are ended first.
        """
        running = {process.sentinel: index for index, process in enumerate(self.processes) if process.is_alive()}
        deadline = None if timeout is None else time.monotonic() + timeout
        while running:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            for sentinel in multiprocessing.connection.wait(list(running), left):
                self._check(running.pop(sentinel), grace_period)
            if deadline is not None and time.monotonic() >= deadline:
                return not running
        for index in range(len(self.processes)):
            self._check(index, grace_period)
        return True

    def _check(self, index: int, grace_period: float | None) -> None:
        process = self.processes[index]
        process.join()
        if process.exitcode == 0:
            return
        self._end_others(grace_period)
        if error := self._error_of(index):
            text = f"\n\n-- Process {index} terminated with the following error:\n{error}"
            raise ProcessRaisedException(text, index, process.pid)
        raise ProcessExitedException(
            f"process {index} terminated with exit code {process.exitcode}", index, process.pid, process.exitcode
        )

    def _error_of(self, index: int) -> str:
        """The traceback that a process has sent; empty when it ended without."""
        try:
            return str(self._errors[index].recv()) if self._errors[index].poll() else ""
        except EOFError:
            return ""

    def _end_others(self, grace_period: float | None) -> None:
        deadline = time.monotonic() + (grace_period or 0.0)
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()


def _run(function: Callable[..., Any], index: int, args: tuple[Any, ...], errors: Any) -> None:
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.send(traceback.format_exc())
        raise SystemExit(1) from None


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in `nprocs` processes, with i from zero on.

    Parameters
    ----------
    fn : callable
        Can be pickled: a function at the top of a module.
    args : tuple
        Its arguments after the number of the process.
    nprocs : int
    join : bool
        Whether to wait until all have ended.
    daemon : bool
        Whether the processes end with this one.
    start_method : {"spawn", "fork", "forkserver"}

    Returns
    -------
    ProcessContext or None
        None when joined.

    Raises
    ------
    ProcessRaisedException, ProcessExitedException
        When joined, and a process failed.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for index in range(nprocs):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, index, args, sender), daemon=daemon)
        process.start()
        sender.close()
        processes.append(process)
        errors.append(receiver)
    running = ProcessContext(processes, errors)
    if not join:
        return running
    running.join()
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in `nprocs` new processes; see `start_processes`."""
    if start_method != "spawn":
        raise ValueError(f"spawn(): start_method is 'spawn', not {start_method!r}; use start_processes()")
    return start_processes(fn, args, nprocs, join, daemon, start_method)
