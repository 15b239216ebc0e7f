"""Ops on batched tensors. See batch.pyx, Note [Batched tensors].

Note [Batching rules]
The generator writes a `BatchRule` beside each op, from what the types in its signature say. A rule is a method, and a
letter for each operand:

    elementwise     e   tensor, broadcast with the others
                    w   the same for one that is written
                    c   the same for a tensor whose dtype has no say in that of the result, such as a condition
    along_slices    b   tensor, or list of tensors, or None: it gets the dimension of the slices, the first one
                    x   the same for a tensor that is broadcast to sizes
                    d   dimension of the first tensor, or None for all of them, one after the other
                    i   place of a new dimension
                    D   several dimensions, or None for all of them     F   several dimensions
                    P   all of them, in another order
                    s   sizes                              r   sizes, one of which may be -1
    of_cores        0 1 2   tensor of which that many dimensions, the last ones, belong to the op, as in a generalized
                    ufunc of NumPy; `<` and `>` are a matrix that may be a vector, without its first or its last one
    by_parts        the op is replaced by others, `parts`, which have rules of their own
    by_copy         what `parts` gives is copied into the first operand
    by_indexing     indices, which have their own file
    slice_by_slice  one call for each slice, and a warning
                    g   the generator that random numbers come from
    by_views        what the op shows of the first slice is shown of all
    by_values       an error: the shape of the result depends on values

Any other operand goes through as it is; its letter is a dot.

A rule knows nothing of errors: what is wrong is wrong with the slices that the user sees, so an op that fails is called
once more with each of them, or where there are none with tensors of their shapes, without data.
"""
from gradsmith.runtime.arrays.array cimport FusedKernel
from gradsmith.runtime.batching.batch cimport (
    VmapLevel,
    as_batched,
    current_trace,
    innermost_level,
    is_batched,
    leading,
    open_batch_of,
)
from gradsmith.runtime.graph.tangent cimport swap_ceiling
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap
from gradsmith.runtime.switches.grad_mode cimport swap_grad_mode
from libc.stdint cimport uint64_t
from libc.string cimport strchr
cimport numpy as cnp

import math

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.dtypes import common_dtype
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule

cdef object drawing = LazyModule("gradsmith.runtime.batching.drawing")
cdef object fallback = LazyModule("gradsmith.runtime.batching.fallback")
cdef object indexing = LazyModule("gradsmith.runtime.batching.indexing")

cnp.import_array()


cdef Loop no_loop() noexcept:
    return Loop(False, 0, NULL)


cdef Loop loop_of_ufunc(int ufunc) noexcept:
    return Loop(True, ufunc, NULL)


cdef Loop loop_of_kernel(const FusedKernel *kernel) noexcept:
    return Loop(False, 0, kernel)


cdef TraceMethod trace_method = NULL


cdef void trace_with(TraceMethod method) noexcept:
    global trace_method
    trace_method = method


cdef VmapLevel level_for(tuple operands):
    """The innermost level of the operands; where none is batched, the trace of the thread, which sees every op."""
    cdef VmapLevel level = innermost_level(operands)
    return current_trace() if level is None else level


cdef inline bint draws(const BatchRule *rule) noexcept:
    return strchr(rule.kinds, b"g") != NULL


cdef object batched_result(const BatchRule *rule, tuple operands):
    if draws(rule):
        operands = drawing.spread(rule.name.decode(), operands, innermost_level(operands))
    cdef VmapLevel level = level_for(operands)
    if level is None:
        return None
    if level.is_trace:
        return trace_method(rule, operands, level, False)
    return in_batches(run(rule, operands, level, False), level)


cdef object run(const BatchRule *rule, tuple operands, VmapLevel level, bint writes):
    try:
        return rule.method(rule, operands, level)
    except Exception:
        explain(rule, operands, level, writes)
        raise


cdef object in_batches(object result, VmapLevel level):
    """A physical result, unchanged."""
    if isinstance(result, TensorBase):
        return as_batched(<TensorBase>result, level)
    if isinstance(result, list):
        return [in_batches(item, level) for item in result]
    if isinstance(result, tuple):
        return tuple([in_batches(item, level) for item in result])
    return result


