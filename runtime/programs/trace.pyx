"""Traces: one run of a function, written down.

Note [Traces]
While a function is traced, every op in the thread that runs it belongs to its trace. The op runs on physical tensors, as
ever and without history; what the function gets is a traced tensor (batching/batch.pyx, Note [Traced tensors]), which has the
history and the tangents. A backward inside of the function is therefore a list of steps like any other.

A value is an argument, a tensor that was there before (captured, read again in each run), one that the function made out of
Python numbers (a constant), or the result of a step. Nothing else can get into a program: whatever asks a traced tensor for its
elements raises an error.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
from libc.string cimport memcpy
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport FusedKernel, fused, is_batched_array, is_dense
from gradsmith.runtime.batching.batch cimport (
    Batch,
    VmapLevel,
    as_traced,
    batch_of,
    current_trace,
    is_batched,
    open_batch_of,
    swap_trace,
)
from gradsmith.runtime.batching.rules cimport BatchRule, by_indexing, by_values, trace_with
from gradsmith.runtime.calls.captured cimport depth_at_birth
from gradsmith.runtime.calls.fused cimport trace_kernels_with
from gradsmith.runtime.graph.tangent cimport swap_ceiling
from gradsmith.runtime.graph.tensor cimport REQUIRES_GRAD, TensorBase, TensorMeta, meta_of, wrap, wrap_owned
from gradsmith.runtime.history.accumulate_grad cimport report_leaves_to
from gradsmith.runtime.history.view cimport root_of
from gradsmith.runtime.programs.program cimport (
    BINARY,
    CALL,
    KERNEL,
    NUMBER_FIRST,
    NUMBER_LAST,
    OP,
    UNARY,
    Slot,
    Step,
)
from gradsmith.runtime.switches.grad_mode cimport swap_grad_mode
from gradsmith.runtime.switches.transformed cimport TransformedCall, call_depth

import sys

import numpy as np

from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.graph import tensor_api
from gradsmith.runtime.programs.layouts import copied_as_it_lies
from gradsmith.runtime.switches import upcalls

cnp.import_array()

cdef enum:
    MOST_INPUTS = 8

FLOAT16, FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)


class Outdated(Exception):
    """A value is another one than in the run that a program was made from, which went another way."""


class Guard:
    """A step that raises `Outdated` where a run goes another way than the program."""


class Expected(Guard):
    """A step that lets a run go on where a value is as it was."""

    def __init__(self, value):
        self.value = value

    def __call__(self, TensorBase tensor not None):
        found = (<object>tensor.array).item()
        if found != self.value:
            raise Outdated(f"{found} in the place of {self.value}")


class Check:
    """A step that raises an error where a run has values that the function does not take, and gives nothing."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *tensors):
        self.function(*tensors)


cdef class TracedCall(TransformedCall):
    """The call that is traced. It tells what is made in it from what was there.

    Attributes
    ----------
    requires_grad : dict
        id -> (tensor, whether it required grad) of each that was told to require grad, or not to.
    """

    cdef readonly dict requires_grad

    def __cinit__(self):
        self.requires_grad = {}

    def changes_requires_grad(self, TensorBase tensor not None):
        if not is_batched(tensor) and depth_at_birth(tensor) < <int>self.depth:
            self.requires_grad.setdefault(id(tensor), (tensor, tensor.requires_grad))


