"""One layer of a recurrent network in one direction over whole sequences, its pullback and its pushforward.

Rows of sequences lie step by step: `batch_sizes` says how many sequences have each step, the longest sequences first.
kernels/sequences/recurrence.h says what rows are. Dimensions before an operand's own two are broadcast, as in a
generalized ufunc.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport (
    contiguous, GS_GRU, GS_LSTM, GS_PULL, GS_PUSH, GS_RNN_RELU, GS_RNN_TANH, GS_RUN, is_meta, recur, Recurrence,
)
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

import numpy as np

from functools import lru_cache

cnp.import_array()

# The pointers of a recurrence, by number.
cdef enum:
    WEIGHT, PROJECTION, BIAS, INITIAL, INITIAL_CELLS
    OUTPUT, GATES, CELLS
    FROM_OUTPUT, FROM_GATES, FROM_CELLS
    TO_OUTPUT, TO_GATES, TO_CELLS
    POINTERS

NAMES = (
    "weight", "projection", "bias", "initial_output", "initial_cells", "output", "gates", "cells", "from_output",
    "from_gates", "from_cells", "to_output", "to_gates", "to_cells",
)


# ---- LSTM

cpdef tuple lstm_steps_of(
    object a, object weight, object projection, object initial_output, object initial_cells, object batch_sizes,
    bint reverse
):
    """Outputs, gates and cells, from what the input adds to the gates."""
    cdef Recurrence r
    n, b, h, p, held = sizes_of("lstm_steps", &r, weight, 4, batch_sizes, reverse)
    r.cell, r.direction = GS_LSTM, GS_RUN
    h = hidden_of_projection("lstm_steps", &r, projection, h, p)
    operands = (
        (FROM_GATES, a, (n, 4 * h)), (WEIGHT, weight, (4 * h, p)), (PROJECTION, projection, (p, h)),
        (INITIAL, initial_output, (b, p)), (INITIAL_CELLS, initial_cells, (b, h)),
    )
    return run("lstm_steps", &r, operands, ((OUTPUT, (n, p)), (GATES, (n, 4 * h)), (CELLS, (n, h))))


cpdef tuple lstm_pullback_of(
    object a, object cells, object weight, object projection, object initial_cells, object from_output,
    object from_gates, object from_cells, object batch_sizes, bint reverse
):
    """Gradients of what is added to gates, cells and outputs at each step, from those of gates, cells and outputs."""
    cdef Recurrence r
    r.direction = GS_PULL
    return linear_lstm(
        "lstm_pullback", &r, a, cells, weight, projection, initial_cells, from_output, from_gates, from_cells,
        batch_sizes, reverse)


cpdef tuple lstm_pushforward_of(
    object a, object cells, object weight, object projection, object initial_cells, object from_output,
    object from_gates, object from_cells, object batch_sizes, bint reverse
):
    """Tangents of gates, cells and outputs, from those of what is added to them at each step."""
    cdef Recurrence r
    r.direction = GS_PUSH
    return linear_lstm(
        "lstm_pushforward", &r, a, cells, weight, projection, initial_cells, from_output, from_gates, from_cells,
        batch_sizes, reverse)


cdef tuple linear_lstm(
    str op, Recurrence *r, object a, object cells, object weight, object projection, object initial_cells,
    object from_output, object from_gates, object from_cells, object batch_sizes, bint reverse
):
    n, b, h, p, held = sizes_of(op, r, weight, 4, batch_sizes, reverse)
    r.cell = GS_LSTM
    h = hidden_of_projection(op, r, projection, h, p)
    operands = (
        (GATES, a, (n, 4 * h)), (CELLS, cells, (n, h)), (WEIGHT, weight, (4 * h, p)), (PROJECTION, projection, (p, h)),
        (INITIAL_CELLS, initial_cells, (b, h)), (FROM_OUTPUT, from_output, (n, p)),
        (FROM_GATES, from_gates, (n, 4 * h)), (FROM_CELLS, from_cells, (n, h)),
    )
    return run(op, r, operands, ((TO_GATES, (n, 4 * h)), (TO_CELLS, (n, h)), (TO_OUTPUT, (n, p))))


cdef object hidden_of_projection(str op, Recurrence *r, object projection, object h, object p):
    if projection is None and h != p:
        raise RuntimeError(f"{op}(): a weight of {h} hidden elements and {p} of output wants a projection")
    return h


# ---- GRU

cpdef tuple gru_steps_of(object a, object weight, object bias, object initial_output, object batch_sizes, bint reverse):
    """Outputs and gates, from what the input adds to the three gates."""
    cdef Recurrence r
    n, b, h, p, held = sizes_of("gru_steps", &r, weight, 3, batch_sizes, reverse)
    r.cell, r.direction = GS_GRU, GS_RUN
    operands = (
        (FROM_GATES, a, (n, 3 * h)), (WEIGHT, weight, (3 * h, h)), (BIAS, bias, (h,)), (INITIAL, initial_output, (b, h)),
    )
    return run("gru_steps", &r, operands, ((OUTPUT, (n, h)), (GATES, (n, 4 * h))))


cpdef tuple gru_pullback_of(
    object a, object output, object weight, object initial_output, object from_output, object from_gates,
    object batch_sizes, bint reverse
):
    """Gradients of what is added to gates and outputs at each step, from those of gates and outputs."""
    cdef Recurrence r
    r.direction = GS_PULL
    return linear_gru(
        "gru_pullback", &r, a, output, weight, initial_output, from_output, from_gates, batch_sizes, reverse)


cpdef tuple gru_pushforward_of(
    object a, object output, object weight, object initial_output, object from_output, object from_gates,
    object batch_sizes, bint reverse
):
    """Tangents of gates and outputs, from those of what is added to them at each step."""
    cdef Recurrence r
    r.direction = GS_PUSH
    return linear_gru(
        "gru_pushforward", &r, a, output, weight, initial_output, from_output, from_gates, batch_sizes, reverse)


cdef tuple linear_gru(
    str op, Recurrence *r, object a, object output, object weight, object initial_output, object from_output,
    object from_gates, object batch_sizes, bint reverse
):
    n, b, h, p, held = sizes_of(op, r, weight, 3, batch_sizes, reverse)
    r.cell = GS_GRU
    operands = (
        (GATES, a, (n, 4 * h)), (OUTPUT, output, (n, h)), (WEIGHT, weight, (3 * h, h)),
        (INITIAL, initial_output, (b, h)), (FROM_OUTPUT, from_output, (n, h)), (FROM_GATES, from_gates, (n, 4 * h)),
    )
    return run(op, r, operands, ((TO_GATES, (n, 4 * h)), (TO_OUTPUT, (n, h))))


# ---- RNN

cpdef object rnn_steps_of(object a, object weight, object initial_output, bint relu, object batch_sizes, bint reverse):
    """Outputs, from what the input adds to them before the activation."""
    cdef Recurrence r
    n, b, h, p, held = sizes_of("rnn_steps", &r, weight, 1, batch_sizes, reverse)
    r.cell, r.direction = (GS_RNN_RELU if relu else GS_RNN_TANH), GS_RUN
    operands = ((FROM_GATES, a, (n, h)), (WEIGHT, weight, (h, h)), (INITIAL, initial_output, (b, h)))
    return run("rnn_steps", &r, operands, ((OUTPUT, (n, h)),))[0]


cpdef object rnn_pullback_of(object a, object output, object weight, bint relu, object batch_sizes, bint reverse):
    """Gradients of what the input adds, from those of the outputs."""
    cdef Recurrence r
    n, b, h, p, held = sizes_of("rnn_pullback", &r, weight, 1, batch_sizes, reverse)
    r.cell, r.direction = (GS_RNN_RELU if relu else GS_RNN_TANH), GS_PULL
    operands = ((FROM_OUTPUT, a, (n, h)), (OUTPUT, output, (n, h)), (WEIGHT, weight, (h, h)))
    return run("rnn_pullback", &r, operands, ((TO_GATES, (n, h)),))[0]


cpdef object rnn_pushforward_of(object a, object output, object weight, bint relu, object batch_sizes, bint reverse):
    """Tangents of the outputs, from those of what the input adds."""
    cdef Recurrence r
    n, b, h, p, held = sizes_of("rnn_pushforward", &r, weight, 1, batch_sizes, reverse)
    r.cell, r.direction = (GS_RNN_RELU if relu else GS_RNN_TANH), GS_PUSH
    operands = ((FROM_GATES, a, (n, h)), (OUTPUT, output, (n, h)), (WEIGHT, weight, (h, h)))
    return run("rnn_pushforward", &r, operands, ((TO_OUTPUT, (n, h)),))[0]


# ---- sizes

cdef tuple sizes_of(str op, Recurrence *r, object weight, int gates, object batch_sizes, bint reverse):
    """The numbers of rows, sequences, hidden elements and elements of the output; and what holds the starts of steps."""
    if weight.ndim < 2 or weight.shape[weight.ndim - 2] % gates:
        raise RuntimeError(f"{op}(): a weight has rows for {gates} gates each, but its size is {list(weight.shape)}")
    starts = starts_of(tuple(batch_sizes))
    r.reverse = reverse
    r.starts = <cnp.npy_intp *>cnp.PyArray_DATA(starts)
    r.steps = len(batch_sizes)
    r.batch = batch_sizes[0]
    r.hidden, r.size = weight.shape[weight.ndim - 2] // gates, weight.shape[weight.ndim - 1]
    if gates != 4 and r.hidden != r.size:
        raise RuntimeError(f"{op}(): a weight is ({gates} x size, size), but its size is {list(weight.shape)}")
    return starts[r.steps], r.batch, r.hidden, r.size, starts


# A network meets the same few layouts again and again.
@lru_cache(256)
def starts_of(batch_sizes):
    """The first row of each step, and the number of all rows."""
    if not batch_sizes or min(batch_sizes) < 0:
        raise RuntimeError(f"batch_sizes are one number for each step, not negative, but got {list(batch_sizes)}")
    if any(after > before for before, after in zip(batch_sizes, batch_sizes[1:])):
        raise RuntimeError(f"batch_sizes do not grow, since the longest sequences come first: {list(batch_sizes)}")
    return np.cumsum((0, *batch_sizes), dtype=np.intp)


# ---- calls of the kernel

cdef tuple run(str op, Recurrence *r, tuple operands, tuple results):
    """One call for each place of the dimensions before the operands' own."""
    operands = tuple([operand for operand in operands if operand[1] is not None])
    model = operands[0][1]
    loops = ()
    for number, a, shape in operands:
        expect(op, NAMES[number], a, shape, model.dtype)
        loops = np.broadcast_shapes(loops, a.shape[:a.ndim - len(shape)])
    for number, a, shape in operands:
        if is_meta(<PyObject *>a):
            return tuple([fresh_beside(a, cnp.PyArray_TYPE(model), (*loops, *own)) for place, own in results])
    dtype = model.dtype
    if dtype not in (np.float32, np.float64):
        operands = tuple([(number, a.astype(np.float32), shape) for number, a, shape in operands])
    r.type = cnp.NPY_FLOAT64 if dtype == np.float64 else cnp.NPY_FLOAT32
    found = tuple([fresh(r.type, (*loops, *own)) for number, own in results])
    if not loops:
        call(r, [(number, a) for number, a, shape in operands], results, found)
    for place in np.ndindex(*loops) if loops else ():
        arrays = [(number, np.broadcast_to(a, (*loops, *shape))[place]) for number, a, shape in operands]
        call(r, arrays, results, tuple([a[place] for a in found]))
    return found if dtype in (np.float32, np.float64) else tuple([a.astype(dtype) for a in found])


