"""The default timeout of process groups."""

from gradsmith.distributed.world import default_pg_timeout

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_nccl_timeout = None  # for a library of another device
