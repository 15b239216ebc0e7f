"""The processes of one program: how they find each other, and which groups there are."""

from __future__ import annotations

import importlib
import os
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any

from gradsmith.distributed.errors import DistBackendError
from gradsmith.distributed.groups.board import Board
from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.groups.pinning import own_cores, pin, share_cores
from gradsmith.distributed.groups.transport import Alone, Mpi
from gradsmith.runtime.arrays.array import get_num_threads, set_num_threads

__all__ = [
    "GroupMember", "ProcessGroup", "default_pg_timeout", "destroy_process_group", "get_backend",
    "get_global_rank", "get_group_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size",
    "init_process_group", "is_initialized", "neighbours", "new_group",
]  # fmt: skip

default_pg_timeout = timedelta(minutes=30)

# Numbers of the names that are written on the board.
COLLECTIVES = [
    "none", "all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter", "gather", "scatter", "all_to_all",
    "barrier", "objects", "monitored_barrier",
]  # fmt: skip

# What launchers tell the processes that they start: how many there are.
_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "PMIX_SIZE")
_CPU_BACKENDS = ("mpi", "gloo")

_COURTESY = 1.0  # seconds that the rank that was the first to fail has for its error and for ending the job


class GroupMember:
    """What `new_group` returns to ranks that are not in the group."""

    NON_GROUP_MEMBER = object()
    WORLD: Any = None


class _World:
    """What `init_process_group` has set up."""

    def __init__(self, transport: Any, board: Board | None, timeout: float, debug: bool) -> None:
        self.board, self.debug = board, debug
        self.groups: list[ProcessGroup] = []
        self.n_groups = 0
        self.threads_before: int | None = None
        self.cores_before = own_cores()
        self.hook_before = sys.excepthook
        self.group = self.add(transport, range(transport.size), timeout, "world")

    def add(self, transport: Any, members: Sequence[int], timeout: float, name: str) -> ProcessGroup:
        number = transport.largest(self.n_groups)  # not every rank is in as many groups
        group = ProcessGroup(transport, members, number, timeout, self.board, self.debug, name)
        self.groups.append(group)
        self.n_groups = number + 1
        return group


_world: _World | None = None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | float | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    *,
    debug: bool | None = None,
    threads: int | None = None,
) -> None:
    """Let the processes of an MPI job find each other.

    ``mpiexec -n 4 python program.py`` starts four processes, the ranks 0 to 3. Started without it, a program is a world
    of one rank, with or without MPI, and everything here works for it.

    Parameters
    ----------
    backend : str, optional
        ``"mpi"``, which is the only one; ``"gloo"`` is taken for it.
    init_method, store : optional
        Accepted and not used: MPI knows the processes.
    timeout : timedelta or float, default 30 minutes
        How long a rank waits in a collective for the others, in seconds if it is a number.
    world_size, rank : int, optional
        What they are expected to be.
    group_name, pg_options, device_id : optional
        Accepted and not used.
    debug : bool, optional
        Errors say at which lines the ranks call what differs. Default: whether the environment variable
        ``GRADSMITH_DISTRIBUTED_DEBUG`` is set.
    threads : int, optional
        Threads of each rank, for kernels and BLAS. Default: the cores of the machine divided among its ranks, unless
        ``GRADSMITH_NUM_THREADS`` is set.

    Raises
    ------
    ModuleNotFoundError
        The process was started by ``mpiexec``, but `mpi4py` is not installed.
    RuntimeError
        It was called before, the processes are fewer or more than `world_size` or the environment variable
        ``WORLD_SIZE`` says, or the backend is for other devices.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributed.init_process_group()
    >>> gs.distributed.get_rank(), gs.distributed.get_world_size()
    (0, 1)
    >>> gs.distributed.destroy_process_group()
    """
    global _world
    if _world is not None:
        raise RuntimeError("trying to initialize the default process group twice!")
    if backend not in (None, *_CPU_BACKENDS):
        raise RuntimeError(f"init_process_group: there is no backend {backend!r}; on the CPU it is 'mpi'")
    transport, board = _connect()
    for what, expected, found in (("world_size", world_size, transport.size), ("rank", rank, transport.rank)):
        if expected not in (-1, found):
            raise RuntimeError(
                f"init_process_group: {what} is {expected}, but for MPI it is {found}: start the program by mpiexec -n"
            )
    if world_size == -1:
        _expect_launcher(transport.size)
    debug = bool(os.environ.get("GRADSMITH_DISTRIBUTED_DEBUG", "0") not in ("", "0")) if debug is None else debug
    _world = _World(transport, board, seconds_of(timeout), debug)
    GroupMember.WORLD = _world.group
    if transport.size > 1:
        _world.threads_before = get_num_threads()
        _limit_threads(transport, threads)
        sys.excepthook = _end_all_ranks