cdef bint written_batched(const BatchRule *rule, tuple operands) except -1:
    if draws(rule):
        drawing.expect_slices(rule.name.decode(), first_tensor(operands), innermost_level(operands))
    cdef VmapLevel level = level_for(operands)
    if level is None:
        return False
    if level.is_trace:
        trace_method(rule, operands, level, True)
        return True
    cdef TensorBase target = first_tensor(operands)
    if not is_batched(target) or open_batch_of(target).level is not level:
        raise level.call.error(
            f"{rule.name.decode()}: a tensor of shape {list(target.shape)} that stands for itself is written with "
            "values that differ from slice to slice. Use the out-of-place form, or make the tensor of one that is "
            "batched, for example with zeros_like()"
        )
    run(rule, operands, level, True)
    return True


# ---- errors

cdef int explain(const BatchRule *rule, tuple operands, VmapLevel level, bint writes) except -1:
    """Raise the op's error for one of the slices, if there is one: its message has the shapes that the user sees."""
    cdef bint recording = swap_grad_mode(False)
    cdef uint64_t ceiling = swap_ceiling(0)
    try:
        with drawing.outside(draws(rule), level):
            fallback.expect_slices(packed(rule), without_data(operands), operands, level, writes)
    finally:
        swap_grad_mode(recording)
        swap_ceiling(ceiling)
    return 0


cdef tuple without_data(object operands):
    return tuple([stand_in(operand) for operand in operands])


cdef object stand_in(object operand):
    if isinstance(operand, TensorBase):
        return wrap(array_without_data(operand.shape, operand.dtype))
    if isinstance(operand, list):
        return [stand_in(item) for item in operand]
    return without_data(operand) if type(operand) is tuple else operand


cdef object shape_of_result(const BatchRule *rule, tuple operands):
    """Call the op with tensors without data, for rules that check less than the op does."""
    cdef bint recording = swap_grad_mode(False)
    cdef uint64_t ceiling = swap_ceiling(0)
    try:
        return rule.op(without_data(operands))
    finally:
        swap_grad_mode(recording)
        swap_ceiling(ceiling)


cdef int expect_shapes(const BatchRule *rule, tuple operands) except -1:
    """Raise the op's own error for the shapes, but not NumPy's errors for values, such as for singular matrices."""
    try:
        shape_of_result(rule, operands)
    except np.linalg.LinAlgError:
        pass
    return 0


# ---- element by element

cdef object elementwise(const BatchRule *rule, tuple operands, VmapLevel level):
    cdef int rank = highest_rank(operands)
    cdef object dtype = common_dtype_of_numbers(rule.kinds, operands)
    cdef list found = list(operands)
    cdef Py_ssize_t i
    for i in range(len(operands)):
        operand = operands[i]
        if isinstance(operand, TensorBase):
            if dtype is not None and rule.kinds[i] == b"e" and operand.dtype != dtype:
                operand = upcalls.to(operand, dtype)
            found[i] = aligned(<TensorBase>operand, rank, level)
    return rule.op(tuple(found))


cdef inline int rank_of(TensorBase t) noexcept:
    return cnp.PyArray_NDIM(<cnp.ndarray>t.array)


cdef int highest_rank(tuple operands) except -1:
    cdef int rank = 0
    for operand in operands:
        if isinstance(operand, TensorBase):
            rank = max(rank, rank_of(<TensorBase>operand))
    return rank


cdef TensorBase aligned(TensorBase t, int rank, VmapLevel level):
    """The data of a tensor with ones after the slices, so that it broadcasts with tensors of `rank`."""
    cdef TensorBase data
    if not is_batched(t) or open_batch_of(t).level is not level:
        return t
    data = open_batch_of(t).physical
    missing = rank - rank_of(t)
    return upcalls.reshape(data, (level.size, *(1,) * missing, *t.shape)) if missing else data


cdef object common_dtype_of_numbers(const char *kinds, tuple operands):
    """The dtype of the result where a 0-d tensor, whose dtype is weak, gets a dimension from the batch; else None."""
    cdef bint has_number = False, differ = False
    cdef int first = -1
    cdef TensorBase t
    cdef Py_ssize_t i
    for i in range(len(operands)):
        if (kinds[i] != b"e" and kinds[i] != b"w") or not isinstance(operands[i], TensorBase):
            continue
        t = <TensorBase>operands[i]
        has_number = has_number or rank_of(t) == 0
        differ = differ or (first >= 0 and cnp.PyArray_TYPE(<cnp.ndarray>t.array) != first)
        first = cnp.PyArray_TYPE(<cnp.ndarray>t.array)
    if not has_number or not differ:
        return None
    return common_dtype(*[one for kind, one in zip(kinds, operands) if kind in b"ew" and isinstance(one, TensorBase)])


