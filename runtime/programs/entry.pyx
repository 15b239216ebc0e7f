"""The short way from a call of a compiled function to its program.

An entry knows one kind of arguments, compares a call with it in C, and runs the program. Whatever is out of the ordinary (a
result with history, a `.grad` that changes, a write to an argument) is left to the longer way, in Python.
"""
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport default_type, is_meta
from gradsmith.runtime.batching.batch cimport living
from gradsmith.runtime.engine.anomaly_mode cimport anomaly_enabled
from gradsmith.runtime.graph.tangent cimport open_levels
from gradsmith.runtime.graph.tensor cimport REQUIRES_GRAD, TensorBase
from gradsmith.runtime.programs.program cimport Program
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, inference_mode_enabled

cnp.import_array()

cdef extern from "Python.h":
    PyObject *PyCell_GET(object cell) noexcept
    PyObject *PyDict_GetItem(object d, object key) noexcept

cdef enum:
    FLAGS = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_WRITEABLE | cnp.NPY_ARRAY_ALIGNED

NO_MATCH = object()


cdef struct Leaf:
    bint is_tensor
    bint requires_grad
    bint is_leaf
    int ndim
    int flags
    PyObject *descr             # borrowed: `kept` has it
    npy_intp *sizes             # dimensions, then strides


cdef class Entry:
    """A program, and the calls that it is for.

    Parameters
    ----------
    leaves : sequence
        The arguments that it was made for.
    captured : sequence of Tensor
        What it reads besides; has to be laid out as it is now.
    program : Program
    sources : list
        For each of its inputs the number of an argument, or a tensor; a tensor in a list is cloned in each run.
    results : list
        Of each leaf of the results: ("slot", place among the outputs), ("argument", number) or ("value", object).
    make : callable or None
        Makes the result of a list of these; None where there is only one, which is the result.
    cells, variables : list
        Pairs of a cell and its contents, and triples of a dict, a key and its value: as they were.
    states : list
        Pairs of a function and what it returned.
    """

    cdef Leaf *leaves
    cdef Py_ssize_t n_leaves, n_known   # arguments, and these with what is captured
    cdef tuple captured
    cdef Program program
    cdef list sources, results, cells, variables, states
    cdef object make
    cdef tuple kept
    cdef bint records, infers
    cdef int dtype

    def __init__(
        self, leaves not None, captured not None, Program program not None, list sources not None, list results not None, make,
        list cells not None, list variables not None, list states not None
    ):
        cdef Py_ssize_t i
        self.captured = tuple(captured)
        self.kept = tuple([kept_of(leaf) for leaf in (*leaves, *captured)])
        self.n_leaves, self.n_known = len(leaves), len(self.kept)
        self.program, self.sources, self.results, self.make = program, sources, results, make
        self.cells, self.variables, self.states = cells, variables, states
        self.records, self.infers, self.dtype = grad_enabled(), inference_mode_enabled(), default_type()
        self.leaves = <Leaf *>PyMem_Malloc(max(self.n_known, 1) * sizeof(Leaf))
        if self.leaves == NULL:
            raise MemoryError()
        for i in range(self.n_known):
            self.leaves[i].sizes = NULL
        for i, leaf in enumerate((*leaves, *captured)):
            describe(&self.leaves[i], leaf, self.kept[i])

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.leaves != NULL:
            for i in range(self.n_known):
                PyMem_Free(self.leaves[i].sizes)
        PyMem_Free(self.leaves)

    def call(self, leaves):
        """The result of a call, or `NO_MATCH`."""
        if not self.is_for(leaves):
            return NO_MATCH
        cdef list values = []
        for source in self.sources:
            if type(source) is int:
                values.append(leaves[source])
            elif type(source) is list:
                values.append(source[0].detach().clone())
            else:
                values.append(source)
        found = self.program.run(tuple(values))
        cdef list results = []
        for kind, value in self.results:
            results.append(found[value] if kind == "slot" else leaves[value] if kind == "argument" else value)
        return results[0] if self.make is None else self.make(results)

    cdef bint is_for(self, object leaves) except -1:
        cdef Py_ssize_t i
        if living or open_levels or anomaly_enabled() or len(leaves) != self.n_leaves:
            return False
        if grad_enabled() != self.records or inference_mode_enabled() != self.infers or default_type() != self.dtype:
            return False
        for i in range(self.n_leaves):
            if not is_alike(&self.leaves[i], leaves[i], self.kept[i]):
                return False
        for i in range(self.n_leaves, self.n_known):
            if not is_alike(&self.leaves[i], self.captured[i - self.n_leaves], self.kept[i]):
                return False
        return self.is_as_captured()

    cdef bint is_as_captured(self) except -1:
        for cell, value in self.cells:
            if PyCell_GET(cell) != <PyObject *>value:
                return False
        for variables, name, value in self.variables:
            if PyDict_GetItem(variables, name) != <PyObject *>value:
                return False
        for state, value in self.states:
            if state() != value:
                return False
        return True


cdef object kept_of(object leaf):
    return (<object>(<TensorBase>leaf).array).dtype if isinstance(leaf, TensorBase) else leaf


cdef int describe(Leaf *leaf, object value, object kept) except -1:
    cdef cnp.ndarray array
    cdef int i
    leaf.is_tensor = isinstance(value, TensorBase)
    if not leaf.is_tensor:
        return 0
    array = <cnp.ndarray>(<TensorBase>value).array
    leaf.requires_grad = (<TensorBase>value).flags & REQUIRES_GRAD != 0
    leaf.is_leaf = (<TensorBase>value).grad_fn == NULL
    leaf.ndim, leaf.flags = cnp.PyArray_NDIM(array), cnp.PyArray_FLAGS(array) & FLAGS
    leaf.descr = <PyObject *>kept
    leaf.sizes = <npy_intp *>PyMem_Malloc(max(2 * leaf.ndim, 1) * sizeof(npy_intp))
    if leaf.sizes == NULL:
        raise MemoryError()
    for i in range(leaf.ndim):
        leaf.sizes[i] = cnp.PyArray_DIM(array, i)
        leaf.sizes[leaf.ndim + i] = cnp.PyArray_STRIDE(array, i)
    return 0


cdef bint is_alike(const Leaf *leaf, object value, object kept) except -1:
    cdef cnp.ndarray array
    cdef int i
    if not leaf.is_tensor:
        return value is kept or (type(value) in (int, bool, str) and type(value) is type(kept) and value == kept)
    if not isinstance(value, TensorBase):
        return False
    array = <cnp.ndarray>(<TensorBase>value).array
    if <PyObject *>cnp.PyArray_DESCR(array) != leaf.descr or cnp.PyArray_NDIM(array) != leaf.ndim:
        return False
    if cnp.PyArray_FLAGS(array) & FLAGS != leaf.flags or is_meta(<PyObject *>array):
        return False
    if ((<TensorBase>value).flags & REQUIRES_GRAD != 0) != leaf.requires_grad:
        return False
    if ((<TensorBase>value).grad_fn == NULL) != leaf.is_leaf:
        return False
    for i in range(leaf.ndim):
        if cnp.PyArray_DIM(array, i) != leaf.sizes[i]:
            return False
        if not leaf.flags & cnp.NPY_ARRAY_C_CONTIGUOUS and cnp.PyArray_STRIDE(array, i) != leaf.sizes[leaf.ndim + i]:
            return False
    return True