def _expect_launcher(size: int) -> None:
    """Refuse a job of another launcher, whose processes would each be a world of one rank."""
    named = os.environ.get("WORLD_SIZE", "")
    if named.isdigit() and int(named) != size:
        raise RuntimeError(
            f"init_process_group: the environment variable WORLD_SIZE is {named}, as torchrun sets it, but for MPI the "
            f"world has {size}: start the program by mpiexec -n {named}"
        )


def _connect() -> tuple[Any, Board | None]:
    """The messages of the world, and the board of its machine."""
    mpi = _mpi()
    if mpi is None:
        return Alone(), None
    comm = mpi.COMM_WORLD.Dup()
    comm.Set_errhandler(mpi.ERRORS_RETURN)
    return Mpi(mpi, comm), Board(mpi, comm, COLLECTIVES)


def _mpi() -> Any:
    """`mpi4py.MPI`; None if it is not installed and not needed."""
    try:
        return importlib.import_module("mpi4py.MPI")
    except ModuleNotFoundError as error:
        launched = next((int(os.environ[name]) for name in _SIZES if os.environ.get(name, "").isdigit()), 1)
        if launched > 1:
            raise ModuleNotFoundError(
                f"init_process_group: this is one of {launched} processes of an MPI job, which needs mpi4py: "
                "pip install 'gradsmith[mpi]'",
                name=error.name,
            ) from error
        return None


def _limit_threads(transport: Any, threads: int | None) -> None:
    """The ranks of a machine share its cores."""
    if threads is None and not os.environ.get("GRADSMITH_NUM_THREADS"):
        threads = share_cores(transport.comm)
    if threads is not None:
        set_num_threads(threads)


