"""The recorder of a profile: what ran in a thread, when, and inside what.

Spans are kept as they end; what is made of them (tables, traces) is a layer above, in Python.
"""
from gradsmith.runtime.arrays.memory_use cimport bytes_in_use
from gradsmith.runtime.graph.node cimport NODE_LEAF, Node
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.history.observers cimport Observer, current_observer, settle, watching

import sys
import time

from gradsmith.runtime.switches.decorators import decorate

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()

cdef object clock = time.perf_counter_ns


cdef class Span:
    """One op, node or stretch of the user's code that ran.

    Attributes
    ----------
    kind : str
        "op", "node" or "user".
    name : str
    start, end : int
        Nanoseconds of `time.perf_counter_ns`.
    parent : Span or None
        What it ran inside.
    thread : int
    sequence_nr : int
        Of the node that the op recorded, or that ran; -1 for none, and for leaves. It links the two.
    shapes : tuple or None
        Of the operands; () for what is no tensor.
    result_shapes : tuple, list or None
        Of the result of an op; a list of several.
    stack : tuple of str or None
        Innermost Python line first.
    arguments : object
        What a stretch of the user's code was given to be kept with it.
    memory : int
        Bytes of array data that it allocated, less those that it freed.
    memory_after : int
        Bytes in use when it ended, of those allocated since the recording began.
    failed : bool
        It raised.
    """

    cdef readonly str kind
    cdef readonly str name
    cdef readonly long long start
    cdef readonly long long end
    cdef readonly Span parent
    cdef readonly unsigned long thread
    cdef readonly long long sequence_nr
    cdef readonly object shapes
    cdef readonly object result_shapes
    cdef readonly object stack
    cdef readonly object arguments
    cdef readonly long long memory
    cdef readonly long long memory_after
    cdef readonly bint failed


cdef class Recorder(Observer):
    """Records the spans of the thread that installs it.

    Parameters
    ----------
    record_shapes, profile_memory, with_stack : bool
        What else to keep of each span.
    """

    cdef readonly list spans            # that have ended
    cdef list running                   # innermost last
    cdef bint record_shapes, profile_memory, with_stack
    cdef long long memory_before

    def __init__(self, *, bint record_shapes=False, bint profile_memory=False, bint with_stack=False):
        self.spans, self.running = [], []
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.memory_before = bytes_in_use()

    cdef Span innermost(self):
        cdef Py_ssize_t count = len(self.running)
        return self.running[count - 1] if count else None

    cdef Span begin(self, str kind, str name):
        cdef Span span = Span.__new__(Span)
        span.kind, span.name = kind, name
        span.parent = self.innermost()
        span.thread, span.sequence_nr = PyThread_get_thread_ident(), -1
        if self.with_stack:
            span.stack = lines_of_stack()
        if self.profile_memory:
            span.memory = -bytes_in_use()
        self.running.append(span)
        span.start = clock()
        return span

    cdef Span finish(self, str kind):
        """End the innermost span of a kind; what still runs inside it has failed."""
        cdef long long now = clock()
        cdef Span span
        while self.running:
            span = self.running.pop()
            span.failed = span.kind != kind
            self.close(span, now)
            if not span.failed:
                return span
        return None

    cdef int close(self, Span span, long long now) except -1:
        span.end = now
        if self.profile_memory:
            span.memory += bytes_in_use()
            span.memory_after = bytes_in_use() - self.memory_before
        self.spans.append(span)
        return 0

    cdef object begin_op(self, str name, tuple operands, bint replaceable):
        cdef Span span = self.begin("op", name)
        if self.record_shapes:
            span.shapes = tuple([shape_of(operand) for operand in operands])
        return None if self.outer is None else self.outer.begin_op(name, operands, replaceable)

    cdef int end_op(self, object result) except -1:
        cdef Span span = self.finish("op")
        if span is not None:
            span.sequence_nr = sequence_of(result)
            if self.record_shapes:
                span.result_shapes = shape_of(list(result) if isinstance(result, tuple) else result)
        return 0 if self.outer is None else self.outer.end_op(result)

    cdef int begin_node(self, object node) except -1:
        cdef Span span = self.begin("node", node.name())
        if not (<Node>node).flags & NODE_LEAF:
            span.sequence_nr = (<Node>node).sequence_nr
        return 0 if self.outer is None else self.outer.begin_node(node)

    cdef int end_node(self, object node) except -1:
        self.finish("node")
        return 0 if self.outer is None else self.outer.end_node(node)

    cdef int fail(self) except -1:
        cdef Span span = self.innermost_of_ours()
        if span is not None:
            self.finish(span.kind)
            span.failed = True
        return 0 if self.outer is None else self.outer.fail()

    cdef Span innermost_of_ours(self):
        """The innermost op or node that runs: what the user's code begins, it ends itself."""
        cdef Span span
        for span in reversed(self.running):
            if span.kind != "user":
                return span
        return None

    cdef Span begin_user(self, str name, object arguments):
        cdef Span span = self.begin("user", name)
        span.arguments = arguments
        return span

    cdef int end_user(self, Span span, bint failed) except -1:
        """End a stretch of the user's code. It may end after what began inside it, or when nothing is recorded."""
        cdef Py_ssize_t i
        for i in range(len(self.running) - 1, -1, -1):
            if self.running[i] is span:
                del self.running[i]
                span.failed = failed
                self.close(span, clock())
                return 0
        return 0

    def take(self):
        """The spans that have ended since the last time."""
        taken, self.spans = self.spans, []
        return taken

    def close_all(self):
        """End the events that are still open, for this recorder."""
        cdef long long now = clock()
        while self.running:
            self.close(self.running.pop(), now)