cdef class Trace(VmapLevel):
    """The level of one traced run.

    Parameters
    ----------
    call : object
        Makes errors: ``escape(what)`` for what asks for a value, ``error(text)`` for anything else.

    Attributes
    ----------
    steps : list of Step
    values : list
        The tensor of each slot in this run.
    constants, captured : dict
        Slot -> tensor: what the function made of Python values, and what was there before it was called.
    touched : dict
        id -> (leaf, the `.grad` that it had) of each leaf whose gradient was asked for, stored or changed.
    replaced : set
        ids of leaves whose `.grad` was replaced before anything asked for it.
    originals : dict
        id -> (array, copy) of memory from outside that was written: as it was before.
    undo : list of callable
        Take back what Python functions that the program calls have done.
    generators : list
        Pairs of a generator of random numbers that was used, and its state before.
    """

    cdef readonly list steps
    cdef readonly list values
    cdef readonly dict constants
    cdef readonly dict captured
    cdef readonly dict touched
    cdef readonly set replaced
    cdef public bint guards             # the function may ask for truth values and integers
    cdef public object planner          # makes a program of one step of a loop; None where loops are traced step by step
    cdef readonly dict originals
    cdef readonly list undo
    cdef readonly list generators
    cdef readonly dict aliased          # slot of an argument -> itself, where the function captures it too
    cdef readonly Py_ssize_t n_inputs
    cdef dict slot_of_tensor
    cdef dict slot_of_array
    cdef set known                      # slots of what ops have made of constants alone: the same in each run
    cdef dict leaves                    # id of an argument -> its traced tensor
    cdef set outside                    # ids of the arrays that own memory from outside
    cdef readonly dict changed                   # id of memory of the function's own that was written -> a copy from before
    cdef TensorBase anchor              # keeps ops on the lookout
    cdef TracedCall birth
    cdef int depth
    cdef VmapLevel before

    def __cinit__(self, call=None):
        self.is_trace = True
        self.steps, self.values, self.generators, self.undo = [], [], [], []
        self.constants, self.captured, self.touched, self.originals = {}, {}, {}, {}
        self.slot_of_tensor, self.slot_of_array, self.known = {}, {}, set()
        self.outside, self.changed, self.leaves, self.aliased, self.replaced = set(), {}, {}, {}, set()

    def __init__(self, call):
        VmapLevel.__init__(self, 0, "same", call)

    def __enter__(self):
        self.anchor = as_traced(wrap(np.empty(0)), self, -1)
        self.birth = TracedCall(None, (), {})
        self.birth.__enter__()
        self.depth = call_depth()
        self.before = swap_trace(self)
        return self

    def __exit__(self, *raised):
        if self.birth is None:
            raise RuntimeError("a trace that is not open was closed")
        swap_trace(self.before)
        self.birth.__exit__()
        self.before = None
        self.birth = None
        self.anchor = None
        self.close()

    def release(self):
        """Let go of all tensors: the traced ones keep the trace, and a cycle through arrays is never collected."""
        self.leaves, self.touched, self.aliased, self.slot_of_tensor, self.slot_of_array = {}, {}, {}, {}, {}
        self.values, self.constants, self.captured, self.originals, self.changed, self.undo = [], {}, {}, {}, {}, []

    def restore(self):
        """Give memory from outside, and generators, what they had before: nothing is left half-changed."""
        for undo in reversed(self.undo):
            self.aside(undo, ())
        for owner, before in self.originals.values():
            np.copyto(owner, before)
        for generator, state in self.generators:
            self.aside(generator.set_state, (state,))

    def argument(self, TensorBase tensor not None):
        """The traced tensor for an argument: a leaf that requires grad where the argument does."""
        cdef TensorBase traced = self.boxed(tensor)
        self.outside.add(id(owner_of(<object>tensor.array)))
        self.leaves[id(tensor)] = traced
        self.n_inputs = len(self.values)
        if tensor.meta is not None and (<TensorMeta>tensor.meta).grad is not None:
            meta_of(traced).grad = (<TensorMeta>tensor.meta).grad
        return traced.requires_grad_() if tensor.requires_grad else traced

    def is_from_outside(self, TensorBase tensor not None):
        """Was the memory that the tensor shows there before the call?"""
        cdef Batch batch
        while is_batched(tensor):
            batch = open_batch_of(tensor)
            tensor = batch.physical
            if batch.level is self:
                return id(owner_of(<object>tensor.array)) in self.outside
        return depth_at_birth(root_of(tensor)) < self.depth

    def is_made(self, TensorBase tensor not None):
        """Is it a traced tensor, or one that the function made?"""
        return is_batched(tensor) or depth_at_birth(tensor) >= self.depth

    def tensors_from_outside(self):
        """Arguments, and what the function has captured so far."""
        return [*self.values[:self.n_inputs], *self.captured.values()]

    def changed_requires_grad(self):
        """Pairs of a tensor from outside that requires grad, or does not, other than before, and what it did."""
        return [(tensor, before) for tensor, before in self.birth.requires_grad.values() if tensor.requires_grad != before]

    def leaf_of(self, TensorBase tensor not None):
        """The traced tensor of an argument; any other tensor itself."""
        return self.leaves.get(id(tensor), tensor)

    def wrote(self, TensorBase tensor not None):
        """A Python function that the program calls writes to a tensor."""
        self.slot_for(tensor)
        self.keep_original(tensor)

    def again(self, Py_ssize_t slot):
        """Another traced tensor for a value, without history."""
        return as_traced(self.value(slot), self, slot)

    cdef TensorBase value(self, Py_ssize_t slot):
        if not 0 <= slot < len(self.values):
            raise IndexError(f"slot {slot} of a trace of {len(self.values)} values")
        return <TensorBase?>self.values[slot]

    def constant(self, TensorBase tensor not None):
        """The traced tensor for one that was made of Python values."""
        cdef TensorBase traced = self.boxed(tensor)
        self.constants[batch_of(traced.array).slot] = tensor
        return traced

    def slot(self, TensorBase tensor not None):
        """The number of a tensor's value."""
        return self.slot_for(tensor)

    def call_of(self, function, tuple arguments, str name not None, bint has_effects=True):
        """Call a Python function with physical tensors, and have it called in each run. Gives traced results.

        One without effects beside its results is not called where nothing needs these.
        """
        operands = self.slots_of(arguments)
        result = self.aside(function, self.physicals_of(arguments))
        cdef Step step = self.new_step(name, operands)
        step.kind, step.function, step.has_effects = CALL, function, has_effects
        return self.finish(step, result)

    def check(self, function, tuple tensors not None):
        """Have `function` raise an error for values that are not allowed, in each run if they may be others there."""
        if self.are_known([self.slot_for(tensor) for tensor in tensors]):
            self.aside(function, self.physicals_of(tensors))
        else:
            self.call_of(Check(function), tensors, "check", has_effects=False)

    def known_array(self, Py_ssize_t slot):
        """The array of a constant, or of what ops have made of constants, if it has not been written to; else None.

        One truth value or integer of any other value too where `guards` is set: that it is the same is a step then.
        """
        if self.is_known(slot):
            return <object>self.value(slot).array
        return self.expected(slot) if self.guards and slot not in self.constants else None

    cdef bint is_known(self, Py_ssize_t slot) except -1:
        if slot not in self.constants and slot not in self.known:
            return False
        return id(owner_of(<object>self.value(slot).array)) not in self.changed

    cdef bint are_known(self, list slots) except -1:
        for slot in slots:
            if not self.is_known(slot):
                return False
        return True

    cdef object expected(self, Py_ssize_t slot):
        array = <object>self.value(slot).array
        if array.size != 1 or array.dtype.kind not in "biu":
            return None
        self.call_of(Expected(array.item()), (self.again(slot),), "expect")
        return array

    def constant_before(self, Py_ssize_t slot):
        """A constant as the function made it, before it wrote to it."""
        tensor = self.constants[slot]
        array = <object>(<TensorBase>tensor).array
        before = self.changed.get(id(owner_of(array)))
        if before is None:
            return tensor
        return wrap(before if owner_of(array) is array else as_shown(before, owner_of(array), array))

    cdef bint is_made_of_python(self, TensorBase tensor) except -1:
        """Did the function make the tensor, which no op wrote to, out of Python's values or an array?"""
        if depth_at_birth(tensor) < self.depth:
            return False
        owner = id(owner_of(<object>tensor.array))
        return owner not in self.outside and owner not in self.changed

    def note_generator(self, generator):
        if not any([generator is known for known, _ in self.generators]):
            self.generators.append((generator, self.aside(generator.get_state, ())))

    # -- values

    cdef TensorBase boxed(self, TensorBase physical):
        cdef Py_ssize_t slot = self.new_slot(physical)
        return as_traced(physical, self, slot)

    cdef Py_ssize_t new_slot(self, TensorBase physical) except -1:
        cdef Py_ssize_t slot = len(self.values)
        self.values.append(physical)
        self.slot_of_tensor[<size_t><PyObject *>physical] = slot
        self.slot_of_array.setdefault(<size_t>physical.array, slot)
        return slot

    cdef Py_ssize_t slot_for(self, TensorBase t) except -1:
        cdef Batch batch
        if is_batched(t):
            batch = open_batch_of(t)
            if batch.level is not self:
                raise self.call.error("a tensor of another trace, or of a call of vmap around it, is used in a compiled function")
            return batch.slot
        found = self.slot_of_tensor.get(<size_t><PyObject *>t)
        if found is None:
            found = self.slot_of_array.get(<size_t>t.array)
        if found is not None:
            if found < self.n_inputs and t.flags & REQUIRES_GRAD and id(t) in self.leaves:
                raise self.call.error(
                    f"a tensor of shape {list(t.shape)} that requires grad is an argument and a variable that the function captures, "
                    "which would be two leaves; use it as one of them"
                )
            if found < self.n_inputs and id(t) in self.leaves:
                self.aliased[found] = t
            if self.is_leaf_behind(t, found):
                self.captured[found] = t  # in the place of another tensor that shows its array
            return found
        slot = self.new_slot(t)
        if depth_at_birth(t) >= self.depth:
            self.constants[slot] = t
        else:
            self.captured[slot] = t
            self.outside.add(id(owner_of(<object>t.array)))
        return slot

    cdef bint is_leaf_behind(self, TensorBase t, found) except -1:
        """Is it the leaf from outside whose array a captured tensor shows? Transforms make leaves of their own of it."""
        if not t.flags & REQUIRES_GRAD or depth_at_birth(t) >= self.depth:
            return False
        return found in self.captured and not self.captured[found].requires_grad

    cdef TensorBase physical_of(self, TensorBase t):
        return <TensorBase>self.values[self.slot_for(t)] if is_batched(t) else t

    cdef tuple slots_of(self, object operands):
        return tuple([self.as_slots(operand) for operand in operands])

    cdef object as_slots(self, object operand):
        if isinstance(operand, TensorBase):
            return Slot(self.slot_for(<TensorBase>operand))
        if type(operand) is list:
            return [self.as_slots(item) for item in operand]
        return self.slots_of(operand) if type(operand) is tuple else operand

    cdef tuple physicals_of(self, object operands):
        return tuple([self.as_physical(operand) for operand in operands])

    cdef object as_physical(self, object operand):
        if isinstance(operand, TensorBase):
            return self.physical_of(<TensorBase>operand)
        if type(operand) is list:
            return [self.as_physical(item) for item in operand]
        return self.physicals_of(operand) if type(operand) is tuple else operand

    # -- steps

    cdef Step new_step(self, str name, tuple operands):
        cdef Step step = Step.__new__(Step)
        step.name, step.operands = name, operands
        step.line = calling_line()
        return step

    cdef object finish(self, Step step, object result):
        """Write a step down with its results, and give these as traced tensors."""
        self.steps.append(step)
        is_known = not step.has_effects and self.are_known(step.reads)
        step.is_single = not isinstance(result, (tuple, list))
        if not step.is_single:
            traced = [self.result(item) for item in result]
            step.results = tuple([None if item is None else batch_of((<TensorBase>item).array).slot for item in traced])
            if is_known:
                self.known.update(step.results)
            return traced if isinstance(result, list) else tuple(traced)
        found = self.result(result)
        step.results = (None if found is None else batch_of((<TensorBase>found).array).slot,)
        if is_known:
            self.known.update(step.results)
        return found

    cdef object result(self, object item):
        if item is None:
            return None
        if not isinstance(item, TensorBase):
            raise self.call.error(f"a result of type {type(item).__name__} cannot be traced")
        return self.boxed(<TensorBase>item)

    cdef object aside(self, object function, tuple operands):
        cdef VmapLevel before = swap_trace(None)
        try:
            return function(*operands)
        finally:
            swap_trace(before)

    cdef int keep_original(self, TensorBase target) except -1:
        """What is written, if it was there before the trace: so that the run can be repeated."""
        owner = owner_of(<object>target.array)
        if id(owner) not in self.outside:
            if id(owner) not in self.changed:
                self.changed[id(owner)] = copied_as_it_lies(owner)
        elif id(owner) not in self.originals:
            self.originals[id(owner)] = (owner, owner.copy())


