"""Processes that compute together, on one machine or on many, with PyTorch's names over MPI.

``mpiexec -n 4 python program.py`` starts four processes, and `init_process_group` lets them find each other; `pip
install 'gradsmith[mpi]'` brings all that is needed. Started without `mpiexec` the same program runs as a world of one
rank.

>>> import gradsmith as gs
>>> gs.distributed.init_process_group()
>>> gradient = gs.tensor([1.0, 2.0])
>>> gs.distributed.all_reduce(gradient)  # the sum over all ranks, in place
>>> gradient
tensor([1., 2.])
>>> gs.distributed.destroy_process_group()

`distributed.nn.functional` has collectives that are recorded, `nn.parallel.DistributedDataParallel` trains a module on
all ranks.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.distributed.backends import (
    Backend,
    get_default_backend_for_device,
    get_node_local_rank,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
)
from gradsmith.distributed.collectives import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
)
from gradsmith.distributed.errors import DistBackendError, DistError
from gradsmith.distributed.objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from gradsmith.distributed.point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from gradsmith.distributed.reduce_op import ReduceOp
from gradsmith.distributed.subgroups import new_subgroups, new_subgroups_by_enumeration
from gradsmith.distributed.work import Work
from gradsmith.distributed.world import (
    GroupMember,
    ProcessGroup,
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    is_initialized,
    new_group,
)
from gradsmith.names.missing import missing_attribute

if TYPE_CHECKING:
    from gradsmith.distributed import algorithms as algorithms
    from gradsmith.distributed import checkpoint as checkpoint
    from gradsmith.distributed import nn as nn
    from gradsmith.distributed import optim as optim
    from gradsmith.distributed import parallel as parallel
    from gradsmith.distributed.ddp.grad_bucket import GradBucket as GradBucket

# PyTorch has both names of each.
group = GroupMember
all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor

_MODULES = ("algorithms", "checkpoint", "nn", "optim", "parallel")
# What libraries import to ask whether it is there; see gradsmith/compat/torch/distributed.
_FOR_LIBRARIES = ("autograd", "elastic", "rpc")

__all__ = [
    "Backend", "DistBackendError", "DistError", "GradBucket", "GroupMember", "P2POp", "ProcessGroup", "ReduceOp",
    "Work", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_gather_single", "all_reduce",
    "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list",
    "default_pg_timeout", "destroy_process_group", "gather", "gather_object", "get_backend",
    "get_default_backend_for_device", "get_global_rank", "get_group_rank", "get_node_local_rank", "get_pg_count",
    "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "irecv", "is_available",
    "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
    "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group",
    "new_subgroups", "new_subgroups_by_enumeration", "recv", "recv_object_list", "reduce", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send", "send_object_list",
    *_MODULES,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The building blocks are imported when they are used."""
    if name in (*_MODULES, *_FOR_LIBRARIES, "constants"):
        return importlib.import_module(f"gradsmith.distributed.{name}")
    if name == "GradBucket":
        return importlib.import_module("gradsmith.distributed.ddp").GradBucket
    raise missing_attribute(__name__, name)
