"""Calls as PyTorch's first programs have them, a factor before what it multiplies: ``x.add_(0.5, y)``.

Note [Older forms]
PyTorch still takes them, and so does much that was written for it. Each has more arguments by position than its op takes
today, or gives one by position and by name, so no call that is right today can be one. They are looked for when a call has
failed: by functions in second_names.pyx, by methods here, where each has a C function around its own. What is found is
called again in today's form. Calls in NumPy's words are found in the same way.
"""
from cpython.exc cimport PyErr_ExceptionMatches, PyErr_Fetch, PyErr_Restore
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject

from numbers import Number

from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.switches.lazy_modules import LazyModule
from gradsmith.runtime.calls.arguments cimport is_operand, is_tensor
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.history.history cimport requires_grad_1

cdef extern from *:
    """
    typedef PyObject *(*gs_fast_call)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

    /* What a method does once its own function has failed: a function of Cython's. */
    static PyObject *(*gs_older_call)(const char *, gs_fast_call, PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

    #define GS_EACH_METHOD(DO) \\
        DO(add) DO(add_) DO(sub) DO(sub_) DO(addcmul) DO(addcmul_) DO(addcdiv) DO(addcdiv_) DO(addmm) DO(addmm_) \\
        DO(addmv) DO(addmv_) DO(addr) DO(addr_) DO(addbmm) DO(addbmm_) DO(baddbmm) DO(baddbmm_) \\
        DO(diagonal) DO(flatten) DO(prod) DO(sum) DO(take) DO(transpose)
    #define GS_CALL(name) \\
        static gs_fast_call gs_own_##name; \\
        static PyObject *gs_call_##name(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *names) { \\
            PyObject *result = gs_own_##name(self, args, given, names); \\
            return result != NULL ? result : gs_older_call(#name, gs_own_##name, self, args, given, names); \\
        }
    #define GS_ROW(name) {#name, &gs_own_##name, gs_call_##name},

    /* Methods of a tuple and a dict. */
    typedef PyObject *(*gs_spread_call)(PyObject *, PyObject *, PyObject *);
    static PyObject *(*gs_numpys_call)(const char *, PyObject *, PyObject *, PyObject *);

    #define GS_EACH_SPREAD_METHOD(DO) DO(max) DO(min) DO(repeat) DO(reshape) DO(std) DO(var)
    #define GS_SPREAD_CALL(name) \\
        static gs_spread_call gs_own_##name; \\
        static PyObject *gs_call_##name(PyObject *self, PyObject *args, PyObject *named) { \\
            PyObject *result = gs_own_##name(self, args, named); \\
            return result != NULL ? result : gs_numpys_call(#name, self, args, named); \\
        }
    #define GS_SPREAD_ROW(name) {#name, &gs_own_##name, gs_call_##name},

    GS_EACH_SPREAD_METHOD(GS_SPREAD_CALL)
    static struct {const char *name; gs_spread_call *own; gs_spread_call call;} gs_spread_methods[] = {
        GS_EACH_SPREAD_METHOD(GS_SPREAD_ROW) {NULL, NULL, NULL}
    };

    GS_EACH_METHOD(GS_CALL)
    static struct {const char *name; gs_fast_call *own; gs_fast_call call;} gs_methods[] = {
        GS_EACH_METHOD(GS_ROW) {NULL, NULL, NULL}
    };
    """
    ctypedef struct MethodRow "gs_methods[0]":
        const char *name
        fast_call *own
        fast_call call
    MethodRow gs_methods[]
    PyObject *(*gs_older_call)(
        const char *, fast_call, PyObject *, PyObject *const *, Py_ssize_t, PyObject *
    ) except NULL

    ctypedef PyObject *(*spread_call "gs_spread_call")(PyObject *, PyObject *, PyObject *)
    ctypedef struct SpreadRow "gs_spread_methods[0]":
        const char *name
        spread_call *own
        spread_call call
    SpreadRow gs_spread_methods[]
    PyObject *(*gs_numpys_call)(const char *, PyObject *, PyObject *, PyObject *) except NULL

