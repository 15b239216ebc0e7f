"""Helpers of ops that join, cut, repeat and turn tensors; the types that formulas may call them with are in the .pxd.

They are written with methods of tensors, so the ops that call them are differentiated and batched by their parts.
"""

from gradsmith.runtime.formulas.numbers cimport wrapped
from gradsmith.runtime.formulas.replaced cimport padded

import itertools
import math

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.memory_format import format_of, order_of, preserve_format
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors.factories.creation import ones, zeros


cpdef object from_end(object dim, object ndim):
    """A dimension counted from the last one, which is the same with more dimensions in front."""
    return wrapped(dim, ndim) - (ndim or 1)


cdef object at_least(object tensor, object ndim):
    if tensor.ndim == 0:
        tensor = tensor.reshape(1)
    if tensor.ndim < 2 <= ndim:
        tensor = tensor.unsqueeze(0)
    return tensor.unsqueeze(-1) if tensor.ndim < ndim else tensor


cdef int require_tensors(object tensors, op) except -1:
    if not tensors:
        raise RuntimeError(f"{op} expects a non-empty list of tensors")
    return 0


# ---- joined


cpdef object with_dims(object tensors, object ndim, object op):
    require_tensors(tensors, op)
    return [at_least(tensor, ndim) for tensor in tensors]


cpdef object side_dim(object tensors):
    """Along which dimension tensors are put side by side."""
    first, *_ = tensors
    return 0 if first.ndim <= 1 else 1


cpdef object as_columns(object tensors):
    require_tensors(tensors, "column_stack")
    return [tensor.reshape(-1, 1) if tensor.ndim <= 1 else tensor for tensor in tensors]


cpdef object block_diagonal(object tensors):
    if not tensors:
        return zeros(1, 0)
    for position, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                f"block_diag(): Input tensors must have 2 or fewer dimensions. Input {position} has {tensor.ndim} "
                "dimensions"
            )
    blocks = [at_least(tensor, 2) for tensor in tensors]
    ends = itertools.accumulate([block.shape[1] for block in blocks])
    width = sum([block.shape[1] for block in blocks])
    return upcalls.cat([widened(block, end, width) for block, end in zip(blocks, ends)], 0)


cdef object widened(object block, object end, object width):
    """Rows of a block-diagonal matrix: the block ends before the column `end`."""
    return padded(block, (end - block.shape[1], width - end), 0)


cpdef object broadcast_together(object tensors):
    shape = common_shape([tensor.shape for tensor in tensors])
    return [tensor.expand(shape) for tensor in tensors]


cdef object common_shape(object shapes):
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise RuntimeError(
            f"broadcast_tensors(): sizes {', '.join([str(list(shape)) for shape in shapes])} do not broadcast: in each "
            "dimension, counted from the last, they must be equal or 1"
        ) from None


cpdef object mesh(object tensors, object indexing):
    require_tensors(tensors, "meshgrid")
    check_axes(tensors, indexing)
    if indexing != "xy" or len(tensors) < 2:
        return grids(tensors)
    second, first, *rest = grids([tensors[1], tensors[0], *tensors[2:]])
    return [first, second, *rest]


cdef list grids(object tensors):
    """Each axis along a dimension of its own, expanded along the others."""
    shape = [tensor.numel() for tensor in tensors]
    count = len(tensors)
    return [
        tensor.reshape([-1 if dim == axis else 1 for dim in range(count)]).expand(shape)
        for axis, tensor in enumerate(tensors)
    ]


cdef int check_axes(object tensors, object indexing) except -1:
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'meshgrid(): indexing must be one of "xy" or "ij", but received: {indexing}')
    for tensor in tensors:
        if tensor.ndim > 1:
            raise RuntimeError(f"meshgrid(): Expected 0D or 1D tensors, but got one of size {list(tensor.shape)}")
        if tensor.dtype != tensors[0].dtype:
            raise RuntimeError(
                f"meshgrid(): expected all tensors to have the same dtype, but found {tensors[0].dtype} and "
                f"{tensor.dtype}"
            )
    return 0