cdef class record_function:
    """Give a stretch of code a name, under which the profiles of the thread show it.

    A context manager and a decorator; of generators and coroutines too. While nothing is recorded it does nothing.

    Parameters
    ----------
    name : str
    args : str, optional
        Kept with it, and shown in traces.

    Examples
    --------
    >>> import gradsmith as gs
    >>> with gs.profiler.profile() as profile:
    ...     with gs.profiler.record_function("double"):
    ...         _ = gs.ones(3) * 2
    >>> [(event.name, event.cpu_parent and event.cpu_parent.name) for event in profile.events()]
    [('double', None), ('mul', 'double')]
    """

    cdef readonly str name
    cdef readonly object args
    cdef tuple running          # pairs of a recorder and its span, and the same of the block around; None outside

    def __init__(self, str name not None, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        if watching:
            self.running = (begin_everywhere(self.name, self.args), self.running)
        return self

    def __exit__(self, kind, value, traceback):
        if self.running is not None:
            begun, self.running = self.running
            end_everywhere(begun, kind is not None)

    def __call__(self, function):
        return decorate(lambda: record_function(self.name, self.args), function)

    def __repr__(self):
        return f"record_function({self.name!r})"


cdef list begin_everywhere(str name, object arguments):
    """Begin a stretch of the user's code for every recorder of the thread."""
    cdef char here
    cdef Observer observer = current_observer()
    cdef list begun = []
    if observer is not None:
        settle(observer, <size_t>&here)
    while observer is not None:
        if isinstance(observer, Recorder):
            begun.append((observer, (<Recorder>observer).begin_user(name, arguments)))
        observer = observer.outer
    return begun


cdef int end_everywhere(list begun, bint failed) except -1:
    cdef char here
    cdef Observer observer = current_observer()
    if observer is not None:
        settle(observer, <size_t>&here)
    for recorder, span in begun:
        (<Recorder>recorder).end_user(<Span>span, failed)
    return 0


cdef object shape_of(object operand):
    if isinstance(operand, TensorBase):
        return operand.shape
    if isinstance(operand, list):
        return [shape_of(item) for item in operand]
    return ()


cdef long long sequence_of(object result):
    if isinstance(result, TensorBase) and (<TensorBase>result).grad_fn != NULL:
        return (<Node>(<TensorBase>result).grad_fn).sequence_nr
    if isinstance(result, (tuple, list)) and result:
        return sequence_of(result[0])
    return -1


def lines_of_stack():
    """``file(line): function`` of the Python frames that run, innermost first."""
    frame = sys._getframe()
    found = []
    while frame is not None:
        found.append(f"{frame.f_code.co_filename}({frame.f_lineno}): {frame.f_code.co_name}")
        frame = frame.f_back
    return tuple(found)
