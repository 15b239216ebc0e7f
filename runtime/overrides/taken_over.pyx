"""Calls that the classes of their arguments take over: the protocol ``__torch_function__``.

Note [Who takes a call over]
A class over Tensor, or any other that has the method, may say itself what functions do with its instances:

    torch.add(x, y)  ->  type(y).__torch_function__(torch.add, (type(y),), (x, y), {})

Classes over Tensor inherit a method that computes the result as always and gives it their class. Tensors of no class of
their own, and parameters, take nothing over. A mode takes over all calls of its thread. Nobody is asked while a call that
was taken over is computed by `Tensor.__torch_function__`.

Programs without such classes pay for one test of `overriding`. It is set when a class over Tensor is made, when a mode is
entered, and when a call of a compiled function has failed with a TypeError, as it does for an argument that is no tensor,
and a class among its arguments has the method: see second_names.pyx.
"""
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject

import threading

from gradsmith.runtime.switches import upcalls

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define GS_THREAD_LOCAL static __declspec(thread)
    #elif defined(__GNUC__) && defined(__linux__)
    #define GS_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
    #else
    #define GS_THREAD_LOCAL static _Thread_local
    #endif
    GS_THREAD_LOCAL int gs_asks_nobody = 0;     /* neither classes nor, from ASKS_NO_MODE on, modes */
    GS_THREAD_LOCAL int gs_open_modes = 0;

    static int gs_is_number_or_text(PyTypeObject *type) {
        return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type ||
               type == Py_TYPE(Py_None);
    }

    /* PyTorch's own tensors say what PyTorch's functions do with them, not what ours do. */
    static int gs_is_of_pytorch(PyTypeObject *type) {
        PyObject *bases = type->tp_mro;
        for (Py_ssize_t i = 0; bases != NULL && i < PyTuple_GET_SIZE(bases); i++) {
            if (strcmp(((PyTypeObject *)PyTuple_GET_ITEM(bases, i))->tp_name, "torch._C.TensorBase") == 0) {
                return 1;
            }
        }
        return 0;
    }
    """
    int gs_asks_nobody
    int gs_open_modes
    bint gs_is_number_or_text(PyTypeObject *type) noexcept
    bint gs_is_of_pytorch(PyTypeObject *type) noexcept

cdef extern from "Python.h":
    PyTypeObject *Py_TYPE(PyObject *) noexcept
    bint PyList_CheckExact(PyObject *) noexcept
    bint PyTuple_CheckExact(PyObject *) noexcept
    PyObject **PySequence_Fast_ITEMS(PyObject *) noexcept
    Py_ssize_t PySequence_Fast_GET_SIZE(PyObject *) noexcept
    PyObject *_PyType_Lookup(PyTypeObject *, object) noexcept
    object PyObject_Call(object, object, PyObject *)

cdef enum:
    ASKS_NO_CLASS = 1
    ASKS_NO_MODE = 2

overriding = False
cdef type tensor_type = None        # Tensor, once it is there
cdef object of_tensors = None       # its own method, as it stands in the class
cdef frozenset results_as_they_are = frozenset()


class _ModesOfThread(threading.local):
    def __init__(self):
        self.stack = []


cdef object modes = _ModesOfThread()


# ---- who

cdef bint takes_over(PyObject *value) noexcept:
    """Do calls with this value belong to its class?"""
    cdef PyTypeObject *type_ = Py_TYPE(value)
    cdef PyObject *method
    if gs_is_number_or_text(type_) or type_ == <PyTypeObject *>tensor_type:
        return False
    method = _PyType_Lookup(type_, "__torch_function__")
    if method == NULL or method == <PyObject *>_disabled_torch_function_impl:
        return False
    return not gs_is_of_pytorch(type_)


cdef bint is_taken_over(PyObject *const *args, Py_ssize_t n) except -1:
    if gs_asks_nobody < ASKS_NO_MODE and gs_open_modes:
        return True
    return gs_asks_nobody == 0 and one_takes_over(args, n, True)


cdef bint is_taken_over_packed(PyObject *args, PyObject *kwargs) except -1:
    """The same of a tuple and a dict, which may be NULL."""
    if is_taken_over(PySequence_Fast_ITEMS(args), PySequence_Fast_GET_SIZE(args)):
        return True
    if kwargs == NULL:
        return False
    values = tuple((<dict>kwargs).values())
    return is_taken_over(PySequence_Fast_ITEMS(<PyObject *>values), len(values))


cdef bint one_takes_over(PyObject *const *args, Py_ssize_t n, bint within) noexcept:
    cdef Py_ssize_t i
    for i in range(n):
        if PyList_CheckExact(args[i]) or PyTuple_CheckExact(args[i]):
            if within and one_takes_over(PySequence_Fast_ITEMS(args[i]), PySequence_Fast_GET_SIZE(args[i]), False):
                return True
        elif takes_over(args[i]):
            return True
    return False


def asked(values):
    """The arguments that a call may be taken over by, one of each class, in the order in which they are asked.

    Parameters
    ----------
    values : iterable
        Arguments, or lists and tuples of them.

    Returns
    -------
    list
        From left to right, but those of a subclass before those of its bases.
    """
    cdef list found = []
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            if takes_over(<PyObject *>item) and not any([type(item) is type(other) for other in found]):
                later = [place for place, other in enumerate(found) if issubclass(type(item), type(other))]
                found.insert(later[0] if later else len(found), item)
    return found


# ---- how

cdef object handed_over(object function, PyObject *const *args, Py_ssize_t given, PyObject *names):
    cdef tuple keywords = () if names == NULL else <tuple>names
    cdef tuple values = tuple([<object>args[i] for i in range(given)])
    cdef dict named = {keywords[i]: <object>args[given + i] for i in range(len(keywords))}
    return handed(function, (*values, *named.values()), values, named)


cdef object handed_over_packed(object function, PyObject *args, PyObject *kwargs):
    cdef dict named = {} if kwargs == NULL else dict(<dict>kwargs)
    return handed(function, (*<tuple>args, *named.values()), <tuple>args, named)


cdef object call(object function, object own, tuple args, dict kwargs):
    """A method, or a function of Python's, that may be taken over; `function` is what those who do are given."""
    if is_taken_over_packed(<PyObject *>args, <PyObject *>kwargs if kwargs else NULL):
        return handed(function, (*args, *kwargs.values()), args, kwargs)
    return PyObject_Call(own, args, <PyObject *>kwargs if kwargs else NULL)


