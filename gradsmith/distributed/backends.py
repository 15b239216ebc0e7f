"""What a program asks before it starts: which backends there are, and how it was launched."""

from __future__ import annotations

import importlib.util
import os

from gradsmith.runtime.arrays.device import DeviceLike

__all__ = [
    "Backend", "get_default_backend_for_device", "get_node_local_rank", "is_available", "is_backend_available",
    "is_gloo_available", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available",
    "is_xccl_available",
]  # fmt: skip

# Where launchers write the number of a process among those of its machine: PyTorch's, MPICH's, Open MPI's, Slurm's.
_LOCAL_RANKS = ("LOCAL_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")


class Backend(str):
    """The name of a backend, in lower case.

    Raises
    ------
    ValueError
        The name is no string.
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend: the name should be a string, got {type(name).__name__}")
        return super().__new__(cls, name.lower())


def is_available() -> bool:
    """Whether there is this package: True. A world of one rank needs nothing else."""
    return True


def is_mpi_available() -> bool:
    """Whether `mpi4py` is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def is_gloo_available() -> bool:
    """Whether `init_process_group` takes ``"gloo"``, PyTorch's backend for processors: True, MPI stands in for it."""
    return True


def is_nccl_available() -> bool:
    """False: it is for other devices."""
    return False


def is_ucc_available() -> bool:
    """False: UCC is not used."""
    return False


def is_xccl_available() -> bool:
    """False: it is for other devices."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether there is what a name says, or all that one such as ``"cpu:gloo,cuda:nccl"`` says."""
    names = [part.rpartition(":")[2] for part in Backend(backend).split(",")]
    known = {Backend.MPI: is_mpi_available, Backend.GLOO: is_gloo_available}
    return all(name in known and known[name]() for name in names)


def get_default_backend_for_device(device: DeviceLike) -> str:
    """``"mpi"`` for the CPU.

    Raises
    ------
    ValueError
        For other devices, which have none.
    """
    if str(device).partition(":")[0] != "cpu":
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.MPI


def is_torchelastic_launched() -> bool:
    """False: ranks are started by ``mpiexec``."""
    return False


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The number of this process among those of its machine, which the launcher tells by an environment variable.

    Parameters
    ----------
    fallback_rank : int, optional
        Returned when no launcher has set a number.

    Raises
    ------
    RuntimeError
        There is no launcher, and no `fallback_rank`.
    """
    for name in _LOCAL_RANKS:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    if fallback_rank is None:
        raise RuntimeError(
            f"get_node_local_rank: none of {', '.join(_LOCAL_RANKS)} is in the environment; give fallback_rank for a "
            "program that was not started by mpiexec"
        )
    return int(fallback_rank)
