"""``torch.distributed.rpc`` as in a PyTorch that was built without it: libraries import it and ask."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether processes can call functions of each other: they cannot, they exchange tensors and objects."""
    return False


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"torch.distributed.rpc is not available in gradsmith, so it has no {name!r}. Ranks exchange tensors and "
        "objects: send, recv, broadcast_object_list, distributed.nn.functional",
        name=name,
    )
