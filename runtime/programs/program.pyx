"""Programs: what a traced function did, as a list of steps that is run without Python.

Note [Steps]
A step is an op of the table with its operands, or the loop behind one. Values are numbered: the tensors a program is given
come first, then the results of the steps in order. An op gets tensors and behaves as ever, views and writes included, so that
whatever can be traced can be run. An elementwise op on arrays is its loop alone: no tensor is made, and its result goes into
an array in memory which the frame of the run keeps for it (`rooms`), where nobody outside of the program can see that array.

Note [Rooms]
A room is a place in the arena of a frame. Two values share a room when they never live at the same time. A value lives from the
step that makes it to the last one that reads it or a view of it. Values that leave the program have no room: they are new
arrays in each run.
"""
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint64_t, uintptr_t
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport (
    binary,
    binary_into,
    binary_scalar,
    binary_scalar_into,
    empty_like,
    fused,
    fused_over,
    release_array,
    unary,
    unary_into,
)
from gradsmith.runtime.arrays.overlap cimport ranges_meet
from gradsmith.runtime.batching.batch cimport VmapLevel, swap_trace
from gradsmith.runtime.graph.tangent cimport swap_ceiling
from gradsmith.runtime.graph.tensor cimport TensorBase, bump_version, wrap
from gradsmith.runtime.switches.grad_mode cimport swap_grad_mode

from time import perf_counter

import numpy as np

from gradsmith.runtime.programs.layouts import copied_as_it_lies

cnp.import_array()

cdef extern from *:
    """
    #define GS_LOOP_OF(kernel, i) ((void *)(kernel)->loops[i])
    """
    void *GS_LOOP_OF(const FusedKernel *kernel, int i) noexcept

cdef extern from "runtime/programs/forbidden.h":
    bint GS_IS_WATCHED
    void gs_forbid(char *start, size_t nbytes) noexcept
    void gs_allow(char *start, size_t nbytes) noexcept

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)
    int PyErr_CheckSignals() except -1

cdef enum:
    STEPS_BETWEEN_SIGNALS = 1 << 12
    LINE = 64

MOST_STEPS_AT_ONCE = STEPS_BETWEEN_SIGNALS      # without a look at signals, which may raise


cdef class Slot:
    def __init__(self, Py_ssize_t number):
        self.number = number

    def __repr__(self):
        return f"%{self.number}"


cdef class Step:
    def __cinit__(self):
        self.counted = -1

    def count_writes_to(self, int slot):
        """Say which input of the program it writes to, so that the version of that tensor is counted."""
        self.counted = slot

    def __dealloc__(self):
        PyMem_Free(self.dying)

    @property
    def place(self):
        """File and line that called it."""
        return "" if self.line is None else f"{self.line[0].co_filename}:{self.line[1]}"

    @property
    def is_loop(self):
        """Does it run without tensors?"""
        return self.kind not in (OP, CALL, BLOCK)

    @property
    def loop(self):
        """Of a step that runs a loop: ("unary", ufunc), ("binary", ufunc), ("number_last", ufunc, number), ("number_first",
        ufunc, number), or ("kernel", addresses of its loops, numbers); else None."""
        if not self.is_loop:
            return None
        if self.kind == KERNEL:
            loops = (<uintptr_t>GS_LOOP_OF(self.kernel, 0), <uintptr_t>GS_LOOP_OF(self.kernel, 1))
            return "kernel", loops, [self.numbers[i] for i in range(self.kernel.n_scalars)]
        if self.kind == UNARY or self.kind == BINARY:
            return "unary" if self.kind == UNARY else "binary", self.ufunc
        return "number_last" if self.kind == NUMBER_LAST else "number_first", self.ufunc, self.number

    @property
    def loop_inputs(self):
        """Slots that the loop reads, in its order."""
        return [self.inputs[i] for i in range(self.n_inputs)]

    @property
    def reads(self):
        """Slots of its operands: a list that is not to be changed."""
        if self.slots is None:
            self.slots = slots_in(self.operands, [])
        return self.slots


