from cpython.ref cimport PyObject

from gradsmith.runtime.graph.input_metadata cimport DeviceNumber, InputMetadata
from gradsmith.runtime.graph.node cimport Node


# The gradient on the device it must be on: moved there when it is without dimensions, else an error. Consumes `grad`,
# gives a new reference.
cdef PyObject *on_device(Node node, int edge, DeviceNumber expected, PyObject *grad) except NULL

# Undo broadcasting and promotion; consumes `grad`, gives a new reference.
cdef PyObject *conform_gradient(Node node, int edge, InputMetadata *metadata, PyObject *grad) except NULL
