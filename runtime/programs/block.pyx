"""Blocks: steps of a program that run one after the other over memory alone.

Note [Addresses]
A step of a block names its operands by places in a table of addresses, which belongs to the frame of a run. What lies in a room
of the frame has its address from the start. What is an argument, a captured tensor or the result of an op gets it when the
block begins. A view is the address of what it shows, so that it costs nothing.

Note [Repeats]
Consecutive steps that repeat themselves, alike but for their addresses, are stored once, with an iteration count. A repeat owns
places of the table. Before each iteration they get its addresses: those of the iteration before plus a fixed stride, or those
that a list names.

Note [Tiles]
Elementwise steps on arrays of one layout run together, a thousand elements at a time. Each result is still in the cache when
the next step reads it, and a result that no other step reads is never stored as an array at all.
"""
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from libc.stdint cimport uintptr_t
from libc.string cimport memset
from cpython.pycapsule cimport PyCapsule_GetPointer
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    ADD as ADD_UFUNC,
    MULTIPLY as MULTIPLY_UFUNC,
    NEGATIVE,
    POSITIVE,
    POWER as POWER_UFUNC,
    RECIPROCAL,
    SQRT,
    SQUARE,
    SUBTRACT,
    TRUE_DIVIDE,
)

import numpy as np

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "runtime/programs/block_kernels.h":
    enum:
        GS_BLOCK_ADD, GS_BLOCK_SUBTRACT, GS_BLOCK_MULTIPLY, GS_BLOCK_DIVIDE, GS_BLOCK_NEGATE, GS_BLOCK_ROWS, GS_BLOCK_LOOP, GS_BLOCK_KERNEL
        GS_BLOCK_PRODUCT, GS_BLOCK_MATRIX_VECTOR, GS_BLOCK_VECTOR_MATRIX, GS_BLOCK_OUTER, GS_BLOCK_SUM, GS_BLOCK_COPY, GS_BLOCK_MOVE, GS_BLOCK_ZERO, GS_BLOCK_REPEAT, GS_BLOCK_TILES
        GS_BLOCK_SINGLE
        GS_BLOCK_ELEMENTS, GS_BLOCK_INPUTS
    int GS_BLOCK_SINGLE_KIND(int kind, bint is_double, int form) noexcept