def is_watched():
    """Whether AddressSanitizer sees each access to memory."""
    return GS_IS_WATCHED


def block_step(Block block not None):
    """A step that runs a block."""
    cdef Step step = Step.__new__(Step)
    step.name, step.operands, step.results, step.kind, step.block = "block", (), (), BLOCK, block
    return step


def native_step(str name not None, tuple operands not None, Step like not None):
    """A step in the place of another one, with other operands, which can run in a block alone."""
    cdef Step step = Step.__new__(Step)
    step.name, step.operands, step.results, step.is_single = name, operands, like.results, True
    step.kind, step.line, step.target = OP, like.line, like.target
    return step


def step_with_result(Step step not None, int slot):
    """A step as another one, whose one result is another value."""
    cdef Step found = step_again(step)
    found.results, found.target = (slot,), slot
    return found


def step_again(Step step not None):
    """The same step for another program: each one notes in its steps what it plans."""
    cdef Step found = Step.__new__(Step)
    found.name, found.operands, found.is_single, found.has_effects = step.name, step.operands, step.is_single, step.has_effects
    found.line, found.rule, found.kind, found.ufunc, found.kernel = step.line, step.rule, step.kind, step.ufunc, step.kernel
    found.n_inputs, found.inputs, found.numbers, found.number = step.n_inputs, step.inputs, step.numbers, step.number
    found.results, found.target = step.results, step.target
    found.function, found.writes = step.function, step.writes
    return found


cdef list slots_in(object operands, list found):
    for operand in operands:
        if isinstance(operand, Slot):
            found.append((<Slot>operand).number)
        elif isinstance(operand, (tuple, list)):
            slots_in(operand, found)
    return found


# ---- frames

cdef class Frame:
    def __cinit__(self, Program program):
        self.n_slots = program.n_slots
        self.arrays = <PyObject **>PyMem_Calloc(max(self.n_slots, 1), sizeof(PyObject *))
        self.tensors = <PyObject **>PyMem_Calloc(max(self.n_slots, 1), sizeof(PyObject *))
        self.rooms = <PyObject **>PyMem_Calloc(max(self.n_slots, 1), sizeof(PyObject *))
        self.used = <int *>PyMem_Calloc(max(len(program.used), 1), sizeof(int))
        if self.arrays == NULL or self.tensors == NULL or self.rooms == NULL or self.used == NULL:
            raise MemoryError("a program of %d values" % self.n_slots)
        for slot in program.used:
            self.used[self.n_used] = slot
            self.n_used += 1
        arena = new_arena(program.arena_size)
        self.owners = [arena]
        self.arena, self.arena_size = data_of(<PyObject *>arena), program.arena_size
        for place, nbytes in program.gaps:
            gs_forbid(self.arena + <Py_ssize_t>place, <Py_ssize_t>nbytes)
        for slot, place, model in program.room_models:
            room = np.ndarray(model.shape, model.dtype, arena, place, model.strides)
            self.owners.append(room)
            self.rooms[<Py_ssize_t>slot] = <PyObject *>room
        self.addresses = <char **>PyMem_Calloc(max(program.n_addresses, 1), sizeof(char *))
        if self.addresses == NULL:
            raise MemoryError("a program of %d values" % self.n_slots)
        for place, offset in program.room_addresses:
            self.addresses[<Py_ssize_t>place] = self.arena + <Py_ssize_t>offset
        for place, array in program.constant_addresses:
            self.addresses[<Py_ssize_t>place] = data_of(<PyObject *>array)

    def __dealloc__(self):
        if self.arrays != NULL and self.tensors != NULL:
            clear(self)
        if self.arena != NULL:
            gs_allow(self.arena, self.arena_size)
        PyMem_Free(self.used)
        PyMem_Free(self.arrays)
        PyMem_Free(self.tensors)
        PyMem_Free(self.rooms)
        PyMem_Free(self.addresses)


cdef object new_arena(Py_ssize_t size):
    """Bytes that begin with a line of the cache."""
    memory = np.empty(size + LINE, np.uint8)
    cdef Py_ssize_t shift = (LINE - <Py_ssize_t>data_of(<PyObject *>memory) % LINE) % LINE
    return memory[shift:shift + size]


