"""Methods of external ops, put into the Tensor class.

A method written in Python would cost more than one of C. These are compiled into a class of the same layout, and Tensor
gets descriptors of its own over the same C functions, so that they cost what built-in ones do.
"""

from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject

cdef extern from *:
    """
    static PyObject *gs_type_dict(PyTypeObject *type) { return type->tp_dict; }
    static int gs_is_method(PyObject *value) { return Py_TYPE(value) == &PyMethodDescr_Type; }
    static int gs_is_property(PyObject *value) { return Py_TYPE(value) == &PyGetSetDescr_Type; }
    static PyObject *gs_method_of(PyTypeObject *type, PyObject *method) {
        return PyDescr_NewMethod(type, ((PyMethodDescrObject *)method)->d_method);
    }
    static PyObject *gs_property_of(PyTypeObject *type, PyObject *property) {
        return PyDescr_NewGetSet(type, ((PyGetSetDescrObject *)property)->d_getset);
    }
    """
    PyObject *gs_type_dict(PyTypeObject *type)
    bint gs_is_method(object value)
    bint gs_is_property(object value)
    object gs_method_of(PyTypeObject *type, object method)
    object gs_property_of(PyTypeObject *type, object property)
    void PyType_Modified(PyTypeObject *type)


# Attribute -> who has added it.
cdef dict _owners = {}


def add_methods(type target, type source, str owner):
    """Give the Tensor class the methods and properties of another class.

    Parameters
    ----------
    target : type
        The Tensor class.
    source : type
        An extension class over ``Variable`` without fields of its own.
    owner : str
        The table or package that the methods are of. Its later version replaces what an earlier one has added.

    Raises
    ------
    AttributeError
        If the Tensor class has an attribute of such a name already; nothing is added then.
    """
    cdef PyTypeObject *type_ = <PyTypeObject *>target
    members = {name: value for name, value in vars(source).items() if gs_is_method(value) or gs_is_property(value)}
    check_free(target, members, owner)
    cdef dict attributes = <dict>gs_type_dict(type_)
    for name, value in members.items():
        attributes[name] = gs_method_of(type_, value) if gs_is_method(value) else gs_property_of(type_, value)
        _owners[name] = owner
    PyType_Modified(type_)


def check_free(type target, names, str owner):
    """Raise AttributeError when the Tensor class has one of the names, and not from this owner."""
    for name in sorted(names):
        if hasattr(target, name) and _owners.get(name) != owner:
            found = f"of {_owners[name]}" if name in _owners else "of its own"
            raise AttributeError(
                f"{owner}: Tensor cannot get the method '{name}', since it has an attribute of that name {found}. "
                "Rename the op, leave 'method' out of its variants, or do without methods."
            )