# ---- with the dimension of the slices first

cdef object along_slices(const BatchRule *rule, tuple operands, VmapLevel level):
    if isinstance(operands[0], list):
        operands = (of_one_rank(operands[0]), *operands[1:])
    cdef TensorBase first = first_tensor(operands)
    cdef int rank = first.ndim
    cdef bint is_number = rank == 0 and counts_dimensions(rule.kinds)
    cdef bint is_flat = False
    cdef list found = []
    cdef Py_ssize_t i
    for i in range(len(operands)):
        is_flat = is_flat or (rule.kinds[i] == b"d" and operands[i] is None)
    for i in range(len(operands)):
        if rule.kinds[i] in b"DF" and operands[i] is not None and not len(operands[i]):
            found.append(tuple(range(1, 1 + max(rank, is_number))) if means_all(rule, operands, first) else ())
        elif rule.kinds[i] == b"x":
            found.append(aligned(leading_batched(operands[i], level), sizes_in(rule.kinds, operands), level))
        else:
            found.append(placed(rule.kinds[i], operands[i], first, 1 if is_number else rank, is_number, level))
    if sizes_in(rule.kinds, operands) > rank and rule.kinds[0] == b"x":
        shape_of_result(rule, operands)  # a size of -1 keeps a dimension that has to be there
    if is_flat:
        return of_flat(rule, operands, found, level)
    result = rule.op(tuple(found))
    return without_ones(result, shape_of_result(rule, operands)) if is_number else result


cdef list of_one_rank(list tensors):
    """What is joined; tensors of size (0,) fit everywhere and add nothing, but have no dimension for the slices to precede."""
    cdef int rank = max([tensor.ndim for tensor in tensors], default=0)
    return [tensor for tensor in tensors if tensor.ndim == rank or tensor.shape != (0,)]


cdef bint means_all(const BatchRule *rule, tuple operands, TensorBase first) except -1:
    """Does the op take an empty list of dimensions for all of them? Then the shape of the result differs.

    Of a single element the shape may stay, as that of a reduction does which keeps dimensions; then it is that for all
    dimensions, too. `squeeze` has another one for these.
    """
    if first_shape(shape_of_result(rule, operands)) != first.shape:
        return True
    if first.numel() != 1:
        return False
    every = tuple(range(first.ndim))
    whole = tuple([
        every if rule.kinds[i] in b"DF" and not len(operands[i] or ()) else operands[i] for i in range(len(operands))
    ])
    return first_shape(shape_of_result(rule, whole)) == first.shape


cdef object first_shape(object found):
    return first_tensor(found if isinstance(found, tuple) else (found,)).shape


cdef object of_flat(const BatchRule *rule, tuple operands, list found, VmapLevel level):
    """For a dimension of None, each slice is one long row."""
    cdef Py_ssize_t i
    for i in range(len(found)):
        if rule.kinds[i] == b"b":
            found[i] = upcalls.reshape(found[i], (level.size, math.prod(operands[i].shape)))
        elif rule.kinds[i] == b"d":
            found[i] = 1
    return upcalls.reshape(rule.op(tuple(found)), (level.size, *shape_of_result(rule, operands).shape))


cdef TensorBase leading_batched(TensorBase t, VmapLevel level):
    return as_batched(leading(t, level), level)


cdef int sizes_in(const char *kinds, tuple operands) except -1:
    """Number of sizes to broadcast a tensor to."""
    cdef Py_ssize_t i
    for i in range(len(operands)):
        if kinds[i] == b"s":
            return len(operands[i])
    return 0


cdef bint counts_dimensions(const char *kinds) noexcept:
    """Does an operand name an existing dimension? A number passes for having one."""
    while kinds[0]:
        if kinds[0] in b"dDF":
            return True
        kinds += 1
    return False


