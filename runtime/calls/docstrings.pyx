"""Docstrings of the generated functions, as numpydoc wants them.

Note [Short sections]
In the text of a module a section starts with one line, such as ``Returns:`` or ``Raises: TypeError, RuntimeError``, and
what nearly every function says is left out. At the end of the module the sections get their headings and what the
words stand for. That is done on the text that Python shows as ``__doc__``, once.
"""
from cpython.ref cimport PyObject

from types import BuiltinFunctionType

cdef extern from "Python.h":
    ctypedef struct PyMethodDef:
        const char *ml_doc
    ctypedef struct PyCFunctionObject:
        PyMethodDef *m_ml

# Why an exception is raised, by any op.
cdef dict REASONS = {
    b"TypeError": b"If an argument has another type.",
    b"RuntimeError": b"If the shapes do not fit together.",
    b"ModuleNotFoundError": b"If SciPy is not installed.",
}
cdef tuple WRITTEN_OUT = (
    (b"\nParameters:\n", b"\nParameters\n----------\n"),
    (b"\nout : Tensor, optional\n", b"\nout : Tensor, optional\n    Receives the result.\n"),
    (b"\nReturns:\n", b"\nReturns\n-------\n"),
    (b"\nGradients:\n", b"\nNotes\n-----\nGradients::\n\n"),
)
# The texts that functions point to now.
cdef list texts = []
# "TypeError, RuntimeError" -> the section
cdef dict sections = {}


cdef int write_out_docstrings(dict module) except -1:
    for function in module.values():
        if type(function) is BuiltinFunctionType and function.__module__ == module["__name__"]:
            write_out((<PyCFunctionObject *><PyObject *>function).m_ml)
    return 0


cdef int write_out(PyMethodDef *definition) except -1:
    cdef bytes text
    if definition.ml_doc == NULL:
        return 0
    text = definition.ml_doc
    before, mark, after = text.partition(b"\nRaises: ")
    if not mark:
        return 0
    names, end, rest = after.partition(b"\n")
    text = before + raises_section(names) + rest
    for short, written_out in WRITTEN_OUT:
        text = text.replace(short, written_out, 1)
    texts.append(text)
    definition.ml_doc = text
    return 0


cdef bytes raises_section(bytes names):
    if names not in sections:
        lines = [b"\nRaises\n------\n"]
        lines += [b"%s\n    %s\n" % (name, REASONS[name]) for name in names.split(b", ")]
        sections[names] = b"".join(lines)
    return sections[names]
