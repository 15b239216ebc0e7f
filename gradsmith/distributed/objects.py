"""Collectives of any Python objects, which are pickled.

They come from the other processes of the same program, which are trusted.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.point_to_point import recv_array, send_array
from gradsmith.distributed.world import get_group_rank, group_of, is_member

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
    "send_object_list",
]  # fmt: skip


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """The objects of all ranks, in a list of as many elements, for all."""
    if not is_member(group, "all_gather_object"):
        return
    group = group_of(group, "all_gather_object")
    if len(object_list) != group.size():
        raise ValueError(f"all_gather_object: object_list should have {group.size()} elements, has {len(object_list)}")
    object_list[:] = [pickle.loads(data) for data in gathered_bytes(group, pickle.dumps(obj))]


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """The objects of all ranks, in a list that one rank gives."""
    if not is_member(group, "gather_object"):
        return
    group = group_of(group, "gather_object")
    target = group_dst if group_dst is not None else get_group_rank(group, 0 if dst is None else dst)
    if (object_gather_list is not None) != (group.rank() == target):
        raise ValueError("gather_object: object_gather_list should be given by the destination rank, and by no other")
    found = gathered_bytes(group, pickle.dumps(obj))
    if object_gather_list is not None:
        object_gather_list[:] = [pickle.loads(data) for data in found]


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None,
) -> None:  # fmt: skip
    """The objects in the list of one rank, in those of all."""
    if not is_member(group, "broadcast_object_list"):
        return
    group = group_of(group, "broadcast_object_list")
    source = group_src if group_src is not None else get_group_rank(group, 0 if src is None else src)
    data = pickle.dumps(object_list) if group.rank() == source else b""
    received = pickle.loads(broadcast_bytes(group, data, source))
    if len(received) != len(object_list):
        raise ValueError(
            f"broadcast_object_list: rank {group.members[source]} sends {len(received)} objects, object_list has "
            f"{len(object_list)}"
        )
    if group.rank() != source:
        object_list[:] = received


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: Sequence[Any] | None = None, src: int | None =
    None, group: Any = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """An object of the list that one rank gives, as the first element of each rank's list."""
    if not is_member(group, "scatter_object_list"):
        return
    group = group_of(group, "scatter_object_list")
    source = group_src if group_src is not None else get_group_rank(group, 0 if src is None else src)
    if not scatter_object_output_list:
        raise ValueError("scatter_object_list: scatter_object_output_list should have at least one element")
    objects = list(scatter_object_input_list or ())
    if group.rank() == source and len(objects) != group.size():
        raise ValueError(f"scatter_object_list: {len(objects)} objects for {group.size()} ranks")
    data = pickle.dumps([pickle.dumps(one) for one in objects]) if group.rank() == source else b""
    scatter_object_output_list[0] = pickle.loads(pickle.loads(broadcast_bytes(group, data, source))[group.rank()])


def send_object_list(
    object_list: Sequence[Any], dst: int | None = None, group: Any = None, device: Any = None,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """Send objects to one rank."""
    group = group_of(group, "send_object_list")
    target = group_dst if group_dst is not None else get_group_rank(group, 0 if dst is None else dst)
    send_array(group, np.frombuffer(pickle.dumps(list(object_list)), np.uint8), target, _TAG).wait()


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> int:
    """Receive objects from one rank, or from any; its number is returned."""
    group = group_of(group, "recv_object_list")
    source = group_src if group_src is not None else None if src is None else get_group_rank(group, src)
    received = recv_array(group, None, source, _TAG)
    received.wait()
    object_list[:] = pickle.loads(received.data.tobytes())
    return int(group.members[received.source])


_TAG = 2


def gathered_bytes(group: ProcessGroup, data: bytes) -> list[bytes]:
    """What all ranks have, of whichever length."""
    lengths = np.empty(group.size(), np.int64)
    group.ranks.start_all_gather(lengths, np.array([len(data)], np.int64)).wait()
    longest = int(lengths.max())
    own = np.zeros(longest, np.uint8)
    own[: len(data)] = np.frombuffer(data, np.uint8)
    everyone = np.empty((group.size(), longest), np.uint8)
    group.ranks.start_all_gather(everyone, own).wait()
    return [row[:length].tobytes() for row, length in zip(everyone, lengths.tolist())]


def broadcast_bytes(group: ProcessGroup, data: bytes, source: int) -> bytes:
    """What one rank has, of whichever length."""
    length = np.array([len(data)], np.int64)
    group.ranks.start_broadcast(length, source).wait()
    buffer = np.frombuffer(data, np.uint8).copy() if group.rank() == source else np.empty(int(length[0]), np.uint8)
    group.ranks.start_broadcast(buffer, source).wait()
    return buffer.tobytes()