cdef TensorBase first_tensor(object operands):
    for operand in operands:
        if isinstance(operand, TensorBase):
            return operand
        if isinstance(operand, list) and operand and isinstance(operand[0], TensorBase):
            return operand[0]
    return None


cdef object without_ones(object result, object of_slice):
    """The results without the dimension that each number was given; what the op gives for one slice says their shapes."""
    if isinstance(result, TensorBase):
        return upcalls.reshape(result, (result.shape[0], *of_slice.shape))
    if isinstance(result, (list, tuple)):
        return type(result)([without_ones(item, one) for item, one in zip(result, of_slice)])
    return result


cdef object placed(char kind, object operand, TensorBase first, int rank, bint is_number, VmapLevel level):
    """An operand as the op takes it for the physical tensors; `rank` is that of the slices."""
    if kind == b"b":
        return with_slices(operand, is_number, level)
    if kind == b"d":
        return None if operand is None else wrapped_dim(operand, rank) + 1
    if kind == b"i":
        return wrapped_dim(operand, rank + 1) + 1
    if kind == b"D":
        return shifted(range(rank) if operand is None else operand, rank)
    if kind == b"F":
        return shifted(operand, rank)
    if kind == b"P":
        return (0, *shifted(operand, rank))
    if kind == b"s":
        return (level.size, *operand)
    if kind == b"r":
        return (level.size, *inferred(operand, first.numel()))
    return operand


cdef object with_slices(object operand, bint is_number, VmapLevel level):
    if isinstance(operand, TensorBase):
        data = leading(<TensorBase>operand, level)
        return upcalls.unsqueeze(data, 1) if is_number and data.ndim == 1 else data
    return [with_slices(item, is_number, level) for item in operand] if isinstance(operand, list) else operand


cdef tuple shifted(object dims, int rank):
    return tuple([wrapped_dim(dim, rank) + 1 for dim in dims])


cdef object wrapped_dim(object dim, int rank):
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim + rank if dim < 0 else dim