cdef extern from "Python.h":
    ctypedef PyObject *(*PyCFunction)(PyObject *, PyObject *) noexcept
    ctypedef struct PyMethodDef:
        PyCFunction ml_meth
        int ml_flags
    ctypedef struct PyMethodDescrObject:
        PyMethodDef *d_method
    const int METH_FASTCALL
    const int METH_KEYWORDS
    const int METH_VARARGS
    PyObject **PySequence_Fast_ITEMS(object)

cdef object numpys_forms = LazyModule("gradsmith.runtime.tensors.numpy_names.forms")

# Op -> its older forms. Methods have theirs without the input.
cdef dict FORMS = {
    "add": (("input", "alpha", "other"),),
    "sub": (("input", "alpha", "other"),),
    "addcmul": (("input", "value", "tensor1", "tensor2"),),
    "addcdiv": (("input", "value", "tensor1", "tensor2"),),
    "addmm": (("beta", "input", "alpha", "mat1", "mat2"), ("beta", "input", "mat1", "mat2")),
    "addmv": (("beta", "input", "alpha", "mat", "vec"), ("beta", "input", "mat", "vec")),
    "addr": (("beta", "input", "alpha", "vec1", "vec2"), ("beta", "input", "vec1", "vec2")),
    "addbmm": (("beta", "input", "alpha", "batch1", "batch2"), ("beta", "input", "batch1", "batch2")),
    "baddbmm": (("beta", "input", "alpha", "batch1", "batch2"), ("beta", "input", "batch1", "batch2")),
}
cdef tuple FACTORS = ("beta", "alpha", "value")

# (name, parameters) of the forms that have already warned: each does so once.
cdef set warned = set()


cdef class OlderForm:
    """A call that is of an older form."""

    def __cinit__(self, str name, tuple parameters, dict arguments):
        self.name, self.parameters, self.arguments = name, parameters, arguments


cdef int take_older_forms(type tensor) except -1:
    """Put a function around that of each method that has older forms."""
    global gs_older_call, gs_numpys_call
    gs_older_call = method_that_failed
    cdef int i = 0
    cdef PyMethodDef *method
    while gs_methods[i].name != NULL:
        method = method_called_by(tensor, gs_methods[i].name, METH_FASTCALL | METH_KEYWORDS)
        gs_methods[i].own[0] = <fast_call><void *>method.ml_meth
        method.ml_meth = <PyCFunction><void *>gs_methods[i].call
        i += 1
    gs_numpys_call = spread_method_that_failed
    i = 0
    while gs_spread_methods[i].name != NULL:
        method = method_called_by(tensor, gs_spread_methods[i].name, METH_VARARGS | METH_KEYWORDS)
        gs_spread_methods[i].own[0] = <spread_call><void *>method.ml_meth
        method.ml_meth = <PyCFunction><void *>gs_spread_methods[i].call
        i += 1
    return 0


cdef PyMethodDef *method_called_by(type tensor, const char *name, int flags) except NULL:
    """The definition of a method, which has to take its arguments as `flags` say."""
    member = tensor.__dict__[name.decode()]
    cdef PyMethodDef *method = (<PyMethodDescrObject *><PyObject *>member).d_method
    if method.ml_flags != flags:
        raise SystemError(f"Tensor.{member.__name__} is called in another way than older_forms.pyx expects")
    return method


cdef PyObject *method_that_failed(
    const char *name, fast_call own, PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *names
) except NULL:
    """The result of a method in today's form, or the error that it failed with."""
    cdef PyObject *error
    cdef PyObject *value
    cdef PyObject *traceback
    if not PyErr_ExceptionMatches(TypeError):
        return NULL
    PyErr_Fetch(&error, &value, &traceback)
    cdef tuple keywords = () if names == NULL else <tuple>names
    if name.decode() not in FORMS and not name.endswith(b"_"):
        values = tuple([<object>args[i] for i in range(given)])
        named = {keywords[i]: <object>args[given + i] for i in range(len(keywords))}
        return numpys_form(name.decode(), error, value, traceback, self, values, named)
    found = older_form(name.decode(), True, args, given, names)
    if found is None:
        PyErr_Restore(error, value, traceback)
        return NULL
    Py_XDECREF(error)
    Py_XDECREF(value)
    Py_XDECREF(traceback)
    return call_of_today(found, own, self)


