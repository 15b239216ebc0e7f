"""Dispatch of calls to the classes of their arguments: the protocol ``__torch_function__``.

Note [Dispatch to classes]
A subclass of Tensor, or any other class that defines the method, can override what functions do with its instances:

    torch.add(x, y)  ->  type(y).__torch_function__(torch.add, (type(y),), (x, y), {})

Subclasses of Tensor inherit a default that computes the result as usual and converts it to their class. Plain tensors and
parameters override nothing. A mode overrides every call in its thread. While the default computes a result, overrides by
classes are disabled, so the calls it makes are not dispatched again.

A program without such classes pays for one test of `overriding`. The flag is set when a subclass of Tensor is defined,
when a mode is entered, or when a call of a compiled function fails with a TypeError and one of its arguments has the
method; see second_names.pyx.
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
    GS_THREAD_LOCAL int gs_disabled = 0;     /* 0, NO_CLASSES or NO_MODES */
    GS_THREAD_LOCAL int gs_open_modes = 0;

    static int gs_is_number_or_text(PyTypeObject *type) {
        return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type ||
               type == Py_TYPE(Py_None);
    }

    /* The method of PyTorch's own tensors is about PyTorch's functions, not ours. */
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
    int gs_disabled
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
    NO_CLASSES = 1
    NO_MODES = 2

overriding = False
cdef type tensor_type = None        # Tensor, once it is there
cdef object of_tensors = None       # its own method, as it stands in the class
cdef frozenset results_as_they_are = frozenset()


class _ModesOfThread(threading.local):
    def __init__(self):
        self.stack = []


cdef object modes = _ModesOfThread()


# ---- what overrides a call

cdef bint has_override(PyObject *value) noexcept:
    """Does the class of this value override calls that get it?"""
    cdef PyTypeObject *type_ = Py_TYPE(value)
    cdef PyObject *method
    if gs_is_number_or_text(type_) or type_ == <PyTypeObject *>tensor_type:
        return False
    method = _PyType_Lookup(type_, "__torch_function__")
    if method == NULL or method == <PyObject *>_disabled_torch_function_impl:
        return False
    return not gs_is_of_pytorch(type_)


cdef bint is_overridden(PyObject *const *args, Py_ssize_t n) except -1:
    if gs_disabled < NO_MODES and gs_open_modes:
        return True
    return gs_disabled == 0 and any_overrides(args, n, True)


cdef bint is_overridden_packed(PyObject *args, PyObject *kwargs) except -1:
    """The same of a tuple and a dict, which may be NULL."""
    if is_overridden(PySequence_Fast_ITEMS(args), PySequence_Fast_GET_SIZE(args)):
        return True
    if kwargs == NULL:
        return False
    values = tuple((<dict>kwargs).values())
    return is_overridden(PySequence_Fast_ITEMS(<PyObject *>values), len(values))


cdef bint any_overrides(PyObject *const *args, Py_ssize_t n, bint within) noexcept:
    cdef Py_ssize_t i
    for i in range(n):
        if PyList_CheckExact(args[i]) or PyTuple_CheckExact(args[i]):
            if within and any_overrides(PySequence_Fast_ITEMS(args[i]), PySequence_Fast_GET_SIZE(args[i]), False):
                return True
        elif has_override(args[i]):
            return True
    return False


def are_overridden(values):
    """Does the class of one of these override calls, or a mode of this thread?"""
    cdef tuple given = tuple(values)
    return overriding and is_overridden_packed(<PyObject *>given, NULL)


def overloaded_args(values):
    """The arguments whose classes override a call, one for each class, in the order in which they are tried.

    Parameters
    ----------
    values : iterable
        Arguments, or lists and tuples of them.

    Returns
    -------
    list
        From left to right, except that a subclass comes before its bases.
    """
    cdef list found = []
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            if has_override(<PyObject *>item) and not any([type(item) is type(other) for other in found]):
                later = [place for place, other in enumerate(found) if issubclass(type(item), type(other))]
                found.insert(later[0] if later else len(found), item)
    return found


# ---- dispatch

cdef object dispatched(object function, PyObject *const *args, Py_ssize_t given, PyObject *names):
    cdef tuple keywords = () if names == NULL else <tuple>names
    cdef tuple values = tuple([<object>args[i] for i in range(given)])
    cdef dict named = {keywords[i]: <object>args[given + i] for i in range(len(keywords))}
    return dispatch_call(function, (*values, *named.values()), values, named)


cdef object dispatched_packed(object function, PyObject *args, PyObject *kwargs):
    cdef dict named = {} if kwargs == NULL else dict(<dict>kwargs)
    return dispatch_call(function, (*<tuple>args, *named.values()), <tuple>args, named)


cdef object call(object function, object own, tuple args, dict kwargs):
    """Call a method or a Python function, or dispatch the call; overrides are given `function`."""
    if is_overridden_packed(<PyObject *>args, <PyObject *>kwargs if kwargs else NULL):
        return dispatch_call(function, (*args, *kwargs.values()), args, kwargs)
    return PyObject_Call(own, args, <PyObject *>kwargs if kwargs else NULL)


cpdef object dispatch_call(object function, object relevant, tuple args, dict kwargs):
    """Dispatch a call to the innermost mode, then to the classes of the relevant arguments.

    Raises
    ------
    TypeError
        Every override returned NotImplemented.
    """
    cdef list values = overloaded_args(relevant) if gs_disabled == 0 else []
    cdef tuple types = tuple([type(value) for value in values])
    mode = innermost_mode() if gs_disabled < NO_MODES else None
    if mode is not None:
        result = by_mode(mode, function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for value in values:
        if _PyType_Lookup(Py_TYPE(<PyObject *>value), "__torch_function__") == <PyObject *>of_tensors:
            result = by_tensors(type(value), function, types, args, kwargs)
        else:
            result = value.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(not_implemented(function, types, mode))


cdef object by_mode(object mode, object function, tuple types, tuple args, dict kwargs):
    """The mode is inactive while its method runs, so calls made there go to the modes outside of it."""
    modes_leave(mode)
    try:
        return mode.__torch_function__(function, types, args, kwargs)
    finally:
        modes_enter(mode)


cdef str not_implemented(object function, tuple types, object mode):
    name = f"{getattr(function, '__module__', None) or 'torch'}.{getattr(function, '__name__', function)}"
    of = ["mode " + type(mode).__name__] if mode is not None else []
    of += ["class " + type_.__qualname__ for type_ in types]
    return (
        f"no implementation found for '{name}': __torch_function__ of {', '.join(of) or 'no argument'} returned "
        "NotImplemented. Return a result there, or call super().__torch_function__(func, types, args, kwargs)"
    )


# ---- the methods of Tensor and Parameter

def torch_function_of_tensors(cls, func, types, args=(), kwargs=None):
    """The default ``__torch_function__`` of subclasses of Tensor: it converts results to the subclass.

    Parameters
    ----------
    func : callable
    types : tuple of type
        The classes of the arguments that override the call.
    args : tuple
    kwargs : dict, optional

    Returns
    -------
    object
        What the function returns, with tensors converted; NotImplemented if `types` contains an unrelated class.
    """
    return by_tensors(cls, func, tuple(types), tuple(args), {} if kwargs is None else dict(kwargs))


cdef object by_tensors(object cls, object function, tuple types, tuple args, dict kwargs):
    if gs_disabled:    # called by PyTorch's functions, which would dispatch to it forever
        return NotImplemented
    for type_ in types:
        if not issubclass(cls, type_):
            return NotImplemented
    result = without_overrides(function, args, kwargs)
    return result if function in results_as_they_are else of_class(result, cls)


def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
    """The ``__torch_function__`` of a class that overrides nothing."""
    return without_overrides(func, tuple(args), {} if kwargs is None else dict(kwargs))


cdef object without_overrides(object function, tuple args, dict kwargs):
    global gs_disabled
    cdef int before = gs_disabled
    gs_disabled = max(before, NO_CLASSES)
    try:
        return PyObject_Call(function, args, <PyObject *>kwargs)
    finally:
        gs_disabled = before


def plain_results():
    """The functions whose results are not converted: they return existing tensors, or name the class themselves."""
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
    """Whether functions look for overrides yet."""
    return overriding


cpdef int start() except -1:
    """Make functions look for overrides from now on."""
    global overriding
    if not overriding:
        overriding = True
        upcalls.make_everything_overridable()
    return 0


# ---- modes, and disabled overrides

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
    """Activate a mode in this thread."""
    start()
    upcalls.make_all_members_overridable()
    modes_enter(mode)


def leave_mode(mode):
    """Deactivate the innermost mode of this thread."""
    modes_leave(mode)


def open_modes():
    """The modes of this thread, the innermost last."""
    return tuple(modes.stack)


cdef class DisabledOverrides:
    """A context that disables overrides by classes; at the level NO_MODES also those by modes."""
    cdef int level
    cdef list previous

    def __cinit__(self, int level):
        self.level, self.previous = level, []

    def __enter__(self):
        global gs_disabled
        self.previous.append(gs_disabled)
        gs_disabled = max(gs_disabled, self.level)

    def __exit__(self, kind, value, traceback):
        global gs_disabled
        gs_disabled = self.previous.pop()


class DisableTorchFunctionSubclass(DisabledOverrides):
    """A context that disables overrides by classes, but not those by modes."""

    def __new__(cls):
        return DisabledOverrides.__new__(cls, NO_CLASSES)


class DisableTorchFunction(DisabledOverrides):
    """A context that disables all overrides."""

    def __new__(cls):
        return DisabledOverrides.__new__(cls, NO_MODES)