cdef object owner_of(object array):
    while isinstance(array.base, cnp.ndarray):
        array = array.base
    return array


cdef object as_shown(object memory, object owner, object view):
    """Of `memory`, a copy of `owner`, what `view` shows of that."""
    shift = view.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return np.ndarray(view.shape, view.dtype, memory, shift, view.strides)


cdef object calling_line():
    """The innermost line of Python that is not the package's own."""
    frame = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gradsmith."):
        frame = frame.f_back
    return None if frame is None else (frame.f_code, frame.f_lineno)


# ---- ops

cdef object trace_op(const BatchRule *rule, tuple operands, VmapLevel level, bint writes):
    cdef Trace trace = <Trace>level
    cdef str name = rule.name.decode()
    cdef tuple slots = trace.slots_of(operands)
    cdef Step step = trace.new_step(name, slots)
    step.rule, step.kind, step.writes = rule, OP, writes
    if not trace.are_known(slots_of_shape(rule, step, operands)):
        raise trace.call.escape(f"{name}(), a result whose shape depends on values,")
    cdef tuple physicals = trace.physicals_of(operands)
    cdef TensorBase target
    for operand in operands:
        if isinstance(operand, upcalls.generator_type) or (operand is None and draws(rule)):
            step.has_effects = True
            trace.note_generator(upcalls.generator_behind(operand))
    if writes:
        target = first_tensor(physicals)
        trace.keep_original(target)
    result = run_aside(rule, physicals)
    if writes:
        step.target = first_slot(slots)
        step.results, step.is_single = (step.target,), True
        use_loop(step, physicals, target)
        trace.steps.append(step)
        return None
    found = trace.finish(step, result)
    if step.is_single and step.results[0] is not None:
        step.target = step.results[0]
        use_loop(step, physicals, <TensorBase>result)
    return found