cdef int expect(str op, str name, object a, tuple shape, object dtype) except -1:
    if a.ndim < len(shape) or a.shape[a.ndim - len(shape):] != shape:
        raise RuntimeError(f"{op}(): {name} has the size {list(a.shape)}, but the others want {list(shape)}")
    if a.dtype != dtype:
        raise RuntimeError(f"{op}(): the operands have one dtype, but {name} has {a.dtype} and another {dtype}")
    if dtype.kind != "f":
        raise RuntimeError(f"{op}(): not implemented for {dtype}; convert it to a floating dtype")
    return 0


cdef int call(Recurrence *r, list operands, tuple results, tuple found) except -1:
    """Results are contiguous, operands are made so."""
    cdef void *pointers[POINTERS]
    cdef int i
    for i in range(POINTERS):
        pointers[i] = NULL
    held = [(number, take(contiguous(<PyObject *>a))) for number, a in operands]
    for number, a in held:
        pointers[<int>number] = cnp.PyArray_DATA(a)
    for (number, shape), a in zip(results, found):
        pointers[<int>number] = cnp.PyArray_DATA(a)
    r.weight, r.projection, r.bias = pointers[WEIGHT], pointers[PROJECTION], pointers[BIAS]
    r.initial, r.initial_cells = pointers[INITIAL], pointers[INITIAL_CELLS]
    r.output, r.gates, r.cells = pointers[OUTPUT], pointers[GATES], pointers[CELLS]
    r.from_output, r.from_gates, r.from_cells = pointers[FROM_OUTPUT], pointers[FROM_GATES], pointers[FROM_CELLS]
    r.to_output, r.to_gates, r.to_cells = pointers[TO_OUTPUT], pointers[TO_GATES], pointers[TO_CELLS]
    return recur(r)