gs_block_set_parallel(<BlockParallel>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop"))

KINDS = {
    "add": GS_BLOCK_ADD, "subtract": GS_BLOCK_SUBTRACT, "multiply": GS_BLOCK_MULTIPLY, "divide": GS_BLOCK_DIVIDE,
    "negate": GS_BLOCK_NEGATE,
    "loop": GS_BLOCK_LOOP, "kernel": GS_BLOCK_KERNEL, "product": GS_BLOCK_PRODUCT, "sum": GS_BLOCK_SUM,
    "matrix_vector": GS_BLOCK_MATRIX_VECTOR, "vector_matrix": GS_BLOCK_VECTOR_MATRIX, "outer": GS_BLOCK_OUTER,
    "copy": GS_BLOCK_COPY, "move": GS_BLOCK_MOVE, "zero": GS_BLOCK_ZERO,
}
ARITHMETIC = {
    ADD_UFUNC: "add", SUBTRACT: "subtract", MULTIPLY_UFUNC: "multiply", TRUE_DIVIDE: "divide", NEGATIVE: "negate",
}
ADD, MULTIPLY, POWER = ADD_UFUNC, MULTIPLY_UFUNC, POWER_UFUNC
# Exponent -> the ufunc that gives this power, as in kernels/pointwise.c.
POWERS = {1.0: POSITIVE, 2.0: SQUARE, -1.0: RECIPROCAL, 0.5: SQRT}
MOST_ELEMENTS = GS_BLOCK_ELEMENTS
MOST_INPUTS = GS_BLOCK_INPUTS


cdef class More:
    """What few kinds of steps need: a function, strides, sizes, numbers."""

    cdef BlockMore more


cdef class Block:
    def __init__(self):
        self.parts, self.fresh, self.shown, self.counted, self.storage = [], [], [], [], []

    def __dealloc__(self):
        PyMem_Free(self.steps)
        PyMem_Free(self.moving)

    def __len__(self):
        return self.count

    def add(
        self, part not None, str kind not None, int n, bint is_double, int out, tuple operands, int moving, more=None
    ):
        """One more step, in the place of the step `part`.

        Its elements, the place of its result, the places of its operands, and which of these are rows, a bit each.
        `more` is a dict of `function`, `data` (addresses), `rows`, `strides`, `row_strides`, `sizes`, `type`, `numbers`.
        """
        cdef BlockStep *step
        cdef int i
        if len(operands) > GS_BLOCK_INPUTS:
            raise ValueError(f"a step of a block has at most {GS_BLOCK_INPUTS} operands")
        step = self.new_step(part)
        step.kind, step.n, step.is_double, step.out = KINDS[kind], n, is_double, out
        step.n_in, step.moving = len(operands), moving
        for i in range(min(step.n_in, 2)):
            step.ins[i] = operands[i]
        if more is not None and step.kind <= GS_BLOCK_NEGATE:
            more = {**more, "type": step.kind}
            step.kind = GS_BLOCK_ROWS
        elif n == 1 and step.kind <= GS_BLOCK_NEGATE:
            step.kind = GS_BLOCK_SINGLE_KIND(step.kind, is_double, self.form_after_last(step))
        if more is not None:
            step.more = self.keep(more, operands[2:])

    def add_repeat(self, Repeat repeat not None):
        """Steps that run several times."""
        cdef BlockStep *step = self.new_step(repeat)
        step.kind, step.more = GS_BLOCK_REPEAT, &repeat.more
        self.storage.append(repeat)

    def set_moving(self, list places not None):
        """Addresses that differ from run to run: (address, slot, offset in bytes)."""
        cdef Py_ssize_t i
        self.n_moving = len(places)
        self.moving = <int *>PyMem_Malloc(max(self.n_moving, 1) * 3 * sizeof(int))
        if self.moving == NULL:
            raise MemoryError()
        for i in range(self.n_moving):
            for j in range(3):
                self.moving[3 * i + j] = places[i][j]

    def add_tiles(self, Tiles tiles not None):
        """Elementwise steps on large arrays."""
        cdef BlockStep *step = self.new_step(tiles)
        step.kind, step.more = GS_BLOCK_TILES, &tiles.more
        self.storage.append(tiles)

    cdef BlockStep *new_step(self, object part) except NULL:
        cdef BlockStep *step
        if self.count == self.capacity:
            self.grow()
        step = &self.steps[self.count]
        memset(step, 0, 2 * sizeof(BlockStep))  # and of what ends the block
        self.parts.append(part)
        self.count += 1
        return step

    cdef int run(self, char **addresses) except -1:
        return gs_run_block(self.steps, self.count, addresses)

    cdef int run_often(self, char **addresses, Py_ssize_t first, Py_ssize_t n, const npy_intp *strides, Py_ssize_t times) except -1:
        """Run it `times` times; `strides` has those of `n` places after even times, then those after odd ones."""
        return gs_run_block_often(self.steps, self.count, addresses, first, n, strides, strides + n, times)

    cdef int form_after_last(self, const BlockStep *step) noexcept:
        """Which operand of the newest step, one on single elements, the step before it has made: 1 or 2, or 0 for none."""
        cdef const BlockStep *last = step - 1
        if self.count < 2 or last.kind < GS_BLOCK_SINGLE or last.is_double != step.is_double:
            return 0
        if step.ins[0] == last.out:
            return 0 if step.n_in == 2 and step.ins[1] == last.out else 1
        return 2 if step.n_in == 2 and step.ins[1] == last.out else 0

    cdef int grow(self) except -1:
        cdef Py_ssize_t capacity = 2 * self.capacity or 16
        cdef BlockStep *steps = <BlockStep *>PyMem_Realloc(self.steps, (capacity + 1) * sizeof(BlockStep))
        if steps == NULL:
            raise MemoryError()
        self.steps, self.capacity = steps, capacity
        return 0

    cdef const BlockMore *keep(self, dict given, tuple others) except NULL:
        cdef More kept = More.__new__(More)
        memset(&kept.more, 0, sizeof(BlockMore))
        kept.more.function = <void (*)() noexcept><uintptr_t>given.get("function", 0)
        kept.more.data = <void *><uintptr_t>given.get("data", 0)
        kept.more.rows = given.get("rows", 1)
        kept.more.type = given.get("type", 0)
        for name in ("strides", "row_strides", "sizes", "numbers"):
            for i, value in enumerate(given.get(name, ())):
                if name == "strides":
                    kept.more.strides[<int>i] = value
                elif name == "row_strides":
                    kept.more.row_strides[<int>i] = value
                elif name == "sizes":
                    kept.more.sizes[<int>i] = value
                else:
                    kept.more.numbers[<int>i] = value
        for i, place in enumerate(others):
            kept.more.others[<int>i] = place
        self.storage.append(kept)
        return &kept.more


cdef class Repeat:
    """The steps of a block, `count` times.

    Parameters
    ----------
    body : Block
        To which nothing is added any more.
    count : int
    first : int
        Place of the table from which on they are those of the repeat.
    starts, strides : sequence of int
        Of each place that moves: the place that has its first address, and its stride per iteration, in bytes.
    listed : array of int, (count, n)
        Places that have the addresses of the `n` places after those that move.
    """

    def __init__(self, Block body not None, Py_ssize_t count, int first, starts not None, strides not None, listed not None):
        self.body = body
        self.starts = np.array(starts, np.int32)
        self.strides = np.array(strides, np.intp)
        self.listed = np.array(listed, np.int32, order="C").reshape(count, -1)
        memset(&self.more, 0, sizeof(BlockMore))
        self.more.repeat = &self.repeat
        self.repeat.steps, self.repeat.n_steps, self.repeat.count, self.repeat.first = body.steps, body.count, count, first
        self.repeat.n_moving, self.repeat.n_listed = len(self.starts), self.listed.shape[1]
        self.repeat.starts = <const int *>cnp.PyArray_DATA(<cnp.ndarray>self.starts)
        self.repeat.strides = <const npy_intp *>cnp.PyArray_DATA(<cnp.ndarray>self.strides)
        self.repeat.listed = <const int *>cnp.PyArray_DATA(<cnp.ndarray>self.listed)

    @property
    def count(self):
        return self.repeat.count


cdef class Tiles:
    """Steps of a block on arrays of `n` elements, `size` elements at a time.

    Parameters
    ----------
    body, rest : Block
        For `size` elements, and for those left over at the end; their operands are places of a table of their own.
    n, size : int
    places : sequence of int
        Of each place of that table the place of the program's that has the address of the first tile; -1 for scratch memory.
    strides : sequence of int
        How far the address moves from tile to tile, in bytes; where it is in the scratch memory.
    scratch : int
        Bytes.
    gaps : sequence of (int, int)
        Of the scratch memory, which belong to no place: from where on, and bytes.
    """

    def __init__(
        self, Block body not None, Block rest not None, Py_ssize_t n, Py_ssize_t size, places, strides,
        Py_ssize_t scratch, gaps,
    ):
        self.body, self.rest, self.n = body, rest, n
        self.places = np.array(places, np.int32)
        self.strides = np.array(strides, np.intp)
        self.gaps = np.array(gaps, np.intp).ravel()
        memset(&self.more, 0, sizeof(BlockMore))
        self.more.tiles = &self.tiles
        self.tiles.steps, self.tiles.rest, self.tiles.n_steps = body.steps, rest.steps, body.count
        self.tiles.count, self.tiles.n_rest = n // size, n % size
        self.tiles.cost, self.tiles.scratch, self.tiles.n_local = size * body.count, scratch, len(self.places)
        self.tiles.n_gaps = len(gaps)
        self.tiles.gaps = <const npy_intp *>cnp.PyArray_DATA(<cnp.ndarray>self.gaps)
        self.tiles.places = <const int *>cnp.PyArray_DATA(<cnp.ndarray>self.places)
        self.tiles.strides = <const npy_intp *>cnp.PyArray_DATA(<cnp.ndarray>self.strides)
