"""History of a tensor that was changed through a view, and of a view whose base was changed.

See view.pyx, Note [In-place on a view], and view_geometry.py.
"""
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t
from libc.string cimport memset
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_on_meta
from gradsmith.runtime.arrays.overlap cimport may_overlap_itself
from gradsmith.runtime.batching.batch cimport is_batched, slice_of_array
from gradsmith.runtime.graph.gc_tracking cimport track
from gradsmith.runtime.graph.input_metadata cimport set_metadata
from gradsmith.runtime.graph.node cimport Edge, NODE_TRACKED, Node, wants
from gradsmith.runtime.graph.node_io cimport drop_value, gradient, set_grad_input, set_value, value_of
from gradsmith.runtime.graph.saved_variable cimport unpack_number
from gradsmith.runtime.graph.tangent cimport has_tangent_1, has_tangent_2
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap
from gradsmith.runtime.history.history cimport collect_edge
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule

cdef object view_geometry = LazyModule("gradsmith.runtime.arrays.functions.view_geometry")

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)

cdef enum:
    MAX_EDGES = 64


cdef class CopySlices(Node):
    """Splits the gradient of a base that was written through a view.

    Edge 0 is the base's old history; edges 1.. are the inputs of the operation that wrote, whose node is value 0,
    without the one that was the view (the first, except in custom Functions): its gradient is what the overwritten
    places of the base receive.
    """

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef uint32_t wanted = self.wanted
        cdef Node function = <Node>value_of(self, 0)
        cdef object geometry = unpack_number(self, 1)
        cdef TensorBase grad = gradient(grads, 0)
        cdef object winners = unpack_number(self, 3)
        cdef TensorBase inside = of_winners(slice_of(grad, geometry), winners)
        cdef int written = value_of(self, 2)
        cdef list results
        cdef int i
        function.set_retained(self.is_retained())
        results = run_inner(function, inside, wanted_inside(wanted, function, written))
        results.insert(0, results.pop(written))
        if wants(wanted, 0):
            set_grad_input(grad_inputs, 0, merge(grad, of_winners(results[0], winners), geometry))
        for i in range(1, self.n_edges):
            set_grad_input(grad_inputs, i, results[i])
        return 0

    cdef void release_saved(self) noexcept:
        (<Node>value_of(self, 0)).release_saved()
        drop_value(self, 1)     # the places: a second backward finds them gone, whatever the operation has saved

    @property
    def _function(self):
        """Node of the operation that wrote to the view."""
        return value_of(self, 0)

    @property
    def _geometry(self):
        """Where the view lies in the base."""
        return unpack_number(self, 1)

    @property
    def _written(self):
        """Which input of the operation was the view."""
        return value_of(self, 2)


cdef TensorBase slice_of(TensorBase grad, object geometry):
    if grad_enabled() or has_tangent_1(grad) or is_batched(grad):
        return upcalls.geometry_slice(grad, geometry)
    return wrap(view_geometry.slice_values(<object>grad.array, geometry))


cdef uint32_t wanted_inside(uint32_t wanted_outside, Node function, int written) noexcept:
    """Gradients that the writing operation has to compute: as the run wants them, in the operation's own order."""
    cdef uint32_t wanted = 0
    cdef int i, outer
    for i in range(min(<int>function.n_edges, 32)):
        outer = place_outside(i, written)
        if function.edges[i].node != NULL and wants(wanted_outside, outer):
            wanted |= <uint32_t>1 << i
    return wanted


cdef inline int place_outside(int edge, int written) noexcept:
    return 0 if edge == written else edge + 1 if edge < written else edge


cdef Edge *outer_edge(PyObject *runner, Node function, int edge) except? NULL:
    if runner == <PyObject *>function:
        return &function.edges[edge]
    if isinstance(<object>runner, CopySlices) and value_of(<Node>runner, 0) is function:
        return &(<Node>runner).edges[place_outside(edge, value_of(<Node>runner, 2))]
    return NULL


cdef list run_inner(Node function, TensorBase inside, uint32_t wanted):
    """Apply the operation's node to the gradient of the view; a list with one gradient or None per input."""
    cdef PyObject *incoming[1]
    cdef PyObject *outgoing[MAX_EDGES]
    cdef list results = []
    cdef int i
    memset(outgoing, 0, sizeof(outgoing))
    Py_INCREF(inside)
    incoming[0] = <PyObject *>inside
    function.wanted = wanted
    try:
        function.apply(incoming, outgoing)
        for i in range(function.n_edges):
            results.append(None if outgoing[i] == NULL else <object>outgoing[i])
    finally:
        Py_XDECREF_pointer(incoming[0])
        for i in range(function.n_edges):
            Py_XDECREF_pointer(outgoing[i])
    return results


