"""One step of an optimizer over all its parameters.

The parameters are gone over twice. First everything is looked up and checked, and what has to be made is made: states of
new parameters, and the results for those that the loops do not serve, which are computed with ops. Then, when nothing
can fail any more, everything is written. So a step that raises has changed nothing.
"""
from cpython.dict cimport PyDict_GetItemWithError
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
from libc.string cimport memset
cimport cython
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_dense, is_meta
from gradsmith.runtime.calls.inplace cimport check_inplace, finish_inplace
from gradsmith.runtime.graph.indexed_rows cimport fill, is_indexed, is_unfilled
from gradsmith.runtime.graph.tangent cimport has_tangent_2
from gradsmith.runtime.graph.tensor cimport TensorBase, TensorMeta
from gradsmith.runtime.history.accumulate_grad cimport touch_grad
from gradsmith.runtime.switches.grad_mode cimport swap_grad_mode

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)

cdef extern from "runtime/optim/updates_kernels.h":
    enum:
        GS_MOST_ARRAYS
        GS_MOST_SETTINGS
        GS_MOST_COUNTERS
    ctypedef struct Rule "gs_update_rule":
        int n_settings
        int n_counters
        int n_states
        void (*prepare)(
            const double *settings, double *counters, const int *is_single, int is_new, double *numbers) noexcept
    ctypedef struct Update "gs_update":
        char *arrays[5]
        int is_double
        int rank
        Py_ssize_t *geometry
        Py_ssize_t size
        double numbers[12]
    ctypedef void (*parallel_function "gs_parallel_function")(
        void (*task)(void *, Py_ssize_t, Py_ssize_t), void *, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept
    const Rule *gs_find_update_rule(const char *name)
    int gs_overlaps_itself(const Update *update)
    int gs_run_updates(const Rule *rule, Update *updates, Py_ssize_t count, parallel_function parallel)

cdef enum:
    MOST_STATES = GS_MOST_ARRAYS - 2

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")


cdef class UpdateRule:
    """A rule that has a loop, and where an optimizer keeps what goes into it.

    Parameters
    ----------
    loop : str
        Its name in updates_kernels.c.
    settings : tuple of str
        Keys of a parameter group, in the order in which the loop takes them; a pair counts as two.
    counters : tuple of str, optional
        States that are one number, such as ``step``.
    states : tuple, optional
        Those that have the shape of the parameter, in the order of the loop, by name. A pair of a name and a key of the
        group is a state that exists only where the group's value isn't zero.
    """

    cdef const Rule *rule
    cdef readonly str loop
    cdef readonly tuple settings
    cdef readonly tuple counters
    cdef tuple states           # names
    cdef tuple conditions       # keys of the group, or None
    cdef dict ops               # what a step is called in messages, by the class of the optimizer

    def __cinit__(self, str loop not None, tuple settings not None, tuple counters not None=(), tuple states not None=()):
        self.loop, self.settings, self.counters, self.ops = loop, settings, counters, {}
        self.states = tuple([state if isinstance(state, str) else state[0] for state in states])
        self.conditions = tuple([None if isinstance(state, str) else state[1] for state in states])
        self.rule = gs_find_update_rule(loop.encode())
        if self.rule == NULL or len(counters) != self.rule.n_counters or not self.takes_states():
            raise ValueError(f"there is no loop {loop!r} with the counters {counters} and the states {states}")

    cdef bint takes_states(self):
        """The loop relies on the states that all its variants have."""
        for condition in self.conditions[:self.rule.n_states]:
            if condition is not None:
                return False
        return self.rule.n_states <= len(self.states) <= MOST_STATES

    cdef bint has_state(self, int i, object group) except -1:
        cdef object condition = self.conditions[i]
        if condition is None:
            return True
        value = group[condition]
        return isinstance(value, TensorBase) or bool(value)

    def states_in(self, group):
        """Names of the states of a group's parameters; None in the place of one that the group does without."""
        return [self.states[i] if self.has_state(i, group) else None for i in range(len(self.states))]

    cdef str op_of(self, object kind):
        found = self.ops.get(kind)
        if found is None:
            found = self.ops[kind] = f"{kind.__name__}.step"
        return found


# What a loop wants to know of a group.
cdef struct GroupSettings:
    double[12] numbers
    bint[3] has_state
    bint has_any                # state, or counter


# The tensors of one update, owned; NULL for a state that it does not have.
cdef struct Operands:
    PyObject *tensors[5]        # the parameter, its gradient, its states
    PyObject *arrays[5]         # theirs, which other threads may exchange meanwhile
    PyObject *counters[3]
    double values[3]            # of the counters after the step
    bint is_new                 # have states just been made


cdef void release(Operands *operands, Update *update) noexcept:
    cdef int i
    for i in range(GS_MOST_ARRAYS):
        Py_XDECREF_pointer(operands.tensors[i])
        Py_XDECREF_pointer(operands.arrays[i])
        operands.tensors[i] = operands.arrays[i] = NULL
    for i in range(GS_MOST_COUNTERS):
        Py_XDECREF_pointer(operands.counters[i])
        operands.counters[i] = NULL
    PyMem_Free(update.geometry)
    update.geometry, update.rank = NULL, 0


cdef PyObject *owned(object value) noexcept:
    Py_INCREF_pointer(<PyObject *>value)
    return <PyObject *>value


@cython.no_gc       # nothing refers to it
@cython.freelist(2)
cdef class Batch:
    """The parameters of one step."""

    cdef Update *updates
    cdef Operands *operands
    cdef Py_ssize_t count
    cdef UpdateRule rule
    cdef object optimizer
    cdef object states          # of the optimizer: a defaultdict
    cdef str op                 # for messages
    cdef dict fresh             # all states of a parameter that has none; None while it is not needed
    cdef list made              # (parameter, name, tensor) of states that have just been made, or None
    cdef list others            # arguments of `Optimizer._changes`, for the parameters that loops do not serve, or None

    cdef int prepare_for(self, optimizer, UpdateRule rule, Py_ssize_t most) except -1:
        self.optimizer, self.rule, self.states = optimizer, rule, optimizer.state
        if not isinstance(self.states, dict):
            raise TypeError(f"the state of an optimizer is a dict, not a {type(self.states).__name__}")
        self.op = rule.op_of(type(optimizer))
        self.updates = <Update *>PyMem_Malloc((most + 1) * sizeof(Update))
        self.operands = <Operands *>PyMem_Malloc((most + 1) * sizeof(Operands))
        if self.updates == NULL or self.operands == NULL:
            raise MemoryError()
        return 0

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.updates != NULL and self.operands != NULL:
            for i in range(self.count):
                release(&self.operands[i], &self.updates[i])
        PyMem_Free(self.updates)
        PyMem_Free(self.operands)

    cdef int add_group(self, object group, list params) except -1:
        cdef GroupSettings settings
        cdef TensorBase p
        cdef object grad
        read_settings(self.rule, group, &settings)
        for p in params:
            if p is None:
                raise TypeError(f"{self.op}: one of the params is None")
            grad = None if p.meta is None else (<TensorMeta>p.meta).grad
            if grad is not None:
                self.add(group, p, <TensorBase>grad, &settings)
        return 0

    cdef int add(self, object group, TensorBase p, TensorBase grad, const GroupSettings *settings) except -1:
        cdef Update *update = &self.updates[self.count]
        cdef Operands *operands = &self.operands[self.count]
        if is_indexed(grad) and not (is_unfilled(grad) and self.optimizer._takes_rows(group)):
            fill(grad)
        memset(operands, 0, sizeof(Operands))
        update.geometry, update.rank = NULL, 0
        self.count += 1
        self.gather(operands, group, p, grad, settings)
        check_writes(self.op, operands)
        if lay_out(update, operands) and not gs_overlaps_itself(update):
            self.prepare(operands, settings.numbers, update.numbers)
            return 0
        if self.others is None:
            self.others = []
        states = self.states_of(operands)
        self.others.append((group, p, grad, counters_of(operands), states, operands.is_new))
        release(operands, update)
        self.count -= 1
        return 0

    cdef int gather(
        self, Operands *operands, object group, TensorBase p, TensorBase grad, const GroupSettings *settings
    ) except -1:
        """Find the states, or make them."""
        cdef int i
        cdef TensorBase tensor
        cdef PyObject *state = PyDict_GetItemWithError(self.states, p) if settings.has_any else NULL
        operands.is_new, self.fresh = False, None
        operands.tensors[0], operands.arrays[0] = owned(p), owned(<object>p.array)
        operands.tensors[1], operands.arrays[1] = owned(grad), owned(<object>grad.array)
        for i in range(self.rule.rule.n_counters):
            tensor = self.state_of(state, self.rule.counters[i], group, p, NULL)
            operands.counters[i] = owned(tensor)
        for i in range(len(self.rule.states)):
            if settings.has_state[i]:
                tensor = self.state_of(state, self.rule.states[i], group, p, &operands.is_new)
                operands.tensors[2 + i], operands.arrays[2 + i] = owned(tensor), owned(<object>tensor.array)
        return 0

    cdef list states_of(self, Operands *operands):
        cdef int i
        return [
            None if operands.tensors[2 + i] == NULL else <object>operands.tensors[2 + i]
            for i in range(len(self.rule.states))
        ]

    cdef TensorBase state_of(self, PyObject *state, str name, object group, TensorBase p, bint *is_new):
        cdef PyObject *found = NULL if state == NULL else PyDict_GetItemWithError(checked_dict(<object>state), name)
        if found == NULL or <object>found is None:
            if self.fresh is None:
                self.fresh = self.optimizer._new_state(group, p)
            if is_new != NULL:
                is_new[0] = True
            if self.made is None:
                self.made = []
            self.made.append((p, name, self.fresh[name]))
            return self.checked_state(self.fresh[name], name)
        return self.checked_state(<object>found, name)

    cdef TensorBase checked_state(self, object state, str name):
        if not isinstance(state, TensorBase):
            raise TypeError(f"{self.op}: the state '{name}' of a parameter is a {type(state).__name__}, not a Tensor")
        return <TensorBase>state

    cdef int prepare(self, Operands *operands, const double *settings, double *numbers) except -1:
        cdef int[3] is_single
        cdef int i
        for i in range(self.rule.rule.n_counters):
            is_single[i] = cnp.PyArray_TYPE(<cnp.ndarray>(<TensorBase>operands.counters[i]).array) == cnp.NPY_FLOAT32
            operands.values[i] = counter_value(<TensorBase>operands.counters[i])
        self.rule.rule.prepare(settings, operands.values, is_single, operands.is_new, numbers)
        return 0

    cdef int write(self) except -1:
        cdef Py_ssize_t i
        if not gs_run_updates(self.rule.rule, self.updates, self.count, parallel):
            raise MemoryError()
        for i in range(self.count):
            count_changes(&self.operands[i])
        return 0


cdef object checked_dict(object state):
    if not isinstance(state, dict):
        raise TypeError(f"the state of a parameter is a dict, not a {type(state).__name__}")
    return state


def step(optimizer, UpdateRule rule not None):
    """Update all parameters of `optimizer` that have a gradient, by its rule."""
    cdef bint recording = swap_grad_mode(False)
    try:
        take_step(optimizer, rule)
    finally:
        swap_grad_mode(recording)


cdef int take_step(object optimizer, UpdateRule rule) except -1:
    cdef list groups = list(optimizer.param_groups)
    cdef list params = [list(group["params"]) for group in groups]
    cdef Py_ssize_t i, most = 0
    for i in range(len(params)):
        most += len(<list>params[i])
    cdef Batch batch = Batch.__new__(Batch)
    batch.prepare_for(optimizer, rule, most)
    for i in range(len(groups)):
        batch.add_group(groups[i], <list>params[i])
    changes = () if batch.others is None else [optimizer._changes(*arguments) for arguments in batch.others]
    if batch.made is not None:
        for p, name, tensor in batch.made:
            batch.states.setdefault(p, {})[name] = tensor
    batch.write()
    for change in changes:
        optimizer._write(change)
    return 0


# ---- settings and counters

cdef int read_settings(UpdateRule rule, object group, GroupSettings *settings) except -1:
    """Numbers, or tensors of one element; a pair of them gives two."""
    cdef int i, count = 0
    for name in rule.settings:
        value = group[name]
        if isinstance(value, (tuple, list)):
            for number in value:
                count = put_setting(rule, name, number, settings.numbers, count)
        else:
            count = put_setting(rule, name, value, settings.numbers, count)
    if count != rule.rule.n_settings:
        raise ValueError(f"the settings {rule.settings} of a parameter group have {count} numbers, not {rule.rule.n_settings}")
    settings.has_any = rule.rule.n_counters != 0
    for i in range(len(rule.states)):
        settings.has_state[i] = rule.has_state(i, group)
        settings.has_any = settings.has_any or settings.has_state[i]
    return 0


cdef int put_setting(UpdateRule rule, object name, object number, double *settings, int count) except -1:
    if count == rule.rule.n_settings:
        raise ValueError(f"'{name}' of a parameter group has more numbers than it should")
    settings[count] = number
    return count + 1


cdef int check_counter(str op, TensorBase counter) except -1:
    cdef cnp.ndarray array = <cnp.ndarray>counter.array
    cdef int kind = cnp.PyArray_TYPE(array)
    if (kind != cnp.NPY_FLOAT32 and kind != cnp.NPY_FLOAT64) or not is_readable(array) or cnp.PyArray_SIZE(array) != 1:
        raise RuntimeError(
            f"{op}: a state that counts, such as 'step', should be a floating point tensor of one element, but it has "
            f"shape {list(counter.shape)} and dtype {counter.dtype}"
        )
    return check_inplace(op, counter)


cdef double counter_value(TensorBase counter) noexcept:
    cdef void *data = cnp.PyArray_DATA(<cnp.ndarray>counter.array)
    if cnp.PyArray_TYPE(<cnp.ndarray>counter.array) == cnp.NPY_FLOAT32:
        return (<float *>data)[0]
    return (<double *>data)[0]


cdef void put_counter(TensorBase counter, double value) noexcept:
    cdef void *data = cnp.PyArray_DATA(<cnp.ndarray>counter.array)
    if cnp.PyArray_TYPE(<cnp.ndarray>counter.array) == cnp.NPY_FLOAT32:
        (<float *>data)[0] = <float>value
    else:
        (<double *>data)[0] = value
    finish_inplace(counter, None)


cdef void count_changes(Operands *operands) noexcept:
    """The counters of a written update, and the versions of its tensors."""
    cdef int i
    for i in range(GS_MOST_COUNTERS):
        if operands.counters[i] != NULL:
            put_counter(<TensorBase>operands.counters[i], operands.values[i])
    for i in range(GS_MOST_ARRAYS):
        if operands.tensors[i] != NULL and i != 1:
            finish_inplace(<TensorBase>operands.tensors[i], None)


cdef list counters_of(Operands *operands):
    return [<object>operands.counters[i] for i in range(GS_MOST_COUNTERS) if operands.counters[i] != NULL]


# ---- what the loops can take

cdef int check_writes(str op, Operands *operands) except -1:
    """May the tensors be written, and do their shapes agree?"""
    cdef int i
    cdef TensorBase p = <TensorBase>operands.tensors[0]
    for i in range(GS_MOST_COUNTERS):
        if operands.counters[i] != NULL:
            check_counter(op, <TensorBase>operands.counters[i])
    for i in range(GS_MOST_ARRAYS):
        if operands.tensors[i] == NULL:
            continue
        if i != 1:
            check_inplace(op, <TensorBase>operands.tensors[i])
        if i and not has_shape_of(<cnp.ndarray>operands.arrays[0], <cnp.ndarray>operands.arrays[i]):
            raise RuntimeError(
                f"{op}: a parameter has shape {list(p.shape)}, but its {'gradient' if i == 1 else 'state'} has shape "
                f"{list((<TensorBase>operands.tensors[i]).shape)}"
            )
    return 0


cdef bint has_shape_of(cnp.ndarray a, cnp.ndarray b) noexcept:
    cdef int i
    if cnp.PyArray_NDIM(a) != cnp.PyArray_NDIM(b):
        return False
    for i in range(cnp.PyArray_NDIM(a)):
        if cnp.PyArray_DIM(a, i) != cnp.PyArray_DIM(b, i):
            return False
    return True


cdef bint is_readable(cnp.ndarray array) noexcept:
    """Native numbers at aligned addresses."""
    return cnp.PyArray_ISALIGNED(array) and cnp.PyArray_ISNOTSWAPPED(array) and not is_meta(<PyObject *>array)


cdef int real_type(int kind) noexcept:
    """Of the numbers that the array consists of; -1 when there is no loop for them."""
    if kind == cnp.NPY_FLOAT32 or kind == cnp.NPY_COMPLEX64:
        return cnp.NPY_FLOAT32
    return cnp.NPY_FLOAT64 if kind == cnp.NPY_FLOAT64 or kind == cnp.NPY_COMPLEX128 else -1


cdef int lay_out(Update *update, Operands *operands) except -1:
    """Describe the arrays to the loops; False for those that ops must take, by dtype, tangents or whereabouts."""
    cdef cnp.ndarray p = <cnp.ndarray>operands.arrays[0]
    cdef cnp.ndarray array
    cdef int i, kind = cnp.PyArray_TYPE(p)
    cdef bint is_complex = kind == cnp.NPY_COMPLEX64 or kind == cnp.NPY_COMPLEX128
    cdef bint is_flat = cnp.PyArray_IS_C_CONTIGUOUS(p) or is_dense(<PyObject *>p)
    if real_type(kind) < 0 or has_tangent_2(<TensorBase>operands.tensors[0], <TensorBase>operands.tensors[1]):
        return False
    for i in range(GS_MOST_ARRAYS):
        update.arrays[i] = NULL
        if operands.arrays[i] == NULL:
            continue
        array = <cnp.ndarray>operands.arrays[i]
        if cnp.PyArray_TYPE(array) != kind or not is_readable(array):
            return False
        is_flat = is_flat and lies_like(p, array)
        update.arrays[i] = cnp.PyArray_BYTES(array)
    update.is_double = real_type(kind) == cnp.NPY_FLOAT64
    update.size = cnp.PyArray_SIZE(p) * (2 if is_complex else 1)
    if is_flat or update.size == 0:
        return True
    return put_geometry(update, operands, is_complex)


cdef bint lies_like(cnp.ndarray p, cnp.ndarray array) noexcept:
    """The same order of elements in memory, for arrays of one shape of which the first has no gaps."""
    cdef int i
    if cnp.PyArray_IS_C_CONTIGUOUS(p) and cnp.PyArray_IS_C_CONTIGUOUS(array):
        return True
    for i in range(cnp.PyArray_NDIM(p)):
        if cnp.PyArray_DIM(p, i) != 1 and cnp.PyArray_STRIDE(p, i) != cnp.PyArray_STRIDE(array, i):
            return False
    return True


cdef int put_geometry(Update *update, Operands *operands, bint is_complex) except -1:
    """Sizes and strides; the two numbers of a complex one are a dimension of their own."""
    cdef cnp.ndarray p = <cnp.ndarray>operands.arrays[0]
    cdef cnp.ndarray array
    cdef int i, d, ndim = cnp.PyArray_NDIM(p), rank = ndim + is_complex
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(p)
    update.geometry = <Py_ssize_t *>PyMem_Malloc(rank * (1 + GS_MOST_ARRAYS) * sizeof(Py_ssize_t))
    if update.geometry == NULL:
        raise MemoryError()
    update.rank = rank
    for d in range(ndim):
        update.geometry[d] = cnp.PyArray_DIM(p, d)
    if is_complex:
        update.geometry[ndim] = 2
    for i in range(GS_MOST_ARRAYS):
        if operands.arrays[i] == NULL:
            continue
        array = <cnp.ndarray>operands.arrays[i]
        for d in range(ndim):
            update.geometry[rank * (1 + i) + d] = cnp.PyArray_STRIDE(array, d)
        if is_complex:
            update.geometry[rank * (1 + i) + ndim] = itemsize // 2
    return True


# ---- gradients

def clear_gradients(list groups not None, bint set_to_none):
    """``Optimizer.zero_grad``."""
    cdef object group
    cdef TensorBase p
    for group in groups:
        for p in group["params"]:
            touch_grad(p, not set_to_none)
            if p.meta is None or (<TensorMeta>p.meta).grad is None:
                continue
            if set_to_none:
                (<TensorMeta>p.meta).grad = None
            else:
                fill_with_zeros((<TensorMeta>p.meta).grad)


cdef int fill_with_zeros(object grad) except -1:
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()
    return 0
