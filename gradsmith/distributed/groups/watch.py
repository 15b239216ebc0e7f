"""The ranks of a machine are watched by a process beside them, which names the first that dies without a word.

A rank that is killed, crashes or calls `os._exit` runs no code of its own at the end, and the launcher kills the others
before they can say anything. But the system closes a socket whatever happens to the process that held it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from typing import Any

from gradsmith.distributed.groups import watcher

__all__ = ["Watch"]

_PATIENCE = 10.0  # seconds until the watcher is there


class Watch:
    """A rank's line to the watcher; all ranks of a machine make one, and the first of them starts the watcher.

    Parameters
    ----------
    node : Intracomm
        The ranks of this machine.
    rank, size : int
        This rank in the world, and how many the world has.
    """

    def __init__(self, node: Any, rank: int, size: int) -> None:
        self._line: socket.socket | None = None
        self._dead: set[int] = set()
        address = node.bcast(_start(node.size, node.size < size) if node.rank == 0 and size > 1 else None)
        if address is None:
            return
        self._line = socket.socket(socket.AF_UNIX)
        self._line.settimeout(_PATIENCE)
        with contextlib.suppress(OSError):
            self._line.connect(address)
            self._line.send(watcher.introduction(rank, os.getpid()))
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._leave)  # a child would keep up the line of a rank that is dead

    def wait(self) -> None:
        """Until the watcher is there: whoever dies from now on is named."""
        if self._line is not None:
            with contextlib.suppress(OSError):  # it could not be started, which is no reason not to go on
                self._line.recv(len(watcher.READY))
            self._line.setblocking(False)

    def dead(self) -> set[int]:
        """The ranks of this machine that have died without a word, as far as this one has heard."""
        if self._line is not None:
            with contextlib.suppress(OSError):  # there is no news
                self._dead.update(map(int, self._line.recv(4096).split()))
        return self._dead

    def fail(self) -> bool:
        """This rank ends the job with an error. Return whether it is the first of which there is something to tell."""
        if self._line is None:
            return True
        heard = watcher.READY
        with contextlib.suppress(OSError):
            self._line.settimeout(_PATIENCE)
            self._line.send(watcher.FAILED)
            while heard and not heard.endswith((watcher.FIRST, watcher.LATER)):
                heard = self._line.recv(4096)
        self._leave()
        return not heard.endswith(watcher.LATER)

    def close(self) -> None:
        """This rank ends by itself, or does not need the others any more."""
        atexit.unregister(self.close)
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.send(watcher.DONE)
        self._leave()

    def _leave(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


def _start(ranks: int, has_other_machines: bool) -> str | None:
    """Start the watcher, and return where ranks reach it: nowhere if the system has no such sockets."""
    if not hasattr(socket, "AF_UNIX") or not sys.executable:
        return None
    folder = None
    try:
        folder = tempfile.mkdtemp(prefix="gradsmith-")
        address = os.path.join(folder, "watcher")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(ranks)
            process = subprocess.Popen(
                watcher.command(listener.fileno(), ranks, address, has_other_machines),
                pass_fds=[listener.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # signals for the job are for its ranks
            )
    except OSError:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return None
    process.returncode = 0  # it may outlive this rank, which does not wait for it
    return address
