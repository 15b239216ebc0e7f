"""Thread-local switch of recording; ``gradsmith.autograd.grad_mode`` has the context managers.

The switch is one thread-local C integer, so that asking for it costs a nanosecond on the hot path. Its layer is
the lowest of the runtime: everything may ask, it asks nobody.
"""

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


def swap(bint enabled):
    """Set the switch of this thread and return what it was."""
    return swap_grad_mode(enabled)