cdef bint draws(const BatchRule *rule) noexcept:
    cdef const char *kind = rule.kinds
    while kind[0]:
        if kind[0] == b"g":
            return True
        kind += 1
    return False


cdef list slots_of_shape(const BatchRule *rule, Step step, tuple operands):
    """Slots of operands whose values the shape of the result depends on."""
    if rule.method == by_indexing:
        return [] if step.writes or step.name == "index_put" else slots_of_masks(operands[1:], step.operands[1:], [])
    if rule.method != by_values:
        return []
    if step.name in ("masked_select", "repeat_interleave"):
        return step.reads[len(step.reads) - 1:]
    return step.reads[:1] if step.name == "bincount" else step.reads


cdef list slots_of_masks(object operands, object slots, list found):
    for operand, slot in zip(operands, slots, strict=True):
        if isinstance(operand, TensorBase):
            if operand.dtype.kind == "b":
                found.append((<Slot>slot).number)
        elif isinstance(operand, (tuple, list)):
            slots_of_masks(operand, slot, found)
    return found


cdef TensorBase first_tensor(tuple operands):
    for operand in operands:
        if isinstance(operand, TensorBase):
            return <TensorBase>operand
    return None


cdef Py_ssize_t first_slot(tuple slots) except -1:
    for operand in slots:
        if isinstance(operand, Slot):
            return (<Slot>operand).number
    raise RuntimeError("an op that writes has no tensor")