# ---- rows of other steps

cpdef object earlier_rows_of(object a, object initial, object batch_sizes, bint reverse):
    """For each row that of the step before, and for the first of each sequence its initial one, or zeros."""
    starts = starts_of(tuple(batch_sizes))
    rows, batch, width = starts[len(starts) - 1], batch_sizes[0], a.shape[a.ndim - 1]
    expect("earlier_rows", "the tensor", a, (rows, width), a.dtype)
    loops = a.shape[:a.ndim - 2]
    if initial is not None:
        expect("earlier_rows", "initial", initial, (batch, width), a.dtype)
        loops = np.broadcast_shapes(loops, initial.shape[:initial.ndim - 2])
    for operand in (a, initial):
        if operand is not None and is_meta(<PyObject *>operand):
            return fresh_beside(operand, cnp.PyArray_TYPE(a), (*loops, rows, width))
    result = fresh(cnp.PyArray_TYPE(a), (*loops, rows, width))
    if batch_sizes[0] == batch_sizes[len(batch_sizes) - 1]:
        move_all_rows(result, a, initial, batch, reverse)
        return result
    for i in range(len(batch_sizes)):
        move_rows(result, a, initial, starts, i, i + 1 if reverse else i - 1)
    return result


cdef int move_all_rows(object result, object a, object initial, Py_ssize_t batch, bint reverse) except -1:
    """Of sequences of one length."""
    cdef Py_ssize_t rest = result.shape[result.ndim - 2] - batch
    first = 0 if initial is None else initial
    if reverse:
        result[..., :rest, :], result[..., rest:, :] = a[..., batch:, :], first
    else:
        result[..., batch:, :], result[..., :batch, :] = a[..., :rest, :], first
    return 0


