"""``torch.distributed.autograd`` as in a PyTorch that was built without it: libraries import it and ask."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["context", "is_available"]

_REASON = (
    "torch.distributed.autograd is not available in gradsmith: there are no calls between processes whose gradients it "
    "would gather. The functions of distributed.nn.functional have gradients of their own"
)


def is_available() -> bool:
    """Whether graphs reach into other processes through calls: there are no such calls."""
    return False


class context:
    """Where gradients of calls between processes would be gathered; it cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError(_REASON)


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"{_REASON}. It has no {name!r}", name=name)
