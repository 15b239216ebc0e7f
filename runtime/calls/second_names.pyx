"""Parameters that are also known by the name that NumPy gives them: ``sum(x, axis=0)``.

Note [Second names]
The functions of a family have PyTorch's names only, so that their signatures are what users expect and a call reads no
more arguments than it has. At the end of the module each function is replaced by one that calls it: without keywords at
once, otherwise with every second name replaced by the first. A second name with None is as good as not given.

Both are functions of C; the `__self__` of the one is Parameters, which has the other. See replaced.pyx.
"""
from cpython.exc cimport PyErr_ExceptionMatches, PyErr_Fetch, PyErr_Restore, PyErr_SetObject
from libc.string cimport strlen, strncmp
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject

import importlib
from types import BuiltinFunctionType

from gradsmith.runtime.calls.older_forms cimport OlderForm, call_of_today, fast_call, older_form
from gradsmith.runtime.overrides.replaced cimport PyCFunction, PyCFunctionObject, Replaced, overridable
from gradsmith.runtime.overrides.dispatch cimport dispatched, is_overridden, overriding, start

cdef extern from "Python.h":
    const int METH_FASTCALL
    const int METH_KEYWORDS
    const int METH_VARARGS
    PyObject **PySequence_Fast_ITEMS(object)
    object PyObject_Vectorcall(object, PyObject *const *, size_t, PyObject *)

# Public names of functions that their module defines under another name.
cdef list short_names = []

# As in codegen/spec/names.py.
SECOND_NAMES = {"input": ("x", "a", "x1", "A"), "other": ("x2",), "dim": ("axis",), "keepdim": ("keepdims",)}

# Names that a function of PyTorch has beside those of its method.
NAMES_OF_FUNCTIONS = {
    "orgqr": {"input2": "tau"},
    "ormqr": {"input2": "tau", "input3": "other"},
    "unsafe_split": {"tensor": "input", "split_size_or_sections": "split_size"},
    "tensordot": {"b": "other", "axes": "dims"},
    "transpose": {"axes": "dim0"},
}

# Functions that mean something else in NumPy, where PyTorch's cannot be meant: with a sequence as their second argument
# and no other. What NumPy means has this name.
FORMS_OF_NUMPY = {"transpose": "permute"}


cdef class Parameters(Replaced):
    """A function of a family, and the names of its parameters."""
    cdef fast_call own_call
    cdef tuple names            # None before the first call with keywords
    cdef dict first_names       # axis -> dim
    cdef Py_ssize_t positional
    cdef Py_ssize_t required


cdef int take_second_names(dict module) except -1:
    """Replace the functions of a module, in its dict, by those that take second names."""
    cdef dict made = {}     # function -> replacement: other names of a function are the same one
    for name, function in list(module.items()):
        if type(function) is BuiltinFunctionType and function.__module__ == module["__name__"]:
            if function not in made:
                made[function] = replacement(function)
            module[name] = made[function]
    return 0


cdef object replacement(object function):
    cdef int flags = (<PyCFunctionObject *>function).m_ml.ml_flags
    if flags == METH_VARARGS | METH_KEYWORDS:
        return overridable(function)
    if flags != METH_FASTCALL | METH_KEYWORDS:
        return function
    cdef Parameters p = Parameters.__new__(Parameters)
    p.own_call = <fast_call><void *>(<PyCFunctionObject *>function).m_ml.ml_meth
    return p.replace(function, <PyCFunction><void *>call)


cdef int name_within(dict module, str name, str short_name, str namespace) except -1:
    function = module[name]
    show_as(<PyCFunctionObject *>function, short_name.encode(), namespace)
    if isinstance(function.__self__, Replaced):         # which pickles by the name of what it calls
        show_as(<PyCFunctionObject *>(<Replaced>function.__self__).function, short_name.encode(), namespace)
    return 0


