"""Sequences of several lengths: padded to one length, or packed step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradsmith.generated import cat, index_select, reshape, select, stack, transpose
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_batched_tensor, trace_of_thread
from gradsmith.runtime.tensors.factories.creation import as_tensor, from_numpy

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _Parts(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Parts):
    """Sequences of several lengths step by step, without padding; `pack_padded_sequence` and `pack_sequence` make them.

    Attributes
    ----------
    data : Tensor
        The elements of the first step, then those of the second, of all sequences that are so long: (elements, *).
    batch_sizes : Tensor
        How many sequences have each step: int64, (steps,). They do not grow, since the longest sequences come first.
    sorted_indices, unsorted_indices : Tensor or None
        Where each sequence was before they were sorted by length, and where it is now; None where nothing was sorted.

    Notes
    -----
    It can be made from its parts, where `unsorted_indices` follow from `sorted_indices`; the first two may be a pair.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise TypeError("PackedSequence: without batch_sizes, data must be a pair of data and batch_sizes")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Convert the data, as `Tensor.to` does; the same object where they are so already."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self) -> PackedSequence:
        return self.to("cpu")

    def double(self) -> PackedSequence:
        return self.to(dtype=np.float64)

    def float(self) -> PackedSequence:
        return self.to(dtype=np.float32)

    def half(self) -> PackedSequence:
        return self.to(dtype=np.float16)

    def long(self) -> PackedSequence:
        return self.to(dtype=np.int64)

    def int(self) -> PackedSequence:
        return self.to(dtype=np.int32)

    def short(self) -> PackedSequence:
        return self.to(dtype=np.int16)

    def char(self) -> PackedSequence:
        return self.to(dtype=np.int8)

    def byte(self) -> PackedSequence:
        return self.to(dtype=np.uint8)

    @property
    def is_cuda(self) -> bool:
        """No: there is one device."""
        return False

    def is_pinned(self) -> bool:
        """No: there is no memory to pin."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another; None for None.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.nn.utils.rnn import invert_permutation
    >>> invert_permutation(gs.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    return None if permutation is None else from_numpy(np.argsort(permutation.numpy(), kind="stable"))


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """The elements of padded sequences, step by step.

    Parameters
    ----------
    input : Tensor
        Padded sequences: (steps, batch, *), or (batch, steps, *) with `batch_first`.
    lengths : Tensor or sequence of int
        How many steps of each sequence count; on the longest, all are those that are packed.
    batch_first : bool, optional
        Batches come before steps.
    enforce_sorted : bool, optional
        The longest sequences come first already, or else it is an error; without it they are sorted.

    Returns
    -------
    PackedSequence

    Raises
    ------
    RuntimeError
        Lengths are not one for each sequence, not positive, longer than the input, or not sorted though they should be.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.nn.utils.rnn import pack_padded_sequence
    >>> packed = pack_padded_sequence(gs.tensor([[1, 2, 3], [4, 5, 0]]), [3, 2], batch_first=True)
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 5, 3]), tensor([2, 2, 1]))
    """
    _expect_tensor("pack_padded_sequence", "input", input)
    if input.ndim < 2:
        raise RuntimeError(f"pack_padded_sequence(): input has a batch and steps, but its size is {list(input.shape)}")
    steps_first = transpose(input, 0, 1) if batch_first else input
    counts = _lengths_of(lengths, steps_first)
    order: Tensor | None = None
    if not enforce_sorted:
        places = np.argsort(-counts, kind="stable")
        counts, order = counts[places], from_numpy(places)
    elif (np.diff(counts) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence."
        )
    batch_sizes = _batch_sizes(counts)
    sequences = np.arange(len(counts)) if order is None else order.numpy()
    batch = steps_first.shape[1]
    places = np.concatenate([step * batch + sequences[:n] for step, n in enumerate(batch_sizes)])
    data = index_select(_with_rows(steps_first), 0, from_numpy(places))
    return PackedSequence(data, from_numpy(batch_sizes), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Padded sequences of packed ones, in the order that they had; the inverse of `pack_padded_sequence`.

    Parameters
    ----------
    sequence : PackedSequence
        Packed sequences.
    batch_first : bool, optional
        Give (batch, steps, *) instead of (steps, batch, *).
    padding_value : float, optional
        What is after the end of a sequence.
    total_length : int, optional
        How many steps there are; by default those of the longest sequence.

    Returns
    -------
    tuple of Tensor
        Padded sequences, and the length of each.

    Raises
    ------
    ValueError
        `total_length` is less than the longest sequence.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.nn.utils.rnn import pack_sequence, pad_packed_sequence
    >>> packed = pack_sequence([gs.tensor([1, 2]), gs.tensor([3, 4, 5])], enforce_sorted=False)
    >>> pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 0],
            [3, 4, 5]]), tensor([2, 3]))
    """
    if not isinstance(sequence, PackedSequence):
        raise TypeError(f"pad_packed_sequence(): expected a PackedSequence, but got {type(sequence).__name__}")
    sizes = _known("pad_packed_sequence", "batch_sizes", sequence.batch_sizes).astype(np.intp)
    _expect_packed(sequence, sizes)
    steps = len(sizes) if total_length is None else total_length
    if steps < len(sizes):
        raise ValueError(
            f"Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    batch = int(sizes[0])
    lengths = (np.arange(batch) < sizes[:, None]).sum(0)
    places = np.full((steps, batch), sequence.data.shape[0])  # of padding, which comes after all elements
    starts = np.cumsum([0, *sizes])
    for step, n in enumerate(sizes):
        places[step, :n] = np.arange(starts[step], starts[step] + n)
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices.numpy()
        places, lengths = places[:, order], lengths[order]
    padded = _padded_at(sequence.data, places.T if batch_first else places, padding_value)
    return padded, from_numpy(lengths.astype(np.int64))


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences of several lengths, padded to that of the longest and stacked.

    Parameters
    ----------
    sequences : iterable of Tensor
        Each (length, *), with the same sizes after the first.
    batch_first : bool, optional
        Give (batch, steps, *) instead of (steps, batch, *).
    padding_value : float, optional
        What is added.
    padding_side : {'right', 'left'}, optional
        Whether it is after the end or before the beginning.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        There are no sequences, their other sizes differ, or there is no such side.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.nn.utils.rnn import pad_sequence
    >>> pad_sequence([gs.tensor([1, 2]), gs.tensor([3, 4, 5])], batch_first=True, padding_value=9)
    tensor([[1, 2, 9],
            [3, 4, 5]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    each = list(sequences)
    if not each:
        raise RuntimeError("received an empty list of sequences")
    for i, one in enumerate(each):
        _expect_tensor("pad_sequence", f"sequences[{i}]", one)
        if not one.ndim or one.shape[1:] != each[0].shape[1:]:
            raise RuntimeError(
                f"pad_sequence: sequence {i} has the size {list(one.shape)}, which does not go with "
                f"{list(each[0].shape)}: all sizes but the first are the same"
            )
    steps = max(one.shape[0] for one in each)
    return stack([_lengthened(one, steps, padding_value, padding_side) for one in each], 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False
) -> list[Tensor]:
    """The sequences of which padded ones are made: the inverse of `pad_sequence`.

    Parameters
    ----------
    padded_sequences : Tensor
        (steps, batch, *), or (batch, steps, *) with `batch_first`. It is not changed, not even its layout.
    lengths : Tensor or sequence of int
        How many steps of each sequence count.
    batch_first : bool, optional
        Batches come before steps.

    Returns
    -------
    list of Tensor
        Views, (length, *) each.

    Raises
    ------
    ValueError
        Lengths are not one for each sequence.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.nn.utils.rnn import unpad_sequence
    >>> unpad_sequence(gs.tensor([[1, 2, 9], [3, 4, 5]]), [2, 3], batch_first=True)
    [tensor([1, 2]), tensor([3, 4, 5])]
    """
    _expect_tensor("unpad_sequence", "padded_sequences", padded_sequences)
    counts = [int(n) for n in _known("unpad_sequence", "lengths", as_tensor(lengths)).reshape(-1)]
    dim = 0 if batch_first else 1
    if padded_sequences.ndim < 2 or padded_sequences.shape[dim] != len(counts):
        raise ValueError(
            f"unpad_sequence(): there are {len(counts)} lengths for padded sequences of size "
            f"{list(padded_sequences.shape)}"
        )
    return [select(padded_sequences, dim, i)[: max(n, 0)] for i, n in enumerate(counts)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of several lengths, (length, *) each, packed step by step; see `pack_padded_sequence`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.nn.utils.rnn import pack_sequence
    >>> pack_sequence([gs.tensor([1, 2, 3]), gs.tensor([4, 5]), gs.tensor([6])]).data
    tensor([1, 4, 6, 2, 5, 3])
    """
    sequences = list(sequences)
    padded = pad_sequence(sequences)
    return pack_padded_sequence(padded, [one.shape[0] for one in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed, in the order that they had.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.nn.utils.rnn import pack_sequence, unpack_sequence
    >>> unpack_sequence(pack_sequence([gs.tensor([1, 2]), gs.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


# ---- lengths, batch sizes and places


def _expect_tensor(name: str, argument: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(value).__name__}")


def _lengths_of(lengths: Tensor | Sequence[int], steps_first: Tensor) -> np.ndarray[Any, Any]:
    given = as_tensor(lengths) if isinstance(lengths, Tensor) else as_tensor(list(lengths), dtype=np.int64)
    if given.ndim != 1 or (given.numel() and given.dtype.kind not in "iu"):
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {given.ndim}D {given.dtype.name} tensor"
        )
    counts = _known("pack_padded_sequence", "lengths", given).astype(np.int64)
    steps, batch = steps_first.shape[:2]
    if not steps * batch:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(counts) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={batch})"
        )
    if counts.min() < 1:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if counts.max() > steps:
        raise RuntimeError(
            f"pack_padded_sequence(): a length of {counts.max()} is more than the {steps} steps there are"
        )
    return counts


def _known(op: str, name: str, numbers: Tensor) -> np.ndarray[Any, Any]:
    """The numbers, on which shapes depend; an error within `compile` where they differ from call to call."""
    trace = trace_of_thread()
    if trace is not None and is_batched_tensor(numbers) and trace.known_array(trace.slot(numbers)) is None:
        raise trace.call.error(
            f"{op}() makes shapes that depend on '{name}', a tensor of the compiled function. Give it a list of Python "
            f"numbers ({name}.tolist() outside of the function): each list has a program of its own"
        )
    return numbers.numpy()


def _batch_sizes(lengths: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How many sequences have each step."""
    steps = np.arange(lengths[0])[:, None]
    return np.asarray(np.sum(lengths > steps, 1, dtype=np.int64))


def _expect_packed(sequence: PackedSequence, sizes: np.ndarray[Any, Any]) -> None:
    found = sequence.data.shape[0] if sequence.data.ndim else -1
    if sizes.ndim != 1 or not len(sizes) or (np.diff(sizes) > 0).any() or sizes.min() < 0 or sizes.sum() != found:
        raise RuntimeError(
            f"batch_sizes of a PackedSequence do not grow, and add up to its elements, but {sizes.tolist()} are those "
            f"of data of size {list(sequence.data.shape)}"
        )


def _with_rows(steps_first: Tensor) -> Tensor:
    """Steps and sequences as one dimension."""
    steps, batch, *others = steps_first.shape
    return reshape(steps_first, [steps * batch, *others])


def _padded_at(data: Tensor, places: np.ndarray[Any, Any], padding_value: float) -> Tensor:
    """The elements at places; that after the last one is padding."""
    with_padding = _lengthened(data, data.shape[0] + 1, padding_value, "right")
    chosen = index_select(with_padding, 0, from_numpy(np.ascontiguousarray(places).reshape(-1)))
    return reshape(chosen, [*places.shape, *data.shape[1:]])


def _lengthened(sequence: Tensor, steps: int, padding_value: float, side: str) -> Tensor:
    missing = steps - sequence.shape[0]
    if not missing:
        return sequence
    padding = sequence.detach().new_full((missing, *sequence.shape[1:]), padding_value)
    return cat([sequence, padding] if side == "right" else [padding, sequence])
