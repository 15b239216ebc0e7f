"""``Tensor(...)`` and instances of classes written over Tensor.

Tensors that ops make are allocated bare, in tensor.pyx. What Python calls goes through `new_from_python`, the `tp_new`
of every class of tensors: what it makes of its arguments is decided in constructor.py.
"""
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject

from gradsmith.runtime.graph.gc_tracking cimport track
from gradsmith.runtime.graph.tensor cimport TensorBase, new_instance, tensor_type

cdef extern from *:
    """
    static void gs_set_new(PyTypeObject *type, PyObject *(*new)(PyTypeObject *, PyObject *, PyObject *)) {
        type->tp_new = new;
    }
    """
    void gs_set_new(PyTypeObject *, object (*)(PyTypeObject *, object, PyObject *))

cdef extern from "Python.h":
    int PyObject_GC_IsTracked(object)
    int PyType_IsSubtype(PyTypeObject *, PyTypeObject *)


cdef object new_from_python(PyTypeObject *cls, object args, PyObject *kwargs):
    if not args and (kwargs == NULL or not <object>kwargs):
        return new_instance(<PyObject *>cls)
    if not PyType_IsSubtype(cls, <PyTypeObject *>tensor_type):
        raise TypeError(f"{(<type>cls).__name__} cannot be constructed; construct a gradsmith.Tensor")
    from gradsmith.runtime.tensors.constructor import construct

    return taken_over(<PyObject *>cls, construct(args, {} if kwargs == NULL else <object>kwargs))


gs_set_new(<PyTypeObject *>TensorBase, new_from_python)


cdef TensorBase as_instance(object cls, TensorBase source, str function):
    """Instance of `cls` in place of `source`, a temporary whose contents it takes over."""
    if not isinstance(cls, type) or not issubclass(cls, <type>tensor_type):
        raise TypeError(
            f"{function}(): Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
            f"Make sure your class inherits from Tensor; this one is {cls!r}"
        )
    return taken_over(<PyObject *>cls, source)


cdef TensorBase taken_over(PyObject *cls, TensorBase source):
    cdef TensorBase result = new_instance(cls)
    result.array, source.array = source.array, result.array
    result.grad_fn, source.grad_fn = source.grad_fn, result.grad_fn
    result.base, source.base = source.base, result.base
    result.meta, source.meta = source.meta, result.meta
    result.own_version, result.output_nr = source.own_version, source.output_nr
    result.flags |= source.flags
    source.flags = 0
    if PyObject_GC_IsTracked(source):
        track(result)
    return result