cdef inline char *data_of(PyObject *array) noexcept:
    return <char *>cnp.PyArray_DATA(<cnp.ndarray>array)


cdef void clear(Frame frame) noexcept:
    cdef Py_ssize_t i
    for i in range(frame.n_used):
        drop(frame, frame.used[i])


cdef inline void drop(Frame frame, Py_ssize_t slot) noexcept:
    cdef PyObject *array = frame.arrays[slot]
    cdef PyObject *tensor = frame.tensors[slot]
    if tensor != NULL:
        frame.tensors[slot] = NULL
        Py_DECREF_pointer(tensor)
    if array != NULL:
        frame.arrays[slot] = NULL
        release_array(array)


cdef inline void put_array(Frame frame, int slot, PyObject *array) noexcept:
    """Steals the reference."""
    cdef PyObject *before = frame.arrays[slot]
    frame.arrays[slot] = array
    if before != NULL:
        release_array(before)


cdef int put_tensor(Frame frame, Py_ssize_t slot, TensorBase tensor) except -1:
    drop(frame, slot)
    Py_INCREF(tensor)
    frame.tensors[slot] = <PyObject *>tensor
    Py_INCREF_pointer(tensor.array)
    frame.arrays[slot] = tensor.array
    return 0


cdef TensorBase tensor_in(Frame frame, Py_ssize_t slot):
    cdef TensorBase tensor
    if frame.tensors[slot] == NULL:
        tensor = wrap(<object>frame.arrays[slot])
        Py_INCREF(tensor)
        frame.tensors[slot] = <PyObject *>tensor
    return <TensorBase>frame.tensors[slot]


# ---- running

cdef class Program:
    """A list of steps.

    Parameters
    ----------
    steps : list of Step
    n_slots : int
    inputs, outputs : tuple of int
        Slots that a run is given, and that it gives.
    """

    def __init__(self, list steps not None, Py_ssize_t n_slots, tuple inputs not None, tuple outputs not None):
        self.steps, self.n_slots, self.inputs, self.outputs = steps, n_slots, inputs, outputs
        self.room_models, self.gaps, self.frames = [], [], []
        self.room_addresses, self.constant_addresses, self.used, self.guarded = [], [], set(), []

    def give_addresses(self, list rooms not None, list constants not None, Py_ssize_t count):
        """The places of the table of addresses that have a fixed one in each frame."""
        self.room_addresses, self.constant_addresses, self.n_addresses = rooms, constants, count

    def guard(self, list slots not None):
        """Inputs that are written before a step that may raise: what a run that raises has written there is undone."""
        self.guarded = slots

    def give_rooms(
        self, list room_models not None, Py_ssize_t arena_size, list gaps not None, dict dying not None
    ):
        """Say where values have room, and after which steps values are dropped. Once, before the first run.

        `room_models` are the rooms that are seen as arrays: (slot, place in the arena, array of the layout). `gaps` are
        the parts of the arena that no room has: (place, bytes).
        """
        cdef Step step
        cdef Py_ssize_t i
        if self.is_planned:
            raise RuntimeError("the rooms of a program are given once")
        self.room_models, self.arena_size, self.gaps = room_models, arena_size, gaps
        with_room = {slot for slot, _, _ in room_models}
        self.used = used_slots(self.steps) | set(self.inputs)
        for number, step in enumerate(self.steps):
            slots = [slot for slot in dying.get(number, ()) if slot in self.used]
            step.has_room = not step.writes and step.is_loop and step.target in with_room
            step.dying = <int *>PyMem_Calloc(max(len(slots), 1), sizeof(int))
            if step.dying == NULL:
                raise MemoryError()
            step.n_dying = len(slots)
            for i in range(step.n_dying):
                step.dying[i] = slots[i]
        self.is_planned = True

    def run(self, tuple values not None):
        """Run it on the tensors for `inputs`; gives those of `outputs`.

        Nothing is recorded: no history, no tangents.
        """
        if len(values) != len(self.inputs):
            raise ValueError(f"a program of {len(self.inputs)} inputs was given {len(values)}")
        cdef Frame frame = self.frames.pop() if self.frames else Frame(self)
        cdef bint recording = swap_grad_mode(False)
        cdef uint64_t ceiling = swap_ceiling(0)
        cdef VmapLevel trace = swap_trace(None)
        try:
            for i in range(len(values)):
                put_tensor(frame, self.inputs[i], <TensorBase?>values[i])
            found = run_or_restore(self, frame) if self.guarded else outputs_of(self, frame)
        finally:
            swap_trace(trace)
            swap_ceiling(ceiling)
            swap_grad_mode(recording)
            clear(frame)
            keep_frame(self.frames, frame)
        return found

    def timed(self, tuple values not None, Py_ssize_t runs):
        """Seconds that each step takes, the least of some runs. Writes to what is outside take place in each of them."""
        cdef Frame frame
        cdef Step step
        cdef bint recording
        cdef uint64_t ceiling
        best = [float("inf")] * len(self.steps)
        for _ in range(runs):
            frame = Frame(self)
            recording, ceiling = swap_grad_mode(False), swap_ceiling(0)
            try:
                for slot, value in zip(self.inputs, values, strict=True):
                    put_tensor(frame, slot, <TensorBase?>value)
                for number, step in enumerate(self.steps):
                    start = perf_counter()
                    run_step(step, frame)
                    best[number] = min(best[number], perf_counter() - start)
                    for i in range(step.n_dying):
                        drop(frame, step.dying[i])
            finally:
                clear(frame)
                swap_ceiling(ceiling)
                swap_grad_mode(recording)
        return best

    def __len__(self):
        return len(self.steps)