cdef TensorBase merge(TensorBase grad, TensorBase inside, object geometry):
    """`grad` with the overwritten places replaced by `inside` (zeros when the operation passes nothing on)."""
    if not (grad_enabled() or has_tangent_2(grad, inside) or is_batched(grad) or is_batched(inside)):
        values = 0 if inside is None else <object>inside.array
        return wrap(view_geometry.replaced_values(<object>grad.array, values, geometry))
    outer = outside_of(grad, geometry)
    return outer if inside is None else upcalls.add(outer, upcalls.geometry_scatter(inside, geometry))


cdef TensorBase of_winners(TensorBase inside, object winners):
    """The gradient of the view; of several elements in one place that of the last alone, which the write has left."""
    if winners is None or inside is None or is_on_meta(inside.array):
        return inside
    return upcalls.where(wrap(winners), inside, wrap(np.zeros((), (<object>inside.array).dtype)))


cdef object outside_of(TensorBase grad, object geometry):
    """`grad` with zeros at the overwritten places; of complex numbers these may be one of two parts."""
    if geometry.in_parts:
        inside = of_winners(upcalls.geometry_slice(grad, geometry), view_geometry.winners_of(geometry))
        return upcalls.add(grad, upcalls.geometry_scatter(-inside, geometry))
    mask = array_without_data(grad.shape, np.bool_) if is_on_meta(grad.array) else view_geometry.mask_of(geometry)
    return upcalls.where(wrap(mask), wrap(np.zeros((), grad.dtype)), grad)


cdef CopySlices make_copy_slices(TensorBase base, TensorBase view, Node function, int written=0):
    cdef CopySlices node = CopySlices.__new__(CopySlices)
    cdef int i
    if function.n_edges > MAX_EDGES:
        raise RuntimeError(f"{function.name()}: an in-place operation on a view has at most {MAX_EDGES} inputs")
    if overlaps(base.array):
        raise RuntimeError(
            "unsupported operation: a view is written, and of its base more than one element of the written-to tensor "
            f"refers to a single memory location (shape {list((<object>base.array).shape)}), so the write has no "
            "gradient. clone() the base before it."
        )
    node.init(max(<int>function.n_edges, 1), 0, 4)
    collect_edge(node, 0, base)
    for i in range(1, function.n_edges):
        node.edges[i] = function.edges[i - 1 if i <= written else i]
        if node.edges[i].node != NULL:
            Py_INCREF_pointer(node.edges[i].node)
    set_value(node, 0, function)
    set_value(node, 1, covered_geometry(base, view))
    set_value(node, 2, written)
    set_value(node, 3, view_geometry.winners_of(value_of(node, 1)) if overlaps(view.array) else None)
    set_metadata(&node.metadata, base.array)
    if function.flags & NODE_TRACKED:
        track(node)
    return node


cdef bint overlaps(PyObject *array) except -1:
    """Do several elements of an array that has data lie in one place?"""
    shown = slice_of_array(<object>array)
    return not is_on_meta(array) and may_overlap_itself(<cnp.ndarray>shown) and view_geometry.overlaps_itself(shown)


cdef class AsStridedBackward0(Node):
    """Gradient of a view with respect to its base, from the geometry of the two."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef object geometry = value_of(self, 0)
        cdef TensorBase grad = gradient(grads, 0)
        if not self.wants(0):
            return 0
        if grad_enabled() or has_tangent_1(grad) or is_batched(grad):
            set_grad_input(grad_inputs, 0, upcalls.geometry_scatter(grad, geometry))
        else:
            set_grad_input(grad_inputs, 0, wrap(view_geometry.scatter_values(<object>grad.array, geometry)))
        return 0

    cdef void release_saved(self) noexcept:
        """Nothing but the geometry is kept: a second backward needs no retained graph."""

    @property
    def _geometry(self):
        """Where the view lies in the base."""
        return value_of(self, 0)


cdef AsStridedBackward0 make_view_node(TensorBase base, TensorBase view):
    cdef AsStridedBackward0 node = AsStridedBackward0.__new__(AsStridedBackward0)
    node.init(1, 0, 1)
    collect_edge(node, 0, base)
    set_value(node, 0, covered_geometry(base, view))
    set_metadata(&node.metadata, view.array)
    return node


cdef object covered_geometry(TensorBase base, TensorBase view):
    geometry = view_geometry.geometry_of(slice_of_array(<object>base.array), slice_of_array(<object>view.array))
    return geometry if is_on_meta(base.array) else view_geometry.check_covered(geometry)
