"""Corrections to the C that Cython writes.

Cython 3.3 drops the item of a list comprehension twice when there is no memory for a longer list: where it fails to
append the item, and again on the way out. A Cython that knows better has another text, which is left as it is.

A module asks for each module whose C functions it calls by ``PyImport_ImportModule``, dozens of times. While a package
is being imported that takes and releases the lock of the package each time, in Python. Most of those modules have been
imported long since, and are found without.
"""

from __future__ import annotations

_DROPPED_ALWAYS = """\
int result = PyList_Append(list, x);
    Py_DECREF(x);
    return result;
"""
_DROPPED_ONCE = """\
int result = PyList_Append(list, x);
    if (result == 0) Py_DECREF(x);
    return result;
"""

_IMPORT = "PyImport_ImportModule("
_FIRST_INCLUDE = '#include "Python.h"\n'
_IMPORT_ONCE = """\
/* A module that is there is taken as it is, unless it, or another thread, is still at importing it. */
static PyObject *gs_imported(const char *name) {
    PyObject *key = PyUnicode_FromString(name), *found, *spec, *initializing;
    if (!key) return NULL;
    found = PyImport_GetModule(key);
    Py_DECREF(key);
    spec = found ? PyObject_GetAttrString(found, "__spec__") : NULL;
    initializing = spec ? PyObject_GetAttrString(spec, "_initializing") : NULL;
    Py_XDECREF(spec);
    Py_XDECREF(initializing);
    if (initializing == Py_False) return found;
    Py_XDECREF(found);
    PyErr_Clear();
    return PyImport_ImportModule(name);
}
"""
MENDED = _DROPPED_ONCE + _IMPORT_ONCE


def mended(text: str) -> str:
    """The same C, right also when there is no memory, and quick to import."""
    text = text.replace(_DROPPED_ALWAYS, _DROPPED_ONCE).replace(_IMPORT, "gs_imported(")
    return text.replace(_FIRST_INCLUDE, _FIRST_INCLUDE + _IMPORT_ONCE, 1) if "gs_imported(" in text else text
