"""Calls of functions that are being differentiated by a transform, such as `grad`.

A function that is transformed may write to what it makes, and to its arguments, but not to a tensor that it captures.
Each tensor keeps in its flags how many of these calls were under way when it was made; see calls/captured.pyx.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t

from gradsmith.runtime.switches.threads import register_switch

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) PyObject *gs_innermost_call = NULL;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread PyObject *gs_innermost_call __attribute__((tls_model("initial-exec"))) = NULL;
    #else
    static _Thread_local PyObject *gs_innermost_call = NULL;
    #endif
    """
    PyObject *gs_innermost_call         # borrowed: who is in its `with` block keeps it

running_calls = 0


cdef class TransformedCall:
    """Context manager: one call of the function of a transform.

    Parameters
    ----------
    transform
        Has methods ``error(text)``, which makes an exception that names the transform and its function, and
        ``leaves(tree)``.
    args, kwargs
        The arguments of the function.
    """

    def __init__(self, transform, tuple args, dict kwargs):
        self.transform = transform
        self.arguments = (args, kwargs)

    def changes_requires_grad(self, tensor):
        """`tensor` is about to require grad, or to stop; of interest to a trace alone."""

    def __enter__(self):
        self.begin()

    def __exit__(self, *exc_info):
        self.end()

    cdef void begin(self) noexcept:
        global gs_innermost_call, running_calls
        self.outer = innermost_call()
        self.depth = call_depth() + 1
        gs_innermost_call = <PyObject *>self
        running_calls += 1

    cdef void end(self) noexcept:
        global gs_innermost_call, running_calls
        gs_innermost_call = <PyObject *>self.outer if self.outer is not None else NULL
        running_calls -= 1


cdef uint32_t call_depth() noexcept:
    return (<TransformedCall>gs_innermost_call).depth if gs_innermost_call != NULL else 0


cdef TransformedCall innermost_call():
    return <TransformedCall>gs_innermost_call if gs_innermost_call != NULL else None


def is_transforming():
    """Is a function being transformed in this thread? A trace has a call of its own, without a transform."""
    cdef TransformedCall call = innermost_call()
    while call is not None and call.transform is None:
        call = call.outer
    return call is not None


def _put_innermost_call(TransformedCall call):
    global gs_innermost_call
    gs_innermost_call = <PyObject *>call if call is not None else NULL


def _innermost_call():
    return innermost_call()


register_switch(_innermost_call, _put_innermost_call)