cdef object run_aside(const BatchRule *rule, tuple operands):
    """Run an op as outside of the trace, without history and tangents."""
    cdef VmapLevel before = swap_trace(None)
    cdef bint recording = swap_grad_mode(False)
    cdef uint64_t ceiling = swap_ceiling(0)
    try:
        return rule.op(operands)
    finally:
        swap_ceiling(ceiling)
        swap_grad_mode(recording)
        swap_trace(before)


# ---- loops

cdef int use_loop(Step step, tuple physicals, TensorBase result) except -1:
    """Let the step run its loop in the place of the op, where the op did nothing else."""
    cdef const BatchRule *rule = step.rule
    cdef list tensors = [operand for operand in physicals if isinstance(operand, TensorBase)]
    cdef list numbers = [operand for operand in physicals if not isinstance(operand, TensorBase)]
    if len(tensors) > MOST_INPUTS or not all([is_plain(<TensorBase>tensor) for tensor in [*tensors, result]]):
        return 0
    if rule.loop.is_ufunc:
        use_ufunc(step, physicals, len(tensors), numbers)
    elif rule.loop.kernel != NULL and are_for_kernel(tensors, result):
        use_kernel(step, rule.loop.kernel, numbers)
    return 0


cdef int use_ufunc(Step step, tuple physicals, Py_ssize_t n_tensors, list numbers) except -1:
    if len(numbers) > 1 or n_tensors > 2 or n_tensors + len(numbers) != len(physicals):
        return 0
    read_inputs(step)
    step.ufunc = step.rule.loop.ufunc
    if not numbers:
        step.kind = UNARY if n_tensors == 1 else BINARY
    elif n_tensors == 1 and type(numbers[0]) in (int, float, bool, complex):
        step.number = numbers[0]
        step.kind = NUMBER_LAST if isinstance(physicals[0], TensorBase) else NUMBER_FIRST
    return 0


