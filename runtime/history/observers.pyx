"""Observers, which see each op, and each node of a backward, as it runs.

A profiler is one, and so is a checkpoint that keeps the results of some ops. An observer belongs to the thread that
installed it, and to threads that work for that thread. Observers nest: ops tell the innermost one, which tells the rest
(`outer`).

Note [Ops that raise]
An op that raises does not tell its end. Observers are told that it has failed when the op around it ends, or when one
begins that cannot be inside it. While an op runs, the Python frame that called it stands at the same instruction; and
what the op calls in C is deeper on the C stack.
"""
from cpython.ref cimport Py_INCREF, PyObject

from gradsmith.runtime.arrays.array cimport report_meta_to
from gradsmith.runtime.batching.batch cimport living, report_batches_to
from gradsmith.runtime.batching.rules cimport BatchRule, batched_result
from gradsmith.runtime.graph.indexed_rows cimport fill_all, living as living_rows, report_rows_to
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.history.meta cimport begin_meta, end_meta

import sys

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define GS_THREAD_LOCAL static __declspec(thread)
    #elif defined(__GNUC__) && defined(__linux__)
    #define GS_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
    #else
    #define GS_THREAD_LOCAL static _Thread_local
    #endif
    GS_THREAD_LOCAL PyObject *gs_observer = NULL;      /* owned */
    GS_THREAD_LOCAL PyObject *gs_given_result = NULL;  /* owned */
    """
    PyObject *gs_observer
    PyObject *gs_given_result

cdef enum:
    # Beside a depth, which may be 0:
    ON_META = 1 << 30       # the op is one on the meta device
    BATCHED = 1 << 29       # an operand is batched, and the result is there already

cdef int watching = 0
cdef int meta_in_use = 0


cdef void watch_meta(int in_use) noexcept:
    """Tensors without data are looked after as an observer would; see meta.pyx."""
    global meta_in_use, watching
    meta_in_use = in_use
    watching += 1 if in_use else -1


cdef void watch_batches(int in_use) noexcept:
    global watching
    watching += 1 if in_use else -1


cdef void watch_rows(int in_use) noexcept:
    """Indexed gradients are filled when an op takes one; see indexed_rows.pyx."""
    global watching
    watching += 1 if in_use else -1


report_meta_to(watch_meta)
report_batches_to(watch_batches)
report_rows_to(watch_rows)


cdef class Observer:
    """Sees nothing and changes nothing; subclasses say what they look at."""

    def __cinit__(self):
        self.places = []

    cdef object begin_op(self, str name, tuple operands, bint replaceable):
        return None if self.outer is None else self.outer.begin_op(name, operands, replaceable)

    cdef int end_op(self, object result) except -1:
        return 0 if self.outer is None else self.outer.end_op(result)

    cdef int begin_node(self, object node) except -1:
        return 0 if self.outer is None else self.outer.begin_node(node)

    cdef int end_node(self, object node) except -1:
        return 0 if self.outer is None else self.outer.end_node(node)

    cdef int fail(self) except -1:
        return 0 if self.outer is None else self.outer.fail()


# ---- what runs, innermost last

cdef class Place:
    """The place from which an op was called."""

    cdef object frame           # of Python
    cdef int instruction
    cdef size_t address         # on the C stack

    cdef bint is_around(self, Place other):
        """Can `other` be a call that was made while this one runs."""
        frame = other.frame
        while frame is not None and frame is not self.frame:
            frame = frame.f_back
        return frame is not None and frame.f_lasti == self.instruction and other.address < self.address


cdef Place place_at(size_t address):
    cdef Place place = Place.__new__(Place)
    place.frame = sys._getframe()
    place.instruction = place.frame.f_lasti
    place.address = address
    return place


cdef int push(Observer observer, size_t address) except 0:
    """One more op or node runs. Gives its depth."""
    cdef Place place = place_at(address)
    drop_failed(observer, place)
    observer.places.append(place)
    return len(observer.places)


cdef int settle(Observer observer, size_t address) except -1:
    return drop_failed(observer, place_at(address)) if observer.places else 0


cdef int drop_failed(Observer observer, Place place) except -1:
    """Keep the ops and nodes that still run around `place`; the others have failed."""
    while observer.places and not (<Place>observer.places[len(observer.places) - 1]).is_around(place):
        pop_failed(observer)
    return 0


cdef bint pop(Observer observer, int depth) except -1:
    """The op at `depth` has ended, and with it whatever failed inside it. False when the observer never saw it begin."""
    if len(observer.places) < depth:
        return False
    while len(observer.places) > depth:
        pop_failed(observer)
    observer.places.pop()
    return True


cdef int pop_failed(Observer observer) except -1:
    observer.places.pop()
    return observer.fail()


# ---- what ops and the engine call

cdef int begin_op(str name, tuple operands, const BatchRule *rule) except? 0:
    cdef char here
    cdef Observer observer = current_observer()
    cdef int marks = device_bit(name, operands) | batch_bit(operands, rule)
    if observer is None:
        return marks
    cdef int depth = push(observer, <size_t>&here)
    observer.begin_op(name, operands, False)
    return depth | marks


cdef int begin_replaceable_op(str name, tuple operands, const BatchRule *rule) except? 0:
    cdef char here
    cdef Observer observer = current_observer()
    cdef int device = device_bit(name, operands)
    if observer is None:
        return device | batch_bit(operands, rule)
    cdef int depth = push(observer, <size_t>&here)
    result = observer.begin_op(name, operands, True)
    if result is None:
        return depth | device | batch_bit(operands, rule)
    give(result)
    return depth


cdef int give(object result) except -1:
    """Have the op take `result`, right after it has begun."""
    global gs_given_result
    Py_INCREF(result)
    gs_given_result = <PyObject *>result
    return 0


cdef inline int batch_bit(tuple operands, const BatchRule *rule) except -1:
    """Compute the result by the batching rule of the op, if any operand is batched."""
    return give_batched(operands, rule) if living and rule != NULL else 0


cdef int give_batched(tuple operands, const BatchRule *rule) except -1:
    result = batched_result(rule, operands)
    if result is None:
        return 0
    give(result)
    return BATCHED


cdef inline int device_bit(str name, tuple operands) except -1:
    if living_rows:
        fill_all(operands)
    return ON_META if meta_in_use and begin_meta(name, operands) else 0


cdef bint has_replayed_result() noexcept:
    return gs_given_result != NULL


cdef TensorBase replayed_tensor():
    return <TensorBase>replayed_result()


cdef object replayed_result():
    global gs_given_result
    result = <object>gs_given_result
    Py_DECREF_pointer(gs_given_result)
    gs_given_result = NULL
    return result


cdef object replayed_arrays():
    return arrays_behind(replayed_result())


cdef object arrays_behind(object result):
    """Of a result that is absent, None; of several a list."""
    if result is None:
        return None
    if isinstance(result, TensorBase):
        return <object>(<TensorBase>result).array
    return [arrays_behind(item) for item in result]


cdef int end_op(int depth, object result) except -1:
    cdef Observer observer
    depth &= ~BATCHED
    if depth & ON_META:
        end_meta(result)
        depth &= ~ON_META
    observer = current_observer()
    if observer is not None and depth and pop(observer, depth):
        observer.end_op(result)
    return 0


cdef int begin_node(object node) except? 0:
    cdef char here
    cdef Observer observer = current_observer()
    if observer is None:
        return 0
    depth = push(observer, <size_t>&here)
    observer.begin_node(node)
    return depth


cdef int end_node(int depth, object node) except -1:
    cdef Observer observer = current_observer()
    if observer is not None and pop(observer, depth):
        observer.end_node(node)
    return 0


def is_watching():
    """Does any op ask more than whether it is watched?"""
    return watching != 0


# ---- installation

cdef Observer current_observer():
    return None if gs_observer == NULL else <Observer>gs_observer


cdef Observer swap_observer(Observer observer):
    global gs_observer, watching
    cdef Observer previous = current_observer()
    if observer is not None:
        Py_INCREF(observer)
        watching += 1
    if gs_observer != NULL:
        watching -= 1
        Py_DECREF_pointer(gs_observer)
    gs_observer = NULL if observer is None else <PyObject *>observer
    return previous


cdef list enter_thread(Observer observer):
    """Set aside the events of the other thread, which are no frames of this one."""
    cdef list places = observer.places
    observer.places = []
    swap_observer(observer)
    return places


cdef int leave_thread(Observer observer, list places) except -1:
    try:
        while observer.places:
            pop_failed(observer)
    finally:
        observer.places = places
        swap_observer(None)
    return 0


def install(Observer observer not None):
    """Let `observer` see this thread, as its innermost observer."""
    observer.outer = current_observer()
    swap_observer(observer)


def uninstall(Observer observer not None):
    """Take `observer`, the innermost one of this thread, away; what it has not seen end has failed.

    Raises
    ------
    RuntimeError
        When another observer is the innermost one.
    """
    if current_observer() is not observer:
        raise RuntimeError("an observer can be taken away only while it is the innermost one of its thread")
    try:
        while observer.places:
            pop_failed(observer)
    finally:
        observer.places.clear()
        swap_observer(observer.outer)
        observer.outer = None
