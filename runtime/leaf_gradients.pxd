from cpython.ref cimport PyObject

from gradsmith.runtime.graph_task cimport GraphTask
from gradsmith.runtime.node cimport Node
from gradsmith.runtime.tensor cimport TensorBase

cdef int send_to_leaf(GraphTask task, Node node, int edge, TensorBase leaf, PyObject *grad) except -1
cdef int send_to_accumulator(GraphTask task, Node node, int edge, PyObject *accumulator, PyObject *grad) except -1
cdef int send_undefined_to_leaf(GraphTask task, Node node, int edge) except -1
cdef PyObject *made_to_fit_leaf(Node node, int edge, TensorBase leaf, PyObject *grad) except NULL
