"""Thread-local switch of recording, and the context managers that set it.

The switch is one thread-local C integer, so that asking for it costs a nanosecond on the hot path. Its layer is
the lowest of the runtime: everything may ask, it asks nobody.
"""

import functools
import types

from gradsmith.runtime.decorators import decorate

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) int gs_grad_mode = 1;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread int gs_grad_mode __attribute__((tls_model("initial-exec"))) = 1;
    #else
    static _Thread_local int gs_grad_mode = 1;
    #endif
    """
    int gs_grad_mode


cdef bint grad_enabled() noexcept:
    return gs_grad_mode


cdef bint swap_grad_mode(bint enabled) noexcept:
    global gs_grad_mode
    cdef bint previous = gs_grad_mode
    gs_grad_mode = enabled
    return previous


def is_grad_enabled():
    """True when operations on tensors are recorded in this thread."""
    return gs_grad_mode != 0


cdef class GradMode:
    """Base of the modes: a context manager that is also a decorator.

    One instance may be entered many times, nested or from a recursive function, so that what to restore is a stack;
    its bottom is a field, since hardly any instance is entered twice. A decorated generator has the mode only while
    it runs, never while it is suspended.
    """

    cdef bint enabled
    cdef bint previous          # what to restore, of the outermost entry
    cdef list inner             # the same of further entries
    cdef int depth
    cdef object decorated       # the function, when the mode was written without parentheses
    cdef dict __dict__

    def __init__(self, function=None):
        if function is not None:
            functools.update_wrapper(self, function)
            self.decorated = decorate(self.clone, function)

    def __enter__(self):
        self.push(swap_grad_mode(self.enabled))

    cdef int push(self, bint previous) except -1:
        if self.depth == 0:
            self.previous = previous
        else:
            self.inner = self.inner or []
            self.inner.append(previous)
        self.depth += 1
        return 0

    def __exit__(self, kind, value, traceback):
        self.depth -= 1
        swap_grad_mode(self.inner.pop() if self.depth else self.previous)

    def clone(self):
        """A fresh mode of the same kind."""
        return type(self)()

    def __call__(self, *args, **kwargs):
        if self.decorated is not None:
            return self.decorated(*args, **kwargs)
        (function,) = args
        return decorate(self.clone, function)

    def __get__(self, instance, owner):
        # Written over a method without parentheses, the mode stands where the method was.
        return self if instance is None or self.decorated is None else types.MethodType(self, instance)


cdef class no_grad(GradMode):
    """Turn recording off: results do not require grad, whatever the inputs do.

    Examples
    --------
    >>> x = gradsmith.ones(3, requires_grad=True)
    >>> with gradsmith.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __cinit__(self, function=None):
        self.enabled = False


cdef class enable_grad(GradMode):
    """Turn recording on, inside a ``no_grad`` for example."""

    def __cinit__(self, function=None):
        self.enabled = True


cdef class set_grad_enabled(GradMode):
    """Turn recording on or off: at once when called, and back at the end when used in a ``with``.

    Parameters
    ----------
    mode : bool
        True records, False does not.
    """

    cdef bint before

    def __init__(self, mode):
        self.enabled = mode
        self.before = swap_grad_mode(mode)

    def __enter__(self):
        # The call has switched already: what the block restores is the mode before the call.
        swap_grad_mode(self.enabled)
        self.push(self.before)

    def clone(self):
        return set_grad_enabled(self.enabled)

    def __call__(self, function):
        swap_grad_mode(self.before)
        return decorate(self.clone, function)