cdef int show_as(PyCFunctionObject *function, bytes short_name, str namespace) except -1:
    short_names.append(short_name)
    cdef const char *doc = function.m_ml.ml_doc
    cdef size_t prefix = strlen(function.m_ml.ml_name) - len(short_name)
    if doc != NULL and strncmp(doc, function.m_ml.ml_name, strlen(function.m_ml.ml_name)) == 0:
        function.m_ml.ml_doc = doc + prefix     # Python finds the signature behind the name
    function.m_ml.ml_name = short_name
    Py_INCREF(namespace)
    Py_XDECREF(function.m_module)
    function.m_module = <PyObject *>namespace
    return 0


cdef int read_names(Parameters p) except -1:
    """Find out what the parameters are called; not before the first call that needs it, as it takes its time."""
    if p.names is not None:
        return 0
    import ast      # which most programs never need

    # Not by `inspect`, which evaluates defaults and gives up on calls such as ``float("inf")``.
    text = p.function.__text_signature__.replace("$module, ", "").replace("$module", "")
    arguments = ast.parse(f"lambda {text[1:len(text) - 1]}: 0", mode="eval").body.args
    p.positional = len(arguments.args)
    p.required = p.positional - len(arguments.defaults)
    names = [argument.arg for argument in arguments.args + arguments.kwonlyargs]
    p.first_names = {second: first for first in names for second in SECOND_NAMES.get(first, ()) if second not in names}
    if p.function.__module__ == "gradsmith.fft" and "dim" in names and "n" not in names:
        p.first_names["axes"] = "dim"      # of several dimensions NumPy says `axes` there
    p.first_names.update(NAMES_OF_FUNCTIONS.get(p.function.__name__, {}))
    p.names = tuple(names)
    return 0


# ---- calls

cdef PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *names) except NULL:
    cdef PyObject *result
    if overriding and is_overridden(args, given + count(names)):
        return dispatch_call(<Parameters>self, args, given, names)
    if names != NULL:
        return call_by_names(<Parameters>self, args, given, <tuple>names)
    result = (<Parameters>self).own_call((<Parameters>self).own_self, args, given, NULL)
    if result == NULL:
        return call_that_failed(<Parameters>self, args, given, NULL)
    return result


cdef inline Py_ssize_t count(PyObject *names) noexcept:
    return 0 if names == NULL else len(<tuple>names)


cdef PyObject *dispatch_call(Parameters p, PyObject *const *args, Py_ssize_t given, PyObject *names) except NULL:
    """The result of an override; see dispatch.pyx."""
    result = dispatched(<object>p.replacement, args, given, names)
    Py_INCREF(result)
    return <PyObject *>result


cdef PyObject *call_by_names(Parameters p, PyObject *const *args, Py_ssize_t given, tuple names) except NULL:
    cdef PyObject *const *named = args + given
    read_names(p)
    if has_second_name(p, names):
        if not all_are_given(p, names, named, given):
            return call_without_none(p, args, given, names)
        names = with_first_names(p, names, given)
    cdef PyObject *result = p.own_call(p.own_self, args, given, <PyObject *>names)
    if result == NULL:
        return call_that_failed(p, args, given, <PyObject *>names)
    return result


cdef bint has_second_name(Parameters p, tuple names) except -1:
    for name in names:
        if name in p.first_names:
            return True
    return False


cdef bint all_are_given(Parameters p, tuple names, PyObject *const *values, Py_ssize_t given) except -1:
    """Is no second name None."""
    cdef Py_ssize_t i
    for i in range(len(names)):
        if <object>values[i] is None and may_be_left_out(p, names[i], names, given):
            return False
    return True


cdef bint may_be_left_out(Parameters p, str name, tuple names, Py_ssize_t given) except -1:
    """Is it the second name of a parameter that has a default, or is given without it?"""
    if name not in p.first_names:
        return False
    first = p.first_names[name]
    return first in names or first not in p.names[given:p.required]


cdef PyObject *call_without_none(Parameters p, PyObject *const *args, Py_ssize_t given, tuple names) except NULL:
    """The same call without the second names that have None, as far as there are defaults."""
    cdef Py_ssize_t i
    cdef list values = [<object>args[i] for i in range(given)]
    cdef list kept = []
    for i in range(len(names)):
        if <object>args[given + i] is not None or not may_be_left_out(p, names[i], names, given):
            kept.append(names[i])
            values.append(<object>args[given + i])
    names = with_first_names(p, tuple(kept), given)
    cdef PyObject *result = p.own_call(p.own_self, PySequence_Fast_ITEMS(values), given, <PyObject *>names)
    if result == NULL:
        return call_that_failed(p, PySequence_Fast_ITEMS(values), given, <PyObject *>names)
    return result


