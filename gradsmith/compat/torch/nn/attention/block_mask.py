"""Masks of attention that functions of places describe, with the blocks of them that are empty or full."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from gradsmith.func import vmap
from gradsmith.generated import argsort, logical_or, pad, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import bool_, int32
from gradsmith.runtime.tensors.factories.creation import arange, tensor, zeros

__all__ = ["BlockMask", "and_masks", "create_block_mask", "create_mask", "noop_mask", "or_masks"]

Size = int | tuple[int, int]
_DEFAULT_SPARSE_BLOCK_SIZE = 128


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The mask by which every query sees every key."""
    return tensor(True)


def and_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The mask by which a query sees what all of the masks let it see."""
    _expect_functions("and_masks", mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        found = tensor(True)
        for mask in mask_mods:
            found = found & mask(b, h, q_idx, kv_idx)
        return found

    return and_mask


def or_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The mask by which a query sees what any of the masks lets it see."""
    _expect_functions("or_masks", mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        found = tensor(False)
        for mask in mask_mods:
            found = found | mask(b, h, q_idx, kv_idx)
        return found

    return or_mask


def create_mask(
    mod_fn: Callable[..., Tensor], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """The mask that a function describes, element by element.

    Parameters
    ----------
    mod_fn : callable
        Of four arguments, the numbers of sequence, head, query and key, that says whether the query sees the key; or
        of five, a score before those, that changes the score: minus infinity hides a key.
    B, H : int or None
        The numbers of sequences and heads; None is 1.
    Q_LEN, KV_LEN : int
        The numbers of queries and keys.
    device : optional
        The CPU.

    Returns
    -------
    Tensor
        Of bools, and of shape (B, H, Q_LEN, KV_LEN).
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    if _arguments_of(mod_fn) == 5:
        return ~at_all_places(mod_fn, zeros(sizes, device=device)).isneginf()
    return at_all_places(mod_fn, sizes=sizes).expand(sizes)


def create_block_mask(
    mask_mod: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: Size = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """The blocks of the mask that a function describes, for `flex_attention`.

    Parameters
    ----------
    mask_mod : callable
        Of four arguments, the numbers of sequence, head, query and key, that says whether the query sees the key.
    B, H : int or None
        The numbers of sequences and heads; None is 1, which holds for all.
    Q_LEN, KV_LEN : int
        The numbers of queries and keys.
    device : optional
        The CPU.
    BLOCK_SIZE : int or tuple of int, optional
        How many queries and keys a block has.
    _compile : bool, optional
        Has no effect.
    separate_full_blocks : bool, optional
        Blocks in which all keys are seen are kept apart from those in which some are.

    Returns
    -------
    BlockMask
    """
    if _arguments_of(mask_mod) != 4:
        raise AssertionError(f"create_block_mask(): expected a mask_mod of 4 arguments, but got {mask_mod}")
    size = _pair(BLOCK_SIZE)
    seen = _counts_in_blocks(create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device), size)
    full = (seen == size[0] * size[1]) & separate_full_blocks
    some = _ordered((seen > 0) & ~full)
    whole: Any = _ordered(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(some[0], some[1], whole[0], whole[1], size, mask_mod, (Q_LEN, KV_LEN))


class BlockMask:
    """Which blocks of a mask have a key that is seen, and the function that says which.

    For every row of blocks `kv_num_blocks` has the number of blocks of which a part is seen, and `kv_indices` their
    columns, followed by the other columns; `full_kv_num_blocks` and `full_kv_indices` are about blocks that are seen
    in full. `q_num_blocks` and so on are the same by columns. Made by `create_block_mask` or `from_kv_blocks`.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: Callable[..., Tensor] = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: Size = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: Callable[..., Tensor] | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """A mask of which the blocks are known; arguments are as in the class."""
        size = _pair(BLOCK_SIZE)
        some = _transposed(kv_num_blocks, kv_indices) if compute_q_blocks else (None, None)
        full = _transposed(full_kv_num_blocks, full_kv_indices) if compute_q_blocks else (None, None)
        if seq_lengths is None:
            rows, columns = kv_indices.shape[-2:]
            seq_lengths = (rows * size[0], columns * size[1])
        return cls(
            seq_lengths,
            kv_num_blocks,
            kv_indices,
            full_kv_num_blocks,
            full_kv_indices,
            some[0],
            some[1],
            full[0],
            full[1],
            size,
            noop_mask if mask_mod is None else mask_mod,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of sequences, heads, queries and keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """The numbers of queries and keys, the tensors, the sizes of blocks and the function."""
        lengths, size = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        by_rows = (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)
        by_columns = (self.q_num_blocks, self.q_indices, self.full_q_num_blocks, self.full_q_indices)
        return (*lengths, *by_rows, *by_columns, *size, self.mask_mod)

    def numel(self) -> int:
        """The number of elements of the mask."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The percentage of elements in blocks that are empty."""
        blocks = self.kv_num_blocks.sum()
        if self.full_kv_num_blocks is not None:
            blocks = blocks + self.full_kv_num_blocks.sum()
        return 100 * (1 - float(blocks.item()) * math.prod(self.BLOCK_SIZE) / self.numel())

    def to_dense(self) -> Tensor:
        """For each block 1 where a key is seen, and 0 where none is."""
        some = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return some.to(int32)
        return logical_or(some, _dense(self.full_kv_num_blocks, self.full_kv_indices)).to(int32)

    def to(self, device: Any) -> BlockMask:
        """The mask itself, on the CPU."""
        self.kv_num_blocks.to(device)  # an error when there is no such device
        return self

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some sequences, heads and rows of blocks. `flex_attention` takes it when it has a new
        `mask_mod`, as the function of the whole would get other numbers."""
        chosen = (*index, *[slice(None)] * 3)[:3] if isinstance(index, tuple) else (index, slice(None), slice(None))
        kept = tuple(_as_slice(i) for i in chosen)
        numbers, indices, full_numbers, full_indices = (
            None if part is None else part[kept] for part in self.as_tuple()[2:6]
        )
        return self._of_blocks((numbers, indices), (full_numbers, full_indices), _mask_of_a_slice, self.seq_lengths)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The mask of the first queries and keys."""
        rows, columns = -(-new_q_len // self.BLOCK_SIZE[0]), -(-new_kv_len // self.BLOCK_SIZE[1])

        def cut(numbers: Tensor | None, indices: Tensor | None) -> Any:
            if numbers is None or indices is None:
                return None, None
            return _ordered(_dense(numbers, indices)[..., :rows, :columns])

        some = cut(self.kv_num_blocks, self.kv_indices)
        full = cut(self.full_kv_num_blocks, self.full_kv_indices)
        return self._of_blocks(some, full, self.mask_mod, (new_q_len, new_kv_len))

    def _of_blocks(self, some: Any, full: Any, mask_mod: Callable[..., Tensor], lengths: tuple[int, int]) -> BlockMask:
        by_columns = self.q_indices is not None
        return BlockMask.from_kv_blocks(
            some[0], some[1], full[0], full[1], self.BLOCK_SIZE, mask_mod, lengths, by_columns
        )

    def __repr__(self) -> str:
        name = getattr(self.mask_mod, "__name__", self.mask_mod)
        return (
            f"BlockMask(shape={self.shape}, BLOCK_SIZE={self.BLOCK_SIZE}, sparsity={self.sparsity():.2f}%, "
            f"mask_mod={name})"
        )

    def seen_blocks(self) -> Tensor:
        """For each element of the mask whether its block has a key that is seen."""
        blocks = self.to_dense().to(bool_)
        rows, columns = self.BLOCK_SIZE
        queries, keys = self.seq_lengths
        return blocks.repeat_interleave(rows, -2).repeat_interleave(columns, -1)[..., :queries, :keys]


def at_all_places(fn: Callable[..., Tensor], *scores: Tensor, sizes: tuple[int, ...] = ()) -> Tensor:
    """What a function of single numbers gives at all places of (sequence, head, query, key)."""
    places = [arange(size) for size in (sizes or scores[0].shape)]
    for place in reversed(range(4)):
        fn = vmap(fn, in_dims=(*[0] * len(scores), *[0 if i == place else None for i in range(4)]))
    return fn(*scores, *places)


def is_of_a_slice(mask: BlockMask) -> bool:
    """Whether the function of a mask was lost with `mask[...]`."""
    return mask.mask_mod is _mask_of_a_slice


def _mask_of_a_slice(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
    raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")


def _expect_functions(op: str, mask_mods: tuple[Any, ...]) -> None:
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"{op}(): All inputs should be callable mask_mods: {mask_mods}")


def _arguments_of(fn: Callable[..., Any]) -> int:
    """The number of arguments without a default: 4 of a mask, 5 of a change of scores."""
    needed = [
        p for p in inspect.signature(fn).parameters.values() if p.default is p.empty and p.kind <= p.VAR_POSITIONAL
    ]
    if len(needed) not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {len(needed)}")
    return len(needed)


def _pair(size: Size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def _as_slice(index: Any) -> Any:
    """A number keeps its dimension, as all functions expect four."""
    return slice(index, index + 1 or None) if isinstance(index, int) else index


def _counts_in_blocks(mask: Tensor, size: tuple[int, int]) -> Tensor:
    rows, columns = size
    *outer, queries, keys = mask.shape
    padded = pad(mask, ((0, 0), (0, 0), (0, -queries % rows), (0, -keys % columns)))
    tall, wide = padded.shape[-2] // rows, padded.shape[-1] // columns
    return padded.reshape(*outer, tall, rows, wide, columns).sum((-3, -1))


def _ordered(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """For each row how many blocks are marked, and the columns with those of marked blocks first."""
    marks = blocks.to(int32)
    return marks.sum(-1).to(int32), argsort(marks, dim=-1, descending=True, stable=True).to(int32)


def _dense(numbers: Tensor, indices: Tensor) -> Tensor:
    """The inverse of `_ordered`."""
    columns = indices.shape[-1]
    marked = arange(columns) < numbers.unsqueeze(-1)
    spare = zeros((*indices.shape[:-1], columns + 1), dtype=int32)  # what is not marked goes to one more column
    return spare.scatter(-1, where(marked, indices, columns).long(), 1)[..., :columns].to(bool_)


def _transposed(numbers: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    if numbers is None or indices is None:
        return None, None
    return _ordered(_dense(numbers, indices).transpose(-2, -1))
