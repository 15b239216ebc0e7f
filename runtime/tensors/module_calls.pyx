"""What every call of a module goes through: attributes are found, and `forward` is called.

Note [Attributes of modules]
The parameters, buffers and modules of a module are attributes that lie in tables of its own. Python would find them by
`__getattr__`, once an ordinary search has failed and raised. A layer does that for each parameter in each call, so it is
done here without raising: for each class whose `__getattr__` is that of Module, the place where Python keeps the function
that finds attributes (`tp_getattro`) gets `find_attribute`, which finds what Python would. Python itself writes to that
place again when somebody gives the class another `__getattr__` or `__getattribute__`.
"""
from cpython.object cimport Py_TYPE, PyObject, PyTypeObject
cimport cython

cdef extern from *:
    """
    static void gs_set_getattro(PyObject *type, PyObject *(*find)(PyObject *, PyObject *)) {
        ((PyTypeObject *)type)->tp_getattro = find;
        PyType_Modified((PyTypeObject *)type);
    }
    static void gs_set_call(PyObject *type, PyObject *(*call)(PyObject *, PyObject *, PyObject *)) {
        ((PyTypeObject *)type)->tp_call = call;
    }
    """
    void gs_set_getattro(object, object (*)(object, object))
    void gs_set_call(object, object (*)(object, object, PyObject *))

cdef extern from "Python.h":
    PyObject *_PyType_Lookup(PyTypeObject *, object)
    object PyObject_GenericGetAttr(object, object)
    object PyObject_GenericGetDict(object, void *)
    bint PyDict_Check(object)
    Py_ssize_t PyDict_GET_SIZE(PyObject *) noexcept
    PyObject *PyDict_GetItemWithError(object, object) except? NULL
    bint PyType_HasFeature(PyTypeObject *, unsigned long) noexcept
    unsigned long Py_TPFLAGS_METHOD_DESCRIPTOR
    Py_ssize_t PyTuple_GET_SIZE(object)
    PyObject *PyTuple_GET_ITEM(object, Py_ssize_t)
    object PyObject_Call(object, object, PyObject *)
    object PyObject_Vectorcall(PyObject *, PyObject **, size_t, PyObject *)
    int Py_EnterRecursiveCall(const char *) except -1
    void Py_LeaveRecursiveCall()

cdef str PARAMETERS = "_parameters", BUFFERS = "_buffers", MODULES = "_modules"
cdef str FORWARD_HOOKS = "_forward_hooks", FORWARD_PRE_HOOKS = "_forward_pre_hooks"
cdef str BACKWARD_HOOKS = "_backward_hooks", BACKWARD_PRE_HOOKS = "_backward_pre_hooks"

cdef str FORWARD = "forward"
cdef enum:
    MOST = 6    # arguments of calls that are passed on without a tuple

cdef tuple global_hooks = ()
cdef object call_with_hooks = None


def set_hooks(tuple tables not None, function not None):
    """Tables of the hooks of all modules, and what calls a module that has hooks: ``function(module, args, kwargs)``."""
    global global_hooks, call_with_hooks
    global_hooks, call_with_hooks = tables, function


def call_by_hooks_or_forward(module, tuple args not None, dict kwargs not None):
    """``module(*args, **kwargs)``, for classes that have a `__call__` of their own and call Module's."""
    return call_module(module, args, <PyObject *>kwargs)


cdef object call_module(object self, object args, PyObject *kwargs):
    """``self(*args, **kwargs)``; `kwargs` may be NULL."""
    cdef PyObject *function
    attributes = PyObject_GenericGetDict(self, NULL)
    if has_hooks(attributes):
        return call_with_hooks(self, args, {} if kwargs == NULL else <object>kwargs)
    if kwargs == NULL and PyTuple_GET_SIZE(args) <= MOST:
        function = find_forward(self, attributes)
        if function != NULL:
            return call_function(function, self, args)
    return PyObject_Call(self.forward, args, kwargs)


cdef object call_with(object module, object input):
    """``module(input)``, without a tuple for most modules."""
    cdef PyObject *function = NULL
    cdef PyObject *stack[2]
    if <void *>(<PyTypeObject *>Py_TYPE(module)).tp_call == <void *>call_module:
        attributes = PyObject_GenericGetDict(module, NULL)
        function = NULL if has_hooks(attributes) else find_forward(module, attributes)
    if function == NULL:
        return module(input)
    stack[0], stack[1] = <PyObject *>module, <PyObject *>input
    return PyObject_Vectorcall(function, stack, 2, NULL)