cpdef object cartesian_rows(object tensors):
    require_tensors(tensors, "cartesian_prod")
    for tensor in tensors:
        if tensor.ndim != 1:
            raise RuntimeError(f"cartesian_prod(): Expected 1D vectors, but got one of size {list(tensor.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return upcalls.stack([grid.reshape(-1) for grid in mesh(tensors, None)], 1)


cpdef object combination_rows(object self, object r, object with_replacement):
    if self.ndim != 1:
        raise RuntimeError(f"combinations(): Expected a 1D vector, but got size {list(self.shape)}")
    if not 0 <= r <= 64:
        raise RuntimeError(f"combinations(): Expected a number of elements from 0 to 64, but got {r}")
    if r == 0:
        return zeros(0, dtype=self.dtype, device=self.device)
    places = combinations_of(self.shape[0], r, with_replacement).reshape(-1)
    if self.is_meta:
        places = array_without_data(places.shape, places.dtype)
    return self.index_select(0, from_array(places)).reshape(-1, r)


cdef object combinations_of(object n, object r, bint with_replacement):
    """Rows of `r` of the numbers below n in ascending order; each column continues the rows before it in all ways."""
    cdef object rows = np.arange(n, dtype=np.int64).reshape(-1, 1)
    cdef object firsts, counts, steps
    for _ in range(r - 1):
        firsts = rows[:, -1] + (0 if with_replacement else 1)
        counts = n - firsts
        rows = np.repeat(rows, counts, axis=0)
        steps = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = np.concatenate((rows, (np.repeat(firsts, counts) + steps).reshape(-1, 1)), axis=1)
    return rows


# ---- cut


# Each is a tensor: more of them than fit into memory would be made one by one until it is full.
cdef object MOST_SECTIONS = 2**31 - 1


cpdef object section_ends(object self, object sections, object dim):
    """Where a number of parts end whose lengths differ by one at most; the last one ends with the tensor."""
    if self.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    if sections > MOST_SECTIONS:
        raise RuntimeError(f"number of sections must be at most {MOST_SECTIONS}, got {sections}")
    length, longer = divmod(self.shape[wrapped(dim, self.ndim)], sections)
    return [length * part + min(part, longer) for part in range(1, sections)]


cpdef object of_dims(object self, object op, object least):
    if self.ndim < least:
        raise RuntimeError(
            f"{op}() requires a tensor with at least {least} dimension{'s' if least > 1 else ''}, but got a tensor with "
            f"{self.ndim} dimensions!"
        )
    return self


cpdef object even_ends(object self, object sections, object dim, object op, object least):
    """Where a number of parts of equal length end."""
    length = of_dims(self, op, least).shape[dim]
    if sections <= 0 or length % sections:
        raise RuntimeError(
            f"{op}() attempted to split along dimension {dim}, but the size of the dimension {length} is not divisible "
            f"by the split_size {sections}!"
        )
    return section_ends(self, sections, dim)


cpdef object second_dim(object self):
    return 0 if self.ndim <= 1 else 1


cpdef object pieces(object self, object ends, object dim, object op):
    """Views between consecutive places, which are meant as those of a slice are."""
    if self.ndim == 0:
        raise RuntimeError(f"{op} expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    axis = wrapped(dim, self.ndim)
    places = [slice(*pair).indices(self.shape[axis]) for pair in itertools.pairwise((0, *ends, None))]
    return [self.narrow(axis, start, max(stop - start, 0)) for start, stop, _ in places]


cpdef object pieces_at(object self, object places, object dim):
    """The same for places, or one number of parts, that are the values of a tensor."""
    if places.dtype != np.int64:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to have dtype of int64, but got {places.dtype}"
        )
    if places.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got "
            f"a tensor with {places.ndim} dims"
        )
    ends = places.tolist()
    return pieces(self, ends if places.ndim else section_ends(self, ends, dim), dim, "tensor_split")


# ---- diagonals


cpdef object embedded_diagonal(object self, object offset, object dim1, object dim2):
    count = self.ndim + 1
    one, other = wrapped(dim1, count), wrapped(dim2, count)
    if one == other:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if self.ndim == 0:
        raise IndexError("diag_embed(): the tensor has no dimension that could be a diagonal")
    return upcalls.embedded_diagonals(self, offset, count - 1 - one, count - 1 - other)


