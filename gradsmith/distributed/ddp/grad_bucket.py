"""What a communication hook is given."""

from __future__ import annotations

from typing import Any

__all__ = ["GradBucket"]


class GradBucket:
    """Gradients of some parameters, one after the other in one tensor.

    `DistributedDataParallel` gives it to the hook that was registered by `register_comm_hook`, once for each bucket and
    backward. Buckets are numbered as they are summed: the first has the last parameters.
    """

    def __init__(self, index: int, buffer: Any, parameters: list[Any], is_last: bool) -> None:
        self._index, self._buffer, self._is_last = index, buffer, is_last
        self._parameters = parameters

    def index(self) -> int:
        """The number of the bucket."""
        return self._index

    def buffer(self) -> Any:
        """A tensor of one dimension with all gradients of the bucket."""
        return self._buffer

    def set_buffer(self, buffer: Any) -> None:
        """Let `buffer` return another tensor of as many elements, such as a compressed one."""
        if buffer.shape != self._buffer.shape:
            raise ValueError(
                f"set_buffer: buffer should have shape {tuple(self._buffer.shape)}, but has {tuple(buffer.shape)}"
            )
        self._buffer = buffer

    def gradients(self) -> list[Any]:
        """The gradient of each parameter: parts of the buffer, in their shapes."""
        sizes = [p.numel() for p in self._parameters]
        return [part.view(p.shape) for part, p in zip(self._buffer.split(sizes), self._parameters)]

    def parameters(self) -> list[Any]:
        """The parameters whose gradients these are."""
        return list(self._parameters)

    def is_last(self) -> bool:
        """Whether it is the last bucket of this backward."""
        return self._is_last

    def __repr__(self) -> str:
        return f"<GradBucket {self._index}: {self._buffer.shape[0]} elements of {len(self._parameters)} parameters>"
