"""Docstrings of the generated functions, as numpydoc wants them.

Note [Short sections]
In the text of a module a section starts with one line, such as ``Parameters:`` or ``Raises: TypeError, RuntimeError``,
and what nearly every function says is left out: that it returns a tensor, and that it raises a TypeError. At the end of
the module the sections get their headings and what the words stand for. That is done on the text that Python shows as
``__doc__``, once.
"""
from cpython.ref cimport PyObject

from types import BuiltinFunctionType, GetSetDescriptorType

cdef extern from "Python.h":
    ctypedef struct PyMethodDef:
        const char *ml_doc
    ctypedef struct PyCFunctionObject:
        PyMethodDef *m_ml
    ctypedef struct PyMethodDescrObject:
        PyMethodDef *d_method
    ctypedef struct PyGetSetDef:
        const char *doc
    ctypedef struct PyGetSetDescrObject:
        PyGetSetDef *d_getset

# Why an exception is raised, by any op.
cdef dict REASONS = {
    b"TypeError": b"If an argument has another type.",
    b"RuntimeError": b"If the shapes do not fit together.",
    b"ModuleNotFoundError": b"If SciPy is not installed.",
}
# Lines that stand for more: headings, and parameters that mean the same wherever they occur.
cdef dict HEADINGS = {b"Parameters:": b"Parameters\n----------", b"Returns:": b"Returns\n-------"}
cdef dict PARAMETERS = {
    b"dim": b"Dimension to work along; negative ones count from the end.",
    b"keepdim": b"Keep the reduced dimensions with size one.",
    b"dtype": b"Dtype of the result; the input is converted to it first.",
    b"device": b"Where the result is to be.",
    b"axis": b"Another name of `dim`.",
    b"keepdims": b"Another name of `keepdim`.",
}
# What Cython puts between the signature and the docstring.
cdef bytes SIGNATURE_END = b"\n--\n\n"
cdef bytes OUT = b"out : Tensor, optional"
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
    if b"\n\n``" in text:
        text = written_out(text)
        texts.append(text)
        definition.ml_doc = text
    return 0


def document(object owner, dict docstrings):
    """Give compiled functions their docstrings, as Python shows them.

    Parameters
    ----------
    owner : module or type
        What the functions, or the methods and properties, are members of.
    docstrings : dict of str
        The docstrings by name, with short sections.
    """
    for name, docstring in docstrings.items():
        member, text = vars(owner)[name], docstring.encode()
        if type(member) is GetSetDescriptorType:
            texts.append(text)
            (<PyGetSetDescrObject *>member).d_getset.doc = text
        elif type(member) is BuiltinFunctionType:
            set_docstring((<PyCFunctionObject *>member).m_ml, text)
        else:
            set_docstring((<PyMethodDescrObject *>member).d_method, text)


cdef int set_docstring(PyMethodDef *definition, bytes docstring) except -1:
    """The text is kept behind the signature, which is what `inspect` reads."""
    cdef bytes old = definition.ml_doc if definition.ml_doc != NULL else b""
    signature, end, _ = old.partition(SIGNATURE_END)
    cdef bytes text = (signature + end if end else b"") + docstring
    texts.append(text)
    definition.ml_doc = text
    return write_out(definition)


cdef bytes written_out(bytes text):
    body, has_gradients, gradients = text.partition(b"\nGradients:\n")
    body, _, raises = body.partition(b"\nRaises: ")
    body = body.rstrip() + b"\n"
    if b"\nReturns:\n" not in body:
        body += b"\nReturns:\nTensor\n"
    body = b"\n".join([whole_line(line) for line in body.split(b"\n")])
    body += raises_section(raises.strip() or b"TypeError")
    return body + b"\nNotes\n-----\nGradients::\n\n" + gradients if has_gradients else body


cdef bytes whole_line(bytes line):
    if line == OUT:
        return line + b"\n    Receives the result."
    name, is_parameter, _ = line.partition(b" : ")
    if is_parameter and name in PARAMETERS:
        return b"%s\n    %s" % (line, PARAMETERS[name])
    return HEADINGS.get(line, line)


cdef bytes raises_section(bytes names):
    if names not in sections:
        lines = [b"\nRaises\n------\n"]
        lines += [b"%s\n    %s\n" % (name, REASONS[name]) for name in names.split(b", ")]
        sections[names] = b"".join(lines)
    return sections[names]