cdef int move_rows(object result, object a, object initial, object starts, Py_ssize_t at, Py_ssize_t before) except -1:
    cdef Py_ssize_t n = starts[at + 1] - starts[at], first = starts[at], carried = 0
    if 0 <= before < len(starts) - 1:
        carried = min(n, starts[before + 1] - starts[before])
        result[..., first:first + carried, :] = a[..., starts[before]:starts[before] + carried, :]
    if carried < n:
        result[..., first + carried:first + n, :] = 0 if initial is None else initial[..., carried:n, :]
    return 0


cpdef object first_rows_of(object a, object batch_sizes, bint reverse):
    """The row of each sequence from which on steps are gone over."""
    starts = starts_of(tuple(batch_sizes))
    rows, batch, width = starts[len(starts) - 1], batch_sizes[0], a.shape[a.ndim - 1]
    expect("first_rows", "the tensor", a, (rows, width), a.dtype)
    shape = (*a.shape[:a.ndim - 2], batch, width)
    if is_meta(<PyObject *>a):
        return fresh_beside(a, cnp.PyArray_TYPE(a), shape)
    result = fresh(cnp.PyArray_TYPE(a), shape)
    if not reverse or batch_sizes[0] == batch_sizes[len(batch_sizes) - 1]:
        result[...] = a[..., rows - batch:, :] if reverse else a[..., :batch, :]
        return result
    done = 0
    for i in range(len(batch_sizes) - 1, -1, -1):
        n = batch_sizes[i]
        result[..., done:n, :] = a[..., starts[i] + done:starts[i] + n, :]
        done = max(done, n)
    return result