cdef PyObject *spread_method_that_failed(const char *name, PyObject *self, PyObject *args, PyObject *named) except NULL:
    cdef PyObject *error
    cdef PyObject *value
    cdef PyObject *traceback
    if not PyErr_ExceptionMatches(TypeError):
        return NULL
    PyErr_Fetch(&error, &value, &traceback)
    given = {} if named == NULL else <object>named
    return numpys_form(name.decode(), error, value, traceback, self, <tuple><object>args, given)


cdef PyObject *numpys_form(
    str name, PyObject *error, PyObject *value, PyObject *traceback, PyObject *self, tuple values, dict named
) except NULL:
    """The result of a method in NumPy's words, or the error that it failed with; see numpy_names/forms.py."""
    if not numpys_forms.means_numpys(name, <object>self, values, named):
        PyErr_Restore(error, value, traceback)
        return NULL
    Py_XDECREF(error)
    Py_XDECREF(value)
    Py_XDECREF(traceback)
    result = numpys_forms.computed(name, <object>self, values, named)
    Py_INCREF(result)
    return <PyObject *>result


cdef OlderForm older_form(str name, bint is_method, PyObject *const *args, Py_ssize_t given, PyObject *names):
    if name.rstrip("_") not in FORMS:
        return None
    cdef tuple keywords = () if names == NULL else <tuple>names
    cdef tuple values = tuple([<object>args[i] for i in range(given)])
    cdef dict named = {keywords[i]: <object>args[given + i] for i in range(len(keywords))}
    for parameters in FORMS[name.rstrip("_")]:
        if is_method:
            parameters = tuple([parameter for parameter in parameters if parameter != "input"])
        arguments = bound(name, parameters, values, named)
        if arguments is not None:
            return OlderForm(name, parameters, arguments)
    return None


cdef dict bound(str name, tuple form, tuple values, dict named):
    """The arguments of a call by their names in a form; None if it is not of that form."""
    cdef dict found = dict(zip(form, values))
    cdef tuple known = (*form, "out") if "input" in form else form      # methods have no `out`
    if len(values) > len(form) or not any([factor in found for factor in FACTORS]):
        return None
    if any([parameter in found for parameter in named]) or not set(named) <= set(known):
        return None
    found.update(named)
    if not all([parameter in found and suits(name, parameter, found[parameter]) for parameter in form]):
        return None
    return found


cdef bint suits(str name, str parameter, object value) except -1:
    if parameter in FACTORS:
        return is_factor(value)
    return is_tensor(value) or (name.rstrip("_") in ("add", "sub") and is_operand(value))


cdef bint is_factor(object value) except -1:
    if is_tensor(value):
        return not requires_grad_1(<TensorBase>value) and value.ndim == 0
    return isinstance(value, Number)


cdef PyObject *call_of_today(OlderForm found, fast_call own, PyObject *self) except NULL:
    """The call with its tensors by position and the rest by name."""
    warn_once(found)
    cdef dict arguments = found.arguments
    cdef list values = [arguments[parameter] for parameter in found.parameters if parameter not in FACTORS]
    cdef Py_ssize_t given = len(values)
    cdef tuple names = tuple([parameter for parameter in arguments if parameter in FACTORS or parameter == "out"])
    values += [arguments[parameter] for parameter in names]
    return own(self, PySequence_Fast_ITEMS(values), given, <PyObject *>names)


cdef int warn_once(OlderForm found) except -1:
    if (found.name, found.parameters) in warned:
        return 0
    warned.add((found.name, found.parameters))
    older = ", ".join([shown(parameter) for parameter in found.parameters])
    warn_caller(
        f"This overload of {found.name} is deprecated:\n\t{found.name}({older})\n"
        f"Consider using one of the following signatures instead:\n\t{found.name}({of_today(found)})"
    )
    return 0


cdef str of_today(OlderForm found):
    cdef list tensors = [shown(parameter) for parameter in found.parameters if parameter not in FACTORS]
    cdef list factors = [factor for factor in FACTORS if factor in FORMS[found.name.rstrip("_")][0]]
    return ", ".join([*tensors, "*", *[f"{shown(factor)} = 1" for factor in factors]])


cdef str shown(str parameter):
    return f"Number {parameter}" if parameter in FACTORS else f"Tensor {parameter}"