def _end_all_ranks(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
    """An exception that nobody catches ends the job: the others would wait for this rank."""
    is_first = _world is None or _world.board is None or _world.board.watch.fail()
    if is_first or not issubclass(kind, DistBackendError | KeyboardInterrupt):
        _print_traceback(kind, error, at)
    else:
        time.sleep(_COURTESY)  # it comes to all ranks alike, of which one tells
    if _world is not None:
        _world.group.transport.comm.Abort(130 if issubclass(kind, KeyboardInterrupt) else 1)


def _print_traceback(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
    lines = "".join(traceback.format_exception(kind, error, at)).rstrip().split("\n")
    rank = _world.group.rank() if _world is not None else 0
    sys.stdout.flush()
    sys.stderr.write("".join(f"[rank {rank}] {line}\n" for line in lines))
    sys.stderr.flush()


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End the use of a group, or of all.

    Parameters
    ----------
    group : ProcessGroup, optional
        Default: the world, and with it all groups.
    """
    global _world
    world = _expect_world("destroy_process_group")
    if group is not None and group is not world.group:
        world.groups.remove(group)
        group.transport.close()
        return
    sys.excepthook = world.hook_before
    if world.threads_before is not None:
        set_num_threads(world.threads_before)
        pin(world.cores_before)
    for each in reversed(world.groups):
        each.transport.close()
    if world.board is not None:
        world.board.close()
    _world = GroupMember.WORLD = None


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | float | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """A group of some ranks. All ranks of the world call it, in the same order, whether or not they are among them.

    Parameters
    ----------
    ranks : sequence of int, optional
        Default: all.
    timeout : timedelta or float, optional
        Default: that of the world.
    use_local_synchronization : bool
        Only the ranks of the group call it.
    backend, pg_options, device_id : optional
        Accepted and not used.
    group_desc : str, optional
        The name of the group.
    sort_ranks : bool
        The ranks of the group are in the order of the world, and not in that of `ranks`.

    Returns
    -------
    ProcessGroup
        `GroupMember.NON_GROUP_MEMBER` for the others.

    Raises
    ------
    ValueError
        A rank is not in the world, or named twice.
    """
    world = _expect_world("new_group")
    members = list(range(world.group.size())) if ranks is None else sorted(ranks) if sort_ranks else list(ranks)
    if len(set(members)) != len(members) or not set(members) <= set(range(world.group.size())):
        raise ValueError(
            f"new_group: ranks should be different numbers below {world.group.size()}, got {list(ranks or ())}"
        )
    if use_local_synchronization:
        transport = world.group.transport.part_by_itself(members) if get_rank() in members else None
    else:
        transport = world.group.transport.part(members)
    limit = world.group.timeout if timeout is None else seconds_of(timeout)
    if transport is None:
        world.n_groups += not use_local_synchronization
        return GroupMember.NON_GROUP_MEMBER
    return world.add(transport, members, limit, group_desc or f"group {world.n_groups}")


# ---- questions


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return _world is not None


def get_rank(group: Any = None) -> int:
    """The number of this process in a group, or -1 if it is not in it."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return -1
    return group_of(group, "get_rank").rank()


def get_world_size(group: Any = None) -> int:
    """The number of processes of a group, or -1 if this one is not in it."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return -1
    return group_of(group, "get_world_size").size()


def neighbours() -> int:
    """The number of ranks on this machine, of which this process is one."""
    board = _expect_world("neighbours").board
    return 1 if board is None else board.size


def get_pg_count() -> int:
    """The number of groups that this process is in."""
    return len(_expect_world("get_pg_count").groups)


def get_backend(group: Any = None) -> str:
    """``"mpi"``, or ``"alone"`` without it."""
    return group_of(group, "get_backend").name()


def get_process_group_ranks(group: Any = None) -> list[int]:
    """The numbers in the world of a group's ranks."""
    return list(group_of(group, "get_process_group_ranks").members)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number in the world of a group's rank."""
    if not 0 <= group_rank < group.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group.group_name}")
    return group.members[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number in a group of a rank of the world."""
    return group.rank_in_group(global_rank, "get_group_rank")


def group_of(group: Any, op: str) -> ProcessGroup:
    """The group itself, or the world if it is None.

    Raises
    ------
    ValueError
        There is no world yet.
    """
    if group is None:
        return _expect_world(op).group
    if not isinstance(group, ProcessGroup):
        raise TypeError(f"{op}: group should be a ProcessGroup, got {type(group).__name__}")
    return group


def is_member(group: Any, op: str) -> bool:
    """Whether this rank is in the group; otherwise the call of `op` does nothing, and a warning says so."""
    if group is not GroupMember.NON_GROUP_MEMBER:
        return True
    warnings.warn(f"Running {op} on global rank {get_rank()} which does not belong to the given group.", stacklevel=3)
    return False


def _expect_world(op: str) -> _World:
    if _world is None:
        raise ValueError(
            f"{op}: Default process group has not been initialized, please make sure to call init_process_group."
        )
    return _world


def seconds_of(timeout: timedelta | float | None) -> float:
    if timeout is None:
        timeout = default_pg_timeout
    return timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