cdef set used_slots(list steps):
    """The slots that ever hold an array; most of those that blocks write do not."""
    cdef Step step
    cdef set found = set()
    for step in steps:
        if step.kind == BLOCK:
            found.update([slot for slot, _ in step.block.fresh])
            found.update(step.block.shown)
        else:
            found.update([slot for slot in step.results if slot is not None])
    return found


cdef int keep_frame(list frames, Frame frame) except -1:
    """For the next run; where no memory is left, that one makes another."""
    try:
        frames.append(frame)
    except MemoryError:
        pass
    return 0


cdef tuple outputs_of(Program program, Frame frame):
    run_steps(program.steps, frame)
    return tuple([tensor_in(frame, slot) for slot in program.outputs])


cdef tuple run_or_restore(Program program, Frame frame):
    """The outputs. Writes to what is outside of the program are all made or none: an error undoes those before it."""
    cdef list before = [(array, array.copy()) for array in [<object>frame.arrays[<Py_ssize_t>slot] for slot in program.guarded]]
    try:
        return outputs_of(program, frame)
    except BaseException:
        for array, values in before:
            np.copyto(array, values)
        raise


cdef int run_steps(list steps, Frame frame) except -1:
    cdef Step step
    cdef int i, count = 0
    for step in steps:
        run_step(step, frame)
        for i in range(step.n_dying):
            drop(frame, step.dying[i])
        count += 1
        if count % STEPS_BETWEEN_SIGNALS == 0:
            PyErr_CheckSignals()
    return 0


cdef int run_step(Step step, Frame frame) except -1:
    if step.kind == OP or step.kind == CALL:
        return call_op(step, frame)
    if step.kind == BLOCK:
        return run_block(step.block, frame)
    if step.writes:
        write_by_loop(step, frame, frame.arrays[step.target])
        if step.counted >= 0:
            bump_version(<TensorBase>frame.tensors[step.counted])
        return 0
    if step.has_room:
        run_loop_into(step, frame, frame.rooms[step.target])
        Py_INCREF_pointer(frame.rooms[step.target])
        put_array(frame, step.target, frame.rooms[step.target])
        return 0
    put_array(frame, step.target, run_loop(step, frame))
    return 0