cdef PyObject *find_forward(object self, object attributes) except? NULL:
    """The function that is the method `forward`, borrowed; NULL where it is something else, or set on the object."""
    cdef PyObject *found = _PyType_Lookup(Py_TYPE(self), FORWARD)
    if found == NULL or not PyType_HasFeature(Py_TYPE(<object>found), Py_TPFLAGS_METHOD_DESCRIPTOR):
        return NULL
    return found if PyDict_GetItemWithError(attributes, FORWARD) == NULL else NULL


cdef object call_function(PyObject *function, object self, object args):
    """``function(self, *args)``, without a bound method."""
    cdef PyObject *stack[MOST + 1]
    cdef Py_ssize_t place, count = PyTuple_GET_SIZE(args)
    stack[0] = <PyObject *>self
    for place in range(count):
        stack[place + 1] = PyTuple_GET_ITEM(args, place)
    return PyObject_Vectorcall(function, stack, count + 1, NULL)


@cython.binding(True)   # so that it is a method of the class that it is put into
def call_in_turn(self, input):
    """Call the modules in order, each with what the one before returned."""
    Py_EnterRecursiveCall(" while calling modules in turn")     # one may contain itself
    try:
        for module in self._modules.values():
            input = call_with(module, input)
    finally:
        Py_LeaveRecursiveCall()
    return input


call_in_turn.__name__, call_in_turn.__qualname__ = "forward", "Sequential.forward"     # for messages


cdef bint has_hooks(object attributes) except -1:
    cdef Py_ssize_t place
    for place in range(PyTuple_GET_SIZE(global_hooks)):
        if PyDict_GET_SIZE(PyTuple_GET_ITEM(global_hooks, place)):
            return True
    return (
        has_own_hooks(attributes, FORWARD_HOOKS) or has_own_hooks(attributes, FORWARD_PRE_HOOKS)
        or has_own_hooks(attributes, BACKWARD_HOOKS) or has_own_hooks(attributes, BACKWARD_PRE_HOOKS)
    )


cdef bint has_own_hooks(object attributes, str name) except -1:
    cdef PyObject *found = PyDict_GetItemWithError(attributes, name)
    if found == NULL or not PyDict_Check(<object>found):
        raise AttributeError(f"cannot call a module before Module.__init__() call: it has no attribute '{name}'")
    return PyDict_GET_SIZE(found) != 0


# ---- attributes; see Note [Attributes of modules]


def speed_up(cls, plain_call, plain_getattr):
    """Let objects of `cls` be called by `call_module`, and their attributes be found by `find_attribute`.

    Each unless the class has a method of its own for that, other than the one given, which is Module's.
    """
    if not isinstance(cls, type):       # of any metaclass
        raise TypeError(f"speed_up(): expected a class, got {type(cls).__name__}")
    if cls.__call__ is plain_call:
        gs_set_call(cls, call_module)
    if cls.__getattribute__ is object.__getattribute__ and getattr(cls, "__getattr__", None) is plain_getattr:
        gs_set_getattro(cls, find_attribute)


cdef object find_attribute(object self, object name):
    cdef PyObject *found
    if _PyType_Lookup(Py_TYPE(self), name) != NULL:
        try:
            return PyObject_GenericGetAttr(self, name)
        except AttributeError:      # a property raised it
            return type(self).__getattr__(self, name)
    attributes = PyObject_GenericGetDict(self, NULL)
    found = PyDict_GetItemWithError(attributes, name)
    if found == NULL:
        found = entry(attributes, PARAMETERS, name)
    if found == NULL:
        found = entry(attributes, BUFFERS, name)
    if found == NULL:
        found = entry(attributes, MODULES, name)
    return type(self).__getattr__(self, name) if found == NULL else <object>found


cdef PyObject *entry(object attributes, str table, object name) except? NULL:
    cdef PyObject *found = PyDict_GetItemWithError(attributes, table)
    if found == NULL or not PyDict_Check(<object>found):
        return NULL
    return PyDict_GetItemWithError(<object>found, name)