cpdef object handed(object function, object relevant, tuple args, dict kwargs):
    """What a mode or the first of the relevant arguments that takes the call over gives.

    Raises
    ------
    TypeError
        All that were asked return NotImplemented.
    """
    cdef list values = asked(relevant) if gs_asks_nobody == 0 else []
    cdef tuple types = tuple([type(value) for value in values])
    mode = innermost_mode() if gs_asks_nobody < ASKS_NO_MODE else None
    if mode is not None:
        result = of_mode(mode, function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for value in values:
        if _PyType_Lookup(Py_TYPE(<PyObject *>value), "__torch_function__") == <PyObject *>of_tensors:
            result = by_tensors(type(value), function, types, args, kwargs)
        else:
            result = value.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(none_took_over(function, types, mode))


cdef object of_mode(object mode, object function, tuple types, tuple args, dict kwargs):
    """Inside of it those that were entered before are asked."""
    modes_leave(mode)
    try:
        return mode.__torch_function__(function, types, args, kwargs)
    finally:
        modes_enter(mode)


cdef str none_took_over(object function, tuple types, object mode):
    name = f"{getattr(function, '__module__', None) or 'torch'}.{getattr(function, '__name__', function)}"
    of = ["mode " + type(mode).__name__] if mode is not None else []
    of += ["class " + type_.__qualname__ for type_ in types]
    return (
        f"no implementation found for '{name}': __torch_function__ of {', '.join(of) or 'no argument'} returned "
        "NotImplemented. Return a result there, or call super().__torch_function__(func, types, args, kwargs)"
    )


# ---- what Tensor and parameters have

def torch_function_of_tensors(cls, func, types, args=(), kwargs=None):
    """What a class over Tensor does with a function unless it says something else: its results are of that class.

    Parameters
    ----------
    func : callable
    types : tuple of type
        The classes among the arguments that could take the call over.
    args : tuple
    kwargs : dict, optional

    Returns
    -------
    object
        What the function returns, tensors with the class; NotImplemented where `types` has other classes.
    """
    return by_tensors(cls, func, tuple(types), tuple(args), {} if kwargs is None else dict(kwargs))


cdef object by_tensors(object cls, object function, tuple types, tuple args, dict kwargs):
    if cls is tensor_type or gs_asks_nobody:    # PyTorch's functions ask, which would ask again and again
        return NotImplemented
    for type_ in types:
        if not issubclass(cls, type_):
            return NotImplemented
    result = asking_nobody(function, args, kwargs)
    return result if function in results_as_they_are else of_class(result, cls)


def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
    """The ``__torch_function__`` of a class that takes nothing over."""
    return asking_nobody(func, tuple(args), {} if kwargs is None else dict(kwargs))


cdef object asking_nobody(object function, tuple args, dict kwargs):
    global gs_asks_nobody
    cdef int before = gs_asks_nobody
    gs_asks_nobody = max(before, ASKS_NO_CLASS)
    try:
        return PyObject_Call(function, args, <PyObject *>kwargs)
    finally:
        gs_asks_nobody = before


def plain_results():
    """The functions whose results keep the class that they have: it was asked for, or they were there before."""
    return set(results_as_they_are)


cdef object of_class(object result, object cls):
    if isinstance(result, tensor_type):
        return result if isinstance(result, cls) else tensor_type.as_subclass(result, cls)
    if isinstance(result, (tuple, list)):
        items = [of_class(item, cls) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def set_tensor_class(cls):
    """Say which class Tensor is, and give it its method."""
    global tensor_type, of_tensors, results_as_they_are
    tensor_type, of_tensors = cls, classmethod(torch_function_of_tensors)
    results_as_they_are = frozenset((cls._base.__get__, cls.grad.__get__, cls.as_subclass))
    cls.__torch_function__ = of_tensors


def has_started():
    """Whether functions ask classes already."""
    return overriding


cpdef int start() except -1:
    """From now on functions ask the classes of their arguments."""
    global overriding
    if not overriding:
        overriding = True
        upcalls.ask_everywhere()
    return 0


# ---- modes, and asking nobody

cdef object innermost_mode():
    cdef list stack = modes.stack
    return stack[len(stack) - 1] if stack else None


cdef int modes_enter(object mode) except -1:
    global gs_open_modes
    modes.stack.append(mode)
    gs_open_modes += 1
    return 0


cdef int modes_leave(object mode) except -1:
    global gs_open_modes
    if innermost_mode() is not mode:
        raise RuntimeError("modes are left in the reverse order of their entering; this one is not the innermost")
    modes.stack.pop()
    gs_open_modes -= 1
    return 0


def enter_mode(mode):
    """Have a mode take over the calls of this thread."""
    start()
    upcalls.ask_in_all_members()
    modes_enter(mode)


def leave_mode(mode):
    """Take the innermost mode of this thread off again."""
    modes_leave(mode)


def open_modes():
    """The modes of this thread, the innermost last."""
    return tuple(modes.stack)


cdef class AskingNobody:
    """A context in which functions ask no class of an argument; from the level ASKS_NO_MODE on, no mode either."""
    cdef int level
    cdef list previous

    def __cinit__(self, int level):
        self.level, self.previous = level, []

    def __enter__(self):
        global gs_asks_nobody
        self.previous.append(gs_asks_nobody)
        gs_asks_nobody = max(gs_asks_nobody, self.level)

    def __exit__(self, kind, value, traceback):
        global gs_asks_nobody
        gs_asks_nobody = self.previous.pop()


class DisableTorchFunctionSubclass(AskingNobody):
    """A context in which functions ask no class of an argument; modes are asked."""

    def __new__(cls):
        return AskingNobody.__new__(cls, ASKS_NO_CLASS)


class DisableTorchFunction(AskingNobody):
    """A context in which functions ask nobody."""

    def __new__(cls):
        return AskingNobody.__new__(cls, ASKS_NO_MODE)