cdef int run_block(Block block, Frame frame) except -1:
    cdef int *moving = block.moving
    cdef Py_ssize_t i
    for slot, model in block.fresh:
        array = empty_like(model, <object>cnp.PyArray_DESCR(<cnp.ndarray>model))
        Py_INCREF(array)
        put_array(frame, slot, <PyObject *>array)
    for i in range(block.n_moving):
        frame.addresses[moving[3 * i]] = data_of(frame.arrays[moving[3 * i + 1]]) + moving[3 * i + 2]
    block.run(frame.addresses)
    for slot in block.counted:
        bump_version(<TensorBase>frame.tensors[<Py_ssize_t>slot])
    for slot in block.shown:
        Py_INCREF_pointer(frame.rooms[<Py_ssize_t>slot])
        put_array(frame, slot, frame.rooms[<Py_ssize_t>slot])
    return 0


cdef PyObject *run_loop(Step step, Frame frame) except NULL:
    cdef PyObject *inputs[8]
    cdef PyObject *found
    cdef int i
    for i in range(step.n_inputs):
        inputs[i] = frame.arrays[step.inputs[i]]
    if step.kind == UNARY:
        return unary(step.ufunc, inputs[0])
    if step.kind == BINARY:
        return binary(step.ufunc, inputs[0], inputs[1])
    if step.kind == KERNEL:
        found = fused(step.kernel, inputs, step.numbers, NULL)
        if found == NULL:
            raise RuntimeError(f"{step.name}: the loop of a compiled program refuses its operands; please report this")
        return found
    return binary_scalar(step.ufunc, inputs[0], step.number, step.kind == NUMBER_FIRST)


cdef int write_by_loop(Step step, Frame frame, PyObject *out) except -1:
    """Copy operands that overlap `out` elsewhere: kernels would read them after they are written."""
    cdef PyObject *inputs[8]
    cdef list copies = []
    cdef int i
    for i in range(step.n_inputs):
        inputs[i] = frame.arrays[step.inputs[i]]
        if step.kind == KERNEL and inputs[i] != out and ranges_meet(<cnp.ndarray>inputs[i], <cnp.ndarray>out):
            copy = copied_as_it_lies(<object>inputs[i])
            copies.append(copy)
            inputs[i] = <PyObject *>copy
    return run_loop_on(step, inputs, out)


cdef int run_loop_into(Step step, Frame frame, PyObject *out) except -1:
    cdef PyObject *inputs[8]
    cdef int i
    for i in range(step.n_inputs):
        inputs[i] = frame.arrays[step.inputs[i]]
    return run_loop_on(step, inputs, out)


cdef int run_loop_on(Step step, PyObject **inputs, PyObject *out) except -1:
    if step.kind == UNARY:
        return unary_into(step.ufunc, inputs[0], out)
    if step.kind == BINARY:
        return binary_into(step.ufunc, inputs[0], inputs[1], out)
    if step.kind == KERNEL:
        if not fused_over(step.kernel, inputs, step.numbers, out):
            raise RuntimeError(f"{step.name}: the loop of a compiled program refuses its operands; please report this")
        return 0
    return binary_scalar_into(step.ufunc, inputs[0], step.number, step.kind == NUMBER_FIRST, out)


cdef int call_op(Step step, Frame frame) except -1:
    cdef tuple operands = filled(step.operands, frame)
    cdef object result = step.rule.op(operands) if step.kind == OP else step.function(*operands)
    if step.writes:
        return 0
    if step.is_single:
        if step.results[0] is not None:
            put_tensor(frame, step.results[0], <TensorBase?>result)
        return 0
    for slot, value in zip(step.results, result, strict=True):
        if slot is not None:
            put_tensor(frame, slot, <TensorBase?>value)
    return 0


cdef tuple filled(object operands, Frame frame):
    return tuple([fill(operand, frame) for operand in operands])


cdef object fill(object operand, Frame frame):
    if type(operand) is Slot:
        return tensor_in(frame, (<Slot>operand).number)
    if type(operand) is list:
        return [fill(item, frame) for item in operand]
    if type(operand) is tuple:
        return tuple([fill(item, frame) for item in operand])
    return operand
