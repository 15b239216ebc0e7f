"""Messages between a process and its workers: a kind, a number, and a payload whose buffers are sent as they are."""

from __future__ import annotations

import struct
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from gradsmith.parallel.payloads import Payload

FUNCTION, TASK, VALUE, FAILURE, READY = range(5)

_HEADER = struct.Struct("<BQI")  # kind, number, how many buffers; then the size of each, and the pickle


class Message(NamedTuple):
    """One message. FUNCTION and TASK are sent to a worker; all other kinds come from one."""

    kind: int
    number: int = 0  # of the function, or of the task
    payload: Payload = Payload(b"")


def send(connection: Connection, message: Message) -> None:
    kind, number, (head, buffers) = message
    sizes = struct.pack(f"<{len(buffers)}Q", *(buffer.nbytes for buffer in buffers))
    connection.send_bytes(_HEADER.pack(kind, number, len(buffers)) + sizes + head)
    for buffer in buffers:
        connection.send_bytes(buffer)


def receive(connection: Connection) -> Message:
    """The next message. Arrays in it may be written to: the memory was allocated for them.

    Raises
    ------
    EOFError, OSError
        The other process has ended.
    """
    data = connection.recv_bytes()
    kind, number, count = _HEADER.unpack_from(data)
    start = _HEADER.size + 8 * count
    sizes = struct.unpack_from(f"<{count}Q", data, _HEADER.size)
    return Message(kind, number, Payload(data[start:], [_received(connection, size) for size in sizes]))


def _received(connection: Connection, size: int) -> Any:
    memory = np.empty(size, np.uint8)
    connection.recv_bytes_into(memory.data)
    return memory.data