cdef tuple inferred(object sizes, object count):
    """Sizes in which -1 is replaced, from the number of elements of a slice."""
    sizes = tuple(sizes)
    if -1 not in sizes:
        return sizes
    known = -math.prod(sizes)
    if known <= 0 or count % known or sizes.count(-1) > 1:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")
    return tuple([count // known if size == -1 else size for size in sizes])


# ---- ops of the last dimensions

cdef object of_cores(const BatchRule *rule, tuple operands, VmapLevel level):
    cdef int rank = highest_loop_rank(rule.kinds, operands)
    cdef list found = []
    cdef bint without_first = False, without_last = False
    cdef Py_ssize_t i
    if lacks_dimensions(rule.kinds, operands):
        shape_of_result(rule, operands)
    if is_matrix_by_vectors(rule.kinds, operands, level):
        return rule.op((open_batch_of(operands[1]).physical, upcalls.permute(operands[0], (1, 0))))
    for i in range(len(operands)):
        operand = operands[i]
        if isinstance(operand, TensorBase):
            if rule.kinds[i] == b"<" and operand.ndim == 1:
                operand, without_first = upcalls.unsqueeze(operand, 0), True
            elif rule.kinds[i] == b">" and operand.ndim == 1:
                operand, without_last = upcalls.unsqueeze(operand, 1), True
            operand = aligned(<TensorBase>operand, rank + core_rank(rule.kinds[i]), level)
        found.append(operand)
    result = rule.op(tuple(found))
    if without_last:
        result = upcalls.squeeze(result, -1)
    return upcalls.squeeze(result, -1 if without_last else -2) if without_first else result


cdef bint lacks_dimensions(const char *kinds, tuple operands) except -1:
    """Has a slice too few dimensions? The dimension of slices would be taken for a missing one."""
    cdef Py_ssize_t i
    for i in range(len(operands)):
        if isinstance(operands[i], TensorBase):
            if rank_of(<TensorBase>operands[i]) < core_rank(kinds[i]) - (kinds[i] == b"<" or kinds[i] == b">"):
                return True
    return False


cdef bint is_matrix_by_vectors(const char *kinds, tuple operands, VmapLevel level) except -1:
    """One matrix and a vector for each slice: together the vectors are a matrix, so that one product does."""
    if len(operands) != 2 or kinds[0] != b"<" or kinds[1] != b">":
        return False
    if rank_of(<TensorBase>operands[0]) != 2 or rank_of(<TensorBase>operands[1]) != 1:
        return False
    return not (is_batched(operands[0]) and open_batch_of(operands[0]).level is level)


cdef int core_rank(char kind) noexcept:
    """Dimensions of the op's own; a tensor where others take a number, such as a tolerance, has none."""
    if kind == b".":
        return 0
    return 2 if kind == b"<" or kind == b">" else kind - c"0"


cdef int highest_loop_rank(const char *kinds, tuple operands) except -1:
    """The greatest number of dimensions, besides the op's own, of any tensor."""
    cdef int rank = 0
    cdef Py_ssize_t i
    for i in range(len(operands)):
        if isinstance(operands[i], TensorBase):
            rank = max(rank, <int>operands[i].ndim - core_rank(kinds[i]))
    return rank


# ---- other ways

cdef object by_parts(const BatchRule *rule, tuple operands, VmapLevel level):
    """The result of other ops: it is batched already, or the same for all slices."""
    expect_shapes(rule, operands)
    return physical_of_parts(rule.parts(operands), level)


cdef object by_copy(const BatchRule *rule, tuple operands, VmapLevel level):
    expect_shapes(rule, operands)
    value = rule.parts(operands)
    cdef TensorBase target = first_tensor(operands)
    return upcalls.copy_(open_batch_of(target).physical, aligned(value, rank_of(target), level))


cdef object physical_of_parts(object result, VmapLevel level):
    if isinstance(result, TensorBase):
        return leading(<TensorBase>result, level)
    if isinstance(result, (list, tuple)):
        return type(result)([physical_of_parts(item, level) for item in result])
    return result


cdef object by_indexing(const BatchRule *rule, tuple operands, VmapLevel level):
    expected = shape_of_result(rule, tuple([places_of_masks(operand) for operand in operands]))
    return indexing.RULES[rule.name.decode()](packed(rule), operands, level, expected)


cdef object places_of_masks(object operand):
    """Indices in which a mask is as many places as it has: without data it has none, and the shape depends on them."""
    cdef list found = []
    cdef bint masked = False
    if not isinstance(operand, (list, tuple)):
        return operand
    for item in operand:
        if isinstance(item, TensorBase) and item.dtype.kind == "b" and item.ndim and not is_batched(item):
            found += [wrap(places) for places in np.nonzero(<object>(<TensorBase>item).array)]
            masked = True
        else:
            found.append(item)
    return type(operand)(found) if masked else operand


cdef object slice_by_slice(const BatchRule *rule, tuple operands, VmapLevel level):
    name = rule.name.decode()
    generators = [operands[i] for i in range(len(operands)) if rule.kinds[i] == b"g"]
    begin = fallback.in_step(name, generators, level)
    with drawing.outside(draws(rule), level):
        expected = None if level.size else shape_of_result(rule, operands)
        # In place: a node may save its result, which the write of another slice would then change.
        result = fallback.run(name, packed(rule), operands, level, begin, expected, name.endswith("_"))
    if not name.endswith("_"):
        return result
    return upcalls.copy_(open_batch_of(first_tensor(operands)).physical, result)


cdef object by_views(const BatchRule *rule, tuple operands, VmapLevel level):
    """A view of each slice, as one view of the data laid out like that of the first slice; slice by slice where it copies."""
    views = fallback.views(packed(rule), operands, level) if level.size and is_batched(operands[0]) else None
    return slice_by_slice(rule, operands, level) if views is None else views


cdef object by_values(const BatchRule *rule, tuple operands, VmapLevel level):
    raise level.call.error(
        f"{rule.name.decode()}(): the shape of the result depends on values, which differ from slice to slice. Use an op "
        "whose result has one shape for all, such as where() or masked_fill()"
    )


cdef class Packed:
    """The op of a rule, for Python."""

    cdef PackedOp op

    def __call__(self, *operands):
        if self.op == NULL:
            raise TypeError("an op of a batching rule cannot be made in Python")
        return self.op(operands)


cdef Packed packed(const BatchRule *rule):
    cdef Packed made = Packed.__new__(Packed)
    made.op = rule.op
    return made
