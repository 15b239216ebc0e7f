"""Orders in which the dimensions of a tensor may lie in memory, and layouts, by PyTorch's names."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "channels_last", "channels_last_3d", "contiguous_format", "layout", "memory_format", "preserve_format",
    "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr", "strided",
]  # fmt: skip


class layout:
    """How a tensor keeps its elements: `strided`, or `sparse_coo` for an indexed gradient.

    The others are those of PyTorch that no tensor has, for programs that ask.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"gradsmith.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr, sparse_csc = layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")


def expect_strided(op: str, given: object) -> None:
    """Refuse a layout that no new tensor has; None is `strided`, too."""
    if given is None or given is strided:
        return
    if isinstance(given, layout):
        raise NotImplementedError(
            f"{op}(): no tensor is made with the layout {given!r}; leave it out, and see scipy.sparse for sparse "
            "matrices"
        )
    raise TypeError(f"{op}(): argument 'layout' must be gradsmith.strided, not {type(given).__name__}")


class memory_format:
    """An order of dimensions in memory: one of the constants of this module, which are those of the package."""

    __slots__ = ("name", "ndim")

    def __init__(self, name: str, ndim: int | None) -> None:
        self.name = name
        self.ndim = ndim  # that a tensor must have, if any

    def __repr__(self) -> str:
        return f"gradsmith.{self.name}"

    def __reduce__(self) -> str:
        return self.name


contiguous_format = memory_format("contiguous_format", None)
preserve_format = memory_format("preserve_format", None)
channels_last = memory_format("channels_last", 4)
channels_last_3d = memory_format("channels_last_3d", 5)
_FORMATS = {found.name: found for found in (contiguous_format, preserve_format, channels_last, channels_last_3d)}


def format_of(op: str, given: object) -> memory_format:
    """A format, or that of a name; TypeError where it is neither."""
    found = _FORMATS.get(given) if isinstance(given, str) else given
    if not isinstance(found, memory_format):
        raise TypeError(f"{op}(): argument 'memory_format' must be one of {', '.join(_FORMATS)}, not {given!r}")
    return found


def order_of(op: str, ndim: int, given: memory_format) -> list[int]:
    """Dimensions from the outermost in memory to the innermost.

    A tensor may be asked whether it lies in `preserve_format`, which then is `contiguous_format`.

    Raises
    ------
    RuntimeError
        The format says no order, or one for another number of dimensions.
    """
    if given is preserve_format and op != "is_contiguous":
        raise RuntimeError(
            f"{op}(): preserve memory format is unsupported by the {op} operator where memory is to be put in order: "
            "it says no order; choose contiguous_format or channels_last"
        )
    if given is contiguous_format or given is preserve_format:
        return list(range(ndim))
    if ndim != given.ndim:
        raise RuntimeError(f"{op}(): required rank {given.ndim} tensor to use {given.name} format, but got rank {ndim}")
    return [0, *range(2, ndim), 1]


def lies_in_order(shape: Sequence[int], strides: Sequence[int], order: Sequence[int]) -> bool:
    """Whether strides, in elements, are those of memory without gaps in that order; sizes of one have any."""
    expected = 1
    for dim in reversed(order):
        if shape[dim] != 1:
            if strides[dim] != expected:
                return 0 in shape
            expected *= shape[dim]
    return True