cdef tuple with_first_names(Parameters p, tuple names, Py_ssize_t given):
    cdef list found = [p.first_names.get(name, name) for name in names]
    cdef tuple positional = p.names[:min(given, p.positional)]
    for name, first in zip(names, found):
        if name is not first and (first in positional or found.count(first) > 1):
            raise TypeError(f"{p.function.__name__}() got several values for argument '{first}', under different names")
    return tuple(found)


cdef PyObject *call_that_failed(Parameters p, PyObject *const *args, Py_ssize_t given, PyObject *names) except NULL:
    """The result of an override, or of the call as NumPy or an older PyTorch means it; otherwise the error."""
    cdef PyObject *error
    cdef PyObject *value
    cdef PyObject *traceback
    if not PyErr_ExceptionMatches(TypeError):
        return NULL
    PyErr_Fetch(&error, &value, &traceback)
    if not overriding and is_overridden(args, given + count(names)):
        Py_XDECREF(error)
        Py_XDECREF(value)
        Py_XDECREF(traceback)
        start()
        return dispatch_call(p, args, given, names)
    if is_form_of_numpy(p, args, given, names):
        Py_XDECREF(error)
        Py_XDECREF(value)
        Py_XDECREF(traceback)
        result = PyObject_Vectorcall(getattr(shape_ops(), FORMS_OF_NUMPY[p.function.__name__]), args, 2, NULL)
        Py_INCREF(result)
        return <PyObject *>result
    cdef OlderForm found = older_form(p.function.__name__, False, args, given, names)
    if found is not None:
        Py_XDECREF(error)
        Py_XDECREF(value)
        Py_XDECREF(traceback)
        return call_of_today(found, p.own_call, p.own_self)
    PyErr_Restore(error, value, traceback)
    name_missing(p, given, names)
    return NULL


cdef bint is_form_of_numpy(Parameters p, PyObject *const *args, Py_ssize_t given, PyObject *names) except -1:
    """Has a function of `FORMS_OF_NUMPY` two arguments, of which the second is a sequence?"""
    cdef Py_ssize_t named = 0 if names == NULL else len(<tuple>names)
    if given == 0 or given + named != 2 or p.function.__name__ not in FORMS_OF_NUMPY:
        return False
    return isinstance(<object>args[1], (tuple, list))


cdef object shape_ops():
    return importlib.import_module("gradsmith.generated.shape")


cdef void name_missing(Parameters p, Py_ssize_t given, PyObject *names) noexcept:
    """A call failed with a TypeError: say which arguments it lacks, if that is why, or what it may have meant."""
    cdef PyObject *error
    cdef PyObject *value
    cdef PyObject *traceback
    PyErr_Fetch(&error, &value, &traceback)
    read_names(p)
    named = () if names == NULL else <object>names
    missing = [name for name in p.names[given:p.required] if name not in named]
    if missing and set(named) <= set(p.names):
        text = missing_text(p.function.__name__, missing)
    else:
        text = with_hint(p, str(<object>value)) if value != NULL else ""
    if not text:
        PyErr_Restore(error, value, traceback)
        return
    Py_XDECREF(error)
    Py_XDECREF(value)
    Py_XDECREF(traceback)
    PyErr_SetObject(TypeError, text)


cdef str with_hint(Parameters p, str message):
    """The message with a hint, or nothing when there is none to give."""
    from gradsmith.runtime.calls import call_errors

    signature = p.function.__text_signature__.replace("$module, ", "").replace("$module", "")
    longer = call_errors.with_hint(message, signature)
    return "" if longer == message else longer


cdef str missing_text(str name, list missing):
    listed = ", ".join([f"'{argument}'" for argument in missing])
    return f"{name}() missing {len(missing)} required argument{'s' if len(missing) > 1 else ''}: {listed}"