cdef int use_kernel(Step step, const FusedKernel *kernel, list numbers) except -1:
    cdef list reads = step.reads
    cdef int i
    for i in range(kernel.n_scalars):
        if type(numbers[kernel.scalars[i]]) not in (int, float, bool):
            return 0
        step.numbers[i] = numbers[kernel.scalars[i]]
    step.n_inputs = kernel.n_inputs
    for i in range(kernel.n_inputs):
        step.inputs[i] = reads[kernel.inputs[i]]
    step.kind, step.kernel = KERNEL, kernel
    return 0


cdef int read_inputs(Step step) except -1:
    cdef list reads = step.reads
    cdef int i
    step.n_inputs = len(reads)
    for i in range(step.n_inputs):
        step.inputs[i] = reads[i]
    return 0


cdef bint is_plain(TensorBase t) except -1:
    return type(<object>t.array) is np.ndarray and not has_no_data(<object>t.array)


cdef bint are_for_kernel(list tensors, TensorBase result) except -1:
    """The loops are for float32 and float64, all of one; their result leaves no gaps."""
    cdef int number = cnp.PyArray_TYPE(<cnp.ndarray>result.array)
    if number not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) or not is_dense(result.array):
        return False
    for tensor in tensors:
        array = <cnp.ndarray>(<TensorBase>tensor).array
        if cnp.PyArray_TYPE(array) != number or not cnp.PyArray_ISBEHAVED_RO(array):
            return False
    return True


cdef TensorBase trace_kernel(const FusedKernel *kernel, PyObject **arrays, const double *numbers):
    """The gradient of one edge of a node, by its loop; None where the loop does not take the arrays."""
    cdef Trace trace = <Trace>current_trace()
    cdef PyObject *inputs[8]
    cdef list slots = []
    cdef PyObject *found
    cdef TensorBase tensor
    cdef int i
    for i in range(kernel.n_inputs):
        slot = slot_of_input(trace, arrays[i])
        slots.append(slot)
        inputs[i] = (<TensorBase>trace.values[slot]).array
    found = fused(kernel, inputs, numbers, NULL)
    if found == NULL:
        return kernel_of_halves(trace, kernel, slots, numbers)
    cdef TensorBase result = wrap_owned(found)
    cdef Step step = trace.new_step(kernel.name.decode(), tuple([Slot(slot) for slot in slots]))
    step.kind, step.kernel = KERNEL, kernel
    memcpy(step.numbers, numbers, kernel.n_scalars * sizeof(double))
    read_inputs(step)
    traced = trace.finish(step, result)
    step.target = step.results[0]
    return traced


cdef TensorBase kernel_of_halves(Trace trace, const FusedKernel *kernel, list slots, const double *numbers):
    """In float32, and rounded once at the end; None where eager does not compute it so, see `apply_one` in fused.pyx."""
    cdef PyObject *arrays[8]
    cdef int i
    if kernel.n_scalars != 0:
        return None
    for slot in slots:
        if cnp.PyArray_TYPE(<cnp.ndarray>(<TensorBase>trace.values[slot]).array) != cnp.NPY_FLOAT16:
            return None
    cdef list wide = [upcalls.to(as_traced(trace.values[slot], trace, slot), FLOAT32) for slot in slots]
    for i in range(len(wide)):
        arrays[i] = (<TensorBase>wide[i]).array
    cdef TensorBase result = trace_kernel(kernel, arrays, numbers)
    return None if result is None else upcalls.to(result, FLOAT16)


cdef Py_ssize_t slot_of_input(Trace trace, PyObject *array) except -1:
    if is_batched_array(array):
        return batch_of(array).slot
    found = trace.slot_of_array.get(<size_t>array)
    if found is not None:
        return found
    return trace.slot_for(wrap(<object>array))


# ---- `.grad`, and values that are asked for

cdef int touch_leaf(TensorBase leaf, bint is_read) except -1:
    cdef Trace trace = <Trace>current_trace()
    if id(leaf) not in trace.touched:
        if not is_read:
            trace.replaced.add(id(leaf))
        trace.touched[id(leaf)] = (leaf, None if leaf.meta is None else (<TensorMeta>leaf.meta).grad)
    return 0


def refuse_read(str what, TensorBase tensor=None):
    """Raise the error for a value of a captured tensor, which later runs would not ask for again."""
    cdef Trace trace = <Trace>current_trace()
    if trace is not None and (tensor is None or not trace.is_made_of_python(tensor)):
        raise trace.call.escape(what)


trace_with(trace_op)
trace_kernels_with(trace_kernel)
report_leaves_to(touch_leaf)
tensor_api.when_read = refuse_read
