"""The recorder of a profile: what ran in a thread, when, and inside what.

Spans are kept as they end; what is made of them (tables, traces) is a layer above, in Python.
"""
from gradsmith.runtime.node cimport Node
from gradsmith.runtime.observe cimport Observer
from gradsmith.runtime.tensor cimport TensorBase

import sys
import threading
import time
import tracemalloc

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
        Of the node that the op recorded, or that ran; -1 for none. It links the two.
    shapes : tuple or None
        Of the operands; () for what is no tensor.
    stack : tuple of str or None
        Innermost Python line first.
    memory : int
        Bytes that it left allocated.
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
    cdef readonly object stack
    cdef readonly object arguments
    cdef readonly long long memory
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
    cdef unsigned long thread

    def __init__(self, *, bint record_shapes=False, bint profile_memory=False, bint with_stack=False):
        self.spans, self.running = [], []
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.thread = threading.get_ident()

    cdef Span innermost(self):
        cdef Py_ssize_t count = len(self.running)
        return self.running[count - 1] if count else None

    cdef Span begin(self, str kind, str name):
        cdef Span span = Span.__new__(Span)
        span.kind, span.name = kind, name
        span.parent = self.innermost()
        span.thread, span.sequence_nr = self.thread, -1
        if self.with_stack:
            span.stack = lines_of_stack()
        if self.profile_memory:
            span.memory = -tracemalloc.get_traced_memory()[0]
        self.running.append(span)
        span.start = clock()
        return span

    cdef Span finish(self, str kind):
        """End the innermost span of a kind; what still runs inside it has failed."""
        cdef long long now = clock()
        cdef Span span
        while self.running:
            span = self.running.pop()
            span.end = now
            span.failed = span.kind != kind
            if self.profile_memory:
                span.memory += tracemalloc.get_traced_memory()[0]
            self.spans.append(span)
            if not span.failed:
                return span
        return None

    cdef object begin_op(self, str name, tuple operands):
        cdef Span span = self.begin("op", name)
        if self.record_shapes:
            span.shapes = tuple([shape_of(operand) for operand in operands])
        return None if self.outer is None else self.outer.begin_op(name, operands)

    cdef int end_op(self, object result) except -1:
        cdef Span span = self.finish("op")
        if span is not None:
            span.sequence_nr = sequence_of(result)
        return 0 if self.outer is None else self.outer.end_op(result)

    cdef int begin_node(self, object node) except -1:
        cdef Span span = self.begin("node", node.name())
        span.sequence_nr = (<Node>node).sequence_nr
        return 0 if self.outer is None else self.outer.begin_node(node)

    cdef int end_node(self, object node) except -1:
        self.finish("node")
        return 0 if self.outer is None else self.outer.end_node(node)

    cdef int fail(self) except -1:
        cdef Span span = self.innermost()
        if span is not None:
            self.finish(span.kind)
            span.failed = True
        return 0 if self.outer is None else self.outer.fail()

    def begin_user(self, str name, arguments=None):
        """A stretch of the user's own code begins."""
        self.begin("user", name).arguments = arguments

    def end_user(self):
        """The innermost stretch of the user's code ends."""
        self.finish("user")

    def take(self):
        """The spans that have ended since the last time."""
        taken, self.spans = self.spans, []
        return taken


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
