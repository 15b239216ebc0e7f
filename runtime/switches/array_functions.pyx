"""Calls of functions of arrays, which transforms make: NumPy programs, in which methods mean what they mean in NumPy.

See Note [Methods in functions of arrays] in gradsmith/numpy_protocols/methods.py.
"""
from gradsmith.runtime.switches import upcalls

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) int gs_array_functions = 0;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread int gs_array_functions __attribute__((tls_model("initial-exec"))) = 0;
    #else
    static _Thread_local int gs_array_functions = 0;
    #endif
    """
    int gs_array_functions      # how many this thread is in


tensors_have_methods = False


cpdef object call_of_arrays(object function, tuple args, dict kwargs):
    """What a function of arrays gives for tensors that stand in for them."""
    global gs_array_functions, tensors_have_methods
    if not tensors_have_methods:
        upcalls.put_numpy_methods()
        tensors_have_methods = True
    gs_array_functions += 1
    try:
        return function(*args) if not kwargs else function(*args, **kwargs)
    finally:
        gs_array_functions -= 1


cdef bint is_called_of_arrays() noexcept:
    """Is this thread in one?"""
    return gs_array_functions > 0


def is_in_function_of_arrays():
    """Is this thread in one?"""
    return gs_array_functions > 0
