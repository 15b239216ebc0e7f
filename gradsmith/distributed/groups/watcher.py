"""The program of the process that watches the ranks of a machine: it waits for their ends and tells of a sudden one.

It is run without site packages and imports little, because the ranks wait until it is there.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import sys

__all__ = ["DONE", "FAILED", "FIRST", "LATER", "READY", "command", "introduction"]

# What a rank says before it ends by itself: that all is well, or that it ends the job with an error.
DONE, FAILED = b".", b"!"
# What it hears: first that the watcher is there, then the numbers of ranks that have died, and at last, when it ends
# the job, whether it is the first of which there is something to tell.
READY, FIRST, LATER = b"\n", b"first\n", b"later\n"

_PATIENCE = 60.0  # seconds until all ranks have introduced themselves

_REPORT = (
    "[rank {rank}] process {process} on {machine} ended without an exception: "
    "killed (by a system out of memory, for one), crashed in native code, or by os._exit{elsewhere}\n"
)
_ELSEWHERE = "; or because of ranks on other machines, if such are named too"


def command(listener: int, ranks: int, address: str, has_other_machines: bool) -> list[str]:
    """What starts the watcher of some ranks, which connect to an open socket.

    The folder of its address is for the socket alone, and removed when all have connected.
    """
    return [
        sys.executable, "-I", "-S", __file__, str(listener), str(ranks), address, str(int(has_other_machines)),
    ]  # fmt: skip


def introduction(rank: int, process: int) -> bytes:
    """The first line of a rank."""
    return f"{rank} {process}\n".encode()


class _Watcher:
    """The lines to all ranks.

    Parameters
    ----------
    listener : socket
    ranks : int
        How many connect to it.
    has_other_machines : bool
        There are ranks that do not.

    Raises
    ------
    TimeoutError
        Not all have come.
    """

    def __init__(self, listener: socket.socket, ranks: int, has_other_machines: bool) -> None:
        self._has_other_machines = has_other_machines
        self._is_told = False
        self._lines = selectors.DefaultSelector()
        listener.settimeout(_PATIENCE)
        for _ in range(ranks):
            line, _ = listener.accept()
            with line.makefile("rb", 0) as first:
                rank, process = first.readline().decode().split()
            self._lines.register(line, selectors.EVENT_READ, (line, int(rank), int(process)))
        self._tell_all(READY)

    def run(self) -> None:
        """Return when all ranks have ended."""
        while self._lines.get_map():
            for key, _ in self._lines.select():  # in the order of their ends
                line, rank, process = key.data
                word = _heard(line)
                self._lines.unregister(line)
                if word == FAILED:
                    _send(line, LATER if self._is_told else FIRST)
                    self._is_told = True
                elif not word:
                    self._tell_all(b"%d\n" % rank)  # not every launcher ends them
                    self._report(rank, process)

    def _tell_all(self, news: bytes) -> None:
        for key in self._lines.get_map().values():
            _send(key.data[0], news)

    def _report(self, rank: int, process: int) -> None:
        """Name the first that has died: the others are killed because of it."""
        if self._is_told:
            return
        self._is_told = True
        elsewhere = _ELSEWHERE if self._has_other_machines else ""
        sys.stderr.write(_REPORT.format(rank=rank, process=process, machine=socket.gethostname(), elsewhere=elsewhere))
        sys.stderr.flush()


def _send(line: socket.socket, news: bytes) -> None:
    with contextlib.suppress(OSError):  # that rank is dead
        line.send(news)


def _heard(line: socket.socket) -> bytes:
    """The last word of a rank; none if it has died."""
    try:
        return line.recv(1)
    except OSError:  # it died with news unread
        return b""


def _main(listener: str, ranks: str, address: str, has_other_machines: str) -> None:
    with contextlib.suppress(TimeoutError, BrokenPipeError):  # who would read it is gone
        try:
            watcher = _Watcher(socket.socket(fileno=int(listener)), int(ranks), has_other_machines == "1")
        finally:
            os.unlink(address)
            os.rmdir(os.path.dirname(address))
        watcher.run()


if __name__ == "__main__":
    _main(*sys.argv[1:])
