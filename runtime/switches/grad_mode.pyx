"""Thread-local switch of recording, and the context managers that set it.

The switch is one thread-local C integer, so that asking for it costs a nanosecond on the hot path. Its layer is
the lowest of the runtime: all may import it, it imports none. In inference mode nothing is recorded, whatever the
user asks for inside; what was asked for is kept beside what is done.
"""

import functools
import types

from gradsmith.runtime.switches.decorators import decorate, is_found_by_name
from gradsmith.runtime.switches.threads import register_switch
from gradsmith.runtime.switches.truth import truth_of

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) int gs_grad_mode = 1;
    static __declspec(thread) int gs_asked_grad_mode = 1;
    static __declspec(thread) int gs_inference_mode = 0;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread int gs_grad_mode __attribute__((tls_model("initial-exec"))) = 1;
    static __thread int gs_asked_grad_mode = 1;
    static __thread int gs_inference_mode = 0;
    #else
    static _Thread_local int gs_grad_mode = 1;
    static _Thread_local int gs_asked_grad_mode = 1;
    static _Thread_local int gs_inference_mode = 0;
    #endif
    """
    int gs_grad_mode
    int gs_asked_grad_mode
    int gs_inference_mode

threads_in_inference_mode = 0


cdef bint grad_enabled() noexcept:
    return gs_grad_mode


cdef bint swap_grad_mode(bint enabled) noexcept:
    global gs_grad_mode, gs_asked_grad_mode
    cdef bint previous = gs_asked_grad_mode
    gs_asked_grad_mode = enabled
    gs_grad_mode = enabled and not gs_inference_mode
    return previous


cdef bint inference_mode_enabled() noexcept:
    return gs_inference_mode


cdef bint swap_inference_mode(bint enabled) noexcept:
    global gs_grad_mode, gs_inference_mode, threads_in_inference_mode
    cdef bint previous = gs_inference_mode
    gs_inference_mode = enabled
    gs_grad_mode = gs_asked_grad_mode and not enabled
    threads_in_inference_mode += <int>enabled - <int>previous
    return previous


def put_inference_mode(bint enabled):
    """Switch inference mode of this thread on or off, without a block."""
    swap_inference_mode(enabled)


def is_inference_mode_enabled():
    """True when tensors made in this thread are inference tensors."""
    return gs_inference_mode != 0


def is_grad_enabled():
    """True when operations on tensors are recorded in this thread, unless it is in inference mode."""
    return gs_asked_grad_mode != 0


register_switch(is_inference_mode_enabled, put_inference_mode)
register_switch(is_grad_enabled, swap_grad_mode)


cdef class GradMode:
    """Base of the modes: a context manager that is also a decorator.

    One instance may be entered many times, nested or from a recursive function, so that what to restore is a stack;
    its bottom is a field, since hardly any instance is entered twice. A decorated generator has the mode only while
    it runs, never while it is suspended.
    """

    cdef bint enabled
    cdef int previous           # what to restore, of the outermost entry
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

    cdef int push(self, int previous) except -1:
        if self.depth == 0:
            self.previous = previous
        else:
            self.inner = self.inner or []
            self.inner.append(previous)
        self.depth += 1
        return 0

    cdef int pop(self) except -1:
        self.depth -= 1
        return self.inner.pop() if self.depth else self.previous

    def __exit__(self, kind, value, traceback):
        swap_grad_mode(self.pop())

    def clone(self):
        """A fresh mode of the same kind."""
        return type(self)()

    def __call__(self, *args, **kwargs):
        if self.decorated is not None:
            return self.decorated(*args, **kwargs)
        (function,) = args
        return decorate(self.clone, function)

    def __reduce__(self):
        if self.decorated is None:
            return type(self), ()
        return self.__qualname__ if is_found_by_name(self) else (type(self), (self.__wrapped__,))

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
        self.enabled = truth_of(mode, "set_grad_enabled", "mode")
        self.before = swap_grad_mode(self.enabled)

    def __enter__(self):
        # The call has switched already: what the block restores is the mode before the call.
        swap_grad_mode(self.enabled)
        self.push(self.before)

    def clone(self):
        return set_grad_enabled(self.enabled)

    def __reduce__(self):
        return _remade, (self.enabled,)

    def __call__(self, function):
        swap_grad_mode(self.before)
        return decorate(self.clone, function)


def _remade(mode):
    """A `set_grad_enabled` that is unpickled, which does not switch."""
    cdef set_grad_enabled made = set_grad_enabled.__new__(set_grad_enabled)
    made.enabled, made.before = mode, gs_asked_grad_mode
    return made


cdef class inference_mode(GradMode):
    """Like `no_grad`, and tensors made inside are inference tensors: cheaper, and outside never part of a graph.

    An inference tensor has no version counter, cannot be saved for backward and cannot be changed in place once the
    mode has ended. A clone of it, made outside, is an ordinary tensor. Forward-mode tangents are not computed inside.

    Parameters
    ----------
    mode : bool
        False makes a part of an inference block ordinary again, with recording on.

    Examples
    --------
    >>> x = gradsmith.ones(3, requires_grad=True)
    >>> with gradsmith.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad, y.is_inference()
    (False, True)
    """

    def __init__(self, mode=True):
        function = mode if callable(mode) else None
        self.enabled = function is not None or mode
        super().__init__(function)

    def __enter__(self):
        self.push(swap_grad_mode(not self.enabled) | swap_inference_mode(self.enabled) << 1)

    def __exit__(self, kind, value, traceback):
        cdef int previous = self.pop()
        swap_grad_mode(previous & 1)
        swap_inference_mode(previous >> 1)

    def clone(self):
        return inference_mode(self.enabled)

    def __reduce__(self):
        return (inference_mode, (self.enabled,)) if self.decorated is None else super().__reduce__()