cpdef object diag_of_vector_or_matrix(object self, object diagonal):
    if self.ndim == 1:
        return embedded_diagonal(self, diagonal, 0, 1)
    if self.ndim == 2:
        return self.diagonal(diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")


cpdef object powers_of(object self, object count, object increasing):
    """Powers of each element along a further dimension, the first `count` of them, each a product with the last one."""
    if count is not None and count < 0:
        raise RuntimeError(f"vander(): N must be non-negative, but is {count}")
    count = self.shape[self.ndim - 1] if count is None else count
    column = (self if self.dtype.kind in "fc" else self.to(np.int64)).unsqueeze(-1)
    first = ones(column.shape, dtype=column.dtype, device=column.device)
    factors = upcalls.cat([first, column.expand((*self.shape, max(count - 1, 0)))], -1)
    powers = factors.cumprod(-1) if count > 0 else factors[..., :0]
    return powers if increasing else powers.flip(-1)


# ---- turned and repeated


cpdef object rotated(object self, object k, object dims):
    if self.ndim < 2:
        raise RuntimeError(f"rot90(): expected total dims >= 2, but got total dims = {self.ndim}")
    one, other = wrapped(dims[0], self.ndim), wrapped(dims[1], self.ndim)
    if one == other:
        raise RuntimeError(
            f"rot90(): expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    turns = k % 4
    if turns == 0:
        return self.clone()
    if turns == 2:
        return self.flip((one, other))
    return self.flip(other if turns == 1 else one).transpose(one, other)


cpdef object repeated(object self, object repeats, object op):
    """Each dimension gets one in front of it, along which it is expanded."""
    added = len(repeats) - self.ndim
    if added < 0:
        raise RuntimeError(
            f"{op}(): Number of dimensions of repeat dims ({len(repeats)}) can not be smaller than number of dimensions "
            f"of tensor ({self.ndim})"
        )
    if any([times < 0 for times in repeats]):
        raise RuntimeError(f"{op}(): the numbers of repeats must not be negative, but they are {list(repeats)}")
    shape = (1,) * added + tuple(self.shape)
    spread = self.reshape([size for length in shape for size in (1, length)])
    spread = spread.expand([size for pair in zip(repeats, shape) for size in pair])
    return upcalls.clone_by_rows(spread).reshape([times * length for times, length in zip(repeats, shape)])


cpdef object padded_repeats(object self, object dims):
    return (1,) * (self.ndim - len(dims)) + tuple(dims)


cpdef object interleaved(object self, object repeats, object dim, object output_size):
    if repeats < 0:
        raise RuntimeError(f"repeat_interleave(): Repeats must be non-negative, but got {repeats}")
    self = self.reshape(-1) if dim is None else self
    axis = wrapped(dim or 0, self.ndim)
    if self.ndim == 0:
        raise IndexError(f"repeat_interleave(): the tensor has no dimension {dim}")
    shape = list(self.shape)
    if output_size is not None and output_size != repeats * shape[axis]:
        raise RuntimeError(
            f"repeat_interleave(): output_size is {output_size}, but the result has {repeats * shape[axis]} elements"
        )
    spread = self.unsqueeze(axis + 1).expand(*shape[:axis + 1], repeats, *shape[axis + 1:])
    return upcalls.clone_by_rows(spread).reshape(*shape[:axis], repeats * shape[axis], *shape[axis + 1:])


cpdef object repeats_along(object repeats, object shape, object dim):
    """How often each slice is repeated; one number is for all of them."""
    length = math.prod(shape) if dim is None or not shape else shape[wrapped(dim, len(shape))]
    return repeats.reshape(-1).expand(length)


cpdef object unflattened_sizes(object shape, object dim, object sizes):
    """The shape with a dimension replaced by several, one of which may be -1."""
    axis = wrapped(dim, len(shape))
    length = shape[axis] if shape else 1
    sizes = tuple(sizes)
    if not sizes:
        raise RuntimeError("unflatten(): sizes must be non-empty")
    known = math.prod([size for size in sizes if size != -1])
    if sizes.count(-1) > 1:
        raise RuntimeError(f"unflatten(): only one dimension can be inferred, but sizes are {list(sizes)}")
    fits = known > 0 and length % known == 0 if -1 in sizes else known == length
    if not fits:
        raise RuntimeError(
            f"unflatten(): Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({length}) in the "
            "input tensor"
        )
    sizes = tuple([length // known if size == -1 else size for size in sizes])
    return (*shape[:axis], *sizes, *shape[axis + 1:])


# ---- order in memory

cpdef object keeps_order(object memory_format):
    """Whether it is said that the order stays."""
    return format_of("clone", memory_format) is preserve_format


cpdef object lies_in(object self, object op, object memory_format):
    return self.is_contiguous(memory_format=format_of(op, memory_format))


cpdef object memory_order(object op, object ndim, object memory_format):
    return order_of(op, ndim, format_of(op, memory_format))
